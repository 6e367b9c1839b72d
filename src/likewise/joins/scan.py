"""All pairs of vectors within a limit of cosine, angle or L2, by comparing all pairs: exact.

Products in float32 (BLAS) select the pairs that may be within the limit, with slack for rounding. The measure decides those.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from likewise.items.lengths import to_one
from likewise.joins.hamming_join import named
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Longs, PairBlock, Stop
from likewise.joins.prefix import groups
from likewise.joins.vector_join import Prepared
from likewise.stages.workers import ALONE, Workers

#: Begin and end of rows, and of columns.
Tile = tuple[int, int, int, int]
T = TypeVar("T")

#: Rows and columns of a block of products.
PRODUCTS = (1024, 2048)
#: Pairs decided at once, and blocks of products at once for each task.
DECIDED, BLOCKS = 2**18, 2
#: Nanoseconds of one core of 2026 for a pair, and for each of its dimensions.
PAIR_COST, NUMBER_COST = 1.0, 0.02


@dataclass(frozen=True)
class Scan:
    """All pairs of vectors within the limit. per, workers: as for `joins.hamming_join.TableJoin`. Progress is counted in pairs."""

    prepared: Prepared
    per: NDArray[np.uint64] | None = None
    workers: Workers = ALONE

    recall = 1.0

    def facts(self) -> dict[str, Any]:
        return named("all pairs", self.prepared.vectors.shape[1])

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it."""
        counts, (chosen, side) = counts or Counts(), among.chosen(len(self.prepared.vectors), self.prepared.live)
        some = np.arange(len(self.prepared.vectors)) if chosen is None else chosen
        order, low, high = partners(side, None if self.per is None else self.per[some], len(some))
        some = some[order]
        self.workers.expect(int((high - low).sum()))
        stop = Stop(most)

        def look(tile: Tile) -> tuple[list[PairBlock], Counts]:
            return self.tile(some, low, high, *tile, stop)

        for found, seen in in_tiles(look, low, high, PRODUCTS, stop, self.workers):
            counts.add(seen)
            yield from found

    def tile(self, items: Longs, low: Longs, high: Longs, begin: int, end: int, first: int, last: int, stop: Stop) -> tuple[list[PairBlock], Counts]:
        """The pairs of the items at places ``begin`` to ``end`` with those of their partners at places ``first`` to ``last``."""
        found, counts = [], Counts()
        check = self.prepared.decider()
        near = self.near(items[begin:end], items[first:last])
        row, column = np.divmod(near, last - first)
        row, column = row + begin, column + first
        wanted = (low[row] <= column) & (column < high[row])
        left, right = items[row[wanted]], items[column[wanted]]
        for at in range(0, len(left), DECIDED):
            if stop:
                break
            one, other = left[at : at + DECIDED], right[at : at + DECIDED]
            block, computed = check(np.minimum(one, other), np.maximum(one, other))
            found.append(block)
            counts.add(Counts(proposed=len(one), computed=computed, found=len(block.left)))
            stop.found += len(block.left)
        counts.compared = int(np.maximum(0, np.minimum(high[begin:end], last) - np.maximum(low[begin:end], first)).sum())
        self.workers.advance(counts.compared)
        return found, counts

    def near(self, rows: Longs, columns: Longs) -> Longs:
        """The pairs of rows and columns that may be within the limit, as row * len(columns) + column: int64[m]."""
        products = self.factors(rows, False) @ self.factors(columns, True).T
        return np.flatnonzero(products.ravel() >= self.least)

    def factors(self, items: Longs, second: bool) -> NDArray[np.float32]:
        """The factors whose product selects pairs, for vectors of lengths scaled to at most 1: float32[m, d or d + 2].

        For angles: the vectors at length 1; the product is the cosine. For L2: the vectors from the center with two more coordinates; the product is
        minus half the squared distance, and slightly more for long vectors.
        """
        given, vectors = self.prepared, self.prepared.vectors[items]
        if given.angles:
            powers = to_one(given.lengths[items])
            unit = vectors * powers[:, None]
            return np.asarray(unit / (given.lengths[items] * powers)[:, None], np.float32)
        out = np.ones((len(items), vectors.shape[1] + 2), np.float32)
        out[:, :-2] = vectors * self.scale - given.center * self.scale
        out[:, -1 if second else -2] = (given.lengths[items] * self.scale) ** 2 * ((1 - 2 * self.slack) / -2)
        return out

    @property
    def slack(self) -> float:
        """The relative error bound of a product: of a sum of this many terms, and of rounding before it."""
        return (self.prepared.vectors.shape[1] + 16) * 2.0**-23

    @cached_property
    def scale(self) -> np.float64:
        """The power of two that scales all lengths below 1."""
        return np.float64(to_one(self.prepared.lengths.max(initial=0.0)))

    @property
    def least(self) -> float:
        """The minimum product of a pair within the limit, reduced by the error bound."""
        limit = self.prepared.limit
        if self.prepared.power == 2:
            return float(-((limit * self.scale) ** 2) / 2 * (1 + self.slack) - 2.0**-100)
        return (math.cos(math.radians(min(limit, 180.0))) if self.prepared.distances else limit) - self.slack

    @property
    def cost(self) -> float:
        """The predicted cost of all pairs in nanoseconds of one core."""
        n, dimension = self.prepared.vectors.shape
        return n * (n - 1) / 2 * (PAIR_COST + NUMBER_COST * dimension)


def partners(side: NDArray[np.uint8] | None, per: NDArray[np.uint64] | None, n: int) -> tuple[Longs, Longs, Longs]:
    """(items by group and side, low, high): int64[n] each, the range of places of each place's partners. Each requested pair is in one range."""
    group = groups(per, n)
    turn = np.zeros(n, np.int64) if side is None else np.array([0, 0, 2, 1])[side]  # only A first, only B last
    order = np.lexsort((turn, group))
    group, turn = group[order], turn[order]
    low, high = np.arange(1, n + 1), np.searchsorted(group, group, side="right")
    if side is not None:
        low = np.maximum(low, np.searchsorted(3 * group + turn, 3 * group + 1))
        high = np.where(turn == 2, low, high)
    return order, low, np.maximum(low, high)


def in_tiles(look: Callable[[Tile], T], low: Longs, high: Longs, shape: tuple[int, int], stop: Stop, workers: Workers) -> Iterator[T]:
    """Yield ``look(tile)`` for the tiles of this shape that cover all windows, in order, until ``stop`` is true."""
    tiles = cut(low, high, *shape)
    while not stop and (now := list(itertools.islice(tiles, BLOCKS * workers.tasks))):
        yield from workers.run(look, now)


def cut(low: Longs, high: Longs, height: int, width: int) -> Iterator[Tile]:
    """Yield (begin row, end row, begin column, end column) of tiles that cover all windows."""
    for begin in range(0, len(low), height):
        end = min(begin + height, len(low))
        some = low[begin:end] < high[begin:end]
        if some.any():
            first, last = int(low[begin:end][some].min()), int(high[begin:end].max())
            for column in range(first, last, width):
                yield begin, end, column, min(column + width, last)
