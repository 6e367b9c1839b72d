"""Items that share a band key, as bucket numbers."""

from __future__ import annotations

import numpy as np

from likewise.kernels.jit import kernel

#: 2^64 over the golden ratio, odd: the top bits of products with it are spread (Knuth, The Art of Computer Programming 3, section 6.4).
MIX = np.uint64(0x9E3779B97F4A7C15)
#: Places of a table for each key: one key in so many seems to repeat though it does not.
SPARE_PLACES = 4


def repeated(keys: np.ndarray) -> np.ndarray:
    """Where keys occur more than once, and by chance now and then where they do not: bool[n]. keys: uint64[n], uniform.

    A count that stops at two, in a table by the top bits: it costs a fraction of sorting the keys, and most of them are alone.
    The table is NumPy's, which asks for huge pages: of small ones nearly each look into it would miss the address, too.
    """
    bits = max(1, (SPARE_PLACES * len(keys) - 1).bit_length())
    return seen_twice(keys, np.uint64(64 - bits), np.empty(1 << bits, np.uint8), np.empty(len(keys), bool))


@kernel
def seen_twice(keys, away, seen, out):
    seen[:] = 0
    for key in keys:
        seen[key >> away] += seen[key >> away] < 2
    for i in range(keys.size):
        out[i] = seen[keys[i] >> away] == 2
    return out


def number_equal(keys: np.ndarray, bucket: np.ndarray) -> int:
    """Number the keys that occur more often than once, in the order in which they come again; returns how many. -1 for those that are alone.

    keys: uint64[n]; bucket: int32[n], what is filled. Keys are looked up in a table: sorting them takes two to three times as long.
    """
    bits = max(1, (2 * len(keys) - 1).bit_length())
    return int(look_up(keys, np.uint64(64 - bits), np.empty(1 << bits, np.int32), bucket))


@kernel
def look_up(keys, away, table, bucket):
    """table: int32, the first of the items of a key, at the place that the key's product says or the next free one."""
    table[:] = -1
    last = np.uint64(table.size - 1)
    count = np.int32(0)
    for item in range(keys.size):
        bucket[item] = -1
        place = keys[item] * MIX >> away
        while table[place] >= 0 and keys[table[place]] != keys[item]:
            place = (place + np.uint64(1)) & last
        first = table[place]
        if first < 0:
            table[place] = item
            continue
        if bucket[first] < 0:
            bucket[first] = count
            count += np.int32(1)
        bucket[item] = bucket[first]
    return count
