"""From normalized texts to sets of shingle fingerprints."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels import tokens
from likewise.kernels.blocks import BLOCK, between64, bit_length, low_bits
from likewise.kernels.digest import hash_bytes, hash_twice
from likewise.kernels.distinct import number_repeats, sort_distinct
from likewise.kernels.hashing import mix64
from likewise.kernels.ignored import leave_out
from likewise.kernels.places import traced
from likewise.kernels.utf8 import decode

WORDS, WHITESPACE, CHARS, LINES, PARAGRAPHS, STOPWORDS, BYTES, CODE, IDS = range(9)

TILE = 512  # shingles whose sums are built together: they stay in the first-level cache
STOP_SLOTS = 1024


@kernel
def shingle(data, start, length, unit, k, bag, classes, keys, factors, stops, ignored, begins, values):
    """Cut texts into tokens and shingles; fills values[: offsets[n]].

    Returns (token counts uint32[n], digests uint64[n, 2], offsets int64[n + 1], numbers of shingles with repeats, all and ignored, uint32[n, 2]).

    data: uint8, texts data[start[i] : start[i] + length[i]], with text.SPARE bytes more; it may be changed, as invisible characters are removed.
    unit: WORDS to IDS. k: tokens of a shingle. bag: repeats of a shingle become elements of their own. classes: the class of each character.
    keys: see kernels.digest. factors: a random odd uint64 for each place in a shingle, and one more. stops: see `is_stop`.
    ignored, begins: shingles that are left out, with all their repeats; see kernels.ignored.
    values: uint64, room for one shingle a byte; the set of text i, ascending and distinct, is values[offsets[i]:offsets[i + 1]].
    """
    items = start.size
    longest = 0
    for item in range(items):
        longest = max(longest, length[item])
    token_count = np.empty(items, np.uint32)
    copy = np.empty((items, 2), np.uint64)
    offsets = np.zeros(items + 1, np.int64)
    numbers = np.zeros((items, 2), np.uint32)
    starts, ends = np.empty(longest + 65, np.int64), np.empty(longest + 65, np.int64)
    hashes, prints = np.empty(longest + 1, np.uint64), np.empty(longest + 1, np.uint64)
    places = np.empty(2 * longest + 2, np.uint32)
    seen = np.empty(2 * longest + 2 if bag else 0, np.uint64)
    for item in range(items):
        begin, end = start[item], start[item] + length[item]
        copy[item, 0], copy[item, 1] = hash_twice(data, begin, end - begin, keys)
        count = token_hashes(data, begin, end, unit, classes, keys, starts, ends, hashes, None)
        token_count[item] = count
        if unit == STOPWORDS:
            found = anchored(hashes, count, k, factors, stops, prints)
        else:
            found = consecutive(hashes, count, k, factors, prints)
        numbers[item, 0] = found
        if ignored.size:
            found = leave_out(prints, found, ignored, begins)
            numbers[item, 1] = numbers[item, 0] - np.uint32(found)
        if bag:
            number_repeats(prints, found, seen, places)
        offsets[item + 1] = offsets[item] + sort_distinct(prints, found, places, values[offsets[item] :])
    return token_count, copy, offsets, numbers


@kernel
def place(data, start, length, unit, classes, keys, hashes, begin, end):
    """Hash and place the tokens of texts, like `shingle`; not of BYTES. hashes, begin, end: room for a token a byte, and 65 more.

    Returns offsets int64[n + 1]: the tokens of text i are offsets[i]:offsets[i + 1], and begin[j]:end[j] is the place of one in its text as it was.
    """
    longest = 0
    for size in length:
        longest = max(longest, size)
    pieces = np.empty((longest, 3), np.int64)
    offsets = np.zeros(start.size + 1, np.int64)
    for item in range(start.size):
        low, first, last = offsets[item], start[item], start[item] + length[item]
        starts, ends = begin[low:], end[low:]
        count = token_hashes(data, first, last, unit, classes, keys, starts, ends, hashes[low:], pieces)
        if unit == CHARS:
            borders(data, first, last, starts, ends)
        for i in range(count):
            starts[i] -= first
            ends[i] -= first
        offsets[item + 1] = low + count
    return offsets


@inline
def borders(data, begin, end, starts, ends):
    """Begin and end of each character of data[begin:end]."""
    count = 0
    for at in range(begin, end):
        if data[at] & 0xC0 != 0x80:
            starts[count] = at
            count += 1
        ends[count - 1] = at + 1


@inline
def token_hashes(data, begin, end, unit, classes, keys, starts, ends, out, pieces):
    """Write the 64-bit hash of each token of a text to ``out`` and return their number.

    Except of BYTES and CHARS, starts and ends become those of the tokens: in ``data``, from which invisible characters may have been removed, or in
    ``data`` as it was if ``pieces`` is not None but room, int64[m, 3], one for each byte.
    """
    if unit == BYTES:
        bytes_, words = data[begin:end], out[: end - begin]
        for i in range(words.size):
            words[i] = spread(bytes_[i], keys[0])
        return end - begin
    if unit == CHARS:
        return code_points(data, begin, end, keys[0], out)
    count = cut(data, begin, end, unit, classes, starts, ends)
    found = 0
    if count == tokens.AGAIN:
        end, found = tokens.take_out(data, begin, end, classes, pieces)
        count = cut(data, begin, end, unit, classes, starts, ends)
    for i in range(count):
        out[i] = hash_bytes(data, starts[i], ends[i] - starts[i], keys)
    if pieces is not None and found:
        traced(pieces, 0, found, starts[:count], ends[:count])
    return count


@always
def spread(number, key):
    """A small number as a 64-bit word, distinct for each.

    Small numbers differ by multiples of powers of two, and so would the sums that they go into, by as many zeros at the end: shingles of such
    characters would collide far more often than once in 2^64.
    """
    word = np.uint64(number) * key
    return word ^ word >> np.uint64(32)


@inline
def code_points(data, at, end, key, out):
    """Write the word of each code point of data[at:end] to ``out`` and return their number."""
    count = 0
    while at < end:
        other = between64(data, at, 0x80, 0xFF) & low_bits(end - at)
        if other == 0:
            size = min(BLOCK, end - at)
            bytes_, codes = data[at : at + size], out[count : count + size]
            for i in range(size):
                codes[i] = spread(bytes_[i], key)
            count += size
            at += size
            continue
        stop = at + bit_length(other)
        while at < stop:
            code, size = decode(data, at)
            out[count] = spread(code, key)
            count += 1
            at += size
    return count


@inline
def cut(data, begin, end, unit, classes, starts, ends):
    """Find the tokens of a text of a unit that has begins and ends; see kernels.tokens."""
    if unit == IDS:
        for i in range((end - begin) // 8):
            starts[i] = begin + 8 * i
            ends[i] = begin + 8 * i + 8
        return (end - begin) // 8
    if unit == CODE:
        return tokens.code_tokens(data, begin, end, classes, starts, ends)
    if unit == LINES or unit == PARAGRAPHS:
        return tokens.lines(data, begin, end, classes, unit == PARAGRAPHS, starts, ends)
    return tokens.runs(data, begin, end, classes, unit == WHITESPACE, starts, ends)


@inline
def consecutive(hashes, count, k, factors, out):
    """Write the fingerprints of each k consecutive tokens and return their number. Fewer than k tokens are one shingle."""
    if count < k:
        return whole(hashes, count, factors[k], out)
    found = count - k + 1
    for low in range(0, found, TILE):
        sums = out[low : min(low + TILE, found)]
        for i in range(sums.size):
            sums[i] = factors[k]
        place = 0
        while place + 4 <= k:  # four at once, so that a sum is loaded and stored once for them
            add_four(sums, hashes[low + place :], factors[place : place + 4])
            place += 4
        while place < k:
            column, factor = hashes[low + place :], factors[place]
            for i in range(sums.size):
                sums[i] += column[i] * factor
            place += 1
        for i in range(sums.size):
            sums[i] = mix64(sums[i])
    return found


@always
def add_four(sums, column, factors):
    """Add four consecutive columns times their factors to the sums."""
    second, third, fourth = column[1:], column[2:], column[3:]
    a, b, c, d = factors[0], factors[1], factors[2], factors[3]
    for i in range(sums.size):
        sums[i] += column[i] * a + second[i] * b + third[i] * c + fourth[i] * d


@inline
def whole(hashes, count, key, out):
    """Write one fingerprint of all tokens in order, distinct for each number of tokens; return 1, or 0 without tokens."""
    state = key
    for i in range(count):
        state = mix64(state * key + hashes[i])
    out[0] = state
    return min(count, 1)


@inline
def anchored(hashes, count, k, factors, stops, out):
    """Write the fingerprints of each stop word with the k tokens after it and return their number; without any, one of all tokens."""
    found = 0
    for i in range(count - k):
        if is_stop(mix64(hashes[i] * factors[0] + factors[1]), stops):
            total = factors[k + 1]
            for place in range(k + 1):
                total += hashes[i + place] * factors[place]
            out[found] = mix64(total)
            found += 1
    return found if found else whole(hashes, count, factors[k + 1], out)


@inline
def is_stop(value, stops):
    """True if a shingle of one word is that of a stop word. stops: uint64[STOP_SLOTS], each at its top bits or later; 0 where empty."""
    slot = value >> np.uint64(54)
    while stops[slot] != 0 and stops[slot] != value:
        slot = (slot + np.uint64(1)) % np.uint64(STOP_SLOTS)
    return stops[slot] != 0
