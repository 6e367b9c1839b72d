"""All pairs of vectors within an L_r distance, or L∞, by comparing all that are near by one number: exact, for any r.

Items are sorted by a number that differs by at most the distance, so that most pairs of a small limit are never visited. Of dense vectors this is the
coordinate by which the fewest pairs of a sample are near; of sparse ones the distance from the origin (the triangle inequality).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.items.sparse import Sparse
from likewise.joins.hamming_join import named
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Longs, PairBlock, Stop
from likewise.joins.prefix import groups
from likewise.joins.scan import Tile, in_tiles
from likewise.kernels import norms
from likewise.kernels.compare import SparseRule
from likewise.kernels.sparse import COSINE, NORM, measures
from likewise.stages.workers import ALONE, Workers

#: Rows and columns of a tile.
TILE = (256, 1024)
#: Pairs of vectors in the sample that orders coordinates.
SAMPLE = 512
#: Relative error of a sparse vector's distance from the origin, and of a limit.
SLACK = 1e-9
#: Nanoseconds of one core of 2026 to compare two dense vectors that differ early, and for each number of others; and for sparse vectors and entries.
PAIR_COST, NUMBER_COST, SPARSE_COST, ENTRY_COST = 6.0, 0.06, 200.0, 5.0


@dataclass(frozen=True)
class KeyedScan:
    """All pairs of items within a limit, among those whose keys differ by at most ``reach``. Progress is counted in pairs."""

    keys: NDArray[np.float64]  # float64[n]
    reach: float
    per: NDArray[np.uint64] | None
    workers: Workers

    recall = 1.0

    @property
    def dimension(self) -> int:
        return 0

    def facts(self) -> dict[str, Any]:
        return named("all pairs", self.dimension)

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it."""
        counts, stop, (some, side) = counts or Counts(), Stop(most), among.chosen(len(self.keys))
        items = np.arange(len(self.keys)) if some is None else some
        group = groups(None if self.per is None else self.per[items], len(items))
        order = np.lexsort((self.keys[items], group))
        if side is None:
            one = other = order
        else:
            one, other = (order[side[order] & which > 0] for which in (np.uint8(1), np.uint8(2)))
        sides = [(items[of], group[of], self.keys[items[of]], np.zeros(len(of), bool) if side is None else side[of] == 3) for of in (one, other)]
        (rows, group_of, key, twice), (columns, groups_of, keys, twin) = sides
        low, high = norms.ranges(group_of, key, groups_of, keys, self.reach)
        if side is None:
            low = np.arange(1, len(rows) + 1)
            high = np.maximum(low, high)
        self.workers.expect(int((high - low).sum()))

        def look(tile: Tile) -> tuple[PairBlock, int]:
            begin, end, first, last = tile
            windows = np.clip(low[begin:end], first, last) - first, np.clip(high[begin:end], first, last) - first
            found = self.tile(rows[begin:end], columns[first:last], *windows, twice[begin:end], twin[first:last])
            stop.found += len(found[0].left)
            self.workers.advance(int((windows[1] - windows[0]).sum()))
            return found

        for block, compared in in_tiles(look, low, high, TILE, stop, self.workers):
            counts.add(Counts(compared=compared, computed=compared, found=len(block.left)))
            yield block

    def tile(self, rows: Longs, columns: Longs, low: Longs, high: Longs, twice: NDArray[Any], twin: NDArray[Any]) -> tuple[PairBlock, int]:
        """The pairs of rows with columns from ``low`` to ``high`` that are within the limit, and the number compared.

        twice, twin: bool, as kernels.norms.close takes them.
        """
        raise NotImplementedError


@dataclass(frozen=True)
class NormScan(KeyedScan):
    """All pairs of dense vectors within an L_r distance."""

    vectors: NDArray[Any]  # float32[n, d] or float64[n, d]
    norm: norms.Norm
    limit: float
    coordinates: Longs  # int64[d]: those first by which fewer pairs are near
    near: tuple[float, float]  # the share of pairs that are near by the first coordinate, and by all

    @classmethod
    def of(cls, vectors: NDArray[Any], order: float, limit: float, per: NDArray[np.uint64] | None = None, workers: Workers = ALONE) -> NormScan:
        """order: r, which may be infinite."""
        vectors = read_only(np.ascontiguousarray(vectors))
        draw = np.random.default_rng(0).integers(0, max(1, len(vectors)), (2, SAMPLE))
        one, other = draw[:, draw[0] != draw[1]]
        with np.errstate(over="ignore"):
            apart = np.abs(vectors[one].astype(np.float64) - vectors[other])
            near = apart <= limit
            coordinates = np.lexsort((-np.minimum(apart, 1e300).sum(axis=0), near.sum(axis=0)))
        shares = (float(near[:, coordinates[0]].mean()), float(near.all(axis=1).mean())) if len(one) else (1.0, 1.0)
        keys = vectors[:, coordinates[0]].astype(np.float64)
        norm = norms.norm_of(order, vectors.shape[1], vectors.itemsize)
        return cls(keys, limit * (1 + SLACK), per, workers, vectors, norm, float(limit), coordinates, shares)

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    @property
    def cost(self) -> float:
        """The predicted cost of all pairs in nanoseconds of one core."""
        n = len(self.vectors)
        return n * (n - 1) / 2 * (self.near[0] * PAIR_COST + self.near[1] * self.dimension * NUMBER_COST)

    def padded(self, items: Longs) -> NDArray[Any]:
        """Vectors as kernels.norms.close takes them."""
        return norms.padded(self.vectors[items][:, self.coordinates])

    def tile(self, rows: Longs, columns: Longs, low: Longs, high: Longs, twice: NDArray[Any], twin: NDArray[Any]) -> tuple[PairBlock, int]:
        many = int((high - low).sum())
        left, right, value = np.empty(many, np.int64), np.empty(many, np.int64), np.empty(many)
        given = self.padded(rows), self.padded(columns), low, high, twice, twin
        count, compared = norms.close(self.vectors, self.norm, self.limit, rows, columns, *given, left, right, value)
        return PairBlock(left[:count].copy(), right[:count].copy(), value[:count].copy()), compared


@dataclass(frozen=True)
class SparseScan(KeyedScan):
    """All pairs of sparse vectors within any limit."""

    vectors: Sparse
    rule: SparseRule

    @classmethod
    def of(cls, vectors: Sparse, rule: SparseRule, per: NDArray[np.uint64] | None = None, workers: Workers = ALONE) -> SparseScan:
        keys, reach = np.zeros(len(vectors)), 0.0
        if rule.measure == NORM:
            origin = Sparse(vectors.indices[:0], vectors.values[:0], np.zeros(2, np.int64))
            found = measures(vectors.arrays, origin.arrays, np.arange(len(vectors)), np.zeros(len(vectors), np.int64), NORM, rule.order)
            if len(found) and (farthest := found.max()) < np.inf:
                keys, reach = found, rule.limit * (1 + SLACK) + farthest * SLACK
        return cls(keys, reach, per, workers, vectors, rule)

    @property
    def cost(self) -> float:
        """The predicted cost of all pairs in nanoseconds of one core."""
        n = len(self.vectors)
        return n * (n - 1) / 2 * (SPARSE_COST + ENTRY_COST * len(self.vectors.values) / max(1, n))

    def tile(self, rows: Longs, columns: Longs, low: Longs, high: Longs, twice: NDArray[Any], twin: NDArray[Any]) -> tuple[PairBlock, int]:
        row = np.repeat(np.arange(len(rows)), high - low)
        column = np.arange(len(row)) - np.repeat(np.cumsum(high - low) - high, high - low)
        one, other = rows[row], columns[column]
        wanted = ~(twice[row] & twin[column]) | (one < other)
        left, right = np.minimum(one, other)[wanted], np.maximum(one, other)[wanted]
        value = measures(self.vectors.arrays, self.vectors.arrays, left, right, self.rule.measure, self.rule.order)
        good = value >= self.rule.limit if self.rule.measure == COSINE else value <= self.rule.limit
        return PairBlock(left[good], right[good], value[good]), len(left)
