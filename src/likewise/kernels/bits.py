"""Counts over codes: XOR, AND, OR and the machine's own bit count, 64 bits at a time."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.blocks import count_bits


@kernel
def differing(a, b):
    """Hamming distances of the i-th rows of two arrays uint64[n, words]: int64[n]."""
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
    """Sizes of the intersection and of the union of the i-th rows of two arrays uint64[n, words], as sets of bits: int64[n] each."""
    both, either = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
    for i in range(len(a)):
        x, y = a[i], b[i]
        in_both = in_either = 0
        for word in range(len(x)):
            in_both += count_bits(x[word] & y[word])
            in_either += count_bits(x[word] | y[word])
        both[i], either[i] = in_both, in_either
    return both, either
