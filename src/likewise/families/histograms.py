"""Random histograms of sets of feature vectors (Dong, Wang, Charikar and Li 2008)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.bbit import BBit
from likewise.families.checks import index, one_of, real, whole
from likewise.families.onebit import OneBit
from likewise.families.partition import Partition, Run
from likewise.families.space import Space
from likewise.items.features import Features, features
from likewise.items.given import refuse_masked
from likewise.items.sets import read_only
from likewise.items.weighted import Weighted, merged
from likewise.kernels.features import count
from likewise.kernels.matching import match_rows

NORMALIZE = ("none", "l1", "sqrt")
#: Types of stored counts, and the largest count of each, if there is one.
STORE = {"uint8": 2**8 - 1, "uint16": 2**16 - 1, "float32": None}
#: Maximum width of histograms that are made bin by bin; `Histograms.sparse` has no such limit.
MOST_BINS = 2**24
#: Maximum number of functions, and of counts that a task holds at once.
MOST_FUNCTIONS, COUNTS_AT_ONCE = 2**18, 2**20

Counts = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Histograms:
    """Sets of features as ``tables`` histograms of 2^``bits`` bins, end to end, so that sets are compared without pairing their features.

    In each table ``bits`` functions of a one-bit family choose a feature's bin: `Stripe` for L2, `Hyperplane` for cosine, `Threshold` for L1; for
    features of 0 and 1 `Bits` for Hamming distance and ``BBit(bits=1)`` for Jaccard similarity. The family's seed is that of the histograms. More
    bits separate better and cost 2^bits bins; more tables reduce the variance. With ``sums`` M each table is the sum of M such histograms (section 4
    of the paper): less variance in as many bins, on top of a known constant.

    The expected sum of products of two sets' counts (`measures.matching.one_to_many`) is ``tables`` · Σ p(x, y)^bits over all pairs of features,
    where p is the collision probability of the family; `expected` gives it for any M.

    ``normalize``: "none" keeps counts; "l1" divides them so that each table of a set sums to 1; "sqrt" takes square roots of those fractions, which
    dampens features that come in bursts. The result times ``scale`` is stored: as float32, or rounded in uint8 or uint16, where larger values are cut
    to 255 or 65,535; such bins are *saturated*. By default scale is 1 for counts and for floats, and the maximum of the type for fractions in whole
    numbers, so that none saturates.

    Counts of a union are the sum of counts: `counts` returns them, and `finish` makes of them what `embed` returns. So a window that slides over the
    frames of a video costs the same whatever its width: `windows`.

    Hyperplanes pass through the origin. Features without negative numbers lie on one side of many of them: give a ``space`` with a center.

    >>> from likewise.families import Stripe
    >>> family = Histograms(Stripe(4.0), bits=3, tables=2)
    >>> family.embed([[[0.0, 1.0], [2.0, 5.0]], [[0.1, 1.0], [2.0, 5.1], [9.0, 9.0]]]).sum(axis=1)
    array([4, 6], dtype=uint64)
    """

    bit: OneBit
    bits: int = 8
    tables: int = 10
    sums: int = 1
    store: str = "uint8"
    normalize: str = "none"
    scale: float | None = None
    space: Space | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.bit, OneBit) or (isinstance(self.bit, BBit) and self.bit.bits != 1):
            raise UsageError(f"Histograms bit {self.bit!r:.60}: give a family of one bit: Hyperplane, Stripe, Threshold, Bits or BBit(bits=1)")
        whole(self, "bits", 1, 32)
        whole(self, "tables", 1, 2**20)
        whole(self, "sums", 1, 2**20)
        functions = self.bits * self.tables * self.sums
        if functions > MOST_FUNCTIONS:
            raise UsageError(f"Histograms of {functions:,} functions (bits x tables x sums): give at most {MOST_FUNCTIONS:,}")
        one_of(self, "store", tuple(STORE))
        one_of(self, "normalize", NORMALIZE)
        if self.scale is not None and not 0 < real(self, "scale") < math.inf:
            raise UsageError(f"Histograms scale {self.scale!r}: give a number above 0, or None")
        if not isinstance(self.space, Space | None):
            raise UsageError(f"Histograms space {self.space!r:.60}: give a Space, such as Space.fit(sample), or None")

    @property
    def bins(self) -> int:
        """The number of bins of a set: tables · 2^bits."""
        return self.tables << self.bits

    @property
    def partition(self) -> Partition:
        """The bins of features."""
        return Partition(self.bit, self.bits, self.tables, self.sums, self.space)

    def embed(self, sets: Any, weights: Any = None, run: Run = map) -> NDArray[Any]:
        """Histograms, [n, bins] of the type ``store``, one row per set: `finish` of its counts.

        sets: as `items.features.features` takes them. weights: a number of 0 or more for each feature, float[total], or None for 1.
        ``run`` maps over blocks of sets, on threads as well: ``ThreadPoolExecutor(2).map``. Raises UsageError with the item and the feature.
        """
        return self.made(sets, weights, run, self.store, self.finish)

    def counts(self, sets: Any, weights: Any = None, run: Run = map) -> Counts:
        """The total weight in each bin: float64[n, bins]. Counts of disjoint parts of a set add up to those of the set."""
        return self.made(sets, weights, run, "float64", lambda counts: counts)

    def made(self, sets: Any, weights: Any, run: Run, dtype: str, finish: Any) -> NDArray[Any]:
        """``finish`` of the counts of sets, [n, bins] of type ``dtype``. Raises UsageError for more than `MOST_BINS` bins."""
        if self.bins > MOST_BINS:
            raise UsageError(f"histograms of {self.bins:,} bins, more than {MOST_BINS:,}: give fewer bits or tables, or use `sparse`")
        sets = features(sets)
        loads = weights_of(weights, sets)
        out = np.empty((len(sets[1]) - 1, self.bins), dtype)
        step = max(1, COUNTS_AT_ONCE // self.bins)

        def work(begin: int, end: int, offsets: NDArray[np.int64], values: NDArray[np.float32], codes: NDArray[np.uint32]) -> None:
            for at in range(0, end - begin, step):
                ends = offsets[at : at + step + 1]
                here = slice(int(ends[0]), int(ends[-1]))
                counts = np.zeros((len(ends) - 1, self.bins))
                count(codes[here], ends, loads[int(sets[1][begin]) :][here], self.sums, 1 << self.bits, counts)
                out[begin + at : begin + at + len(counts)] = finish(counts)

        self.partition.each(sets, work, run)
        return out

    def finish(self, counts: Counts) -> NDArray[Any]:
        """Normalize and store counts of one set or of rows: [n, bins] of the type ``store``."""
        most = STORE[self.store]
        counts = np.asarray(counts, float)
        scale = self.scale if self.scale is not None else 1.0 if most is None or self.normalize == "none" else float(most)
        if self.normalize != "none":
            total = counts.sum(axis=-1, keepdims=True) / self.tables
            counts = np.divide(counts, total, out=np.zeros_like(counts), where=total > 0)
            counts = np.sqrt(counts) if self.normalize == "sqrt" else counts
        counts = counts * scale if scale != 1 else counts
        return counts.astype(self.store) if most is None else np.minimum(np.rint(counts), most).astype(self.store)

    def windows(self, counts: Counts, width: int, step: int = 1) -> NDArray[Any]:
        """The histograms of windows of ``width`` successive parts, such as the frames of a video: as `embed` returns them, one row per window.

        counts: those of the parts in order, [n, bins], by `counts`. Windows begin at every ``step``-th part. The time does not depend on the width.
        Sums are exact if weights are whole numbers. Raises UsageError for counts with other bins, and for a width or step below 1.
        """
        counts = self.own(np.asarray(counts, float))
        for name, given in (("width", width), ("step", step)):
            if (number := index(given)) is None or number < 1:
                raise UsageError(f"windows {name} {given!r}: give a whole number from 1")
        sums = np.concatenate([np.zeros((1, self.bins)), np.cumsum(counts, axis=0)])
        return self.finish(sums[width::step] - sums[: max(0, len(sums) - width) : step])

    def own(self, counts: Counts) -> Counts:
        """The same counts. Raises UsageError if they are not rows of this family's bins."""
        if counts.ndim != 2 or counts.shape[1] != self.bins:
            raise UsageError(f"counts of this family have {self.bins} bins, got the shape {counts.shape}; use the family that made them")
        return counts

    def sparse(self, sets: Any, weights: Any = None, run: Run = map) -> Weighted:
        """The bins that are not empty, with their counts, as weighted sets: values uint64[m], weights float64[m], offsets int64[n + 1].

        For few features in many bins. ``by="weighted"`` and `WeightedMinHash` take them: the one-to-one match is then weighted Jaccard similarity,
        the sum of minima divided by that of maxima.
        """
        sets = features(sets)
        loads = weights_of(weights, sets)
        functions = self.tables * self.sums
        bins = np.empty((len(sets[0]), functions), np.uint64)
        tables = np.repeat(np.arange(self.tables, dtype=np.uint64), self.sums) << np.uint64(self.bits)

        def work(begin: int, end: int, offsets: NDArray[np.int64], values: NDArray[np.float32], codes: NDArray[np.uint32]) -> None:
            first = int(sets[1][begin])
            bins[first : first + len(codes)] = codes + tables

        self.partition.each(sets, work, run)
        return merged(bins.reshape(-1), np.repeat(loads if loads.size else np.ones(len(bins)), functions), sets[1] * functions)

    def expected(self, a: Any, b: Any) -> float:
        """The expected sum of products of the counts of two sets: ``N M Σ p(x, y)^B + N M (M - 1) |a| |b| 2^-B``, for B bits, N tables and M sums.

        a, b: one set each, one feature per row. Slow: p is computed for each pair of features.
        """
        left, right = (sets[0].astype(float) for sets in map(self.placed, (a, b)))
        agree = np.vectorize(self.bit.collision.at, otypes=[float])(self.bit.between(left, right))
        matches = float((agree**self.bits).sum())
        return self.tables * self.sums * matches + self.by_chance(len(left), len(right))

    def placed(self, one: Any) -> Features:
        """A set as a batch of one, in the space."""
        sets = features([one])
        return sets if self.space is None else self.space(sets)

    def by_chance(self, a: Any, b: Any) -> Any:
        """The part of a sum of products that is due to different functions of one table, for sets of these total weights; 0 for M = 1."""
        return self.tables * self.sums * (self.sums - 1) * a * b * 2.0**-self.bits

    def estimate(self, a: Any, b: Any) -> Any:
        """An unbiased estimate of the match kernel Σ p(x, y)^bits, weighted by products of weights, from counts: (S2 - `by_chance`) / (N M).

        One row each gives a float, rows give float64[n]; one row against rows compares it with each. Counts are those of ``normalize="none"``. Raises
        UsageError for counts of another width, and for different numbers of rows.
        """
        left, right = (self.own(np.atleast_2d(np.asarray(side, float))) for side in (a, b))
        if 1 not in (len(left), len(right)) and len(left) != len(right):
            raise UsageError(f"{len(left)} sets cannot be compared with {len(right)} row by row; give the same number, or one")
        products = np.empty(max(len(left), len(right)))
        match_rows(read_only(np.ascontiguousarray(left)), read_only(np.ascontiguousarray(right)), True, products)
        functions = self.tables * self.sums
        totals = (side.sum(axis=1) / functions for side in (left, right))
        found = (products - self.by_chance(*totals)) / functions
        return float(found[0]) if np.ndim(a) == np.ndim(b) == 1 else found


def weights_of(weights: Any, sets: Features) -> Counts:
    """Weights of features as float64[total]; empty for None. Raises UsageError for invalid weights, with the place of the first."""
    if weights is None:
        return read_only(np.empty(0))
    refuse_masked(weights, "weights must be numbers")
    try:
        found = np.concatenate(weights) if isinstance(weights, list) and len(weights) and np.ndim(weights[0]) else np.asarray(weights)
        found = np.ascontiguousarray(found, float)
    except (TypeError, ValueError) as error:
        raise UsageError(f"weights must be one number per feature, float[{len(sets[0])}]: {error}") from None
    if found.shape != (len(sets[0]),):
        raise UsageError(f"weights of shape {found.shape} for {len(sets[0])} features; give one per feature, those of all sets in sequence")
    wrong = ~((found >= 0) & (found < math.inf))
    if wrong.any():
        at = int(wrong.argmax())
        raise UsageError(f"the weight of feature {at} (of all sets) is {found[at]}; a weight must be finite and at least 0")
    return read_only(found)
