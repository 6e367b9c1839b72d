"""Several segments of an index in one call: each function does what that of its name in `kernels.segments` does, in one segment after the other.

Segments are rows of ``table``, int64[segments, fields]: records of their arrays (kernels/records.py), in order of their numbers. A function that
finds damage returns DAMAGED - the place of the segment.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, kernel
from likewise.kernels import compact_sets, segments
from likewise.kernels.checksums import Blocks, is_right
from likewise.kernels.records import bytes_at, halves_at, long_rows_at, longs_at, numbers_at, word_rows_at, words_at
from likewise.kernels.segments import Copies, Ends, Living
from likewise.kernels.sorted_bands import DAMAGED, Band, Bands, fetch_ranges

#: Where a record has each part of a segment, `Segment.record`.
LIVING, BANDS, COPIES, SIZES, BAND, ID_ENDS, TEXT, ENDS, DATA, WORDS = 0, 12, 18, 24, 29, 33, 38, 40, 45, 47
#: Where it has the blocks of each file.
OF_BANDS, OF_ITEMS, OF_SETS = 48, 51, 54
#: Where it has the number of its first item, and the bitmap of removed items.
FIRST, GONE = LIVING + 1, LIVING + 10


@always
def living_of(record):
    return Living(
        record[LIVING],
        record[LIVING + 1],
        numbers_at(record, LIVING + 2),
        words_at(record, LIVING + 4),
        words_at(record, LIVING + 6),
        words_at(record, LIVING + 8),
        longs_at(record, GONE),
    )


@always
def bands_of(record):
    return Bands(word_rows_at(record, BANDS), long_rows_at(record, BANDS + 3))


@always
def copies_of(record):
    return Copies(longs_at(record, COPIES), words_at(record, COPIES + 2), words_at(record, COPIES + 4))


@always
def ends_of(record, at):
    return Ends(longs_at(record, at), halves_at(record, at + 2), record[at + 4])


@always
def blocks_of(record, at):
    return Blocks(record[at], record[at + 1], record[at + 2])


@kernel
def look(table, keys, most, raw, again, found, counts):
    """found: int64[2, room], the numbers and the queries of pairs, segment by segment. The others as in `segments.look`; how many pairs."""
    total, room = np.int64(0), found.shape[1]
    if keys.shape[0]:
        for place in range(table.shape[0]):
            fetch_ranges(bands_of(table[place]), keys[0])
    for place in range(table.shape[0]):
        record = table[place]
        begin = min(total, room)
        blocks = blocks_of(record, OF_BANDS)
        more = segments.look(blocks, bands_of(record), living_of(record), keys, most, raw, again, found[0, begin:], counts)
        if more == DAMAGED:
            return DAMAGED - place
        for query in range(keys.shape[0]):
            end = min(total + counts[0, query], room)
            found[1, total:end] = query
            total += counts[0, query]
    return total


@kernel
def shares_after(table, keys, sizes, after):
    for place in range(table.shape[0]):
        record = table[place]
        found = segments.shares_after(blocks_of(record, OF_BANDS), bands_of(record), living_of(record), keys, sizes, after)
        if found:
            return found if found == 1 else DAMAGED - place
    return 0


@kernel
def living_copies(table, wanted, most, counts, numbers):
    """The first ``most`` living items with each copy uint64[n, 2], ascending, one copy after the other: how many in all.

    counts: int64[n], written: how many have each. numbers: int64[room], written as far as there is room.
    """
    total, room = np.int64(0), np.int64(numbers.size)
    for i in range(wanted.shape[0]):
        counts[i] = 0
        for place in range(table.shape[0]):
            record = table[place]
            blocks, copies, living, left = blocks_of(record, OF_ITEMS), copies_of(record), living_of(record), most - counts[i]
            more = segments.living_copies(blocks, copies, living, wanted[i, 0], wanted[i, 1], left, numbers[min(total, room) :])
            if more == DAMAGED:
                return np.int64(DAMAGED - place)
            total += more
            counts[i] += more
    return total


@kernel
def find(table, hashes, wanted, offsets, out):
    """The numbers of living items by their ids, -1: none. hashes: uint64[n]; wanted, offsets: the bytes of the ids; out: int64[n]."""
    for i in range(hashes.size):
        out[i] = -1
        for place in range(table.shape[0]):
            record = table[place]
            blocks, ids = blocks_of(record, OF_BANDS), Band(words_at(record, BAND), longs_at(record, BAND + 2))
            of_ids, ends, text = blocks_of(record, OF_ITEMS), ends_of(record, ID_ENDS), bytes_at(record, TEXT)
            found = segments.find(blocks, ids, of_ids, ends, text, living_of(record), hashes[i], wanted[offsets[i] : offsets[i + 1]])
            if found < -1:
                return DAMAGED - place
            if found >= 0:
                out[i] = found
                break
    return 0


@always
def place_of(table, number):
    """The segment that has a number, if one has it."""
    place = table.shape[0] - 1
    while place > 0 and table[place, FIRST] > number:
        place -= 1
    return place


@kernel
def describe(table, numbers, copy, places):
    """The contents of items: copy uint64[n, 2], places int64[4, n]: segments, rows, where their words begin, how many these are.

    numbers: int64[n]. Returns how many words all have.
    """
    total = np.int64(0)
    for i in range(numbers.size):
        place = place_of(table, numbers[i])
        record = table[place]
        living, copies = living_of(record), copies_of(record)
        item = segments.item_with(living, numbers[i])
        row = segments.row_of(living, item) if item >= 0 else np.int64(-1)
        if row < 0 or row >= copies.order.size or not segments.is_right_copy(blocks_of(record, OF_ITEMS), copies, row):
            return DAMAGED - place
        begin, length = segments.piece(blocks_of(record, OF_SETS), ends_of(record, SIZES), record[WORDS], row)
        if length < 0:
            return DAMAGED - place
        copy[i, 0], copy[i, 1] = copies.high[row], np.uint64(copies.low[row])
        places[0, i], places[1, i], places[2, i], places[3, i] = place, row, begin, length
        total += length
    return total


@kernel
def full_words(table, places, out):
    """The words of contents (`describe`), one after the other."""
    to = 0
    for i in range(places.shape[1]):
        record, begin = table[places[0, i]], places[2, i]
        data = longs_at(record, DATA)
        if begin + places[3, i] > data.size or not is_right(blocks_of(record, OF_SETS), data, begin, begin + places[3, i]):
            return DAMAGED - places[0, i]
        for k in range(begin, begin + places[3, i]):
            out[to] = data[k]
            to += 1
    return 0


@kernel
def compact_words(table, places, bits, out):
    """The same of sets in few bits."""
    to = 0
    for i in range(places.shape[1]):
        record, size = table[places[0, i]], places[3, i]
        blocks, data = blocks_of(record, OF_SETS), bytes_at(record, DATA)
        begin, length = segments.piece(blocks, ends_of(record, ENDS), data.size, places[1, i])
        if length < 0 or not is_right(blocks, data, begin, begin + length):
            return DAMAGED - places[0, i]
        if not compact_sets.decode(data, begin, begin + length, size, bits, out[to : to + size]):
            return DAMAGED - places[0, i]
        to += size
    return 0


@kernel
def slots(table, places, out):
    """The shortened signatures of contents: uint8[n, slots]."""
    for i in range(places.shape[1]):
        record, begin = table[places[0, i]], places[1, i] * out.shape[1]
        data = bytes_at(record, DATA)
        if begin + out.shape[1] > data.size or not is_right(blocks_of(record, OF_SETS), data, begin, begin + out.shape[1]):
            return DAMAGED - places[0, i]
        for k in range(out.shape[1]):
            out[i, k] = data[begin + k]
    return 0


@kernel
def id_places(table, numbers, places):
    """The ids of items: places int64[3, n]: segments, where their bytes begin, how many these are. Returns how many all have."""
    total = np.int64(0)
    for i in range(numbers.size):
        place = place_of(table, numbers[i])
        record = table[place]
        item = segments.item_with(living_of(record), numbers[i])
        begin, length = segments.piece(blocks_of(record, OF_ITEMS), ends_of(record, ID_ENDS), bytes_at(record, TEXT).size, item)
        if length < 0:
            return DAMAGED - place
        places[0, i], places[1, i], places[2, i] = place, begin, length
        total += length
    return total


@kernel
def id_bytes(table, places, out):
    """The bytes of ids (`id_places`), one after the other."""
    to = 0
    for i in range(places.shape[1]):
        record, begin = table[places[0, i]], places[1, i]
        text = bytes_at(record, TEXT)
        if not is_right(blocks_of(record, OF_ITEMS), text, begin, begin + places[2, i]):
            return DAMAGED - places[0, i]
        for k in range(begin, begin + places[2, i]):
            out[to] = text[k]
            to += 1
    return 0
