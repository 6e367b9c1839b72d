"""Executors write records: one task per source."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from likewise.engines import engine
from likewise.engines.spark.tasks import mapped, raised, told
from likewise.errors import LikewiseError
from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.placing import beside
from likewise.records import Chosen, Edits, in_turn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

#: The columns of `Chosen` with a number for each row.
OF_ROWS = ("keep", "start", "length")


def write(session: SparkSession, folder: Path, source: Source, target: Path, rows: Chosen) -> int:
    """Write rows of a source as `io.formats.Format.write` does, and return their number. folder: of files for the task, on the disk of the target.

    Raises the errors of `io.formats.Format.write`.
    """
    given = beside(folder / "rows.parquet")
    store(given, rows)
    try:
        task = partial(written, source=source, target=target, given=given, added=rows.added, edits=rows.edits)
        number, error = mapped(session.range(0, 1, 1, 1), task, "rows long, error string").collect()[0]
    finally:
        given.unlink(missing_ok=True)
    if error is not None:
        raise raised(**json.loads(error))
    return int(number)


def store(path: Path, rows: Chosen) -> None:
    """Write the numbers of each row to a file: they may be more than the plan of a job can hold, of which Spark Connect takes 128 MiB."""
    pq.write_table(pa.table({name: getattr(rows, name) for name in OF_ROWS}), path)


def written(
    batches: Iterator[pa.RecordBatch], source: Source, target: Path, given: Path, added: pa.Table | None, edits: Edits | None
) -> Iterator[pa.RecordBatch]:
    """Write rows of a source to a place of this attempt, because Spark may run a task twice, and then move the files to theirs.

    It lies beside ``given``, so that an attempt that is killed leaves nothing in the output.
    """
    for batch in batches:
        if batch.num_rows:
            place, number, error = beside(given.with_name(target.name)), 0, None
            try:
                if isinstance(source.path, Files):
                    place.mkdir()
                keep, start, length = (pq.read_table(given, partitioning=None)[name].to_numpy() for name in OF_ROWS)
                number = engine.written(source, place, Chosen(keep, start, length, added, edits), in_turn)
                moved(place, target)
            except LikewiseError as failed:
                error = json.dumps(told(failed))
            finally:
                shutil.rmtree(place) if place.is_dir() else place.unlink(missing_ok=True)
            yield pa.record_batch([pa.array([number]), pa.array([error], pa.string())], names=["rows", "error"])


def moved(place: Path, target: Path) -> None:
    """Move a file to its target, or the files of a folder to those with the same names in the target."""
    if not place.is_dir():
        place.replace(target)
        return
    for path in place.rglob("*"):
        if not path.is_dir():
            to = target / path.relative_to(place)
            to.parent.mkdir(parents=True, exist_ok=True)
            path.replace(to)
