"""Words of 64 bits that stand for elements of sets: integers and strings, keyed."""

from __future__ import annotations

import numpy as np

from likewise.kernels.digest import hash_bytes
from likewise.kernels.hashing import mix64
from likewise.kernels.jit import kernel


@kernel
def hash_strings(data, offsets, keys, key):
    """A word for each string data[offsets[i] : offsets[i + 1]]: uint64[n]. ``data`` has 8 spare bytes; keys: see digest; ``key`` tells one kind
    of string from another."""
    out = np.empty(offsets.size - 1, np.uint64)
    for i in range(out.size):
        size = offsets[i + 1] - offsets[i]
        out[i] = mix64((hash_bytes(data, offsets[i], size, keys) if size else keys[1]) ^ key)
    return out


@kernel
def mix_integers(values, signed, plain, negative):
    """A word for each number of 64 bits, uint64[n]: another for each from 0 to 2^64 - 1, and another for each below 0 where they are ``signed``."""
    out = np.empty(values.size, np.uint64)
    for i in range(values.size):
        out[i] = mix64(values[i] ^ (negative if signed and values[i] >> np.uint64(63) else plain))
    return out
