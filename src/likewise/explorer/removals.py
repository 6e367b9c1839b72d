"""removed.parquet as clusters: which removals belong to one kept item, how many, and how similar. Rows are read when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache, cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from likewise.report.identity import is_id
from likewise.report.precision import Near

#: Row groups whose rows stay in memory.
GROUPS = 8


class Found(NamedTuple):
    """Where an id occurs in a table."""

    rows: list[int]
    more: bool  # there are others


class Removals:
    """The removals of an output, in the order of the file.

    value: "similarity" or "distance". threshold: the limit of the run. sources: names of sources, in the order in which clusters are listed.
    """

    def __init__(self, path: Path, value: str, threshold: float, sources: Sequence[str]):
        self._path, self._threshold = path, threshold
        self._metadata = pq.read_metadata(path)
        self.value, self.sources = value, [*sources]
        self.schema = self._metadata.schema.to_arrow_schema()
        self.parts = "start" in self.schema.names
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        self._ends = np.cumsum([0, *sizes])
        self._group = lru_cache(GROUPS)(lambda group: self._file().read_row_group(group))

    def __len__(self) -> int:
        return int(self._metadata.num_rows)

    def _file(self) -> pq.ParquetFile:
        """Open the file once more, because threads cannot share an open one. Only some of its rows are read."""
        return pq.ParquetFile(self._path, metadata=self._metadata, pre_buffer=False)

    def column(self, name: str) -> np.ndarray:
        """A column of whole numbers, which is nowhere null."""
        return self._file().read([name])[name].to_numpy()

    def source(self, name: str) -> np.ndarray:
        """The sources of a column by their numbers, int32[n]: the place in `sources`."""
        texts = pq.ParquetFile(self._path, read_dictionary=[name], pre_buffer=False).read([name])[name].unify_dictionaries()
        if not texts.num_chunks:
            return np.zeros(0, np.int32)
        order = {source: number for number, source in enumerate(self.sources)}
        for source in texts.chunk(0).dictionary.to_pylist():
            if source not in order:
                order[source] = len(self.sources)
                self.sources.append(source)
        numbers = np.array([order[source] for source in texts.chunk(0).dictionary.to_pylist()], np.int32)
        return numbers[np.concatenate([chunk.indices.to_numpy() for chunk in texts.chunks])]

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

    def rows(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """These rows of the table, in this order."""
        found: dict[int, dict[str, Any]] = {}
        groups = np.searchsorted(self._ends, rows, side="right") - 1
        for group in np.unique(groups).tolist():
            here = [row for row, of in zip(rows, groups.tolist(), strict=True) if of == group]
            taken = self._group(group).take([row - int(self._ends[group]) for row in here]).to_pylist()
            found |= dict(zip(here, taken, strict=True))
        return [found[row] for row in rows]

    def find(self, column: str, identity: str, most: int) -> Found:
        """The rows with this id in a column, the first ``most`` of them."""
        found: list[int] = []
        for begin, table in self._read([column]):
            found += (np.flatnonzero(is_id(table[column], identity).to_numpy()) + begin).tolist()
            if len(found) > most:
                return Found(found[:most], True)
        return Found(found, False)

    def at(self, prefix: str, source: str, position: int, most: int) -> Found:
        """The rows whose item, "" or "kept_", is at a place."""
        found: list[int] = []
        for begin, table in self._read([f"{prefix}source", f"{prefix}position"]):
            same = pc.and_(pc.equal(table[f"{prefix}position"], position), pc.equal(table[f"{prefix}source"], source))
            found += (np.flatnonzero(same.to_numpy()) + begin).tolist()
            if len(found) > most:
                return Found(found[:most], True)
        return Found(found, False)

    def _read(self, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
        file = self._file()
        for group, begin in enumerate(self._ends[:-1].tolist()):
            yield begin, file.read_row_group(group, columns=columns)


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

    @property
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
