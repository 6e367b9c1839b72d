"""b-bit MinHash: b bits of each slot, packed (Li and König 2010). 128 slots take 128 bytes with 8 bits and 16 bytes with 1 bit.

The bits are those of a hash of slot and value, not the lowest bits of the value. Values come from multiply-shift functions x -> a x + b, whose
lowest bits two given elements share in all slots or in none: the fraction of agreeing slots would be 0 or 1.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.blocks import count_bits
from likewise.kernels.hashing import load64, mix64

#: Identifies this choice of bits in manifests.
SCHEME = "bits-1"
BITS = 0xE7037ED1A0B428DB  # an arbitrary constant that separates this stream from others of the same key

#: The lowest bit of each group of so many bits in a 64-bit word.
LOWEST = {bits: (2**64 - 1) // (2**bits - 1) for bits in (1, 2, 4, 8, 16)}


@kernel
def pack(signatures, bits, seed):
    """Packed b-bit codes, uint8[n, ceil(slots * bits / 8)], of signatures uint32[n, slots].

    bits: 1, 2, 4, 8 or 16. The first slot is in the lowest bits of the first byte; groups of 16 bits are little endian.
    """
    n, slots = signatures.shape
    key = mix64(seed ^ np.uint64(BITS))
    out = np.zeros((n, (slots * bits + 7) // 8), np.uint8)
    groups = np.empty(slots, np.uint16)
    for i in range(n):
        for slot in range(slots):
            word = np.uint64(slot) << np.uint64(32) | np.uint64(signatures[i, slot])
            groups[slot] = mix64(word ^ key) >> np.uint64(64 - bits)
        for slot in range(slots):
            at = slot * bits
            out[i, at >> 3] |= np.uint8(groups[slot] << (at & 7))
            if bits == 16:
                out[i, 2 * slot + 1] = groups[slot] >> 8
    return out


@inline
def unequal(word, bits, lowest):
    """The number of groups of ``bits`` bits that are not 0: each is folded onto its lowest bit."""
    shift = 1
    while shift < bits:
        word |= word >> np.uint64(shift)
        shift *= 2
    return count_bits(word & lowest)


@kernel
def agreeing(a, b, rows, slots, bits, lowest):
    """The number of slots that agree in the i-th rows of two packed arrays: int64[rows].

    a, b: uint8[rows, width]; either may have a single row, which is compared with each row of the other. lowest: LOWEST[bits].
    """
    width = a.shape[1]
    left, right = a.reshape(a.size), b.reshape(b.size)
    whole = width // 8 * 8
    out = np.empty(rows, np.int64)
    for i in range(rows):
        x, y = min(i, len(a) - 1) * width, min(i, len(b) - 1) * width
        count = slots
        for at in range(0, whole, 8):
            count -= unequal(load64(left, x + at) ^ load64(right, y + at), bits, lowest)
        rest = np.uint64(0)
        for at in range(whole, width):
            rest = rest << np.uint64(8) | np.uint64(left[x + at] ^ right[y + at])
        out[i] = count - unequal(rest, bits, lowest)
    return out
