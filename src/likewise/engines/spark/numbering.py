"""Row numbers of ranks. A task knows the place of a row in its own input only; the driver, which has the chunks of all tasks, knows the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Numbering(NamedTuple):
    """Ranges in which ranks and row numbers ascend one by one. They are few, about one for each task that reads, so tasks get all of them."""

    rank: np.ndarray  # int64[k]: of the first row of each range, ascending
    row: np.ndarray  # int64[k]
    number: np.ndarray  # int64[k]: of rows, above 0

    @classmethod
    def of(cls, chunks: Iterable[tuple[int, int, int]]) -> Numbering:
        """The numbering of chunks in input order: (first rank, first row, number of rows)."""
        ranges: list[list[int]] = []
        for rank, row, number in chunks:
            if ranges and rank == ranges[-1][0] + ranges[-1][2]:
                ranges[-1][2] += number
            elif number:
                ranges.append([rank, row, number])
        return cls(*np.array(ranges, np.int64).reshape(-1, 3).T)

    def rows(self, rank: np.ndarray) -> np.ndarray:
        """The numbers of rows with these ranks, int64[n]; -1 for a rank in no chunk, as that of a row behind damage."""
        if not len(self.rank):
            return np.full(len(rank), -1, np.int64)
        at = np.maximum(np.searchsorted(self.rank, rank, side="right") - 1, 0)
        place = rank - self.rank[at]
        return np.where((place >= 0) & (place < self.number[at]), self.row[at] + place, -1)

    def ranks(self, row: np.ndarray) -> np.ndarray:
        """The ranks of rows with these numbers, int64[n]."""
        at = np.searchsorted(self.row, row, side="right") - 1
        return self.rank[at] + (row - self.row[at])
