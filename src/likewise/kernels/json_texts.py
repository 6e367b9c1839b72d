"""The texts of a JSON record that was checked: from strings, from all strings inside of lists, and from token ids."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline
from likewise.kernels.json_strings import CR, LF, NINE, QUOTE, SPACE, TAB, ZERO, closing_quote, unescape

COMMA, MINUS, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = (ord(c) for c in ",-[]{}")


@inline
def append_text(data, first, last, texts, tokens, reach, ways, out, to):
    """Write a row's text to out[to:]: (place after it, whether it has one). Where no key inside of a list continues the path, first becomes -1."""
    start, found = to, False
    for value in range(texts):
        at, end = first[value], last[value]
        if reach and at >= 0 and ways[0][value, 1] > 0:
            after, some, matched = append_inner(data, at, value, ways, out, to + 2 * found)
            if some:
                if found:
                    out[to], out[to + 1] = LF, LF
                to, found = after, True
            elif not matched:
                first[value] = -1
            continue
        if at < 0 or data[at] != (OPEN_LIST if tokens else QUOTE):
            continue
        if tokens:
            to = append_tokens(data, at, end, out, to)
            if to < 0:
                return start, False
        else:
            if found:
                out[to], out[to + 1] = LF, LF
                to += 2
            to = unescape(data, at + 1, end - 1, out, to)
        found = True
    return to, found


@inline
def append_inner(data, at, value, ways, out, to):
    """Write the texts inside of the checked list at ``at`` to out[to:], separated by line feeds.

    Returns (place after them, whether there are some, whether the last key was found). seek[d]: the number of the key to find in the brackets of
    depth d; -1 skips all inside.
    """
    inner, keys, key_at, path_at, lists, seek, brackets = ways
    p = inner[value, 0]
    last_key, in_lists = path_at[p + 1], (lists >> p) & 1
    depth, current = 0, path_at[p] + inner[value, 1]
    some, matched = False, current == last_key
    while True:
        at = skip_separators(data, at)
        byte = data[at]
        if byte == OPEN_LIST or byte == OPEN_OBJECT:
            depth += 1
            brackets[depth], seek[depth] = byte, current
            if current == last_key and (byte == OPEN_OBJECT or not in_lists):
                seek[depth] = -1
            at += 1
        elif byte == CLOSE_LIST or byte == CLOSE_OBJECT:
            depth -= 1
            at += 1
            if depth == 0:
                return to, some, matched
        elif byte == QUOTE:
            stop = closing_quote(data, at + 1)
            if current == last_key:
                if some:
                    out[to] = LF
                to = unescape(data, at + 1, stop, out, to + some)
                some = True
            at = stop + 1
        else:
            while data[at] not in (COMMA, CLOSE_LIST, CLOSE_OBJECT):
                at += 1
        current = seek[depth]
        if brackets[depth] == OPEN_OBJECT:
            at = skip_separators(data, at)
            if data[at] == QUOTE:
                stop = closing_quote(data, at + 1)
                size = unescape(data, at + 1, stop, out, to + 1) - to - 1 if current >= 0 else 0
                if current >= 0 and same(out, to + 1, to + 1 + size, keys, key_at[current], key_at[current + 1]):
                    current += 1
                    matched = matched or current == last_key
                else:
                    current = -1
                at = skip_blank(data, stop + 1, data.size) + 1


@inline
def append_tokens(data, at, end, out, to):
    """Write a checked list of whole numbers of 64 bits, signed or not, as 8 bytes each; return the place after it, or -1 for any other list."""
    at = skip_blank(data, at + 1, end)
    while data[at] != CLOSE_LIST:
        negative = data[at] == MINUS
        at += negative
        stop = digits_end(data, at, end)
        number = np.uint64(0)
        for i in range(at, stop):
            digit = np.uint64(data[i] - ZERO)
            if number > (np.uint64(0xFFFFFFFFFFFFFFFF) - digit) // np.uint64(10):
                return -1
            number = number * np.uint64(10) + digit
        if stop == at or (negative and number > np.uint64(0x8000000000000000)):
            return -1
        number = ~number + np.uint64(1) if negative else number
        for i in range(8):
            out[to + i] = np.uint8(number >> np.uint64(8 * i))
        to += 8
        at = skip_blank(data, stop, end)
        if data[at] == COMMA:
            at = skip_blank(data, at + 1, end)
        elif data[at] != CLOSE_LIST:  # a fraction or an exponent: not a whole number
            return -1
    return to


@inline
def skip_separators(data, at):
    """The place after blanks and commas, in JSON that was checked."""
    while is_blank(data[at]) or data[at] == COMMA:
        at += 1
    return at


@inline
def is_blank(byte):
    """True for the white space of JSON."""
    return byte in (SPACE, LF, CR, TAB)


@inline
def skip_blank(data, at, end):
    """The place of the first byte from ``at`` on that is not blank, or ``end``."""
    while at < end and is_blank(data[at]):
        at += 1
    return at


@inline
def same(a, at, end, b, b_at, b_end):
    """True if a[at:end] and b[b_at:b_end] are equal bytes."""
    if end - at != b_end - b_at:
        return False
    for i in range(end - at):  # noqa: SIM110 - all() over a generator is slow here
        if a[at + i] != b[b_at + i]:
            return False
    return True


@inline
def digits_end(data, at, end):
    """The place after the digits from ``at`` on."""
    while at < end and ZERO <= data[at] <= NINE:
        at += 1
    return at
