"""The most similar weighted sets, exactly: each query is compared with all sets except those that its total weight rules out."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.inverted_index import nothing
from likewise.kernels.top_k import JACCARD, SPARE, Best, Rule, bound_of, offer, resolve
from likewise.kernels.weights import weighted_jaccard

#: Relative error of a sum of weights, and of a quotient of two.
ROUNDING = 1e-9


@inline
def parts(words, offsets, row):
    """The elements of a set, uint64, and their weights, float64."""
    begin, end = offsets[row], offsets[row + 1]
    middle = (begin + end) // 2
    return words[begin:middle], words[middle:end].view(np.float64)


@inline
def total(words, offsets, row):
    """The total weight of a set."""
    _, weights = parts(words, offsets, row)
    return weights.sum()


@kernel
def similarities(words, offsets, left, right):
    """Weighted Jaccard similarities of sets left[i] and right[i]: float64[m]. words, offsets: those of `most_similar`."""
    out = np.empty(len(left))
    for i in range(len(left)):
        elements, weights = parts(words, offsets, left[i])
        others, theirs = parts(words, offsets, right[i])
        out[i] = weighted_jaccard(elements, weights, others, theirs)
    return out


@kernel
def most_similar(most, words, offsets, asked, ends, own, begin, end, out_items, out_values, out_counts, counters):
    """The k sets most similar to each of the queries begin..end, most similar first, ties by the earlier; sets that share nothing are left out.

    words: uint64, offsets: int64[n + 1]; a row has the elements of a set, ascending, and then their weights. asked, ends: the same of the queries.
    Other parameters are those of `inverted_index.most_similar`. counters: int64[queries, 3], increased by sets examined, 0, similarities computed.
    """
    k, n = out_items.shape[1], len(offsets) - 1
    rule, none = Rule(JACCARD, most, 0.0, 0.0, 0.0), nothing()
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
            beyond = more < np.inf and less * (1 + ROUNDING) < -bound_of(rule, best) * more  # the similarity is at most less / more
            if (own and item == query) or beyond:
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
