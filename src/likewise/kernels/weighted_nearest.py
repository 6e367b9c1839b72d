"""The most similar weighted sets, exactly, by comparing a query with all of them but for those whose total weight rules them out."""

from __future__ import annotations

import numpy as np

from likewise.kernels.inverted_index import nothing
from likewise.kernels.jit import inline, kernel
from likewise.kernels.top_k import JACCARD, SPARE, Best, Rule, bound_of, offer, resolve
from likewise.kernels.weights import weighted_jaccard

#: A sum of weights, and a quotient of two, may be so much of itself off.
ROUNDING = 1e-9


@inline
def parts(words, offsets, row):
    """The elements of a set, and their weights."""
    begin, end = offsets[row], offsets[row + 1]
    middle = (begin + end) // 2
    return words[begin:middle], words[middle:end].view(np.float64)


@inline
def total(words, offsets, row):
    _, weights = parts(words, offsets, row)
    return weights.sum()


@kernel
def similarities(words, offsets, left, right):
    """The similarities of sets left[i] and right[i], float64[m]; words, offsets: as in `most_similar`."""
    out = np.empty(len(left))
    for i in range(len(left)):
        elements, weights = parts(words, offsets, left[i])
        others, theirs = parts(words, offsets, right[i])
        out[i] = weighted_jaccard(elements, weights, others, theirs)
    return out


@kernel
def most_similar(most, words, offsets, asked, ends, own, begin, end, out_items, out_values, out_counts, counters):
    """The k sets most similar to each of the queries begin..end, the most similar first, ties by the earlier; none that share nothing.

    words, offsets: row by row the elements of a set, ascending, and then their weights; asked, ends: the same of the queries. The rest as for
    `holders.most_similar`; counters: sets looked at, 0, and sets whose similarity was told.
    """
    k, n = out_items.shape[1], len(offsets) - 1
    rule, none = Rule(JACCARD, most, 0.0, 0.0), nothing()
    totals = np.empty(n)
    for item in range(n):
        totals[item] = total(words, offsets, item)
    best = Best(np.empty(k), np.empty(2 * k + SPARE, np.int64), np.empty(2 * k + SPARE), np.zeros(2, np.int64))
    for query in range(begin, end):
        best.state[:] = 0
        elements, weights = parts(asked, ends, query)
        whole = total(asked, ends, query)
        for item in range(n):
            less, more = min(whole, totals[item]), max(whole, totals[item])
            if (own and item == query) or less * (1 + ROUNDING) < -bound_of(rule, best) * more:  # which is no less than the greatest of all sums
                continue
            others, theirs = parts(words, offsets, item)
            cost = -weighted_jaccard(elements, weights, others, theirs)
            counters[query, 2] += 1
            if cost < 0 and cost <= bound_of(rule, best):
                offer(rule, best, none, item, none, query, cost)
        values = resolve(rule, best, none, none, query)
        out_counts[query] = values.size
        out_items[query, : values.size] = best.found[: values.size]
        out_values[query, : values.size] = values
        counters[query, 0] += n
