"""Bands of an index as sorted arrays: the rows that have a key, and the keys of rows.

The upper bits of a key choose a bucket of 64 to 128 entries, and an entry has the key's other bits (40 at most) above 24 bits for the row. So a
band takes 8 bytes a row, and gives back the keys that it was made of. All that is read may come from a file, and is checked before it is used:
``blocks`` are those of that file, and a function returns `DAMAGED` for one that is wrong. Borders were compared before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.compiled.jit import always, kernel
from likewise.kernels.checksums import is_right
from likewise.kernels.scan import fetch

KEY_BITS, ROW_BITS = 48, 24
#: log2 of the most entries of a bucket, as a rule; log2 of the finer buckets that each is sorted by while a band is made; and the most entries of
#: such a one that are sorted by insertion.
ENTRIES, FINE, LONG = 7, 3, 64
#: The fewest bits of a bucket's number: the others of a key must fit above a row.
FEWEST_BITS = KEY_BITS + ROW_BITS - 64
#: Entries of one key that are compared with their checksums as a whole.
SHORT = 256
ROW = np.uint64((1 << ROW_BITS) - 1)
DAMAGED = -1


class Band(NamedTuple):
    """The entries of one band in ascending order, by bucket."""

    borders: np.ndarray  # uint32[buckets + 1]
    entries: np.ndarray  # uint64[n]


class Bands(NamedTuple):
    """All bands: borders uint32[bands, buckets + 1] and entries uint64[bands, n]."""

    borders: np.ndarray
    entries: np.ndarray


def band_of(keys: np.ndarray, rows: np.ndarray) -> Band:
    """The band of keys uint64[n], below 2^48, of rows uint32[n], ascending."""
    bits = max(FEWEST_BITS, len(keys).bit_length() - ENTRIES)
    entries, borders = np.empty(len(keys), np.uint64), np.empty((1 << bits) + 1, np.uint32)
    sort_band(keys, rows, bits, np.zeros((1 << bits + FINE) + 1, np.int64), borders, entries)
    for bucket in np.flatnonzero(np.diff(borders.astype(np.int64)) > LONG << FINE):
        entries[borders[bucket] : borders[bucket + 1]].sort()
    return Band(borders, entries)


@kernel
def sort_band(keys, rows, bits, place, borders, entries):
    """A counting sort by finer buckets, then each bucket by insertion, except the long ones. place: int64[2^(bits + FINE) + 1], zeros."""
    fine = np.uint64(KEY_BITS - bits - FINE)
    rest = (np.uint64(1) << np.uint64(KEY_BITS - bits)) - np.uint64(1)
    for i in range(keys.size):
        place[np.int64(keys[i] >> fine) + 1] += 1
    for begin in range(place.size - 1):
        place[begin + 1] += place[begin]
    for begin in range(borders.size):
        borders[begin] = place[begin << FINE]
    for i in range(keys.size):
        bucket = np.int64(keys[i] >> fine)
        entries[place[bucket]] = (keys[i] & rest) << np.uint64(ROW_BITS) | np.uint64(rows[i])
        place[bucket] += 1
    for begin in range(borders.size - 1):
        low, high = np.int64(borders[begin]), np.int64(borders[begin + 1])
        if high - low > LONG << FINE:
            continue
        for i in range(low + 1, high):
            one, j = entries[i], i
            while j > low and entries[j - 1] > one:
                entries[j] = entries[j - 1]
                j -= 1
            entries[j] = one


@always
def first_at_least(entries, low, high, guess, wanted):
    """The first place from low to high whose entry is at least ``wanted``: in steps that double from a guess, then by halves."""
    step = 1
    if guess < high and entries[guess] < wanted:
        low = guess + 1
        while low + step <= high and entries[low + step - 1] < wanted:
            low += step
            step *= 2
        high = min(high, low + step - 1)
    else:
        high = min(guess, high)
        while high - step >= low and entries[high - step] >= wanted:
            high -= step
            step *= 2
        low = max(low, high - step + 1)
    while low < high:
        middle = (low + high) >> 1
        if entries[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@always
def bucket_of(blocks, borders, entries, key):
    """The bucket of a key: where it begins and ends, and the bits of the key that entries have. (-1, ...) if it is damaged."""
    bits = np.int64(0)
    while np.int64(1) << bits < borders.size - 1:
        bits += 1
    below = np.uint64(KEY_BITS - bits)
    bucket = np.int64(key >> below)
    if bucket >= borders.size - 1:
        return np.int64(DAMAGED), np.int64(0), np.uint64(0)
    low, high = np.int64(borders[bucket]), np.int64(borders[bucket + 1])
    if low > high or high > entries.size:
        return np.int64(DAMAGED), np.int64(0), np.uint64(0)
    return low, high, key & ((np.uint64(1) << below) - np.uint64(1))


@always
def range_of(blocks, borders, entries, key):
    """Where the entries of a key begin and end; (-1, -1) if they are damaged.

    Only the ends of a long range are compared with their checksums: a caller that reads other blocks compares these, too.
    """
    low, high, rest = bucket_of(blocks, borders, entries, key)
    if low < 0 or low == high:
        return low, low
    bits = np.uint64(0)
    while np.int64(1) << np.int64(bits) < borders.size - 1:
        bits += np.uint64(1)
    guess = low + np.int64((rest * np.uint64(high - low)) >> (np.uint64(KEY_BITS) - bits))
    begin = first_at_least(entries, low, high, guess, rest << np.uint64(ROW_BITS))
    end = begin
    while end < high and entries[end] >> np.uint64(ROW_BITS) == rest:
        end += 1
        if end - begin > 32:
            past = (rest + np.uint64(1)) << np.uint64(ROW_BITS)
            end = first_at_least(entries, end, high, end, past) if past else high  # 0: no key comes after it
            break
    before, after = max(begin - 1, low), min(end + 1, high)
    if end - begin < SHORT:
        right = is_right(blocks, entries, before, after)
    else:
        right = is_right(blocks, entries, before, begin + 1) and is_right(blocks, entries, end - 1, after)
    return (begin, end) if right else (np.int64(DAMAGED), np.int64(DAMAGED))


@always
def fetch_ranges(bands, keys):
    """Ask memory for what `range_of` will read of a key, keys[b], in each band: many answers at once take hardly longer than one."""
    bits = np.int64(0)
    while np.int64(1) << bits < bands.borders.shape[1] - 1:
        bits += 1
    below = np.uint64(KEY_BITS - bits)
    for band in range(keys.size):
        fetch(bands.borders[band], np.int64(keys[band] >> below), 1)
    for band in range(keys.size):
        bucket, rest = np.int64(keys[band] >> below), keys[band] & ((np.uint64(1) << below) - np.uint64(1))
        if bucket < bands.borders.shape[1] - 1:
            low, high = np.int64(bands.borders[band, bucket]), np.int64(bands.borders[band, bucket + 1])
            fetch(bands.entries[band], low + np.int64(rest * np.uint64(high - low) >> below), 1)


@kernel
def long_runs(borders, entries, least, out):
    """The runs of at least so many entries with the same key: where each begins and ends, to ``out`` int64[n / least, 2]; how many."""
    count = 0
    for bucket in range(borders.size - 1):
        begin, high = np.int64(borders[bucket]), np.int64(borders[bucket + 1])
        while high - begin >= least:
            end = begin + 1
            while end < high and entries[end] >> np.uint64(ROW_BITS) == entries[begin] >> np.uint64(ROW_BITS):
                end += 1
            if end - begin >= least:
                out[count, 0], out[count, 1] = begin, end
                count += 1
            begin = end
    return count


@kernel
def keys_of(blocks, borders, entries, wanted, slot, out):
    """The keys of some rows in one band, out[slot[row]]. Returns DAMAGED or 0.

    wanted: uint64[rows / 64 + 1], a bit for each row that is; slot: int32[rows]; out: uint64.
    """
    if not is_right(blocks, entries, 0, entries.size):
        return DAMAGED
    bits = 0
    while 1 << bits < borders.size - 1:
        bits += 1
    for bucket in range(borders.size - 1):
        low, high = np.int64(borders[bucket]), np.int64(borders[bucket + 1])
        if low > high or high > entries.size:
            return DAMAGED
        for i in range(low, high):
            row = np.int64(entries[i] & ROW)
            if row >= slot.size:
                return DAMAGED
            if wanted[row >> 6] >> np.uint64(row & 63) & np.uint64(1):
                out[slot[row]] = np.uint64(bucket) << np.uint64(KEY_BITS - bits) | entries[i] >> np.uint64(ROW_BITS)
    return 0
