"""Folders and files of our own that were made or changed by others, compiled kernels among them."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xxhash

import likewise as lw
from command_line import refused, run
from likewise.errors import FormatError, UsageError
from likewise.io import collection
from likewise.io.formats import lines
from likewise.io.manifest import SEAL, seal
from likewise.io.output import checksums
from likewise.io.work import Work, checksum, checksum_of, sealed
from likewise.runs import decided
from stopping import StoppedError

LINE = '{"id": %d, "text": "one two three four five six %s"}\n'

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def left(folder, monkeypatch) -> Path:
    """The work folder of a run that stopped after it had read its input."""
    Path("a.jsonl").write_text("".join(LINE % (i, "x" * (i % 3)) for i in range(50)))

    def stop(*_: object) -> None:
        raise StoppedError

    with monkeypatch.context() as patch:
        patch.setattr(decided, "decide", stop)
        with pytest.raises(StoppedError):
            lw.dedup(Path("a.jsonl"), out="out")
    work = folder / "out.work"
    assert (work / "kind.col").exists()
    return work


def resumed(**choices: Any) -> Any:
    return lw.dedup(Path("a.jsonl"), out="out", resume=True, **choices)


def test_a_run_that_was_left_goes_on(left):
    assert stat.S_IMODE(left.stat().st_mode) == 0o700  # it holds what was read
    assert resumed().report["counts"]["read"] == 50


LAID = [
    *("kind.col", "journal.jsonl", "work.json", "description.json", "description.json.new", "new.col", "scratch-0"),
    *("staged", "staged/report.json", "staged/kept", "stdin.part"),
]
FOLDERS = ["staged", "staged/kept"]  # which have no hard links


@pytest.mark.parametrize(("name", "hard"), [(name, hard) for name in LAID for hard in (False, True) if not (hard and name in FOLDERS)])
def test_links_in_a_work_folder_lead_nowhere(left, folder, name, hard):
    """They would be appended to, cut off, or written over, wherever they lead."""
    precious = folder / "precious"
    precious.write_bytes(b"keep me")
    path = left / name
    path.parent.mkdir(exist_ok=True)
    path.unlink(missing_ok=True)
    os.link(precious, path) if hard else path.symlink_to(folder / "elsewhere" if name in FOLDERS else precious)
    (folder / "elsewhere").mkdir(exist_ok=True)
    with pytest.raises((FormatError, UsageError)):
        resumed()
    assert precious.read_bytes() == b"keep me" and not any((folder / "elsewhere").iterdir())


def test_links_laid_where_a_run_will_work_lead_nowhere(folder):
    """Before there is any run: a folder that somebody else made beside OUT, in a shared place."""
    (folder / "a.jsonl").write_text(LINE % (1, "x"))
    for name in ("journal.jsonl", "work.json", "description.json.new", "stdin.part"):
        (folder / "precious").write_bytes(b"keep me")
        (folder / "out.work").mkdir(exist_ok=True)
        (folder / "out.work" / name).symlink_to(folder / "precious")
        with pytest.raises(UsageError, match="is not a work folder of likewise and is not empty"):
            lw.dedup(Path("a.jsonl"), out="out")
        assert (folder / "precious").read_bytes() == b"keep me"
        (folder / "out.work" / name).unlink()
    assert len(lw.dedup(Path("a.jsonl"), out="out").kept) == 1


def change(left: Path, **columns: bytes) -> None:
    """Write other columns into a work folder, checksums and all, as who forges one would."""
    lines = [json.loads(line) for line in (left / "journal.jsonl").read_text().splitlines()]
    for name, data in columns.items():
        (left / f"{name}.col").write_bytes(data)
        entries = [line for line in lines if name in line["columns"]]
        for entry in entries[1:]:
            del entry["columns"][name]
        with open(left / f"{name}.col", "rb") as file:
            entries[0]["columns"][name] = [len(data), checksum(file, len(data))]
    write_journal(left, lines)


def write_journal(left: Path, lines: list[Any]) -> None:
    last, journal = xxhash.xxh3_64_hexdigest((left / "description.json").read_bytes()), b""
    for line in lines:
        if isinstance(line, dict):
            line.pop("checksum", None)
        journal += sealed(json.dumps(line).encode(), last)
        last = checksum_of(journal)
    (left / "journal.jsonl").write_bytes(journal)


def test_columns_whose_sizes_lie_are_refused_before_a_kernel_goes_by_them(left):
    sizes = np.full(50, 1 << 30, "u4").tobytes()
    change(left, size=sizes)
    with pytest.raises(FormatError, match="do not match each other; delete the folder"):
        resumed()


@pytest.mark.parametrize("name", ["kind", "start", "id-size", "id-data", "digest", "copy", "sets", "odd", "band-003"])
@pytest.mark.parametrize("more", [False, True])
def test_columns_with_an_entry_too_many_or_too_few_are_refused(left, name, more):
    data = (left / f"{name}.col").read_bytes()
    change(left, **{name: data + data[:8] if more else data[:-8]})
    with pytest.raises(FormatError, match="do not match each other"):
        resumed()


def test_a_run_that_was_begun_without_odd_sketches_goes_on_without(folder, monkeypatch):
    """An earlier version had none. Those of later rows, put down as those of the first, would tell what is untrue."""
    words = [" ".join(f"{'abcde'[i % 5]}{place}" for place in range(i % 3, 40)) for i in range(60)]
    Path("a.jsonl").write_text("".join(json.dumps({"text": f"{text} {i}"}) + "\n" for i, text in enumerate(words)))
    monkeypatch.setattr(lines, "CHUNK_BYTES", 1000)
    whole = lw.dedup(Path("a.jsonl"), threshold="0.6").kept
    stored, calls = collection.stored, []

    def earlier(records: Any, columns: dict[str, Any], *more: Any) -> Any:
        calls.append(1)
        if len(calls) > 4:
            raise StoppedError
        return {name: values for name, values in stored(records, columns, *more).items() if name != "odd"}

    with monkeypatch.context() as patch, pytest.raises(StoppedError):
        patch.setattr(collection, "stored", earlier)
        lw.dedup(Path("a.jsonl"), threshold="0.6", out="out")
    kept = resumed(threshold="0.6").kept
    assert len(whole) < 10
    assert kept.to_arrow().equals(whole.to_arrow())


def test_rows_that_overlap_are_not_copied(left):
    start = np.frombuffer((left / "start.col").read_bytes(), "i8").copy()
    start[1:] = 0
    change(left, start=start.tobytes())
    with pytest.raises(FormatError, match="overlap"):
        resumed()


@pytest.mark.parametrize(
    "line",
    [
        {"step": "chunk", "source": 0, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {"../../escape": [1, "x"]}},
        {"step": "chunk", "source": 0, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {"kind": [-5, "x"]}},
        {"step": "chunk", "source": 0, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {"kind": [10**18, "x"]}},
        {"step": "discard", "discarded": ["../../a.jsonl"], "columns": {}},
        {"step": "discard", "discarded": 7, "columns": {}},
        {"step": "publish", "columns": {}},
        {"step": "chunk", "source": 99, "rows": 5, "next": 9, "found": True, "fields": [], "columns": {}},
        {"step": "chunk", "source": 0, "rows": -5, "next": 9, "found": True, "fields": [], "columns": {}},
        {"step": "write", "file": "kept/0", "outputs": 3, "columns": {}},
        [],
        "x" * 100,
    ],
)
def test_journals_that_say_what_cannot_be(left, line):
    before = (left.parent / "a.jsonl").read_bytes()
    write_journal(left, [*map(json.loads, (left / "journal.jsonl").read_text().splitlines()), line])
    try:
        assert resumed().report["counts"]["read"] == 50  # what is no line of a journal ends it
    except FormatError as error:
        assert "delete the folder" in str(error)
    assert (left.parent / "a.jsonl").read_bytes() == before


@pytest.mark.parametrize("text", ["[]", "{", "[" * 100_000, json.dumps({"verb": "dedup"})])
def test_a_work_description_of_something_else(left, text):
    (left / "description.json").write_text(text)
    with pytest.raises((FormatError, UsageError), match=r"out\.work"):
        resumed()


def mutants(value: Any) -> list[Any]:
    """A document with one of its parts gone, or of another type."""
    found: list[Any] = [[], None, "x", -1]
    if isinstance(value, dict):
        for name, part in value.items():
            found += [{**value, name: other} for other in mutants(part)[:6]] + [{key: each for key, each in value.items() if key != name}]
    elif isinstance(value, list) and value:
        found += [[other, *value[1:]] for other in mutants(value[0])[:6]]
    return found


def forge(path: Path, value: Any) -> None:
    """Another document in place of one of an output, with checksums that say it is the right one."""
    sealed = isinstance(value, dict) and path.name != "report.json"
    path.write_text(json.dumps({**value, SEAL: seal(value)} if sealed else value))
    if path.name == "report.json":
        manifest = json.loads((path.parent / "manifest.json").read_text())
        manifest["outputs"] = [each for each in manifest["outputs"] if each["path"] != path.name] + checksums([path], path.parent)
        del manifest[SEAL]
        forge(path.parent / "manifest.json", manifest)


def test_documents_of_an_output_that_were_changed_are_reported(folder):
    """manifest.json, run.json, report.json, one part of each gone or of another type: a message, or an answer; no traceback."""
    Path("a.jsonl").write_text("".join(LINE % (i, "x" * (i % 2)) for i in range(6)))
    lw.dedup(Path("a.jsonl"), out="out")
    for name in ("manifest.json", "run.json", "report.json"):
        path = Path("out", name)
        whole, manifest = path.read_text(), Path("out/manifest.json").read_text()
        value = json.loads(whole)
        value.pop(SEAL, None)
        for number, other in enumerate(mutants(value)):
            forge(path, other)
            for command in (("show", "out", "1"), ("report", "out"))[number % 2 : number % 2 + 1]:
                result = run(*command)
                assert result.exit_code in (0, 2) and "bug in likewise" not in result.output, (name, other)
        path.write_text("[" * 100_000)
        assert ("has changed since likewise wrote it" if name == "report.json" else "is damaged") in refused("show", "out", "1")
        path.write_text(whole)
        Path("out/manifest.json").write_text(manifest)
    Path("out/removed.parquet").write_bytes(b"PAR1" + b"\xff" * 100 + b"PAR1")
    assert "out" in refused("show", "out", "1")


# --- compiled kernels are code: who may write them

CACHE = "from likewise.compiled import store; print(store.cache())"


def cache_with(**changes: str) -> str:
    env = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "TMPDIR")} | changes
    source = str(Path(lw.__file__).parents[1])
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [source, env.get("PYTHONPATH")]))
    return subprocess.run([sys.executable, "-P", "-c", CACHE], env=env, capture_output=True, text=True, check=True).stdout.strip()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has other permissions")
def test_kernels_are_loaded_from_folders_that_nobody_else_can_write_to(folder):
    home, temporary = folder / "home", folder / "tmp"
    (home / "likewise").mkdir(parents=True)
    temporary.mkdir()
    where = {"XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary)}
    (home / "likewise").chmod(0o777)  # as an umask of 0 made it
    found = Path(cache_with(**where))
    assert found.parent == home / "likewise" and not (home / "likewise").stat().st_mode & 0o022
    found.chmod(0o777)  # somebody could have put code there
    assert Path(cache_with(**where)).parent.parent == temporary
    shared = folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    assert cache_with(NUMBA_CACHE_DIR=str(shared)) == "None"
    shared.chmod(0o1777)  # sticky: only owners may move what is there
    assert Path(cache_with(NUMBA_CACHE_DIR=str(shared))).parent == shared
    link = folder / "link"
    link.symlink_to(shared)
    assert Path(cache_with(NUMBA_CACHE_DIR=str(link))).parent == shared  # where a link leads later does not matter


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="takes root to give a folder away")
def test_kernels_of_another_user_are_not_loaded(folder):
    home, temporary = folder / "home", folder / "tmp"
    (home / "likewise").mkdir(parents=True)
    temporary.mkdir()
    where = {"XDG_CACHE_HOME": str(home), "TMPDIR": str(temporary)}
    edition = Path(cache_with(**where))
    os.chown(edition, 12345, 12345)
    assert Path(cache_with(**where)).parent.parent == temporary
    os.chown(home / "likewise", 12345, 12345)
    (temporary / "likewise-0").rename(folder / "mine")
    (temporary / "likewise-0").mkdir()
    os.chown(temporary / "likewise-0", 12345, 12345)
    assert cache_with(**where) == "None"


def test_without_a_home_no_folder_is_made_in_the_current_one(folder):
    code = """
import os, pathlib, tempfile
from likewise.compiled import store
def none():
    raise FileNotFoundError("no usable temporary directory")
os.path.expanduser = lambda path: path  # as for a user without a home
print(store.cache_folder().parents[1])
tempfile.gettempdir = none
print(store.cache_folder())
"""
    env = {name: value for name, value in os.environ.items() if name not in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME")}
    env |= {"PYTHONPATH": str(Path(lw.__file__).parents[1]), "TMPDIR": str(folder)}
    (folder / "here").mkdir()
    for changes in ({}, {"XDG_CACHE_HOME": "relative"}):
        done = subprocess.run([sys.executable, "-P", "-c", code], cwd=folder / "here", env=env | changes, capture_output=True, text=True, check=True)
        assert done.stdout == f"{folder}\nNone\n"
    assert list((folder / "here").iterdir()) == []


def test_temporary_folders_are_made_for_this_user_alone(folder, monkeypatch):
    seen = []
    monkeypatch.setattr(
        Work, "begin", lambda work, made: seen.append(stat.S_IMODE(work.folder.stat().st_mode)) or (_ for _ in ()).throw(StoppedError)
    )
    with pytest.raises(StoppedError):
        lw.pairs(["a b c d e", "a b c d f"])
    assert seen == [0o700]
