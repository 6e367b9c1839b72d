"""The nearest neighbors of queries. A task finds those of a section of queries among some sections of items; another keeps the nearest of all found.

Only exact searches can be cut in this way: each part has all of its neighbors, and the value of a pair does not depend on the part.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import flat, lists, packed, part_of, places, whole
from likewise.engines.spark.comparing import words
from likewise.engines.spark.sections import Numbered, of_numbers, some_of
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.job import Job
from likewise.stages.workers import ALONE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: The number of tasks, if sections have no more and no fewer rows than these.
TASKS, MOST_ROWS, FEWEST_ROWS = 256, 1 << 16, 1 << 12
#: Bytes of words of a slice: queries and items that a task holds at once.
SLICE_BYTES = 24 << 20
#: Neighbors of a slice of queries, and those that a task merges.
FOUND_AT_ONCE, MERGED_AT_ONCE = 1 << 20, 1 << 21
#: The sides of rows: queries, the items to find, and both if each item is a query.
QUERY, ITEM, BOTH = 1, 2, 3
#: A query, a neighbor and its value.
FOUND = {"query": np.int64, "item": np.int64, "value": np.float64}


class Slice(NamedTuple):
    """Queries, or items to find."""

    item: np.ndarray  # int64[n]
    words: tuple[np.ndarray, np.ndarray]
    per: np.ndarray  # int64[n]

    @classmethod
    def of(cls, batches: list[pa.RecordBatch]) -> Slice:
        """batches: a list, which becomes empty, so that the batches do not stay in memory beside their copy."""
        table = pa.Table.from_batches(batches)
        batches.clear()
        return cls(table["item"].to_numpy(), lists(table["sets"]), table["per"].to_numpy())

    def having(self, value: int) -> Slice:
        """Those with a value of ``--per``."""
        some = np.flatnonzero(self.per == value)
        return self if len(some) == len(self.per) else Slice(self.item[some], words(*self.words, some), self.per[some])


class Neighbors(NamedTuple):
    """Neighbors of queries, in any order."""

    query: np.ndarray  # int64[m]
    item: np.ndarray  # int64[m]
    value: np.ndarray  # float64[m]

    def nearest(self, k: int, *, distances: bool) -> Neighbors:
        """The k nearest of each query: by query, nearest first, ties by the earlier item."""
        order = np.lexsort((self.item, self.value if distances else -self.value, self.query))
        query = self.query[order]
        order = order[np.arange(len(query)) - np.searchsorted(query, query) < k]
        return Neighbors(*(values[order] for values in self))


NONE = Neighbors(*(np.zeros(0, dtype) for dtype in FOUND.values()))


@dataclass(frozen=True)
class Search:
    """The search of all queries, as tasks know it."""

    rows: Numbered
    asked: np.ndarray  # int64[q]: the sections with queries
    known: list[np.ndarray]  # the sections with items to find, in groups
    job: Job
    k: int
    alone: bool  # each item is a query
    merging: int  # tasks that merge the neighbors of a section of queries
    slice_bytes: int
    slice_queries: int

    @property
    def tasks(self) -> int:
        return len(self.asked) * len(self.known)

    def task(self, number: int) -> Iterator[pa.RecordBatch]:
        """The neighbors of a section of queries in a group of sections, in blocks for the partitions that merge them."""
        place, group = divmod(number, len(self.known))
        at = places(len(self.asked) * self.merging)
        for queries in self.slices(int(self.asked[place]), QUERY, self.slice_queries):
            best = NONE
            for section in self.known[group].tolist():
                for items in self.slices(section, ITEM):
                    both = map(np.concatenate, zip(best, *self.compared(queries, items), strict=True))
                    best = Neighbors(*both).nearest(self.k, distances=self.job.distances)
            yield packed(place * self.merging + part_of(best.query, self.merging), at, FOUND, **best._asdict())

    def slices(self, section: int, side: int, most: int = sys.maxsize) -> Iterator[Slice]:
        """The queries, or the items to find, of a section. most: of a slice."""
        held: list[pa.RecordBatch] = []
        rows = nbytes = 0
        for batch in self.rows.read(section, ["sets", "per"]):
            some = some_of(batch, batch["side"].to_numpy() & side > 0)
            step = min(most, max(1, len(some) * self.slice_bytes // max(1, some["sets"].nbytes)))
            for begin in range(0, len(some), step):
                more = some.slice(begin, step)
                rows, nbytes = rows + len(more), nbytes + more["sets"].nbytes
                if held and (rows > most or nbytes > self.slice_bytes):
                    yield Slice.of(held)
                    rows, nbytes = len(more), more["sets"].nbytes
                held.append(more)
        if held:
            yield Slice.of(held)

    def compared(self, queries: Slice, items: Slice) -> Iterator[Neighbors]:
        """The neighbors of each query in a slice of items, for each value of ``--per``."""
        for value in np.intersect1d(queries.per, items.per).tolist():
            asked, known = queries.having(value), items.having(value)
            found = self.job.compared.nearest(known.words, asked.words, self.k + self.alone, self.job, same=False, workers=ALONE)
            near = Neighbors(asked.item[found.query], known.item[found.item], found.value)
            others = near.query != near.item if self.alone else slice(None)
            yield Neighbors(*(values[others] for values in near))


def section_rows(side: np.ndarray) -> int:
    """The number of rows of a section. side: int64[n] of the items."""
    queries, items = (int(np.count_nonzero(side & which)) for which in (QUERY, ITEM))
    return min(max(math.isqrt(queries * items // TASKS), queries // TASKS, items // TASKS, FEWEST_ROWS), MOST_ROWS)


def nearest(steps: Steps, rows: Numbered, ranks: np.ndarray, side: np.ndarray, job: Job, k: int) -> Neighbors:
    """The step of neighbors. ranks, side: int64[n] of the items, by their numbers in ``rows``."""
    sections = rows.sections.of_ranks(ranks)
    of_queries, of_items = (sections[side & which > 0] for which in (QUERY, ITEM))
    if not len(of_queries) or not len(of_items):
        return NONE
    (asked, queries), known = np.unique(of_queries, return_counts=True), np.unique(of_items)
    groups = max(1, min(len(known), TASKS // len(asked)))
    k = min(k, len(of_items))
    merging = 1 + int(queries.max()) * min(k * groups, len(of_items)) // MERGED_AT_ONCE
    alone = bool((side == BOTH).any())
    search = Search(rows, asked, np.array_split(known, groups), job, k, alone, merging, SLICE_BYTES, max(1, FOUND_AT_ONCE // k))

    def make() -> DataFrame:
        tasks = mapped(steps.session.range(0, search.tasks, 1, search.tasks), partial(of_numbers, function=search.task), schema(FOUND))
        types = ", ".join(f"{name} {'double' if dtype is np.float64 else 'long'}" for name, dtype in FOUND.items())
        return mapped(tasks.repartition(len(asked) * merging, "place"), partial(nearest_in, k=k, distances=job.distances), types)

    steps.table("neighbors", make)
    found = Neighbors(*steps.columns("neighbors", *FOUND))
    order = np.argsort(found.query, kind="stable")  # those of a query are in order, in one file
    return Neighbors(*(values[order] for values in found))


def nearest_in(batches: Iterator[pa.RecordBatch], k: int, distances: bool) -> Iterator[pa.RecordBatch]:
    """Blocks of neighbors -> the nearest of each query."""
    if (table := whole(batches)) is not None:
        found = Neighbors(*(flat(table[name], dtype) for name, dtype in FOUND.items()))
        yield pa.record_batch(found.nearest(k, distances=distances)._asdict())
