"""The similarities to expect in a collection: assumed, or measured on a sample (runs/sample.py)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from likewise.planning.curves import Curve
from likewise.planning.density import Density
from likewise.planning.families import FAMILIES

#: Bins of a measured density, and a value beyond which none is told apart.
BINS, FARTHEST = 400, 1e300


def assumed(curve: Curve, threshold: Fraction, *, sparse: bool = False) -> Density:
    """The density that is assumed of a collection that was not sampled, by what the curve is for."""
    return FAMILIES[curve.family].assumed(curve, threshold, sparse)


def measured(values: Sequence[float], curve: Curve, threshold: Fraction, sample: int) -> Density:
    """The density of the values of all pairs of a sample of items, in bins. Alike pairs are assumed: those of the sample are left out, for they
    are so many an item, and a share of all pairs would make them grow with the collection."""
    at = float(threshold)
    most = min(curve.most, FARTHEST)  # which a rounded distance may exceed
    unlike = [min(value, most) for value in values if (value > at if curve.distances else value < at)]
    points = [(math.fsum(inside) / len(inside), len(inside) / len(values), 0.0) for inside in binned(unlike)]
    return Density((*points, *((value, 0.0, alike) for value, _, alike in assumed(curve, threshold).points)), sample)


def binned(values: Sequence[float]) -> list[list[float]]:
    """The values in up to BINS groups of like ones."""
    if not values:
        return []
    low, high = min(values), max(values)
    width = (high - low) / BINS or 1.0
    bins: list[list[float]] = [[] for _ in range(BINS)]
    for value in values:
        bins[min(BINS - 1, int((value - low) / width))].append(value)
    return [inside for inside in bins if inside]
