"""Nearest neighbors of vectors: by codes for cosine, angle and L2, or by comparing all if that is requested or faster; always for other L_r."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.lengths import lengths_of, squared_lengths, to_unit
from likewise.items.sets import read_only
from likewise.kernels import brute_force as exhaust
from likewise.kernels.nearest import Asked
from likewise.kernels.norms import nearest, norm_of, padded
from likewise.kernels.scan import BLOCK
from likewise.kernels.signs import code_bits, sign_codes, squares, turns
from likewise.kernels.top_k import ANGLE, COSINE, DISTANCES, L2, SPARE, Items, Rule
from likewise.nearest.by_codes import BITS, SCANNED_BITS, Coded, by_codes, max_cosines_of
from likewise.nearest.search import Floats, Longs, Out, Search, Words

Vectors = NDArray[Any]

#: With fewer items, or at most this many dimensions, comparing all is faster than codes.
FEW_ITEMS, FEW_NUMBERS = 2048, 32
#: Vectors encoded by a task, and the size of the sample whose mean is the center.
CODED_AT_ONCE, CENTERED = 2048, 4096
#: Exact search: queries whose candidates are held at once, queries and items of a product, and queries whose products a task examines.
HELD, PRODUCT_QUERIES, PRODUCT_ITEMS, LOOKED_AT = 16384, 1024, 4096, 128
#: By the bytes of a number: squares of greater sizes may overflow, and those of sizes below the reciprocal may vanish.
LARGEST = {4: 1e15, 8: 1e150}
#: Products of queries whose sizes are so many times that of the largest item may overflow float32.
FAR = 1e30


class Frame:
    """A center near the mean of the items. Vectors are taken relative to it: distances do not depend on it, but the quality of codes does.

    For cosines and angles vectors are scaled to length 1 first. A vector of size -1 has no neighbors; a size is NaN if squares of its numbers, or of
    its length, may overflow or vanish.
    """

    def __init__(self, search: Search, base: Vectors):
        self.search = search
        self.direction = search.kind in (COSINE, ANGLE)
        self.largest = LARGEST[base.itemsize]
        self.origin = read_only(np.zeros(base.shape[1], base.dtype))
        with np.errstate(all="ignore"):
            rows = base[:: max(1, len(base) // CENTERED)]
            rows = self.ones(rows, self.inverse(rows)) if self.direction else rows
            self.center = read_only(rows.mean(axis=0, dtype=np.float64).astype(rows.dtype))

    def inverse(self, rows: Vectors) -> Floats:
        """1 / length of each vector, float64[n]; 0 for the zero vector."""
        lengths = lengths_of(rows, self.origin, squared_lengths(rows, self.origin, self.search.workers.run))
        return np.divide(1.0, lengths, out=np.zeros(len(rows)), where=lengths > 0)

    def ones(self, rows: Vectors, inverse: Floats) -> NDArray[np.float32]:
        """The vectors scaled to length 1: float32[n, d]."""
        return (rows * inverse[:, None]).astype(np.float32)

    def moved(self, items: Items, begin: int, end: int, scale: float = 1.0) -> NDArray[np.float32]:
        """Some of the vectors relative to the center, times the scale: float32[n, d]. Numbers beyond float32 are infinite."""
        rows = items.rows[begin:end]
        with np.errstate(over="ignore", invalid="ignore"):
            if self.direction:
                return read_only(self.ones(rows, items.inverse[begin:end]) - self.center)
            return read_only(((rows - self.center) * rows.dtype.type(scale)).astype(np.float32))

    def seen(self, rows: Vectors, bits: int) -> tuple[Items, Floats, Words]:
        """The vectors, their sizes, float64[n], and their codes, uint64[n, bits / 64].

        A size is the distance from the center; a bit of a code is the side of a hyperplane through it.
        """
        inverse = np.empty(0)
        with np.errstate(all="ignore"):
            if self.direction:
                inverse, sizes = self.inverse(rows), np.empty(len(rows))
            else:
                sizes = lengths_of(rows, self.center, squared_lengths(rows, self.center, self.search.workers.run))
        items, codes = Items(rows, read_only(inverse)), np.empty((len(rows), bits // 64), np.uint64)

        def place(begin: int, end: int) -> None:
            part, center, size = rows[begin:end], self.center.astype(np.float64), sizes[begin:end]
            with np.errstate(all="ignore"):  # error states are set for each thread
                if self.direction:
                    part, center = self.moved(items, begin, end), np.zeros(len(center))
                    squares(part, read_only(np.zeros(len(center), np.float32)), 0, end - begin, size)
                    np.sqrt(size, out=size)
                if bits:
                    turned, thresholds = turns(self.search.seed, len(center), bits), np.zeros(bits, np.float32)
                    sign_codes(part, center, to_unit(size), turned, thresholds, 0, end - begin, codes[begin:end])

        if bits or self.direction:
            self.search.over(len(rows), CODED_AT_ONCE, place)
        if self.direction:
            sizes[inverse == 0] = -1
            sizes[(inverse > self.largest) | ((inverse < 1 / self.largest) & (inverse > 0))] = np.nan
        else:
            sizes[~(sizes <= self.largest)] = np.nan
        return items, sizes, codes


def vectors_near(search: Search, base: Vectors, queries: Vectors, out: Out) -> bool:
    """Search by codes; by products if those are faster; by the measure alone where squares may overflow or vanish. True if exact."""
    base, queries = (read_only(np.ascontiguousarray(side, np.result_type(base, queries))) for side in (base, queries))
    frame = Frame(search, base)
    exact = search.exact or len(base) < FEW_ITEMS or base.shape[1] <= FEW_NUMBERS
    bits = 0 if exact else code_bits(base.shape[1], BITS)
    items, sizes, codes = frame.seen(base, bits)
    asked, asked_sizes, asked_codes = (items, sizes, codes) if search.same else frame.seen(queries, bits)
    strange = np.isnan(asked_sizes) | np.isnan(sizes).any()
    if exact:
        strange |= asked_sizes * scale_of(frame, sizes) > FAR
    asked_sizes = np.where(strange, -1.0, asked_sizes)
    rule = rule_of(search, base)
    if not strange.all() and exact:
        for start in range(0, len(queries), HELD):
            by_products(rule, frame, items, asked, sizes, asked_sizes, start, min(start + HELD, len(queries)), out)
    elif not strange.all():
        coded = Coded(codes, sizes, in_order(base, codes, sizes, search.k), SCANNED_BITS)
        by_codes(search, rule, max_cosines_of(SCANNED_BITS, bits, search.recall), items, coded, asked, Asked(asked_codes, asked_sizes), out)
    plain = rule_itself(search)
    for query in np.flatnonzero(strange).tolist():
        exhaust.one_by_one(plain, items, asked, search.same, query, query + 1, *out.arrays)
    return exact or bool(strange.all())


def all_near(search: Search, base: Vectors, queries: Vectors, out: Out) -> bool:
    """Search by L_r, comparing each query with all vectors. Returns True: the result is exact."""
    base, queries = (read_only(np.ascontiguousarray(side, np.result_type(base, queries))) for side in (base, queries))
    items, asked = (Items(side, read_only(np.empty(0))) for side in (base, queries))
    numbers = padded(base)
    sides = numbers, numbers if search.same else padded(queries)
    plain, norm = rule_itself(search), norm_of(search.order, base.shape[1], base.itemsize)
    search.over_queries(len(queries), lambda *part: nearest(plain, items, asked, norm, *sides, search.same, *part, *out.arrays))
    return True


def rule_itself(search: Search) -> Rule:
    """The rule with the measure's own values as costs."""
    most = math.inf if search.limit is None else search.limit if search.kind in DISTANCES else -search.limit
    return Rule(search.kind, most, 0.0, 0.0, search.order)


def rule_of(search: Search, vectors: Vectors) -> Rule:
    """The rule for costs with rounding errors: sums in any order of squared differences, or products divided by two lengths."""
    dimension, numbers, limit = vectors.shape[1], np.finfo(vectors.dtype), search.limit
    error = 2 * (dimension + 32) * float(numbers.eps)
    if search.kind == L2:
        return Rule(L2, math.inf if limit is None else limit * abs(limit), error, dimension * float(numbers.tiny), 2.0)
    least = limit if search.kind == COSINE or limit is None else math.cos(math.radians(min(max(limit, 0.0), 180.0)))
    return Rule(search.kind, math.inf if least is None else 2 - 2 * least, 0.0, 2 * error, 0.0)


def in_order(rows: Vectors, codes: Words, sizes: Floats, k: int) -> Longs:
    """The vectors of size 0 or more, by size: int64[m]. Of equal vectors only the first k + 1, because no others are among any k nearest."""
    order = np.argsort(sizes)
    order = order[np.searchsorted(sizes[order], 0.0) :]
    level = np.diff(sizes[order], append=np.inf) == 0
    tied = level | np.roll(level, 1)
    some = order[tied]
    digest = codes[some] @ np.arange(1, 2 * codes.shape[1], 2, dtype=np.uint64)
    by_digest = np.lexsort((some, digest, sizes[some]))
    order[tied], digest = some[by_digest], digest[by_digest]
    equal = np.flatnonzero(tied)[1:][digest[1:] == digest[:-1]]
    begins = np.ones(len(order), bool)  # of runs of equal vectors
    for part in np.array_split(equal, len(equal) // CODED_AT_ONCE + 1):
        begins[part] = (rows[order[part]] != rows[order[part - 1]]).any(axis=1)
    places = np.arange(len(order))
    return order[places - np.maximum.accumulate(np.where(begins, places, 0)) <= k]


def scale_of(frame: Frame, sizes: Floats) -> float:
    """The power of 2 by which the sizes of items become at most 1. Directions have size 1 already."""
    return 1.0 if frame.direction else 2.0 ** min(-math.frexp(float(sizes.max()))[1], 1023)


def by_products(rule: Rule, frame: Frame, items: Items, asked: Items, sizes: Floats, asked_sizes: Floats, start: int, end: int, out: Out) -> None:
    """Compare the queries start..end with all items, exactly.

    Products in float32 (BLAS) with a bound of their rounding select the pairs that the measure decides.
    """
    search, dimension, largest, scale = frame.search, items.rows.shape[1], float(sizes.max()), scale_of(frame, sizes)
    known = 1.0 if frame.direction else 0.0  # vectors of length 1 were rounded before the center was subtracted
    size = asked_sizes[start:end] * scale
    moved = np.where(size[:, None] < 0, np.float32(0), frame.moved(asked, start, end, scale))  # without those compared by the measure
    one, other, rounding = size + known, largest * scale + known, 2.0**-24
    slack = 2 * (dimension + 8) * rounding * one * other + 16 * rounding * (one**2 + other**2)
    count, room = end - start, 2 * search.k + SPARE
    held = np.empty((count, search.k)), np.empty((count, room), np.int64), np.empty((count, room)), np.zeros((count, 2), np.int64)

    def look(first: int, squares: NDArray[np.float32], some: int, products: NDArray[np.float32], begin: int, stop: int) -> None:
        part = slice(some + begin, some + stop)
        mine = products[begin * len(squares) : stop * len(squares)]
        known = (array[part] for array in (size, slack, *held, out.counters[start:end]))
        exhaust.propose(rule, items, asked, search.same, start + some + begin, first, mine, squares, scale * scale, *known)

    buffer = np.empty(PRODUCT_QUERIES * PRODUCT_ITEMS, np.float32)
    for first in range(0, len(sizes), PRODUCT_ITEMS):
        here = sizes[first : first + PRODUCT_ITEMS]
        width = -(-len(here) // BLOCK) * BLOCK
        block, squared = np.zeros((width, dimension), np.float32), np.full(width, np.inf, np.float32)
        block[: len(here)] = frame.moved(items, first, first + len(here), scale)
        squared[: len(here)] = np.where(here < 0, np.inf, (here * scale) ** 2)
        for some in range(0, count, PRODUCT_QUERIES):
            asking = moved[some : some + PRODUCT_QUERIES]
            products = buffer[: len(asking) * width]
            np.matmul(asking, block.T, out=products.reshape(len(asking), width))
            search.over(len(asking), LOOKED_AT, partial(look, first, squared, some, products))
    exhaust.conclude(rule, items, asked, start, *held, *out.arrays[:3])
    search.workers.advance(count)
