"""Decision of candidate pairs of vectors: first approximately, in the vectors' own type, then exactly in float64, as the measures do.

The approximate step only rejects pairs that exceed the limit by more than rounding can explain; so its sums may run in any order, and no result
depends on it.
"""

from __future__ import annotations

import functools
import math

from likewise.compiled.jit import inline, kernel
from likewise.kernels import lanes
from likewise.kernels.distances import LEAST, MOST, angle, cosine, euclidean, quotient

COSINE, ANGLE, L2, L1 = 0, 1, 2, 3
#: Lengths and distances between these are safe in float32: no square overflows, and any underflow is negligible in the sum.
SHORT, LONG = 1e-15, 1e15

#: Sums in any order, fused or not, as fast as the machine allows; infinities and NaN are preserved.
about = functools.partial(inline, fastmath={"reassoc", "contract", "nsz"})


@about
def about_product(x, y):
    """Approximate inner product."""
    total = x[0] * y[0]
    for i in range(1, len(x)):
        total += x[i] * y[i]
    return total


@about
def about_square(x, y):
    """Approximate squared L2 distance."""
    total = (x[0] - y[0]) * (x[0] - y[0])
    for i in range(1, len(x)):
        total += (x[i] - y[i]) * (x[i] - y[i])
    return total


@about
def about_size(x, y):
    """Approximate L1 distance."""
    total = abs(x[0] - y[0])
    for i in range(1, len(x)):
        total += abs(x[i] - y[i])
    return total


@inline
def beyond(x, y, measure, limit, slack, lengths):
    """True if a pair is certainly beyond the limit. ``lengths``: the product of both lengths, for cosines."""
    if measure == COSINE or measure == ANGLE:
        return about_product(x, y) < (limit - slack) * lengths
    if measure == L2:
        return about_square(x, y) > limit * limit * (1 + 2 * slack)
    return about_size(x, y) > limit * (1 + slack)


@inline
def exact(x, y, measure, xx, yy):
    """The exact value of the measure, to the last bit. xx, yy: the squared lengths as kernels.lanes adds them, for cosines."""
    if measure == COSINE:
        if min(xx, yy) > LEAST and max(xx, yy) < MOST:
            return quotient(x, y, xx, lanes.products(x, y, 1.0, 1.0)[1], yy)
        return cosine(x, y)
    if measure == ANGLE:
        return math.degrees(angle(x, y))
    return euclidean(x, y) if measure == L2 else lanes.sizes(x, y, 1.0, 1.0)


@kernel
def decide(vectors, squares, measure, limit, left, right, found, values):
    """Find the pairs (left[i], right[i]) that are within the limit. Returns (how many are, how many were computed exactly).

    vectors: [n, d]. squares: float64[n], squared lengths, for cosine and angle. limit: the minimum of a cosine; the maximum of an angle in degrees or
    of a distance. left, right: int64[m]. Fills found, int64[m], with the places i of these pairs, and values, float64[m], with their values.
    """
    narrow = vectors.itemsize == 4
    slack = (vectors.shape[1] + 32) * 2.0 ** (-23 if narrow else -52)  # above the rounding error of a sum in any order and of the steps after it
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
