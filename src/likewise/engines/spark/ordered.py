"""Steps whose rows ascend by a column, file by file. The driver reads them in blocks, so it never holds a whole one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

#: Rows that are read at once.
BLOCK_ROWS = 1 << 16
#: The first and the last value of a row group that does not tell them.
ANY = (-(2**63), 2**63 - 1)


class Groups(NamedTuple):
    """The row groups of a step, in order."""

    file: np.ndarray  # int64[n], the number of the file
    number: np.ndarray  # int64[n], in the file
    first: np.ndarray  # int64[n], the first value of the column by which rows are ordered
    last: np.ndarray  # int64[n]


@dataclass(frozen=True)
class Sorted:
    """A step whose rows ascend by the column ``by``, of integers. what: only rows with this value in the column ``what`` count."""

    files: Sequence[Path]
    by: str
    what: int | None = None

    @cached_property
    def groups(self) -> Groups:
        found = []
        for number, path in enumerate(self.files):
            about = pq.read_metadata(path)
            place = about.schema.names.index(self.by)
            for group in range(about.num_row_groups):
                of = about.row_group(group).column(place).statistics
                found.append((number, group, *((of.min, of.max) if of is not None and of.has_min_max else ANY)))
        return Groups(*np.array(found, np.int64).reshape(-1, 4).T)

    def between(self, begin: int, end: int, columns: Sequence[str]) -> pa.Table:
        """The rows from ``begin`` up to, but not including, ``end`` in the column ``by``. Only the row groups that have some are read."""
        tables, groups = [self.nothing], self.groups
        here = np.flatnonzero((groups.first < end) & (groups.last >= begin))
        for number in np.unique(groups.file[here]).tolist():
            with pq.ParquetFile(self.files[number]) as file:
                table = file.read_row_groups(groups.number[here[groups.file[here] == number]].tolist(), columns=self.needed(columns))
            tables.append(self.counted(table.filter((pc.field(self.by) >= begin) & (pc.field(self.by) < end))))
        return pa.concat_tables(table.select(columns) for table in tables)

    def blocks(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """All rows in order, in tables of at most `BLOCK_ROWS` rows; the first table has none."""
        yield self.nothing.select(columns)
        for path in self.files:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(BLOCK_ROWS, columns=self.needed(columns)):
                    yield self.counted(pa.Table.from_batches([batch])).select(columns)

    @cached_property
    def nothing(self) -> pa.Table:
        """A table without rows."""
        return pq.read_schema(self.files[0]).remove_metadata().empty_table()

    def counted(self, table: pa.Table) -> pa.Table:
        """The rows of a table that count."""
        return table if self.what is None else table.filter(pc.field("what") == self.what)

    def needed(self, columns: Sequence[str]) -> list[str]:
        """The columns to read."""
        return [*dict.fromkeys([*columns, self.by, *(["what"] if self.what is not None else [])])]


class InTurn:
    """Consecutive slices of the rows of tables, which may have any sizes. For one before the last slice, they are made again."""

    def __init__(self, make: Callable[[], Iterator[pa.Table]]):
        """make: returns the tables, of which there is at least one."""
        self.make = make
        self.again()

    def again(self) -> None:
        self.tables = self.make()
        self.begin, self.table = 0, next(self.tables)  # the rows from `begin`

    def __call__(self, part: slice) -> pa.Table:
        """The rows from part.start up to part.stop, or as many as there are."""
        if part.start < self.begin:
            self.again()
        self.leave(part.start)
        while self.begin + len(self.table) < part.stop and (following := next(self.tables, None)) is not None:
            self.table = pa.concat_tables([self.table, following])
            self.leave(part.start)
        return self.table.slice(0, part.stop - part.start)

    def leave(self, start: int) -> None:
        """Forget the rows before ``start``."""
        passed = min(start - self.begin, len(self.table))
        self.begin += passed
        self.table = self.table.slice(passed)
