"""Replaces values in texts, found by an automaton (items/automata.py), by a placeholder."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.utf8 import decode

WORD = np.uint8(0x80)  # of a class: letters, digits and marks, which may stand neither before nor after a value
CLASS = np.uint8(0x7F)
START = np.uint16(1)
PLACEHOLDER = 48  # the digit 0, a word in every unit, which no step changes


@kernel
def mask(data, start, length, classes, moves, accepts, out):
    """Copy the texts data[start[i] : start[i] + length[i]], UTF-8, one after the other to ``out``, each value replaced by PLACEHOLDER.

    At the first place where a value begins, the longest is replaced; the next is looked for after it. ``out``: uint8, room for all texts.
    classes: uint8[0x110000], the class of each character in ``moves``, with WORD. moves: uint16[states, classes], the next state, 0 for none.
    accepts: bool[states], True if a value may end. Returns (start int64[n], length int64[n]) in ``out``.
    """
    out_start, out_length = np.empty_like(start), np.empty_like(length)
    to = 0
    for item in range(start.size):
        out_start[item] = to
        at, end = start[item], start[item] + length[item]
        in_word = False
        while at < end:
            code, size = decode(data, at)
            kind = classes[code]
            if not in_word and moves[START, kind & CLASS] and may_begin(data, at, end, classes, moves, accepts):
                stop, last = value_end(data, at, end, classes, moves, accepts)
                if stop > at:
                    out[to] = PLACEHOLDER
                    to += 1
                    at, in_word = stop, last & WORD != 0
                    continue
            for i in range(size):
                out[to + i] = data[at + i]
            to += size
            at += size
            in_word = kind & WORD != 0
        out_length[item] = to - out_start[item]
    return out_start, out_length


@always
def may_begin(data, at, end, classes, moves, accepts):
    """False if no value begins at ``at``, from the next four bytes: without a branch for each, since no processor can predict where words end."""
    if at + 4 > end or (data[at] | data[at + 1] | data[at + 2] | data[at + 3]) >= 0x80:
        return True
    first = moves[START, classes[data[at]] & CLASS]
    second = moves[first, classes[data[at + 1]] & CLASS]
    third = moves[second, classes[data[at + 2]] & CLASS]
    return moves[third, classes[data[at + 3]] & CLASS] != 0 or accepts[first] | accepts[second] | accepts[third]


@inline
def value_end(data, at, end, classes, moves, accepts):
    """(index after the longest value that begins at ``at``, class of its last character); ``at`` itself if none does."""
    found, last, kind = at, np.uint8(0), np.uint8(0)
    state = START
    while state:
        before = kind
        size = 0
        if at < end:
            code, size = decode(data, at)
            kind = classes[code]
        if accepts[state] and (size == 0 or not kind & WORD):
            found, last = at, before
        if size == 0:
            break
        state = moves[state, kind & CLASS]
        at += size
    return found, last
