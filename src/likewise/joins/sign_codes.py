"""Vectors as codes whose bits differ between two vectors within a limit with a chance of at most ``differ``, whatever the measure.

- cosine, angle: sides of hyperplanes through 0. Two vectors at the angle θ differ in a bit with chance θ/π.
- l2: sides of hyperplanes at Gaussian distances, ``lift`` on average, from a centre. A vector v from the centre then stands for (v, lift), in one
  dimension more; where that is never shorter than A, two of them within D are at an angle of 2 asin(D/2A) at most.
- l1: a coordinate, drawn by its range, against a uniform threshold in that range: a bit differs with chance L1 distance / sum of ranges.
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

#: Bits of a code, unless bands take more.
BITS = 1024
#: What rounding to float32 may add to the chance of a bit to differ.
ROUNDING = 2.0**-16
#: Vectors whose mean is the centre.
CENTRED = 2**12


class Coding(Protocol):
    """How vectors become codes."""

    @property
    def differ(self) -> float: ...

    @property
    def bits(self) -> int: ...

    def fill(self, vectors: np.ndarray, begin: int, end: int, codes: np.ndarray) -> None:
        """The codes of the vectors from begin to end, into uint64[n, bits / 64]."""

    def with_bits(self, bits: int) -> Self:
        """The same with so many bits or some more, the first ones the same."""

    def of(self, items: np.ndarray) -> Self:
        """The same for these of the vectors."""

    def differs(self, apart: float) -> float:
        """The greatest chance of a bit to differ between two vectors so many degrees, or such a distance, apart."""


@dataclass(frozen=True)
class Sides:
    """Sides of hyperplanes. ``scale``, as kernels.signs takes it, of each vector from the centre; ``lift`` is of that scale.

    least: of points, how far from the centre they are at least, the lift included; None where directions are compared.
    """

    differ: float
    bits: int
    seed: int
    centre: np.ndarray  # float64[d]
    scale: np.ndarray  # float64[2, n]
    lift: float = 0.0
    least: float | None = None

    def fill(self, vectors: np.ndarray, begin: int, end: int, codes: np.ndarray) -> None:
        dimension = vectors.shape[1]
        if self.lift:
            grown = rotation_size(dimension) ** ((ROUNDS - 1) / 2)  # a turned coordinate of a vector of length 1, in standard deviations
            thresholds = (directions("gaussian", self.seed, 1, self.bits)[0] * (self.lift * grown)).astype(np.float32)
        else:
            thresholds = np.zeros(self.bits, np.float32)
        sign_codes(vectors, self.centre, self.scale, turns(self.seed, dimension, self.bits), thresholds, begin, end, codes)

    def with_bits(self, bits: int) -> Self:
        return replace(self, bits=code_bits(len(self.centre), bits))

    def of(self, items: np.ndarray) -> Self:
        return replace(self, scale=self.scale[:, items])

    def differs(self, apart: float) -> float:
        return differing(apart / 180 if self.least is None else angle_of(apart, self.least))


@dataclass(frozen=True)
class Levels:
    """Coordinates against thresholds in their range."""

    differ: float
    bits: int
    seed: int
    low: np.ndarray  # float64[d], of each coordinate
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
    """The codes, uint64[n, bits / 64], block by block of rows, on which no code depends."""
    codes = np.empty((len(vectors), coding.bits // 64), np.uint64)
    list(workers.run(lambda rows: coding.fill(vectors, rows[0], rows[1], codes), blocks(len(vectors))))
    return codes


def differing(chance: float) -> float:
    """A chance to differ, and what rounding may add to it."""
    return min(1.0, max(0.0, chance) + ROUNDING)


def angle_of(distance: float, least: float) -> float:
    """The greatest angle, in halves of a turn, between two points this distance apart and so far from the centre at least."""
    half = distance / (2 * least) if least else float(distance > 0)
    return 2 * math.asin(min(1.0, half)) / math.pi


def share_of(distance: float, span: np.ndarray) -> float:
    """What share of the sum of ranges a distance is."""
    total = float(span.sum())
    return distance / total if total else 1.0


def of_angles(lengths: np.ndarray, dimension: int, degrees: float, seed: int) -> Sides:
    """For pairs of vectors of these lengths up to so many degrees apart."""
    return Sides(differing(degrees / 180), code_bits(dimension, BITS), seed, np.zeros(dimension), to_unit(lengths))


def of_points(lengths: np.ndarray, centre: np.ndarray, within: float, lift: float, seed: int) -> Sides:
    """For pairs up to an L2 distance apart; lengths from the centre. lift: of the hyperplanes, in the vectors' own scale."""
    scale = float(to_one(lengths.max(initial=0.0)))  # of all the same: distances are compared
    least = math.hypot(lengths.min(initial=math.inf) if len(lengths) else 0.0, lift)
    scales = np.full((2, len(lengths)), [[scale], [1.0]])
    return Sides(differing(angle_of(within, least)), code_bits(len(centre), BITS), seed, centre.astype(float), scales, lift * scale, least)


def of_coordinates(vectors: np.ndarray, within: float, seed: int, workers: Workers = ALONE) -> Levels:
    """For pairs up to an L1 distance apart."""
    bounds = np.array(list(workers.run(lambda rows: ranges(vectors, *rows), blocks(len(vectors))))).reshape(-1, 2, vectors.shape[1])
    low, high = bounds[:, 0].min(axis=0, initial=np.inf), bounds[:, 1].max(axis=0, initial=-np.inf)
    with np.errstate(over="ignore", invalid="ignore"):  # a range beyond float64 tells nothing apart, and all is compared
        span = np.where(high > low, high - low, 0.0)
    return Levels(differing(share_of(within, span)), BITS, seed, np.where(np.isfinite(low), low, 0.0), span)


def centre_of(vectors: np.ndarray) -> np.ndarray:
    """About where vectors lie: the mean of some that lie evenly among them, of their type. [d]"""
    return mean_of(vectors[:: max(1, len(vectors) // CENTRED)])


def mean_of(vectors: np.ndarray) -> np.ndarray:
    """The mean, of their type: sums beyond float64 are taken of shares. [d]"""
    with np.errstate(over="ignore", invalid="ignore"):
        mean = vectors.mean(axis=0, dtype=float)
    if not np.isfinite(mean).all():
        mean = (vectors / len(vectors)).sum(axis=0, dtype=float)
    centre: np.ndarray = read_only(mean.astype(vectors.dtype))
    return centre
