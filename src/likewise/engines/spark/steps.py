"""Steps: tables of a run as Parquet folders, each with a manifest. A finished step is not computed again, a half-written one is replaced.

Reading a step back cuts the plan of a job, so that a lost worker costs one step at most, and a lost driver continues behind the last finished one.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

#: The manifest of a step. Spark and pyarrow ignore files in a folder of Parquet whose names begin so.
MANIFEST = "_step.json"
#: Types of Spark.
SQL = {pa.int32(): "int", pa.int64(): "long", pa.float64(): "double", pa.binary(): "binary", pa.string(): "string"}
#: Rows of a row group of a table that the driver writes, so that several tasks read it.
GROUP_ROWS = 1 << 20


class Steps:
    """The steps of a run in a folder that driver and executors see under one path."""

    def __init__(self, session: SparkSession, folder: Path):
        self.session, self.folder = session, folder.absolute()

    def table(self, name: str, make: Callable[[], DataFrame]) -> DataFrame:
        """The table of a step: as it was written, or as ``make`` computes it now."""
        if not self.done(name):
            self.drop(name)
            made = make()
            made.write.option("parquet.enable.dictionary", "false").parquet(self._place(name))
            self._finish(name, made.schema.json())
        return self.frame(name)

    def put(self, name: str, table: pa.Table) -> DataFrame:
        """The table of a step that the driver made."""
        if not self.done(name):
            self.drop(name)
            (self.folder / name).mkdir(parents=True)
            pq.write_table(table, self.folder / name / "part-0.parquet", row_group_size=GROUP_ROWS)
            self._finish(name, ", ".join(f"`{field.name}` {SQL[field.type]}" for field in table.schema))
        return self.frame(name)

    def read(self, name: str, columns: Sequence[str], where: Any = None) -> pa.Table:
        """Columns of a finished step on the driver. where: a filter of pyarrow."""
        return pa.concat_tables([pq.read_table(path, columns=[*columns], filters=where, partitioning=None) for path in self._files(name)])

    def columns(self, name: str, *columns: str) -> list[np.ndarray]:
        """Columns of numbers of a finished step on the driver."""
        table = self.read(name, columns)
        return [table[column].to_numpy() for column in columns]

    def rows(self, name: str) -> int:
        """The number of rows of a finished step."""
        return sum(pq.read_metadata(path).num_rows for path in self._files(name))

    def done(self, name: str) -> bool:
        """True if a step is finished and its files are there."""
        path = self.folder / name / MANIFEST
        try:
            return bool(json.loads(path.read_bytes())["files"] == self._sizes(name))
        except (OSError, ValueError):
            return False

    def drop(self, name: str) -> None:
        """Delete a step."""
        shutil.rmtree(self.folder / name, ignore_errors=True)

    def _finish(self, name: str, schema: str) -> None:
        path = self.folder / name / MANIFEST
        new = path.with_suffix(".new")
        new.write_text(json.dumps({"files": self._sizes(name), "schema": schema}))
        new.replace(path)

    def _files(self, name: str) -> list[Path]:
        return sorted((self.folder / name).glob("*.parquet"))

    def _sizes(self, name: str) -> dict[str, int]:
        return {path.name: path.stat().st_size for path in self._files(name)}

    def frame(self, name: str) -> DataFrame:
        """The table of a finished step."""
        from pyspark.sql.types import StructType

        text = json.loads((self.folder / name / MANIFEST).read_bytes())["schema"]
        schema = StructType.fromJson(json.loads(text)) if text.startswith("{") else text
        return self.session.read.schema(schema).parquet(re.sub(r"([\\{}\[\]*?])", r"\\\1", self._place(name)))  # a path to read is a pattern

    def _place(self, name: str) -> str:
        return f"file://{self.folder / name}"
