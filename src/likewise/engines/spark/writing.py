"""Executors write records: one task per source."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from likewise.engines.spark.tasks import mapped, raised, told
from likewise.errors import LikewiseError
from likewise.io.inputs import Source
from likewise.io.placing import beside
from likewise.records import Edits, in_turn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


OF_ROWS = ("keep", "start", "length")


class Written(NamedTuple):
    """The rows of a source to write (`engines.engine.Engine.write`)."""

    keep: np.ndarray
    start: np.ndarray
    length: np.ndarray
    added: pa.Table | None
    edits: Edits | None

    def stored(self, path: Path) -> None:
        """Write the numbers of each row to a file: they may be more than the plan of a job can hold, of which Spark Connect takes 128 MiB."""
        pq.write_table(pa.table({name: getattr(self, name) for name in OF_ROWS}), path)


def write(session: SparkSession, folder: Path, source: Source, target: Path, rows: Written) -> int:
    """Write rows of a source as `io.formats.Format.write` does, and return their number. folder: of files for the task, on the disk of the target.

    Raises the errors of `io.formats.Format.write`.
    """
    given = beside(folder / "rows.parquet")
    rows.stored(given)
    try:
        task = partial(written, source=source, target=target, given=given, added=rows.added, edits=rows.edits)
        number, error = mapped(session.range(0, 1, 1, 1), task, "rows long, error string").collect()[0]
    finally:
        given.unlink(missing_ok=True)
    if error is not None:
        raise raised(**json.loads(error))
    return int(number)


def written(
    batches: Iterator[pa.RecordBatch], source: Source, target: Path, given: Path, added: pa.Table | None, edits: Edits | None
) -> Iterator[pa.RecordBatch]:
    """Write rows of a source to a file of this attempt, because Spark may run a task twice, and move it to its place.

    It lies beside ``given``, so that an attempt that is killed leaves nothing in the output.
    """
    for batch in batches:
        if batch.num_rows:
            place = target if target.is_dir() else beside(given.with_name(target.name))
            more = {} if edits is None else {"edits": edits}  # not all formats take them
            number, error = 0, None
            try:
                keep, start, length = (pq.read_table(given, partitioning=None)[name].to_numpy() for name in OF_ROWS)
                number = source.format.write(source.path, place, keep, start, length, added, in_turn, **more)
                if place != target:
                    place.replace(target)
            except LikewiseError as failed:
                error = json.dumps(told(failed))
                if place != target:
                    place.unlink(missing_ok=True)
            yield pa.record_batch([pa.array([number]), pa.array([error], pa.string())], names=["rows", "error"])
