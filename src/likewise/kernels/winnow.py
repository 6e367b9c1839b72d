"""Fingerprints of texts by winnowing (Schleimer, Wilkerson and Aiken 2003), and their places.

A window is a number of consecutive k-grams. The k-gram with the least hash of each window, the last one of equals, is a fingerprint. So two texts
that share window + k - 1 tokens share a fingerprint at the same place of them.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels import shingles
from likewise.kernels.ignored import is_among


@kernel
def hash_tokens(data, start, length, unit, classes, keys, hashes):
    """Hash the tokens of texts as `shingles.shingle` does. hashes: uint64, room for a token a byte.

    Returns offsets int64[n + 1]: text i has the tokens hashes[offsets[i] : offsets[i + 1]]. See there for the arguments.
    """
    longest = 0
    for size in length:
        longest = max(longest, size)
    starts, ends = np.empty(longest + 65, np.int64), np.empty(longest + 65, np.int64)
    offsets = np.zeros(start.size + 1, np.int64)
    for i in range(start.size):
        begin, end = start[i], start[i] + length[i]
        offsets[i + 1] = offsets[i] + shingles.token_hashes(data, begin, end, unit, classes, keys, starts, ends, hashes[offsets[i] :], None)
    return offsets


@kernel
def mask(hashes, offsets, k, factors, ignored, begins, least, mark):
    """Replace tokens that are ignored by ``mark``: those in stretches of ``least`` or more tokens all of whose k-grams are ignored.

    hashes: uint64[m], changed. factors, ignored, begins: see `shingles.shingle`.
    """
    longest = 0
    for i in range(offsets.size - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    prints = np.empty(longest + 1, np.uint64)
    for i in range(offsets.size - 1):
        row = hashes[offsets[i] : offsets[i + 1]]
        if row.size < max(k, least):
            continue
        found = shingles.consecutive(row, row.size, k, factors, prints)
        first = -1  # where the k-grams that we are in begin
        for p in range(found + 1):
            if p < found and is_among(prints[p], ignored, begins):
                first = p if first < 0 else first
            elif first >= 0:
                if p - first + k - 1 >= least:
                    row[first : p + k - 1] = mark
                first = -1


@kernel
def winnow(hashes, offsets, k, window, factors, mark, out_key, out_token):
    """Write the fingerprints of texts and the token at which each begins. Returns their number in each text, uint32[n].

    out_key: uint64, out_token: uint32, room for one a token. k-grams with a token that is ``mark`` are no fingerprints.
    """
    longest = 0
    for i in range(offsets.size - 1):
        longest = max(longest, offsets[i + 1] - offsets[i])
    prints = np.empty(longest + 1, np.uint64)
    counts = np.zeros(offsets.size - 1, np.uint32)
    written = 0
    for i in range(offsets.size - 1):
        row = hashes[offsets[i] : offsets[i + 1]]
        if row.size < k + window - 1:
            continue
        found = shingles.consecutive(row, row.size, k, factors, prints)
        before, best, last = written, 0, -1
        for p in range(found):
            if best <= p - window:  # the least one left the window
                best = p - window + 1
                for q in range(best + 1, p + 1):
                    if prints[q] <= prints[best]:
                        best = q
            elif prints[p] <= prints[best]:
                best = p
            if p >= window - 1 and best != last:
                last = best
                if not has(row[best : best + k], mark):
                    out_key[written] = prints[best]
                    out_token[written] = best
                    written += 1
        counts[i] = written - before
    return counts


@inline
def has(tokens, mark):
    """True if a token is ``mark``."""
    for token in tokens:  # noqa: SIM110 - Numba compiles no generators
        if token == mark:
            return True
    return False


@kernel
def first_of_each(numbers, most, counts):
    """The places of the first ``most`` of each number, bool[m]. counts: uint32, one for each number; becomes how often each was seen."""
    kept = np.empty(numbers.size, np.bool_)
    for i in range(numbers.size):
        kept[i] = counts[numbers[i]] < most
        counts[numbers[i]] += np.uint32(1)
    return kept


@kernel
def by_key(offsets, tokens, keys, ends, limits, out_row, out_token):
    """Sort places in texts by their keys, the first ones of each: key q has room from ends[q] to limits[q]. ends becomes where those written end.

    Text i has tokens[offsets[i] : offsets[i + 1]], and their keys. out_row, out_token: uint32.
    """
    for i in range(offsets.size - 1):
        for j in range(offsets[i], offsets[i + 1]):
            at = ends[keys[j]]
            if at < limits[keys[j]]:
                out_row[at], out_token[at] = i, tokens[j]
                ends[keys[j]] = at + 1
