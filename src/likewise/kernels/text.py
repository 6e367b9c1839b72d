"""Normalization of UTF-8 by a table over code points, ASCII 64 bytes at a time.

An entry of the table is the code point that a character becomes, and flags for characters that are not that simple. The tables are made by
items/tables.py. Texts that no table can normalize are handed back (HARD) to items/normalize.py.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.blocks import BLOCK, always, between64, bit_length, copy64, count_bits, low_bits, lowest_bit
from likewise.kernels.places import became, copied, extended, in_text
from likewise.kernels.utf8 import decode, encode

CODE = np.uint32(0x1FFFFF)  # the bits of an entry that hold the code point
HARD, DROP, SPACE, LINE_END, DIGIT, MARK, JOINS_BACK, JOINS_ON, CASE, CASED, IGNORED = (np.uint32(1 << bit) for bit in range(21, 32))
#: HARD        becomes several characters, or depends on its neighbors
#: DROP        is removed
#: SPACE       is white space that collapses          LINE_END  \r or \n, where lines are kept
#: DIGIT       forms a run that becomes one digit
#: MARK        matters to the order or composition of marks (Unicode normal forms): has a combining class, or JOINS_BACK
#: JOINS_BACK  may compose with a character before it JOINS_ON  may compose with one after it
#: CASE        Σ and İ, whose lower case is not one fixed code point: see ``lower``
#: CASED, IGNORED  next to a Σ: counts as a letter, or is skipped
NOT_SIMPLE = HARD | DROP | SPACE | LINE_END | DIGIT | MARK | CASE

#: Flags of the normalization beside the table. COPY: nothing changes. MERGED: white space collapses, within LINES.
#: BLOCKS: ASCII may be processed in blocks, with A-Z LOWERED.
COPY, MERGED, LINES, BLOCKS, LOWERED = 1, 2, 4, 8, 16

SPARE = 2 * BLOCK  # bytes after the last text that later kernels may access
NEWLINE, RETURN, BLANK = 10, 13, 32
CAPITAL_SIGMA, SMALL_SIGMA, SMALL_FINAL_SIGMA, SMALL_I, DOT_ABOVE = (np.uint32(ord(char)) for char in "Σσςi\u0307")


@kernel
def normalize(data, start, length, table, ranks, manner, out, pieces):
    """Normalize the texts data[start[i] : start[i] + length[i]], UTF-8, one after the other into ``out``, or into a new array if that is too small.

    table: uint32[0x110000], flags above. ranks: uint8[0x110000], combining classes. manner: the flags COPY to LOWERED.
    pieces: None, or int64[m, 3], one for each byte and each text, to be filled; see kernels.places.
    Returns (out, with at least SPARE bytes after the last text; start int64[n]; length int64[n]; code points read uint32[n]; handed back bool[n];
    the borders of the texts in ``pieces``, int64[n + 1]). A text that is handed back keeps its old length as free space, and has no pieces.
    """
    count = start.size
    most = 0
    for size in length:
        most += size
    most = most * 3 // 2 + SPARE  # Ⱥ has two bytes, ⱥ three; nothing grows more
    if out.size < most:
        out = np.empty(most, np.uint8)
    out_start = np.empty(count, np.int64)
    out_length = np.empty(count, np.int64)
    chars = np.empty(count, np.uint32)
    hard = np.zeros(count, np.bool_)
    borders = np.zeros(count + 1, np.int64)
    to = 0
    for item in range(count):
        at, size = start[item], length[item]
        out_start[item] = to
        low = high = borders[item]
        if manner & COPY:
            copy_bytes(data, at, size, out, to)
            chars[item] = count_chars(out, to, size)
            high = copied(pieces, low, low, to, at)
        else:
            end, chars[item], hard[item], high = one_text(data, at, at + size, table, ranks, manner, out, to, pieces, low)
            size = size if hard[item] else end - to
            high = low if hard[item] else high
        in_text(pieces, low, high, to, at)
        borders[item + 1] = high
        out_length[item] = size
        to += size
    return out, out_start, out_length, chars, hard, borders


@inline
def copy_bytes(data, at, size, out, to):
    """Copy data[at : at + size] to out[to:]."""
    source, target = data[at : at + size], out[to : to + size]
    for i in range(size):
        target[i] = source[i]


@kernel
def count_codes(data, start, length):
    """The number of code points of each text data[start[i] : start[i] + length[i]], UTF-8: uint32[n]."""
    counts = np.empty(start.size, np.uint32)
    for item in range(start.size):
        bytes_ = data[start[item] : start[item] + length[item]]
        count = 0
        for i in range(bytes_.size):
            count += bytes_[i] & 0xC0 != 0x80
        counts[item] = count
    return counts


@inline
def count_chars(out, at, length):
    """The number of code points in UTF-8: the bytes that are not continuation bytes."""
    count = length
    for block in range(at, at + length, BLOCK):
        count -= count_bits(between64(out, block, 0x80, 0xBF) & low_bits(at + length - block))
    return count


@inline
def one_text(data, at, end, table, ranks, manner, out, to, pieces, low):
    """Normalize one text to out[to:]. Returns (index after it, code points read, whether it is handed back, the end of its pieces)."""
    first, begin = at, to
    high = low
    chars = 0
    starter = np.uint32(0)  # entry of the last character that is not a mark
    rank = np.uint8(0)  # combining class of the last character
    run = False  # the last character was a digit of a run
    returned = False  # the last character was \r
    while at < end:
        stop = end
        if manner & BLOCKS and at + BLOCK <= data.size:
            other = between64(data, at, 0x80, 0xFF) & low_bits(end - at)
            size = min(lowest_bit(other), end - at)
            if size >= 8 or other == 0:
                kept, left_out = ascii_prefix(data, at, size, manner, at_edge(out, begin, to))
                copy64(data, at, out, to, manner & LOWERED != 0, manner & MERGED != 0)
                if kept:
                    high = copied(pieces, low, high, to, at)
                to += kept
                at += kept + left_out
                chars += kept + left_out
                if kept + left_out:
                    starter, rank, returned = table[data[at - 1]], np.uint8(0), False
                    continue
                stop = at + 1
            else:
                stop = at + bit_length(other)
        while at < stop:
            code, size = decode(data, at)
            at += size
            chars += 1
            entry = table[code]
            if not entry & NOT_SIMPLE:
                starter, rank, run, returned = entry, np.uint8(0), False, False
                to, high = written(entry & CODE, out, to, at - size, at, pieces, low, high)
                continue
            if entry & HARD:
                return to, chars, True, high
            if entry & MARK:
                last, rank = rank, ranks[code]
                if (entry & JOINS_BACK and starter & JOINS_ON) or (rank and rank < last):
                    return to, chars, True, high
            else:
                rank = np.uint8(0)
            if rank == 0:
                starter = entry
            if entry & DROP:
                continue
            if entry & LINE_END:
                if to > begin and out[to - 1] == BLANK:
                    to -= 1
                if code == RETURN or not returned:  # \r\n is one line end
                    to, high = written(NEWLINE, out, to, at - size, at, pieces, low, high)
            elif entry & SPACE:
                if not at_edge(out, begin, to):
                    to, high = written(BLANK, out, to, at - size, at, pieces, low, high)
            elif entry & CASE:
                high = became(pieces, low, high, to, at - size, at)
                to = lower(data, first, at - size, at, end, table, out, to)
            elif not entry & DIGIT:
                to, high = written(entry & CODE, out, to, at - size, at, pieces, low, high)
            elif run:
                extended(pieces, high, at)
            else:
                high = became(pieces, low, high, to, at - size, at)
                to = encode(entry & CODE, out, to)
            returned = entry & LINE_END and code == RETURN
            run = entry & DIGIT != 0
    if manner & MERGED and to > begin and out[to - 1] == BLANK:
        to -= 1
    return to, chars, False, high


@always
def written(code, out, to, at, end, pieces, low, high):
    """Write the code point that data[at:end] becomes, and its piece: (index after it in ``out``, end of the pieces)."""
    after = encode(np.uint32(code), out, to)
    if after - to == end - at:
        return after, copied(pieces, low, high, to, at)
    return after, became(pieces, low, high, to, at, end)


@inline
def lower(data, first, at, after, end, table, out, to):
    """Write the lower case of Σ or İ: ς after a letter and not before one, else σ; i and a dot. The same as str.lower()."""
    if decode(data, at)[0] != CAPITAL_SIGMA:
        return encode(DOT_ABOVE, out, encode(SMALL_I, out, to))
    before = behind = IGNORED  # entries of the nearest characters that are not skipped
    while at > first and before & IGNORED:
        at -= 1
        if data[at] & 0xC0 != 0x80:
            before = table[decode(data, at)[0]]
    while after < end and behind & IGNORED:
        code, size = decode(data, after)
        after += size
        behind = table[code]
    return encode(SMALL_FINAL_SIGMA if before & CASED and not behind & CASED else SMALL_SIGMA, out, to)


@always
def at_edge(out, begin, to):
    """True where white space is left out: at the start, after white space, after a line end."""
    return to == begin or out[to - 1] == BLANK or out[to - 1] == NEWLINE


@always
def ascii_prefix(data, at, size, manner, edge):
    """How many bytes of a block of ASCII can be copied, and how many bytes of white space after them are left out."""
    if not manner & MERGED:
        return size, 0
    if manner & LINES:
        line_ends = between64(data, at, NEWLINE, NEWLINE) | between64(data, at, RETURN, RETURN)
        size = min(size, lowest_bit(line_ends))
        if size == 0:
            return 0, 0
    space = (between64(data, at, 0x09, 0x0D) | between64(data, at, 0x1C, 0x20)) & low_bits(size)
    surplus = space & (space << np.uint64(1) | np.uint64(edge))
    if surplus == 0:
        return size, 0
    kept = lowest_bit(surplus)
    return kept, lowest_bit(~(surplus >> np.uint64(kept)))
