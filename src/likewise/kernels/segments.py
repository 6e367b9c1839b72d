"""A segment of an index: items that do not change. Who shares a key, and what the items are.

Items are numbered from 0 in order of arrival. Items that are copies of each other are one *content*; contents are numbered in the order of their
first items: rows. The other copies are *extras*. Sorted bands
find rows by key.

All that is read here may come from a file, so each place is checked before it is used, and so are the blocks of the file that have it (``blocks``;
those of `Living` were compared before): a function returns `DAMAGED` if a place is out of bounds, or a block wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.checksums import is_right
from likewise.kernels.sorted_bands import DAMAGED, ROW, fetch_ranges, first_at_least, range_of

#: More than the rows of a segment: longer steps could leave int64 while a damaged order is searched.
MOST = np.int64(1) << np.int64(32)


class Living(NamedTuple):
    """Which items are copies of each other, their numbers, and which of them were removed."""

    items: int
    first: int  # the number of the first item
    numbers: np.ndarray  # int64[items] if some numbers between the first and the last are missing, else [0]
    extra_item: np.ndarray  # uint32[e]: the extras, ascending
    extra_row: np.ndarray  # uint32[e]: their contents
    by_row: np.ndarray  # uint32[e]: places in these, ascending by row, then by item
    gone: np.ndarray  # uint64[items / 64 + 1], a bit for each removed item; [0]: no item is


class Copies(NamedTuple):
    """The 96 bits that copies have in common, by row, and the rows in ascending order of these."""

    high: np.ndarray  # uint64[m]
    low: np.ndarray  # uint32[m]
    order: np.ndarray  # uint32[m]


class Ends(NamedTuple):
    """Ascending numbers from 0: number i is base[i / 32] + more[i]."""

    base: np.ndarray  # uint64
    more: np.ndarray  # uint16, one a number, or two if that is too small
    wide: int  # 1 for two, the lower first; else 0


@always
def is_gone(gone, item):
    return gone.size > 0 and gone[item >> 6] >> np.uint64(item & 63) & np.uint64(1) != 0


@always
def at_least(values, wanted):
    """The first place of an ascending array whose value is at least ``wanted``."""
    low, high = np.int64(0), np.int64(values.size)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@always
def item_of(living, row):
    """The first item of a content: the row and as many extras as come before it."""
    low, high = np.int64(0), np.int64(living.extra_item.size)
    while low < high:
        middle = (low + high) >> 1
        if np.int64(living.extra_item[middle]) - middle <= row:
            low = middle + 1
        else:
            high = middle
    return row + low


@always
def row_of(living, item):
    """The content of an item; -1 if an extra names none."""
    at = at_least(living.extra_item, item)
    if at < living.extra_item.size and living.extra_item[at] == item:
        return np.int64(living.extra_row[at])
    return item - at


@always
def extras_of(living, row):
    """Where the extras of a content begin in living.by_row."""
    low, high = np.int64(0), np.int64(living.by_row.size)
    while low < high:
        middle = (low + high) >> 1
        if living.extra_row[living.by_row[middle]] < row:
            low = middle + 1
        else:
            high = middle
    return low


@always
def extra_at(living, at, row):
    """The item of the extra at a place in living.by_row if it is of this content, else -1."""
    if at >= living.by_row.size or living.extra_row[living.by_row[at]] != row:
        return np.int64(-1)
    return np.int64(living.extra_item[living.by_row[at]])


@always
def number_of(living, item):
    return living.numbers[item] if living.numbers.size else living.first + item


@always
def first_living(living, row):
    """The number of the first living item of a content; -1: all were removed."""
    item = item_of(living, row)
    if item < living.items and not is_gone(living.gone, item):
        return number_of(living, item)
    at = extras_of(living, row)
    item = extra_at(living, at, row)
    while item >= 0:
        if not is_gone(living.gone, item):
            return number_of(living, item)
        at += 1
        item = extra_at(living, at, row)
    return np.int64(-1)


@always
def sort_rows(rows, count):
    """Sort rows[:count] and leave each once; how many are left."""
    if count > 64:
        rows[:count].sort()
    else:
        for i in range(1, count):
            one, j = rows[i], i
            while j > 0 and rows[j - 1] > one:
                rows[j] = rows[j - 1]
                j -= 1
            rows[j] = one
    kept = 0
    for i in range(count):
        if kept == 0 or rows[i] != rows[kept - 1]:
            rows[kept] = rows[i]
            kept += 1
    return kept


@inline
def look(blocks, bands, living, keys, most, raw, again, numbers, counts):
    """The living contents that share keys[q, b] in a band, each once a query, of buckets of fewer than ``most``; how many pairs, or DAMAGED.

    keys: uint64[q, bands]. raw: int64[q, bands], to which the entries of each bucket are added, removed ones too, unless this is done ``again`` with
    more room. numbers: int64[room], the first living item of each content, query by query, ascending; written as far as there is room. counts:
    int64[2, q], written: the pairs of each query, and the greatest number in ``raw``.
    """
    rows = np.empty(keys.shape[1] * most, np.int64)
    room, total = numbers.size, 0
    for query in range(keys.shape[0]):
        count, fullest = 0, 0
        if query + 1 < keys.shape[0]:
            fetch_ranges(bands, keys[query + 1])
        for band in range(keys.shape[1]):
            entries = bands.entries[band]
            begin, end = range_of(blocks, bands.borders[band], entries, keys[query, band])
            if begin < 0:
                return DAMAGED
            if not again:
                raw[query, band] += end - begin
            fullest = max(fullest, raw[query, band])
            if end - begin < most:
                if not is_right(blocks, entries, begin, end):
                    return DAMAGED
                for i in range(begin, end):
                    rows[count] = np.int64(entries[i] & ROW)
                    count += 1
        count = sort_rows(rows, count)
        if count and item_of(living, rows[count - 1]) >= living.items:
            return DAMAGED
        there = 0
        for i in range(count):
            rows[there] = first_living(living, rows[i])
            there += rows[there] >= 0
        if living.gone.size and living.extra_item.size:
            sort_rows(rows, there)
        for i in range(min(there, room - total)):
            numbers[total + i] = rows[i]
        total += there
        counts[0, query], counts[1, query] = there, fullest
    return total


@kernel
def distinct(query, copy, out):
    """Keep of pairs, query by query, the first with each copy uint64[n, 2]: places int64[n] to ``out``, and how many."""
    count, begin = 0, 0
    for i in range(query.size):
        if query[i] != query[begin]:
            begin = i
        new = True
        for j in range(begin, i):
            new &= copy[i, 0] != copy[j, 0] or copy[i, 1] != copy[j, 1]
        if new:
            out[count] = i
            count += 1
    return count


@inline
def shares_after(blocks, bands, living, keys, sizes, after):
    """1 if a living item with a number above ``after`` shares a key with one of these, else 0, or DAMAGED.

    keys: uint64[q, bands], of items of the sizes uint32[q].
    """
    for query in range(keys.shape[0]):
        if sizes[query] == 0:
            continue
        for band in range(keys.shape[1]):
            entries = bands.entries[band]
            begin, end = range_of(blocks, bands.borders[band], entries, keys[query, band])
            if begin < 0 or not is_right(blocks, entries, begin, end):
                return DAMAGED
            for i in range(begin, end):
                row = np.int64(entries[i] & ROW)
                item, at = item_of(living, row), extras_of(living, row)
                while item >= 0:
                    if item < living.items and number_of(living, item) > after and not is_gone(living.gone, item):
                        return 1
                    item = extra_at(living, at, row)
                    at += 1
    return 0


@kernel
def members(blocks, bands, living, band, keys, most, out):
    """The contents that have keys[0] in a band, keys[1] in the next one and so on, ascending, to ``out`` int64, as far as there is room.

    It ends with ``most`` of which the first item is living, so these are the first by number. Returns how many it found, or DAMAGED.
    """
    levels, count, row, same, level = keys.size, 0, np.int64(0), 0, 0
    begins, ends, firsts = np.empty(levels, np.int64), np.empty(levels, np.int64), np.empty(levels, np.uint64)
    for i in range(levels):
        at = (band + i) % bands.entries.shape[0]
        begins[i], ends[i] = range_of(blocks, bands.borders[at], bands.entries[at], keys[i])
        if begins[i] < 0:
            return DAMAGED
        if begins[i] < ends[i]:
            firsts[i] = bands.entries[at, begins[i]] & ~ROW
    while most > 0:
        entries = bands.entries[(band + level) % bands.entries.shape[0]]
        place = first_at_least(entries, begins[level], ends[level], begins[level], firsts[level] | np.uint64(row))
        if not is_right(blocks, entries, max(place - 1, begins[level]), min(place + 1, ends[level])):
            return DAMAGED
        begins[level] = place
        if place == ends[level]:
            return count
        found = np.int64(entries[place] & ROW)
        if found < row or item_of(living, found) >= living.items:
            return DAMAGED
        row, same = found, same + 1 if found == row else 1
        level = (level + 1) % levels
        if same == levels:
            if count < out.size:
                out[count] = row
            count += 1
            most -= not is_gone(living.gone, item_of(living, row))
            row, same = row + 1, 0
    return count


@kernel
def firsts(living, rows, out):
    """The number of the first living item of each content, -1: none. rows: int64[n]; out: int64[n]."""
    for i in range(rows.size):
        out[i] = first_living(living, rows[i])


@kernel
def rows_of(living, items, out):
    """The content of each item. items, out: int64[n]."""
    for i in range(items.size):
        out[i] = row_of(living, items[i])


@always
def is_before(copies, row, high, low):
    """True if a row's copy comes before another."""
    return copies.high[row] < high or (copies.high[row] == high and copies.low[row] < low)


@always
def is_right_copy(blocks, copies, row):
    return is_right(blocks, copies.high, row, row + 1) and is_right(blocks, copies.low, row, row + 1)


@always
def is_right_place(blocks, copies, place, high):
    """True if what proves that a copy would stand at a place in the order is right: the rows before it and there."""
    begin, end = max(place - 1, 0), min(place + 1, copies.order.size)
    if not is_right(blocks, copies.order, begin, end):
        return False
    for i in range(begin, end):
        row = np.int64(copies.order[i])
        if not is_right(blocks, copies.high, row, row + 1) or (copies.high[row] == high and not is_right(blocks, copies.low, row, row + 1)):
            return False
    return True


@always
def row_with(blocks, copies, high, low):
    """The row of a copy, -1: none; -2: damaged. Copies are uniform, so the search begins where one would be.

    Blocks are compared at the end of the search. It has looked at the rows that prove its end then, whatever led it there.
    """
    begin, end, step = np.int64(0), np.int64(copies.order.size), np.int64(8)
    place = np.int64(((high >> np.uint64(32)) * np.uint64(end)) >> np.uint64(32))
    while begin < end:
        row = np.int64(copies.order[place])
        if row >= copies.order.size:
            is_right(blocks, copies.order, place, place + 1)  # notes the block
            return np.int64(-2)
        if is_before(copies, row, high, low):
            begin = place + 1
            place = min(place + step, (begin + end) >> 1)
        else:
            end = place
            place = max(place - step, (begin + end) >> 1)
        step = min(4 * step, MOST)
    if not is_right_place(blocks, copies, begin, high):
        return np.int64(-2)
    if begin < copies.order.size:
        row = np.int64(copies.order[begin])
        if copies.high[row] == high and copies.low[row] == low:
            return row
    return np.int64(-1)


@kernel
def rows_with(blocks, copies, wanted, out):
    """The row of each copy uint64[n, 2], -1: none. out: int64[n]. Returns DAMAGED or 0."""
    for i in range(wanted.shape[0]):
        out[i] = row_with(blocks, copies, wanted[i, 0], np.uint32(wanted[i, 1]))
        if out[i] == -2:
            return DAMAGED
    return 0


@inline
def living_copies(blocks, copies, living, high, low, most, numbers):
    """The first ``most`` living items with a copy, ascending: how many, or DAMAGED. numbers: int64[room], written as far as there is room."""
    row = row_with(blocks, copies, high, np.uint32(low))
    if row < 0:
        return np.int64(0) if row == -1 else np.int64(DAMAGED)
    count = np.int64(0)
    item, at = item_of(living, row), extras_of(living, row)
    while item >= 0 and count < most:
        if item >= living.items:
            return np.int64(DAMAGED)
        if not is_gone(living.gone, item):
            if count < numbers.size:
                numbers[count] = number_of(living, item)
            count += 1
        item = extra_at(living, at, row)
        at += 1
    return count


@always
def item_with(living, number):
    """The item with a number; -1: none."""
    item = at_least(living.numbers, number) if living.numbers.size else number - living.first
    if item < 0 or item >= living.items or number_of(living, item) != number:
        return np.int64(-1)
    return item


@always
def end_at(ends, i):
    at = i << ends.wide
    more = np.int64(ends.more[at])
    if ends.wide:
        more |= np.int64(ends.more[at + 1]) << 16
    return np.int64(ends.base[i >> 5]) + more


@always
def piece(blocks, ends, most, i):
    """Where piece i of an array of ``most`` values begins, and its length, -1: damaged. It goes from number i of ``ends`` to the next."""
    if i < 0 or i + 1 >= ends.more.size >> ends.wide:
        return np.int64(0), np.int64(-1)
    if not (is_right(blocks, ends.base, i >> 5, (i + 1 >> 5) + 1) and is_right(blocks, ends.more, i << ends.wide, i + 2 << ends.wide)):
        return np.int64(0), np.int64(-1)
    begin = end_at(ends, i)
    length = end_at(ends, i + 1) - begin
    if length < 0 or begin < 0 or begin + length > most:
        return np.int64(0), np.int64(-1)
    return begin, length


@kernel
def gather(data, begins, lengths, out):
    """The pieces of an array one after the other, out[sum of lengths]. Returns DAMAGED or 0."""
    to = 0
    for i in range(begins.size):
        if begins[i] < 0 or lengths[i] < 0 or begins[i] + lengths[i] > data.size:
            return DAMAGED
        for k in range(begins[i], begins[i] + lengths[i]):
            out[to] = data[k]
            to += 1
    return 0


@inline
def find(blocks, band, of_ids, ends, text, living, key, wanted):
    """The number of the living item with an id; -1: none, -2: damaged.

    blocks, of_ids: those of the band, and of the ids and their ends. band: of hashes of ids, uint64 below 2^48, and items. key, wanted: the hash and
    the bytes of the id, uint8[n].
    """
    begin, end = range_of(blocks, band.borders, band.entries, key)
    if begin < 0 or not is_right(blocks, band.entries, begin, end):
        return np.int64(-2)
    for k in range(begin, end):
        item = np.int64(band.entries[k] & ROW)
        if item >= living.items:
            return np.int64(-2)
        if is_gone(living.gone, item):
            continue
        at, length = piece(of_ids, ends, text.size, item)
        if length < 0:
            return np.int64(-2)
        if length != wanted.size:
            continue
        if not is_right(of_ids, text, at, at + length):
            return np.int64(-2)
        same = True
        for byte in range(length):
            same &= text[at + byte] == wanted[byte]
        if same:
            return number_of(living, item)
    return np.int64(-1)


@kernel
def heads(keys, table, out):
    """The places of the first of each key, as many as there is room for in ``out``, int64; how many there are.

    keys: uint64[n]. table: uint64[a power of two above twice the room, 2], zeros.
    """
    last, count = np.uint64(table.shape[0] - 1), 0
    for i in range(keys.size):
        if count == out.size:
            break
        place = (keys[i] ^ keys[i] >> np.uint64(24)) & last
        while table[place, 1] and table[place, 0] != keys[i]:
            place = (place + np.uint64(1)) & last
        if table[place, 1] == 0:
            table[place, 0], table[place, 1] = keys[i], 1
            out[count] = i
            count += 1
    return count


@kernel
def share(copy, high, low, rows, table, out):
    """Number contents: out[i] is the row of item i, a new one after ``rows`` if no earlier item has its copy. Returns the rows there are now.

    copy: uint64[n, 2]. high: uint64, low: uint32, with room for n more rows, added to. table: int32[a power of two], row + 1 by copy; 0: free.
    """
    last = np.uint64(table.size - 1)
    for i in range(copy.shape[0]):
        one, two = copy[i, 0], np.uint32(copy[i, 1])
        place = (one ^ one >> np.uint64(32)) & last
        while table[place] and (high[table[place] - 1] != one or low[table[place] - 1] != two):
            place = (place + np.uint64(1)) & last
        if table[place] == 0:
            high[rows], low[rows] = one, two
            rows += 1
            table[place] = rows
        out[i] = table[place] - 1
    return rows


@kernel
def fill(high, low, rows, table):
    """A larger table of the rows for `share`. table: int32, zeros."""
    last = np.uint64(table.size - 1)
    for row in range(rows):
        place = (high[row] ^ high[row] >> np.uint64(32)) & last
        while table[place]:
            place = (place + np.uint64(1)) & last
        table[place] = row + 1
