"""Keyed hashes of bytes, after wyhash: 16 bytes a multiplication. Without the keys nobody can make two texts collide.

Eight bytes after the text may be read (and are masked away): the caller guarantees 16 spare bytes.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.hashing import load64, mix64, multiply_fold
from likewise.kernels.jit import inline

KEYS = 8  # the least number of keys that these functions take
LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)


@inline
def last_words(data, at, size):
    """The last ``size`` bytes, 0 to 16, as two words filled up with zeros."""
    return load64(data, at) & LOW_BYTES[min(size, 8)], load64(data, at + 8) & LOW_BYTES[max(size - 8, 0)]


@inline
def absorb(state, low, high, key):
    """The state after 16 more bytes. The operands go back in, so that a zero operand cannot wipe what came before."""
    low ^= key
    high ^= state
    return multiply_fold(low, high) ^ low ^ high


@inline
def hash_bytes(data, at, size, keys):
    """64 bits of data[at : at + size]. Words are short: up to 16 bytes there is no loop and no branch."""
    state, left = keys[0], size
    while left > 16:
        state = absorb(state, load64(data, at), load64(data, at + 8), keys[1])
        at += 16
        left -= 16
    low, high = last_words(data, at, left)
    return multiply_fold(low ^ keys[2], high ^ state) + np.uint64(size) * keys[3]


@inline
def hash_twice(data, at, size, keys):
    """128 bits of data[at : at + size], as two words from two keyed lanes."""
    one, two, left = keys[4], keys[5], size
    while left > 16:
        low, high = load64(data, at), load64(data, at + 8)
        one = absorb(one, low, high, keys[6])
        two = absorb(two, low, high, keys[7])
        at += 16
        left -= 16
    low, high = last_words(data, at, left)
    total = np.uint64(size)
    return mix64(absorb(one, low, high, keys[6]) + total * keys[7]), mix64(absorb(two, low, high, keys[7]) + total * keys[6])
