"""Keyed hashes of bytes, after wyhash: 16 bytes a multiplication. Without the keys nobody can make two texts collide.

Bytes after the text may be read, and are shifted out: the caller guarantees 8 spare ones.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.hashing import load64, mix64, multiply_fold
from likewise.kernels.jit import always, inline

KEYS = 8  # the least number of keys that these functions take


@always
def last_words(data, at, size):
    """The last ``size`` bytes, 1 to 16, as two words that overlap where there are fewer; without a branch."""
    unused = np.uint64(64 - 8 * min(size, 8))
    return load64(data, at) << unused, load64(data, at + max(size - 8, 0)) << unused


@always
def absorb(state, low, high, key):
    """The state after 16 more bytes. The operands go back in, so that a zero operand cannot wipe what came before; nobody
    without the key can make one zero, which would leave a mere sum."""
    low ^= key
    high ^= state
    return multiply_fold(low, high) ^ low ^ high


@always
def hash_bytes(data, at, size, keys):
    """64 bits of data[at : at + size], not empty. Words are short: up to 16 bytes there is no loop."""
    state = keys[0]
    if size > 16:
        state, at, size = absorb_all(data, at, size, keys)
    low, high = last_words(data, at, size)
    return multiply_fold(low ^ keys[2], high ^ state) + np.uint64(size) * keys[3]


@inline
def absorb_all(data, at, size, keys):
    """The state after all but the last 16 bytes or fewer, where these begin, and how many they are."""
    state = keys[0]
    while size > 16:
        state = absorb(state, load64(data, at), load64(data, at + 8), keys[1])
        at += 16
        size -= 16
    return state, at, size


@inline
def hash_twice(data, at, size, keys):
    """128 bits of data[at : at + size], as two words from two keyed lanes."""
    if size == 0:
        return keys[4], keys[5]
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
