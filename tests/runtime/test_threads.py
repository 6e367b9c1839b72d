"""Threads share stages over batches, in order and with little in flight, and write one large file; the bytes are those of one thread."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import jobs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import SOURCE
from likewise.engines import threads as threads_of_engine
from likewise.engines.threads import StoppedError, Threads
from likewise.io import compression
from likewise.io.formats import lines, parquet
from likewise.io.splice import Ranges
from likewise.records import Chunk, in_turn

ROWS = jobs.rows(5, 200)


@pytest.fixture
def engine() -> Iterator[Threads]:
    engine = Threads(3)
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of some kilobytes has many blocks and frames, and a row group of the output less than one of the source."""
    monkeypatch.setattr(compression, "FRAME_BYTES", 1000)
    monkeypatch.setattr(lines, "BLOCK_BYTES", 700)
    monkeypatch.setattr(parquet, "BATCH_ROWS", 10)
    monkeypatch.setattr(parquet, "GROUP_BYTES", 3000)


# --- the engine


def slowly(value: int) -> int:
    time.sleep((value * 7 % 5) / 1000)  # later ones may be ready earlier
    return -value


def test_results_come_in_order_and_little_is_read_ahead(engine: Threads) -> None:
    for at_once, ahead in ((None, 6), (1, 1), (2, 2)):
        read: list[int] = []
        taken = 0
        for result in engine.map(slowly, (read.append(i) or i for i in range(40)), at_once):  # type: ignore[func-returns-value]
            assert result == -taken
            taken += 1
            assert len(read) - taken <= ahead
        assert taken == len(read) == 40
    assert list(in_turn(slowly, range(40), at_once=1)) == [-i for i in range(40)]


def test_a_stage_one_at_a_time_never_overlaps_itself_while_the_next_batch_is_read(engine: Threads) -> None:
    second, lock = threading.Event(), threading.Lock()

    def batches() -> Iterator[int]:
        yield 0
        second.set()
        yield from range(1, 20)

    def stage(value: int) -> int:
        assert lock.acquire(blocking=False)
        assert value or second.wait(10)
        time.sleep(0.001)
        lock.release()
        return value

    assert list(engine.map(stage, batches(), at_once=1)) == list(range(20))


def test_when_a_map_ends_early_its_stage_has_ended(engine: Threads) -> None:
    begun, ended = threading.Event(), threading.Event()

    def stage(value: int) -> int:
        if value:
            begun.set()
            time.sleep(0.05)
            ended.set()
        return value

    results = engine.map(stage, iter((0, 1)))
    assert next(results) == 0
    assert begun.wait(10)
    results.close()  # type: ignore[attr-defined]
    assert ended.is_set()


def test_a_thread_is_started_when_all_others_are_busy_and_ends_with_close(engine: Threads) -> None:
    def names() -> list[str]:
        return [thread.name for thread in threading.enumerate() if thread.name == "likewise-stage"]

    assert list(engine.map(slowly, range(5), at_once=1)) == [-i for i in range(5)]
    assert len(names()) == 1
    both = threading.Barrier(2)
    engine.run(lambda _: both.wait(10), range(2))
    assert len(names()) == 2
    engine.close()
    assert names() == []
    with pytest.raises(StoppedError):
        engine.run(slowly, range(2))


#: Ctrl-C in Python's own handler strikes the main thread at one event of its code after another, each time in another use of threads.
STRUCK = """
import faulthandler, gc, signal, sys, threading, time
from likewise.engines.threads import Threads
from likewise.progress import INTERRUPTED

faulthandler.dump_traceback_later(150, exit=True)
gc.disable()  # what destructors raise is lost
gc.freeze()
left = 0

def strike(frame, event, argument):
    global left
    if frame.f_code.co_filename != "<string>":
        left -= 1
        if left == 0:
            watch(None)
            signal.raise_signal(signal.SIGINT)
    return strike

def watch(function):
    sys.settrace(function)
    sys.setprofile(function)

def mapped(threads, stage):
    assert list(threads.map(stage, range(4), at_once=2)) == [0, 1, 2, 3]

def left_early(threads, stage):
    results = threads.map(stage, range(4))
    assert next(results) == 0
    results.close()

def run(threads, stage):
    assert threads.run(stage, range(4)) == [0, 1, 2, 3]

def used(use, begun, ended):
    def stage(value):
        begun.append(value)
        time.sleep(0.0005)
        ended.append(value)
        return value

    threads = Threads(2)
    try:
        watch(strike)
        try:
            use(threads, stage)
        finally:
            threads.close()
    except KeyboardInterrupt:
        return True
    finally:
        watch(None)
        assert len(begun) == len(ended)
    return False

for use in (mapped, left_early, run):
    moments = 0
    while moments == 0 or interrupted:
        begun, ended = [], []
        left = moments = moments + 1
        interrupted = used(use, begun, ended)
        assert interrupted == (left <= 0)
        assert not INTERRUPTED.is_set()
        number = len(begun)
        gc.collect()  # of threads whose closing was struck
        for thread in set(threading.enumerate()) - {threading.main_thread()}:
            thread.join()
        assert len(begun) == number
    assert moments > 100
    print(use.__name__)
"""


def test_ctrl_c_at_any_moment_ends_the_tasks_and_hangs_nothing() -> None:
    """Not even one between two steps of Python's own modules, while a lock is taken."""
    done = subprocess.run([sys.executable, "-P", "-c", STRUCK], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "mapped\nleft_early\nrun\n"), done.stderr


def test_python_ends_after_the_tasks_that_run() -> None:
    code = """if True:
        import threading, time
        from likewise.engines.threads import Threads

        begun, threads = threading.Event(), Threads(2)

        def stage(value):
            begun.set()
            time.sleep(0.05)
            print("ended")

        results = threads.map(stage, [1, 2], at_once=1)
        threading.Timer(0, next, [results]).start()
        begun.wait()
        """
    done = subprocess.run([sys.executable, "-P", "-c", code], env={**os.environ, "PYTHONPATH": SOURCE}, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


# --- what is read


def test_lines_that_one_thread_counts_are_not_counted_by_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, engine: Threads) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(b"{}\n" * 1000)
    count, begun, sizes = lines.count_lines, threading.Event(), []

    def slow(stream: object, size: int, cr: bool) -> tuple[int, int]:
        sizes.append(size)
        begun.set()
        time.sleep(0.05)
        return count(stream, size, cr)  # type: ignore[arg-type]

    def counted(start: int) -> tuple[int, int]:
        assert start == 2400 or begun.wait(10)
        return lines.counted(Chunk(np.zeros(0, np.uint8), start, 0, state), False)

    state = lines.State(path, 0, None, [(0, 1, 0)])
    monkeypatch.setattr(lines, "count_lines", slow)
    assert list(engine.map(counted, (2400, 2700, 2400))) == [(801, 2400), (901, 2700), (801, 2400)]
    assert sorted(sizes) == [0, 300, 2400]


# --- what is written


def as_lines(path: Path, rows: list[dict]) -> None:
    path.write_bytes(jobs.packed(jobs.lines(rows), "zst"))


def as_cells(path: Path, rows: list[dict]) -> None:
    path.write_bytes(jobs.packed(b"id,text,n\n" + b"".join(b"%d,%s,%r\n" % (r["id"], r["text"].encode(), r["n"]) for r in rows), "zst"))


def as_array(path: Path, rows: list[dict]) -> None:
    path.write_bytes(jobs.packed(b"[" + b",".join(jobs.lines([row]) for row in rows) + b"]", "zst"))


def as_plain(path: Path, rows: list[dict]) -> None:
    path.write_bytes(jobs.lines(rows))


def as_plain_array(path: Path, rows: list[dict]) -> None:
    path.write_bytes(b"[" + b",".join(jobs.lines([row]) for row in rows) + b"]")


def as_packed(path: Path, rows: list[dict]) -> None:
    path.write_bytes(jobs.packed(jobs.lines(rows), "gz"))


def as_table(path: Path, rows: list[dict]) -> None:
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=50, compression="zstd")


MAKE = {
    "a.jsonl": as_plain,
    "a.json": as_plain_array,
    "a.jsonl.zst": as_lines,
    "a.csv.zst": as_cells,
    "a.json.zst": as_array,
    "a.jsonl.gz": as_packed,
    "a.parquet": as_table,
}


@pytest.mark.parametrize("output", ["copy", "annotate"])
@pytest.mark.parametrize("name", MAKE)
def test_the_bytes_are_the_same_for_any_number_of_threads_and_files(tmp_path: Path, name: str, output: str) -> None:
    MAKE[name](tmp_path / name, ROWS)
    more = name.replace("a.", "b.")
    MAKE[name](tmp_path / more, [{"id": 1000, "text": "a text that is like no other", "n": 0.5}])
    found = {}
    for threads in (1, 3):
        for inputs in ([name], [name, more]):
            out = tmp_path / f"{threads} {len(inputs)}"
            lw.dedup([tmp_path / given for given in inputs], out=out, threshold="0.6", output=output, removed_records=True, threads=threads)
            found[threads, len(inputs)] = jobs.snapshot(out)
    assert found[1, 1] == found[3, 1]
    assert found[1, 2] == found[3, 2]
    whole = f"{'kept' if output == 'copy' else 'annotated'}/{name}"
    assert found[1, 1][whole] == found[1, 2][whole]  # threads within a file, and across files
    if name.endswith("zst"):
        assert found[1, 1][whole].count(compression.ZSTD_FRAMES[0]) > 10
    if name.endswith("parquet"):
        groups = pq.ParquetFile(pa.BufferReader(found[1, 1][whole])).metadata
        assert groups.num_row_groups > 4


@pytest.fixture
def frames(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The thread that made each frame."""
    by: list[int] = []
    frame = compression._frame
    monkeypatch.setattr(compression, "_frame", lambda text: by.append(threading.get_ident()) or frame(text))  # type: ignore[func-returns-value]
    return by


def test_one_file_is_compressed_on_the_threads_and_several_each_on_one(tmp_path: Path, frames: list[int]) -> None:
    as_lines(tmp_path / "a.jsonl.zst", ROWS)
    as_lines(tmp_path / "b.jsonl.zst", [{"text": "a text that is like no other"}])
    lw.dedup(tmp_path / "a.jsonl.zst", out=tmp_path / "one", threshold="0.6", threads=3)
    assert len(frames) > 10
    assert threading.get_ident() not in frames
    frames.clear()
    lw.dedup([tmp_path / "a.jsonl.zst", tmp_path / "b.jsonl.zst"], out=tmp_path / "two", threshold="0.6", threads=3)
    assert len(frames) > 11
    assert len(set(frames)) <= 2
    frames.clear()
    lw.dedup(tmp_path / "a.jsonl.zst", out=tmp_path / "three", threshold="0.6", threads=1)
    assert set(frames) == {threading.get_ident()}


def failing(function: Callable, calls: int) -> Callable:
    """The function; from so many calls on the disk is full."""
    left, lock = [calls], threading.Lock()

    def failed(*given: object, **how: object) -> object:
        with lock:
            left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return function(*given, **how)

    return failed


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("name", "module", "function"), [("a.jsonl.zst", compression, "_frame"), ("a.parquet", pq.ParquetWriter, "write_table")])
def test_what_fails_on_a_thread_names_the_file_and_the_run_goes_on_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, module: object, function: str, threads: int
) -> None:
    MAKE[name](tmp_path / name, ROWS)
    how = {"threshold": "0.6", "threads": threads}
    lw.dedup(tmp_path / name, out=tmp_path / "whole", **how)
    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left") as failure:
        patch.setattr(module, function, failing(getattr(module, function), 3))
        lw.dedup(tmp_path / name, out=tmp_path / "out", work=tmp_path / "work", **how)
    assert Path(failure.value.filename).name == name
    assert not (tmp_path / "out").exists()
    lw.dedup(tmp_path / name, out=tmp_path / "out", work=tmp_path / "work", resume=True, **how)
    assert jobs.snapshot(tmp_path / "out") == jobs.snapshot(tmp_path / "whole")


@pytest.mark.parametrize("name", ["a.jsonl.zst", "a.parquet"])
def test_a_source_that_has_shrunk_is_reported_after_what_was_read_of_it(tmp_path: Path, engine: Threads, name: str) -> None:
    """The failure of reading comes through the threads that write."""
    MAKE[name](tmp_path / name, ROWS[:100])
    module = parquet if name == "a.parquet" else lines
    length = np.array([len(line) for line in jobs.lines(ROWS).splitlines(keepends=True)])
    keep, start = np.ones(len(ROWS), bool), np.cumsum(length) - length
    keep[0] = False
    with pytest.raises(lw.DataError, match="when it was first read"):
        if module is parquet:
            parquet.write(tmp_path / name, tmp_path / "out", keep, start, length, each=engine.map)
        else:
            begin, end = start[keep], (start + length)[keep]
            lines.copy_rows(tmp_path / name, tmp_path / "out", Ranges(begin, end, np.ones(len(begin), bool)), each=engine.map)
    assert (tmp_path / "out").stat().st_size > 1000


@pytest.mark.parametrize(("usable", "data"), [(16 << 10, 12 << 10), (1536, 1152), (1024, 640), (384, 96)])
def test_the_default_memory_leaves_room_for_the_compiler(monkeypatch: pytest.MonkeyPatch, usable: int, data: int) -> None:
    """In MiB: 75%, but all except 384 MiB if that is less, and at least 25%."""
    monkeypatch.setattr(threads_of_engine, "usable_memory", lambda: usable << 20)
    assert threads_of_engine.default_memory() == data << 20
