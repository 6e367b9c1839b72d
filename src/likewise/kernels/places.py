"""Where the bytes of a changed text come from, as pieces; and tokens of a changed text as places in its source.

A piece is a row of int64[m, 3]: its first byte in the changed text, the first byte of its source, and COPIED, or the end of its source. Byte i of a
COPIED piece comes from byte i of its source; of any other, all bytes come from all of its source. A piece ends where the next one begins. Functions
that change texts take ``pieces``, or None where nobody asks: they are then compiled without. Bytes that no piece has were left out.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel

COPIED = -1


@always
def copied(pieces, low, count, to, at):
    """Record that the bytes from ``to`` on were copied from source[at:]. The pieces of this text begin at index ``low``; returns their end."""
    if pieces is None:
        return count
    count = retracted(pieces, low, count, to)
    if count > low and pieces[count - 1, 2] == COPIED and pieces[count - 1, 1] - pieces[count - 1, 0] == at - to:
        return count
    pieces[count, 0], pieces[count, 1], pieces[count, 2] = to, at, COPIED
    return count + 1


@always
def became(pieces, low, count, to, at, end):
    """Record that source[at:end] became the bytes from ``to`` on, like `copied`."""
    if pieces is None:
        return count
    count = retracted(pieces, low, count, to)
    pieces[count, 0], pieces[count, 1], pieces[count, 2] = to, at, end
    return count + 1


@always
def retracted(pieces, low, count, to):
    """The end of the pieces after those were taken back that begin at ``to`` or later: a blank at the end of a line is."""
    while count > low and pieces[count - 1, 0] >= to:
        count -= 1
    return count


@always
def extended(pieces, count, end):
    """Record that the last piece, not COPIED, also comes from the source up to ``end``."""
    if pieces is not None:
        pieces[count - 1, 2] = end


@inline
def in_text(pieces, low, count, to, at):
    """Make the pieces of a text relative to its begin, ``to``, and to that of its source, ``at``."""
    if pieces is not None:
        for piece in range(low, count):
            pieces[piece, 0] -= to
            pieces[piece, 1] -= at
            if pieces[piece, 2] != COPIED:
                pieces[piece, 2] -= at


@inline
def traced(pieces, low, high, begin, end):
    """Replace ascending places in a text, begin[i]:end[i], by those in its source. A place has at least one byte."""
    first = last = low
    for i in range(begin.size):
        while first + 1 < high and pieces[first + 1, 0] <= begin[i]:
            first += 1
        while last + 1 < high and pieces[last + 1, 0] < end[i]:
            last += 1
        begin[i] = pieces[first, 1] + (begin[i] - pieces[first, 0] if pieces[first, 2] == COPIED else 0)
        end[i] = pieces[last, 1] + end[i] - pieces[last, 0] if pieces[last, 2] == COPIED else pieces[last, 2]


@kernel
def trace(pieces, borders, offsets, begin, end):
    """Replace the places of the tokens of each text, offsets[i]:offsets[i + 1], by those in its source. Its pieces are borders[i]:borders[i + 1]."""
    for item in range(offsets.size - 1):
        own = slice(offsets[item], offsets[item + 1])
        traced(pieces, borders[item], borders[item + 1], begin[own], end[own])


MATCH, AFTER_MATCH = 0xFF, 0xFE  # no byte of UTF-8


@kernel
def matches(data, start, length, pieces):
    """The pieces of texts in which each match, MATCH ... AFTER_MATCH in ``data``, was replaced by one byte. Returns borders int64[n + 1]."""
    borders = np.zeros(start.size + 1, np.int64)
    count = 0
    for item in range(start.size):
        low = count
        to = at = 0  # in the text as replaced, and as it was
        match = -1  # where the match begins that we are in
        for byte in data[start[item] : start[item] + length[item]]:
            if byte == MATCH:
                match = at
            elif byte == AFTER_MATCH:
                count = became(pieces, low, count, to, match, at)
                to += 1
                match = -1
            else:
                if match < 0:
                    count = copied(pieces, low, count, to, at)
                    to += 1
                at += 1
        borders[item + 1] = count
    return borders


@kernel
def code_points(data, start, rows, places):
    """The number of code points before each place, int64[m], in bytes of text rows[i], data[start[row]:]. Ascending by row and place: in one pass."""
    out = np.empty(rows.size, np.int64)
    row = -1
    at = count = 0
    for i in range(rows.size):
        if rows[i] != row or places[i] < at:
            row, at, count = rows[i], 0, 0
        bytes_ = data[start[row] + at : start[row] + places[i]]
        for byte in bytes_:
            count += byte & 0xC0 != 0x80
        at = places[i]
        out[i] = count
    return out
