"""Readers, the cutting of texts and the files of likewise's own, under bytes that nobody meant.

A longer run, each property in a process of its own so that a crash or a hang is a find and not the end:
``python tests/formats/test_fuzz.py --examples 20000 [--only NAME]``. It prints how many inputs were tried, and what was found.
Under pytest a few dozen of each are tried, and the finds of longer runs stand as examples.
"""

from __future__ import annotations

import argparse
import atexit
import faulthandler
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import pyarrow as pa
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import likewise as lw
from as_bytes import parquet
from cut_texts import cut, texts_are_cut_as_by_python
from fuzzed_files import EDITS, KINDS, ROWS, TEXT, WHOLE, Edit, Given, arbitrary, damaged, lines, records
from likewise.cli.main import main
from likewise.errors import DataError, FormatError, UsageError
from likewise.io import contents, disk
from likewise.runs import decided
from likewise.runs import writing as outputs


def dedup(path: Path, kind: str, **more: Any) -> Any:
    return lw.dedup(path, **KINDS[kind], threads=1, **more)


def read(given: Given, folder: Path) -> str:
    """Read a file as dedup does; what came of it in a word. Fails where that is anything but a result that adds up, or a message."""
    path, out = folder / given.name, folder / "out"
    path.write_bytes(given.data)
    try:
        dedup(path, given.kind)
        failed = False
    except (DataError, UsageError) as error:
        assert given.name.partition(".")[0] in str(error) or "--" in str(error), str(error)
        failed = True
    try:
        result = dedup(path, given.kind, out=out, on_error="skip")
    except (DataError, UsageError) as error:  # what is damaged in a column that is not compared shows when the records are written
        assert not out.exists() and (failed or (isinstance(error, DataError) and given.name in str(error))), str(error)
        return "refused"
    counts = result.report["counts"]
    assert counts["kept"] + counts["removed"] + counts["rejected"] == counts["read"]
    assert failed == (counts["rejected"] > 0), counts
    printed = [json.loads(line) for line in (out / "rejected.jsonl").read_text("utf-8").split("\n") if line]
    assert len(printed) == counts["rejected"] and all(entry["reason"] and entry["source"] for entry in printed)
    if counts["kept"]:
        try:
            again = dedup(out / "kept" / given.name, given.kind).report["counts"]
        except DataError as error:  # of what is left no row has the field
            assert "no row of" in str(error)
        else:
            assert again["read"] == again["kept"] + again["removed"] == counts["kept"]
    return "read" if not failed else "skipped"


# --- groups and settings: files beside the input

PAIRS = [("milk", "dairy"), ("butter", "dairy"), ("7", "x")]
BESIDE = {
    "groups.json": json.dumps(dict(PAIRS)).encode(),
    "groups.csv": b"element,group\nmilk,dairy\n7,x\n",
    "groups.jsonl": b"".join(json.dumps({"element": one, "group": other}).encode() + b"\n" for one, other in PAIRS),
    "groups.parquet": parquet(pa.table({"element": [one for one, _ in PAIRS], "group": [other for _, other in PAIRS]})),
    "likewise.toml": b'threads = 1\nby = "whitespace:1"\nthreshold = 0.5\n[dedup]\non-error = "skip"\nprefer = ["*.jsonl"]\n',
}


@st.composite
def beside(draw: st.DrawFn) -> Given:
    name = draw(st.sampled_from(list(BESIDE)))
    data = BESIDE[name]
    for edit in draw(EDITS):
        data = edit(data)
    return Given(name, data, "elements")


def read_beside(given: Given, folder: Path) -> str:
    """Groups or settings are taken, or refused by name."""
    path, rows = folder / given.name, folder / "in.jsonl"
    path.write_bytes(given.data)
    rows.write_bytes(lines())
    if given.name == "likewise.toml":
        done = CliRunner().invoke(main, ["dedup", str(rows), "--config", str(path), "-o", str(folder / "out")])
        assert done.exit_code in (0, 2) and "bug in likewise" not in done.output, done.output
        return "refused" if done.exit_code else "read"
    try:
        result = lw.dedup(rows, by="elements", threshold=0.5, groups=path, threads=1)
    except (DataError, UsageError) as error:
        assert given.name in str(error)
        return "refused"
    assert result.report["counts"]["read"] == len(ROWS)
    return "read"


# --- files of likewise's own


class Spoilt(NamedTuple):
    """A file of an output or work folder, by its number, and what is done to it."""

    file: int
    edits: list[Edit]
    command: int


SPOILT = st.builds(Spoilt, st.integers(0, 200), EDITS.filter(bool), st.integers(0, 3))
#: Files to damage: an output, and work folders of runs that were stopped while they read, after they read, and while they wrote.
STOPS = {"reading": (contents, "words", 2), "read": (decided, "decide", 0), "writing": (outputs, "checksums", 4)}
COMMANDS = (("show", "out", "0"), ("show", "out", "1", "--json"), ("report", "out"), ("audit", "out", "--json", "--sample", "9"))
OWN = TEXT | {"threads": 1, "removed_records": True, "pairs": True}


class Stopped(BaseException):
    """As Ctrl-C, no ordinary exception."""


def everything(folder: Path) -> dict[str, bytes]:
    """The bytes that must be the same each time."""
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and path.name not in ("run.json", "report.html")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@cache
def written() -> Path:
    """A folder with an input, its output, and the work folders."""
    folder = Path(tempfile.mkdtemp(prefix="likewise-fuzz-"))
    atexit.register(shutil.rmtree, folder, True)
    (folder / "in").mkdir()
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        (folder / "in" / name).write_bytes(lines() + b'{"id": 9, "text": "\xff"}\n')
    with in_folder(folder):
        lw.dedup(Path("in"), out="out", on_error="skip", **OWN)
        for name, (module, function, calls) in STOPS.items():
            Path(name).mkdir()
            with pytest.MonkeyPatch.context() as patch, suppress(Stopped):
                patch.setattr(module, function, stopping(getattr(module, function), calls))
                lw.dedup(Path("in"), out=f"{name}/out", work=f"{name}/out.work", on_error="skip", **OWN)
                raise AssertionError(name)
    return folder


def stopping(function: Callable[..., Any], calls: int) -> Callable[..., Any]:
    left = [calls]

    def stop(*args: Any, **more: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Stopped
        return function(*args, **more)

    return stop


@contextmanager
def in_folder(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def spoil(path: Path, edits: list[Edit]) -> bool:
    """True if the damage changed the file."""
    data = before = path.read_bytes()
    for edit in edits:
        data = edit(data)
    path.write_bytes(data)
    return data != before


@cache
def shown(command: tuple[str, ...]) -> str:
    """The answer of a command about the whole output; about a copy, because audit stores its result in it."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(written() / "out", Path(folder, "out"))
        Path(folder, "in").symlink_to(written() / "in")
        with in_folder(Path(folder)):
            return answer(command)


def answer(command: tuple[str, ...]) -> str:
    done = CliRunner().invoke(main, list(command))
    assert done.exit_code in (0, 2) and "bug in likewise" not in done.output, done.output
    page = Path("out/report.html").read_text("utf-8") if command[0] == "report" else ""
    return f"{done.exit_code}\n{done.output}\n{page}"


def output_is_shown_or_refused(spoilt: Spoilt, folder: Path) -> str:
    """show, report and audit of an output one file of which is damaged: as it was, or a message."""
    command = COMMANDS[spoilt.command]
    expected = shown(command)
    shutil.copytree(written() / "out", folder / "out")
    (folder / "in").symlink_to(written() / "in")
    paths = [folder / "out" / name for name in ("manifest.json", "run.json", "report.json", "removed.parquet", "clusters.parquet", "rejected.jsonl")]
    spoil(paths[spoilt.file % len(paths)], spoilt.edits)
    with in_folder(folder):
        given = answer(command)
    assert given == expected or (given.startswith("2\n") and "likewise: error: " in given), given
    return "as it was" if given == expected else "refused"


def run_goes_on_or_is_refused(spoilt: Spoilt, folder: Path) -> str:
    """--resume from a work folder one file of which is damaged: the result that there would have been, or a message."""
    left = list(STOPS)[spoilt.command % len(STOPS)]
    shutil.copytree(written() / left, folder / left)
    (folder / "in").symlink_to(written() / "in")
    paths = sorted(path for path in (folder / left).rglob("*") if path.is_file())
    path = paths[spoilt.file % len(paths)]
    spoil(path, spoilt.edits)
    with in_folder(folder):
        try:
            lw.dedup(Path("in"), out=f"{left}/out", work=f"{left}/out.work", resume=True, on_error="skip", **OWN)
        except (FormatError, UsageError) as error:
            assert "out.work" in str(error), error
            assert not Path(left, "out").exists()
            return "refused"
        assert everything(Path(left, "out")) == everything(written() / "out"), (left, path.name)
    return "as it was"


# --- what is tried

PROPERTIES: dict[str, tuple[Callable[[], st.SearchStrategy[Any]], Callable[[Any, Path], str]]] = {
    "damaged": (damaged, read),
    "arbitrary": (arbitrary, read),
    "records": (records, read),
    "beside": (beside, read_beside),
    "output": (lambda: SPOILT, output_is_shown_or_refused),
    "work": (lambda: SPOILT, run_goes_on_or_is_refused),
    "texts": (cut, texts_are_cut_as_by_python),
}
#: Under pytest.
EXAMPLES = {"damaged": 90, "arbitrary": 60, "records": 60, "beside": 40, "output": 40, "work": 40, "texts": 80}
#: Findings of longer runs, by property.
FINDS: dict[str, list[Any]] = {
    "arbitrary": [Given("a", b":", "text")],
    "beside": [Given("groups.csv", b"e\xcc*h\xeb\x87eme\n", "elements"), Given("groups.json", b"[" * 100_000, "elements")],
    "damaged": [Given("a.json", WHOLE[".json"][0][:-3], "sparse")],
    "records": [Given("a.json", b'[[false, "\xed\xa0\x80"], {"elements": ["\xed\xa0\x80"]}]', "elements")],
}


def in_new_folder(check: Callable[[Any, Path], str], example: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        return check(example, Path(folder))


@pytest.mark.parametrize("name", PROPERTIES)
def test_nothing_but_results_and_messages(name, monkeypatch, scaled):
    monkeypatch.setattr(disk, "force_file", lambda path: None)  # the disk need not have it
    strategy, check = PROPERTIES[name]

    @settings(max_examples=EXAMPLES[name] // scaled(1, 10), deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(strategy())
    def tried(example):
        in_new_folder(check, example)

    tried()


@pytest.mark.parametrize(
    ("name", "found"), [pytest.param(name, find, id=f"{name}-{i}") for name, finds in FINDS.items() for i, find in enumerate(finds)]
)
def test_what_was_found(name, found):
    in_new_folder(PROPERTIES[name][1], found)


# --- longer runs

SECONDS = 300


def tried(name: str, number: int, seed: int, folder: Path) -> None:
    """So many examples of a property in this process; what came of them is printed."""
    faulthandler.enable()
    disk.force_file = lambda path: None
    strategy, check = PROPERTIES[name]
    came: Counter[str] = Counter()
    finds: dict[str, tuple[int, str]] = {}

    @settings(max_examples=number, deadline=None, suppress_health_check=list(HealthCheck), phases=[Phase.generate], database=None)
    @hypothesis.seed(seed)
    @given(strategy())
    def all_of_them(example: Any) -> None:
        (folder / name).write_text(repr(example))  # a crash leaves it behind
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            came[in_new_folder(check, example)] += 1
        except Exception as error:
            came["found"] += 1
            at = traceback.extract_tb(error.__traceback__)[-1]
            kind = f"{type(error).__name__} at {Path(at.filename).name}:{at.lineno}"
            finds[kind] = min(finds.get(kind, (1 << 30, "")), (len(repr(example)), f"{str(error)[:500]}\n    {example!r:.3000}"))
        faulthandler.cancel_dump_traceback_later()

    all_of_them()
    print(f"{name}: {sum(came.values()):,} tried: {', '.join(f'{times:,} {what}' for what, times in sorted(came.items()))}", flush=True)
    for kind, (_, find) in finds.items():
        print(f"  {kind}: {find}")


def longer() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--only", choices=PROPERTIES, action="append")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.folder:
        tried(given.only[0], given.examples, given.seed, given.folder)
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only or PROPERTIES:
            command = [sys.executable, __file__, "--only", name, "--folder", folder, "--examples", str(given.examples), "--seed", str(given.seed)]
            if (status := subprocess.run(command).returncode) != 0:
                print(f"{name}: the process ended with {status} at\n    {(Path(folder) / name).read_text()}", flush=True)


if __name__ == "__main__":
    longer()
