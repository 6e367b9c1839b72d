"""Token boundaries of texts. Each function fills ``starts`` and ``ends``, int64, and returns the number of tokens.

classes: uint8 by code point, the class of a character for the unit at hand (items/tables.py). data: uint8, with SPARE bytes after the text.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline
from likewise.kernels.blocks import BLOCK, between64, bit_length, count_bits, low_bits, lowest_bit
from likewise.kernels.places import copied
from likewise.kernels.utf8 import decode

#: Classes of characters. OTHER belongs to no token; LETTERs form runs; ALONE is a token by itself; a MARK belongs to the token before it, or begins
#: one as a letter would; INVISIBLE neither splits nor belongs.
OTHER, LETTER, ALONE, MARK, INVISIBLE = range(5)

#: Returned instead of a number of tokens: remove the invisible characters (``take_out``) and try again.
AGAIN = -1

NEWLINE, RETURN, DOLLAR, BACKSLASH, POINT = 10, 13, 36, 92, 46
QUOTES = (34, 39, 96)  # " ' `


@inline
def runs(data, begin, end, classes, by_space, starts, ends):
    """Words: runs of letters, and characters of class ALONE. With ``by_space``: everything between white space."""
    signs = classes[DOLLAR] == ALONE  # the classes of the other ASCII symbols are the same
    opened = closed = 0
    open_kind = OTHER  # class of the token that is open at ``at``
    at = begin
    while at < end:
        other = between64(data, at, 0x80, 0xFF) & low_bits(end - at)
        size = min(lowest_bit(other), end - at)
        if size >= 8 or other == 0:
            live = low_bits(size)
            letter = ascii_other_than_space(data, at) & live if by_space else ascii_letters(data, at) & live
            alone = ascii_symbols(data, at) & live if signs else np.uint64(0)
            after_letter = letter << np.uint64(1) | np.uint64(open_kind == LETTER)
            after_alone = alone << np.uint64(1) | np.uint64(open_kind == ALONE)
            first = letter & ~after_letter | alone
            past = (after_letter & ~letter | after_alone) & live
            # Both bit sets are processed in one loop: about as many tokens end in a block as begin, and one loop costs one mispredicted exit.
            news, olds = count_bits(first), count_bits(past)
            for i in range(max(news, olds)):
                starts[opened + i] = at + lowest_bit(first)
                ends[closed + i] = at + lowest_bit(past)
                first &= first - np.uint64(1)
                past &= past - np.uint64(1)
            opened += news
            closed += olds
            last = np.uint64(1) << np.uint64(size - 1)
            open_kind = LETTER if letter & last else ALONE if alone & last else OTHER
            at += size
        else:
            stop = at + bit_length(other)
            while at < stop:
                code, size = decode(data, at)
                kind = classes[code]
                if kind == INVISIBLE:
                    return AGAIN
                if not ((open_kind == LETTER and kind == LETTER) or (open_kind != OTHER and kind == MARK)):
                    if open_kind != OTHER:
                        ends[closed] = at
                        closed += 1
                    if kind != OTHER:
                        starts[opened] = at
                        opened += 1
                    open_kind = LETTER if kind == MARK else kind
                at += size
    if open_kind != OTHER:
        ends[closed] = end
    return opened


@inline
def ascii_letters(data, at):
    """Mask of the ASCII letters, digits and underscores of a block."""
    return between64(data, at, 48, 57) | between64(data, at, 65, 90) | between64(data, at, 97, 122) | between64(data, at, 95, 95)


@inline
def ascii_symbols(data, at):
    """Mask of the characters $ + < = > ^ ` | ~ of a block."""
    few = between64(data, at, 36, 36) | between64(data, at, 43, 43) | between64(data, at, 60, 62) | between64(data, at, 94, 94)
    return few | between64(data, at, 96, 96) | between64(data, at, 124, 124) | between64(data, at, 126, 126)


@inline
def ascii_other_than_space(data, at):
    """Mask of the bytes of a block that are not ASCII white space."""
    return ~(between64(data, at, 0x09, 0x0D) | between64(data, at, 0x1C, 0x20))


@inline
def take_out(data, begin, end, classes, pieces):
    """Remove the invisible characters of a text in place. Returns its new end, and how many ``pieces``, None or int64[m, 3], were filled."""
    to, found = begin, 0
    while begin < end:
        code, size = decode(data, begin)
        if classes[code] != INVISIBLE:
            found = copied(pieces, 0, found, to, begin)
            for i in range(size):
                data[to + i] = data[begin + i]
            to += size
        begin += size
    return to, found


@inline
def lines(data, begin, end, classes, paragraphs, starts, ends):
    """Lines that are not blank; with ``paragraphs`` the blocks of lines that blank lines separate."""
    count = 0
    joined = False
    while begin < end:
        stop = line_end(data, begin, end)
        if is_blank(data, begin, stop, classes):
            joined = False
        else:
            if not joined:
                starts[count] = begin
                count += 1
            ends[count - 1] = stop
            joined = paragraphs
        begin = stop + (2 if stop + 1 < end and data[stop] == RETURN and data[stop + 1] == NEWLINE else 1)
    return count


@inline
def line_end(data, at, end):
    """The index of the next line feed or carriage return, or ``end``."""
    while at < end:
        found = (between64(data, at, NEWLINE, NEWLINE) | between64(data, at, RETURN, RETURN)) & low_bits(end - at)
        if found:
            return at + lowest_bit(found)
        at += BLOCK
    return end


@inline
def is_blank(data, at, end, classes):
    """True if data[at:end] has no character of a token."""
    while at < end:
        code, size = decode(data, at)
        if classes[code] != OTHER:
            return False
        at += size
    return True


@inline
def code_tokens(data, at, end, classes, starts, ends):
    """Identifiers, keywords and numbers; string literals, which end on their line; each operator or punctuation mark.

    The language is unknown, and so are comments: their words are tokens like any others.
    """
    count = 0
    unclosed = np.zeros(128, np.int64)  # for each quote: no such quote closes a literal before this index, so the search is not repeated
    while at < end:
        code, size = decode(data, at)
        kind = classes[code]
        if kind == INVISIBLE:
            return AGAIN
        begin, at = at, at + size
        if kind == OTHER:
            continue
        closed = False
        if code in QUOTES and at >= unclosed[code]:
            stop, closed = literal_end(data, at, end, code, classes)
            if stop == AGAIN:
                return AGAIN
            if closed:
                at = stop
            else:
                unclosed[code] = stop
        number = 48 <= code <= 57
        while at < end and not closed:
            code, size = decode(data, at)
            more = classes[code] == MARK or (classes[code] == LETTER and kind != ALONE)
            if not more and not (number and code == POINT and at + 1 < end and 48 <= data[at + 1] <= 57):
                break
            at += size
        starts[count] = begin
        ends[count] = at
        count += 1
    return count


@inline
def literal_end(data, at, end, quote, classes):
    """(index after the closing quote, True) of a literal whose content begins at ``at``, or (index where its line ends, False)."""
    while at < end:
        code, size = decode(data, at)
        if classes[code] == INVISIBLE:
            return AGAIN, False
        if code == NEWLINE or code == RETURN:
            break
        at += size
        if code == quote:
            return at, True
        if code == BACKSLASH and at < end and data[at] != NEWLINE and data[at] != RETURN:
            at += decode(data, at)[1]
    return at, False
