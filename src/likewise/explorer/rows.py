"""The rows of a table in Parquet, which are read when they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from likewise.errors import FormatError
from likewise.report.identity import is_id

#: Row groups whose rows stay in memory.
GROUPS = 8


class Found(NamedTuple):
    """Where an id occurs in a table."""

    rows: list[int]
    more: bool  # there are others


class Rows:
    """The rows of a table, in the order of the file. sources: names of sources, in the order in which they are listed."""

    def __init__(self, path: Path, sources: Sequence[str]):
        self._path, self.sources = path, [*sources]
        self._metadata = pq.read_metadata(path)
        self.schema = self._metadata.schema.to_arrow_schema()
        sizes = [self._metadata.row_group(group).num_rows for group in range(self._metadata.num_row_groups)]
        self._ends = np.cumsum([0, *sizes])
        self._group = lru_cache(GROUPS)(lambda group, columns: self._file().read_row_group(group, columns=columns and [*columns]))

    def __len__(self) -> int:
        return int(self._metadata.num_rows)

    def _file(self) -> pq.ParquetFile:
        """Open the file once more, because threads cannot share an open one. Only some of its rows are read."""
        return pq.ParquetFile(self._path, metadata=self._metadata, pre_buffer=False)

    def check(self, ids: Sequence[str], types: Mapping[str, Callable[[pa.DataType], bool]]) -> None:
        """Raise FormatError unless the table has these columns: those of ids, and others of certain types and without missing values."""
        for name, fits in (dict.fromkeys(ids, lambda _: True) | dict(types)).items():
            number = self.schema.get_field_index(name)
            if number < 0 or not fits(self.schema.field(number).type):
                has = f"the column {name} is {self.schema.field(number).type}" if number >= 0 else f"there is no column {name}"
                raise FormatError(f"{self._path}: {has}; the file has changed since likewise wrote it")
            known = [self._metadata.row_group(group).column(number).statistics for group in range(self._metadata.num_row_groups)]
            if name in types and any(found is not None and found.null_count for found in known):
                raise FormatError(f"{self._path}: the column {name} has missing values; the file has changed since likewise wrote it")

    def column(self, name: str) -> np.ndarray:
        """A column of numbers, which is nowhere null."""
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
        found = np.concatenate([chunk.indices.to_numpy() for chunk in texts.chunks])
        return found if (numbers == np.arange(len(numbers))).all() else numbers[found]

    def rows(self, rows: Sequence[int], columns: tuple[str, ...] | None = None) -> list[dict[str, Any]]:
        """These rows of the table, in this order, or some columns of them."""
        found: dict[int, dict[str, Any]] = {}
        groups = np.searchsorted(self._ends, rows, side="right") - 1
        for group in np.unique(groups).tolist():
            here = [row for row, of in zip(rows, groups.tolist(), strict=True) if of == group]
            taken = self._group(group, columns).take([row - int(self._ends[group]) for row in here]).to_pylist()
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

    def at(self, columns: tuple[str, str], source: str, position: int, most: int) -> Found:
        """The rows whose item is at a place. columns: of its source and its position."""
        found: list[int] = []
        for begin, table in self._read([*columns]):
            same = pc.and_(pc.equal(table[columns[0]], source), pc.equal(table[columns[1]], position))
            found += (np.flatnonzero(same.to_numpy()) + begin).tolist()
            if len(found) > most:
                return Found(found[:most], True)
        return Found(found, False)

    def _read(self, columns: list[str]) -> Iterator[tuple[int, pa.Table]]:
        file = self._file()
        for group, begin in enumerate(self._ends[:-1].tolist()):
            yield begin, file.read_row_group(group, columns=columns)
