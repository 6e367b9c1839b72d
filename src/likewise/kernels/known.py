"""An open table of 64-bit keys, behind a sieve of bits that most keys that are not in the table do not pass. Keys are uniform over 64 bits."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel

#: Bits of the sieve for each key: one key in 16 that is not known passes.
SIEVE_BITS = 16
NO_KEY = np.uint32(0xFFFFFFFF)


@kernel
def table(keys, slots, sieve):
    """Fill an open table and a sieve of distinct keys, uint64[n].

    slots: uint32, a power of two and more than n; each becomes the number of a key, or NO_KEY. sieve: uint64, a power of two.
    """
    slots[:] = NO_KEY
    sieve[:] = 0
    last, bits = np.uint64(slots.size - 1), np.uint64(64 * sieve.size - 1)
    for i in range(keys.size):
        at = keys[i] & last
        while slots[at] != NO_KEY:
            at = (at + np.uint64(1)) & last
        slots[at] = i
        bit = (keys[i] >> np.uint64(24)) & bits
        sieve[bit >> np.uint64(6)] |= np.uint64(1) << (bit & np.uint64(63))


@kernel
def probe(found, keys, slots, sieve, out):
    """Write the number of each found key among the keys of a `table`, or NO_KEY, and return how many are there. found: uint64[m]; out: uint32[m]."""
    last, bits = np.uint64(slots.size - 1), np.uint64(64 * sieve.size - 1)
    count = 0
    for i in range(found.size):
        key = found[i]
        out[i] = NO_KEY
        bit = (key >> np.uint64(24)) & bits
        if (sieve[bit >> np.uint64(6)] >> (bit & np.uint64(63))) & np.uint64(1) == np.uint64(0):
            continue
        at = key & last
        while slots[at] != NO_KEY:
            if keys[slots[at]] == key:
                out[i] = slots[at]
                count += 1
                break
            at = (at + np.uint64(1)) & last
    return count
