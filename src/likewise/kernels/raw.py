"""Places in a text as places in the bytes that encode it: a JSON string with escapes, or a cell of separated values with doubled quotes."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.bytes import find
from likewise.kernels.json_strings import BACKSLASH, QUOTE, unescape_one

#: The place of a byte that a text does not have.
BEYOND = -1


@kernel
def json_string(data, first, last, row, at):
    """Where byte at[i] of the text of row row[i] lies in ``data``, int64[m]; BEYOND if the text is shorter.

    The text of a row is the JSON string data[first[row]:last[row]], with its quotes. row, at: int64[m], ascending; at is the border of a character.
    """
    found, scratch = np.empty(at.size, np.int64), np.empty(8, np.uint8)
    here = -1
    raw = done = stop = end = 0  # ``done`` bytes of the text are encoded before ``raw``; the next escape is at ``stop``
    for i in range(at.size):
        if row[i] != here:
            here, done = row[i], 0
            raw, end = first[here] + 1, last[here] - 1
            stop = find(data, raw, end, BACKSLASH)
        while done < at[i] and raw < end:
            if raw < stop:
                size = min(stop - raw, at[i] - done)
                raw += size
            else:
                raw, size = unescape_one(data, raw + 1, end, scratch, 0)
                stop = find(data, raw, end, BACKSLASH)
            done += size
        found[i] = raw if done == at[i] else BEYOND
    return found


@kernel
def cell(data, first, last, row, at):
    """`json_string` for cells: in quotes, where each quote is doubled, or plain."""
    found = np.empty(at.size, np.int64)
    here = -1
    raw = done = stop = end = 0
    for i in range(at.size):
        if row[i] != here:
            here, done = row[i], 0
            raw, end = first[here], last[here]
            if raw < end and data[raw] == QUOTE:
                raw, end = raw + 1, end - 1
                stop = find(data, raw, end, QUOTE)
            else:
                stop = end
        while done < at[i] and raw < end:
            size = min(stop - raw, at[i] - done)
            raw += size
            done += size
            if done < at[i] and raw < end:
                raw += 2
                done += 1
                stop = find(data, raw, end, QUOTE)
        found[i] = raw if done == at[i] else BEYOND
    return found


@kernel
def bytes_at(data, offsets, row, at):
    """Where character at[i] of the text of row[i] begins, in bytes from the begin of the text: int64[m].

    Text r is data[offsets[r]:offsets[r + 1]], UTF-8.
    row, at: int64[m], ascending. The place of a character behind the last one is the size of the text.
    """
    found = np.empty(at.size, np.int64)
    here = -1
    place = done = 0
    for i in range(at.size):
        if row[i] != here:
            here, done = row[i], 0
            place = offsets[here]
        while place < offsets[here + 1] and (done < at[i] or data[place] & 0xC0 == 0x80):
            place += 1
            done += place == offsets[here + 1] or data[place] & 0xC0 != 0x80
        found[i] = place - offsets[here]
    return found
