"""Replaces values in texts, found by an automaton (items/automata.py), by a placeholder."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import always, inline, kernel
from likewise.kernels.blocks import BLOCK, between64, bit_length, copy64, low_bits, lowest_bit
from likewise.kernels.places import became, copied, in_text
from likewise.kernels.utf8 import decode

WORD = np.uint8(0x80)  # of a class: letters, digits and marks, which may stand neither before nor after a value
CLASS = np.uint8(0x7F)
START = np.uint16(1)
SPARE = BLOCK  # bytes after the last text that are written to
PLACEHOLDER = 48  # the digit 0, a word in every unit, which no step changes


@kernel
def mask(data, start, length, classes, moves, accepts, out, pieces):
    """Copy the texts data[start[i] : start[i] + length[i]], UTF-8, one after the other to ``out``, each value replaced by PLACEHOLDER.

    At the first place where a value begins, the longest is replaced; the next is looked for after it. ``out``: uint8, room for all texts, and SPARE.
    classes: uint8[0x110000], the class of each character in ``moves``, with WORD. moves: uint16[states, classes], the next state, 0 for none.
    accepts: bool[states], True if a value may end. pieces: None, or int64[m, 3], one for each byte, to be filled; see kernels.places.
    Returns (start int64[n], length int64[n]) in ``out``, and the borders of the texts in ``pieces``, int64[n + 1].
    """
    out_start, out_length = np.empty_like(start), np.empty_like(length)
    borders = np.zeros(start.size + 1, np.int64)
    to = 0
    for item in range(start.size):
        out_start[item] = to
        at, end = start[item], start[item] + length[item]
        low = high = borders[item]
        in_word = False
        while at < end:
            until = end
            if at + 2 * BLOCK <= data.size:
                other = between64(data, at, 0x80, 0xFF) & low_bits(end - at)
                size = min(lowest_bit(other), end - at)
                if size >= 8 or other == 0:
                    at, to, in_word, high = ascii_block(data, at, size, end, in_word, classes, moves, accepts, out, to, pieces, low, high)
                    continue
                until = at + bit_length(other)
            while at < until:
                code, size = decode(data, at)
                kind = classes[code]
                stop, last = at, kind
                if not in_word and moves[START, kind & CLASS]:
                    stop, last = value_end(data, at, end, classes, moves, accepts)
                if stop > at:
                    high = became(pieces, low, high, to, at, stop)
                    out[to] = PLACEHOLDER
                    to += 1
                    at = stop
                else:
                    high = copied(pieces, low, high, to, at)
                    for i in range(size):
                        out[to + i] = data[at + i]
                    to += size
                    at += size
                    last = kind
                in_word = last & WORD != 0
        out_length[item] = to - out_start[item]
        in_text(pieces, low, high, out_start[item], start[item])
        borders[item + 1] = high
    return out_start, out_length, borders


@inline
def ascii_block(data, at, size, end, in_word, classes, moves, accepts, out, to, pieces, low, high):
    """Copy a block of ``size`` bytes, 1 to BLOCK, all ASCII, and the rest of a value that goes over its end.

    in_word: True if a letter or digit precedes. Returns (index after what was copied, index in ``out``, True if it ends with a letter or digit,
    the end of the pieces).
    """
    word = ascii_words(data, at)
    begins = between64(data, at, 0x21, 0x7E) & ~(word << np.uint64(1) | np.uint64(in_word)) & low_bits(size)
    stop = at + size
    done = at
    while begins:
        place = at + lowest_bit(begins)
        begins &= begins - np.uint64(1)
        if moves[START, classes[data[place]] & CLASS] and may_begin(data, place, end, classes, moves, accepts):
            found, last = value_end(data, place, end, classes, moves, accepts)
            if found > place:
                copy64(data, done, out, to, False, False)
                high = copied(pieces, low, high, to, done)
                to += place - done
                high = became(pieces, low, high, to, place, found)
                out[to] = PLACEHOLDER
                to += 1
                done = found
                if found >= stop:
                    return found, to, last & WORD != 0, high
                begins &= ~low_bits(found - at)
    copy64(data, done, out, to, False, False)
    high = copied(pieces, low, high, to, done)
    return stop, to + stop - done, word >> np.uint64(size - 1) & np.uint64(1) != 0, high


@always
def ascii_words(data, at):
    """Mask of the ASCII letters and digits of a block."""
    return between64(data, at, 48, 57) | between64(data, at, 65, 90) | between64(data, at, 97, 122)


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
