"""Exact repeats: runs of n tokens or more that occur again, in another text or in the same one.

A window is n consecutive tokens. Equal windows have an equal k-gram of least hash (winnowing), so the windows around k-grams that occur twice are all
that can be equal. They are grouped by 128 bits of the hashes of their tokens, which have 64 bits each. All of this can be done part by part.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from likewise.kernels import repeats as kernels
from likewise.kernels.hashing import derive
from likewise.methods import Text
from likewise.passages.search import Search
from likewise.stages.workers import ALONE, Workers

#: Streams of constants derived from the seed (kernels.hashing.derive).
GRAMS, JOINS = np.uint64(0x7E87_0011), np.uint64(0x7E87_0012)
#: Tokens of a fingerprint, at most; half of those of a repeat.
LONGEST_GRAM = 64
#: Bytes of the table for each window.
TABLE_BYTES = 24
#: Windows that are hashed between two reports of progress.
AT_ONCE = 1 << 20
#: Fewest counters of fingerprints.
LEAST_COUNTERS = 2**16


class Stretches(NamedTuple):
    """The parts of texts in which runs may repeat, in order: stretch i has the tokens offsets[i]:offsets[i + 1], consecutive ones of text rows[i]."""

    rows: np.ndarray  # int64[s]
    offsets: np.ndarray  # int64[s + 1]
    hashes: np.ndarray  # uint64[m]

    def windows(self, n: int) -> np.ndarray:
        """The number of the first window of each stretch, and the number of all: int64[s + 1]."""
        return np.concatenate(([0], np.cumsum(np.maximum(0, np.diff(self.offsets) - n + 1))))


class Repeats(NamedTuple):
    """Repeats in stretches. Tokens are counted across all stretches, so the place of token t in its text is that of entry t of other columns.

    A *passage* is a longest run of tokens whose windows of n tokens always occur together. All its places are whole.
    """

    stretch: np.ndarray  # int64[p]: of each place of a passage, in order
    begin: np.ndarray  # int64[p]: its first token
    end: np.ndarray  # int64[p]: the end
    passage: np.ndarray  # int64[p]: its passage; passages are counted by their first places
    first: np.ndarray  # int64[q]: the first place of each passage
    times: np.ndarray  # int64[q]: how often each occurs
    documents: np.ndarray  # int64[q]: the number of texts in which each occurs
    cut: np.ndarray  # bool[m]: the tokens in runs of n tokens that occur before


def gram(n: int) -> int:
    """The number of tokens of a fingerprint for repeats of n tokens."""
    return max(1, min(n // 2, LONGEST_GRAM))


def settings_of(method: Text, seed: int, n: int) -> Search:
    """The settings of a search for repeats of n tokens. method: the unit of tokens and its normalization."""
    return Search(replace(method, k=gram(n)), seed, n, 0, Fraction(0))


def counters(size: int, memory: int) -> np.ndarray:
    """Counters of fingerprints, uint8, for texts of ``size`` bytes; see kernels.repeats.tally. With fewer, more windows are grouped for nothing."""
    most = max(LEAST_COUNTERS, min(size // 2, memory // 4))
    return np.zeros(1 << (most.bit_length() - 1), np.uint8)


def repeats(stretches: Stretches, n: int, seed: int, memory: int, *, workers: Workers = ALONE) -> Repeats:
    """The repeats of at least n tokens. memory: bytes, on which the result does not depend; the work is done in parts that fit."""
    windows = stretches.windows(n)
    group, first, times = grouped(stretches, windows, n, seed, memory, workers)
    after = workers.allocate((len(times),), np.dtype(np.int64))
    after[:] = kernels.UNKNOWN
    kernels.link(windows, group, after)
    runs = kernels.count_runs(windows, group, times, after)
    place, number, each = np.empty((runs, 2), np.int64), np.empty(runs, np.int64), np.empty((2, runs), np.int64)
    last = workers.allocate((len(times),), np.dtype(np.int64))
    places, many = kernels.passages(stretches.offsets, windows, stretches.rows, group, times, after, n, last, place, number, *each)
    cut = np.empty(len(stretches.hashes), bool)
    kernels.cuts(stretches.offsets, windows, group, first, n, cut)
    begin, end = place[:places].T
    stretch = np.searchsorted(stretches.offsets, begin, side="right") - 1
    firsts = np.unique(number[:places], return_index=True)[1]
    return Repeats(stretch, begin, end, number[:places], firsts, each[0, :many].copy(), each[1, :many].copy(), cut)


def spans(marked: np.ndarray, offsets: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The runs of marked tokens, bool[m], within stretches: first token and end of each, int64[r] both."""
    begins, ends = marked.copy(), marked.copy()
    begins[1:] &= ~marked[:-1]
    ends[:-1] &= ~marked[1:]
    some = offsets[:-1][np.diff(offsets) > 0]
    begins[some] = marked[some]
    ends[some - 1] |= marked[some - 1] & (some > 0)
    return np.flatnonzero(begins), np.flatnonzero(ends) + 1


def grouped(stretches: Stretches, windows: np.ndarray, n: int, seed: int, memory: int, workers: Workers) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The number of the group of each window; and the first window of each group and the number of its windows."""
    size, total = min(n, LONGEST_GRAM), int(windows[-1])
    factors = derive(np.uint64(seed), GRAMS, 2 * (size + 1)).reshape(2, -1)
    joins = derive(np.uint64(seed), JOINS, 2 * -(-n // size) if total else 0).reshape(2, -1)
    low, high = (workers.allocate((total,), np.dtype(np.uint64)) for _ in range(2))
    group, again = workers.allocate((total,), np.dtype(np.int64)), workers.allocate((total,), np.dtype(bool))
    group[:] = 0
    edges = np.searchsorted(windows, np.arange(0, total + 1, AT_ONCE)) if total else np.zeros(1, np.int64)
    edges = np.unique(np.append(edges, len(stretches.rows)))

    def hashed(part: tuple[int, int]) -> None:
        kernels.hash_windows(stretches.hashes, stretches.offsets, windows, *part, n, factors, joins, low, high)
        workers.advance(int(windows[part[1]] - windows[part[0]]))

    list(workers.run(hashed, pairwise(edges.tolist())))
    parts = max(workers.tasks, -(-total * TABLE_BYTES * workers.tasks // max(1, memory // 4)))

    def grouped_part(part: int) -> None:
        room = total // parts * 3 // 2 + 64
        while not kernels.first_windows(low, high, part, parts, np.empty(1 << room.bit_length(), np.int64), group, again):
            room *= 2
        workers.advance(0)

    list(workers.run(grouped_part, range(parts)))
    return group, *kernels.number_groups(group, again)
