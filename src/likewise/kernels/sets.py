"""Exact overlap of sorted sets."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.blocks import BLOCK, between64, count_bits

#: Words of an odd sketch: 512 bits reject nearly all pairs of sets of some hundred elements that are below 0.8.
ODD_WORDS = 8
ODD_SKETCH = np.dtype(("u8", ODD_WORDS))


@inline
def overlap(left, right, need):
    """Size of the intersection of two sets, ascending and distinct; -1 as soon as it cannot reach ``need``.

    Without branches on the data: which side advances is as good as random, and a mispredicted branch costs more than a step.
    """
    a = np.int64(0)
    b = np.int64(0)
    common = np.int64(0)
    while a < len(left) and b < len(right):
        # The bound is checked every 16 steps: it only serves to stop early.
        if common + min(len(left) - a, len(right) - b) < need:
            return np.int64(-1)
        for _ in range(16):
            if a >= len(left) or b >= len(right):
                break
            x = left[a]
            y = right[b]
            common += x == y
            a += x <= y
            b += y <= x
    return common if common >= need else np.int64(-1)


@kernel
def odd_sketches(values, offsets):
    """The parity of the number of elements in each of 512 bins, for each set values[offsets[i]:offsets[i + 1]]: uint64[n, ODD_WORDS].

    In the XOR of two such sketches the common elements cancel out (Mitzenmacher, Pagh and Pham, Efficient Estimation for High Similarities using Odd
    Sketches, WWW 2014, section 3).
    """
    n = len(offsets) - 1
    odd = np.zeros((n, ODD_WORDS), np.uint64)
    bins = np.empty(ODD_WORDS * BLOCK, np.uint8)
    for i in range(n):
        bins[:] = 0
        for place in range(offsets[i], offsets[i + 1]):
            bins[values[place] & np.uint64(bins.size - 1)] ^= np.uint8(1)
        for word in range(ODD_WORDS):
            odd[i, word] = between64(bins, word * BLOCK, 1, 1)
    return odd


@always
def fewest_apart(odd_a, a, odd_b, b):
    """A lower bound on the elements in which two sets differ, from their odd sketches: an element changes one bit.

    odd_a, odd_b: uint64[n, ODD_WORDS]; a, b: the rows.
    """
    bits = np.int64(0)
    for word in range(ODD_WORDS):
        bits += count_bits(odd_a[a, word] ^ odd_b[b, word])
    return bits


@inline
def needed(size_a, size_b, numerator, denominator, fixed_union):
    """Minimum overlap of two sets of these sizes at or above the threshold numerator/denominator, in integers: equality counts, without rounding.

    Jaccard p/q: i >= p(a+b)/(p+q). Slots of two signatures (``fixed_union``): i >= p*a/q.
    """
    if fixed_union:
        return (numerator * size_a + denominator - 1) // denominator
    total = numerator + denominator
    return (numerator * (size_a + size_b) + total - 1) // total


@kernel
def overlaps(left, left_offsets, right, right_offsets):
    """Intersection sizes of the i-th sets of two batches: int64[n]. Values are ascending and distinct within a set."""
    out = np.empty(len(left_offsets) - 1, np.int64)
    for i in range(len(out)):
        a, b, common = left_offsets[i], right_offsets[i], 0
        while a < left_offsets[i + 1] and b < right_offsets[i + 1]:
            x, y = left[a], right[b]
            common += x == y
            a += x <= y
            b += y <= x
        out[i] = common
    return out


@kernel
def overlaps_of_all(values, offsets):
    """Intersection sizes of all pairs i < j of a batch, in the order (0,1), (0,2), ...: int64[n(n-1)/2]. For samples."""
    n = len(offsets) - 1
    out = np.empty(n * (n - 1) // 2, np.int64)
    at = 0
    for i in range(n):
        left = values[offsets[i] : offsets[i + 1]]
        for j in range(i + 1, n):
            out[at] = overlap(left, values[offsets[j] : offsets[j + 1]], 0)
            at += 1
    return out
