"""The most similar sets, exactly, from an inverted index: for each element the sets that hold it, the rarest elements first.

A set that does not occur in the lists of a query's first elements can only share the others. So the search stops as soon as k sets are known to
be more similar than that allows, before the longest lists: the top-k form of the prefix filter (Xiao, Wang, Lin and Shang 2009).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.top_k import JACCARD, SPARE, Best, Items, Rule, bound_of, offer, resolve

#: Sets, beside twice k, that must have been seen before the similarity of the k-th of them is estimated.
FIRST = 12
#: Relative error, upwards, of a product with a quotient.
ROUNDING = 1e-12


class Ranked(NamedTuple):
    """Sets as stages.ranking makes them: set i is shared[i] ascending ranks from tokens[first[i]] on, and has size[i] elements."""

    tokens: Any  # uint32[m]
    first: Any  # int64[n]
    shared: Any  # uint32[n]
    size: Any  # uint32[n]


@kernel
def lists_of(sets, ranks):
    """The inverted index: for each rank the sets that hold it, ascending. (begins int64[ranks + 1], holders int32[m])."""
    tokens, first, shared, _ = sets
    begins = np.zeros(ranks + 2, np.int64)
    for i in range(first.size):
        for at in range(first[i], first[i] + shared[i]):
            begins[np.int64(tokens[at]) + 2] += 1
    for rank in range(ranks + 1):
        begins[rank + 1] += begins[rank]
    holders = np.empty(begins[ranks + 1], np.int32)
    for i in range(first.size):
        for at in range(first[i], first[i] + shared[i]):
            place = np.int64(tokens[at]) + 1
            holders[begins[place]] = i
            begins[place] += 1
    return begins[: ranks + 1], holders


@always
def similarity(common, size, other):
    """Jaccard similarity of two sets of these sizes with ``common`` elements in common: float64."""
    return np.float64(common) / np.float64(size + other - common)


@always
def share_of(similarity):
    """Overlap of two sets of this similarity, divided by the sum of their sizes; slightly lower, because of rounding."""
    return similarity / (1 + similarity) * (1 - ROUNDING)


@inline
def in_common(sets, item, common, last, bits):
    """Overlap of a set with the query, if it has ``common`` elements of ranks up to ``last``; the others are looked up in ``bits``, the query's
    ranks.
    """
    at = sets.first[item] + np.int64(sets.shared[item]) - 1
    while at >= sets.first[item] and np.int64(sets.tokens[at]) > last:
        token = np.uint64(sets.tokens[at])
        common += np.int64(bits[token >> np.uint64(6)] >> (token & np.uint64(63)) & np.uint64(1))
        at -= 1
    return common


@inline
def mark(probes, query, bits, on):
    """Set, or clear, the bits of a query's ranks. bits: uint64[ranks / 64]."""
    for at in range(probes.first[query], probes.first[query] + np.int64(probes.shared[query])):
        token = np.uint64(probes.tokens[at])
        if on:
            bits[token >> np.uint64(6)] |= np.uint64(1) << (token & np.uint64(63))
        else:
            bits[token >> np.uint64(6)] = 0


@inline
def kth_similarity(sets, probes, query, last, common, candidates, bits, own, wanted, highest, tops):
    """The k-th similarity among about ``wanted`` of the sets with most ranks in common so far: a lower bound of the k-th of all sets.

    common: int32[n], ranks in common so far. candidates: int32[..], the sets with some. highest: ranks looked up so far. tops: float64[k], scratch.
    """
    tally = np.zeros(highest + 2, np.int64)
    for item in candidates:
        tally[common[item]] += 1
    least, many = highest, tally[highest]
    while least > 1 and many < wanted:
        least -= 1
        many += tally[least]
    tops[:] = 0
    for item in candidates:
        if common[item] >= least and item != own and wanted > 0:
            wanted -= 1
            shared = in_common(sets, item, np.int64(common[item]), last, bits)
            value = similarity(shared, np.int64(probes.size[query]), np.int64(sets.size[item]))
            if value > tops[0]:  # ascending
                at = 0
                while at + 1 < tops.size and tops[at + 1] < value:
                    tops[at] = tops[at + 1]
                    at += 1
                tops[at] = value
    return tops[0]


@kernel
def most_similar(most, sets, begins, holders, probes, own, begin, end, out_items, out_values, out_counts, counters):
    """The k sets most similar to each of the probes begin..end, most similar first, ties by the earlier; sets that share nothing are left out.

    most: the maximum cost, 0 or a negated similarity. sets, probes: Ranked. begins, holders: from `lists_of`. own: probe i is set i, and not its own
    neighbor. Fills out_items, out_values and out_counts as kernels.nearest does.
    counters: int64[probes, 3], increased by entries of lists read, sets seen, and similarities computed.
    """
    k, n = out_items.shape[1], sets.size.size
    rule, none = Rule(JACCARD, most, 0.0, 0.0, 0.0), nothing()
    common, candidates = np.zeros(n, np.int32), np.empty(n + 1, np.int32)
    bits, tops = np.zeros(begins.size // 64 + 1, np.uint64), np.empty(k)
    best = Best(np.empty(k), np.empty(2 * k + SPARE, np.int64), np.empty(2 * k + SPARE), np.zeros(2, np.int64))
    wanted = 2 * k + FIRST
    for query in range(begin, end):
        shared, size = np.int64(probes.shared[query]), np.int64(probes.size[query])
        itself = query if own else -1
        mark(probes, query, bits, True)
        best.state[:] = 0
        taken = count = visited = 0
        last, enough, look = np.int64(-1), -most, 16 * wanted
        while taken < shared and shared - taken >= enough * size * (1 - ROUNDING):
            last = np.int64(probes.tokens[probes.first[query] + taken])
            for entry in range(begins[last], begins[last + 1]):
                item = np.uint64(holders[entry])
                candidates[count] = item
                count += common[item] == 0
                common[item] += np.int32(1)
            taken += 1
            visited += begins[last + 1] - begins[last]
            if visited >= look and count >= wanted and taken < shared:
                enough = max(enough, kth_similarity(sets, probes, query, last, common, candidates[:count], bits, itself, wanted, taken, tops))
                look = 4 * visited
        rest, part = shared - taken, share_of(enough)
        for i in range(count):
            item = np.uint64(candidates[i])
            known, other = np.int64(common[item]), np.int64(sets.size[item])
            common[item] = 0
            need = part * (size + other)
            if known + rest < need or np.int64(item) == itself or known + min(rest, np.int64(sets.shared[item]) - known) < need:
                continue
            cost = -similarity(in_common(sets, item, known, last, bits), size, other)
            counters[query, 2] += 1
            if cost <= bound_of(rule, best):
                offer(rule, best, none, np.int64(item), none, query, cost)
                part = share_of(max(enough, -bound_of(rule, best)))
        mark(probes, query, bits, False)
        counters[query, 0] += visited
        counters[query, 1] += count
        values = resolve(rule, best, none, none, query)
        out_counts[query] = values.size
        out_items[query, : values.size] = best.found[: values.size]
        out_values[query, : values.size] = values


@inline
def nothing():
    """Items without rows: the similarity of sets is exact from the start."""
    return Items(np.empty((0, 0), np.float32), np.empty(0))
