"""Sections: ranges of the rows that the tasks of reading have written, and the numbers of the items among them.

A task reads the columns of a section from the files of the steps itself, without Java. So Spark moves only what other tasks need of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from likewise.engines.spark.blocks import flat, packed, part_of, places
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import Batches, mapped
from likewise.items.wrapped import wrapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Bytes of the input in a section, and rows, beyond which another one begins.
SECTION_BYTES, SECTION_ROWS = 256 << 20, 1 << 16
#: Rows of a batch.
BATCH_ROWS = 1 << 12
#: A row: its rank; the rank of its first copy; the partition of that one, and its number there, -1 if it is not compared; perhaps its side.
NUMBERS = ["rank", "first", "part", "number", "side"]


class Files(NamedTuple):
    """The files of a step by the number of their partition, as the driver found them."""

    folder: Path
    name: str  # with {} in place of the number
    there: np.ndarray  # bool[n]: partitions that have a file of this name; one without rows may have none
    others: dict[int, list[str]]  # the files of partitions with other names, or with several

    @classmethod
    def of(cls, steps: Steps, step: str) -> Files:
        names: dict[int, list[str]] = {}
        for path in steps.files_of(step):
            names.setdefault(int(path.name.split("-")[1].split(".")[0]), []).append(path.name)
        pattern = re.sub(r"^part-\d+", "part-{:05}", next(iter(names.values()))[0])
        others = {number: some for number, some in names.items() if some != [pattern.format(number)]}
        there = np.zeros(1 + max(names), bool)
        there[[number for number in names if number not in others]] = True
        return cls(steps.folder / step, pattern, there, others)

    def paths(self, number: int) -> list[Path]:
        """The files of a partition."""
        usual = [self.name.format(number)] if number < len(self.there) and self.there[number] else []
        return [self.folder / name for name in self.others.get(number, usual)]

    def tables(self, number: int, columns: Sequence[str], ranks: tuple[int, int] | None = None) -> Iterator[pa.Table]:
        """Columns of the rows of a partition, in tables of a row group each; of those alone that may have a rank in a range."""
        for path in self.paths(number):
            with pq.ParquetFile(path) as file:
                place = file.schema.names.index("rank")
                for group in range(file.num_row_groups):
                    found = file.metadata.row_group(group).column(place).statistics
                    if ranks is None or found is None or not found.has_min_max or (found.min < ranks[1] and found.max >= ranks[0]):
                        yield file.read_row_group(group, columns=columns, use_threads=False)


class Sections(NamedTuple):
    """Sections of the rows, or of the parts of rows."""

    ends: np.ndarray  # int64[k + 1]: the first rank of each, ascending, and one after all
    what: int  # sketching.ROW or PART
    files: Files

    @classmethod
    def of(cls, abouts: Iterable[dict[str, Any]], what: int, files: Files, *, of_parts: bool) -> Sections:
        """abouts: the facts about chunks, in input order."""
        rank, rows = ("rank_of_parts", "parts") if of_parts else ("rank", "rows")
        ends, last, nbytes, number = [0], 1, 0, 0
        for about in abouts:
            nbytes, number, last = nbytes + about["place"][2], number + about[rows], about[rank] + about[rows]
            if nbytes > SECTION_BYTES or number > SECTION_ROWS:
                ends.append(about[rank])
                nbytes, number = about["place"][2], about[rows]
        return cls(np.unique(np.array([*ends, max(last, ends[-1] + 1)], np.int64)), what, files)

    def even(self, ranks: np.ndarray, number: int) -> Sections:
        """Sections with so many of some rows each. ranks: int64[n] of these rows, ascending."""
        return self._replace(ends=np.concatenate([[0], ranks[number::number], ranks[-1:] + 1]))

    @property
    def number(self) -> int:
        """The number of sections."""
        return len(self.ends) - 1

    def of_ranks(self, rank: np.ndarray) -> np.ndarray:
        """The section of each rank, int64[n]."""
        return np.searchsorted(self.ends, rank, side="right") - 1

    def read(self, number: int, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Columns of the rows of a section, and their ranks, in order, in tables of a row group each."""
        for table, here in self.groups(number, columns):
            yield some_of(table, here).drop_columns(["what"])

    def groups(self, number: int, columns: Sequence[str]) -> Iterator[tuple[pa.Table, np.ndarray]]:
        """Row groups with rows of a section, and which of their entries these are."""
        begin, end = self.ends[number : number + 2].tolist()
        for group in range(begin >> 32, 1 + (end - 1 >> 32)):
            for table in self.files.tables(group, ["what", "rank", *columns], (begin, end)):
                what, rank = table["what"].to_numpy(), table["rank"].to_numpy()
                yield table, (what == self.what) & (rank >= begin) & (rank < end)

    def look_up(self, number: int, column: str, ranks: np.ndarray) -> Iterator[tuple[slice, pa.ChunkedArray, np.ndarray]]:
        """A column of rows of a section whose ranks ascend: the range of ranks whose rows are in a row group, its column, and the places in it."""
        for table, some in self.groups(number, [column]):
            place = np.flatnonzero(some)
            if len(rank := table["rank"].to_numpy()[place]):
                here = slice(*np.searchsorted(ranks, [rank[0], rank[-1] + 1]).tolist())
                yield here, table[column], place[np.searchsorted(rank, ranks[here])]

    def here(self, table: pa.Table) -> int:
        """The section whose blocks a task has."""
        return int(np.flatnonzero(places(self.number) == table["place"][0].as_py())[0])

    def each(self, steps: Steps, function: Callable[[int], Iterable[pa.RecordBatch]], schema: str) -> DataFrame:
        """Call the function with the number of each section, each in a task of its own, and return all batches."""
        tasks = steps.session.range(0, self.number, 1, self.number)
        return mapped(tasks, partial(of_numbers, function=function), schema)


def some_of(table: Any, some: np.ndarray) -> Any:
    """The rows of a table or batch that ``some``, bool[n], marks; without a copy if they follow each other, because sets may have 64 MB."""
    place = np.flatnonzero(some)
    if len(place) and place[-1] - place[0] + 1 == len(place):
        return table.slice(place[0], len(place))
    return table.filter(wrapped(some))


def of_numbers(batches: Iterator[pa.RecordBatch], function: Callable[[int], Iterable[pa.RecordBatch]]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for number in batch.column(0).to_pylist():
            yield from function(number)


class Numbered(NamedTuple):
    """The numbers of items by section: the files of a step of blocks of `NUMBERS`."""

    sections: Sections
    files: Files
    before: np.ndarray  # int64[parts]: the number of items in the partitions before each one

    def copies(self, number: int) -> dict[str, np.ndarray]:
        """(rank, first, item, side) of rows of a section by rank. item: the number of the first copy among all items, -1 if it is not compared."""
        held = [*self.files.tables(number, NUMBERS)]
        if not held:
            return dict.fromkeys(("rank", "first", "item", "side"), np.zeros(0, np.int64))
        table = pa.concat_tables(held)
        rank, first, part, at, side = (flat(table[name], np.int64) for name in NUMBERS)
        order = np.argsort(rank)
        item = np.where(at < 0, -1, self.before[part] + at)
        return {"rank": rank[order], "first": first[order], "item": item[order], "side": side[order] if len(side) else side}

    def items(self, number: int) -> dict[str, np.ndarray]:
        """(rank, item, side) of the items of a section by rank."""
        copies = self.copies(number)
        some = (copies["rank"] == copies["first"]) & (copies["item"] >= 0)
        return {name: values[some] if len(values) else values for name, values in copies.items() if name != "first"}

    def read(self, number: int, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """Columns of the items of a section, with ``item``, ``rank``, and ``side`` if they have sides."""
        items = self.items(number)
        for table in self.sections.read(number, columns):
            rank = table["rank"].to_numpy()
            place = np.searchsorted(items["rank"], rank)
            known = np.append(items["rank"], -1)[place] == rank
            table, place = some_of(table, known), place[known]
            for name in ("item", "side"):
                if len(items[name]):
                    table = table.append_column(name, pa.array(items[name][place]))
            if len(table):
                yield from table.to_batches(BATCH_ROWS)

    def ranks(self, steps: Steps, parts: int) -> DataFrame:
        """Items and their ranks, as `told.with_told` takes them."""
        return self.sections.each(steps, partial(ranks_of, items=self, at=places(parts)), "place long, told_item binary, told binary")

    def ranks_of_few(self, steps: Steps, items: list[int]) -> dict[int, int]:
        """The ranks of a few items."""
        some = partial(few_ranks, items=self, few=np.array(items, np.int64))
        return dict(self.sections.each(steps, some, "item long, rank long").collect()) if items else {}

    def mapped(self, steps: Steps, function: Batches, schema: str, columns: Sequence[str]) -> DataFrame:
        """Call the function with the items of each section, batches of their columns with ``item`` and ``rank``, and return all batches."""
        return self.sections.each(steps, partial(of_items, items=self, function=function, columns=columns), schema)


def of_items(number: int, items: Numbered, function: Batches, columns: Sequence[str]) -> Iterable[pa.RecordBatch]:
    return function(items.read(number, columns))


def ranks_of(number: int, items: Numbered, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    found = items.items(number)
    yield packed(part_of(found["item"], len(at)), at, ["told_item", "told"], told_item=found["item"], told=found["rank"])


def few_ranks(number: int, items: Numbered, few: np.ndarray) -> Iterator[pa.RecordBatch]:
    found = items.items(number)
    some = np.isin(found["item"], few)
    yield pa.record_batch({name: found[name][some] for name in ("item", "rank")})
