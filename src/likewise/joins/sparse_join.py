"""Exact joins of sparse vectors: every pair within a limit, and the greedy walk, with nothing missed; and what they will cost.

Coordinates have an order, the frequent ones first. The first ones of a vector x of length 1, as long as they are together shorter than t, cannot
make a cosine of t with any y of length 1 (Cauchy and Schwarz). Were the rarest coordinate that x and y share among them, then so would be all that
they share: so it is among the others of x, and of y. Vectors that have such a rare coordinate in common are compared: the prefix filter of sets
(kernels.join), with lengths in place of sizes (Bayardo, Ma and Srikant 2007, section 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.items.sparse import Sparse
from likewise.kernels.compare import SparseRule
from likewise.kernels.rank import number
from likewise.kernels.sparse import ANGLE, COSINE
from likewise.kernels.sparsejoin import join, mixed
from likewise.nearest.sparse import SLACK, weighed
from likewise.stages.walk import Walk
from likewise.stages.workers import ALONE, Workers

Longs = NDArray[np.int64]
Lists = tuple[Longs, Longs, NDArray[np.int32]]  # begins, filled, holders, as kernels.sparsejoin takes them

#: Items that a task joins; items that are walked, and rows that are handed over, before the caller hears of it.
ITEMS, ROWS = 1 << 12, 1 << 16
#: Nanoseconds of one core of 2026: to put an entry in order; to meet a vector in a list, to compare it for the first time, and each of its entries.
PREPARE, MEET, COMPARE, MULTIPLY = 300.0, 5.0, 50.0, 2.5


def least_cosine(rule: SparseRule) -> float:
    """The least cosine of a pair within the limit; 0 where there is none above it, and a join by what is shared would miss some."""
    if rule.measure == COSINE:
        return max(0.0, rule.limit)
    return max(0.0, math.cos(math.radians(rule.limit))) if rule.measure == ANGLE and rule.limit < 90 else 0.0


@dataclass(frozen=True)
class Prepared:
    """Vectors, and the rare coordinates of each, as ranks of their indices."""

    vectors: Sparse
    rule: SparseRule
    words: int  # different indices
    numbers: NDArray[np.uint32]  # [m]: of each entry the number of its index
    values: NDArray[np.float64]  # float64[m]: of vectors of length 1
    ranks: NDArray[np.uint32]  # [k]: of the rare ones, vector by vector, the frequent ones first
    offsets: Longs  # int64[n + 1]
    begins: Longs  # int64[ranks + 1]: where each rank's holders begin, if all are entered

    @classmethod
    def of(cls, vectors: Sparse, rule: SparseRule, workers: Workers = ALONE) -> Prepared:
        """Some vectors at a time: sums over no more than these keep their rounding below `SLACK`."""
        n, offsets = len(vectors), vectors.offsets
        numbers = np.empty(len(vectors.indices), np.uint32)
        held = number(mixed(vectors.indices), np.empty(0, np.uint8), 64, numbers)
        rank = np.empty(len(held), np.uint32)
        rank[np.argsort(held, kind="stable")[::-1]] = np.arange(len(held), dtype=np.uint32)
        values = weighed(vectors, "cosine")[0]
        enough = least_cosine(rule) ** 2 * (1 - SLACK) - SLACK

        def rare(begin: int) -> tuple[NDArray[np.uint32], Longs]:
            """The rare ranks of some vectors, and how many each has."""
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
        ends, begins = (np.concatenate(([0], np.cumsum(of))) for of in (sizes, np.bincount(ranks, minlength=len(held))))
        return cls(vectors, rule, len(held), numbers, values, ranks, ends, begins)

    @property
    def visits(self) -> int:
        """How often two vectors meet in a list."""
        held = np.diff(self.begins)
        return int((held * (held - 1) // 2).sum())

    def full(self) -> Lists:
        """The lists with all vectors in them."""
        row = np.repeat(np.arange(len(self.vectors), dtype=np.int32), np.diff(self.offsets))
        return self.begins, np.diff(self.begins), row[np.argsort(self.ranks, kind="stable")]

    def empty(self) -> Lists:
        return self.begins, np.zeros(len(self.begins) - 1, np.int64), np.empty(len(self.ranks), np.int32)

    def join(
        self, lists: Lists, per: NDArray[np.uint64], side: NDArray[np.uint8], begin: int, end: int, state: Longs, workers: Workers
    ) -> Iterator[tuple[Longs, int]]:
        """Blocks of rows of kernels.sparsejoin, and the comparisons that they took. state: int64[n, 2] for a walk, else empty."""
        units, rare, least = (self.numbers, self.values), (self.ranks, self.offsets), least_cosine(self.rule) - SLACK
        known, seen, out = np.zeros(self.words), np.full(len(self.vectors), -1, np.int32), np.empty((end + ROWS, 4), np.int64)
        while begin < end:
            before, items = begin, (self.vectors.arrays, units, rare, lists, self.rule, least, per, side, len(state) > 0)
            begin, written, compared = join(*items, begin, min(end, begin + ITEMS), known, seen, state, out)
            workers.advance(begin - before)
            yield out[:written].copy(), compared


def sparse_pairs(
    prepared: Prepared,
    *,
    side: NDArray[np.uint8],
    per: NDArray[np.uint64],
    workers: Workers = ALONE,
    most: int = 2**62,
) -> Iterator[Longs]:
    """All pairs within the limit: int64[m, 4] blocks of item, earlier item, score (kernels.compare), 1. Each once, in no order.

    side: uint8[n] of 1, 2 or 3 for items of A, B or both, or empty. per: uint64[n]: only pairs of equal values. The work is
    counted in items. A task that has found more than ``most`` pairs looks for no more.
    """
    lists, n = prepared.full(), len(prepared.vectors)

    def part(begin: int) -> list[Longs]:
        found: list[Longs] = []
        for block, _ in prepared.join(lists, per, side, begin, min(begin + ITEMS, n), np.empty((0, 2), np.int64), workers):
            found.append(block)
            if sum(map(len, found)) > most:
                break
        return found

    for blocks in workers.run(part, range(0, n, ITEMS)):
        yield from blocks


def sparse_walk(prepared: Prepared, *, per: NDArray[np.uint64], workers: Workers = ALONE) -> Walk:
    """The greedy walk (stages/walk.py) over items in priority order, as if all of equal ``per`` shared a bucket."""
    n = len(prepared.vectors)
    state = np.full((n, 2), -1, np.int64)
    found, compared = [np.empty((0, 4), np.int64)], 0
    for block, more in prepared.join(prepared.empty(), per, np.empty(0, np.uint8), 0, n, state, workers):
        found.append(block)
        compared += more
    matches = np.concatenate(found)
    matches = matches[np.lexsort((matches[:, 1], matches[:, 0]))]
    return Walk(state[:, 0], state[:, 1], np.ones(n, np.int64), matches, compared)


def join_cost(prepared: Prepared) -> float:
    """Nanoseconds of one core that a join takes: two vectors that meet for the first time are compared."""
    n, entries = len(prepared.vectors), len(prepared.values)
    return PREPARE * entries + MEET * prepared.visits + (COMPARE + MULTIPLY * entries / max(1, n)) * min(prepared.visits, n * (n - 1) // 2)
