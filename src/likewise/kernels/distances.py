"""Distances, cosines and angles of vectors. Sums are those of kernels.lanes, in float64 for any type of vectors.

Squares are summed as they are, and again after division by the largest magnitude if the sum is so small or so large that some may have been lost.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels import lanes

#: Sums of squares, and products of two such sums, between these lost nothing significant to underflow and nothing to overflow.
LEAST, MOST = 1e-140, 1e140
#: Cosines from here on are computed from the chord: with rounding, quotients of parallel vectors are a little below or above 1.
NEAR = 0.9
#: Squared chords below this may be dominated by the rounding of lengths.
TINY = 1e-26


@kernel
def distances(a, b, order):
    """L_r distances of the i-th rows of two batches [n, d]: float64[n]. order: r, at least 1, infinite for L∞."""
    out = np.empty(len(a))
    for i in range(len(a)):
        out[i] = distance(a[i], b[i], order)
    return out


@kernel
def cosines(a, b):
    """Cosines of the angles between the i-th rows of two batches [n, d]: float64[n], from -1 to 1. Rows must not be zero vectors."""
    out = np.empty(len(a))
    for i in range(len(a)):
        out[i] = cosine(a[i], b[i])
    return out


@kernel
def angles(a, b):
    """Angles between the i-th rows of two batches [n, d]: float64[n], in degrees from 0 to 180. Rows must not be zero vectors."""
    out = np.empty(len(a))
    for i in range(len(a)):
        out[i] = math.degrees(angle(a[i], b[i]))
    return out


@inline
def distance(x, y, order):
    """The L_order distance of two vectors."""
    if order == 1:
        return lanes.sizes(x, y, 1.0, 1.0)
    if order == 2:
        return euclidean(x, y)
    if order == np.inf:
        return lanes.largest(x, y, 1.0, 1.0)
    return minkowski(x, y, order)


@always
def euclidean(x, y):
    """The L2 distance of two vectors."""
    total = lanes.squares(x, y, 1.0, 1.0)
    return math.sqrt(total) if LEAST < total < MOST else minkowski(x, y, 2.0)


@inline
def minkowski(x, y, order):
    """(Σ |x - y|^r)^(1/r), after division by the largest magnitude, so that powers neither overflow nor underflow, and L_r tends to L∞."""
    most = lanes.largest(x, y, 1.0, 1.0)
    if most == 0 or most == np.inf:  # equal, or further apart than float64 can express
        return most
    total = 0.0
    for i in range(len(x)):
        total += (abs(np.float64(x[i]) - np.float64(y[i])) / most) ** order
    return most * total ** (1 / order)


@always
def cosine(x, y):
    """The cosine of the angle between two vectors, neither zero."""
    xx, xy, yy = lanes.products(x, y, 1.0, 1.0)
    if min(xx, yy) > LEAST and max(xx, yy) < MOST:
        return quotient(x, y, xx, xy, yy)
    u, v = scaled(x), scaled(y)
    xx, xy, yy = lanes.products(u, v, 1.0, 1.0)
    return quotient(u, v, xx, xy, yy)


@always
def quotient(x, y, xx, xy, yy):
    """The cosine from the three products; near 1 and -1 from the chord c of the unit vectors: c² = 2 - 2 cos."""
    cos = xy / math.sqrt(xx * yy)
    if abs(cos) < NEAR:
        return cos
    between, beyond = lanes.chords(x, y, 1 / math.sqrt(xx), 1 / math.sqrt(yy))
    return 1 - between / 2 if cos > 0 else beyond / 2 - 1


@inline
def angle(x, y):
    """The angle in radians: 2 atan(|u - v| / |u + v|) of the unit vectors (Kahan).

    It keeps its digits near 0 and π, where an arc cosine loses half of them.
    """
    xx, _, yy = lanes.products(x, y, 1.0, 1.0)
    if min(xx, yy) > LEAST and max(xx, yy) < MOST:
        between, beyond = lanes.chords(x, y, 1 / math.sqrt(xx), 1 / math.sqrt(yy))
        if min(between, beyond) > TINY:
            return 2 * math.atan2(math.sqrt(between), math.sqrt(beyond))
    u, v = scaled(x), scaled(y)
    xx, _, yy = lanes.products(u, v, 1.0, 1.0)
    u *= math.sqrt(yy)
    v *= math.sqrt(xx)
    return 2 * math.atan2(euclidean(u, v), euclidean(u, -v))


@inline
def scaled(x):
    """The vector divided by its largest magnitude, float64[d]. For exact multiples of one vector the results are equal."""
    most = 0.0
    for i in range(len(x)):
        most = max(most, abs(np.float64(x[i])))
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = np.float64(x[i]) / most
    return out
