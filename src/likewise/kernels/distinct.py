"""Sorting and counting of fingerprints in linear time. They are uniform over 64 bits, so their value tells nearly where each belongs."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline
from likewise.kernels.hashing import mix64

HALF = np.uint64(32)
ZERO, ONE = np.uint64(0), np.uint64(1)
#: Maximum of places that a value is moved one by one. More are needed only if values were chosen with knowledge of the seed.
NEAR = np.uint64(64)


@inline
def sort_distinct(values, count, places, out):
    """Write the distinct values of values[:count], ascending, to ``out`` and return how many there are.

    values, out: uint64. places: uint32, at least ``count``, scratch.
    A counting sort by the top bits into as many buckets as there are values leaves one value in a bucket on average. A pass that carries the larger
    of two neighbors along then puts nearly all of the rest in order, without a branch.
    """
    if count == 0:
        return 0
    size = np.uint64(count)
    for i in range(count):
        places[i] = 0
    for i in range(count):
        places[bucket(values[i], size)] += np.uint32(1)
    before = np.uint32(0)
    for i in range(count):
        here = places[i]
        places[i] = before
        before += here
    for i in range(count):
        at = bucket(values[i], size)
        out[np.uint64(places[at])] = values[i]
        places[at] += np.uint32(1)
    larger = out[0]
    for i in range(ONE, size):
        value = out[i]
        out[i - ONE] = min(larger, value)
        larger = max(larger, value)
    out[size - ONE] = larger
    end, last = ONE, out[0]
    for i in range(ONE, size):
        value = out[i]
        if value < last:
            end = insert(out, end, value)
            if end == ZERO:
                return by_heap(values, count, out)
        else:  # no branch for repeats, which are common
            out[end] = value
            end += np.uint64(value != last)
            last = value
    return np.int64(end)


@always
def bucket(value, size):
    """The bucket of a value among ``size`` buckets, by its top bits."""
    return (value >> HALF) * size >> HALF


@inline
def insert(out, end, value):
    """Insert a value below the last one into the sorted out[:end], unless it is there; the new end, or 0 if it belongs too far back."""
    at = end - ONE
    stop = at - min(at, NEAR)
    while at > stop and out[at - ONE] > value:
        at -= ONE
    if at > ZERO and out[at - ONE] == value:
        return end
    if at > ZERO and out[at - ONE] > value:
        return ZERO
    for i in range(end, at, -1):
        out[i] = out[i - 1]
    out[at] = value
    return end + ONE


@inline
def by_heap(values, count, out):
    """Do the work of `sort_distinct` for values that are not uniform: a heap sort."""
    for i in range(count):
        out[i] = values[i]
    for root in range(count // 2 - 1, -1, -1):
        sink(out, root, count)
    for last in range(count - 1, 0, -1):
        out[0], out[last] = out[last], out[0]
        sink(out, 0, last)
    end = 1
    for i in range(1, count):
        if out[i] != out[end - 1]:
            out[end] = out[i]
            end += 1
    return np.int64(end)


@inline
def sink(heap, root, count):
    """Sift the root of a subheap down to its place."""
    value = heap[root]
    while 2 * root + 1 < count:
        child = 2 * root + 1
        child += child + 1 < count and heap[child + 1] > heap[child]
        if heap[child] <= value:
            break
        heap[root] = heap[child]
        root = child
    heap[root] = value


@inline
def number_repeats(values, count, seen, times):
    """Replace the i-th occurrence of a value by a new value, in place, so that a bag becomes a set.

    values: uint64. seen (uint64) and times (uint32): scratch, at least 2 * count.
    The sets of two bags have an intersection of Σ min and a union of Σ max of the counts: their Jaccard similarity is the weighted one of the bags.
    """
    slots = np.uint64(2 * count)
    for i in range(2 * count):
        times[i] = 0
    for i in range(count):
        value = values[i]
        slot, tries = bucket(value, slots), ZERO
        while times[slot] and seen[slot] != value:
            slot, tries = slot + ONE, tries + ONE
            if tries % NEAR == ZERO:  # many values that were chosen to collide here
                slot = bucket(mix64(value + tries), slots)
            if slot >= slots:
                slot = ZERO
        seen[slot] = value
        times[slot] += np.uint32(1)
        values[i] = mix64(value + np.uint64(times[slot]) * np.uint64(0x9E3779B97F4A7C15))
