"""Arrow IPC: the file format (.arrow, Feather 2) and the stream format, distinguished by their first bytes."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import accumulate, chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from likewise.errors import DataError
from likewise.io import arrow_messages, storage
from likewise.io.arrow_messages import FILE_MAGIC, KIND, First, first_batch, within
from likewise.io.batches import Keeper, check, check_names, gather, nonempty, reading
from likewise.io.column_edits import check as check_column
from likewise.io.column_edits import editor
from likewise.io.columns import known, parse, wanted
from likewise.io.field_names import top
from likewise.io.headers import once
from likewise.io.ranges import WHOLE, Range, few, joined
from likewise.records import BATCH_FACTOR, Chunk, Each, Edits, Want, in_turn

__all__ = ["chunks", "few", "known", "parse", "schema", "write"]

FEATHER_1 = b"FEA1"
LARGE_BATCH = 256 << 20


class Header(NamedTuple):
    """The layout of an Arrow file, read from its beginning."""

    is_file: bool  # else a stream
    first: First
    schema: pa.Schema


@once
def _header(path: Path) -> Header:
    nonempty(path, KIND)
    with reading(path, KIND):
        with path.open("rb") as file:
            magic = file.read(len(FILE_MAGIC))
        if magic.startswith(FEATHER_1):
            raise DataError(f"{path}: is a Feather file of version 1, which is not supported; write it again with pyarrow.feather.write_feather")
        found = Header(magic == FILE_MAGIC, first_batch(path), pa.schema([]))
        schema = _reader(path, found).schema
        check_names(schema)
        return found._replace(schema=schema)


def _open(path: Path, fields: list[int] | None = None) -> Any:
    """Open a reader of the file or stream; ``fields``: numbers of the columns to read (default: all)."""
    found = _header(path)
    with reading(path, KIND):
        return _reader(path, found, fields)


def _reader(path: Path, found: Header, fields: list[int] | None = None) -> Any:
    """Open a reader. Files are memory-mapped only if their batches are too large to hold: truncating a mapped file kills the process."""
    raw = storage.arrow(path, mapped=found.first.size > LARGE_BATCH)
    options = ipc.IpcReadOptions(included_fields=fields or [])
    return ipc.open_file(raw, options=options) if found.is_file else ipc.open_stream(raw, options=options)


def _batches(path: Path, reader: Any, first: int = 0, *, full: bool = False) -> Iterator[tuple[pa.RecordBatch, Any]]:
    """Yield batches with their custom metadata; in the file format, from number ``first``. ``full``: check all values as `parse` does for columns."""
    with reading(path, KIND):  # a caller's exceptions do not pass through a generator, so these are pyarrow's
        if isinstance(reader, ipc.RecordBatchFileReader):
            batches = map(reader.get_batch_with_custom_metadata, range(first, reader.num_record_batches))
        else:
            batches = reader.iter_batches_with_custom_metadata()
        for batch, custom in batches:
            yield check(batch, full=full), custom


def schema(path: Path, want: Want) -> pa.Schema:
    """Return the schema of the file or stream. Raises DataError."""
    return _header(path).schema


def plan(path: Path, size: int) -> list[Range]:
    """Return ranges of rows that end at batch borders. A stream is one range: a batch's place is known only after reading those before it."""
    return joined(arrow_messages.batches(path), size) if _header(path).is_file else [WHOLE]


def chunks(path: Path, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield chunks of the wanted columns. Raises DataError for a batch that would expand beyond the limit."""
    schema = _header(path).schema
    names = schema.names
    read = {top(name, names) for name in wanted(want, schema, path)}
    fields = [number for number, name in enumerate(names) if name in read]
    reader = _open(path, fields or [0])  # an empty list would read all of them
    bounded, number, first = within(path, BATCH_FACTOR * want.most), 0, 0
    if isinstance(reader, ipc.RecordBatchFileReader):  # batches may be stored in any order
        deque(bounded, 0)
        bounded = iter(())
        number, first = _skipped(path, part[0])
    batches = (batch for batch, _ in _batches(path, reader, number))
    yield from gather(chain((batch for _, batch in zip(bounded, batches, strict=False)), batches), names, first, start, part)


def _skipped(path: Path, row: int) -> tuple[int, int]:
    """Return the number of batches that end before a row, and how many rows they have."""
    ends = list(accumulate(batch.rows for batch in arrow_messages.batches(path))) if row else []
    number = bisect_right(ends, row)
    return number, ends[number - 1] if number else 0


def write(
    source: Path,
    target: Path,
    keep: np.ndarray,
    start: np.ndarray,
    length: np.ndarray,
    add: pa.Table | None = None,
    each: Each = in_turn,
    edits: Edits | None = None,
) -> int:
    """Write the rows where ``keep`` is true, batch by batch, in the source's format. ``add``: columns to append, one row per kept row.

    ``edits``: parts to cut out of texts.
    """
    reader = _open(source)
    keeper = Keeper(source, reader.schema, keep, add, editor(edits))
    options = ipc.IpcWriteOptions(compression=_header(source).first.codec)
    if isinstance(reader, ipc.RecordBatchFileReader):
        create = partial(ipc.new_file, schema=keeper.schema, options=options, metadata=reader.metadata)
    else:
        create = partial(ipc.new_stream, schema=keeper.schema, options=options)
    return save(((keeper(batch), custom) for batch, custom in keeper.wanted(_batches(source, reader, full=True))), target, create)


def check_cut(path: Path, want: Want) -> None:
    """Raise UsageError for a column whose texts cannot be cut: the file format has one dictionary for all batches."""
    check_column(_header(path).schema, want, path, dictionaries=not _header(path).is_file)


def save(batches: Iterable[tuple[pa.RecordBatch, Any]], target: Path, create: Callable[[Any], Any]) -> int:
    """Write all nonempty batches with their custom metadata to the writer that ``create`` opens; return the number of rows."""
    written = 0
    with pa.OSFile(os.fsencode(target), "wb") as sink, create(sink) as writer:
        for batch, custom in batches:
            if len(batch):
                writer.write_batch(batch, custom_metadata=custom)
                written += len(batch)
    return written
