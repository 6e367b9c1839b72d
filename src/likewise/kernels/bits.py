"""Counts over codes: XOR, AND, OR and the machine's own counting of bits, a word of 64 at a time."""

from __future__ import annotations

import numpy as np

from likewise.kernels.blocks import count_bits
from likewise.kernels.jit import kernel


@kernel
def differing(a, b):
    """How many bits differ between the i-th rows of uint64[n, words] and another. int64[n]"""
    out = np.empty(len(a), np.int64)
    for i in range(len(a)):
        x, y = a[i], b[i]
        count = 0
        for word in range(len(x)):
            count += count_bits(x[word] ^ y[word])
        out[i] = count
    return out


@kernel
def shared(a, b):
    """How many bits are set in both i-th rows, and how many in one or the other. int64[n] each"""
    both, either = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    for i in range(len(a)):
        x, y = a[i], b[i]
        in_both = in_either = 0
        for word in range(len(x)):
            in_both += count_bits(x[word] & y[word])
            in_either += count_bits(x[word] | y[word])
        both[i], either[i] = in_both, in_either
    return both, either
