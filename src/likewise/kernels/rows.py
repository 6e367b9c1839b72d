"""Rows of 64-bit words: sorting sets, and digests of whole rows."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.digest import absorb
from likewise.kernels.hashing import mix64


@kernel
def ascending(values, offsets):
    """Sets with distinct elements in ascending order: (values uint64[k], offsets int64[n + 1]). Set i is values[offsets[i]:offsets[i + 1]]."""
    n = len(offsets) - 1
    out = np.empty(offsets[n] - offsets[0], np.uint64)
    ends = np.zeros(n + 1, np.int64)
    count = 0
    for i in range(n):
        row = np.sort(values[offsets[i] : offsets[i + 1]])
        for j in range(len(row)):
            if j == 0 or row[j] != row[j - 1]:
                out[count] = row[j]
                count += 1
        ends[i + 1] = count
    return out[:count], ends


@kernel
def digests(words, offsets, keys):
    """128-bit keyed digests of the rows words[offsets[i] : offsets[i + 1]]: uint64[n, 2]. keys: uint64[8], as kernels.digest takes them."""
    n = len(offsets) - 1
    out = np.empty((n, 2), np.uint64)
    for i in range(n):
        one, two = keys[4], keys[5]
        for at in range(offsets[i], offsets[i + 1], 2):
            low = words[at]
            high = words[at + 1] if at + 1 < offsets[i + 1] else np.uint64(0)
            one = absorb(one, low, high, keys[6])
            two = absorb(two, low, high, keys[7])
        size = np.uint64(offsets[i + 1] - offsets[i])
        out[i, 0] = mix64(one + size * keys[7])
        out[i, 1] = mix64(two + size * keys[6])
    return out


@kernel
def gather(words, begin, ends, out):
    """Copy rows of words, which begin at begin[i], to out[ends[i] : ends[i + 1]], one after the other."""
    for i in range(len(begin)):
        out[ends[i] : ends[i + 1]] = words[begin[i] : begin[i] + ends[i + 1] - ends[i]]
