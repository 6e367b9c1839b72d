"""Executors write records: one task per source."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from likewise.engines.spark.tasks import mapped
from likewise.io.inputs import Source
from likewise.io.placing import beside
from likewise.records import Edits, in_turn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def write(session: SparkSession, source: Source, target: Path, rows: tuple[Any, ...], edits: Edits | None) -> int:
    """Write rows of a source as `io.formats.Format.write` does, and return their number."""
    task = partial(written, source=source, target=target, rows=rows, edits=edits)
    return int(mapped(session.range(0, 1, 1, 1), task, "rows long").collect()[0][0])


def written(batches: Iterator[pa.RecordBatch], source: Source, target: Path, rows: tuple[Any, ...], edits: Edits | None) -> Iterator[pa.RecordBatch]:
    """Write rows of a source to a new name, and rename the file: Spark may run a task twice."""
    for batch in batches:
        if batch.num_rows:
            place = target if target.is_dir() else beside(target)
            keep, start, length, added = rows
            more = {} if edits is None else {"edits": edits}  # not all formats take them
            number = source.format.write(source.path, place, keep, start, length, added, in_turn, **more)
            if place != target:
                place.replace(target)
            yield pa.record_batch([pa.array([number])], names=["rows"])
