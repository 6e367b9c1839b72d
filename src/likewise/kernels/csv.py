"""Separated values (RFC 4180), parsed in place. A record ends with LF, CRLF or CR; an empty line is not a record.

A quote opens a quoted cell only at the beginning of a cell, and is an ordinary character elsewhere outside quotes, as in Python's csv.

pyarrow.csv does not replace these kernels, as it does not say at which bytes a record lies: kept records are copied byte for byte.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.bytes import copy, equal32, find, first_bit, utf8_error

OK, NOT_UTF8, AFTER_QUOTE, WIDTH, LONG = range(5)
LF, CR, QUOTE = 10, 13, 34


@kernel
def whole(data, delimiter, final, most):
    """Find the whole records at the start of ``data``: (bytes they take, place of a quote that the next record leaves open, or -1).

    data: uint8[n], begins with a record. delimiter: a byte. final: nothing follows ``data``, so its end also ends a record. most: maximum of records.
    """
    at = size = count = 0
    while at < data.size and count < most:
        start = at
        while True:
            at = special(data, at, QUOTE)
            if at >= data.size:
                return (data.size if final else size), -1
            if data[at] != QUOTE:
                if data[at] == CR and at + 1 == data.size and not final:
                    return size, -1  # perhaps the first half of a CRLF
                at = line_end(data, at)
                break
            if at == start or data[at - 1] == delimiter:
                opened = at
                at = quoted_end(data, at + 1)
                if at < 0 or (at == data.size and not final):  # at the end it may be the first of two quotes
                    return size, (opened if at < 0 else -1)
            else:
                at += 1
        size = at
        count += 1
    return size, -1


@kernel
def read(data, delimiter, wanted, values, most):
    """Parse the records of ``data``: (start, length, width, fault, place, first[n, values], last[n, values]).

    data: uint8[n], whole records. wanted: int64[columns], the set of values (as bits) that each column provides. values: how many there are.
    start, length: int64[n], bytes. width: int64[n], cells of a record. fault: uint8[n]: OK, NOT_UTF8, AFTER_QUOTE, WIDTH, or LONG (more than ``most``
    bytes); place: int64[n], the byte at fault. first, last: int64[n, values], where the cell of a value begins and ends, quotes included, or -1.
    """
    count = 1
    for byte in data:
        count += byte in (LF, CR)
    start, length, width = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    fault, place = np.zeros(count, np.uint8), np.zeros(count, np.int64)
    first, last = np.empty((count, values), np.int64), np.empty((count, values), np.int64)
    n = at = 0
    while at < data.size:
        if data[at] == LF or data[at] == CR:
            at += 1
            continue
        start[n] = at
        first[n] = last[n] = -1
        cells = 0
        code = OK
        while True:
            begin = at
            if at < data.size and data[at] == QUOTE:
                at = quoted_end(data, at + 1)
                if code == OK and at < data.size and data[at] != delimiter and data[at] != LF and data[at] != CR:
                    code = AFTER_QUOTE
                    place[n] = at
            at = special(data, at, delimiter)
            if cells < wanted.size:
                bits = wanted[cells]
                while bits:
                    first[n, first_bit(bits)] = begin
                    last[n, first_bit(bits)] = at
                    bits &= bits - 1
            cells += 1
            if at >= data.size or data[at] != delimiter:
                break
            at += 1
        wrong = utf8_error(data, start[n], at)
        if wrong < at:
            code = NOT_UTF8
            place[n] = wrong
        elif code == OK and cells != wanted.size:
            code = WIDTH
            place[n] = start[n]
        if at - start[n] > most:
            code = LONG
            place[n] = start[n]
        if code != OK:
            first[n] = -1
        at = line_end(data, at)
        fault[n] = code
        width[n] = cells
        length[n] = at - start[n]
        n += 1
    return start[:n], length[:n], width[:n], fault[:n], place[:n], first[:n], last[:n]


@kernel
def cells(data, first, last):
    """Texts of cells without their quotes: (text uint8[size], offsets int64[n + 1]), with a blank line between two cells of a row.

    first, last: int64[n, columns], the places that `read` returned; -1 for a cell that is missing.
    """
    n, columns = first.shape
    text = np.empty(columns * data.size + 64, np.uint8)
    offsets = np.zeros(n + 1, np.int64)
    to = 0
    for row in range(n):
        for column in range(columns):
            if first[row, column] < 0:
                continue
            if column > 0:
                text[to], text[to + 1] = LF, LF
                to += 2
            to = unquote(data, first[row, column], last[row, column], text, to)
        offsets[row + 1] = to
    return text[:to], offsets


@inline
def special(data, at, byte):
    """The place of the first ``byte``, LF or CR from ``at`` on, or the end of ``data``."""
    while at + 32 <= data.size:
        mask = equal32(data, at, byte) | equal32(data, at, LF) | equal32(data, at, CR)
        if mask:
            return at + first_bit(mask)
        at += 32
    while at < data.size and data[at] != byte and data[at] != LF and data[at] != CR:
        at += 1
    return at


@inline
def line_end(data, at):
    """The place after the line end at ``at``, if there is one."""
    if at < data.size and data[at] == CR:
        at += 1
        return at + 1 if at < data.size and data[at] == LF else at
    return min(at + 1, data.size)


@inline
def quoted_end(data, at):
    """The place after the closing quote of the cell whose content begins at ``at``, or -1."""
    while True:
        at = find(data, at, data.size, QUOTE) + 1
        if at > data.size:
            return -1
        if at == data.size or data[at] != QUOTE:
            return at
        at += 1


@inline
def unquote(data, at, end, out, to):
    """Write the cell data[at:end] without quotes to out[to:] and return the place after it."""
    if at == end or data[at] != QUOTE:
        return copy(data, at, end, out, to)
    at += 1
    end -= 1
    while at < end:
        stop = find(data, at, end, QUOTE)
        stop = min(stop + 1, end)  # two quotes stand for one
        to = copy(data, at, stop, out, to)
        at = stop + 1
    return to
