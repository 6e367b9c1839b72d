#!/usr/bin/env python3
"""Durable adds to an index in a folder, beside bare SQLite inserts of the same bytes with the same pragmas, in turn.

    python benchmarks/index_writes.py [--rounds 5] [--held 0] [--folder FOLDER] [--json FILE]

one          one caller, one item a commit
sixteen      16 threads that add one item each, again and again. The floor: as many threads that insert a row each under one lock
together     the same, beside one thread that inserts 16 rows a commit, which no caller could do: the floor below the floor
sixty-four   one caller, batches of 64 items

Items are documents of 200 words: 16 keys and 196 shingles, 1.7 KB. A row of the floor has the same bytes as a row of the log, one an item. Also:
opening, how long another process takes to see a commit, bulk loading, and what a flush costs beside the writers.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np

from likewise.index import embedded
from likewise.index.embedded import database
from likewise.index.embedded.rows import encoded
from likewise.index.store import Change, Items, Store

BANDS, WORDS, THREADS = 16, 196, 16
SETTINGS = {"bands": BANDS, "sets": "full", "bits": 64, "slots": 0}
NONE = np.empty(0, np.int64)


def items(count: int, start: int) -> Items:
    draw = np.random.default_rng(start)
    words = np.sort(draw.integers(0, 2**64, (count, WORDS), np.uint64), axis=1)
    keys = draw.integers(0, 2**48, (count, BANDS), np.uint64)
    copy = np.stack([draw.integers(0, 2**64, count, np.uint64), draw.integers(0, 2**32, count, np.uint64)], axis=1)
    ids = [b"%d" % (start + place) for place in range(count)]
    return Items(ids, keys, copy, np.full(count, WORDS, np.uint32), words.ravel(), np.empty((count, 0), np.uint8))


class Bare:
    """A table of rows, with the pragmas of the index, and its room and checkpoints."""

    def __init__(self, folder: Path):
        folder.mkdir()
        database.make(folder, "bare")
        self.database, self.lock, self.number = database.Database(folder, write=True), Lock(), 0
        self.database.connection.execute("create table bare (number integer primary key, data blob not null) strict")

    def insert(self, rows: list[bytes]) -> None:
        with self.lock:
            run = self.database.connection
            self.database.make_room(sum(len(row) // database.PAGE + 1 for row in rows) * database.FRAME + database.FRAME)
            if len(rows) == 1:
                run.execute("insert into bare(data) values (?)", rows)
            else:
                run.execute("begin immediate")
                run.executemany("insert into bare(data) values (?)", [(row,) for row in rows])
                run.execute("commit")
            if self.database.long:
                self.database.checkpoint()

    def close(self) -> None:
        self.database.close()


def rows_of(batch: Items) -> list[bytes]:
    """Each item as a row of its own."""
    found = []
    for place in range(len(batch)):
        words = batch.words[WORDS * place : WORDS * (place + 1)]
        one = slice(place, place + 1)
        found.append(
            encoded(1, [(NONE, np.arange(1), Items(batch.ids[one], batch.keys[one], batch.copy[one], batch.size[one], words, batch.slots[one]))])
        )
    return found


def by_one(write: Callable[[Any], object], work: list[Any]) -> None:
    for each in work:
        write(each)


def by_threads(write: Callable[[Any], object], work: list[Any]) -> None:
    threads = [Thread(target=by_one, args=(write, work[own::THREADS])) for own in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def rate(count: int, call: Callable[[], object]) -> float:
    began = time.perf_counter()
    call()
    return count / (time.perf_counter() - began)


class Work:
    """Items to add, of which no two have the same id."""

    def __init__(self) -> None:
        self.start = 10**9

    def batches(self, count: int, size: int) -> list[Items]:
        made = [items(size, self.start + place * size) for place in range(count)]
        self.start += count * size
        return made


def one_round(store: Store, bare: Bare, work: Work) -> dict[str, float]:
    """Additions a second. What is added is made before it is timed."""
    one, many, blocks = work.batches(1000, 1), work.batches(3200, 1), work.batches(100, 64)
    changes = [[Change(batch) for batch in each] for each in (one, many, blocks)]
    rows = [[rows_of(batch) for batch in each] for each in (one, many, blocks)]
    sixteens = [[row for each in rows[1][begin : begin + 16] for row in each] for begin in range(0, 3200, 16)]
    return {
        "one": rate(1000, lambda: by_one(store.write, changes[0])),
        "one, floor": rate(1000, lambda: by_one(bare.insert, rows[0])),
        "sixteen": rate(3200, lambda: by_threads(store.write, changes[1])),
        "sixteen, floor": rate(3200, lambda: by_threads(bare.insert, rows[1])),
        "together, floor": rate(3200, lambda: by_one(bare.insert, sixteens)),
        "sixty-four": rate(6400, lambda: by_one(store.write, changes[2])),
        "sixty-four, floor": rate(6400, lambda: by_one(bare.insert, rows[2])),
    }


READER = """
import sys, time
from likewise.index import embedded
store = embedded.open(sys.argv[1], read_only=True)
print("ready", flush=True)
for line in sys.stdin:
    wanted = int(line)
    while store.view().last < wanted:
        pass
    print(time.monotonic_ns(), flush=True)
"""


def seen_after(folder: Path, store: Store, work: Work, count: int = 200) -> list[float]:
    """Milliseconds from the acknowledgement of a commit until another process has it in a view."""
    command = [sys.executable, "-P", "-c", READER, str(folder)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as reader:
        assert reader.stdin and reader.stdout
        reader.stdout.readline()
        found = []
        for batch in work.batches(count, 1):
            print(store.view().last + 1, file=reader.stdin, flush=True)
            time.sleep(0.002)
            store.write(Change(batch))
            done = time.monotonic_ns()
            found.append(max(0, int(reader.stdout.readline()) - done) / 1e6)
        reader.stdin.close()
    return found


def opening(folder: Path, times: int = 5) -> float:
    """Seconds to open an index for writing."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        store = embedded.open(folder)
        found.append(time.perf_counter() - began)
        store.close()
    return statistics.median(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--held", type=int, default=0, help="items that are loaded before")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    place = Path(tempfile.mkdtemp(dir=asked.folder))
    found: dict[str, Any] = {}
    try:
        folder, work = place / "index", Work()
        store = embedded.create(folder, SETTINGS)
        if asked.held:
            blocks = [items(min(4096, asked.held - begin), begin) for begin in range(0, asked.held, 4096)]
            began, cpu = time.perf_counter(), time.process_time()
            store.load(iter(blocks))
            found["load, items a second"] = asked.held / (time.perf_counter() - began)
            found["load, items a processor second"] = asked.held / (time.process_time() - cpu)
            del blocks
        by_one(store.write, [Change(batch) for batch in work.batches(50, 64)])  # what is loaded or made once
        bare = Bare(place / "bare")
        by_one(bare.insert, [rows_of(batch) for batch in work.batches(50, 64)])
        figures = [one_round(store, bare, work) for _ in range(asked.rounds)]
        for name in figures[0]:
            found[f"{name}, a second"] = statistics.median(each[name] for each in figures)
        for name, floor in (("one", "one"), ("sixteen", "sixteen"), ("sixteen", "together"), ("sixty-four", "sixty-four")):
            found[f"{name} / {floor}, floor"] = statistics.median(each[name] / each[f"{floor}, floor"] for each in figures)
        seen = sorted(seen_after(folder, store, work))
        found["seen by another process after, ms, median and 99 %"] = [statistics.median(seen), seen[int(len(seen) * 0.99)]]
        bare.close()
        store.close()
        found["open, s"] = opening(folder)
        store = embedded.open(folder)
        began = time.perf_counter()
        store.compact()
        found["compact, s"] = time.perf_counter() - began
        found["items"], found["bytes"] = store.info()["items"], store.info()["bytes"]
        store.close()
        found["bytes an item, closed"] = sum(path.stat().st_size for path in folder.iterdir()) / found["items"]
    finally:
        shutil.rmtree(place, ignore_errors=True)
    text = json.dumps(found, indent=1)
    print(text)
    if asked.json:
        asked.json.write_text(text + "\n")


if __name__ == "__main__":
    os.environ.setdefault("PYTHONPATH", os.pathsep.join(sys.path))
    main()
