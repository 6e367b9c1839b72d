"""Arrow batches on their way in and out: cut into chunks, thinned to the kept rows, with damage turned into DataError."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.io.records import Chunk

#: A chunk closes when it holds this many bytes or rows. Rows are bounded too: a dictionary-encoded row is small here and large once decoded.
CHUNK_BYTES = 8 << 20
CHUNK_ROWS = 1 << 16


@contextmanager
def reading(place: str | Path, kind: str) -> Iterator[None]:
    """What pyarrow says about a damaged or unreadable file, as a DataError that names the place."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeError) as error:
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise DataError(f"{place}: cannot be read as {kind}: {reason}. Copy or make the file again, or leave it out") from error


def nonempty(path: Path, kind: str) -> None:
    """A columnar file has a header even without rows, so zero bytes are damage."""
    with reading(path, kind):
        size = path.stat().st_size
    if size == 0:
        raise DataError(f"{path}: is empty (0 bytes), so it is not {kind}; leave it out or write it again")


def gather(batches: Iterable[pa.RecordBatch], names: Iterable[str], first: int = 0, start: int = 0) -> Iterator[Chunk]:
    """Batches in order as chunks of about CHUNK_BYTES: small ones joined, large ones sliced, copying nothing.

    ``first`` is the row number of the first batch; rows before ``start`` are left out. ``names`` are all top-level
    columns, also those that were not read; ``parse`` finds them in ``Chunk.state``. ``Chunk.data`` is a pa.Table.
    """
    state, size, rows = tuple(names), 0, 0
    pending: list[pa.RecordBatch] = []

    def chunk() -> Iterator[Chunk]:
        if first + rows > start:
            table = pa.Table.from_batches(pending).slice(max(start - first, 0))
            yield Chunk(table, max(start, first), 0, state)

    for piece in (piece for batch in batches for piece in _pieces(batch)):
        pending.append(piece)
        size += piece.nbytes
        rows += piece.num_rows
        if size >= CHUNK_BYTES or rows >= CHUNK_ROWS:
            yield from chunk()
            first, pending, size, rows = first + rows, [], 0, 0
    if pending:
        yield from chunk()


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    rows, size = batch.num_rows, batch.nbytes
    step = max(1, min(CHUNK_ROWS, CHUNK_BYTES * rows // max(size, 1)))
    return (batch.slice(at, step) for at in range(0, rows, step))


def select(batch: pa.RecordBatch, keep: np.ndarray) -> pa.RecordBatch:
    """The rows where ``keep`` (bool[rows]) is true."""
    if keep.all():
        return batch
    try:
        return batch.filter(pa.array(keep))
    except pa.ArrowNotImplementedError:  # views and run-end encoding cannot be filtered, but slices of them can be joined
        edges = np.flatnonzero(np.diff(keep, prepend=False, append=False))
        runs = [batch.slice(a, b - a) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)]
        return pa.concat_batches(runs) if runs else batch.slice(0, 0)


class Keeper:
    """Hands each batch of a file its share of ``keep`` and of the columns to append. Batches must come in file order."""

    def __init__(self, place: str | Path, schema: pa.Schema, keep: np.ndarray, add: pa.Table | None) -> None:
        self.place, self.keep, self.add = place, keep, add
        self.read = self.kept = 0
        if add is not None:
            if clash := [name for name in add.column_names if name in schema.names]:
                raise UsageError(f"{place}: already has a column {clash[0]!r}, which is to be added; rename or drop it there first")
            schema = pa.schema([*schema, *add.schema], metadata=schema.metadata)
        self.schema = schema

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        chosen = select(batch, self.keep[self.read : self.read + batch.num_rows])
        self.read += batch.num_rows
        if self.read > len(self.keep):
            raise self._changed()
        if self.add is not None:
            extra = self.add.slice(self.kept, chosen.num_rows)
            chosen = pa.RecordBatch.from_arrays([*chosen.columns, *(column.combine_chunks() for column in extra.columns)], schema=self.schema)
        self.kept += chosen.num_rows
        return chosen

    def finish(self) -> None:
        if self.read != len(self.keep):
            raise self._changed()

    def _changed(self) -> DataError:
        return DataError(
            f"{self.place}: was read with {len(self.keep)} rows and has another number now; start again, and let nothing write to it meanwhile"
        )
