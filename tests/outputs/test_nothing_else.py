"""No verb writes, deletes or changes anything but its output, its work folder and the cache of kernels, whatever lies nearby."""

from __future__ import annotations

import json
import os
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

import pytest

import likewise as lw
from likewise.cli import demo
from likewise.io import placing
from situations import jsonl, text

ROWS = [{"id": i, "text": text(i % 3), "elements": [i % 3, 4, 5]} for i in range(6)]
#: A token that no text holds is one more vector; the line that is not JSON is rejected.
VECTORS = "".join(f"{word} {number} 1\n" for number, word in enumerate(sorted({word for row in ROWS for word in row["text"].split()})))


class Seen(NamedTuple):
    mode: int
    data: bytes | str | None  # of a file, of a link where it leads


def seen(folder: Path) -> dict[str, Seen]:
    """All that is in a folder: names, modes, bytes, and where links lead."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        data = os.readlink(path) if path.is_symlink() else path.read_bytes() if stat.S_ISREG(status.st_mode) else None
        found[path.relative_to(folder).as_posix()] = Seen(stat.S_IMODE(status.st_mode), data)
    return found


#: Files of the user with names that likewise, or an earlier version of it, has a use for.
HOSTILE = [
    *("journal.jsonl", "work.json", "work.json.new", "description.json", "stdin", "stdin.part", "scratch-0", "kind.col", "staged/report.json"),
    *("new.rejected.jsonl", "new.parquet.rejected.jsonl", "old.rejected.jsonl", "rejected.jsonl", "manifest.json", "run.json", "report.html"),
    *("report.json", ".new.work.removed/precious", ".old.work.removed/precious", "new.work.removed/precious", "new-input.jsonl"),
    *("web/manifest.json", "web/index.html", "likewise-demo-input.jsonl", "csv.py", "random.py", "likewise/__init__.py", "new.replaced/precious"),
]


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A folder with inputs, earlier outputs, hostile files, and links with names that could be guessed."""
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    for name in HOSTILE:
        path = here / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"name": f"{name} of the user"}))
    (here / "in.jsonl").write_bytes(jsonl(ROWS) + b"no JSON\n")
    (here / "good.jsonl").write_bytes(jsonl(ROWS))
    (here / "vectors.txt").write_text(VECTORS)
    (here / "settings.csv").write_text("threshold = 0.9\n")
    os.link(here / "settings.csv", here / "settings.svg")
    (here / "empty").mkdir()
    lw.dedup(here / "good.jsonl", out=here / "old")
    (here / "private.csv").write_text("of the user")
    (here / "private.csv").chmod(0o600)
    for name in ("new", "old", "report"):
        for suffix in (".jsonl", ".parquet", ".svg", ".html", ""):
            for process in (os.getpid(), os.getpid() + 1):
                (here / f".{name}.{process}{suffix}").symlink_to("private.csv")
    (here / "old" / f".report.{os.getpid()}.html").symlink_to("../private.csv")
    return here


SKIP = ("--on-error", "skip")
OLD = {"old"}
#: Arguments, and the names beside the input that the verb may make or change. Those that begin with "-" end in a refusal, and change nothing.
VERBS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "dedup": (("dedup", "in.jsonl", "-o", "new", *SKIP), {"new"}),
    "dedup, all outputs": (("dedup", "in.jsonl", "-o", "new", "--pairs", "--removed-records", "--output", "annotate", *SKIP), {"new"}),
    "dedup, work elsewhere": (("dedup", "in.jsonl", "-o", "new", "--work", "somewhere", *SKIP), {"new"}),
    "dedup, dry": (("dedup", "good.jsonl", "-o", "new", "--dry-run"), set()),
    "-dedup, of what is none": (("dedup", "good.jsonl", "-o", "web", "--overwrite"), set()),
    "-dedup, of strangers": (("dedup", "good.jsonl", "-o", "old", "--overwrite"), set()),
    "-dedup, work of the user": (("dedup", "good.jsonl", "-o", "new", "--work", "."), set()),
    "-dedup, work in an input": (("dedup", "good.jsonl", "-o", "new", "--work", "staged"), set()),
    "-dedup, into the work folder": (("dedup", "good.jsonl", "-o", "empty/new", "--work", "empty"), set()),
    "pairs": (("pairs", "in.jsonl", "-o", "new.jsonl", *SKIP), {"new.jsonl"}),
    "pairs, a format in capitals": (("pairs", "in.jsonl", "-o", "NEW.CSV", *SKIP), {"NEW.CSV"}),
    "-pairs, over the settings": (("pairs", "good.jsonl", "--config", "settings.csv", "-o", "settings.csv", "--overwrite"), set()),
    "pairs, parquet": (("pairs", "in.jsonl", "-o", "new.parquet", *SKIP), {"new.parquet"}),
    "pairs, replaced": (("pairs", "good.jsonl", "-o", "private.csv", "--overwrite"), {"private.csv"}),
    "pairs, said": (("pairs", "good.jsonl"), set()),
    "-pairs, there": (("pairs", "good.jsonl", "-o", "private.csv"), set()),
    "-pairs, of a link": (("pairs", "good.jsonl", "-o", f".new.{os.getpid()}.jsonl", "--overwrite"), set()),
    "-pairs, work of the user": (("pairs", "good.jsonl", "--work", "web"), set()),
    "neighbors": (("neighbors", "in.jsonl", "-o", "new.jsonl", "-k", "2", *SKIP), {"new.jsonl"}),
    "quotes": (("quotes", "in.jsonl", "--in", "good.jsonl", "-o", "new.jsonl", "--page", "new.html", *SKIP), {"new.jsonl", "new.html"}),
    "-quotes, a page there": (("quotes", "good.jsonl", "--in", "good.jsonl", "--page", "private.csv", "--overwrite"), set()),
    "features": (("features", "good.jsonl", "--vectors", "vectors.txt", "-o", "fine.parquet", *SKIP), {"fine.parquet"}),
    "features, a new work folder": (
        ("features", "good.jsonl", "--vectors", "vectors.txt", "-o", "fine.parquet", "--work", "somewhere"),
        {"fine.parquet"},
    ),
    "features, work of the user": (
        ("features", "good.jsonl", "--vectors", "vectors.txt", "-o", "fine.parquet", "--work", "web"),
        {"fine.parquet"},
    ),
    "-features, work in a file": (("features", "good.jsonl", "--vectors", "vectors.txt", "-o", "fine.parquet", "--work", "good.jsonl"), set()),
    "features, rejected": (
        ("features", "in.jsonl", "--vectors", "vectors.txt", "-o", "fine.parquet", *SKIP),
        {"fine.parquet", "fine.parquet.rejected.jsonl"},
    ),
    "features, not asked to skip": (("features", "good.jsonl", "--vectors", "vectors.txt", "-o", "new.parquet", "--overwrite"), {"new.parquet"}),
    "-features, a file of that name": (("features", "in.jsonl", "--vectors", "vectors.txt", "-o", "new.parquet", *SKIP), set()),
    "-features, of that name to replace": (("features", "in.jsonl", "--vectors", "vectors.txt", "-o", "new.parquet", *SKIP, "--overwrite"), set()),
    "plan": (("plan", "--svg", "new.svg"), {"new.svg"}),
    "plan, sampled": (("plan", "good.jsonl", "--svg", "new.svg"), {"new.svg"}),
    "-plan, of a link": (("plan", "--svg", f".new.{os.getpid()}.svg", "--overwrite"), set()),
    "-plan, over the settings": (("plan", "--config", "settings.csv", "--svg", "settings.svg", "--overwrite"), set()),
    "audit": (("audit", "old"), {"old/audit.json", "old/report.html"}),
    "audit, of other options": (("audit", "old", "--threshold", "0.9"), set()),
    "audit of an input": (("audit", "good.jsonl", "--work", "somewhere"), set()),
    "show": (("show", "old", "3"), set()),
    "report": (("report", "old"), {"old/report.html"}),
    "demo": (("demo", "-o", "shown"), {"shown", "shown-input.jsonl"}),
    "-demo, a file of that name": (("demo", "-o", "new"), set()),
    "-demo, of that name to replace": (("demo", "-o", "new", "--overwrite"), set()),
    "index": (("index", "build", "new.lw", "in.jsonl", *SKIP), {"new.lw"}),
    "-index, of a folder": (("index", "build", "web", "good.jsonl", "--overwrite"), set()),
    "-index, of an output": (("index", "create", "old", "--overwrite"), set()),
    "doctor": (("doctor",), set()),
}


@pytest.mark.parametrize("name", list(VERBS))
def test_nothing_else_is_written(likewise, place, monkeypatch, name):
    os.chdir(place)  # the fixture of the command line goes elsewhere
    monkeypatch.setattr(demo, "gathered", lambda: ((str(row["id"]), row["text"]) for row in ROWS))
    before = seen(place)
    arguments, may = VERBS[name]
    done = likewise(*arguments)
    assert done.status == (2 if name.startswith("-") else 0), done.err
    assert "Traceback" not in done.err
    after = seen(place)
    changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    assert {path for path in changed if not any(path == one or path.startswith(f"{one}/") for one in may)} == set()
    assert may <= after.keys()
    assert list(Path(tempfile.gettempdir()).iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("pairs", "good.jsonl", "-o", "late.jsonl"),
        ("neighbors", "good.jsonl", "-k", "1", "-o", "late.csv"),
        ("features", "good.jsonl", "--vectors", "vectors.txt", "-o", "late.parquet"),
        ("plan", "--svg", "late.svg"),
    ],
)
@pytest.mark.parametrize("more", [(), ("--overwrite",)])
def test_a_file_that_appears_during_the_run_is_replaced_only_with_overwrite(likewise, place, monkeypatch, arguments, more):
    os.chdir(place)
    late = place / arguments[-1]
    beside = placing.beside

    def appearing(target: Path) -> Path:
        late.write_text("precious")
        return beside(target)

    monkeypatch.setattr(placing, "beside", appearing)
    done = likewise(*arguments, *more)
    if more:
        assert (done.status, late.read_bytes() != b"precious") == (0, True), done.err
    else:
        assert (done.status, late.read_text()) == (2, "precious"), done.err
        kept = Path(done.err.strip().rpartition("the result is in ")[2])
        assert kept.stat().st_size > 0
        monkeypatch.setattr(placing, "beside", beside)
        late.unlink()
        assert likewise(*arguments).status == 0
        assert kept.read_bytes() == late.read_bytes()


def test_the_permissions_of_a_private_file_are_kept(likewise, place):
    os.chdir(place)
    assert likewise("pairs", "good.jsonl", "-o", "private.csv", "--overwrite").status == 0
    assert seen(place)["private.csv"].mode == 0o600
    assert seen(place)["private.csv"].data != b"of the user"


def test_a_list_of_rejected_inputs_is_replaced_and_goes_with_its_file(likewise, place):
    os.chdir(place)
    command = ("--vectors", "vectors.txt", "-o", "fine.parquet", *SKIP)
    rejected_path = place / "fine.parquet.rejected.jsonl"
    assert likewise("features", "in.jsonl", *command).status == 0
    first = rejected_path.read_bytes()
    assert json.loads(first)["source"] == "in.jsonl"
    (place / "fine.parquet").unlink()
    done = likewise("features", "in.jsonl", *command)
    assert (done.status, f"{rejected_path.name}: the file exists; --overwrite replaces it" in done.err) == (2, True)
    rejected_path.write_bytes(first * 2)
    assert likewise("features", "in.jsonl", *command, "--overwrite").status == 0
    assert rejected_path.read_bytes() == first
    assert likewise("features", "good.jsonl", *command, "--overwrite").status == 0
    assert not rejected_path.exists()


def test_an_input_is_never_taken_for_a_list_of_rejected_ones_to_delete(likewise, place):
    os.chdir(place)
    rejected_path = place / "fine.parquet.rejected.jsonl"
    rejected_path.write_bytes(jsonl([{"source": "in.jsonl", "position": 6, "reason": ROWS[0]["text"], "bytes": ""}]))
    before = seen(place)
    command = ("features", rejected_path, "--field", "reason", "--vectors", "vectors.txt", "-o", "fine.parquet", "--overwrite")
    done = likewise(*command)
    assert (done.status, "this file is an input" in done.err) == (2, True), done.err
    assert seen(place) == before


@pytest.mark.parametrize("more", [(), ("--overwrite",)])
@pytest.mark.parametrize("given", ["input", "link to it", "other name of it", "vectors"])
def test_inputs_are_never_taken_for_the_list_of_rejected_ones(likewise, place, given, more):
    os.chdir(place)
    data = (place / "in.jsonl").read_bytes()
    rejected_path, vectors = place / "fine.parquet.rejected.jsonl", place / "vectors.txt"
    if given == "input":
        rejected_path.write_bytes(data)
    elif given == "link to it":
        rejected_path.symlink_to("in.jsonl")
    elif given == "other name of it":
        os.link(place / "in.jsonl", rejected_path)
    else:
        rejected_path.write_text(VECTORS)
        vectors = rejected_path
    before = seen(place)
    read = rejected_path if given == "input" else place / "in.jsonl"
    assert likewise("features", read, "--vectors", vectors, "-o", "fine.parquet", *SKIP, *more).status == 2
    assert seen(place) == before
