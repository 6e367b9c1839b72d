"""`report`, `doctor` and `demo`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import likewise as lw
from command_line import LIKE, TEXTS, run
from likewise.cli import compiling, demo, doctor
from likewise.compiled import levels, store

pytestmark = pytest.mark.usefixtures("docs")


def test_report_is_written_again_as_it_was(out: Path) -> None:
    first = (out / "report.html").read_bytes()
    (out / "report.html").unlink()
    result = run("report", out)
    assert result.exit_code == 0 and result.stderr == f"wrote {out / 'report.html'}\n"
    assert (out / "report.html").read_bytes() == first and b"<del>forest</del>" in first and b"<ins>wood</ins>" in first


def test_report_where_nothing_was_removed() -> None:
    Path("one.jsonl").write_text('{"text": "all alone"}\n')
    assert run("dedup", "one.jsonl", "-o", "out", "-q").exit_code == 0
    assert run("report", "out").exit_code == 0
    assert "nothing was removed" in run("show", "out", "zzz").stderr


def test_report_without_the_inputs_has_no_examples(out: Path) -> None:
    Path("docs.jsonl").unlink()
    before = (out / "report.html").read_bytes()
    result = run("report", out)
    assert result.exit_code == 2 and "report.html is unchanged, because the items of its examples cannot be read again" in result.stderr
    assert (out / "report.html").read_bytes() == before
    (out / "report.html").unlink()
    result = run("report", out)
    assert result.exit_code == 0 and "the page has no examples" in result.stderr and (out / "report.html").exists()


def test_an_output_of_data_from_python_says_so(folder: Path) -> None:
    rows = [{"id": name, "text": " ".join(words)} for name, words in TEXTS.items()]
    lw.dedup(rows, out="out", by="words:2", threshold=0.5)
    before = Path("out/report.html").read_bytes()
    assert b"<del>forest</del>" in before
    assert "items came from Python, not from a file" in run("show", "out", "b").stderr
    assert "is unchanged, because" in run("report", "out").stderr and Path("out/report.html").read_bytes() == before
    result = run("audit", "out")
    assert result.exit_code == 2 and "out: this output was made from data in memory, which is not stored; audit the data" in result.stderr
    assert run("dedup", "-", "-o", "piped", input='{"text": "a b"}\n{"text": "a b"}\n').exit_code == 0
    assert "piped: this output was made from standard input, which is not stored; audit the data" in run("audit", "piped").stderr


def test_doctor_finds_this_installation_well() -> None:
    document = json.loads(run("doctor", "--json").stdout)
    assert document["schema"] == "likewise/doctor/1" and document["ok"] is True
    status = {check["name"]: check["status"] for check in document["checks"]}
    assert status["numba"] == status["kernels"] == status["memory"] == "ok"


def test_doctor_names_versions_that_are_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        doctor.metadata,
        "requires",
        lambda name: ["numba>=0.62", "pandas>=2.2.2; extra == 'pandas'", "psycopg[binary]>=3.2; extra == 'x'", "polars>=1.3.0"],
    )
    monkeypatch.setattr(doctor.metadata, "version", {"numba": "0.61.9", "pandas": "2.2.0rc1", "psycopg": "3.10.1", "polars": "1.3"}.get)
    doctor.bounds.cache_clear()
    try:
        found = [doctor.version(name, "missing", "") for name in ("numba", "pandas", "psycopg", "polars")]
    finally:
        doctor.bounds.cache_clear()
    assert [check.status for check in found] == ["broken", "old", "ok", "ok"]
    assert found[1].detail == "2.2.0rc1, and likewise needs 2.2.2 or newer" and found[1].fix.endswith("install 'pandas>=2.2.2'")


@pytest.mark.parametrize("installed", [True, False])
def test_doctor_compiles_into_the_package_if_it_may_else_into_the_cache(installed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(store, "AHEAD", tmp_path / "site-packages" / "likewise" / "compiled" / "ahead")
    monkeypatch.setattr(store, "cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(doctor.sysconfig, "get_path", lambda name: str(tmp_path / ("site-packages" if installed else "other")))
    monkeypatch.setattr(doctor, "checks", lambda: iter(()))
    monkeypatch.setattr(levels, "here", lambda: ["x86-64-v4", "x86-64-v3"])
    (tmp_path / "site-packages" / "likewise" / "compiled").mkdir(parents=True)

    def build(*arguments: object, jobs: object = None) -> int:
        calls.append(arguments or jobs)
        if arguments:
            folder = store.AHEAD / f"x86-64-v3-{store.edition('x86-64-v3')}"
            folder.mkdir(parents=True)
            (folder / f"a{store.SUFFIX}").touch()
            (folder / compiling.FINISHED).write_text("codes documents sets")
        return 31

    monkeypatch.setattr(compiling, "build", build)
    monkeypatch.setattr(compiling, "JOBS", {"documents": None, "sets": None, "strings": None, "codes": None})
    monkeypatch.setattr(compiling, "LIBRARIES", {"strings": "nosuchlibrary"})
    store.ahead.cache_clear()
    try:
        said = run("doctor", "--compile").stderr
        again = run("doctor", "--compile").stderr
    finally:
        store.ahead.cache_clear()
    place = store.AHEAD if installed else tmp_path / "cache"
    assert re.search(rf"compiled 31 kernels in [\d.]+ s, kept in {re.escape(str(place))}\n", said)
    jobs = ["documents", "sets", "codes"]
    assert calls == ([(store.AHEAD, "x86-64-v3", jobs)] if installed else [jobs, jobs])
    assert ("1 kernel already compiled ahead" in again) == installed


def test_doctor_tells_kernels_that_fit_from_those_that_do_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "AHEAD", tmp_path / "compiled")
    monkeypatch.setattr(store, "cache", lambda: None)
    monkeypatch.setattr(levels, "here", lambda: ["x86-64-v3"])
    found = []
    for edition in (None, "0123456789ab", store.edition("x86-64-v3"), store.edition("x86-64-v3")):
        if edition:
            place = tmp_path / "compiled" / f"x86-64-v3-{edition}"
            if place.exists():
                compiling.note(place, [name for name in compiling.JOBS if name != "strings"])
            place.mkdir(parents=True, exist_ok=True)
        store.ahead.cache_clear()
        found.append(doctor.cache())
    store.ahead.cache_clear()
    assert [check.status for check in found] == ["slow", "slow", "ok", "ok"]
    nowhere = "no folder can be written to, so each run compiles its kernels again"
    other = "the kernels in the package do not fit, because they are for another version of Python or Numba, or another processor"
    here = f"0 kernels for this machine in the package, in {tmp_path / 'compiled' / f'x86-64-v3-{edition}'}"
    assert [check.detail for check in found] == [
        f"no kernels in the package: `likewise doctor --compile` compiles them now, {nowhere}",
        f"{other}: `likewise doctor --compile` compiles them now, {nowhere}",
        f"{here}: `likewise doctor --compile` adds those of other data types, {nowhere}",
        f"{here}, {nowhere}",
    ]


@pytest.mark.parametrize(("version", "detail"), [((3, 40, 1), "3.40.1, which has the WAL-reset fault (fixed in 3.51.3)"), ((3, 53, 0), "3.53.0")])
def test_doctor_tells_the_version_of_sqlite_and_its_fault(version: tuple[int, ...], detail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor.sqlite3, "sqlite_version_info", version)
    monkeypatch.setattr(doctor.sqlite3, "sqlite_version", ".".join(map(str, version)))
    check = doctor.sqlite()
    assert check.status == "ok" and check.detail.split(";")[0] == detail


def test_doctor_reports_what_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "SELF_TESTS", {"similarity": lambda: False})
    monkeypatch.setattr(doctor, "ESSENTIAL", ("nosuchpackage",))
    result = run("doctor")
    assert result.exit_code == 2 and "does not work here" in result.stderr
    assert "broken  nosuchpackage" in result.stdout and " install nosuchpackage" in result.stdout
    assert "broken  kernels   wrong results: similarity" in result.stdout


def test_demo_finds_something_in_this_python(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    package = folder / "lib" / "package"
    package.mkdir(parents=True)
    for name, words in TEXTS.items():
        (package / f"{name}.py").write_text(" ".join(words))
    (package / "not_text.py").write_bytes(b"\xff\xfe")
    monkeypatch.setattr(demo.sysconfig, "get_paths", lambda: {"stdlib": str(folder / "lib"), "purelib": str(folder / "none")})
    result = run("demo", *LIKE)
    assert result.exit_code == 0, result.stderr
    assert "2 of 4 texts were kept and 2 removed" in result.stdout
    assert "3 texts; kept: stdlib/package/a.py" in result.stdout and "[-forest-]{+wood+}" in result.stdout
    assert "next: likewise show likewise-demo stdlib/package/b.py\n" in result.stderr
    shown = run("show", "likewise-demo", "stdlib/package/b.py")
    assert shown.exit_code == 0 and "[-forest-]{+wood+}" in shown.stdout
    assert "--overwrite" in run("demo").stderr
    assert json.loads(run("demo", *LIKE, "--overwrite", "--json").stdout)["counts"]["removed"] == 2
    Path("other-input.jsonl").write_text("mine")
    for more in ([], ["--overwrite"]):
        assert "other-input.jsonl, which exists and is not from a demo; choose another path" in run("demo", *LIKE, "-o", "other", *more).stderr
    assert Path("other-input.jsonl").read_text() == "mine" and not Path("other").exists()
