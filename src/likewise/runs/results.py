"""The results of the verbs: Arrow-backed tables and their conversions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise import schema
from likewise.choices import CHOICES, CsvFormulas
from likewise.drawing.controls import FORMULA, NUMBER, escaped_json
from likewise.errors import UsageError, missing_part
from likewise.io.ids import from_json
from likewise.io.placing import new_file

#: Suffixes of files to which tables can be written.
FORMATS = (".parquet", ".jsonl", ".ndjson", ".csv", ".tsv")
#: Rows converted to Python values at once.
BATCH = 2**14
#: Columns of ids with several types, each id as JSON text.
JsonIds = dict[str, pa.Array]
Made: TypeAlias = "pa.Table | tuple[pa.Table, JsonIds]"


class Table:
    """A table that converts to Arrow (also through ``__arrow_c_stream__``), polars, pandas, or a file."""

    def __init__(self, table: Made | Callable[[], Made]):
        """table: the table, with the JSON text of ids if they have several types; or a function that makes it at its first use."""
        self._made = table

    def _parts(self) -> tuple[pa.Table, JsonIds]:
        if callable(self._made):
            self._made = self._made()
        if isinstance(self._made, pa.Table):
            self._made = self._made, {}
        return self._made

    @property
    def _table(self) -> pa.Table:
        return self._parts()[0]

    def json_lines(self) -> Iterator[str]:
        """Yield strings of some thousand JSON lines, one object per row; ids have their original types, and control characters are escaped."""
        import msgspec

        for rows in self._typed(msgspec.Raw):
            yield escaped_json("".join(msgspec.json.encode(row).decode() + "\n" for row in rows))

    def to_dicts(self) -> list[dict[str, Any]]:
        """Return the rows as dicts; ids have their original types."""
        return [row for rows in self._typed(from_json) for row in rows]

    def _typed(self, read: Callable[[bytes], Any]) -> Iterator[list[dict[str, Any]]]:
        table, typed = self._parts()
        for begin in range(0, len(table), BATCH):
            rows = table.slice(begin, BATCH).to_pylist()
            for name, texts in typed.items():
                for row, text in zip(rows, texts[begin : begin + BATCH].to_pylist(), strict=True):
                    row[name] = None if text is None else read(text)
            yield rows

    def __len__(self) -> int:
        return self._table.num_rows

    def __repr__(self) -> str:
        names = ", ".join(self._table.column_names)
        return f"<{len(self):,} rows: {names}>"

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)

    def to_arrow(self) -> pa.Table:
        """Return the table as a pyarrow.Table."""
        return self._table

    def to_pandas(self) -> Any:
        """Return the table as a pandas.DataFrame. Raises MissingPartError if pandas is not installed."""
        if find_spec("pandas") is None:
            raise missing_part("tables are given to", "pandas", "pandas")
        return self._table.to_pandas()

    def to_polars(self) -> Any:
        """Return the table as a polars.DataFrame. Raises MissingPartError if Polars is not installed."""
        try:
            import polars
        except ImportError as error:
            raise missing_part("tables are given to", "Polars", "polars") from error
        return polars.from_arrow(self._table)

    def write(self, path: str | Path, *, overwrite: bool = False, csv_formulas: CsvFormulas = "escape") -> None:
        """Write a file: Parquet, JSON lines or CSV, by the extension. ``overwrite`` replaces an existing file once the new one is complete.

        csv_formulas: in CSV, "escape" puts ' before texts that a spreadsheet would evaluate as formulas; "raw" writes them unchanged.
        Raises UsageError for an existing file, an unknown extension, a link or a folder.
        """
        if csv_formulas not in CHOICES["csv_formulas"]:
            raise UsageError(f"csv_formulas={csv_formulas!r}: choose one of {', '.join(CHOICES['csv_formulas'])}")
        if Path(path).is_file() and not overwrite:
            raise UsageError(f"{path}: the file exists; overwrite=True replaces it once the new one is complete")
        write_table(self, Path(path), overwrite=overwrite, csv_formulas=csv_formulas)


def write_table(given: Table, path: Path, *, overwrite: bool, csv_formulas: CsvFormulas = "escape") -> None:
    """Write a table as Parquet, JSON lines or CSV, by the extension. Raises UsageError for other extensions."""
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise UsageError(f"{path}: name the file .parquet, .jsonl, .csv or .tsv, so that its format is known")
    with new_file(path, overwrite=overwrite) as file:
        if suffix == ".parquet":
            import pyarrow.parquet as pq

            pq.write_table(given.to_arrow(), file, compression="zstd")
        elif suffix in (".csv", ".tsv"):
            import pyarrow.csv

            table = given.to_arrow() if csv_formulas == "raw" else without_formulas(given.to_arrow())
            pyarrow.csv.write_csv(table, file, pyarrow.csv.WriteOptions(delimiter="\t" if suffix == ".tsv" else ","))
        else:
            file.writelines(lines.encode() for lines in given.json_lines())


def without_formulas(table: pa.Table) -> pa.Table:
    """Return the table with ' before each text that a spreadsheet would evaluate as a formula; numbers and texts of numbers are unchanged."""
    for number, name in enumerate(table.column_names):
        column = table.column(number)
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            quoted = pc.binary_join_element_wise(pa.scalar("'", column.type), column, pa.scalar("", column.type))
            formula = pc.and_not(pc.match_substring_regex(column, FORMULA), pc.match_substring_regex(column, NUMBER))
            table = table.set_column(number, name, pc.if_else(formula, quoted, column))
    return table


#: Reasons for a removal: similar to the kept row; equal shingles; an exact copy.
REASONS = ("near", "equal", "exact")


@dataclass
class Decision:
    """The outcome of each row of a collection, by row number. All files are written from it."""

    kept_row: np.ndarray  # int64[n]: the kept row of which this one is a duplicate; -1 for rows that stay
    similarity: np.ndarray  # float64[n]: to that row; NaN for rows that stay or were not checked
    exact: np.ndarray  # bool[n]: removed as an exact copy
    component: np.ndarray  # int64[n]: for representatives, the first one of their component
    matches: np.ndarray  # int64[m, 2]: the verified pairs that the walk compared: row, kept row
    match_similarity: np.ndarray  # float64[m]
    facts: dict[str, Any] = field(default_factory=dict)  # counters of the walk, for the report
    compared: int = 0  # number of compared pairs; not in the report, because it depends on the algorithm as well
    value: pa.Field = schema.SIMILARITY  # the type of the values above: a similarity or a distance
    counted: bool = False  # similarities are ratios of shingle counts, so that 1.0 means equal shingles

    @property
    def removed(self) -> np.ndarray:
        """bool[n]: removed as a duplicate of another row."""
        return self.kept_row >= 0

    def head(self, rows: np.ndarray) -> np.ndarray:
        """Return the kept row of which each of some rows is a duplicate; the row itself if it stays. int64[m]"""
        kept = self.kept_row[rows]
        return np.where(kept < 0, rows, kept)

    @property
    def equal(self) -> np.ndarray:
        """bool[n]: removed for a row with equal shingles whose normalized text differs, for example by a line end."""
        return self.removed & ~self.exact & (self.counted & (self.similarity == 1.0))

    @property
    def reason(self) -> np.ndarray:
        """int8[n]: index in REASONS, for removed rows."""
        return (self.equal + 2 * self.exact).astype(np.int8)


def warned(report: dict[str, Any]) -> str:
    """Return a note that there are warnings, which Python callers do not see otherwise, or ""."""
    number = len(report["warnings"])
    return f"; {number} warning{'s' * (number > 1)} in .report['warnings']" if number else ""


@dataclass
class Removal:
    """The result of ``dedup``. docs/reference/outputs.md explains the columns of the tables; ``report`` is the content of report.json.

    ``compared``: number of compared pairs, as in run.json.
    """

    kept: Table
    removed: Table
    clusters: Table
    report: dict[str, Any]
    compared: int
    out: Path | None = None

    def __repr__(self) -> str:
        n = self.report["counts"]
        said = f"{n['read']:,} read, {n['kept']:,} kept, {n['removed']:,} removed, {n['rejected']:,} rejected"
        return f"<Removal: {said}{warned(self.report)}>"


class Pairs(Table):
    """The result of ``pairs``: id_a, id_b, similarity or distance, and places if ids alone do not identify items."""

    def __init__(self, table: Made, report: dict[str, Any]):
        super().__init__(table)
        self.report = report

    def __repr__(self) -> str:
        return super().__repr__().removesuffix(">") + f"{warned(self.report)}>"

    def above(self, threshold: float) -> Pairs:
        """Return the pairs at or above a higher threshold. Raises UsageError for a lower one, or if the pairs have distances."""
        if "similarity" not in self._table.column_names:
            raise UsageError("these pairs have distances; take those within a smaller one with `within`")
        if threshold < self.report["threshold"]:
            raise UsageError(f"threshold {threshold}: these pairs were searched at {self.report['threshold']}, and a lower one needs a new search")
        return self._where(pc.greater_equal(self._table["similarity"], threshold), threshold)

    def within(self, distance: float) -> Pairs:
        """Return the pairs within a smaller distance. Raises UsageError for a larger one, or if the pairs have similarities."""
        if "distance" not in self._table.column_names:
            raise UsageError("these pairs have similarities; take those above a higher one with `above`")
        if distance > self.report["threshold"]:
            raise UsageError(
                f"within {distance}: these pairs were searched within {self.report['threshold']}, and a greater distance needs a new search"
            )
        return self._where(pc.less_equal(self._table["distance"], distance), distance)

    def _where(self, chosen: pa.ChunkedArray, threshold: float) -> Pairs:
        table, typed = self._parts()
        left = {name: texts.filter(chosen.combine_chunks()) for name, texts in typed.items()}
        return Pairs((table.filter(chosen), left), self.report | {"threshold": threshold})
