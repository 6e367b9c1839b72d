"""`show`, `report`, `doctor` and `demo`; the end of a run, and its messages on the way."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import re
import sys
from pathlib import Path

import click
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from click.testing import Result

import likewise as lw
from command_line import LIKE, TEXT, TEXTS, lines, run
from likewise.cli import compiling, demo, doctor
from likewise.cli.progress import Bar, Lines, progress_on
from likewise.cli.screen import Screen
from likewise.compiled import levels, store
from likewise.errors import no_room

pytestmark = pytest.mark.usefixtures("docs")


# show


@pytest.fixture
def out(folder: Path) -> Path:
    assert run("dedup", "docs.jsonl", "-o", "out", *LIKE, "-q").exit_code == 0
    return folder / "out"


def test_show_a_removed_item_beside_its_representative(out: Path) -> None:
    result = run("show", out, "b")
    assert result.exit_code == 0 and result.stderr == ""
    printed = lines(result.stdout)
    assert printed["removed"] == "'b'  at docs.jsonl:2" and printed["kept"] == "'a'  at docs.jsonl:1"
    assert printed["why"] == "near-duplicate: similarity 0.8947 by words:2 (threshold 0.7)"
    assert result.stdout.rstrip().endswith("dark [-forest-]{+wood+}") and "\x1b" not in result.stdout


def test_show_marks_with_colors_where_they_are_wanted(out: Path) -> None:
    text = run("show", out, "b", "--color", "always").stdout
    assert click.style("forest", fg="red", strikethrough=True) in text and click.style("wood", fg="green", underline=True) in text
    assert "[-" not in text.replace("\x1b[", "")


def test_show_an_exact_copy_by_its_place(out: Path) -> None:
    result = run("show", out, "docs.jsonl:3")
    assert "'c'  at docs.jsonl:3" in result.stdout and "exact copy after normalization (nfc, lower, invisible)" in result.stdout


def test_show_json(out: Path) -> None:
    document = json.loads(run("show", out, "b", "--json").stdout)
    assert document["schema"] == "likewise/show/1" and document["status"] == "removed" and document["reason"] == "near"
    assert document["kept"] == {"id": "a", "source": "docs.jsonl", "position": 0, "text": TEXT}
    parts = document["differences"]
    assert "".join(text for kind, text in parts if kind != "insert") == document["removed"]["text"]
    assert "".join(text for kind, text in parts if kind != "delete") == document["kept"]["text"]


def test_show_says_what_became_of_an_item_that_was_not_removed(out: Path) -> None:
    assert "'a'  at docs.jsonl:1 was kept; 2 duplicates of it were removed:" in run("show", out, "a").stdout
    assert json.loads(run("show", out, "a", "--json").stdout)["status"] == "kept"
    assert "'d'  at docs.jsonl:4 was kept: no similar kept item was found at or above 0.7" in run("show", out, "d").stdout
    unknown = run("show", out, "zzz")
    assert unknown.exit_code == 2 and "no item of" in unknown.stderr and "'zzz'" in unknown.stderr and "docs.jsonl:2" in unknown.stderr


def test_show_numbers_and_repeated_ids() -> None:
    rows = [{"id": 7, "text": "a b c d"}, {"id": 8, "text": "A b c d"}, {"id": 8, "text": "a B c d"}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    result = run("show", "out", "8")
    assert "8  at n.jsonl:2" in result.stdout and "2 removed items have this id" in result.stderr
    assert "8  at n.jsonl:3" in run("show", "out", "n.jsonl:3").stdout


def test_show_finds_an_id_by_its_type_before_the_same_text() -> None:
    rows = [{"id": 1, "text": "a b c d"}, {"id": "1", "text": "A b c d"}, {"id": "2", "text": "a b C d"}, {"id": "\ud800", "text": "a b c D"}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    assert "'1'  at n.jsonl:1 was kept; 3 duplicates" in run("show", "out", "1").stdout
    for identity, place in {'"1"': 1, "2": 2, '"2"': 2, "\\ud800": 3}.items():
        assert f"at n.jsonl:{place + 1}" in lines(run("show", "out", identity).stdout)["removed"]


@pytest.mark.parametrize(
    ("ids", "typed"),
    [
        ([True, False, True], {"false": 1, "False": 1}),
        ([0.5, 2.0, 1e300], {"2": 1, "2.0": 1, "1e300": 2, "1e+300": 2}),
        ([3, 4, -5], {"4": 1, "-5": 2}),
    ],
)
def test_show_takes_an_id_in_each_spelling_of_its_value(ids: list[object], typed: dict[str, int]) -> None:
    rows = [{"id": identity, "text": text} for identity, text in zip(ids, ("a b c d", "A b c d", "a B c d"), strict=True)]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"id": ids[0], "text": "x y z"}]))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    for identity, place in typed.items():
        assert f"at n.jsonl:{place + 1}" in lines(run("show", "out", "--", identity).stdout)["removed"]


def test_show_items_without_ids_and_rejected_ones() -> None:
    Path("n.jsonl").write_text('{"text": "a b c d"}\n{"text": broken\n{"text": "A b c d"}\n{"text": null}\n')
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:2", "--on-error", "skip", "-q").exit_code == 0
    assert "removed  n.jsonl:3\nkept     n.jsonl:1\n" in run("show", "out", "2").stdout
    assert "n.jsonl:2 was rejected: it could not be read; see out/rejected.jsonl" in run("show", "out", "1").stdout
    assert "n.jsonl:4 was kept: it has no text" in run("show", "out", "n.jsonl:4").stdout


def test_show_when_the_input_is_gone_or_another(out: Path) -> None:
    text = Path("docs.jsonl").read_text()
    Path("docs.jsonl").write_text(text.replace("lazy", "busy", 1))
    changed = run("show", out, "b")
    assert changed.exit_code == 0 and "the inputs have changed" in changed.stderr and changed.stderr.count("warning") == 1
    for identity in ("a", "d", "docs.jsonl:4"):  # its content is the same; the input is not
        assert "docs.jsonl has changed since" in run("show", out, identity).stderr, identity
    assert "docs.jsonl has changed since" in run("show", out, "zzz").stderr
    Path("docs.jsonl").write_text(text.splitlines(keepends=True)[0])
    assert "row 1 no longer exists" in run("show", out, "b").stderr
    Path("docs.jsonl").unlink()
    gone = run("show", out, "b")
    assert gone.exit_code == 2 and "docs.jsonl: this input no longer exists" in gone.stderr


def test_show_text_files_and_parquet(folder: Path) -> None:
    (folder / "in").mkdir()
    for name, words in TEXTS.items():
        (folder / "in" / f"{name}.txt").write_text(" ".join(words))
    pq.write_table(pyarrow.table({"id": [1, 2], "text": [TEXT, "x y z"]}), folder / "in" / "t.parquet", row_group_size=1)
    assert run("dedup", "in", "-o", "out", *LIKE, "--prefer", "*.parquet", "-q").exit_code == 0
    result = run("show", "out", "b.txt")
    assert result.stdout.rstrip().endswith("dark [-forest-]{+wood+}") and "t.parquet:0" in result.stdout


def test_names_that_are_not_utf8_are_found_as_typed_and_as_shown(folder: Path) -> None:
    for name in (b"a\xff.txt", b"b\xfe.txt"):
        Path(os.fsdecode(os.path.join(b"in", name))).parent.mkdir(exist_ok=True)
        Path(os.fsdecode(os.path.join(b"in", name))).write_text("one and the same text")
    Path("c\udcff.jsonl").write_text('{"id": "x", "text": "the same"}\n{"id": "y", "text": "the same"}\n')
    assert run("dedup", "in", "-o", "texts").exit_code == run("dedup", "c\udcff.jsonl", "-o", "records").exit_code == 0
    for typed in ("b\udcfe.txt", r"b\udcfe.txt", r"b\xfe.txt"):
        assert lines(run("show", "texts", typed).stdout)["why"] == "exact copy", typed
    for typed in ("c\udcff.jsonl:2", r"c\xff.jsonl:2"):
        assert lines(run("show", "records", typed).stdout)["removed"] == r"'y'  at c\xff.jsonl:2", typed
    assert r"no item of records has the id '\\udcff'" in run("show", "records", "\udcff").stderr


def test_control_characters_of_a_corpus_do_not_reach_the_terminal() -> None:
    rows = [{"id": "x\x1b[2J", "text": "one two three \x1b]0;pwned\x07 four"}, {"id": "y", "text": "One two three \x1b]0;pwned\x07 four"}]
    Path("evil.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "evil.jsonl", "-o", "out", "--by", "words:1", "-q").exit_code == 0
    text = run("show", "out", "y").stdout
    assert "\x1b" not in text and "\x07" not in text and r"\x1b]0;pwned\x07" in text


# report, doctor, demo


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


# how a run ends


def stopped(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> Result:
    def stop(inputs: object, against: object, options: object, out: Path, progress: object) -> None:
        work = out.with_name(out.name + ".work")
        work.mkdir()
        (work / "work.json").write_text(json.dumps({"format": "likewise/work", "version": 1, "made": True}))
        (work / "description.json").write_text("{}")
        raise error

    monkeypatch.setattr("likewise.verbs.dedup.deduplicate", stop)
    monkeypatch.setattr(sys, "argv", ["likewise", "dedup", "docs.jsonl", "-o", "my out"])
    return run("dedup", "docs.jsonl", "-o", "my out")


def test_an_interrupted_run_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, KeyboardInterrupt())
    assert result.exit_code == 130
    assert result.stderr == "likewise: interrupted\n  to continue: likewise dedup docs.jsonl -o 'my out' --resume\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "w/sets.col"), "w/sets.col: No space left on device; free some space, or put intermediate"),
        (PermissionError(errno.EACCES, "Permission denied", "x"), "x: Permission denied; check the permissions"),
        (OSError("odd"), "likewise: error: odd"),
        (MemoryError(), "out of memory; set a lower --memory or --threads"),
    ],
)
def test_the_system_refuses(monkeypatch: pytest.MonkeyPatch, error: BaseException, said: str) -> None:
    result = stopped(monkeypatch, error)
    assert result.exit_code == 2 and said in result.stderr and "to continue: likewise dedup" in result.stderr and "Traceback" not in result.stderr


def test_a_record_too_large_for_the_memory_needs_another_command(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, no_room("a.jsonl: the record", "80 MiB", "several times as much", 64 << 20))
    change, command = result.stderr.splitlines()[-2:]
    assert change == "  raise --memory in the command below; to change anything else, delete my out.work and start over"
    assert command == "  to continue: likewise dedup docs.jsonl -o 'my out' --resume"


def test_a_fault_of_ours_shows_where(monkeypatch: pytest.MonkeyPatch) -> None:
    result = stopped(monkeypatch, ZeroDivisionError("oh"))
    assert result.exit_code == 2, "1 would mean that something was found"
    assert "Traceback" in result.stderr and "ZeroDivisionError: oh" in result.stderr and "bug in likewise" in result.stderr


# progress


def test_progress_fits_the_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(progress_on(Screen(quiet=True, progress="always"))) is type(progress_on(Screen(progress="never")))
    assert isinstance(progress_on(Screen(progress="always")), Bar)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert isinstance(progress_on(Screen()), Lines)
    monkeypatch.setattr(sys, "stderr", None)
    assert type(progress_on(Screen(progress="always"))) is type(progress_on(Screen(progress="never")))


def test_lines_come_now_and_then(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Lines(Screen())
    progress.begin("reading", 4_000_000, "bytes")
    progress.advance(1_000_000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("likewise.cli.progress.PLAIN_SECONDS", 0.0)
    progress.advance(1_000_000)
    assert capsys.readouterr().err.startswith("reading: 50% of 4 MB, ")
    progress.finish()
    assert progress.bytes_read == 2_000_000 and list(progress.seconds) == ["reading"]


def test_a_bar_comes_after_a_while_and_leaves_nothing(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Bar(Screen(color="never"))
    progress.begin("reading", 100, "items")
    progress.advance(50)
    assert capsys.readouterr().err == "", "too soon for a bar"
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 0.0)
    progress.advance(25)
    progress.warn("mind [this]")
    progress.finish()
    text = capsys.readouterr().err
    assert "reading" in text and "75% of 100 items" in text and "warning: mind [this]" in text
    assert progress.warnings == ["mind [this]"] and text.endswith("\x1b[2K"), "the last line is wiped"


@pytest.mark.parametrize("error", [OSError(errno.EIO, "the terminal has gone"), BrokenPipeError()])
def test_a_bar_that_cannot_be_drawn_stops_no_work(monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    class Gone(io.StringIO):
        def write(self, _: str) -> int:
            raise error

    monkeypatch.setattr(sys, "stderr", Gone())
    monkeypatch.setattr("likewise.cli.progress.PATIENCE_SECONDS", 0.0)
    progress = Bar(Screen(color="never"))
    progress.begin("reading", 100, "items")
    progress.advance(50)
    progress.compiling()
    progress.warn("mind")
    progress.finish()
    assert list(progress.seconds) == ["reading"] and progress.warnings == ["mind"]


#: The content of files and, for each record, the number after SOURCE: that `show` prints and reads: its first line, or its row.
PLACES = {
    "blank.jsonl": (b'\n{"id": "p", "text": "a b c d"}\n\n\n{"id": "q", "text": "A b c d"}\n{"id": "r", "text": "x y z"}', [2, 5, 6]),
    "marked.jsonl": (b'\xef\xbb\xbf{"id": "p", "text": "a b c d"}\r\n{"id": "q", "text": "A b c d"}\r\n{"id": "r", "text": "x y z"}\r\n', [1, 2, 3]),
    "packed.jsonl.gz": (gzip.compress(b'{"id": "p", "text": "a b c d"}\n{"id": "q", "text": "A b c d"}\n{"id": "r", "text": "x y z"}\n'), [1, 2, 3]),
    "header.csv": (b"id,text\np,a b c d\nq,A b c d\nr,x y z\n", [2, 3, 4]),
    "quoted.csv": (b'id,text\r\np,"a\r\nb c d"\r\nq,"A b\r\n\r\nc d"\r\nr,x y z\r\n', [2, 4, 7]),
    "old.csv": (b"id,text\rp,a b c d\rq,A b c d\rr,x y z\r", [2, 3, 4]),
}


@pytest.mark.parametrize("threads", [1, 4])
def test_places_name_lines_from_1_and_show_reads_what_it_prints(threads: int) -> None:
    """Several sources at once: each item is printed at its line, and its line names it."""
    Path("in").mkdir()
    for name, (content, _) in PLACES.items():
        Path("in", name).write_bytes(content)
    done = run("dedup", "in", "-o", "out", "--by", "words:2", "--threads", threads)
    assert done.exit_code == 0, done.stderr
    for name, (_, numbers) in PLACES.items():
        for position, number in enumerate(numbers):
            found = json.loads(run("show", "out", f"{name}:{number}", "--json").stdout)
            item = found if found["status"] == "kept" else found["removed"]
            assert (item["source"], item["position"], item["id"]) == (name, position, "pqr"[position])
            printed = run("show", "out", f"{name}:{number}").stdout.splitlines()[0]
            assert f"'{'pqr'[position]}'  at {name}:{number}" in printed
    other = run("show", "out", "quoted.csv:3").stdout  # the second line of the first record
    assert "'p'  at quoted.csv:2" in other
    for nothing in ("blank.jsonl:1", "blank.jsonl:3", "header.csv:1", "header.csv:5", "header.csv:0", "none.csv:1"):
        assert run("show", "out", nothing).exit_code == 2


def test_places_of_files_without_lines_are_rows_from_0_and_text_files() -> None:
    Path("in").mkdir()
    pq.write_table(pa.table({"id": ["p", "q"], "text": ["a b c d", "A b c d"]}), "in/a.parquet")
    Path("in/b.txt").write_text("a b C d")
    Path("in/c.json").write_text('[{"id": "r", "text": "a b c D"}, {"id": "s", "text": "x y z"}]')
    assert run("dedup", "in", "-o", "out", "--by", "words:2", "-q").exit_code == 0
    said = run("show", "out", "a.parquet:0").stdout.splitlines()
    assert said == [
        "'p'  at a.parquet:0 (rows count from 0) was kept; 3 duplicates of it were removed:",
        "  'q'  at a.parquet:1 (rows count from 0)  exact  1.0000",
        "  'b.txt'  exact  1.0000",
        "  'r'  at c.json:0 (rows count from 0)  exact  1.0000",
    ]
    assert run("show", "out", "c.json:1").stdout.startswith("'s'  at c.json:1 (rows count from 0) was kept: ")
    assert run("show", "out", "b.txt").stdout.startswith("removed  'b.txt'\n")


def test_places_in_a_source_that_is_gone_are_numbers_of_records(out: Path) -> None:
    Path("docs.jsonl").unlink()
    said = run("show", out, "a").stdout.splitlines()
    assert said[0] == "'a'  at record 1 of docs.jsonl was kept; 2 duplicates of it were removed:"
    assert "'b'  at record 2 of docs.jsonl" in said[1]


def test_without_an_id_it_says_what_was_removed_what_is_borderline_and_what_needs_review(folder: Path) -> None:
    words = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t"]
    rows = [{"id": "kept", "text": " ".join(words)}, {"id": "copy", "text": " ".join(words)}, {"id": "near", "text": " ".join([*words[:-1], "z"])}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "words:1", "--exact").exit_code == 0
    shown = run("show", "out")
    assert shown.exit_code == 0
    said = lines(shown.stdout)
    assert said["removed"] == "2 of 3 documents (66.7%): 1 exact copy, 1 near-duplicate, in 1 cluster"
    assert said["borderline"] == "'near', a duplicate of 'kept': similarity 0.9048"  # 19 of 21 words
    assert "[-z-]{+t+}" in shown.stdout and said["review"] == "no finding" and said["next"] == "likewise show out near"
    found = json.loads(run("show", "out", "--json").stdout)
    assert found["status"] == "output" and found["counts"]["removed"] == 2 and found["needs_review"] == []
    assert [example["removed"]["id"] for example in found["borderline"]] == ["near"]
    report = json.loads(Path("out/report.json").read_text())
    assert all(found[name] == report[name] for name in ("counts", "threshold", "value", "removals", "needs_review"))
    assert (found["clusters"], found["recall"], said["recall"]) == (1, 1, "100% (exact similarity join)")


def test_the_difference_of_two_sets_is_on_one_line(folder: Path) -> None:
    rows = [{"id": "kept", "elements": [*range(10), 30]}, {"id": "near", "elements": [*range(10), 31]}]
    Path("n.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert run("dedup", "n.jsonl", "-o", "out", "--by", "elements").exit_code == 0
    assert "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 [-31-]{+30+}\n" in run("show", "out").stdout


def test_without_an_id_nothing_needs_to_have_been_removed(folder: Path) -> None:
    Path("n.jsonl").write_text('{"text": "a b c d e f"}\n')
    run("dedup", "n.jsonl", "-o", "out")
    assert lines(run("show", "out").stdout) == {
        "removed": "0 of 1 document (0%)",
        "recall": "at least 99.2% of pairs at 0.8 (16 bands x 6 rows)",
        "review": "no finding",
    }
