"""The k most similar items of a query, updated item by item.

Items are ordered by *cost*: the squared distance for L2, the distance for other L_r, 2 - 2 cos for cosines and angles, -J for sets, the Hamming
distance for codes. Those of L2, cosines and angles are sums in the vectors' own type and in any order, exact up to a bound on rounding; items that
they cannot order are ordered by the measure's own value.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from likewise.compiled.jit import always, inline
from likewise.kernels.distances import angle, cosine, distance, euclidean
from likewise.kernels.vectorjoin import about_product, about_square

L2, COSINE, JACCARD, HAMMING, ANGLE, NORM = 0, 1, 2, 3, 4, 5
#: Measures whose values are distances.
DISTANCES = (L2, HAMMING, ANGLE, NORM)
#: Candidates near the k-th cost that are held beside 2 k, before they are resolved exactly.
SPARE = 256


class Items(NamedTuple):
    """Vectors to compare. Empty for codes and sets, whose costs are exact from the start."""

    rows: Any  # float32[n, d] or float64[n, d]
    inverse: Any  # inverse lengths, for cosines


class Rule(NamedTuple):
    """A measure, the maximum cost, and the error of costs."""

    kind: int
    most: float  # the maximum cost
    relative: float  # relative error of a cost
    absolute: float  # absolute error of a cost
    order: float  # the r of NORM


class Best(NamedTuple):
    """The neighbors of a query found so far."""

    heap: Any  # float64[k]: the lowest costs, a heap with the largest first
    found: Any  # int64[2 k + SPARE]: items that may be among the k nearest
    costs: Any  # float64[2 k + SPARE]: their costs
    state: Any  # int64[2]: the number of costs in the heap, and of items found


@always
def bound_of(rule, best):
    """The cost above which an item is certainly not among the k nearest."""
    cost = min(rule.most, best.heap[0]) if best.state[0] == best.heap.size else rule.most
    return cost + 2 * (rule.relative * abs(cost) + rule.absolute) if cost < np.inf else cost


@always
def cost_of(rule, items, item, queries, query):
    """The cost of a vector, up to rounding."""
    if rule.kind == L2:
        return np.float64(about_square(items.rows[item], queries.rows[query]))
    return 2 - 2 * np.float64(about_product(items.rows[item], queries.rows[query])) * items.inverse[item] * queries.inverse[query]


@always
def value_of(rule, items, item, queries, query, cost):
    """The exact value of the measure, as a distance or a negated similarity."""
    if rule.kind == L2:
        return euclidean(queries.rows[query], items.rows[item])
    if rule.kind == COSINE:
        return -cosine(queries.rows[query], items.rows[item])
    if rule.kind == ANGLE:
        return math.degrees(angle(queries.rows[query], items.rows[item]))
    if rule.kind == NORM:
        return distance(queries.rows[query], items.rows[item], rule.order)
    return cost


@inline
def offer(rule, best, items, item, queries, query, cost):
    """Add an item whose cost is within the bound."""
    heap, found, costs, state = best
    if state[1] == found.size:
        resolve(rule, best, items, queries, query)
    found[state[1]] = item
    costs[state[1]] = cost
    state[1] += 1
    if state[0] < heap.size:
        at = state[0]
        state[0] += 1
        while at > 0 and heap[(at - 1) // 2] < cost:
            heap[at] = heap[(at - 1) // 2]
            at = (at - 1) // 2
        heap[at] = cost
    elif cost < heap[0]:
        at, child = 0, 1
        while child < heap.size:
            child += child + 1 < heap.size and heap[child + 1] > heap[child]
            if heap[child] <= cost:
                break
            heap[at] = heap[child]
            at, child = child, 2 * child + 1
        heap[at] = cost


@inline
def resolve(rule, best, items, queries, query):
    """Keep the k nearest of the items found, nearest first, ties by the earlier item. Returns their values: float64[at most k]."""
    heap, found, costs, state = best
    count = state[1]
    values = np.empty(count)
    for i in range(count):
        values[i] = value_of(rule, items, found[i], queries, query, costs[i])
    gap = count // 2
    while gap:  # Shell's sort
        for i in range(gap, count):
            value, item, cost = values[i], found[i], costs[i]
            at = i
            while at >= gap and (values[at - gap] > value or (values[at - gap] == value and found[at - gap] > item)):
                values[at], found[at], costs[at] = values[at - gap], found[at - gap], costs[at - gap]
                at -= gap
            values[at], found[at], costs[at] = value, item, cost
        gap //= 2
    state[1] = min(count, heap.size)
    return values[: state[1]]
