"""The distribution of similarities or distances in bins, for the report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from likewise.schema import BINS

#: Maximum number of bins of the histogram.
FINE = 200


@dataclass(frozen=True)
class Bins:
    """Bins from one end of a range to the other. Counts of several blocks of values add up."""

    edges: np.ndarray  # float64[b + 1]; int64 where values are whole numbers, and the last edge is then the maximum + 1
    width: int  # of a bin of whole numbers; 0 for others

    def count(self, value: np.ndarray) -> np.ndarray:
        """The number of values, float64[n], in each bin, int64[b]. An edge belongs to the bin that it begins, the last edge to the last bin."""
        if self.width:
            return np.bincount((value // self.width).astype(np.int64), minlength=len(self.edges) - 1)
        if len(self.edges) == 2 and self.edges[0] == self.edges[1]:
            return np.array([len(value)])
        return np.histogram(np.clip(value, self.edges[0], self.edges[-1]), self.edges)[0]

    def listed(self, counts: np.ndarray) -> list[list[float]]:
        """[from, to, number] of each bin for people; ``to`` is inclusive for whole numbers, and in the last bin."""
        edges, last = self.edges.tolist(), 1 if self.width else 0
        return [[first, end - last, number] for (first, end), number in zip(pairwise(edges), counts.tolist(), strict=True)]


class Scales(NamedTuple):
    """The bins of both distributions in report.json."""

    by_value: Bins  # BINS bins from the threshold to equality
    histogram: Bins  # bins of equal width, with edges that are short decimal numbers


def scales_of(limit: float, *, distances: bool, whole: bool) -> Scales:
    """The bins for a threshold, or a maximum distance, as `bins_of`."""
    of = {"distances": distances, "whole": whole}
    return Scales(bins_of(limit, **of), fine_bins(limit, **of))


def fine_bins(limit: float, *, distances: bool, whole: bool) -> Bins:
    """At most `FINE` bins of equal width, which is 1, 2 or 5 times a power of ten unless all values are whole numbers. All edges are multiples of it.

    The first bin may begin below the threshold, and the last one may end above the maximum distance.
    """
    if whole:
        return bins_of(limit, distances=distances, whole=True, most=FINE)
    low, high = (0.0, limit) if distances else (limit, 1.0)
    least = (high - low or 0.1) / FINE
    power = math.floor(math.log10(least))
    digit = next((digit for digit in (1, 2, 5) if digit * 10.0**power >= least * (1 - 1e-9)), 10)
    step = digit * 10.0**power
    first = math.floor(low / step + 1e-6)
    numbers = digit * np.arange(first, max(first + 1, math.ceil(high / step - 1e-6)) + 1)
    if low == high == 1:
        numbers -= digit
    return Bins(numbers / 10.0**-power if power < 0 else numbers * 10.0**power, 0)  # a quotient is the double next to the decimal number


def bins_of(limit: float, *, distances: bool, whole: bool, most: int = BINS) -> Bins:
    """The bins from the threshold to equality. distances: ``limit`` is the maximum distance. whole: all values are whole numbers."""
    if whole:
        last = int(limit)
        width = -(-(last + 1) // most)
        return Bins(np.append(np.arange(0, last + 1, width), last + 1), width)
    low, high = (0.0, limit) if distances else (limit, 1.0)
    edges = np.unique(np.round(np.linspace(low, high, most + 1), 12))
    if len(edges) == 1:
        return Bins(np.array([low, high]), 0)
    edges[0], edges[-1] = low, high
    return Bins(edges, 0)
