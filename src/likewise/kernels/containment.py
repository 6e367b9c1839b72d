"""Containment of sets, of which one side is held and the other is read row by row: which held sets are inside a row, or hold it.

Elements of the held sets have numbers, the rarest first. A set of which ``need`` elements are in another has one of any ``size - need + 1`` elements
in common with it. These are its *prefix*, the rarest ones (Bayardo, Ma and Srikant, Scaling Up All Pairs Similarity Search, WWW 2007).

``index`` is (begins int64[numbers + 1], entries uint32[m]): the held sets with number i are entries[begins[i] : begins[i + 1]], ascending.
``room`` is scratch of one thread, all 0: (counts uint32[held sets], found uint32[held sets], bits uint64[numbers / 64 + 1]).
Matches are rows of ``out``, uint32[k, 3]: row, held set, common elements. Kernels begin with row ``row`` and return (the next row, matches written);
they stop early if ``out`` might become full, so it needs room for every held set.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.join import overlap

#: A list of the index is walked if it has at most so many entries for each set that is searched in it.
WALKED = 8


@kernel
def index_of(elements, offsets, lengths, numbers):
    """The index of sets by their first ``lengths`` elements. elements: uint32, those of set i begin at offsets[i]."""
    begins = np.zeros(numbers + 1, np.int64)
    for i in range(len(lengths)):
        for at in range(offsets[i], offsets[i] + lengths[i]):
            begins[elements[at] + np.uint32(1)] += 1
    for number in range(numbers):
        begins[number + 1] += begins[number]
    entries, ends = np.empty(begins[numbers], np.uint32), begins[:-1].copy()
    for i in range(len(lengths)):
        for at in range(offsets[i], offsets[i] + lengths[i]):
            entries[ends[elements[at]]] = i
            ends[elements[at]] += 1
    return begins, entries


@inline
def gather(numbers, index, counts, found):
    """Collect the held sets with any of the numbers, and count in how many of their lists each is. Returns their number."""
    begins, entries = index
    many = 0
    for number in numbers:
        for at in range(begins[number], begins[number + np.uint32(1)]):
            item = entries[at]
            if counts[item] == 0:
                found[many] = item
                many += 1
            counts[item] += np.uint32(1)
    return many


@kernel
def inside(numbers, ends, per, elements, offsets, needs, held_per, index, row, room, out):
    """Find the held sets of which rows have at least ``needs`` elements.

    Row i has the numbers[ends[i] : ends[i + 1]], uint32, in any order; repeats count once. per, held_per: uint64, only equal values match.
    elements: those of each held set ascending, the index by their prefixes. needs: int64[held sets].
    """
    counts, found, bits = room
    written = 0
    while row < len(ends) - 1 and written + len(needs) <= len(out):
        mine = numbers[ends[row] : ends[row + 1]]
        for number in mine:
            bits[number >> np.uint32(6)] |= np.uint64(1) << np.uint64(number & np.uint32(63))
        many = gather(mine, index, counts, found)
        for i in range(many):
            item = found[i]
            counts[item] = 0
            if needs[item] <= len(mine) and held_per[item] == per[row]:
                common = overlap(bits, elements, offsets[item], offsets[item + 1], needs[item])
                if common > 0:
                    out[written, 0], out[written, 1], out[written, 2] = row, item, common
                    written += 1
        for number in mine:
            bits[number >> np.uint32(6)] = 0
        row += 1
    return row, written


@kernel
def holding(numbers, ends, per, needs, sizes, held_per, index, row, room, out):
    """Find the held sets that have at least ``needs`` elements of rows.

    Row i has the distinct numbers[ends[i] : ends[i + 1]], uint32, ascending. needs: int64[rows]. sizes: int64[held sets]. per, held_per: uint64, only
    equal values match.
    """
    counts, found, _ = room
    written = 0
    while row < len(ends) - 1 and written + len(sizes) <= len(out):
        mine, need = numbers[ends[row] : ends[row + 1]], needs[row]
        prefix = len(mine) - need + 1  # elements that no held set has are the rarest
        if prefix > 0:
            many = suitable(need, per[row], sizes, held_per, counts, found, gather(mine[:prefix], index, counts, found))
            for at in range(prefix, len(mine)):
                many = again(mine[at], need - (len(mine) - at), index, counts, found, many)
            for i in range(many):
                item = found[i]
                if counts[item] >= need:
                    out[written, 0], out[written, 1], out[written, 2] = row, item, counts[item]
                    written += 1
                counts[item] = 0
        row += 1
    return row, written


@inline
def suitable(need, per, sizes, held_per, counts, found, many):
    """Keep those of the found sets that are large enough and of the group ``per``. Returns their number."""
    left = 0
    for i in range(many):
        item = found[i]
        found[left] = item
        if sizes[item] >= need and held_per[item] == per:
            left += 1
        else:
            counts[item] = 0
    return left


@inline
def again(number, least, index, counts, found, many):
    """Count one more element for each of the found sets that has it, and keep those with at least ``least`` before. Returns their number."""
    begins, entries = index
    begin, end = begins[number], begins[number + np.uint32(1)]
    if end - begin <= WALKED * many:
        for at in range(begin, end):
            counts[entries[at]] += np.uint32(counts[entries[at]] > 0)
        return many
    left = 0
    for i in range(many):
        item = found[i]
        found[left] = item
        if counts[item] < least:
            counts[item] = 0
            continue
        left += 1
        low, high = begin, end
        while low < high:
            middle = (low + high) >> 1
            if entries[middle] < item:
                low = middle + 1
            else:
                high = middle
        counts[item] += np.uint32(low < end and entries[low] == item)
    return left
