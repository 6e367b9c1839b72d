"""Pairs of vectors that a sieve proposes, decided: first about, in the vectors' own type, then exactly as the measures do, in float64.

What is decided about is only that a pair is beyond the limit by more than rounding can make it; so the sums that do it may run in any
order, and no result depends on it.
"""

from __future__ import annotations

import math

import numba as nb

from likewise.kernels import lanes
from likewise.kernels.distances import LEAST, MOST, angle, cosine, euclidean, quotient
from likewise.kernels.jit import inline, kernel

COSINE, ANGLE, L2, L1 = 0, 1, 2, 3
MEASURES = {"cosine": COSINE, "angle": ANGLE, "l2": L2, "l1": L1}
#: Lengths and distances between these are safe in float32: no square overflows, and what underflows is nothing beside the sum.
SHORT, LONG = 1e-15, 1e15

#: Sums in any order, fused or not, as fast as the machine can; infinities and NaN are kept.
about = nb.njit(nogil=True, fastmath={"reassoc", "contract", "nsz"})


@about
def about_product(x, y):
    total = x[0] * y[0]
    for i in range(1, len(x)):
        total += x[i] * y[i]
    return total


@about
def about_square(x, y):
    total = (x[0] - y[0]) * (x[0] - y[0])
    for i in range(1, len(x)):
        total += (x[i] - y[i]) * (x[i] - y[i])
    return total


@about
def about_size(x, y):
    total = abs(x[0] - y[0])
    for i in range(1, len(x)):
        total += abs(x[i] - y[i])
    return total


@inline
def beyond(x, y, measure, limit, slack, lengths):
    """Whether a pair is beyond the limit for sure. ``lengths``: the product of those of both, for cosines."""
    if measure == COSINE or measure == ANGLE:
        return about_product(x, y) < (limit - slack) * lengths
    if measure == L2:
        return about_square(x, y) > limit * limit * (1 + 2 * slack)
    return about_size(x, y) > limit * (1 + slack)


@inline
def exact(x, y, measure, xx, yy):
    """The value that `measures` gives, to the last bit. xx and yy: the squared lengths as kernels.lanes adds them, for cosines."""
    if measure == COSINE:
        if min(xx, yy) > LEAST and max(xx, yy) < MOST:
            return quotient(x, y, xx, lanes.products(x, y, 1.0, 1.0)[1], yy)
        return cosine(x, y)
    if measure == ANGLE:
        return math.degrees(angle(x, y))
    return euclidean(x, y) if measure == L2 else lanes.sizes(x, y, 1.0, 1.0)


@kernel
def decide(vectors, squares, measure, limit, left, right, found, values):
    """Which of the pairs left[i], right[i] are within the limit: their places i go to ``found``, int64[m], their values to ``values``, float64[m].

    A cosine is within the limit from it on; an angle in degrees, a distance up to it. squares: float64[n], squared lengths, for cosine and
    angle. Returns how many pairs are within the limit, and how many were decided exactly.
    """
    narrow = vectors.itemsize == 4
    slack = (vectors.shape[1] + 32) * 2.0 ** (-23 if narrow else -52)  # more than a sum in any order is off, and what follows it
    similar = measure == COSINE
    about_limit = math.cos(math.radians(min(limit, 180.0))) if measure == ANGLE else limit
    rough = SHORT < limit < LONG
    count = computed = 0
    for k in range(len(left)):
        i, j = left[k], right[k]
        x, y = vectors[i], vectors[j]
        xx = yy = lengths = 0.0
        if similar or measure == ANGLE:
            xx, yy = squares[i], squares[j]
            lengths = math.sqrt(xx * yy)
            rough = min(xx, yy) > SHORT * SHORT and max(xx, yy) < LONG * LONG
        if rough and beyond(x, y, measure, about_limit, slack, lengths):
            continue
        computed += 1
        value = exact(x, y, measure, xx, yy)
        if value >= limit if similar else value <= limit:
            found[count], values[count] = k, value
            count += 1
    return count, computed
