"""Leaving ignored shingles out of items, and counting the items that have a shingle. Shingles, and words of elements, are uniform over 64 bits."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.distinct import bucket


@kernel
def begins_of(words, begins):
    """Fill begins, int64[b + 1]: words[begins[i] : begins[i + 1]] are those of bucket i of b. words: uint64, ascending."""
    buckets = np.uint64(begins.size - 1)
    begins[:] = 0
    for word in words:
        begins[bucket(word, buckets) + np.uint64(1)] += 1
    for i in range(1, begins.size):
        begins[i] += begins[i - 1]


@always
def is_among(value, words, begins):
    """True if the value is one of the words. Their buckets hold few; only words chosen with knowledge of the seed make one large."""
    place = bucket(value, np.uint64(begins.size - 1))
    low, high = begins[place], begins[place + np.uint64(1)]
    while low < high:
        middle = (low + high) >> 1
        if words[middle] < value:
            low = middle + 1
        else:
            high = middle
    return low < begins[place + np.uint64(1)] and words[low] == value


@inline
def leave_out(values, count, words, begins):
    """Move the values of values[:count] that are not among the words to the front, in order, and return how many there are."""
    left = 0
    for i in range(count):
        value = values[i]
        values[left] = value
        left += not is_among(value, words, begins)
    return left


@kernel
def without(values, offsets, words, begins):
    """Sets without the ignored words: (values uint64[k], offsets int64[n + 1]). Set i is values[offsets[i] : offsets[i + 1]]."""
    n = len(offsets) - 1
    out = values[offsets[0] : offsets[n]].copy()
    ends = np.zeros(n + 1, np.int64)
    for i in range(n):
        count = offsets[i + 1] - offsets[i]
        row = out[ends[i] : ends[i] + count]
        row[:] = values[offsets[i] : offsets[i + 1]]
        ends[i + 1] = ends[i] + leave_out(row, count, words, begins)
    return out[: ends[n]], ends


@kernel
def tally(values, offsets, counted, buckets, first, counts):
    """Add the number of values in each of the buckets first, first + 1, ... to counts, for the items that are counted.

    values: uint64, item i has values[offsets[i] : offsets[i + 1]]. counted: bool[n]. buckets: number of all buckets.
    """
    of, low, size = np.uint64(buckets), np.uint64(first), np.uint64(counts.size)
    for i in range(len(offsets) - 1):
        if counted[i]:
            for j in range(offsets[i], offsets[i + 1]):
                place = bucket(values[j], of) - low  # wraps below the first
                if place < size:
                    counts[place] += 1


@kernel
def frequent(values, offsets, counted, buckets, first, counts, limit, out, found):
    """Write the values in buckets with counts above the limit to out[found:], and return the end. Arguments as in `tally`."""
    of, low, size = np.uint64(buckets), np.uint64(first), np.uint64(counts.size)
    for i in range(len(offsets) - 1):
        if counted[i]:
            for j in range(offsets[i], offsets[i + 1]):
                place = bucket(values[j], of) - low
                if place < size and counts[place] > limit:
                    out[found] = values[j]
                    found += 1
    return found
