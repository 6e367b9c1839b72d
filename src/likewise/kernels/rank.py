"""Elements ranked by rarity: rank 0 is the rarest element that two sets have. Sets become ascending ranks, 4 bytes an element.

There is no sort and no table of all elements: both would miss the cache once an element. Elements are partitioned by the top bits of their keys,
each part is counted in a small table, and a second partitioning in the same order gives each set its ranks back.

Keys are mixed elements. mix64 is a bijection, so equal keys are equal elements, and keys are uniform for any elements.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.hashing import mix64

#: The rank of elements that no two sets share, or none across the sides that are compared: they count only for a set's size.
ALONE = 0xFFFFFFFF
#: Counts saturate here. Any order of ranks is right; a good one has the rare elements first.
MOST_COUNTED = 1 << 20
DIGIT = 11  # bits of a rank that one pass of a sort looks at


@kernel
def tally(values, begin, end, shift):
    """Count the values of values[begin:end] in each part, the top 64 - shift bits of their keys: int64[parts]."""
    count = np.zeros(np.int64(1) << np.int64(64 - shift), np.int64)
    for at in range(begin, end):
        count[mix64(values[at]) >> np.uint64(shift)] += 1
    return count


@kernel
def deal(values, offsets, side, begin, end, shift, place, keys, sides):
    """Put the keys of the sets begin..end into their parts. place: int64[parts], the next free place of each, advanced.

    values: uint64[m]. offsets: int64[n + 1]. side: uint8[n] or empty. Fills keys, uint64[m], and sides, uint8[m], with the side of each key's set.
    """
    crossing = len(side) > 0
    for item in range(begin, end):
        for at in range(offsets[item], offsets[item + 1]):
            key = mix64(values[at])
            part = key >> np.uint64(shift)
            to = np.uint64(place[part])
            place[part] += 1
            keys[to] = key
            if crossing:
                sides[to] = side[item]


@kernel
def number(keys, sides, shift, ids):
    """Number the distinct keys of a part in the order of their first occurrence, into ids, uint32[len(keys)].

    Returns uint32[distinct keys]: how often each occurs, or 0 where it is not shared. keys: uint64. sides: uint8[len(keys)] or empty.
    """
    bits = 4
    while 1 << bits < len(keys) + len(keys) // 2:
        bits += 1
    table = np.zeros(1 << bits, np.uint32)  # 1 + the number of the key in this slot
    mask = np.uint64(len(table) - 1)
    down = np.uint64(shift - bits) if shift > bits else np.uint64(0)  # the bits below those that all keys of a part share
    known = np.empty(len(keys), np.uint64)
    counts = np.zeros(len(keys), np.uint32)
    seen = np.zeros(len(keys), np.uint8)
    crossing = len(sides) > 0
    different = np.uint32(0)
    for i in range(len(keys)):
        key = keys[i]
        slot = (key >> down) & mask
        while table[slot] != 0 and known[table[slot] - np.uint32(1)] != key:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == 0:
            known[different] = key
            different += np.uint32(1)
            table[slot] = different
        it = table[slot] - np.uint32(1)
        ids[i] = it
        counts[it] += np.uint32(1)
        if crossing:
            seen[it] |= sides[i]
    counts = counts[:different].copy()
    for it in range(different):
        if counts[it] < 2 or (crossing and seen[it] != 3):
            counts[it] = 0
    return counts


@kernel
def rank(counts):
    """Replace ``counts``, uint32, by ranks in ascending order of count, ties by the earlier; ALONE for a count of 0. Returns the number of ranks."""
    most = np.int64(0)
    for count in counts:
        most = max(most, np.int64(count))
    most = min(most, np.int64(MOST_COUNTED))
    begin = np.zeros(most + 2, np.uint32)
    for count in counts:
        begin[min(count, most) + 1] += np.uint32(1)
    begin[1] = 0
    for i in range(1, len(begin)):
        begin[i] += begin[i - 1]
    total = begin[-1]
    for i in range(len(counts)):
        count = min(counts[i], most)
        if count == 0:
            counts[i] = ALONE
        else:
            counts[i] = begin[count]
            begin[count] += np.uint32(1)
    return np.int64(total)


@kernel
def exchange(ids, ranks):
    """Replace each number by its rank, in place. ids: uint32. ranks: uint32, by number."""
    for i in range(len(ids)):
        ids[i] = ranks[ids[i]]


@kernel
def arrange(values, offsets, begin, end, shift, place, ranks, bits, tokens, first, shared):
    """Give the sets begin..end their ranks back, ascending, into ``tokens``, uint32, from offsets[begin] on. Returns where they end.

    ranks: uint32[m], partitioned as the keys were. place: int64[parts], the next rank of each part, advanced. bits: of the highest rank.
    Fills first, int64[n], where a set's ranks begin, and shared, uint32[n], how many they are.
    """
    most = np.int64(1 << 15)  # so many fit into the cache
    for item in range(begin, end):
        most = max(most, offsets[item + 1] - offsets[item])
    pairs = np.empty((2, most), np.uint64)
    written = offsets[begin]
    item = begin
    while item < end:
        stop = item + 1
        while stop < end and offsets[stop + 1] - offsets[item] <= most:
            stop += 1
        count = np.uint64(0)
        for row in range(item, stop):
            first[row] = written + np.int64(count)
            before = count
            high = np.uint64(row - item) << np.uint64(32)
            for at in range(offsets[row], offsets[row + 1]):
                part = mix64(values[at]) >> np.uint64(shift)
                it = ranks[np.uint64(place[part])]
                place[part] += 1
                pairs[0, count] = high | np.uint64(it)
                count += np.uint64(it != np.uint32(ALONE))
            shared[row] = np.uint32(count - before)
        written += sort_rows(pairs, np.int64(count), bits, first[item:stop], tokens)
        item = stop
    return written


@inline
def sort_rows(pairs, count, bits, first, tokens):
    """Sort the ranks of each row and write them to ``tokens``, row i from first[i] on. Returns ``count``.

    pairs: uint64[2, ..], pairs[0, :count] is row << 32 | rank with rows ascending. A radix sort of all rows at once, the lowest digit first; the row
    is the last digit.
    """
    this = 0
    for low in range(0, bits, DIGIT):
        begin = np.zeros((1 << DIGIT) + 1, np.int64)
        mask = np.uint64((1 << DIGIT) - 1)
        for i in range(count):
            begin[((pairs[this, i] >> np.uint64(low)) & mask) + np.uint64(1)] += 1
        for i in range(1, len(begin)):
            begin[i] += begin[i - 1]
        for i in range(count):
            pair = pairs[this, i]
            digit = (pair >> np.uint64(low)) & mask
            pairs[1 - this, np.uint64(begin[digit])] = pair
            begin[digit] += 1
        this = 1 - this
    place = first.copy()
    for i in range(count):
        pair = pairs[this, i]
        row = pair >> np.uint64(32)
        tokens[np.uint64(place[row])] = np.uint32(pair)
        place[row] += 1
    return count
