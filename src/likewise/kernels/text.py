"""Normalisation of UTF-8 by a table over code points, ASCII 64 bytes at a time.

An entry of the table is the code point that a character becomes, and the reasons why a character is not that simple.
The tables are made by items/tables.py. Texts that no table can normalise are handed back (HARD) for items/normalize.py.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.blocks import BLOCK, between64, bit_length, copy64, count_bits, low_bits, lowest_bit
from likewise.kernels.jit import inline, kernel
from likewise.kernels.utf8 import decode, encode

CODE = np.uint32(0x1FFFFF)  # the bits of an entry that hold the code point
HARD, DROP, SPACE, LINE_END, DIGIT, MARK, JOINS_BACK, JOINS_ON = (np.uint32(1 << bit) for bit in range(21, 29))
#: HARD        several characters, or depends on its neighbours
#: DROP        nothing is left of it
#: SPACE       white space that collapses            LINE_END  \r or \n, where lines are kept
#: DIGIT       a run of these becomes one
#: MARK        matters to the order or composition of marks (Unicode normal forms): has a combining class, or JOINS_BACK
#: JOINS_BACK  may compose with a character before it JOINS_ON  may compose with one after it
NOT_SIMPLE = HARD | DROP | SPACE | LINE_END | DIGIT | MARK

#: How ASCII can be done: COPY, nothing changes at all; else by BLOCKS, with A-Z LOWERED, white space MERGED, within LINES.
COPY, BLOCKS, LOWERED, MERGED, LINES = 1, 2, 4, 8, 16

SPARE = 2 * BLOCK  # bytes after the last text that later kernels may touch
NEWLINE, RETURN, BLANK = 10, 13, 32


@kernel
def normalise(data, start, length, table, ranks, ascii):
    """Texts data[start : start + length] of UTF-8, normalised one after the other into one array.

    table: uint32[0x110000] as above; ranks: uint8[0x110000], the combining classes; ascii: the flags above.
    Returns (bytes with SPARE more, start, length, code points as read, whether handed back: nothing is written for these).
    """
    count = start.size
    out = np.empty(length.sum() + SPARE, np.uint8)
    out_start = np.empty(count, np.int64)
    out_length = np.empty(count, np.int64)
    chars = np.empty(count, np.uint32)
    hard = np.zeros(count, np.bool_)
    to = 0
    for item in range(count):
        at, end = start[item], start[item] + length[item]
        out_start[item] = to
        if ascii & COPY:
            out[to : to + length[item]] = data[at:end]
            chars[item] = count_chars(out, to, length[item])
            to += length[item]
        else:
            to, chars[item], hard[item] = one_text(data, at, end, table, ranks, ascii, out, to)
        out_length[item] = to - out_start[item]
    out[to:] = 0
    return out, out_start, out_length, chars, hard


@inline
def count_chars(out, at, length):
    """Code points: the bytes that do not continue one."""
    count = length
    for block in range(at, at + length, BLOCK):
        count -= count_bits(between64(out, block, 0x80, 0xBF) & low_bits(at + length - block))
    return count


@inline
def one_text(data, at, end, table, ranks, ascii, out, to):
    """Normalise one text to out[to:]. Returns (index after it, code points read, handed back?)."""
    begin = to
    chars = 0
    starter = np.uint32(0)  # the entry of the last character that is no mark
    rank = np.uint8(0)  # combining class of the last character
    pending = False  # white space was read since the last character
    run = False  # the last character stands for a run of digits
    returned = False  # the last character was \r
    while at < end:
        stop = end
        if ascii & BLOCKS and at + BLOCK <= data.size:
            other = between64(data, at, 0x80, 0xFF) & low_bits(end - at)
            size = min(lowest_bit(other), end - at)
            if size >= 8 or other == 0:
                if not ascii & MERGED or is_tidy(data, at, size, ascii, to == begin or out[to - 1] == NEWLINE):
                    if pending and not is_space(data[at]):
                        out[to] = BLANK
                        to += 1
                    copy64(data, at, out, to, ascii & LOWERED != 0, ascii & MERGED != 0)
                    at += size
                    to += size
                    chars += size
                    starter, rank = table[data[at - 1]], np.uint8(0)
                    returned = False
                    pending = ascii & MERGED != 0 and out[to - 1] == BLANK
                    to -= pending
                    continue
                stop = at + size
            else:
                stop = at + bit_length(other)
        while at < stop:
            code, size = decode(data, at)
            at += size
            chars += 1
            entry = table[code]
            if entry & NOT_SIMPLE:
                if entry & HARD:
                    return begin, chars, True
                if entry & MARK:
                    last, rank = rank, ranks[code]
                    if (entry & JOINS_BACK and starter & JOINS_ON) or (rank and rank < last):
                        return begin, chars, True
                    if rank == 0:
                        starter = entry
                else:
                    starter, rank = entry, np.uint8(0)
                if entry & DROP:
                    continue
                if entry & (SPACE | LINE_END):
                    run = False
                    if entry & SPACE:
                        pending = to > begin and out[to - 1] != NEWLINE
                        returned = False
                        continue
                    pending = False
                    if code == RETURN or not returned:  # \r\n is one line end
                        out[to] = NEWLINE
                        to += 1
                    returned = code == RETURN
                    continue
                if entry & DIGIT and run:
                    continue
                run = entry & DIGIT != 0
            else:
                starter, rank = entry, np.uint8(0)
                run = False
            returned = False
            if pending:
                out[to] = BLANK
                to += 1
                pending = False
            to = encode(entry & CODE, out, to)
    return to, chars, False


@inline
def is_space(byte):
    return 0x09 <= byte <= 0x0D or 0x1C <= byte <= 0x20


@inline
def is_tidy(data, at, size, ascii, fresh):
    """May a block of ASCII be copied as it is, white space and all? Not where white space would collapse, or be trimmed (``fresh``)."""
    live = low_bits(size)
    if ascii & LINES and (between64(data, at, NEWLINE, NEWLINE) | between64(data, at, RETURN, RETURN)) & live:
        return False
    space = (between64(data, at, 0x09, 0x0D) | between64(data, at, 0x1C, 0x20)) & live
    return space & space << np.uint64(1) == 0 and not (fresh and space & np.uint64(1))
