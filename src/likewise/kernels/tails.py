"""The items of an index that lie in no segment yet: an open table of keys, and chains of the items that share one.

A key is a column of an item's row: its bands, then what copies have in common, then its id. The table has the first item of each key, `links` the
next one, so that chains ascend. One thread adds items while others look, and these ignore items from a number on. A place of the table or a link
changes by one write of four bytes, from nothing to an item whose row was written before, by an earlier call.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.compiled.jit import always, kernel
from likewise.kernels.bands import MIX
from likewise.kernels.segments import sort_rows


class Table(NamedTuple):
    """Places and entries are numbers of keys + 1: item << shift | column; 0: none."""

    places: np.ndarray  # int32[a power of two, more than the keys]
    links: np.ndarray  # int32[items << shift]: the next entry with this key
    lasts: np.ndarray  # int32[items << shift]: at the first entry with a key, the last one; only who adds reads it
    columns: np.ndarray  # uint64[items, bands + 2]
    copy: np.ndarray  # uint64[items, 2]
    size: np.ndarray  # uint32[items]
    content: np.ndarray  # int32[items]: the first item that this one is a copy of, itself as a rule
    shift: int


@always
def place_of(table, key, column):
    """The place of a key in the table, or the free one where it belongs."""
    last = np.uint64(table.places.size - 1)
    place = ((key + np.uint64(column)) * MIX >> np.uint64(32)) & last
    mask = (1 << table.shift) - 1
    entry = np.int64(table.places[place])
    while entry:
        entry -= 1
        if entry & mask == column and table.columns[entry >> table.shift, column] == key:
            break
        place = (place + np.uint64(1)) & last
        entry = np.int64(table.places[place])
    return place


@always
def first_of(table, key, column, items):
    """The first item with a key, -1: none before ``items``."""
    entry = np.int64(table.places[place_of(table, key, column)])
    item = (entry - 1) >> table.shift
    return item if entry and item < items else np.int64(-1)


@always
def next_of(table, item, column, items):
    """The next item with the same key."""
    entry = np.int64(table.links[item << table.shift | column])
    item = (entry - 1) >> table.shift
    return item if entry and item < items else np.int64(-1)


@always
def link(table, item, column):
    """Add an item's key."""
    place = place_of(table, table.columns[item, column], column)
    entry = item << table.shift | column
    table.links[entry] = 0
    table.lasts[entry] = entry
    if table.places[place] == 0:
        table.places[place] = entry + 1
    else:
        first = table.places[place] - 1
        before = table.lasts[first]
        table.lasts[first] = entry
        table.links[before] = entry + 1


@always
def holder(table, one, two, items):
    """The first item with this copy, -1: none."""
    column = table.columns.shape[1] - 2
    item = first_of(table, one ^ two * MIX, column, items)
    while item >= 0 and (table.copy[item, 0] != one or table.copy[item, 1] != two):
        item = next_of(table, item, column, items)
    return item


@kernel
def add(table, begin, end):
    """Add the items from begin to end, whose rows are written."""
    bands = table.columns.shape[1] - 2
    for item in range(begin, end):
        first = holder(table, table.copy[item, 0], table.copy[item, 1], item)
        table.content[item] = item if first < 0 else first
        if first < 0 and table.size[item] > 0:
            for band in range(bands):
                link(table, item, band)
        link(table, item, bands)
        link(table, item, bands + 1)


@always
def is_living(gone, item):
    return gone.size == 0 or gone[item >> 6] >> np.uint64(item & 63) & np.uint64(1) == 0


@always
def first_living(table, content, items, gone):
    """The first living item of a content, -1: none."""
    column = table.columns.shape[1] - 2
    item = content
    while item >= 0 and (table.content[item] != content or not is_living(gone, item)):
        item = next_of(table, item, column, items)
    return item


@kernel
def look(table, items, gone, numbers, keys, most, raw, again, found, counts):
    """Like `segments.look`, of the first ``items`` items. numbers: int64[items]."""
    rows = np.empty(keys.shape[1] * most, np.int64)
    room, total = found.size, 0
    for query in range(keys.shape[0]):
        count, fullest = 0, 0
        for band in range(keys.shape[1]):
            before, many = count, 0
            item = first_of(table, keys[query, band], band, items)
            while item >= 0:
                many += 1
                if many < most:
                    rows[count] = item
                    count += 1
                item = next_of(table, item, band, items)
            if many >= most:
                count = before
            if not again:
                raw[query, band] += many
            fullest = max(fullest, raw[query, band])
        count = sort_rows(rows, count)
        there = 0
        for i in range(count):
            item = first_living(table, rows[i], items, gone)
            if item >= 0:
                rows[there] = item
                there += 1
        if gone.size:
            sort_rows(rows, there)
        for i in range(min(there, room - total)):
            found[total + i] = numbers[rows[i]]
        total += there
        counts[0, query], counts[1, query] = there, fullest
    return total


@kernel
def shares_after(table, items, gone, numbers, keys, sizes, after):
    """Like `segments.shares_after`. numbers: int64[items]."""
    bands = keys.shape[1]
    for query in range(keys.shape[0]):
        if sizes[query] == 0:
            continue
        for band in range(bands):
            content = first_of(table, keys[query, band], band, items)
            while content >= 0:
                item = content
                while item >= 0:
                    if numbers[item] > after and table.content[item] == content and is_living(gone, item):
                        return True
                    item = next_of(table, item, bands, items)
                content = next_of(table, content, band, items)
    return False


@kernel
def members(table, items, band, keys, out):
    """Like `segments.members`, until ``out`` is full."""
    bands, count = table.columns.shape[1] - 2, 0
    item = first_of(table, keys[0], band, items)
    while item >= 0 and count < out.size:
        same = True
        for level in range(1, keys.size):
            same &= table.columns[item, (band + level) % bands] == keys[level]
        if same:
            out[count] = item
            count += 1
        item = next_of(table, item, band, items)
    return count


@kernel
def firsts(table, items, gone, rows, out):
    """The first living item of each content, -1: none. rows, out: int64[n]."""
    for i in range(rows.size):
        out[i] = first_living(table, rows[i], items, gone)


@kernel
def rows_with(table, items, wanted, out):
    """The contents with these copies uint64[n, 2], -1: none. out: int64[n]."""
    for i in range(wanted.shape[0]):
        out[i] = holder(table, wanted[i, 0], wanted[i, 1], items)


@kernel
def living_copies(table, items, gone, numbers, wanted, most, counts, out):
    """Like `several.living_copies`. numbers: int64[items]."""
    column = table.columns.shape[1] - 2
    total = 0
    for i in range(wanted.shape[0]):
        before = total
        content = holder(table, wanted[i, 0], wanted[i, 1], items)
        item = content
        while item >= 0 and total - before < most:
            if table.content[item] == content and is_living(gone, item):
                if total < out.size:
                    out[total] = numbers[item]
                total += 1
            item = next_of(table, item, column, items)
        counts[i] = total - before
    return total


@kernel
def find(table, items, gone, ends, text, hashes, wanted, offsets, out):
    """The living items with these ids, -1: none. ends: int64[items + 1] and text: uint8, the ids of the items; the others as in `several.find`."""
    column = table.columns.shape[1] - 1
    for i in range(hashes.size):
        out[i] = -1
        item = first_of(table, hashes[i], column, items)
        while item >= 0:
            length = ends[item + 1] - ends[item]
            if is_living(gone, item) and length == offsets[i + 1] - offsets[i]:
                same = True
                for byte in range(length):
                    same &= text[ends[item] + byte] == wanted[offsets[i] + byte]
                if same:
                    out[i] = item
            item = next_of(table, item, column, items)
