"""Inputs are never written to; where one changes or goes during a run, this is seen, and there is no output."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import jobs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc
from runs import go_on

from likewise.io import batches
from likewise.io.formats import lines, npy, parquet, text
from likewise.io.work import Work


@pytest.mark.parametrize("verb", ["pairs", "neighbors"])
def test_an_input_is_never_replaced(likewise, tmp_path, verb):
    """By whatever name; nor are arrays in a folder in the way of an output that may be replaced."""
    jobs.vectors(tmp_path)
    jobs.texts(tmp_path)
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    before = jobs.snapshot(tmp_path)
    for given, more in {"a.jsonl": [], "./a.jsonl": [], "b.jsonl.gz": ["--against" if verb == "pairs" else "--query", "a.jsonl"]}.items():
        for out in ("a.jsonl", "link.jsonl"):
            status, said = likewise(verb, given, *more, "-o", out, "--overwrite")
            why = "this is a link" if out == "link.jsonl" else "this file is an input (a.jsonl), and likewise never writes to an input"
            assert (status, why in said) == (2, True), said
    assert jobs.snapshot(tmp_path) == before
    (tmp_path / "arrays").mkdir()
    (tmp_path / "vectors.npy").rename("arrays/vectors.npy")
    (tmp_path / "out.jsonl").write_text("an earlier file")
    asked = ["--by", "cosine", *(["--threshold", "0.95"] if verb == "pairs" else [])]
    assert likewise(verb, "arrays", *asked, "-o", "out.jsonl", "--overwrite")[0] == 0


# --- inputs that change


def remake(path: Path, data: bytes) -> None:
    path.with_name("new").write_bytes(data)
    path.with_name("new").replace(path)


def swap_link(path: Path, data: bytes) -> None:
    path.with_name("other").write_bytes(data)
    path.unlink()
    path.symlink_to("other")


CHANGES: dict[str, Callable[[Path], object]] = {
    "grows": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "is cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "is emptied": lambda path: os.truncate(path, 0),
    "is written over": lambda path: path.write_bytes(bytes(reversed(path.read_bytes()))),
    "is replaced": lambda path: remake(path, path.read_bytes()[:-1]),
    "is a link to another": lambda path: swap_link(path, path.read_bytes()[:-1]),
}
#: A job, and its file that changes.
CHANGING = {
    "texts": "b.jsonl.gz",
    "annotated": "crawl.jsonl.zst",
    "tables": "a.parquet",
    "arrow": "b.arrow",
    "folder": "part 1/7.txt",
    "csv": "b.csv",
    "plain": "a.jsonl",
    "vectors": "vectors.npy",
}
MORE = {"arrow": jobs.JOBS["tables"], "csv": jobs.Job(lambda folder: jobs.damaged(folder), ("--on-error", "skip")), "plain": jobs.JOBS["texts"]}


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (batches, lines, npy, parquet, text):
        monkeypatch.setattr(module, "CHUNK_BYTES", 3000)


def at_step(monkeypatch: pytest.MonkeyPatch, number: int, do: Callable[[], object]) -> list[dict]:
    """Have something done when a run has taken its step of that number; returns the steps, when they are taken."""
    append, taken = Work.append, []

    def counting(self: Work, *args: object, **step: object) -> None:
        append(self, *args, **step)
        taken.append(step)
        if len(taken) == number:
            do()

    monkeypatch.setattr(Work, "append", counting)
    return taken


def moments(steps: int) -> tuple[int, ...]:
    """Steps while a run reads, when it has read, when it has decided, and when all is written but what the last step is, to put it into place."""
    return (1, steps // 2, steps - 4, steps - 1)


class Changing(NamedTuple):
    job: jobs.Job
    name: str  # of the file that changes
    moments: tuple[int, ...]
    whole: dict[str, bytes]  # the output of an undisturbed run


UNDISTURBED: dict[str, Changing] = {}


@pytest.fixture(params=CHANGING)
def changing(request, likewise, tmp_path, monkeypatch, small_chunks):
    """A job with its inputs in in/, and its undisturbed run, which is the same for all tests."""
    name = request.param
    job = MORE.get(name, jobs.JOBS.get(name))
    (tmp_path / "in").mkdir()
    job.make(tmp_path / "in")
    if name not in UNDISTURBED:
        with monkeypatch.context() as patch:
            taken = at_step(patch, 0, lambda: None)
            assert likewise("dedup", "in", "-o", "whole", *job.arguments)[0] == 0
        UNDISTURBED[name] = Changing(job, CHANGING[name], moments(len(taken)), jobs.snapshot(tmp_path / "whole"))
    return UNDISTURBED[name]


@pytest.mark.parametrize("change", CHANGES)
def test_an_input_that_changes_is_seen_and_gives_no_output(likewise, tmp_path, monkeypatch, changing, change, scaled):
    """While it is read, when it has been read, and while it is written; and never does a run die of it, as of mapped memory that goes."""
    job, name, numbers, _ = changing
    turn = ([*CHANGES].index(change) + [*CHANGING.values()].index(name)) % len(numbers)  # each change, and each job, has each moment
    for number in scaled(numbers, numbers[turn : turn + 1]):
        given = tmp_path / f"in-{number}"
        shutil.copytree(tmp_path / "in", given)
        path = given / name
        with monkeypatch.context() as patch:
            at_step(patch, number, lambda path=path: (CHANGES[change](path), os.utime(path, (1, 1))))
            status, said = likewise("dedup", given, "-o", "out", *job.arguments, "--threads", "1")
        assert (status, (tmp_path / "out").exists(), (tmp_path / "out.work").exists()) == (2, False, False), said
        assert f"{name}: has changed during the run" in said


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows", "a.npy", "fortran.npy", "a.parquet"])
def test_memory_of_a_file_that_is_cut_is_none_of_ours(tmp_path, name):
    """A process that looks at mapped memory which has no file behind it any more is ended by the system."""
    array = np.arange(1 << 21, dtype=np.float32).reshape(-1, 8)
    table = pa.table({"vector": pa.FixedSizeListArray.from_arrays(array.reshape(-1), 8)})
    if name.endswith("npy"):
        np.save(tmp_path / name, np.asfortranarray(array) if "fortran" in name else array)
    elif name.endswith("parquet"):
        pq.write_table(table, tmp_path / name)
    else:
        with (ipc.new_stream if name.endswith("s") else ipc.new_file)(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table, max_chunksize=1 << 15)
    script = """
import os, sys
from pathlib import Path
from likewise.errors import DataError
from likewise.io import formats
from likewise.records import Want
path = Path(sys.argv[1])
module = formats.load(formats.by_name(path))
chunks = module.chunks(path, Want("vector", None, kind="vector"), 0)
first = next(chunks).data
os.truncate(path, 0)
assert first.column(0).combine_chunks().flatten()[7].as_py() == 7
try:
    print(sum(len(chunk.data) for chunk in chunks) + len(first))
except DataError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-P", "-c", script, tmp_path / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # a stream may end after any batch; that the file is another one is seen at the end
    assert name.endswith("arrows") or f"{name}: " in done.stdout


def test_inputs_that_go_and_come_back(likewise, tmp_path, monkeypatch, changing, scaled):
    """A disk that is taken out, a network that fails: the run ends, and goes on when they are there again."""
    job, name, numbers, whole = changing
    turn = [*CHANGING.values()].index(name) % len(numbers)
    for number in scaled(numbers, numbers[turn : turn + 1]):
        with monkeypatch.context() as patch:
            at_step(patch, number, lambda: (tmp_path / "in").rename(tmp_path / "away"))
            status, said = likewise("dedup", "in", "-o", "out", *job.arguments, "--threads", "1")
        assert (status, (tmp_path / "out").exists()) == (2, False), said
        (tmp_path / "away").rename(tmp_path / "in")
        assert likewise(*go_on(said))[0] == 0
        assert jobs.snapshot(tmp_path / "out") == whole
        shutil.rmtree(tmp_path / "out")
