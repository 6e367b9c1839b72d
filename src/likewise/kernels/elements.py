"""Keyed 64-bit words that stand for the elements of sets: integers and strings."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.digest import hash_bytes
from likewise.kernels.hashing import mix64


@kernel
def hash_strings(data, offsets, keys, key):
    """One word for each string data[offsets[i] : offsets[i + 1]]: uint64[n].

    data: uint8, UTF-8, with 8 spare bytes. keys: uint64[8], as kernels.digest takes them. key: uint64, separates one type of strings from another.
    """
    out = np.empty(offsets.size - 1, np.uint64)
    for i in range(out.size):
        size = offsets[i + 1] - offsets[i]
        out[i] = mix64((hash_bytes(data, offsets[i], size, keys) if size else keys[1]) ^ key)
    return out


@kernel
def mix_integers(values, signed, plain, negative):
    """One word for each 64-bit number: uint64[n]. Numbers from 0 to 2^64 - 1 are distinct, and so are negative ones if ``signed``.

    values: uint64[n], the bits. plain, negative: uint64, the keys of numbers from 0 on and of negative ones.
    """
    out = np.empty(values.size, np.uint64)
    for i in range(values.size):
        out[i] = mix64(values[i] ^ (negative if signed and values[i] >> np.uint64(63) else plain))
    return out
