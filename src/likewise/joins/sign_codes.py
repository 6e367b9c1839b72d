"""Codes of vectors: each bit of two vectors within a limit differs with probability ``differ`` at most.

- cosine, angle: sides of hyperplanes through 0. For vectors at the angle θ a bit differs with probability θ/π.
- l2: sides of hyperplanes at Gaussian distances, ``lift`` on average, from a center. A vector v from the center then represents (v, lift), in one
  more dimension; if that is never shorter than A, two vectors within D are at an angle of at most 2 asin(D/2A).
- l1: a coordinate, drawn by its range, against a uniform threshold in that range: a bit differs with probability L1 distance / sum of ranges.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Protocol, Self

import numpy as np

from likewise.items.lengths import blocks, to_one, to_unit
from likewise.items.sets import read_only
from likewise.kernels.directions import directions
from likewise.kernels.signs import ROUNDS, UNIT, code_bits, ranges, rotation_size, sign_codes, threshold_codes, turns
from likewise.stages.workers import ALONE, Workers

#: Bits of a code, unless bands need more.
BITS = 1024
#: The maximum that rounding to float32 adds to the probability of a differing bit.
ROUNDING = 2.0**-16
#: The size of the sample whose mean is the center.
CENTERED = 2**12


class Coding(Protocol):
    """A mapping from vectors to codes."""

    @property
    def differ(self) -> float: ...

    @property
    def bits(self) -> int: ...

    def fill(self, vectors: np.ndarray, begin: int, end: int, codes: np.ndarray) -> None:
        """Write the codes of the vectors from begin to end into ``codes``, uint64[n, bits / 64]."""

    def with_bits(self, bits: int) -> Self:
        """This coding with at least ``bits`` bits; the first bits are unchanged."""

    def of(self, items: np.ndarray) -> Self:
        """This coding for a selection of the vectors."""

    def differs(self, apart: float) -> float:
        """The maximum probability of a differing bit for vectors ``apart`` degrees, or this distance, from each other."""


@dataclass(frozen=True)
class Sides:
    """Sides of hyperplanes.

    scale: for each vector from the center, as kernels.signs takes it; ``lift`` is in that scale. least: the minimum distance of points from the
    center, the lift included; None if directions are compared.
    """

    differ: float
    bits: int
    seed: int
    center: np.ndarray  # float64[d]
    scale: np.ndarray  # float64[2, n]
    lift: float = 0.0
    least: float | None = None

    def fill(self, vectors: np.ndarray, begin: int, end: int, codes: np.ndarray) -> None:
        dimension = vectors.shape[1]
        if self.lift:
            grown = rotation_size(dimension) ** ((ROUNDS - 1) / 2)  # standard deviation of a rotated coordinate of a unit vector
            thresholds = (directions("gaussian", self.seed, 1, self.bits)[0] * (self.lift * grown)).astype(np.float32)
        else:
            thresholds = np.zeros(self.bits, np.float32)
        sign_codes(vectors, self.center, self.scale, turns(self.seed, dimension, self.bits), thresholds, begin, end, codes)

    def with_bits(self, bits: int) -> Self:
        return replace(self, bits=code_bits(len(self.center), bits))

    def of(self, items: np.ndarray) -> Self:
        return replace(self, scale=self.scale[:, items])

    def differs(self, apart: float) -> float:
        return differing(apart / 180 if self.least is None else angle_of(apart, self.least))


@dataclass(frozen=True)
class Levels:
    """Coordinates against thresholds within their range."""

    differ: float
    bits: int
    seed: int
    low: np.ndarray  # float64[d]: the minimum of each coordinate
    span: np.ndarray

    def fill(self, vectors: np.ndarray, begin: int, end: int, codes: np.ndarray) -> None:
        drawn, height = directions("uniform", self.seed, 2, self.bits)[:2]
        ends = np.cumsum(self.span)
        coordinates = np.searchsorted(ends, drawn * ends[-1], side="right").clip(max=len(ends) - 1)
        threshold_codes(vectors, coordinates, self.low[coordinates] + self.span[coordinates] * height, begin, end, codes)

    def with_bits(self, bits: int) -> Self:
        return replace(self, bits=-(-bits // UNIT) * UNIT)

    def of(self, items: np.ndarray) -> Self:
        return self

    def differs(self, apart: float) -> float:
        return differing(share_of(apart, self.span))


def encode(coding: Coding, vectors: np.ndarray, workers: Workers = ALONE) -> np.ndarray:
    """The codes, uint64[n, bits / 64], computed in blocks of rows, which do not affect them."""
    codes = np.empty((len(vectors), coding.bits // 64), np.uint64)
    list(workers.run(lambda rows: coding.fill(vectors, rows[0], rows[1], codes), blocks(len(vectors))))
    return codes


def differing(probability: float) -> float:
    """A probability of a differing bit, increased for rounding."""
    return min(1.0, max(0.0, probability) + ROUNDING)


def angle_of(distance: float, least: float) -> float:
    """The maximum angle, in half turns, between two points this distance apart and at least ``least`` from the center."""
    half = distance / (2 * least) if least else float(distance > 0)
    return 2 * math.asin(min(1.0, half)) / math.pi


def share_of(distance: float, span: np.ndarray) -> float:
    """The distance as a share of the sum of ranges."""
    total = float(span.sum())
    return distance / total if total else 1.0


def of_angles(lengths: np.ndarray, dimension: int, degrees: float, seed: int) -> Sides:
    """The coding for pairs of vectors up to ``degrees`` apart. lengths: float64[n]."""
    return Sides(differing(degrees / 180), code_bits(dimension, BITS), seed, np.zeros(dimension), to_unit(lengths))


def of_points(lengths: np.ndarray, center: np.ndarray, within: float, lift: float, seed: int) -> Sides:
    """The coding for pairs up to an L2 distance apart.

    lengths: float64[n], from the center. lift: of the hyperplanes, in the scale of the vectors.
    """
    scale = float(to_one(lengths.max(initial=0.0)))  # one scale for all, because distances are compared
    least = math.hypot(lengths.min(initial=math.inf) if len(lengths) else 0.0, lift)
    scales = np.full((2, len(lengths)), [[scale], [1.0]])
    return Sides(differing(angle_of(within, least)), code_bits(len(center), BITS), seed, center.astype(float), scales, lift * scale, least)


def of_coordinates(vectors: np.ndarray, within: float, seed: int, workers: Workers = ALONE) -> Levels:
    """The coding for pairs up to an L1 distance apart."""
    bounds = np.array(list(workers.run(lambda rows: ranges(vectors, *rows), blocks(len(vectors))))).reshape(-1, 2, vectors.shape[1])
    low, high = bounds[:, 0].min(axis=0, initial=np.inf), bounds[:, 1].max(axis=0, initial=-np.inf)
    with np.errstate(over="ignore", invalid="ignore"):  # a range beyond float64 separates no vectors, so all are compared
        span = np.where(high > low, high - low, 0.0)
    return Levels(differing(share_of(within, span)), BITS, seed, np.where(np.isfinite(low), low, 0.0), span)


def center_of(vectors: np.ndarray) -> np.ndarray:
    """The mean of an evenly spaced sample of the vectors, of their dtype: [d]."""
    return mean_of(vectors[:: max(1, len(vectors) // CENTERED)])


def mean_of(vectors: np.ndarray) -> np.ndarray:
    """The mean of the vectors, of their dtype: [d]. If their sum overflows float64, sums their shares."""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = vectors.mean(axis=0, dtype=float)
    if not np.isfinite(mean).all():
        mean = (vectors / len(vectors)).sum(axis=0, dtype=float)
    center: np.ndarray = read_only(mean.astype(vectors.dtype))
    return center
