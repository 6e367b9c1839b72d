"""Bucket numbers for items that share a band key."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel

#: 2^64 over the golden ratio, odd: the top bits of products with it are well spread (Knuth, The Art of Computer Programming 3, section 6.4).
MIX = np.uint64(0x9E3779B97F4A7C15)
#: Table slots per key. About one unique key in so many is taken for a repeated one.
SPARE_PLACES = 4


def repeated(keys: np.ndarray) -> np.ndarray:
    """Mark keys that occur more than once, and a few unique ones that collide with another in the table: bool[n].

    keys: uint64[n], uniform.
    A counter that stops at two, in a table indexed by the top bits, costs a fraction of sorting the keys, and most of them are unique.
    NumPy allocates the table because it asks for huge pages: with small ones nearly each access would also miss the TLB.
    """
    bits = max(1, (SPARE_PLACES * len(keys) - 1).bit_length())
    return seen_twice(keys, np.uint64(64 - bits), np.empty(1 << bits, np.uint8), np.empty(len(keys), bool))


@kernel
def seen_twice(keys, away, seen, out):
    """Fill and return out, bool[n]: whether the slot of keys[i] >> away is hit at least twice. seen: uint8[2^(64 - away)], scratch."""
    seen[:] = 0
    for key in keys:
        seen[key >> away] += seen[key >> away] < 2
    for i in range(keys.size):
        out[i] = seen[keys[i] >> away] == 2
    return out


def number_equal(keys: np.ndarray, bucket: np.ndarray) -> int:
    """Number the keys that occur more than once, in the order in which they first repeat. Returns how many such keys there are.

    keys: uint64[n]. bucket: int32[n], filled with the number of each key, -1 for unique keys.
    Keys are looked up in a hash table: sorting them takes two to three times as long.
    """
    bits = max(1, (2 * len(keys) - 1).bit_length())
    return int(look_up(keys, np.uint64(64 - bits), np.empty(1 << bits, np.int32), bucket))


@kernel
def look_up(keys, away, table, bucket):
    """Do the work of `number_equal`. table: int32[2^(64 - away)], scratch: the first item with a key, found by linear probing."""
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
