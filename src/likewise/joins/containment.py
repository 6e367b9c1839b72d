"""Containment between two collections: the sets of one are held in memory, those of the other are read past them, so that memory depends on one only.

Either side may be held; the pairs are the same. Everything is exact: sets are compared by their elements.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.joins.set_join import ceil
from likewise.kernels import containment as kernels
from likewise.stages.known import Known, known

Longs = NDArray[np.int64]

#: Matches that a kernel writes at once, at least.
MATCHES_AT_ONCE = 1 << 14


class Matches(NamedTuple):
    """m pairs of a row and a held set."""

    row: NDArray[np.uint32]
    item: NDArray[np.uint32]
    common: NDArray[np.uint32]  # elements


@dataclass
class Held:
    """Held sets, in which the rows of the other side are looked up. Threads may share it."""

    table: Known
    index: tuple[Longs, NDArray[np.uint32]]
    elements: NDArray[np.uint32]  # of each set ascending; empty if they hold rows
    offsets: Longs
    per: NDArray[np.uint64]
    sizes: Longs
    threshold: Fraction
    contained: bool
    idle: list[tuple] = field(default_factory=list)  # scratch that no thread is using

    @classmethod
    def of(cls, words: NDArray[np.uint64], offsets: Longs, per: NDArray[np.uint64], threshold: Fraction, *, contained: bool) -> Held:
        """Hold sets of distinct words, set i at words[offsets[i] : offsets[i + 1]].

        per: uint64[n], only rows of the same value match. contained: rows contain at least the threshold's share of a held set; otherwise held sets
        contain at least that share of a row.
        """
        sizes = np.diff(offsets)
        distinct, which, times = np.unique(words, return_inverse=True, return_counts=True)
        order = np.argsort(times, kind="stable")  # rare ones first
        number = np.empty(len(order), np.uint64)
        number[order] = np.arange(len(order))
        numbers = ascending(number[which], offsets)
        lengths = sizes - ceil(threshold.numerator * sizes, threshold.denominator) + 1 if contained else sizes
        index = kernels.index_of(numbers, offsets, np.minimum(lengths, sizes), len(distinct))
        kept = numbers if contained else numbers[:0]
        return cls(known(distinct[order]), index, kept, offsets, per, sizes, threshold, contained)

    def __len__(self) -> int:
        return len(self.sizes)

    def needs(self, sizes: Longs) -> Longs:
        """The number of common elements that contained sets of these sizes need."""
        return ceil(self.threshold.numerator * sizes, self.threshold.denominator)

    def matches(self, words: NDArray[np.uint64], offsets: Longs, per: NDArray[np.uint64]) -> Matches:
        """All pairs with rows, row i of the distinct words[offsets[i] : offsets[i + 1]]."""
        places, numbers = self.table.find(words)
        ends = np.searchsorted(places, offsets)
        if self.contained:
            parts = self.search(kernels.inside, numbers, ends, per, self.elements, self.offsets, self.needs(self.sizes), self.per)
        else:
            numbers = ascending(numbers.astype(np.uint64), ends)
            parts = self.search(kernels.holding, numbers, ends, per, self.needs(np.diff(offsets)), self.sizes, self.per)
        return Matches(*np.ascontiguousarray(np.concatenate(list(parts)).T))

    def search(self, kernel: object, *given: object) -> Iterator[NDArray[np.uint32]]:
        """Yield the matches that a kernel writes."""
        room, out = self.room()
        row, rows = 0, len(given[1]) - 1  # type: ignore[arg-type]
        yield out[:0]
        while row < rows:
            row, written = kernel(*given, self.index, row, room, out)  # type: ignore[operator]
            yield out[:written].copy()
        self.idle.append((room, out))

    def room(self) -> tuple:
        """Scratch of one thread."""
        try:
            return self.idle.pop()
        except IndexError:
            n = len(self)
            room = np.zeros(n, np.uint32), np.empty(n, np.uint32), np.zeros(len(self.table.keys) // 64 + 1, np.uint64)
            return room, np.empty((max(n, MATCHES_AT_ONCE), 3), np.uint32)


def ascending(numbers: NDArray[np.uint64], offsets: Longs) -> NDArray[np.uint32]:
    """The numbers of each row, at numbers[offsets[i] : offsets[i + 1]], in ascending order. numbers: uint64, below 2^32."""
    keys = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64) << np.uint64(32), np.diff(offsets))
    keys |= numbers
    keys.sort()
    return keys.astype(np.uint32)
