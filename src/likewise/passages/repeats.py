"""Exact repeats: runs of n tokens or more that occur again, in another text or in the same one.

A window is n consecutive tokens. Equal windows have an equal k-gram of least hash (winnowing), so the windows around k-grams that occur twice are all
that can be equal. They are grouped by 128 bits of the hashes of their tokens, which have 64 bits each, one part of these values after the other.
All other steps go through the windows in order, so arrays that do not fit into memory can be in files.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

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
#: Bytes for each window of a part while it is grouped: the window, and the table.
WINDOW_BYTES = 84
#: Windows of a block, and tokens of the stretches that are gone through between two reports of progress.
AT_ONCE = 1 << 20
#: Fewest counters of fingerprints.
LEAST_COUNTERS = 2**16
NO_RUNS = np.zeros((0, 2), np.int64)


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
    cut: np.ndarray  # int64[r, 2]: the first token and the end of each run of tokens that are in runs of n tokens that occur before


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
    first, times = grouped(stretches, windows, n, seed, memory, workers)
    parts = list(pairwise(borders(stretches.offsets)))

    def each(function: Callable[[int, int], Any]) -> list[Any]:
        """The results of a function for each part of the stretches, one part after the other."""
        made = []
        for begin, end in parts:
            made.append(function(begin, end))
            workers.advance(0)
        return made

    counts = np.array(each(lambda *part: kernels.count_passages(windows, *part, first, times)), np.int64).reshape(-1, 2)
    places, many = counts.sum(axis=0)
    place, number = np.empty((places, 2), np.int64), np.empty(places, np.int64)
    of_each, found = np.empty((4, many), np.int64), np.zeros(2, np.int64)
    each(lambda *part: kernels.passages(stretches.offsets, windows, *part, stretches.rows, first, times, n, place, number, *of_each, found))
    place, number = place[: found[0]], number[: found[0]]
    begin, end = place.T
    stretch = np.searchsorted(stretches.offsets, begin, side="right") - 1
    firsts = np.unique(number, return_index=True)[1]
    room = iter(counts[:, 0].tolist())

    def cut(*part: int) -> np.ndarray:
        out = np.empty((next(room), 2), np.int64)
        return out[: kernels.cuts(stretches.offsets, windows, *part, first, n, out)].copy()

    return Repeats(stretch, begin, end, number, firsts, of_each[2].copy(), of_each[3].copy(), np.concatenate([NO_RUNS, *each(cut)]))


def borders(offsets: np.ndarray) -> list[int]:
    """Where parts of the stretches begin and end, each of about AT_ONCE tokens or one stretch."""
    return np.unique(np.append(np.searchsorted(offsets, np.arange(0, int(offsets[-1]), AT_ONCE)), len(offsets) - 1)).tolist()


def joined(stretch: np.ndarray, begin: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Runs of tokens, which may overlap, as in `Repeats`, joined where they do or touch within a stretch: int64[r, 2]."""
    if not len(begin):
        return NO_RUNS
    reached = np.maximum.accumulate(end)
    opens = np.append(True, (stretch[1:] != stretch[:-1]) | (begin[1:] > reached[:-1]))
    return np.stack([begin[opens], np.maximum.reduceat(end, np.flatnonzero(opens))], axis=1)


def grouped(stretches: Stretches, windows: np.ndarray, n: int, seed: int, memory: int, workers: Workers) -> tuple[np.ndarray, np.ndarray]:
    """For each window the first that is equal to it, and how many are (``first`` and ``times`` in kernels.repeats)."""
    size, total = min(n, LONGEST_GRAM), int(windows[-1])
    factors = derive(np.uint64(seed), GRAMS, 2 * (size + 1)).reshape(2, -1)
    joins = derive(np.uint64(seed), JOINS, 2 * -(-n // size) if total else 0).reshape(2, -1)
    columns = low, high, follow = [workers.allocate((total,), np.dtype(np.uint64)) for _ in range(3)]
    place = workers.allocate((total,), np.dtype(np.uint32))
    parts = max(workers.tasks, -(-total * WINDOW_BYTES * workers.tasks // max(1, memory // 4)))
    starts = np.zeros((-(-total // AT_ONCE), parts + 1), np.int64)

    def hashed(block: int) -> None:
        begin, end = block * AT_ONCE, min(total, (block + 1) * AT_ONCE)
        found = np.empty((3, end - begin), np.uint64)
        kernels.hash_windows(stretches.hashes, stretches.offsets, windows, begin, end, n, factors, joins, *found)
        kernels.order_by_part(*found, parts, *(column[begin:end] for column in columns), place[begin:end], starts[block])
        workers.advance(end - begin)

    def grouped_part(part: int) -> None:
        many = int((starts[:, part + 1] - starts[:, part]).sum())
        table, count = np.empty((2, 1 << (many * 3 // 2).bit_length()), np.int64)
        kernels.group(low, high, follow, place, starts, AT_ONCE, part, table, count, np.empty(many, np.int64))
        workers.advance(0)

    def restored(block: int) -> None:
        some = slice(block * AT_ONCE, (block + 1) * AT_ONCE)
        for values in (low, high):
            kernels.restore(values[some], place[some])
        workers.advance(0)

    list(workers.run(hashed, range(len(starts))))
    list(workers.run(grouped_part, range(parts)))
    list(workers.run(restored, range(len(starts))))
    return low, high
