"""Executors write records: one task per source."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from likewise.engines import engine
from likewise.engines.spark.tasks import mapped, raised, told
from likewise.errors import LikewiseError
from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.placing import beside
from likewise.records import Chosen, in_turn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(session: SparkSession, folder: Path, source: Source, target: Path, rows: Chosen) -> int:
    """Write rows of a source as `io.formats.Format.write` does, and return their number. folder: of files for the task, on the disk of the target.

    The task gets the rows as a file: they may be more than the plan of a job can hold, of which Spark Connect takes 128 MiB. Raises the errors of
    `io.formats.Format.write`.
    """
    given = beside(folder / "rows.pickle")
    given.write_bytes(pickle.dumps(rows, protocol=5))
    try:
        task = partial(written, source=source, target=target, given=given)
        number, error = mapped(session.range(0, 1, 1, 1), task, "rows long, error string").collect()[0]
    finally:
        given.unlink(missing_ok=True)
    if error is not None:
        raise raised(**json.loads(error))
    return int(number)


def written(batches: Iterator[pa.RecordBatch], source: Source, target: Path, given: Path) -> Iterator[pa.RecordBatch]:
    """Write rows of a source to a place of this attempt, because Spark may run a task twice, and then move the files to theirs.

    It lies beside ``given``, so that an attempt that is killed leaves nothing in the output.
    """
    for batch in batches:
        if batch.num_rows:
            place, number, error = beside(given.with_name(target.name)), 0, None
            try:
                if isinstance(source.path, Files):
                    place.mkdir()
                number = engine.written(source, place, pickle.loads(given.read_bytes()), in_turn)  # noqa: S301 - a file of this run
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
