"""Steps: tables of a run as Parquet folders, each with a manifest. A finished step is not computed again; a half-written one is replaced.

Later steps read the files of a step in place of its Spark plan. So a lost worker costs at most one step, and a resumed run continues after the last
finished step.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The manifest of a step. Spark and pyarrow ignore files in Parquet folders whose names begin with an underscore.
MANIFEST = "_step.json"
#: The Spark type of each Arrow type.
SQL = {pa.int32(): "int", pa.int64(): "long", pa.float64(): "double", pa.binary(): "binary", pa.string(): "string"}
#: Rows of a row group in tables that the driver writes. Several tasks can read a file with several row groups.
GROUP_ROWS = 1 << 20
#: Bytes of a row group in tables that Spark writes.
GROUP_BYTES = 128 << 20


class Steps:
    """The steps of a run, in a folder that driver and executors see at the same path."""

    def __init__(self, session: SparkSession, folder: Path):
        self.session, self.folder = session, folder.absolute()

    def table(self, name: str, make: Callable[[], DataFrame], group_bytes: int = GROUP_BYTES) -> DataFrame:
        """The table of a step, which ``make`` computes unless the step is finished. group_bytes: of a row group of its files."""

        def write(folder: Path) -> dict[str, Any]:
            made = make()
            made.write.options(**{"parquet.enable.dictionary": "false", "parquet.block.size": str(group_bytes)}).parquet(uri(folder))
            return {"schema": made.schema.json()}

        self.files(name, write)
        return self.frame(name)

    def put(self, name: str, *tables: pa.Table) -> DataFrame:
        """The table of a step whose rows the driver has, in a file for each of several tables."""

        def write(folder: Path) -> dict[str, Any]:
            folder.mkdir(parents=True)
            for number, table in enumerate(tables):
                pq.write_table(table, folder / f"part-{number:05}.parquet", row_group_size=GROUP_ROWS)
            return {"schema": ", ".join(f"`{field.name}` {SQL[field.type]}" for field in tables[0].schema)}

        self.files(name, write)
        return self.frame(name)

    def files(self, name: str, write: Callable[[Path], dict[str, Any]]) -> list[Path]:
        """The files of a step. Unless it is finished, ``write`` creates its folder and files, and returns facts for the manifest."""
        if not self.done(name):
            self.drop(name)
            self._finish(name, write(self.folder / name))
        return self.files_of(name)

    def read(self, name: str, columns: Sequence[str], where: Any = None, part: int | None = None) -> pa.Table:
        """Read columns of a finished step to the driver. where: a filter of pyarrow. part: of one file of the step of rows; None: of all."""
        return pa.concat_tables([*self.tables(name, columns, where, part)])

    def tables(self, name: str, columns: Sequence[str], where: Any = None, part: int | None = None) -> Iterator[pa.Table]:
        """`read`, file by file: what a task wrote."""
        for path in self.files_of(name, "*" if part is None else f"part-{part:05}"):
            yield pq.read_table(path, columns=[*columns], filters=where, partitioning=None)

    def columns(self, name: str, *columns: str) -> list[np.ndarray]:
        """Read columns of numbers of a finished step to the driver."""
        table = self.read(name, columns)
        return [table[column].to_numpy() for column in columns]

    def rows(self, name: str) -> int:
        """The number of rows of a finished step."""
        return sum(pq.read_metadata(path).num_rows for path in self.files_of(name))

    def filled(self, name: str, column: str) -> int:
        """The number of rows of a finished step with a value in a column."""
        return sum(filled(path, column) for path in self.files_of(name))

    def has(self, name: str, column: str) -> bool:
        """True if a row of a finished step has a value in a column."""
        return any(filled(path, column) for path in self.files_of(name))

    def done(self, name: str) -> bool:
        """True if a step is finished and its files are there."""
        try:
            return bool(self.about(name)["files"] == self._sizes(name))
        except (OSError, ValueError):
            return False

    def drop(self, name: str) -> None:
        """Delete a step."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def about(self, name: str) -> dict[str, Any]:
        """The manifest of a finished step."""
        return dict(json.loads((self.folder / name / MANIFEST).read_bytes()))

    def _finish(self, name: str, facts: dict[str, Any]) -> None:
        path = self.folder / name / MANIFEST
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"files": self._sizes(name), **facts}))
        new.replace(path)

    def files_of(self, name: str, pattern: str = "*") -> list[Path]:
        """The files of a finished step, in order."""
        return sorted((self.folder / name).glob(f"{pattern}.parquet"), key=by_number)

    def _sizes(self, name: str) -> dict[str, int]:
        return {path.name: path.stat().st_size for path in self.files_of(name)}

    def frame(self, name: str) -> DataFrame:
        """The table of a finished step."""
        from pyspark.sql.types import StructType

        schema = self.about(name)["schema"]
        known = StructType.fromJson(json.loads(schema)) if schema.startswith("{") else schema
        return self.session.read.schema(known).parquet(pattern(self.folder / name))


def by_number(path: Path) -> tuple[int, str]:
    """Sorts files by the numbers of their tasks, which have five digits up to 99,999."""
    number = re.search(r"\d+", path.name)
    return int(number[0]) if number else 0, path.name


def filled(path: Path, column: str) -> int:
    """The number of rows of a file with a value in a column: from its footer, unless the column has long values."""
    found = 0
    with pq.ParquetFile(path) as file:
        place = file.schema.names.index(column)
        for group in range(file.num_row_groups):
            known = file.metadata.row_group(group).column(place).statistics
            if known is None:
                values = file.read_row_group(group, columns=[column])[column]
                found += len(values) - values.null_count
            else:
                found += known.num_values
    return found


def uri(path: Path) -> str:
    """The URI by which Spark writes to a path."""
    return f"file://{path}"


def pattern(path: Path) -> str:
    """The glob pattern by which Spark reads a path."""
    return re.sub(r"([\\{}\[\]*?])", r"\\\1", uri(path))
