"""Variants of strings with a few characters deleted: strings within D edits share a variant with at most D deletions.

An alignment of two strings within D edits deletes, from each, the characters that it replaces or that the other lacks (Mor and Fraenkel 1982;
FastSS of Bocek, Hunt and Stiller, 2007). Variants are hashed; a collision is one more pair to measure.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.bands import MIX

#: Base of the polynomial hash of a variant: odd, and greater than all code points.
BASE = np.uint64(0xD6E8FEB86659FD93)


@kernel
def rests(points, begin, length, most, powers, at, out):
    """Hash the variants of each string with at most ``most`` deletions, 1 or 2, to out[at[i]:], uint64. Returns how many each has: int64[n].

    points: uint32[m], code points; string i is the length[i] from begin[i] on. powers: uint64, powers of `BASE`, one more than the longest string has
    characters. Deleting any character of a run of equal ones gives the same variant, so only the first of a run is deleted.
    """
    counts = np.zeros(len(begin), np.int64)
    for i in range(len(begin)):
        n, text, where = length[i], begin[i], at[i]
        whole = np.uint64(0)
        for j in range(n):
            whole = whole * BASE + np.uint64(points[text + j]) + np.uint64(1)
        out[where] = (whole + np.uint64(n)) * MIX
        where += 1
        before = np.uint64(0)  # hash of the characters before the first deleted one
        for a in range(n):
            one = np.uint64(points[text + a]) + np.uint64(1)
            if a == 0 or points[text + a] != points[text + a - 1]:
                head, through = before, before * BASE + one  # the hash without the deleted character, and with it
                out[where] = (head * powers[n - a - 1] + whole - through * powers[n - a - 1] + np.uint64(n - 1)) * MIX
                where += 1
                for b in range(a + 1, n if most > 1 else 0):
                    two = np.uint64(points[text + b]) + np.uint64(1)
                    through = through * BASE + two
                    if b == a + 1 or points[text + b] != points[text + b - 1]:
                        out[where] = (head * powers[n - b - 1] + whole - through * powers[n - b - 1] + np.uint64(n - 2)) * MIX
                        where += 1
                    head = head * BASE + two
            before = before * BASE + one
        counts[i] = where - at[i]
    return counts
