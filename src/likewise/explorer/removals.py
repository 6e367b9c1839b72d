"""removed.parquet as clusters: which removals belong to one kept item, how many, and how similar. Rows are read when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from likewise.explorer.rows import Rows
from likewise.report.precision import Near


class Removals(Rows):
    """The removals of an output, in the order of the file.

    value: "similarity" or "distance". threshold: the limit of the run. sources: as in `Rows`.
    """

    def __init__(self, path: Path, value: str, threshold: float, sources: Sequence[str]):
        super().__init__(path, sources)
        self._threshold, self.value = threshold, value
        self.parts = "start" in self.schema.names

    @cached_property
    def near(self) -> Near:
        """The values of all removals, and the near-duplicates among them in random order."""
        return Near(self._path, self.value, self._threshold)

    @property
    def values(self) -> np.ndarray:
        """float64[n]: the similarity or distance of each removal; NaN: not compared."""
        return self.near.values

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters, in the order of their kept items."""
        places = [self.column(f"kept_{name}") for name in (["position", "start"] if self.parts else ["position"])]
        return Clusters(self.source("kept_source"), places, partial(self.source, "source"), self.values, self.value == "distance")


class Clusters:
    """The clusters of removals, one entry each.

    kept: int32[n], the source of the kept item of each removal; places: int64[n] each, its position, and its start in parts of documents.
    source: returns int32[n], the source of the removed item. values: float64[n]. distances: the values are distances.
    """

    def __init__(self, kept: np.ndarray, places: list[np.ndarray], source: Callable[[], np.ndarray], values: np.ndarray, distances: bool):
        self.order, self.begin = grouped([kept, *places])  # removals, cluster by cluster
        self.size = np.diff(np.append(self.begin, len(self.order)))  # removals
        sign = -1.0 if distances else 1.0
        ordered = sign * values[self.order]
        some = len(self.begin) > 0
        self.least = sign * np.fmin.reduceat(ordered, self.begin) if some else ordered  # similar
        self.most = sign * np.fmax.reduceat(ordered, self.begin) if some else ordered
        self.distances = distances
        self._kept, self._source = kept[self.order[self.begin]], source

    def __len__(self) -> int:
        return len(self.begin)

    @cached_property
    def of(self) -> np.ndarray:
        """int64[n]: the cluster of each removal."""
        found = np.empty(len(self.order), np.int64)
        found[self.order] = np.repeat(np.arange(len(self)), self.size)
        return found

    @cached_property
    def spread(self) -> np.ndarray:
        """float64[c]: the difference between the most and the least similar removal."""
        return np.abs(self.most - self.least)

    @cached_property
    def orders(self) -> Any:
        """The clusters in the order of a key of `SORTS`."""
        return cache(lambda name: SORTS[name][1](self))

    def members(self, cluster: int) -> np.ndarray:
        """The rows of removed.parquet that belong to a cluster."""
        begin = int(self.begin[cluster])
        return self.order[begin : begin + int(self.size[cluster])]

    def with_source(self, number: int) -> np.ndarray:
        """bool[c]: the clusters with an item of a source."""
        removed = np.logical_or.reduceat(self._source()[self.order] == number, self.begin) if len(self) else np.zeros(0, bool)
        return removed | (self._kept == number)


def grouped(columns: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Rows in the order of columns of numbers from 0, equal ones as they were, and where each group of equal ones begins: int64[n], int64[groups]."""
    n = len(columns[0])
    bits = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(bits) + n.bit_length() < 64:  # as one number with that of the row, which is sorted much faster
        key = np.zeros(n, np.int64)
        for column, width in zip([*columns, np.arange(n)], [*bits, n.bit_length()], strict=True):
            key <<= width
            key |= column
        key.sort()
        order = key & ((1 << n.bit_length()) - 1)
        key >>= n.bit_length()
        new = key[1:] != key[:-1]
    else:
        order = np.lexsort(columns[::-1])
        new = np.logical_or.reduce([(ordered := column[order])[1:] != ordered[:-1] for column in columns])
    return order, np.flatnonzero(np.append(np.ones(min(n, 1), bool), new))


def descending(key: np.ndarray) -> np.ndarray:
    """Places by descending key; NaN last, and ties in order."""
    return np.argsort(-key, kind="stable")


#: Orders of clusters: by key, a name and the function that sorts.
SORTS: dict[str, tuple[str, Any]] = {
    "size": ("size", lambda clusters: descending(clusters.size)),
    "spread": ("spread", lambda clusters: descending(clusters.spread)),
    "least": ("least similar", lambda clusters: descending(clusters.least if clusters.distances else -clusters.least)),
    "source": ("source", lambda clusters: np.arange(len(clusters))),
}
