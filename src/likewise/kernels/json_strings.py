"""JSON strings: finding their end, removing and adding escapes. Lone surrogates take three bytes (WTF-8)."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.bytes import below32, copy, copy32, equal32, find, first_bit

OK, CONTROL, NO_ESCAPE, UNCLOSED = range(4)

TAB, LF, CR, SPACE, QUOTE, SLASH, ZERO, NINE, BACKSLASH = (ord(c) for c in '\t\n\r "/09\\')
A, B, F, N, R, T, U = (ord(c) for c in "abfnrtu")
SURROGATE = 0xED  # followed by 0xA0 or more
BEHIND32 = 1 << 32
#: The letter of an escape -> the byte that it stands for; 0 for u and for letters that form no escape.
MEANING = np.zeros(256, np.uint8)
MEANING[list(b'"/\\bfnrt')] = list(b'"/\\\b\f\n\r\t')


@kernel
def identities(data, first, last, plain):
    """Values as JSON text that can be compared byte by byte: (text uint8, offsets int64[n + 1], there bool[n]).

    data: uint8; value i is data[first[i]:last[i]]. A null, or a first of -1, is missing: ``there`` is False.
    Strings are written in the shortest form: only quotes, backslashes, control characters and lone surrogates are escaped. Other values are copied,
    with lone surrogates escaped. ``plain``: the values are not JSON but the content of strings, without escapes.
    """
    n = first.size
    size = 0
    for row in range(n):
        size += (last[row] - first[row]) * (6 if plain else 2) + 2 if first[row] >= 0 else 0
    text, scratch = np.empty(size + 64, np.uint8), np.empty((0 if plain else data.size) + 64, np.uint8)
    offsets, there = np.zeros(n + 1, np.int64), np.zeros(n, np.bool_)
    to = 0
    for row in range(n):
        at, end = first[row], last[row]
        there[row] = at >= 0 and (plain or data[at] != N)
        if there[row] and plain:
            to = quote(data, at, end, text, to)
        elif there[row] and data[at] == QUOTE and find(data, at, end, BACKSLASH) < end:
            to = quote(scratch, 0, unescape(data, at + 1, end - 1, scratch, 0), text, to)
        elif there[row]:
            to = copy_escaped(data, at, end, text, to)
        offsets[row + 1] = to
    return text[:to], offsets, there


@inline
def string_end(data, at, end):
    """(place of the closing quote, OK, has escapes) of the string whose content begins at ``at``, or (place, fault, False)."""
    escaped = False
    while True:
        at = string_stop(data, at, end)
        if at >= end:
            return end, UNCLOSED, False
        byte = data[at]
        if byte == QUOTE:
            return at, OK, escaped
        if byte != BACKSLASH:
            return at, CONTROL, False
        size = escape_size(data, at, end)
        if size == 0:
            return at, NO_ESCAPE, False
        escaped = True
        at += size


@inline
def closing_quote(data, at):
    """The place of the quote that closes a string, which need not be valid, or the end of ``data``."""
    while True:
        at = string_stop(data, at, data.size)
        if at >= data.size or data[at] == QUOTE:
            return at
        at += 2 if data[at] == BACKSLASH else 1


@inline
def string_stop(data, at, end):
    """The place of the first quote, backslash or control character, or ``end``."""
    while at + 32 <= data.size and at < end:
        mask = equal32(data, at, QUOTE) | equal32(data, at, BACKSLASH) | below32(data, at, SPACE)
        if mask:
            return min(at + first_bit(mask), end)
        at += 32
    while at < end and data[at] != QUOTE and data[at] != BACKSLASH and data[at] >= SPACE:
        at += 1
    return min(at, end)


@inline
def escape_size(data, at, end):
    """The number of bytes of the escape at ``at``: 2, 6, or 0 if it is invalid."""
    if at + 1 >= end:
        return 0
    byte = data[at + 1]
    if byte == U:
        return 6 if at + 6 <= end and hex4(data, at + 2) >= 0 else 0
    return 2 if MEANING[byte] else 0


@inline
def hex4(data, at):
    """The value of four hexadecimal digits, or -1."""
    number = np.int64(0)
    for i in range(at, at + 4):
        byte = np.int64(data[i])
        letter = byte | 0x20
        if ZERO <= byte <= NINE:
            number = number * 16 + byte - ZERO
        elif A <= letter <= F:
            number = number * 16 + letter - A + 10
        else:
            return -1
    return number


@inline
def string_copied(data, at, end, out, to):
    """`string_end` and `unescape` in one pass: (place of the closing quote, OK, place after the text), or (place, fault, anything).

    Text has an escape every thirty bytes or so, and a branch for each would be mispredicted every other time. So the loop has no such branch: a step
    advances 32 bytes, or to the next escape and over it, and writes the escaped byte; without an escape the next step overwrites that byte.
    """
    while True:
        while at < end and at + 34 <= data.size and to + 33 <= out.size:
            copy32(data, at, out, to)
            escapes = equal32(data, at, BACKSLASH)
            others = equal32(data, at, QUOTE) | below32(data, at, SPACE)
            first = escapes | others | BEHIND32
            first &= -first
            size = first_bit(first)
            escape = np.int64(escapes & first != 0)
            meaning = MEANING[data[at + size + 1]]
            at += size
            to += size
            if (others & first) | (escape & np.int64(meaning == 0)):
                break
            out[to] = meaning
            at += 2 * escape
            to += escape
        while at < end and data[at] != QUOTE and data[at] != BACKSLASH and data[at] >= SPACE:
            out[to] = data[at]
            at += 1
            to += 1
        if at >= end:
            return end, UNCLOSED, to
        if data[at] != BACKSLASH:
            return at, OK if data[at] == QUOTE else CONTROL, to
        if escape_size(data, at, end) == 0:
            return at, NO_ESCAPE, to
        at, to = unescape_one(data, at + 1, end, out, to)


@inline
def unescape(data, at, end, out, to):
    """Write the string data[at:end] without escapes to out[to:] and return the place after it. It never grows."""
    while at < end:
        if at + 32 <= data.size and to + 32 <= out.size:  # copy 32 bytes, then return to the first escape among them
            copy32(data, at, out, to)
            mask = equal32(data, at, BACKSLASH)
            size = min(first_bit(mask) if mask else 32, end - at)
            at += size
            to += size
            if mask == 0 or at == end:
                continue
        elif data[at] != BACKSLASH:
            out[to] = data[at]
            at += 1
            to += 1
            continue
        at, to = unescape_one(data, at + 1, end, out, to)
    return to


@inline
def unescape_one(data, at, end, out, to):
    """Write the character of a valid escape whose backslash is before ``at``; return the places after both."""
    byte = data[at]
    at += 1
    if byte != U:
        out[to] = MEANING[byte]
        return at, to + 1
    code = hex4(data, at)
    at += 4
    if 0xD800 <= code < 0xDC00 and at + 6 <= end and data[at] == BACKSLASH and data[at + 1] == U:
        low = hex4(data, at + 2)
        if 0xDC00 <= low < 0xE000:
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
            at += 6
    return at, encode(code, out, to)


@inline
def encode(code, out, to):
    """Write a code point as UTF-8, a surrogate as three bytes, and return the place after it."""
    if code < 0x80:
        out[to] = code
        return to + 1
    if code < 0x800:
        out[to] = 0xC0 | (code >> 6)
        out[to + 1] = 0x80 | (code & 0x3F)
        return to + 2
    if code < 0x10000:
        out[to] = 0xE0 | (code >> 12)
        out[to + 1] = 0x80 | ((code >> 6) & 0x3F)
        out[to + 2] = 0x80 | (code & 0x3F)
        return to + 3
    out[to] = 0xF0 | (code >> 18)
    out[to + 1] = 0x80 | ((code >> 12) & 0x3F)
    out[to + 2] = 0x80 | ((code >> 6) & 0x3F)
    out[to + 3] = 0x80 | (code & 0x3F)
    return to + 4


@inline
def quote(data, at, end, out, to):
    """Write data[at:end] as a JSON string in its shortest form and return the place after it."""
    out[to] = QUOTE
    to += 1
    while at < end:
        byte = data[at]
        short = B if byte == 8 else F if byte == 12 else N if byte == LF else R if byte == CR else T if byte == TAB else 0
        if byte in (QUOTE, BACKSLASH):
            short = byte
        lone = is_surrogate(data, at, end)
        if short:
            out[to] = BACKSLASH
            out[to + 1] = short
            to += 2
        elif byte < SPACE or lone:
            to = escape(surrogate_code(data, at) if lone else np.int64(byte), out, to)
            at += 2 if lone else 0
        else:
            out[to] = byte
            to += 1
        at += 1
    out[to] = QUOTE
    return to + 1


@inline
def escape(code, out, to):
    """Write a code point as \\uXXXX and return the place after it."""
    out[to] = BACKSLASH
    out[to + 1] = U
    for i in range(4):
        digit = (code >> (12 - 4 * i)) & 15
        out[to + 2 + i] = ZERO + digit if digit < 10 else A + digit - 10
    return to + 6


@inline
def copy_escaped(data, at, end, out, to):
    """Write data[at:end] with lone surrogates escaped and return the place after it."""
    begin = at
    while at < end:
        at = find(data, at, end, SURROGATE)
        if at < end and is_surrogate(data, at, end):
            to = escape(surrogate_code(data, at), out, copy(data, begin, at, out, to))
            at += 2
            begin = at + 1
        at += 1
    return copy(data, begin, end, out, to)


@inline
def is_surrogate(data, at, end):
    """True if a surrogate, in three bytes, begins at ``at``."""
    return data[at] == SURROGATE and at + 2 < end and data[at + 1] >= 0xA0


@inline
def surrogate_code(data, at):
    """The code point of the surrogate at ``at``."""
    return 0xD000 | ((np.int64(data[at + 1]) & 0x3F) << 6) | (np.int64(data[at + 2]) & 0x3F)
