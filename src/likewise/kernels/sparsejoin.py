"""The exact join of sparse vectors: compares those that share a rare coordinate."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.compare import within
from likewise.kernels.hashing import mix64
from likewise.kernels.sparse import measured


@kernel
def mixed(words):
    """Words hashed evenly over 64 bits by a bijection, as kernels.rank.number takes them: uint64[n]."""
    out = np.empty(len(words), np.uint64)
    for i in range(len(words)):
        out[i] = mix64(words[i])
    return out


@kernel
def join(vectors, units, rare, lists, rule, least, per, side, items, begin, end, known, seen, out):
    """Compare items[begin:end] with earlier ones that share a rare coordinate; return (next place, rows written, comparisons).

    vectors: (indices, values, offsets). units: (numbers uint32[m], values float64[m]), the indices as numbers below len(known), and the values of
    vectors
    of length 1: pairs whose cosine by these is below ``least`` are rejected.
    rare: (ranks uint32[k], offsets int64[n + 1]) of each item's rare coordinates. items: int64[m], ascending. lists: (begins int64[ranks + 1],
    holders int32[k]): the items with rank r are holders[begins[r] : begins[r + 1]], ascending.
    rule: a SparseRule. per: uint64[n], or empty: only items of equal values are compared. side: uint8[n], or empty, as for kernels.walk.
    known: float64, all 0. seen: int32[n], -1 at first: the last item that an item was compared with. out: int64[r, 3], rows of item, other and score
    (kernels.compare). Stops early if it may not have room for the next item's rows.
    """
    indices, values, offsets = vectors
    ranks, first = rare
    begins, holders = lists
    numbers, parts = units
    written = compared = 0
    turn = begin
    while turn < end and written + turn <= len(out):
        item = items[turn]
        x = slice(offsets[item], offsets[item + 1])
        for at in range(offsets[item], offsets[item + 1]):
            known[numbers[at]] = parts[at]
        for at in range(first[item], first[item + 1]):
            rank = np.int64(ranks[at])
            for place in range(begins[rank], begins[rank + 1]):
                other = np.int64(holders[place])
                if other >= item:
                    break
                if seen[other] == item:
                    continue
                seen[other] = item
                if (len(per) > 0 and per[other] != per[item]) or (len(side) > 0 and side[other] == side[item] and side[item] != 3):
                    continue
                compared += 1
                about = 0.0
                for k in range(offsets[other], offsets[other + 1]):
                    about += known[numbers[k]] * parts[k]
                if about < least:
                    continue
                y = slice(offsets[other], offsets[other + 1])
                score = within(measured(indices[x], values[x], indices[y], values[y], rule.measure, rule.order), rule)
                if score < 0:
                    continue
                out[written, 0], out[written, 1], out[written, 2] = item, other, score
                written += 1
        for at in range(offsets[item], offsets[item + 1]):
            known[numbers[at]] = 0
        turn += 1
    return turn, written, compared
