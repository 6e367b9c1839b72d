"""MinHash signatures in near-linear time ("OPH-fill") or by the textbook's k functions, and the band keys of both.

OPH-fill: one round of one-permutation hashing puts each element into one slot, and a slot keeps its minimum. Each empty slot is then filled by a
MinHash of its own over all elements, marked by a high bit, so that any hit sorts below any fill. So each slot takes its minimum in one fixed
order of all possible elements: two sets agree in it with probability Jaccard, at every set size, and the signature of a union is the elementwise
minimum of signatures. It is Fast Similarity Sketching (Dahlgaard, Knudsen and Thorup, arXiv 1704.04370) cut to one round. Classic: no round of
hits, all slots are filled; k independent multiply-shift functions.

Elements are always mixed under the key first, so that consecutive integers do as well as random words. A set may repeat elements.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.hashing import mix64, multiply_fold

#: Identifies this computation of slots and band keys in manifests: if the value of any slot or key changes, so must the name.
SCHEME = "oph-fill-1"
#: Every slot of an empty set. It is above every other value, so that an empty set is neutral in a merge.
EMPTY = 0xFFFFFFFF
FILLED = 0x80000000

LANES = 16  # the fill loop runs over whole vectors of slots
WORDS = 4  # and over this many elements at once, which saves loads and stores of slots

GOLDEN = 0x9E3779B97F4A7C15  # odd, arbitrary constants that separate the streams of one key
FILL = 0xD1B54A32D192ED03
BAND = 0x8CB92BA72F3D8DD7
FOLD = 0xA0761D6478BD642F


@inline
def functions(slots, key):
    """The fill functions x -> multiplier * x + addend mod 2^32, multipliers odd: uint32[slots] and uint32[slots]."""
    multipliers = np.empty(slots, np.uint32)
    addends = np.empty(slots, np.uint32)
    for j in range(slots):
        bits = mix64(mix64(key ^ np.uint64(FILL)) + np.uint64(GOLDEN) * np.uint64(j + 1))
        multipliers[j] = np.uint32(bits) | np.uint32(1)
        addends[j] = np.uint32(bits >> np.uint64(32))
    return multipliers, addends


@always
def hit(mixed, size, row):
    """Put each mixed element into one slot of ``row``: its high half selects the slot, its low 31 bits are the value."""
    slots = np.uint64(row.size)
    row[:] = np.uint32(EMPTY)
    for i in range(size):
        slot = ((mixed[i] >> np.uint64(32)) * slots) >> np.uint64(32)
        row[slot] = min(row[slot], np.uint32(mixed[i]) & np.uint32(FILLED - 1))


@always
def fill(mixed, size, count, multipliers, addends, least, words):
    """Fill least[c] with the minimum over the elements of multipliers[c] * word + addends[c] mod 2^32, for c < count rounded up to LANES.

    The word is a second mix of the element, so that its bits are independent of those that selected slot and value.
    """
    padded = (count + LANES - 1) // LANES * LANES
    for c in range(padded):
        least[c] = np.uint32(EMPTY)
    for i in range(size):
        words[i] = np.uint32(mix64(mixed[i] ^ np.uint64(FILL)) >> np.uint64(32))
    for i in range(size, size + WORDS):
        words[i] = words[size - 1]  # repeats of an element do not change a minimum
    for i in range(0, size, WORDS):
        w0, w1, w2, w3 = words[i], words[i + 1], words[i + 2], words[i + 3]
        for c in range(padded):
            multiplier, addend = multipliers[c], addends[c]
            first = min(np.uint32(multiplier * w0 + addend), np.uint32(multiplier * w1 + addend))
            second = min(np.uint32(multiplier * w2 + addend), np.uint32(multiplier * w3 + addend))
            least[c] = min(least[c], first, second)


@inline
def scratch(slots, offsets):
    """Scratch arrays for one set after the other: mixed, words, empty, chosen multipliers, chosen addends, least."""
    padded = slots + LANES
    longest = 0
    for i in range(offsets.size - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    return (
        np.empty(longest, np.uint64),
        np.empty(longest + WORDS, np.uint32),
        np.empty(slots, np.int64),
        np.zeros(padded, np.uint32),
        np.zeros(padded, np.uint32),
        np.empty(padded, np.uint32),
    )


@always
def sign(values, begin, end, key, classic, multipliers, addends, row, work):
    """Fill ``row``, uint32[slots], with the signature of values[begin:end]."""
    mixed, words, empty, chosen_multipliers, chosen_addends, least = work
    size = end - begin
    if size == 0:
        row[:] = np.uint32(EMPTY)
        return
    for i in range(size):  # this loop is vectorized, unlike the scattered minima
        mixed[i] = mix64(values[begin + i] ^ key)
    if classic:
        fill(mixed, size, row.size, multipliers, addends, least, words)
        for j in range(row.size):
            row[j] = least[j]
        return
    hit(mixed, size, row)
    count = 0
    for j in range(row.size):  # without a branch: empty slots cannot be predicted
        empty[count] = j
        chosen_multipliers[count] = multipliers[j]
        chosen_addends[count] = addends[j]
        count += row[j] == np.uint32(EMPTY)
    if count == 0:
        return
    fill(mixed, size, count, chosen_multipliers, chosen_addends, least, words)
    for c in range(count):
        row[empty[c]] = (least[c] >> np.uint32(1)) | np.uint32(FILLED)


@always
def band_key(slots, begin, end, key):
    """64-bit hash of slots[begin:end], ordered and mixed. A sum would not do: sums of small minima concentrate and collide."""
    state = key
    for j in range(begin, end - 1, 2):
        state = multiply_fold(state ^ (np.uint64(slots[j]) << np.uint64(32) | np.uint64(slots[j + 1])), np.uint64(FOLD))
    if (end - begin) & 1:
        state = multiply_fold(state ^ np.uint64(slots[end - 1]), np.uint64(FOLD))
    return mix64(state)


@inline
def seeds_of_bands(bands, key):
    """The initial state of each band's key, uint64[bands]: equal slots in different bands give different keys."""
    seeds = np.empty(bands, np.uint64)
    for band in range(bands):
        seeds[band] = mix64(mix64(key ^ np.uint64(BAND)) + np.uint64(GOLDEN) * np.uint64(band + 1))
    return seeds


@kernel
def sketch(values, offsets, slots, key, classic):
    """Signatures, uint32[n, slots], of the sets values[offsets[i]:offsets[i + 1]].

    values: uint64[m]. offsets: int64[n + 1]. key: uint64. classic: k independent functions instead of OPH-fill.
    """
    n = offsets.size - 1
    key = mix64(key ^ np.uint64(GOLDEN))
    multipliers, addends = functions(slots + LANES, key)
    work = scratch(slots, offsets)
    out = np.empty((n, slots), np.uint32)
    for i in range(n):
        sign(values, offsets[i], offsets[i + 1], key, classic, multipliers, addends, out[i], work)
    return out


@kernel
def sketch_bands(values, offsets, slots, bands, rows, key, classic):
    """``band_keys(sketch(values, offsets, slots, key, classic), bands, rows, key)`` without the matrix in between: uint64[bands, n]."""
    n = offsets.size - 1
    seeds = seeds_of_bands(bands, mix64(key ^ np.uint64(GOLDEN)))
    key = mix64(key ^ np.uint64(GOLDEN))
    multipliers, addends = functions(slots + LANES, key)
    work = scratch(slots, offsets)
    row = np.empty(slots, np.uint32)
    out = np.empty((bands, n), np.uint64)
    for i in range(n):
        sign(values, offsets[i], offsets[i + 1], key, classic, multipliers, addends, row, work)
        for band in range(bands):
            out[band, i] = band_key(row, band * rows, (band + 1) * rows, seeds[band])
    return out


@kernel
def band_keys(signatures, bands, rows, key):
    """The key of each band of each signature: uint64[bands, n]. signatures: uint32[n, at least bands * rows]."""
    n = signatures.shape[0]
    seeds = seeds_of_bands(bands, mix64(key ^ np.uint64(GOLDEN)))
    out = np.empty((bands, n), np.uint64)
    for i in range(n):
        for band in range(bands):
            out[band, i] = band_key(signatures[i], band * rows, (band + 1) * rows, seeds[band])
    return out
