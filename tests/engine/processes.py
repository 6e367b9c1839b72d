"""A tiny engine: partitions in other processes (partition.py), which exchange only Parquet files.

Each step of the protocol runs for all partitions, or for one if the work is small. So a removal needs no shared memory.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import count, starmap
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from partition import Order, files, read, write

from likewise.engines.engine import Found
from likewise.io.collection import Collection, append
from likewise.io.inputs import Source
from likewise.io.room import Sketched
from likewise.items import binary
from likewise.records import Chosen, Records, Rejected
from likewise.runs.distinct import distinct
from likewise.runs.fate import Fate, outcome
from likewise.runs.items import Items, Run
from likewise.runs.verify import valued
from likewise.schema import UNIT_COLUMNS
from likewise.stages.buckets import spread
from likewise.stages.budget import Cut, Hot
from likewise.stages.counting import NAMED, Common, limit_of
from likewise.stages.settle import Removals
from likewise.stages.verify import Compared

#: Bytes of a range: a few records, so that small files have several.
RANGE = 8_000
#: Columns of rows that the driver reads.
LIGHT = ("kind", "start", "length", "tokens", "chars", "size", "copy", "per", "score")


class Processes:
    """A pool of processes. Each carries out one order at a time."""

    def __init__(self, number: int):
        command = [sys.executable, "-P", "-c", "import partition; partition.main()"]
        places = {"env": os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}, "stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.all = [subprocess.Popen(command, **places) for _ in range(number)]
        self.idle: SimpleQueue[subprocess.Popen[bytes]] = SimpleQueue()
        for process in self.all:
            self.idle.put(process)

    def give(self, order: Order) -> None:
        """Carry out an order in an idle process. Raises RuntimeError with the traceback if that fails."""
        process = self.idle.get()
        process.stdin.write(pickle.dumps(order))
        process.stdin.flush()
        said = pickle.load(process.stdout)
        self.idle.put(process)
        if said is not None:
            raise RuntimeError(said)

    def close(self) -> None:
        for process in self.all:
            process.communicate()


@dataclass(frozen=True)
class Partitioned:
    """The engine: ``parts`` partitions, with their tables in a folder."""

    run: Run
    pool: Processes
    parts: int
    folder: Path
    written: count[int] = field(default_factory=count)  # numbers the calls of `write`

    def order(self, step: str, number: int, more: Any = None) -> None:
        self.pool.give(Order(step, number, self.parts, self.folder, self.run.job, more))

    def all(self, step: str, more: Sequence[Any] | None = None) -> None:
        """Run a step for all partitions, or for each entry of ``more``, such as the ranges of the sources."""
        each = [None] * self.parts if more is None else more
        with ThreadPoolExecutor(len(self.pool.all)) as threads:
            list(threads.map(self.order, [step] * len(each), range(len(each)), each))

    def table(self, step: str, **columns: Any) -> None:
        write(self.folder / step / "0.parquet", **columns)

    def common(self, sources: Sequence[Source], share: Fraction) -> tuple[Common, int]:
        """The processes read all shingles; they are counted here, as a dict counts."""
        counting = replace(self, run=replace(self.run, job=self.run.job.counting), folder=self.folder / "count")
        counting.read_rows(sources)
        (values, offsets), copy = read(counting.folder / ("rows" if self.run.job.options.level is None else "units"), "sets", "copy")
        seen, found, first = set(), Counter(), {}
        for row, (text, begin, end) in enumerate(zip(map(bytes, copy), offsets[:-1], offsets[1:], strict=True)):
            if begin < end and text not in seen:
                seen.add(text)
                found.update(values[begin:end].tolist())
                for word in values[begin:end].tolist():
                    first.setdefault(word, row)
        limit = limit_of(share, len(seen))
        kept = {word: found[word] for word in sorted(found) if found[word] > limit}
        most = sorted(kept, key=lambda word: (-kept[word], word))[:NAMED]
        words, items = np.array([*kept], np.uint64), np.array([*kept.values()], np.int64)
        return Common(words, items, np.array(most, np.uint64), np.array([first[word] for word in most], np.int64)), len(seen)

    def read_rows(self, sources: Sequence[Source]) -> None:
        self.all("rows", [(number, source, part) for number, source in enumerate(sources) for part in source.plan(RANGE)])

    def rows(self, sources: Sequence[Source]) -> Collection:
        self.read_rows(sources)
        first = [0] * len(sources)
        for path in files(self.folder / "rows"):
            chunk = sketched(path)
            append(self.run.work, sources[chunk.source], first[chunk.source], chunk)
            first[chunk.source] += len(chunk.records)
        self.run.work.append({}, step="read")
        return Collection(sources, self.run.work, self.run.first_side)

    def arrays(self, rows: Collection) -> Collection:
        return rows

    def distinct(self, rows: Collection, *, removing: bool = False) -> Items:
        return distinct(rows, self.run, removing=removing, copies=self.copies)

    def copies(self, copy: np.ndarray, per: np.ndarray, live: np.ndarray, rank: np.ndarray) -> np.ndarray:
        self.table("order", copy=copy, per=per, live=live, place=rank)
        self.all("copies")
        row, original = read(self.folder / "copies", "row", "first")
        first = np.empty(len(live), np.int64)
        first[row] = original
        return first

    def outcome(self, documents: Collection, items: Items) -> Fate:
        return outcome(documents, items, self.run, self.settle)

    def settle(self, items: Items) -> tuple[Removals, Found]:
        (rank,) = read(self.folder / ("rows" if self.run.job.options.level is None else "units"), "rank")
        self.table("items", rank=rank[items.member])
        self.all("collide", [items.scope] * self.parts)
        self.all("compare")
        self.all("settle", [len(items.member)])
        self.all("budget", [items.scope])
        job, (representative, *best) = self.run.job, read(self.folder / "settled", "representative", "overlap", "out_of")
        later, earlier, *ratio = read(self.folder / "similar", "later", "earlier", "overlap", "out_of")
        order = np.lexsort((earlier, later))
        order = order[representative[earlier[order]] < 0]
        matches, values = np.column_stack([later, earlier])[order], valued(Compared(*ratio), job)[order]
        cut = Cut(**pq.read_table(self.folder / "cut" / "0.parquet").to_pylist()[0])
        (hottest,), (sizes,) = read(self.folder / "hottest", "bucket"), read(self.folder / "buckets", "size")
        removals = Removals(representative, valued(Compared(*best), job), matches, values, 0)
        return removals, Found(cut.recall(job.recall, len(order)), spread(sizes), cut, list(starmap(Hot, hottest.tolist())), {})

    def write(self, source: Source, target: Path, rows: Chosen, each: Any) -> int:
        number = next(self.written)
        self.order("keep", number, (source, target, rows))
        return int(read(self.folder / "written" / f"{number:05}.parquet", "rows")[0][0])


def sketched(path: Path) -> Sketched:
    """A chunk of rows as the driver sees it: without sets, sketches and band keys."""
    about = json.loads(pq.read_schema(path).metadata[b"about"])
    names = [*LIGHT, *({"ignored"} & set(pq.read_schema(path).names))]
    columns = dict(zip(names, read(path, *names), strict=True))
    given = pq.read_table(path, columns=["id", "nulls"]).combine_chunks()
    n, nulls = len(columns["kind"]), given["nulls"]
    records = Records(
        columns["kind"],
        columns["start"],
        columns["length"],
        binary.from_list([]),
        id=None if given["id"].null_count == n else given["id"].chunk(0),
        rejected=[Rejected(row, reason, None if raw is None else bytes.fromhex(raw)) for row, reason, raw in about["rejected"]],
        nulls=None if nulls.null_count == n else nulls.to_numpy(),
        fields=tuple(about["fields"]),
        matrix=about["matrix"],
        other=about["other"],
        found=about["found"],
    )
    of_units = path.parent.parent / "units" / path.name
    if of_units.exists():
        columns |= dict(zip((f"unit-{name}" for name in UNIT_COLUMNS), read(of_units, *UNIT_COLUMNS), strict=True)) | {
            "units": read(path, "units")[0]
        }
        columns |= {"ignored": read(of_units, "ignored")[0]} if "ignored" in pq.read_schema(of_units).names else {}
    columns |= {"sets": np.zeros(0, np.uint64), "band_keys": np.zeros((0, n), np.uint64)}
    return Sketched(about["source"], *about["place"], records, columns, bytes.fromhex(about["digest"]), 0)
