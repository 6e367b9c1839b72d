"""Arrow batches, read and written: cut into chunks, filtered to the kept rows, with damage turned into DataError."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import DEVICE_ERRORS, DataError, UsageError, of_device
from likewise.io import expansion
from likewise.io.ranges import WHOLE, Range
from likewise.items.arrow import as_bytes
from likewise.items.wrapped import wrapped
from likewise.records import Chunk

#: A chunk closes at this many bytes or rows. Rows are limited too, because a dictionary-encoded row is small here and large once decoded.
CHUNK_BYTES = 8 << 20
CHUNK_ROWS = 1 << 16


@contextmanager
def reading(place: str | Path, kind: str) -> Iterator[None]:
    """Context manager: turn pyarrow's errors about a file into DataError that names the place. Errors of the device stay OSError."""
    try:
        yield
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, UnicodeError) as error:
        if isinstance(error, OSError) and error.errno and error.errno in DEVICE_ERRORS:
            raise of_device(error, place) from error
        reason = str(error).strip().split("\n")[0].rstrip(".")
        raise DataError(f"{place}: cannot be read as {kind}: {reason}. Copy or create the file again, or leave it out") from error


def changed(place: str | Path) -> DataError:
    """Return the error for a file that became shorter during the run."""
    return DataError(f"{place}: is shorter than when it was first read; do not change inputs during a run, and start over")


def nonempty(path: Path, kind: str) -> None:
    """Raise DataError for zero bytes: a columnar file has a header even without rows."""
    with reading(path, kind):
        size = path.stat().st_size
    if size == 0:
        raise DataError(f"{path}: is empty (0 bytes), so it is not {kind}; leave it out or write it again")


def check_names(fields: Any) -> None:
    """Access all names of a schema or type, to raise UnicodeDecodeError for one that is not UTF-8 here rather than later."""
    for number in range(fields.num_fields if isinstance(fields, pa.DataType) else len(fields)):
        if fields.field(number).name is not None:
            check_names(fields.field(number).type)


def gather(batches: Iterable[pa.RecordBatch], names: Iterable[str], first: int = 0, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield batches as chunks of about CHUNK_BYTES: small ones joined, large ones sliced, without copying.

    ``first`` is the row number of the first batch; rows before ``start`` or not in ``part`` are left out. ``names`` are all top-level
    columns, including those not read; ``parse`` finds them in ``Chunk.state``. ``Chunk.data`` is a pa.Table.
    Chunks before damage are yielded first; then its DataError is raised.
    """
    state, size, rows = tuple(names), 0, 0
    start, end = max(start, part[0]), part[1]
    pending: list[pa.RecordBatch] = []

    def chunk() -> Iterator[Chunk]:
        begin, stop = max(start, first), min(first + rows, end)
        if begin < stop:
            yield Chunk(pa.Table.from_batches(pending).slice(begin - first, stop - begin), begin, 0, state)

    damage = None
    pieces = (piece for batch in batches for piece in _pieces(batch))
    while damage is None and first + rows < end:
        try:
            piece, nbytes = next(pieces, (None, 0))
        except DataError as error:
            piece, damage = None, error
        if piece is None:
            break
        pending.append(piece)
        size += nbytes
        rows += piece.num_rows
        if size >= CHUNK_BYTES or rows >= CHUNK_ROWS:
            yield from chunk()
            first, pending, size, rows = first + rows, [], 0, 0
    if pending:
        yield from chunk()
    if damage is not None:
        raise damage


def _pieces(batch: pa.RecordBatch) -> Iterator[tuple[pa.RecordBatch, int]]:
    """Yield slices of a batch, and the bytes of each once decoded: at most CHUNK_BYTES, or one row."""
    for at in range(0, batch.num_rows, CHUNK_ROWS):
        part = batch.slice(at, CHUNK_ROWS)
        shared = [expansion.of_rows(column) for column in part.columns]
        part = _plain(part, [sizes is None for sizes in shared])
        own = sum(column.nbytes for column, sizes in zip(part.columns, shared, strict=True) if sizes is None)
        ends = np.cumsum(sum((sizes for sizes in shared if sizes is not None), np.full(part.num_rows, own // part.num_rows)))
        row = before = 0
        while row < part.num_rows:
            end = max(row + 1, int(np.searchsorted(ends, before + CHUNK_BYTES, side="right")))
            yield _plain(part.slice(row, end - row), [True] * part.num_columns), int(ends[end - 1]) - before
            row, before = end, int(ends[end - 1])


def _plain(batch: pa.RecordBatch, chosen: list[bool]) -> pa.RecordBatch:
    """Return the batch with views replaced in the ``chosen`` columns."""
    kinds = [_wide(kind) if change else kind for kind, change in zip(batch.schema.types, chosen, strict=True)]
    if kinds == batch.schema.types:
        return batch
    return pa.RecordBatch.from_arrays([column.cast(kind) for column, kind in zip(batch.columns, kinds, strict=True)], batch.schema.names)


def _wide(kind: pa.DataType) -> pa.DataType:
    """Return the type with plain strings and bytes in place of views, whose slices keep the memory of all rows and which cannot be filtered."""
    if kind in (pa.string_view(), pa.binary_view()):
        return pa.large_string() if kind == pa.string_view() else pa.large_binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_wide(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(_wide(kind.key_type), kind.item_field.with_type(_wide(kind.item_type)))
    for test, make in ((pa.types.is_list, pa.list_), (pa.types.is_large_list, pa.large_list), (pa.types.is_fixed_size_list, pa.list_)):
        if test(kind):
            size = (kind.list_size,) if pa.types.is_fixed_size_list(kind) else ()
            return make(kind.value_field.with_type(_wide(kind.value_type)), *size)
    return kind


def check(batch: pa.RecordBatch, *, full: bool = False) -> pa.RecordBatch:
    """Return the batch if its buffers are long enough; ``full``: and if all offsets and indices are in bounds, so that it can be filtered.

    Raises pa.ArrowInvalid. pyarrow trusts an IPC message, and an offset out of bounds crashes the process. UTF-8 is not checked here, because rows
    with invalid text are rejected individually.
    """
    batch.validate()
    if full:
        for column in batch.columns:
            with suppress(pa.ArrowException):  # if a type cannot be viewed as bytes, strings must be UTF-8
                column = column.view(as_bytes(column.type))
            column.validate(full=True)
    return batch


def select(batch: pa.RecordBatch, keep: np.ndarray) -> pa.RecordBatch:
    """Return the rows where ``keep`` (bool[rows]) is true, for columns of any type."""
    return pa.RecordBatch.from_arrays([_select(column, keep) for column in batch.columns], schema=batch.schema)


def _select(column: pa.Array, keep: np.ndarray) -> pa.Array:
    wide = _wide(column.type)
    if wide != column.type:
        return column.cast(wide).filter(wrapped(keep)).cast(column.type)
    if keep.all():
        return column
    try:
        return column.filter(wrapped(keep))
    except pa.ArrowNotImplementedError:  # run-end encoded arrays cannot be filtered, but their slices can be joined
        edges = np.flatnonzero(np.diff(keep, prepend=False, append=False)).reshape(-1, 2)
        return pa.concat_arrays([column.slice(first, end - first) for first, end in edges.tolist()] or [column.slice(0, 0)])


Edit = Callable[[pa.RecordBatch, int], pa.RecordBatch]


class Keeper:
    """Filters each batch of a file by its part of ``keep`` and appends columns. Batches must come in file order.

    Batches after the last kept row need not be read (``done``): they may be damaged, or beyond --limit.
    """

    def __init__(self, place: str | Path, schema: pa.Schema, keep: np.ndarray, add: pa.Table | None, edit: Edit | None = None) -> None:
        """edit: a function of a batch and the number of its first row, which returns the batch with other values."""
        self.place, self.add, self.edit = place, add, edit
        self.keep = keep[: int(np.flatnonzero(keep)[-1]) + 1 if keep.any() else 0]
        self.read = self.kept = 0
        if add is not None:
            if clash := [name for name in add.column_names if name in schema.names]:
                raise UsageError(f"{place}: already has the column {clash[0]!r}, which likewise would add; rename or drop it there first")
            schema = pa.schema([*schema, *add.schema], metadata=schema.metadata)
        self.schema = schema

    @property
    def done(self) -> bool:
        """True once the batch with the last kept row has been read."""
        return self.read >= len(self.keep)

    def __call__(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        before, self.read = self.read, self.read + batch.num_rows
        share = self.keep[before : self.read]
        if self.edit is not None:
            batch = self.edit(batch, before)
        chosen = select(batch, np.concatenate((share, np.zeros(batch.num_rows - len(share), bool))))
        if self.add is not None:
            extra = self.add.slice(self.kept, chosen.num_rows)
            chosen = pa.RecordBatch.from_arrays([*chosen.columns, *(column.combine_chunks() for column in extra.columns)], schema=self.schema)
        self.kept += chosen.num_rows
        return chosen

    def wanted(self, batches: Iterable[Any]) -> Iterator[Any]:
        """Yield the batches up to the one with the last kept row. Raises DataError if there are too few."""
        for batch in () if self.done else batches:
            yield batch
            if self.done:
                return
        if not self.done:
            raise DataError(f"{self.place}: has fewer rows than when it was first read; do not change inputs during a run, and start over")
