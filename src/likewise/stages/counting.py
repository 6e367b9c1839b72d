"""Common shingles: those in more than a given number of items, counted exactly in bounded memory.

A first pass counts all shingles in a table of buckets, far fewer than shingles. Few buckets exceed the limit, and only their shingles are then
collected, sorted and counted one by one. The count of a bucket is an upper bound of the counts of its shingles, so no common shingle is lost.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.drawing.numbers import counted
from likewise.errors import UsageError
from likewise.kernels import ignored as kernels
from likewise.messages import option
from likewise.stages.workers import ALONE, Workers

#: Buckets for each shingle that could be common: at most occurrences / limit are, so at most one bucket in SPARSE holds one.
SPARSE = 8
LEAST_BUCKETS = 1 << 12
#: Shares of the memory, 1/n: for the table, and for the collected shingles, which sorting copies.
OF_TABLE, OF_COLLECTED = 8, 8
#: Shingles that are looked up for the report, those in the most items.
NAMED = 64
#: Shingles between two reports of progress.
AT_ONCE = 1 << 20


class Common(NamedTuple):
    """The common shingles of a collection."""

    words: NDArray[np.uint64]  # ascending
    items: NDArray[np.int64]  # the number of items that have each
    most: NDArray[np.uint64]  # the shingles in the most items, most first
    first: NDArray[np.int64]  # the first row with each of these


class Stored(NamedTuple):
    """Sets of rows: row i has values[offsets[i] : offsets[i + 1]]."""

    values: NDArray[np.uint64]
    offsets: NDArray[np.int64]
    counted: NDArray[np.bool_]  # the rows whose shingles are counted

    def blocks(self) -> Iterator[tuple[int, Stored]]:
        """Yield (first row, rows) for consecutive rows of about AT_ONCE shingles."""
        ends = np.searchsorted(self.offsets, np.arange(AT_ONCE, int(self.offsets[-1]) + AT_ONCE, AT_ONCE))
        edges = np.unique(np.minimum(np.concatenate(([0], ends)), len(self.counted)))
        for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            low, high = int(self.offsets[begin]), int(self.offsets[end])
            yield begin, Stored(self.values[low:high], self.offsets[begin : end + 1] - low, self.counted[begin:end])


def limit_of(share: Fraction, items: int) -> int:
    """The number of items that common shingles exceed. Raises UsageError for a share of less than two items, of which no two could have anything in
    common."""
    limit = math.floor(share * items)
    if items > 1 and limit < 2:
        few = f"this share of {counted(items, 'item')} is less than 2 items, so no two items could have a shingle in common"
        raise UsageError(f"{option('ignore_common', str(share))}: {few}; {f'give 2/{items} or more' if items > 2 else 'leave it out'}")
    return max(1, limit)


def common(stored: Stored, limit: int, memory: int, *, workers: Workers = ALONE) -> Common:
    """The shingles in more than ``limit`` counted rows, 1 or more.

    memory: bytes. Advances by twice the number of all shingles. The result does not depend on the memory or the workers.
    """
    total = int(stored.offsets[-1])
    buckets = max(LEAST_BUCKETS, min(SPARSE * total // limit, memory // OF_TABLE // 4))
    counts = workers.allocate((buckets,), np.dtype(np.uint32 if total < 2**32 else np.uint64))
    counts[:] = 0
    edges = np.linspace(0, buckets, workers.tasks + 1).astype(np.int64)

    def tally(part: int) -> None:
        mine = counts[edges[part] : edges[part + 1]]
        for _, rows in stored.blocks():
            kernels.tally(*rows, buckets, int(edges[part]), mine)
            workers.advance(len(rows.values) // workers.tasks)

    list(workers.run(tally, range(workers.tasks)))
    room = max(1, memory // OF_COLLECTED // 8 // workers.tasks)

    def collected(part: tuple[int, int]) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
        mine = counts[part[0] : part[1]]
        out, found = np.empty(int(mine[mine > limit].sum(dtype=np.int64)), np.uint64), 0
        for _, rows in stored.blocks():
            found = kernels.frequent(*rows, buckets, part[0], mine, limit, out, found)
            workers.advance(len(rows.values) // len(parts))
        words, items = np.unique(out, return_counts=True)
        return words[items > limit], items[items > limit]

    parts = shares(counts, limit, workers.tasks, room)
    words, items = (np.concatenate(each) for each in zip(*workers.run(collected, parts), strict=True))
    most = words[np.lexsort((words, -items))[:NAMED]]
    return Common(words, items, most, first_rows(stored, most))


def shares(counts: NDArray, limit: int, tasks: int, room: int) -> list[tuple[int, int]]:
    """Ranges of buckets, at least ``tasks``, with about equally many shingles to collect, and at most ``room`` unless a single bucket has more."""
    sizes = np.cumsum(np.where(counts > limit, counts, 0), dtype=np.int64)
    number = max(tasks, -(-int(sizes[-1]) // max(1, room // 2)))
    ends = np.searchsorted(sizes, np.arange(1, number) * int(sizes[-1]) // number, side="right")
    edges = np.unique(np.concatenate(([0], ends, [len(counts)])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))


def first_rows(stored: Stored, words: NDArray[np.uint64]) -> NDArray[np.int64]:
    """The first counted row that has each of a few words, int64[len(words)]."""
    found = np.full(len(words), -1, np.int64)
    for first, rows in stored.blocks():
        if (found >= 0).all():
            break
        for which in np.flatnonzero(found < 0).tolist():
            places = np.flatnonzero(rows.values == words[which])
            row = np.searchsorted(rows.offsets, places, side="right") - 1
            row = row[rows.counted[row]]
            found[which] = first + row[0] if len(row) else -1
    return found
