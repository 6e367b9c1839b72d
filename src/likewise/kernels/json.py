"""JSON records, checked strictly (RFC 8259) and parsed in place: the places of a few wanted values, and the text of some.

Wanted values are numbered from 0; the first ``texts`` of them form the row's text. Each is reached by one or more paths, a path being a list of
keys from the outermost object inwards; the first path that leads to a value counts. A path to a text also passes through lists: it then leads to
the first list, and the texts inside are found by the remaining keys. Paths come as tables:
keys[key_at[k] : key_at[k + 1]] is key k, keys path_at[p] .. path_at[p + 1] - 1 form path p, which leads to value_of[p].

No library replaces these kernels: threads parse without the GIL, records are copied from the byte places found here, and lone surrogates are kept.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.bytes import find, first_bit, utf8_error
from likewise.kernels.json_strings import (
    BACKSLASH,
    LF,
    NINE,
    OK,
    QUOTE,
    UNCLOSED,
    ZERO,
    A,
    N,
    T,
    closing_quote,
    string_copied,
    string_end,
    string_stop,
    unescape,
)
from likewise.kernels.json_texts import (
    CLOSE_LIST,
    CLOSE_OBJECT,
    COMMA,
    MINUS,
    OPEN_LIST,
    OPEN_OBJECT,
    append_text,
    digits_end,
    is_blank,
    same,
    skip_blank,
)

MAX_DEPTH = 512
MAX_PATHS = 62  # a set of paths is the bits of an int64

#: Why a record is refused; kernels give the index. The first four are those of json_strings.
REASONS = (
    "",
    "a control character in a string must be written as an escape",
    "this is not a valid JSON escape",
    "a string is not closed in this record",
    "this byte is not UTF-8",
    "a value is expected here",
    "a number, true, false or null is misspelled here (NaN and Infinity are not JSON)",
    "a key in quotes is expected here",
    "a colon is expected here",
    "a comma or the closing bracket is expected here",
    "the record ends before its last bracket is closed",
    f"brackets nest deeper than {MAX_DEPTH}",
    "the record ends here, and more follows",
    "the record is too long",
)
NOT_UTF8, NO_VALUE, MISSPELT, NO_KEY, NO_COLON, NO_COMMA, ENDS, DEEP, MORE, LONG = range(4, 14)

DOT, COLON, E, F = (ord(c) for c in ".:ef")
#: Bytes of words and numbers that are not parsed, such as NaN, -inf, 1.#QNAN or 0x1F.
OF_WORDS = np.zeros(256, np.bool_)
OF_WORDS[list(b"+-.#_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")] = True
FALSE, NULL, TRUE = (np.frombuffer(word, np.uint8) for word in (b"false", b"null", b"true"))


@kernel
def lines(data):
    """The lines of ``data`` that are not blank: their begins, their ends (without the line feed), and where the next begins. int64[n] each."""
    count = 1
    for byte in data:
        count += byte == LF
    begin, end, following = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count, np.int64)
    n = 0
    at = 0
    while at < data.size:
        stop = find(data, at, data.size, LF)
        if skip_blank(data, at, stop) < stop:
            begin[n] = at
            end[n] = stop
            following[n] = min(stop + 1, data.size)
            n += 1
        at = stop + 1
    return begin[:n], end[:n], following[:n]


@kernel
def elements(data, first):
    """The elements of a JSON array from the start of one: (begin int64[n], end int64[n], next, closed, wrong).

    next: where the first element that does not end in ``data`` begins, or the place after the array where it is ``closed``.
    wrong: the place of a curly bracket that would close the array, or -1. first: the array's opening bracket came just before.
    """
    count = 1
    for byte in data:
        count += byte == COMMA
    begin, end = np.empty(count, np.int64), np.empty(count, np.int64)
    n = 0
    at = start = 0
    depth = 0
    while at < data.size:
        byte = data[at]
        if byte == QUOTE:
            at = closing_quote(data, at + 1)
        elif byte in (OPEN_LIST, OPEN_OBJECT):
            depth += 1
        elif byte in (CLOSE_LIST, CLOSE_OBJECT) and depth > 0:
            depth -= 1
        elif byte == CLOSE_OBJECT:
            return begin[:n], end[:n], start, False, at
        elif (byte == COMMA and depth == 0) or byte == CLOSE_LIST:
            stop = at
            start = skip_blank(data, start, stop)
            while stop > start and is_blank(data[stop - 1]):
                stop -= 1
            if byte == COMMA or start < stop or n > 0 or not first:
                begin[n] = start
                end[n] = stop
                n += 1
            start = at + 1
            if byte == CLOSE_LIST:
                return begin[:n], end[:n], start, True, -1
        at += 1
    return begin[:n], end[:n], start, False, -1


@kernel
def documents(data, final):
    """The consecutive JSON documents in ``data``: (begin, end, following, next), int64[n] each but the last; following is where the next one begins.

    next: where the first document that does not end in ``data`` begins. A plain word at the end of ``data`` is complete only if ``final``.
    """
    begin, end, following = np.empty(1024, np.int64), np.empty(1024, np.int64), np.empty(1024, np.int64)
    n = 0
    at = skip_blank(data, 0, data.size)
    while at < data.size:
        start, depth = at, 0
        while at < data.size:
            byte = data[at]
            if byte == QUOTE:
                at = closing_quote(data, at + 1)
                if at == data.size:
                    break
            depth += 1 if byte in (OPEN_LIST, OPEN_OBJECT) else -1 if byte in (CLOSE_LIST, CLOSE_OBJECT) else 0
            at += 1
            if depth <= 0 and (byte in (QUOTE, CLOSE_LIST, CLOSE_OBJECT) or (at < data.size and ends_word(data[at])) or (at == data.size and final)):
                depth = -1
                break
        if depth >= 0:
            return begin[:n], end[:n], following[:n], start
        if n == begin.size:
            begin, end, following = np.append(begin, begin), np.append(end, end), np.append(following, following)
        begin[n], end[n] = start, at
        at = skip_blank(data, at, data.size)
        if at == data.size and not final:  # more blanks may come, which belong to this document
            return begin[:n], end[:n], following[:n], start
        following[n] = at
        n += 1
    return begin[:n], end[:n], following[:n], data.size


@inline
def ends_word(byte):
    """True for a byte that ends a word or number between documents."""
    return is_blank(byte) or byte in (QUOTE, OPEN_LIST, OPEN_OBJECT, CLOSE_LIST, CLOSE_OBJECT)


@kernel
def read(data, begin, end, keys, key_at, path_at, value_of, lists, texts, tokens, reach, most):
    """Check the records data[begin[i]:end[i]], of ``most`` bytes at most, and read their wanted values.

    Wanted values must be valid JSON. The others only need their brackets, quotes, commas and colons in place: NaN, other words, wrong escapes and
    bytes that are not UTF-8 pass, because records are copied unchanged.

    Returns (fault, place, first, last, is_text, text, offsets). fault: uint8[n], an index of REASONS; place: int64[n], the byte at fault.
    first, last: int64[n, values], where each wanted value begins and ends in ``data``, -1 where it is missing. is_text: bool[n].
    text[offsets[i]:offsets[i + 1]], uint8, is the row's text: its strings without escapes, separated by blank lines; a lone surrogate takes three
    bytes (WTF-8). With ``reach`` texts inside of lists are separated by line feeds; ``lists``: the paths, as bits, that stand for the strings of a
    list they lead to. With ``tokens`` the text is the whole numbers of lists, 8 bytes each, little endian.
    """
    n, values = begin.size, 1
    for value in value_of:  # the array's method ``max`` takes half a second to compile
        values = max(values, value + 1)
    fault, place = np.zeros(n, np.uint8), np.zeros(n, np.int64)
    first, last = np.full((n, values), -1, np.int64), np.full((n, values), -1, np.int64)
    is_text, offsets = np.zeros(n, np.bool_), np.zeros(n + 1, np.int64)
    text = np.empty((5 if tokens else 1) * texts * data.size + 64, np.uint8)  # "0," is 2 bytes and becomes 8; untouched memory is free
    paths_first, paths_last = np.empty(value_of.size, np.int64), np.empty(value_of.size, np.int64)
    reached, inner = np.zeros(value_of.size, np.int64), np.zeros((values, 2), np.int64)
    seek, brackets = np.empty(MAX_DEPTH + 2, np.int64), np.empty(MAX_DEPTH + 2, np.uint8)
    live, capture, kind = np.empty(MAX_DEPTH + 2, np.int64), np.empty(MAX_DEPTH + 2, np.int64), np.empty(MAX_DEPTH + 2, np.uint8)
    copied = np.empty(2, np.int64)
    to_copy = 0  # paths to the only text: its string is unescaped at once
    for p in range(value_of.size):
        to_copy |= (texts == 1 and not tokens and value_of[p] == 0) << p
    ways = inner, keys, key_at, path_at, lists, seek, brackets
    to = 0
    for row in range(n):
        paths_first[:] = -1
        at, code = begin[row], LONG
        copied[0] = -1
        if end[row] - begin[row] <= most:
            wrong = utf8_error(data, begin[row], end[row])
            work = copied, paths_first, paths_last, reached, live, capture, kind
            at, code = check(data, begin[row], end[row], keys, key_at, path_at, to_copy, *work, text, to)
            if wrong < end[row]:
                at, code = utf8_fault(data, wrong, at, code, paths_first, paths_last)
        if code != OK:
            fault[row] = code
            place[row] = at
        else:
            for p in range(value_of.size - 1, -1, -1):
                if paths_first[p] >= 0 and (reached[p] == 0 or (reach and value_of[p] < texts)):
                    first[row, value_of[p]] = paths_first[p]
                    last[row, value_of[p]] = paths_last[p]
                    at_end = reached[p] == 0 and (lists >> p) & 1 and data[paths_first[p]] == OPEN_LIST
                    inner[value_of[p], 0] = p
                    inner[value_of[p], 1] = path_at[p + 1] - path_at[p] if at_end else reached[p]
            if copied[0] >= 0 and copied[0] == first[row, 0]:
                to, is_text[row] = copied[1], True
            else:
                to, is_text[row] = append_text(data, first[row], last[row], texts, tokens, reach, ways, text, to)
        offsets[row + 1] = to
    return fault, place, first, last, is_text, text[:to], offsets


@inline
def utf8_fault(data, wrong, at, code, paths_first, paths_last):
    """(place, fault) of a record whose first byte that is not UTF-8 is at ``wrong``, and for which `check` returned (at, code)."""
    if code != OK:
        return wrong, NOT_UTF8  # the most helpful fault for bytes that are not text
    for p in range(paths_first.size):
        if paths_first[p] >= 0:
            place = utf8_error(data, paths_first[p], paths_last[p])
            if place < paths_last[p]:
                return place, NOT_UTF8
    return at, OK


@inline
def check(data, at, end, keys, key_at, path_at, to_copy, copied, paths_first, paths_last, reached, live, capture, kind, scratch, free):
    """Check that data[at:end] is one JSON value: (place, fault). paths_first[p], paths_last[p] become the place of the value of path p.

    An object's values outside of all paths need only be delimited (`loose`).
    Inside the brackets of depth d: kind[d] is the opening bracket; live[d] the paths whose first d - 1 keys lead to this object; capture[d] the paths
    whose value this is. A repeated key discards the values of the first one. A key with escapes is unescaped to scratch[free:].
    A string that a path of ``to_copy`` leads to is unescaped at once: the last one, of place copied[0], to scratch[free:copied[1]]; without one
    copied[0] is -1. reached[p]: how many keys of path p lead to a list, at which it then ends; 0 if all of them lead to the value.
    """
    depth = 0
    strict = 0  # depth of the brackets whose whole content must be JSON, 0 outside of such
    hit, deeper = 0, 2 ** (path_at.size - 1) - 1  # paths that end at the next value; paths that continue inside it
    while True:
        at = skip_blank(data, at, end)
        if at >= end:
            return end, ENDS if depth else NO_VALUE
        start, byte = at, data[at]
        opened = byte in (OPEN_OBJECT, OPEN_LIST)
        if opened:
            if depth == MAX_DEPTH:
                return at, DEEP
            depth += 1
            kind[depth], capture[depth], live[depth] = byte, hit, deeper if byte == OPEN_OBJECT else 0
            if byte == OPEN_LIST and deeper and depth > 1:
                capture[depth] |= deeper
                mark(reached, deeper, depth - 1)
                mark(paths_first, deeper, start)
            if strict == 0 and (capture[depth] or (depth == 1 and byte == OPEN_LIST)):
                strict = depth
            at = skip_blank(data, at + 1, end)
            mark(paths_first, hit, start)
        else:
            if byte == QUOTE and hit & to_copy:
                at, code, copied[1] = string_copied(data, at + 1, end, scratch, free)
                copied[0] = start
                at += code == OK
            elif strict or hit or deeper:
                at, code = scalar(data, at, end)
            else:
                at, code = loose(data, at, end)
            if code != OK:
                return at, code
            mark(paths_first, hit, start)
            mark(paths_last, hit, at)
        while True:  # close brackets until another value must follow
            if depth == 0:
                at = skip_blank(data, at, end)
                return at, OK if at == end else MORE
            if not opened:
                at = skip_blank(data, at, end)
            if at >= end:
                return end, ENDS
            byte = data[at]
            if byte == kind[depth] + 2:  # in ASCII both closing brackets are two after their opening ones
                at += 1
                mark(paths_last, capture[depth], at)
                strict = 0 if strict == depth else strict
                depth -= 1
                opened = False
                continue
            if not opened:
                if byte != COMMA:
                    return at, NO_COMMA
                at = skip_blank(data, at + 1, end)
            break
        hit = deeper = 0
        if kind[depth] == OPEN_OBJECT:
            if at >= end:
                return end, ENDS
            if data[at] != QUOTE:
                return at, NO_KEY
            start = at + 1
            at, code, escaped = string_end(data, start, end)
            if code != OK:
                return at, code
            if live[depth] and escaped:
                copied[0] = -1
                hit, deeper = follow(
                    scratch, free, unescape(data, start, at, scratch, free), live[depth], depth, keys, key_at, path_at, paths_first, reached
                )
            elif live[depth]:
                hit, deeper = follow(data, start, at, live[depth], depth, keys, key_at, path_at, paths_first, reached)
            at = skip_blank(data, at + 1, end)
            if at >= end:
                return end, ENDS
            if data[at] != COLON:
                return at, NO_COLON
            at += 1


@inline
def mark(places, paths, at):
    """places[p] = at for each p of a set of paths."""
    while paths:
        places[first_bit(paths)] = at
        paths &= paths - 1


@inline
def follow(key, at, end, paths, depth, keys, key_at, path_at, paths_first, reached):
    """Which of the paths have key[at:end] as their key number ``depth``: (those that end with it, those that continue)."""
    hit = deeper = 0
    while paths:
        p = first_bit(paths)
        bit = paths & -paths
        k = path_at[p] + depth - 1
        if same(key, at, end, keys, key_at[k], key_at[k + 1]):
            paths_first[p] = -1
            reached[p] = 0
            if k + 1 == path_at[p + 1]:
                hit |= bit
            else:
                deeper |= bit
        paths ^= bit
    return hit, deeper


@inline
def scalar(data, at, end):
    """(place after the string, number or word at ``at``, OK), or (place, fault)."""
    byte = data[at]
    if byte == QUOTE:
        at, code, _ = string_end(data, at + 1, end)
        return (at + 1 if code == OK else at), code
    if byte == MINUS or (ZERO <= byte <= NINE):
        stop = number_end(data, at, end)
    elif byte == T:
        stop = at + 4 if same(data, at, min(at + 4, end), TRUE, 0, 4) else -1
    elif byte == F:
        stop = at + 5 if same(data, at, min(at + 5, end), FALSE, 0, 5) else -1
    elif byte == N:
        stop = at + 4 if same(data, at, min(at + 4, end), NULL, 0, 4) else -1
    else:
        return at, MISSPELT if A <= byte | 0x20 <= A + 25 else NO_VALUE
    return (at, MISSPELT) if stop < 0 else (stop, OK)


@inline
def loose(data, at, end):
    """Like `scalar` for a value that is not wanted: a string only needs to be closed, and a word may have any bytes of OF_WORDS."""
    if data[at] == QUOTE:
        stop = at + 1
        while True:
            stop = string_stop(data, stop, end)
            if stop >= end:
                return end, UNCLOSED
            if data[stop] == QUOTE:
                return stop + 1, OK
            stop += 2 if data[stop] == BACKSLASH else 1
    stop = at
    while stop < end and OF_WORDS[data[stop]]:
        stop += 1
    return (stop, OK) if stop > at else (at, NO_VALUE)


@inline
def number_end(data, at, end):
    """The place after the number at ``at``, or -1 if it is not a number of JSON."""
    if data[at] == MINUS:
        at += 1
    stop = digits_end(data, at, end)
    if stop == at or (data[at] == ZERO and stop > at + 1):
        return -1
    at = stop
    if at < end and data[at] == DOT:
        stop = digits_end(data, at + 1, end)
        if stop == at + 1:
            return -1
        at = stop
    if at < end and data[at] | 0x20 == E:
        at += 1
        if at < end and (data[at] == MINUS or data[at] == MINUS - 2):  # or plus
            at += 1
        stop = digits_end(data, at, end)
        if stop == at:
            return -1
        at = stop
    return at
