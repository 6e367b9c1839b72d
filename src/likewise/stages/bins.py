"""The distribution of similarities or distances in bins, for the report."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from likewise.schema import BINS


@dataclass(frozen=True)
class Bins:
    """Bins from one end of a range to the other. Counts of several blocks of values add up."""

    edges: np.ndarray  # float64[b + 1]; int64 where values are whole numbers, and the last edge is then the maximum + 1
    width: int  # of a bin of whole numbers; 0 for others

    def count(self, value: np.ndarray) -> np.ndarray:
        """The number of values, float64[n], in each bin, int64[b]. An edge belongs to the bin that it begins, the last edge to the last bin."""
        if self.width:
            return np.bincount((value // self.width).astype(np.int64), minlength=len(self.edges) - 1)
        if len(self.edges) == 2 and self.edges[0] == self.edges[1]:
            return np.array([len(value)])
        return np.histogram(np.clip(value, self.edges[0], self.edges[-1]), self.edges)[0]

    def listed(self, counts: np.ndarray) -> list[list[float]]:
        """[from, to, number] of each bin for people; ``to`` is inclusive for whole numbers, and in the last bin."""
        edges, last = self.edges.tolist(), 1 if self.width else 0
        return [[first, end - last, number] for (first, end), number in zip(pairwise(edges), counts.tolist(), strict=True)]


def bins_of(limit: float, *, distances: bool, whole: bool) -> Bins:
    """The bins from the threshold to equality. distances: ``limit`` is the maximum distance. whole: all values are whole numbers."""
    if whole:
        most = int(limit)
        width = -(-(most + 1) // BINS)
        return Bins(np.append(np.arange(0, most + 1, width), most + 1), width)
    low, high = (0.0, limit) if distances else (limit, 1.0)
    edges = np.unique(np.round(np.linspace(low, high, BINS + 1), 12))
    if len(edges) == 1:
        return Bins(np.array([low, high]), 0)
    edges[0], edges[-1] = low, high
    return Bins(edges, 0)
