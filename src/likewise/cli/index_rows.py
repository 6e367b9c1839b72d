"""The rows that actions of `likewise index` print. Loaded when an action runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likewise.choices import CsvFormulas, ExistingNew
from likewise.cli.pairs import deliver
from likewise.cli.screen import Screen, is_terminal
from likewise.errors import IdError
from likewise.index.answers import Answers
from likewise.io.address import place
from likewise.io.idcolumn import id_column
from likewise.io.ids import to_json
from likewise.io.placing import check_file
from likewise.runs.table import Data, Table
from likewise.runs.table_files import FORMATS, write_table

if TYPE_CHECKING:
    from likewise.runs.incoming import Batch
    from likewise.verbs.index import Index


class Rows:
    """Rows of answers: printed as they come into a pipe, else collected for a table, a document or a file."""

    def __init__(self, screen: Screen, given: dict[str, Any]):
        """given: flags, of which those of a table are taken."""
        self.screen = screen
        self.out, self.overwrite = given.pop("out", None), given.pop("overwrite", False)
        self.formulas: CsvFormulas = given.pop("csv_formulas", "escape")
        self.exit_code = given.pop("exit_code", False)
        self.target = None if self.out is None else place(self.out)
        if self.target is not None:
            check_file(self.target, overwrite=self.overwrite, formats=FORMATS, flag="-o")
        self.streams = self.target is None and not screen.json and not is_terminal(sys.stdout)
        self.parts: list[Any] = []
        self.count = 0

    def add(self, data: Any) -> None:
        """Print or collect some rows."""
        self.count += len(data.table)
        if not self.streams:
            self.parts.append(data)
        else:
            for lines in Table(data).json_lines():
                self.screen.data(lines.encode())

    def finish(self, schema: str, report: dict[str, Any]) -> None:
        """Print or write what was collected."""
        if self.streams:
            return
        found = joined(self.parts)
        found.report = report
        if self.target is not None:
            write_table(found.to_arrow(), found.json_lines(), self.target, overwrite=self.overwrite, csv_formulas=self.formulas)
        deliver(self.screen, found, self.target, schema, "rows", lambda table: table)


def joined(parts: Sequence[Data]) -> Answers:
    """The rows of several tables with the same columns, of which those of ids may differ in their types."""
    columns: dict[str, Any] = {}
    json = {}
    for name in parts[0].table.column_names if parts else ():
        if name not in ("query", "id"):
            columns[name] = pa.chunked_array([chunk for part in parts for chunk in part.table[name].chunks], parts[0].table.schema.field(name).type)
            continue
        texts = pa.concat_arrays([part.json[name] if name in part.json else to_json(part.table[name].combine_chunks()) for part in parts])
        column = id_column(texts)
        columns[name] = pa.nulls(len(texts), pa.string()) if column is None else column.values
        if column is not None and column.json is not None:
            json[name] = column.json
    return Answers(Data(pa.table(columns), json), {})


def added_new(ix: Index, batch: Batch, k: int, existing: ExistingNew) -> Iterator[Data]:
    """Add the new ones of a batch, and yield the rows of `Index.add_new` with the ids of the records in place of their numbers.

    Of records with the same id each is looked at in its turn.
    """
    from likewise.runs.building import record_ids

    items, queries = batch.items(ix.settings), record_ids(batch.block)
    for begin, stop in without_repeats(items.ids, len(items)):
        try:
            found = ix.add_new(items.at(np.arange(begin, stop)), k=k, existing=existing)._data()
        except IdError as error:
            error.rows = [begin + row for row in error.rows]
            raise
        yield with_names(found, queries[begin:stop])


def without_repeats(ids: Sequence[bytes], count: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of items in which no id occurs twice."""
    begin, seen = 0, set[bytes]()
    for row, one in enumerate(ids):
        if one in seen:
            yield begin, row
            begin, seen = row, set()
        seen.add(one)
    yield begin, count


def with_names(found: Data, queries: pa.LargeBinaryArray) -> Data:
    """The rows of `Index.add_new` with the ids of the records, which are JSON text."""
    table = found.table
    ids = found.json["id"] if "id" in found.json else to_json(table["id"].combine_chunks())
    json = {"query": queries.take(table["row"].combine_chunks()), "id": ids}
    text = {name: texts.cast(pa.large_string()) for name, texts in json.items()}
    value = table.column_names[-1]
    return Data(pa.table({"query": text["query"], "added": table["added"], "id": text["id"], value: table[value]}), json)
