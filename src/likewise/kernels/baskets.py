"""Frequent items and frequent pairs of baskets: A-Priori and PCY (Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, 6.2 and 6.3).

Baskets are item codes end to end; an item that a basket repeats counts once. A pair is one uint64, the smaller code in the high half.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.hashing import mix64

#: Counters of 32 bits saturate here.
MOST = np.uint32(2**32 - 1)
#: Marks a free slot in a table of pairs. It is not a pair, because the two items of a pair differ.
FREE = np.uint64(0)


@inline
def members(codes, begin, end, basket, ranks, seen, out):
    """Write the ranks of a basket's distinct items to ``out``, except items of rank -1, and return how many there are.

    ranks: int64[items]. seen: int64[items], the last basket in which each item occurred.
    """
    count = 0
    for at in range(begin, end):
        item = codes[at]
        if ranks[item] >= 0 and seen[item] != basket:
            seen[item] = basket
            out[count] = ranks[item]
            count += 1
    return count


@inline
def word_of(a, b):
    """A pair as one uint64, the smaller code in the high half."""
    low, high = np.uint64(min(a, b)), np.uint64(max(a, b))
    return low << np.uint64(32) | high


@inline
def bucket_of(pair, key, buckets):
    """The bucket of a pair, 0 to buckets - 1."""
    return np.int64(mix64(pair ^ key) % np.uint64(buckets))


@inline
def longest_of(offsets):
    """The size of the largest basket, repeats included."""
    longest = np.int64(0)
    for basket in range(len(offsets) - 1):
        longest = max(longest, offsets[basket + 1] - offsets[basket])
    return longest


@kernel
def count_items(codes, offsets, items, key, buckets):
    """Pass 1: count the baskets that hold each item, uint32[items], and the pairs that fall into each bucket, uint32[buckets].

    codes: integers[m], below ``items``; basket i is codes[offsets[i]:offsets[i + 1]]. key: uint64. With no buckets no pairs are counted.
    """
    counts, in_bucket = np.zeros(items, np.uint32), np.zeros(buckets, np.uint32)
    seen, all_of_them = np.full(items, -1, np.int64), np.arange(items)
    here = np.empty(longest_of(offsets), np.int64)
    for basket in range(len(offsets) - 1):
        size = members(codes, offsets[basket], offsets[basket + 1], basket, all_of_them, seen, here)
        for i in range(size):
            counts[here[i]] += np.uint32(1)
            if buckets:
                for j in range(i):
                    bucket = bucket_of(word_of(here[i], here[j]), key, buckets)
                    in_bucket[bucket] += np.uint32(in_bucket[bucket] < MOST)
    return counts, in_bucket


@kernel
def count_pairs(codes, offsets, ranks, key, frequent, originals):
    """Pass 2: a hash table of pairs of ranks and of the baskets that hold each: uint64[slots], 0 where a slot is free, and uint32[slots].

    codes, offsets, key: those of pass 1. ranks: int64[items], -1 for infrequent items. frequent: bool[buckets]; only pairs of a frequent bucket are
    counted, or all if there are no buckets. originals: int64[frequent items], the code of each rank, because buckets were computed from codes.
    """
    pairs, counts, used = np.zeros(1024, np.uint64), np.zeros(1024, np.uint32), 0
    seen, here = np.full(len(ranks), -1, np.int64), np.empty(longest_of(offsets), np.int64)
    for basket in range(len(offsets) - 1):
        size = members(codes, offsets[basket], offsets[basket + 1], basket, ranks, seen, here)
        for i in range(size):
            if 2 * (used + i) > len(pairs):
                pairs, counts = doubled(pairs, counts, used + i, key)
            for j in range(i):
                if frequent.size and not frequent[bucket_of(word_of(originals[here[i]], originals[here[j]]), key, frequent.size)]:
                    continue
                slot = slot_of(pairs, word_of(here[i], here[j]), key)
                if pairs[slot] == FREE:
                    pairs[slot] = word_of(here[i], here[j])
                    used += 1
                counts[slot] += np.uint32(1)
    return pairs, counts


@inline
def slot_of(pairs, pair, key):
    """The slot of a pair in the table, or the free slot where it belongs. The hash is keyed, so that nobody can choose pairs that all collide."""
    mask = np.uint64(len(pairs) - 1)
    slot = mix64(pair ^ key) & mask
    while pairs[slot] != FREE and pairs[slot] != pair:
        slot = (slot + np.uint64(1)) & mask
    return slot


@inline
def doubled(pairs, counts, least, key):
    """The table, copied to one in which ``least`` pairs fill half of the slots at most."""
    size = len(pairs)
    while size < 2 * least:
        size *= 2
    wider, more = np.zeros(size, np.uint64), np.zeros(size, np.uint32)
    for at in range(len(pairs)):
        if pairs[at] != FREE:
            slot = slot_of(wider, pairs[at], key)
            wider[slot], more[slot] = pairs[at], counts[at]
    return wider, more
