"""Weighted Jaccard similarity of sorted weighted sets."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel

#: Factor of weights whose sum exceeds the range of float64: enough for 2^64 elements, and exact.
SMALLER = 2.0**-64


@kernel
def weighted_jaccards(values, weights, offsets, other_values, other_weights, other_offsets):
    """Σ min / Σ max of the i-th sets of two batches: float64[n]; NaN for two empty sets.

    values: uint64[m], ascending and distinct within a set. weights: float64[m], above 0. offsets: int64[n + 1].
    Sums run in ascending order of the elements, so that swapping the two changes no bit, and equal sets have exactly 1.
    """
    out = np.empty(len(offsets) - 1)
    for i in range(len(out)):
        x, y = slice(offsets[i], offsets[i + 1]), slice(other_offsets[i], other_offsets[i + 1])
        out[i] = weighted_jaccard(values[x], weights[x], other_values[y], other_weights[y])
    return out


@inline
def weighted_jaccard(values, weights, other_values, other_weights):
    """Σ min / Σ max of two weighted sets; NaN if both are empty."""
    low, high = sums(values, weights, other_values, other_weights, 1.0)
    if high == np.inf:
        low, high = sums(values, weights, other_values, other_weights, SMALLER)
    return low / high if high > 0 else np.nan


@inline
def sums(values, weights, other_values, other_weights, factor):
    """(Σ min, Σ max) of the weights, each multiplied by ``factor``."""
    low = high = 0.0
    a = b = 0
    while a < len(values) and b < len(other_values):
        x, y = values[a], other_values[b]
        mine = weights[a] * factor if x <= y else 0.0
        yours = other_weights[b] * factor if y <= x else 0.0
        low += min(mine, yours)
        high += max(mine, yours)
        a += x <= y
        b += y <= x
    for i in range(a, len(values)):
        high += weights[i] * factor
    for i in range(b, len(other_values)):
        high += other_weights[i] * factor
    return low, high
