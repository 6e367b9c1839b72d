"""Ascending words in few bits each: the code of Elias and Fano (Fano, On the number of bits required to implement an associative memory, 1971).

The upper ``bits`` of each word are kept. Their lower part stands as it is, in so many bits that about one word is left for each value of the upper
part. The upper parts stand in unary: word k of a set is bit (its upper part + k) of a string of bits. Sets of 196 words of 48 bits take 5.3 bytes a
word. A set begins at a byte: first the lower parts, then the string.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.bytes import first_bit
from likewise.kernels.hashing import load64

#: Bytes after the last set, which may be read.
SPARE = 8
#: Eight bytes from a byte on hold a lower part of so many bits, at whatever bit it begins.
MOST_LOW = 56


@inline
def low_bits(size, bits):
    """The bits of the lower part of each word of a set of ``size`` words, at least 1."""
    upper = 0
    while size > 1 << upper:
        upper += 1
    return min(max(bits - upper, 0), MOST_LOW)


@kernel
def measure(words, sizes, bits, ends):
    """Write where the code of each set ends, ends int64[n]. Returns False if a set does not ascend. words: uint64[m]; sizes: uint32[n]."""
    at, end = np.int64(0), np.int64(0)
    away = np.uint64(64 - bits)
    for i in range(sizes.size):
        size = np.int64(sizes[i])
        for k in range(at + 1, at + size):
            if words[k] < words[k - 1]:
                return False
        if size:
            low = low_bits(size, bits)
            last = np.int64((words[at + size - 1] >> away) >> np.uint64(low))
            end += (size * low + 7) // 8 + (last + size + 7) // 8
        ends[i] = end
        at += size
    return True


@kernel
def encode(words, sizes, bits, ends, data):
    """Write the codes of sets into data, uint8[ends[-1]], zeros. Arguments as in `measure`."""
    at = np.int64(0)
    away = np.uint64(64 - bits)
    for i in range(sizes.size):
        size = np.int64(sizes[i])
        if size == 0:
            continue
        begin = ends[i - 1] if i else np.int64(0)
        low = low_bits(size, bits)
        upper = begin + (size * low + 7) // 8
        mask = (np.uint64(1) << np.uint64(low)) - np.uint64(1)
        for k in range(size):
            word = words[at + k] >> away
            place = np.int64(word >> np.uint64(low)) + k
            data[upper + (place >> 3)] |= np.uint8(1 << (place & 7))
            bit = k * low
            rest, byte = (word & mask) << np.uint64(bit & 7), begin + (bit >> 3)
            while rest:
                data[byte] |= np.uint8(rest & np.uint64(255))
                rest >>= np.uint64(8)
                byte += 1
        at += size


@inline
def decode(data, begin, end, size, bits, out):
    """Write the words of one set, uint64[size]; lost bits are 0. Returns False if it is damaged.

    data: uint8, with `SPARE` bytes after the last set. begin, end: its bytes. Nothing outside is read.
    """
    if size == 0:
        return True
    away = np.uint64(64 - bits)
    low = low_bits(size, bits)
    byte = begin + (size * low + 7) // 8
    if begin < 0 or byte > end or end > data.size - SPARE:
        return False
    mask = (np.uint64(1) << np.uint64(low)) - np.uint64(1)
    k, base = 0, 0
    while k < size and byte < end:
        left = load64(data, byte)
        if end - byte < 8:
            left &= (np.uint64(1) << np.uint64(8 * (end - byte))) - np.uint64(1)
        while left and k < size:
            upper = np.uint64(base + first_bit(np.int64(left)) - k)
            bit = k * low
            lower = load64(data, begin + (bit >> 3)) >> np.uint64(bit & 7) & mask
            out[k] = (upper << np.uint64(low) | lower) << away
            left &= left - np.uint64(1)
            k += 1
        byte += 8
        base += 64
    return k == size
