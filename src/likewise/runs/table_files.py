"""Files of result tables: Parquet, JSON lines and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from likewise.choices import CsvFormulas
from likewise.drawing.controls import FORMULA, NUMBER
from likewise.errors import UsageError
from likewise.io.placing import new_file

#: Suffixes of files to which tables can be written.
FORMATS = (".parquet", ".jsonl", ".ndjson", ".csv", ".tsv")
#: Rows of a row group in Parquet, which a reader of single rows reads whole.
GROUP_ROWS = 2**15


def write_table(
    table: pa.Table, lines: Iterable[str], path: Path, *, overwrite: bool, csv_formulas: CsvFormulas, note: Mapping[bytes, bytes] | None = None
) -> None:
    """Write a table as Parquet, JSON lines or CSV, by the extension. lines: the rows as JSON. Raises UsageError for other extensions.

    note: metadata, which only Parquet has.
    """
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"{path}: name the file .parquet, .jsonl, .csv or .tsv, so that its format is known")
    with new_file(path, overwrite=overwrite) as file:
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            with pq.ParquetWriter(file, table.schema, compression="zstd") as writer:
                writer.write_table(table, GROUP_ROWS)
                if note:
                    writer.add_key_value_metadata(note)
        elif suffix in (".csv", ".tsv"):
            import pyarrow.csv

            safe = table if csv_formulas == "raw" else without_formulas(table)
            pyarrow.csv.write_csv(safe, file, pyarrow.csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))
        else:
            file.writelines(some.encode() for some in lines)


def without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with ' before each text that a spreadsheet would evaluate as a formula; numbers and texts of numbers are unchanged."""
    for number, name in enumerate(table.column_names):
        column = table.column(number)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            quoted = pc.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
            formula = pc.and_not(pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER))
            table = table.set_column(number, name, pc.if_else(formula, quoted, column))
    return table
