"""Parquet files: read in bounded batches, written back with the schema, metadata and codecs of the source."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from likewise.errors import DataError
from likewise.io import footer, parquet_types, storage
from likewise.io.batches import CHUNK_BYTES, Keeper, check_names, gather, nonempty, reading
from likewise.io.column_edits import check as check_column
from likewise.io.column_edits import editor
from likewise.io.columns import known, parse, wanted
from likewise.io.headers import once
from likewise.io.ranges import WHOLE, Range, few, joined
from likewise.records import BATCH_FACTOR, Chunk, Each, Edits, Want, in_turn

__all__ = ["chunks", "few", "known", "parse", "schema", "write"]

KIND = "a Parquet file"
#: Rows decoded at once. Few, because a row that is small by the metadata can be large (dictionary pages are shared); a larger number is not faster.
BATCH_ROWS = 4096
#: Bytes at the beginning of a page that are certain to contain its size.
HEAD_BYTES = 16
#: Metadata key under which Spark keeps the columns of a file.
SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
#: A row group of the output is closed at this size, so that a huge one does not have to fit into memory.
GROUP_BYTES = 256 << 20


@once
def _footer(path: Path) -> tuple[pq.FileMetaData, pa.Schema]:
    nonempty(path, KIND)
    with reading(path, KIND), pq.ParquetFile(storage.arrow(path)) as file:
        check_names(file.schema_arrow)
        return file.metadata, file.schema_arrow


def _open(path: Path, **options: Any) -> pq.ParquetFile:
    metadata, _ = _footer(path)
    with reading(path, KIND):
        # no pre_buffer, but a buffered stream: column chunks are not held whole
        return pq.ParquetFile(
            storage.arrow(path),
            metadata=metadata,
            pre_buffer=False,
            buffer_size=storage.step(path, 1 << 18),
            page_checksum_verification=True,
            **options,
        )


@once
def _groups(path: Path) -> list[footer.Group]:
    with reading(path, KIND):
        return footer.groups(path)


def _batches(
    path: Path, file: pq.ParquetFile, groups: dict[int, footer.Group], columns: list[str] | None, most: int = Want().most
) -> Iterator[pa.RecordBatch]:
    """Yield batches of row groups, given by number. ``most``: maximum bytes of a record; a batch may have BATCH_FACTOR times as many.

    Raises DataError if fewer rows come than the metadata states.
    """
    rows, size = sum(group.rows for group in groups.values()), sum(group.size for group in groups.values())
    step = max(1, min(BATCH_ROWS, CHUNK_BYTES * rows // max(size, 1), BATCH_FACTOR * most // _largest_dictionary(path, groups.values(), columns)))
    apart = any(pa.types.is_nested(kind) and _has_dictionary(kind) for kind in file.schema_arrow.types)
    found = 0
    with reading(path, KIND):  # a caller's exceptions do not pass through a generator, so these are pyarrow's
        for some in [[number] for number in groups] if apart else [list(groups)]:
            for batch in file.iter_batches(step, row_groups=some, columns=columns, use_threads=False):
                found += batch.num_rows
                yield batch
    if found != rows:  # pyarrow treats a truncated column as complete
        raise DataError(f"{path}: {rows:,} rows were expected by its metadata, but it has {found:,}; copy or create the file again")


def _has_dictionary(kind: pa.DataType) -> bool:
    """Return whether the type contains a dictionary. Each row group has its own, and pyarrow cannot join those inside lists and structs."""
    return pa.types.is_dictionary(kind) or any(_has_dictionary(kind.field(number).type) for number in range(kind.num_fields))


def _largest_dictionary(path: Path, groups: Iterable[footer.Group], columns: list[str] | None) -> int:
    """Return the bytes of the largest dictionary page: no value is longer, but each row of a batch can have it.

    pyarrow does not expose this, so the heads of pages are read: field 2 is the uncompressed size (Thrift compact protocol).
    """
    largest = 1
    with reading(path, KIND), storage.raw(path) as raw:
        for column in (column for group in groups for column in group.columns if column.dictionary):
            if columns is None or column.path in columns or column.path.partition(".")[0] in columns:
                raw.seek(max(0, column.dictionary))
                largest = max(largest, _page_bytes(raw.read(HEAD_BYTES) or b""))
    return largest


def _page_bytes(head: bytes) -> int:
    """Return the size in the head of a page, or 0 if the head is not as expected."""
    at = number = 0
    for _ in range(2):  # fields 1 and 2 have the type i32: a byte for the type, then a zigzag number of seven bits per byte
        if head[at : at + 1] != b"\x15":
            return 0
        number = shift = 0
        while (at := at + 1) < len(head):
            number |= (head[at] & 0x7F) << shift
            shift += 7
            if head[at] < 0x80:
                break
        at += 1
    return number >> 1


def schema(path: Path, want: Want) -> pa.Schema:
    """Return the Arrow schema of the file. Raises DataError."""
    return _footer(path)[1]


def plan(path: Path, size: int) -> list[Range]:
    """Return ranges of rows that end at row group borders."""
    return joined(((group.rows, group.size) for group in _groups(path)), size)


def chunks(path: Path, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield chunks that do not cross the groups of ``_spans``, so that a resumed run can skip whole ones."""
    file = _open(path)
    names = file.schema_arrow.names
    for first, groups in _spans(_groups(path), part):
        if first + sum(group.rows for group in groups.values()) > start:
            yield from gather(_batches(path, file, groups, wanted(want, file.schema_arrow, path), want.most), names, first, start, part)


def _spans(groups: list[footer.Group], part: Range) -> Iterator[tuple[int, dict[int, footer.Group]]]:
    """Yield consecutive row groups that hold rows of ``part``: the number of the first row, and the groups by number; small ones joined up to about a
    chunk.
    """
    span: dict[int, footer.Group] = {}
    at = size = rows = 0
    for number, group in enumerate(groups):
        if at + group.rows > part[0] and at < part[1]:
            span[number] = group
            size, rows = size + group.size, rows + group.rows
        at += group.rows
        if span and (size >= CHUNK_BYTES or at >= part[1] or number + 1 == len(groups)):
            yield at - rows, span
            span, size, rows = {}, 0, 0


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
    """Write the rows where ``keep`` is true, row group by row group; ``add``: columns to append, one row per kept row.

    ``edits``: parts to cut out of texts.
    """
    file = _open(source, coerce_int96_timestamp_unit=_int96_unit(source))
    groups = dict(enumerate(_groups(source)))
    edit = editor(edits)
    if keep.all() and len(keep) == file.metadata.num_rows and add is None and edit is None:
        storage.copy(source, target)
        return len(keep)
    keeper = Keeper(source, file.schema_arrow, keep, add, edit)
    options = _options(file, groups, keeper.schema)
    if unordered := parquet_types.unordered(source):
        options["write_statistics"] = [column.path for column in (groups[0].columns if groups else []) if column.path not in unordered]
    with pa.OSFile(os.fsencode(target), "wb") as sink, pq.ParquetWriter(sink, keeper.schema, **options) as writer:

        def write_group(table: pa.Table) -> int:
            writer.write_table(table, row_group_size=len(table))
            return len(table)

        if not options["store_schema"] and (metadata := _metadata(file, add)):  # else pyarrow writes it with the schema
            writer.add_key_value_metadata(metadata)
        batches = ((group, batch) for group in groups for batch in _batches(source, file, {group: groups[group]}, None))
        written = sum(each(write_group, _tables(keeper, batches), at_once=1))  # a group is read while another is written
    parquet_types.restore(source, target)
    return written


def check_written(path: Path) -> None:
    """Raise UsageError for a file whose kept rows could not be written with the column types of the source."""
    with reading(path, KIND):
        if not parquet_types.are_lacking(path):
            return
    file = _open(path)
    with reading(path, KIND):
        parquet_types.check(path, file.schema_arrow, _options(file, {}, file.schema_arrow))


def check_cut(path: Path, want: Want) -> None:
    """Raise UsageError for a column whose texts cannot be cut."""
    check_column(_footer(path)[1], want, path)


def _tables(keeper: Keeper, batches: Iterable[tuple[int, pa.RecordBatch]]) -> Iterator[pa.Table]:
    """Yield the kept rows of each row group, or of a part of it."""
    pending: list[pa.RecordBatch] = []
    size = at = 0
    for group, batch in keeper.wanted(batches):
        if group != at or size >= GROUP_BYTES:
            yield from _joined(pending)
            size, at = 0, group
        pending.append(keeper(batch))
        size += pending[-1].nbytes
    yield from _joined(pending)


def _joined(pending: list[pa.RecordBatch]) -> Iterator[pa.Table]:
    if any(batch.num_rows for batch in pending):
        yield pa.Table.from_batches(pending)
    pending.clear()


def _options(file: pq.ParquetFile, groups: dict[int, footer.Group], schema: pa.Schema) -> dict[str, Any]:
    """Return writer options like those the file was written with, as far as its metadata shows."""
    leaves = [file.schema.column(i) for i in range(len(file.schema))]
    chunks = groups[0].columns if groups else []
    codecs = {chunk.path: chunk.codec for chunk in chunks}
    added = schema.names[len(file.schema_arrow) :]
    codec = max(codecs.values(), key=list(codecs.values()).count, default="SNAPPY")
    logical = [leaf.logical_type.type for leaf in leaves]
    return {
        "compression": codecs | dict.fromkeys(added, codec) if codecs else codec,
        "use_dictionary": [chunk.path for chunk in chunks if chunk.dictionary] + added,
        "store_schema": b"ARROW:schema" in (file.metadata.metadata or {}),
        "use_compliant_nested_type": not any(".list.item" in leaf.path for leaf in leaves),
        "use_deprecated_int96_timestamps": _int96(file) != [] and "TIMESTAMP" not in logical,
        "store_decimal_as_integer": any(
            name == "DECIMAL" and leaf.physical_type in ("INT32", "INT64") for name, leaf in zip(logical, leaves, strict=True)
        ),
    }


def _metadata(file: pq.ParquetFile, add: pa.Table | None) -> dict[bytes, bytes]:
    """Return the key-value metadata of a file's footer. Spark's own schema is left out if columns are added, because Spark would not read those."""
    found = dict(file.metadata.metadata or {})
    if add is not None:
        found.pop(SPARK_SCHEMA, None)
    return found


def _int96(file: pq.ParquetFile) -> list[str]:
    return [leaf.path for leaf in map(file.schema.column, range(len(file.schema))) if leaf.physical_type == "INT96"]


def _int96_unit(path: Path) -> str:
    """Return the unit in which INT96 timestamps (Spark, Hive) are read without loss: ns wraps outside the years 1678 to 2262, us drops digits.

    Raises DataError if neither unit is lossless.
    """
    fine, wide = _open(path), _open(path, coerce_int96_timestamp_unit="us")
    if not (columns := _int96(fine)):
        return "ns"
    groups = dict(enumerate(_groups(path)))
    whole = {"ns": True, "us": True}
    for both in zip(_batches(path, fine, groups, columns), _batches(path, wide, groups, columns), strict=True):
        for ns, us in zip(*map(_timestamps, both), strict=True):
            whole["ns"] &= bool((ns // 1000 == us).all())
            whole["us"] &= bool((us * 1000 == ns).all())
    for unit, lossless in whole.items():
        if lossless:
            return unit
    raise DataError(
        f"{path}: it mixes INT96 timestamps outside the years 1678 to 2262 with others finer than a microsecond; write it again with INT64 timestamps"
    )


def _timestamps(values: pa.RecordBatch | pa.Array) -> list[np.ndarray]:
    """Return the numbers in timestamp columns at any depth in structs, lists and maps."""
    if isinstance(values, pa.RecordBatch):
        children = values.columns
    elif pa.types.is_timestamp(values.type):
        return [values.drop_null().cast(pa.int64()).to_numpy()]
    elif pa.types.is_map(values.type):
        children = [values.keys, values.items]
    elif pa.types.is_nested(values.type):
        flat = values.flatten()
        children = flat if isinstance(flat, list) else [flat]
    else:
        children = []
    return [leaf for child in children for leaf in _timestamps(child)]
