"""The most similar items by codes: items in the order of a lower bound on their cost, until no other can be among the k nearest.

The bound depends on how many bits of an item's code differ from the query's, by a table, `max_cosines`: the true cost is lower only with a small
probability. Items are compared exactly as long as their bound is below the k-th cost known so far (the idea of PUFFINN: Aumüller, Christiani,
Pagh and Vesterli 2019). A true neighbor is missed only if its own code is one of those few, whatever else is in the collection.

Vectors are stored in the order of their *sizes*, their distances from the center, so that those of a group have similar sizes and share one limit
on the bits that may differ. Items that are codes themselves have no sizes, and their bound is exact.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.blocks import between64, count_bits, lowest_bit
from likewise.kernels.scan import BLOCK, MOST, fetch, least, repeated, scan
from likewise.kernels.top_k import HAMMING, SPARE, Best, bound_of, cost_of, offer, resolve

#: Blocks of a group, which shares one limit.
GROUP = 8
#: Groups of a segment, whose counts are held at once, for this many queries.
SEGMENT, QUERIES = 512, 16
#: Candidates that are ordered together, and the number of steps of their bounds.
WAITING, STEPS = 1024, 64
#: Candidates, beside twice k, within the first radius; parts of the items from which it is estimated.
FIRST, PARTS = 12, 128
#: Rows are prefetched this many comparisons ahead, and this many cache lines of each; the machine predicts the others.
AHEAD, LINES = 2, 16
#: Sizes are those of vectors in float32: relative error of a bound, in squared sizes.
ROUNDING = 1e-6


class Codes(NamedTuple):
    """Codes of items in the order of their sizes, as `scan.arrange` lays them out; the item at each place, its size, and the sizes of its group."""

    planes: Any  # uint8[groups * GROUP * width * 64]
    rest: Any  # uint64[n, words]
    order: Any  # int64[n]
    sizes: Any  # float64[n]
    low: Any  # float64[groups]
    high: Any


class Asked(NamedTuple):
    """Codes of queries, uint64[q, words], and their sizes, float64[q], negative for a query that has no neighbors."""

    codes: Any
    sizes: Any


class MaxCosines(NamedTuple):
    """The maximum cosine of two vectors by the number of differing bits: of the first bits (float64[MOST + 1]), and of all bits."""

    first: Any
    all: Any


class Task(NamedTuple):
    """Parameters of a search that all queries share."""

    rule: Any  # top_k.Rule
    max_cosines: Any  # MaxCosines
    items: Any  # best.Items
    codes: Any  # Codes
    queries: Any  # best.Items
    asked: Any  # Asked
    own: bool  # query i is item i, and not its own neighbor


@always
def lower_bound(kind, max_cosines, differ, size, query):
    """The minimum cost of an item of this size with a query of that size when ``differ`` bits differ, but for a small probability."""
    if kind == HAMMING:
        return np.float64(differ)
    return size * size + query * query - 2 * size * query * max_cosines[differ] - ROUNDING * (size * size + query * query)


@always
def limit_of(kind, max_cosines, low, high, query, cost):
    """The maximum number of differing bits of an item whose size is from low to high and whose cost is at most ``cost``.

    MOST means any number, -1 that there is no such item.
    """
    if kind == HAMMING:
        return np.int64(min(max(cost, -1.0), MOST))
    cost += 3 * ROUNDING * (cost + query * query)
    apart = max(low - query, query - high, 0.0)
    if apart * apart > cost:
        return np.int64(-1)
    size = min(max(math.sqrt(max(query * query - cost, 0.0)), low), high)  # the size at which the lowest cosine suffices
    spare, both = size * size + query * query - cost, 2 * size * query
    if spare <= -both:
        return np.int64(MOST)
    wanted = spare / both
    if max_cosines[0] < wanted:
        return np.int64(-1)
    differ = 0
    for power in (128, 64, 32, 16, 8, 4, 2, 1):
        differ += power if max_cosines[differ + power] >= wanted else 0
    return differ


@inline
def first_radius(task, query, counts, at, first, groups, wanted, parts):
    """A cost within which about ``wanted`` items or more lie, estimated from the lowest bounds of equal parts of them; infinite for few items."""
    sizes, blocks = task.codes.sizes, groups * GROUP
    many = min(blocks, parts.size)
    if wanted >= many:
        return np.inf
    for part in range(many):
        begin, end = part * blocks // many * BLOCK, (part + 1) * blocks // many * BLOCK
        middle = min(first * GROUP * BLOCK + (begin + end) // 2, sizes.size - 1)
        parts[part] = lower_bound(task.rule.kind, task.max_cosines.first, least(counts, at + begin, at + end), sizes[middle], task.asked.sizes[query])
    return smallest(parts, many, wanted)


@inline
def smallest(values, count, wanted):
    """The wanted-th smallest of values[:count], which are reordered (Hoare's selection; numpy's takes seconds to compile)."""
    low, high, place = 0, count - 1, wanted - 1
    while low < high:
        middle, i, j = values[place], low, high
        while i <= j:
            while values[i] < middle:
                i += 1
            while middle < values[j]:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if j < place:
            low = i
        if place < i:
            high = j
    return values[place]


@inline
def scanned_bits(planes, place, queries, query, words):
    """The bits in which the first ``words`` words of a query differ from those of the item at a place, where the count of the scan is saturated."""
    at, bits = place // BLOCK * 8 * words * BLOCK + place % BLOCK, np.int64(0)
    for byte in range(8 * words):
        one = queries[query, byte // 8] >> np.uint64(8 * (byte % 8)) & np.uint64(0xFF)
        bits += count_bits(np.uint64(planes[at + byte * BLOCK]) ^ one)
    return bits


@inline
def refine(task, query, waiting, count, counters, best):
    """Compare the waiting candidates, those with the lowest bound first, until no bound is within the k-th cost.

    waiting: (places, differing bits, bounds, order), the first ``count`` of each.
    """
    rule, max_cosines, items, codes, queries, asked, own = task
    places, differ, bounds, order = waiting
    size, words = asked.sizes[query], codes.rest.shape[1]
    skipped = asked.codes.shape[1] - words
    bound = bound_of(rule, best)
    kept, low, high = 0, np.inf, -np.inf
    for c in range(count):
        place = places[c]
        bits = np.int64(differ[c])
        if rule.kind == HAMMING and bits == MOST:
            bits = scanned_bits(codes.planes, place, asked.codes, query, skipped)
        for word in range(words):
            bits += count_bits(codes.rest[place, word] ^ asked.codes[query, skipped + word])
        cost = lower_bound(rule.kind, max_cosines.all, bits, codes.sizes[place], size)
        item = codes.order[place]
        if cost <= bound and not (own and item == query):
            places[kept] = item
            bounds[kept] = cost
            low, high = min(low, cost), max(high, cost)
            kept += 1
    counters[1] += count
    begins = np.zeros(STEPS + 1, np.int64)
    scale = (STEPS - 1) / (high - low) if high > low else 0.0
    for c in range(kept):
        begins[np.int64((bounds[c] - low) * scale) + 1] += 1
    for step in range(STEPS):
        begins[step + 1] += begins[step]
    for c in range(kept):
        here = np.int64((bounds[c] - low) * scale)
        order[begins[here]] = c
        begins[here] += 1
    for c in range(kept):
        if c + AHEAD < kept:
            fetch(items.rows, places[order[c + AHEAD]] * items.rows.shape[1], LINES)
        cost = bounds[order[c]]
        if cost > bound:
            continue
        item = places[order[c]]
        counters[2] += 1
        if rule.kind != HAMMING:
            cost = cost_of(rule, items, item, queries, query)
        if cost <= bound:
            offer(rule, best, items, item, queries, query, cost)
            bound = bound_of(rule, best)


@inline
def gather(task, query, counts, at, first, groups, radius, seen, waiting, counters, best):
    """Refine the items of some groups whose bound is within the radius and the k-th cost, except those seen before.

    seen: int64[groups], up to how many differing bits the items of a group were refined.
    """
    places, differ, _, _ = waiting
    codes, size, count = task.codes, task.asked.sizes[query], 0
    for group in range(groups):
        reach = min(radius, bound_of(task.rule, best))
        limit = limit_of(task.rule.kind, task.max_cosines.first, codes.low[first + group], codes.high[first + group], size, reach)
        before = seen[group]
        if limit <= before:
            continue
        seen[group] = limit
        for block in range(group * GROUP, (group + 1) * GROUP):
            here = first * GROUP * BLOCK + block * BLOCK
            mask = between64(counts, at + block * BLOCK, before + 1, limit)
            while mask:
                bit = lowest_bit(mask)
                mask &= mask - np.uint64(1)
                if here + bit >= codes.order.size:
                    break
                place = here + bit
                places[count] = place
                differ[count] = counts[at + block * BLOCK + bit]
                count += 1
                fetch(codes.rest, place * codes.rest.shape[1], 1)
                fetch(codes.sizes, place, 1)
                fetch(codes.order, place, 1)
                if count == WAITING:
                    refine(task, query, waiting, count, counters, best)
                    count = 0
    refine(task, query, waiting, count, counters, best)


@inline
def seek(task, query, counts, at, first, groups, seen, parts, waiting, counters, best):
    """Find the neighbors of a query among some groups: first within a radius that should hold enough items, then within the k-th cost of these."""
    seen[:groups] = -1
    wanted = 2 * best.heap.size + FIRST
    radius = first_radius(task, query, counts, at, first, groups, wanted, parts)
    while radius < np.inf:
        gather(task, query, counts, at, first, groups, radius, seen, waiting, counters, best)
        if best.state[0] == best.heap.size or radius >= task.rule.most:
            break
        wanted *= 4
        radius = first_radius(task, query, counts, at, first, groups, wanted, parts)
    gather(task, query, counts, at, first, groups, np.inf, seen, waiting, counters, best)
    counters[0] += min(groups * GROUP * BLOCK, task.codes.order.size - first * GROUP * BLOCK)


@kernel
def nearest(task, begin, end, width, out_items, out_values, out_counts, counters):
    """Find the k nearest items of the queries begin..end, nearest first, ties by the earlier item.

    width: bytes of a code in the planes. Fills out_items int64[q, k], out_values float64[q, k] (similarities negated) and out_counts int64[q].
    counters: int64[q, 3], increased by items scanned, items refined by their whole codes, and items compared.
    """
    codes, asked = task.codes, task.asked
    k, groups = out_items.shape[1], codes.low.size
    repeats = np.empty(QUERIES * width, np.uint32)
    counts = np.empty(QUERIES * min(SEGMENT, groups) * GROUP * BLOCK, np.uint8)
    seen, parts = np.empty(SEGMENT, np.int64), np.empty(max(PARTS, 8 * k))
    waiting = np.empty(WAITING, np.int64), np.empty(WAITING, np.uint8), np.empty(WAITING), np.empty(WAITING, np.int64)
    heaps, states = np.empty((QUERIES, k)), np.zeros((QUERIES, 2), np.int64)
    found, costs = np.empty((QUERIES, 2 * k + SPARE), np.int64), np.empty((QUERIES, 2 * k + SPARE))
    for start in range(begin, end, QUERIES):
        many = min(QUERIES, end - start)
        repeated(asked.codes, start, start + many, width, repeats)
        states[:] = 0
        for first in range(0, groups, SEGMENT):
            here = min(SEGMENT, groups - first)
            scan(codes.planes, first * GROUP, here * GROUP, repeats, many, width, counts)
            for i in range(many):
                query = start + i
                if asked.sizes[query] >= 0:
                    best = Best(heaps[i], found[i], costs[i], states[i])
                    seek(task, query, counts, i * here * GROUP * BLOCK, first, here, seen, parts, waiting, counters[query], best)
        for i in range(many):
            values = resolve(task.rule, Best(heaps[i], found[i], costs[i], states[i]), task.items, task.queries, start + i)
            out_counts[start + i] = values.size
            out_items[start + i, : values.size] = found[i, : values.size]
            out_values[start + i, : values.size] = values
