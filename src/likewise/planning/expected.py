"""The distribution of similarities to expect in a collection: assumed, or measured on a sample (runs/sample.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from likewise.planning.curves import Curve
from likewise.planning.density import Density
from likewise.planning.families import FAMILIES

#: Bins of a measured density, and the distance to which larger ones are clipped.
BINS, FARTHEST = 400, 1e300


def assumed(curve: Curve, threshold: Fraction, *, sparse: bool = False) -> Density:
    """Return the assumed density of a collection without a sample, by the curve's family."""
    return FAMILIES[curve.family].assumed(curve, threshold, sparse)


def measured(values: Sequence[float], curve: Curve, threshold: Fraction, sample: int) -> Density:
    """Return the density of the values of all pairs of a sample of items, in bins.

    Similar pairs are assumed, and those of the sample left out: their number per item is fixed, and a share of all pairs would grow with the
    collection.
    """
    at = float(threshold)
    most = min(curve.most, FARTHEST)  # a rounded distance may exceed it
    dissimilar = [min(value, most) for value in values if (value > at if curve.distances else value < at)]
    points = [(math.fsum(inside) / len(inside), len(inside) / len(values), 0.0) for inside in binned(dissimilar)]
    return Density((*points, *((value, 0.0, similar) for value, _, similar in assumed(curve, threshold).points)), sample)


def binned(values: Sequence[float]) -> list[list[float]]:
    """Return the values in up to BINS groups of equal width."""
    if not values:
        return []
    low, high = min(values), max(values)
    width = (high - low) / BINS or 1.0
    bins: list[list[float]] = [[] for _ in range(BINS)]
    for value in values:
        bins[min(BINS - 1, int((value - low) / width))].append(value)
    return [inside for inside in bins if inside]
