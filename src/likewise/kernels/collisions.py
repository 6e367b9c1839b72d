"""Places of n-grams that two collections have in common."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel


@kernel
def bytes_of(data, start, length, rows, places):
    """The byte at which each character begins, int64[m]: places[i], in characters (code points) of text rows[i], data[start[row]:][:length[row]].

    The place after the last character is the end of the text. Ascending by row and place: in one pass.
    """
    out = np.empty(rows.size, np.int64)
    row, at, count = -1, np.int64(0), np.int64(0)
    for i in range(rows.size):
        if rows[i] != row or places[i] < count:
            row, at, count = rows[i], np.int64(0), np.int64(0)
        text = data[start[row] : start[row] + length[row]]
        while count < places[i]:
            at += 1
            while at < text.size and text[at] & 0xC0 == 0x80:
                at += 1
            count += 1
        out[i] = at
    return out


@kernel
def stretches(begin, end, rows, tokens, keys, there, other_rows, other_tokens, other_keys):
    """How many n-grams agree from each of some n-grams on, one after the other in both texts: int64[n].

    begin, end: int64[n], the n-gram, and the end of the n-grams that may follow it. rows, tokens, keys: the n-grams of one collection, by row and
    token. there: int64[n], the equal n-gram of the other collection, with such columns.
    """
    out = np.empty(begin.size, np.int64)
    for i in range(begin.size):
        a, b, count = begin[i], there[i], 1
        while a + count < end[i] and b + count < other_keys.size:
            p, q = a + count, b + count
            if rows[p] != rows[a] or tokens[p] != tokens[a] + count or other_rows[q] != other_rows[b] or other_tokens[q] != other_tokens[b] + count:
                break
            if keys[p] != other_keys[q]:
                break
            count += 1
        out[i] = count
    return out
