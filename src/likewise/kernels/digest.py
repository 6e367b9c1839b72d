"""Keyed hashes of bytes in the manner of wyhash: one multiplication for 16 bytes. Without the keys nobody can make two texts collide.

Bytes after the text may be read, and are shifted out: the caller guarantees 8 spare ones. data: uint8; keys: uint64[KEYS].
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline
from likewise.kernels.hashing import load64, mix64, multiply_fold

KEYS = 8  # the number of keys that these functions need


@always
def last_words(data, at, size):
    """The last ``size`` bytes, 1 to 16, as two words, which overlap for fewer than 16. Free of branches."""
    unused = np.uint64(64 - 8 * min(size, 8))
    return load64(data, at) << unused, load64(data, at + max(size - 8, 0)) << unused


@always
def absorb(state, low, high, key):
    """The state after 16 more bytes.

    The operands are XORed back in, so that a zero operand cannot erase the state. Nobody without the key can make an operand zero, which would leave
    a mere sum.
    """
    low ^= key
    high ^= state
    return multiply_fold(low, high) ^ low ^ high


@always
def hash_bytes(data, at, size, keys):
    """64-bit hash of data[at : at + size], not empty. Most tokens are short: up to 16 bytes take no loop."""
    state = keys[0]
    if size > 16:
        state, at, size = absorb_all(data, at, size, keys)
    low, high = last_words(data, at, size)
    return multiply_fold(low ^ keys[2], high ^ state) + np.uint64(size) * keys[3]


@inline
def absorb_all(data, at, size, keys):
    """Absorb all but the last 1 to 16 bytes: (state, where these begin, how many they are)."""
    state = keys[0]
    while size > 16:
        state = absorb(state, load64(data, at), load64(data, at + 8), keys[1])
        at += 16
        size -= 16
    return state, at, size


@inline
def hash_twice(data, at, size, keys):
    """128-bit hash of data[at : at + size], as two words from two keyed lanes."""
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
