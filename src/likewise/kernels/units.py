"""Documents cut into lines or paragraphs, and what becomes of a document whose units were removed."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.bytes import equal32, first_bit
from likewise.kernels.utf8 import decode

LF, CR = 10, 13


@kernel
def split(data, offsets, paragraphs, blank):
    """Cut the texts data[offsets[i]:offsets[i + 1]], UTF-8, into lines or paragraphs: (number uint32[n], size, content int64[m], chars uint32[m]).

    A line owns its line end: LF, CRLF or CR. With ``paragraphs``, consecutive lines that are not blank are one unit, which owns the blank lines after
    it; blank lines at the beginning are a unit without content. blank: bool by code point, the characters of blank lines.
    size: bytes of each unit. content: bytes of it without the line end, or the blank lines, behind it. chars: code points.
    """
    n = offsets.size - 1
    most = n
    for byte in data[offsets[0] : offsets[n]]:
        most += (byte == LF) | (byte == CR)
    number, chars = np.zeros(n, np.uint32), np.zeros(most, np.uint32)
    size, content = np.zeros(most, np.int64), np.zeros(most, np.int64)
    count = 0
    for row in range(n):
        at, end, first = offsets[row], offsets[row + 1], count
        begin, apart = at, True
        while at < end:
            stop = line_end(data, at, end)
            after = stop + (2 if stop + 1 < end and data[stop] == CR and data[stop + 1] == LF else 1)
            after = min(after, end)
            empty = paragraphs and is_blank(data, at, stop, blank)
            if (apart and not empty) or count == first or not paragraphs:
                begin = at
                count += 1
            size[count - 1] = after - begin
            if not empty:
                content[count - 1] = stop - begin
            chars[count - 1] += code_points(data, at, after)
            apart = empty
            at = after
        number[row] = count - first
    return number, size[:count], content[:count], chars[:count]


@inline
def line_end(data, at, end):
    """The index of the first line feed or carriage return in data[at:end], or ``end``."""
    while at + 32 <= data.size and at < end:
        mask = equal32(data, at, LF) | equal32(data, at, CR)
        if mask:
            return min(at + first_bit(mask), end)
        at += 32
    while at < end and data[at] != LF and data[at] != CR:
        at += 1
    return min(at, end)


@inline
def is_blank(data, at, end, blank):
    """True if all characters of data[at:end] are of ``blank``."""
    while at < end:
        code, size = decode(data, at)
        if not blank[code]:
            return False
        at += size
    return True


@inline
def code_points(data, at, end):
    """The number of code points in UTF-8: the bytes that are not continuation bytes."""
    count = 0
    for byte in data[at:end]:
        count += byte & 0xC0 != 0x80
    return count


@kernel
def outcomes(order, first, tokens, document, equals, kept, least):
    """Decide, document by document in priority order, which ones lost too much: (dropped bool[n], left int64[n], in_place int64[u]).

    order: int64[n], document numbers. first: int64[n + 1], the first unit of each document. tokens: uint32[u]; document: int64[u], of each unit.
    equals: int64[u], one number for units that are equal. kept: int64[u], the kept unit of which a unit is a duplicate, or -1.
    A document is dropped if it loses a unit and keeps fewer than ``least`` tokens. Its units then stand for no others: a later unit whose kept unit
    went with a document stays, and stands for later ones that are equal to it. in_place is ``kept`` after that; -1 for units that are not removed as
    duplicates of a unit that stays, which includes all other units of dropped documents.
    """
    n, units = order.size, kept.size
    dropped, left = np.zeros(n, np.bool_), np.zeros(n, np.int64)
    in_place, stands = kept.copy(), np.full(units, -1, np.int64)
    for number in order:
        lost = False
        for unit in range(first[number], first[number + 1]):
            to = kept[unit]
            if to >= 0 and dropped[document[to]]:
                to = stands[equals[unit]]
                if to < 0:
                    stands[equals[unit]] = unit
                in_place[unit] = to
            lost |= to >= 0
            left[number] += tokens[unit] if to < 0 else 0
        if not lost or left[number] >= least:
            continue
        dropped[number] = True
        for unit in range(first[number], first[number + 1]):
            if stands[equals[unit]] == unit:
                stands[equals[unit]] = -1
            if in_place[unit] >= 0 and document[in_place[unit]] == number:
                in_place[unit] = -1
    return dropped, left, in_place
