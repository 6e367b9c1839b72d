"""Sorting and counting of fingerprints in linear time. They are uniform over 64 bits, which says nearly where each belongs."""

from __future__ import annotations

import numpy as np

from likewise.kernels.hashing import mix64
from likewise.kernels.jit import always, inline

HALF = np.uint64(32)
ZERO, ONE = np.uint64(0), np.uint64(1)
#: Places that a value is moved back or on, one by one; it is further only where values were chosen by who knew the seed.
NEAR = np.uint64(64)


@inline
def sort_distinct(values, count, places, out):
    """The different ones of values[:count], ascending, to out; how many. ``places``: scratch, uint32, at least ``count``.

    A counting sort into as many buckets as there are values, by their top bits, leaves one value in a bucket on average.
    A pass that carries the larger of two neighbours along puts nearly all of the rest in order, without a branch.
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
        else:  # not a branch more for repeats, which are common
            out[end] = value
            end += np.uint64(value != last)
            last = value
    return np.int64(end)


@always
def bucket(value, size):
    return (value >> HALF) * size >> HALF


@inline
def insert(out, end, value):
    """Put a value that is less than the last into the sorted out[:end], unless it is there; the new end, or 0 where it belongs further back."""
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
    """The same as `sort_distinct`, whatever the values are."""
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
    """Let the root of a part of a heap go down to where it belongs."""
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
    """Make the i-th occurrence of a value its own value, so that a bag becomes a set. ``seen``, ``times``: scratch, at least 2 * count.

    The sets of two bags then have sum(min) in common and sum(max) together: their Jaccard is the weighted one of the bags.
    """
    slots = np.uint64(2 * count)
    for i in range(2 * count):
        times[i] = 0
    for i in range(count):
        value = values[i]
        slot, tries = bucket(value, slots), ZERO
        while times[slot] and seen[slot] != value:
            slot, tries = slot + ONE, tries + ONE
            if tries % NEAR == ZERO:  # a crowd of values that were chosen to meet here
                slot = bucket(mix64(value + tries), slots)
            if slot >= slots:
                slot = ZERO
        seen[slot] = value
        times[slot] += np.uint32(1)
        values[i] = mix64(value + np.uint64(times[slot]) * np.uint64(0x9E3779B97F4A7C15))
