"""Nearest vectors by comparing each query with all items: exact.

Products that BLAS computes in float32 are good enough to skip most of the exact comparisons. Where numbers are so large or so small that products
may overflow or underflow, the measure itself is computed for each pair.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.blocks import lowest_bit
from likewise.kernels.scan import BLOCK, worth
from likewise.kernels.top_k import ANGLE, COSINE, SPARE, Best, bound_of, cost_of, offer, resolve, value_of

#: The limit on a cost, so that an infinite one is above it.
MOST_COST = 3e38
#: Items that all queries are compared with before the next ones: they stay in the cache.
ROWS = 256


@kernel
def propose(rule, items, queries, own, begin, first, products, squares, scale, sizes, slack, heaps, found, costs, states, counters):
    """Compare the queries from ``begin`` on with those items from ``first`` on that may be among their k nearest, judged by approximate products.

    products: float32[q * m], of vectors about their center, m a multiple of 64. squares: float32[m], of items, infinite in the padding.
    sizes: float64[q], lengths of queries, negative for one that has no neighbors. own: query i is item i, and not its own neighbor.
    The cost times ``scale`` is squares + sizes² - 2 products, up to an error of slack[q].
    heaps, found, costs, states: a row a query, as in top_k.Best. counters: int64[q, 3], increased by products examined, 0, items compared.
    """
    width = squares.size
    for i in range(sizes.size):
        if sizes[i] < 0:
            continue
        query, itself = begin + i, begin + i - first if own else -1
        best = Best(heaps[i], found[i], costs[i], states[i])
        spare = slack[i] - sizes[i] ** 2
        limit = np.float32(min(bound_of(rule, best) * scale + spare, MOST_COST))
        for at in range(0, width, BLOCK):
            mask = worth(products, i * width + at, squares, at, limit)
            while mask:
                place = at + lowest_bit(mask)
                mask &= mask - np.uint64(1)
                if squares[place] - np.float32(2) * products[i * width + place] <= limit and place != itself:
                    bound = bound_of(rule, best)
                    cost = cost_of(rule, items, first + place, queries, query)
                    counters[i, 2] += 1
                    if cost <= bound:
                        offer(rule, best, items, first + place, queries, query, cost)
                        limit = np.float32(min(bound_of(rule, best) * scale + spare, MOST_COST))
        counters[i, 0] += width


@kernel
def conclude(rule, items, queries, begin, heaps, found, costs, states, out_items, out_values, out_counts):
    """Write the neighbors of the queries from ``begin`` on to their rows of out_items, out_values and out_counts.

    heaps, found, costs, states: a row a query, as in top_k.Best.
    """
    for i in range(len(heaps)):
        values = resolve(rule, Best(heaps[i], found[i], costs[i], states[i]), items, queries, begin + i)
        out_counts[begin + i] = values.size
        out_items[begin + i, : values.size] = found[i, : values.size]
        out_values[begin + i, : values.size] = values


@kernel
def one_by_one(rule, items, queries, own, begin, end, out_items, out_values, out_counts, counters):
    """Find the k nearest items of the queries begin..end by the measure itself, for numbers of any size.

    Zero vectors have no neighbors by cosine and angle. The results are those of `conclude`; counters[query, 2] is increased by items compared.
    """
    k, many = out_items.shape[1], end - begin
    heaps, states = np.empty((many, k)), np.zeros((many, 2), np.int64)
    found, costs = np.empty((many, 2 * k + SPARE), np.int64), np.empty((many, 2 * k + SPARE))
    directions = rule.kind == COSINE or rule.kind == ANGLE
    for first in range(0, len(items.rows), ROWS):
        for query in range(begin, end):
            i = query - begin
            best = Best(heaps[i], found[i], costs[i], states[i])
            for item in range(first, min(first + ROWS, len(items.rows))):
                if (own and item == query) or (directions and (zero(items.rows[item]) or zero(queries.rows[query]))):
                    continue
                cost = value_of(rule, items, item, queries, query, 0.0)
                counters[query, 2] += 1
                if cost <= bound_of(rule, best):
                    offer(rule, best, items, item, queries, query, cost)
    conclude(rule, items, queries, begin, heaps, found, costs, states, out_items, out_values, out_counts)


@inline
def zero(vector):
    """True for a vector of zeros."""
    largest = 0.0
    for number in vector:
        largest = max(largest, abs(number))
    return largest == 0
