"""Exact joins of sparse vectors: every pair within a limit, and the predicted cost.

Coordinates are ordered, frequent ones first. The first coordinates of a vector x of length 1, as long as their norm is below t, cannot reach a cosine
of t with any y of length 1 (Cauchy and Schwarz). If the rarest coordinate that x and y share were among them, all shared ones would be. So it is
among the others, of x and of y. Vectors that share such a rare coordinate are compared: the prefix filter of sets (kernels.join), with lengths in
place of sizes (Bayardo, Ma and Srikant, Scaling Up All Pairs Similarity Search, WWW 2007, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.sparse import Sparse
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Groups, Longs, PairBlock, Stop
from likewise.kernels.compare import SparseRule
from likewise.kernels.compare import values as scored
from likewise.kernels.rank import number
from likewise.kernels.sparse import ANGLE, COSINE
from likewise.kernels.sparsejoin import join, mixed
from likewise.nearest.sparse import SLACK, weighed
from likewise.stages.workers import ALONE, Workers

#: Items of a task, and rows that a kernel returns at once.
ITEMS, ROWS = 1 << 12, 1 << 16
#: Nanoseconds of one core of 2026: to sort an entry; to visit a vector in a list; for a first comparison; and for each of its entries.
PREPARE, VISIT, COMPARE, MULTIPLY = 300.0, 5.0, 50.0, 2.5


def least_cosine(rule: SparseRule) -> float:
    """The minimum cosine of a pair within the limit; 0 if it is not positive, so that a join by shared coordinates would miss pairs."""
    if rule.measure == COSINE:
        return max(0.0, rule.limit)
    return max(0.0, math.cos(math.radians(rule.limit))) if rule.measure == ANGLE and rule.limit < 90 else 0.0


@dataclass(frozen=True)
class SparseJoin:
    """All pairs of sparse vectors within a limit, by the rare coordinates of each, as ranks of their indices. Progress is counted in vectors."""

    vectors: Sparse
    rule: SparseRule
    words: int  # distinct indices
    numbers: NDArray[np.uint32]  # uint32[m]: the number of each entry's index
    values: NDArray[np.float64]  # float64[m]: values, scaled to vectors of length 1
    ranks: NDArray[np.uint32]  # uint32[k]: ranks of the rare coordinates, vector by vector, frequent ones first
    offsets: Longs  # int64[n + 1]
    per: Groups  # uint64[n]: only pairs of equal values; or empty
    workers: Workers

    recall = 1.0

    @classmethod
    def of(cls, vectors: Sparse, rule: SparseRule, per: Groups | None = None, workers: Workers = ALONE) -> SparseJoin:
        """Build the lists, for a block of vectors at a time, so that rounding in the sums of a block stays below `SLACK`."""
        n, offsets = len(vectors), vectors.offsets
        numbers = np.empty(len(vectors.indices), np.uint32)
        held = number(mixed(vectors.indices), np.empty(0, np.uint8), 64, numbers)
        rank = np.empty(len(held), np.uint32)
        rank[np.argsort(held, kind="stable")[::-1]] = np.arange(len(held), dtype=np.uint32)
        values = weighed(vectors, "cosine")[0]
        enough = least_cosine(rule) ** 2 * (1 - SLACK) - SLACK

        def rare(begin: int) -> tuple[NDArray[np.uint32], Longs]:
            """The rare ranks of a block of vectors, and the number for each vector."""
            end = min(begin + ITEMS, n)
            here = slice(offsets[begin], offsets[end])
            row = np.repeat(np.arange(end - begin), np.diff(offsets[begin : end + 1]))
            ranks = rank[numbers[here]]
            order = np.argsort(row * len(held) + ranks, kind="stable")
            sums = np.concatenate(([0], np.cumsum(values[here][order] ** 2)))
            beyond = sums[1:] - sums[offsets[begin:end] - offsets[begin]][row] > enough
            return ranks[order][beyond], np.bincount(row[beyond], minlength=end - begin)

        parts = [(rank[:0], offsets[:0]), *workers.run(rare, range(0, n, ITEMS))]
        ranks, sizes = (np.concatenate(part) for part in zip(*parts, strict=True))
        ends = np.concatenate(([0], np.cumsum(sizes)))
        groups = per if per is not None and per.any() else np.empty(0, np.uint64)
        return cls(vectors, rule, len(held), numbers, values, ranks, ends, groups, workers)

    def lists(self, items: Longs | None) -> tuple[Longs, NDArray[np.int32]]:
        """(begins, holders) of the items, or of all, as kernels.sparsejoin takes them."""
        sizes, ranks = np.diff(self.offsets), self.ranks
        if items is not None:
            here = np.zeros(len(sizes), np.bool_)
            here[items] = True
            ranks = ranks[np.repeat(here, sizes)]
        some = np.arange(len(sizes)) if items is None else items
        row = np.repeat(some.astype(np.int32), sizes[some])
        return np.concatenate(([0], np.cumsum(np.bincount(ranks, minlength=self.words)))), row[np.argsort(ranks, kind="stable")]

    @property
    def visits(self) -> int:
        """The number of times that two vectors share a list."""
        held = np.bincount(self.ranks, minlength=self.words)
        return int((held * (held - 1) // 2).sum())

    @property
    def cost(self) -> float:
        """As `joins.pairs.Join` defines it: two vectors that share a list for the first time are compared."""
        n, entries = len(self.vectors), len(self.values)
        return PREPARE * entries + VISIT * self.visits + (COMPARE + MULTIPLY * entries / max(1, n)) * min(self.visits, n * (n - 1) // 2)

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it."""
        n, counts, stop = len(self.vectors), counts or Counts(), Stop(most)
        items, side = among.chosen(n)
        lists, some = self.lists(items), np.arange(n) if items is None else np.ascontiguousarray(items)
        sides = np.empty(0, np.uint8)
        if side is not None:
            sides = np.zeros(n, np.uint8)
            sides[some] = side
        shared = self.vectors.arrays, (self.numbers, self.values), (self.ranks, self.offsets), lists, self.rule
        given = *shared, least_cosine(self.rule) - SLACK, self.per, sides, some

        def part(begin: int) -> tuple[list[Longs], int]:
            end = min(begin + ITEMS, len(some))
            known, seen, out = np.zeros(self.words), np.full(n, -1, np.int32), np.empty((end + ROWS, 3), np.int64)
            found, compared = [out[:0]], 0
            while begin < end and not stop:
                before = begin
                begin, written, more = join(*given, begin, end, known, seen, out)
                found.append(out[:written].copy())
                stop.found += written
                compared += more
                self.workers.advance(begin - before)
            return found, compared

        for blocks, compared in self.workers.run(part, range(0, len(some), ITEMS)):
            counts.compared += compared
            for block in blocks:
                counts.found += len(block)
                yield PairBlock(block[:, 1], block[:, 0], scored(block[:, 2], distances=self.rule.distance))

    def facts(self) -> dict[str, Any]:
        return {}
