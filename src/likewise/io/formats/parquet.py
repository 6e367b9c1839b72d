"""Parquet files: read a bounded batch at a time, written back with the same schema, metadata and codecs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from likewise.errors import DataError
from likewise.io import footer, parquet_types
from likewise.io.batches import CHUNK_BYTES, Keeper, check_names, gather, nonempty, reading
from likewise.io.columns import known, parse, wanted
from likewise.io.headers import once
from likewise.io.ranges import WHOLE, Range, few, joined
from likewise.records import BATCH_FACTOR, Chunk, Each, Want, in_turn

__all__ = ["chunks", "few", "known", "parse", "schema", "write"]

KIND = "a Parquet file"
#: Rows decoded at once. Few, because what the metadata calls a small row can be a large one (dictionary pages are shared); more gains nothing.
BATCH_ROWS = 4096
#: Bytes at the beginning of a page that are sure to hold its size.
HEAD_BYTES = 16
#: Under which key Spark keeps the columns of a file.
SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
#: A row group of the output is closed early at this size, so that a huge one does not have to fit into memory.
GROUP_BYTES = 256 << 20


@once
def _footer(path: Path) -> tuple[pq.FileMetaData, pa.Schema]:
    nonempty(path, KIND)
    with reading(path, KIND), pq.ParquetFile(_raw(path)) as file:
        check_names(file.schema_arrow)
        return file.metadata, file.schema_arrow


def _open(path: Path, **options: Any) -> pq.ParquetFile:
    metadata, _ = _footer(path)
    with reading(path, KIND):
        # no pre_buffer, but a buffered stream: column chunks are not held whole
        return pq.ParquetFile(_raw(path), metadata=metadata, pre_buffer=False, buffer_size=1 << 18, page_checksum_verification=True, **options)


def _raw(path: Path) -> pa.OSFile:
    return pa.OSFile(os.fsencode(path))  # bytes: pyarrow takes no str for a name that is not UTF-8


@once
def _groups(path: Path) -> list[footer.Group]:
    with reading(path, KIND):
        return footer.groups(path)


def _batches(
    path: Path, file: pq.ParquetFile, groups: dict[int, footer.Group], columns: list[str] | None, most: int = Want().most
) -> Iterator[pa.RecordBatch]:
    """Batches of row groups, by their numbers. ``most``: bytes of a record; a batch may have BATCH_FACTOR times as many."""
    rows, size = sum(group.rows for group in groups.values()), sum(group.size for group in groups.values())
    step = max(1, min(BATCH_ROWS, CHUNK_BYTES * rows // max(size, 1), BATCH_FACTOR * most // _largest_dictionary(path, groups.values(), columns)))
    apart = any(pa.types.is_nested(kind) and _has_dictionary(kind) for kind in file.schema_arrow.types)
    found = 0
    with reading(path, KIND):  # a caller's exceptions do not pass through a generator, so these are pyarrow's
        for some in [[number] for number in groups] if apart else [list(groups)]:
            for batch in file.iter_batches(step, row_groups=some, columns=columns, use_threads=False):
                found += batch.num_rows
                yield batch
    if found != rows:  # pyarrow takes a column that ends early for its end
        raise DataError(f"{path}: {rows:,} rows were expected, as its metadata says, and {found:,} came; copy or make the file again")


def _has_dictionary(kind: pa.DataType) -> bool:
    """Whether some values of this type are dictionaries. Each row group has one of its own, and inside lists and structs pyarrow cannot join them."""
    return pa.types.is_dictionary(kind) or any(_has_dictionary(kind.field(number).type) for number in range(kind.num_fields))


def _largest_dictionary(path: Path, groups: Iterable[footer.Group], columns: list[str] | None) -> int:
    """Bytes of the largest page of values that rows share: no value can be longer, but each row of a batch can have it.

    pyarrow does not tell, so this reads the heads of pages: the second field of one is the size that it expands to (Thrift's compact protocol).
    """
    largest = 1
    with reading(path, KIND), open(path, "rb") as raw:
        for column in (column for group in groups for column in group.columns if column.dictionary):
            if columns is None or column.path in columns or column.path.partition(".")[0] in columns:
                raw.seek(max(0, column.dictionary))
                largest = max(largest, _page_bytes(raw.read(HEAD_BYTES)))
    return largest


def _page_bytes(head: bytes) -> int:
    """The size in the head of a page; 0 where it is not as expected."""
    at = number = 0
    for _ in range(2):  # the fields 1 and 2 are of the type i32: a byte that says so, and a zigzag number of seven bits a byte
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
    return _footer(path)[1]


def plan(path: Path, size: int) -> list[Range]:
    """Ranges of rows that end where row groups do."""
    return joined(((group.rows, group.size) for group in _groups(path)), size)


def chunks(path: Path, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Chunks do not cross the row groups of ``_spans``, so that a resumed run can pass over whole ones."""
    file = _open(path)
    names = file.schema_arrow.names
    for first, groups in _spans(_groups(path), part):
        if first + sum(group.rows for group in groups.values()) > start:
            yield from gather(_batches(path, file, groups, wanted(want, file.schema_arrow, path), want.most), names, first, start, part)


def _spans(groups: list[footer.Group], part: Range) -> Iterator[tuple[int, dict[int, footer.Group]]]:
    """The number of the first row of consecutive row groups that hold rows of ``part``, and the groups by their numbers, small ones together up to
    about one chunk."""
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
    source: Path, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, add: pa.Table | None = None, each: Each = in_turn
) -> int:
    """The rows where ``keep`` is true, row group by row group, with the columns of ``add`` (one row a kept row) behind the others."""
    file = _open(source, coerce_int96_timestamp_unit=_int96_unit(source))
    groups = dict(enumerate(_groups(source)))
    if keep.all() and len(keep) == file.metadata.num_rows and add is None:
        shutil.copyfile(source, target)
        return len(keep)
    keeper = Keeper(source, file.schema_arrow, keep, add)
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
        written = sum(each(write_group, _tables(keeper, batches), at_once=1))  # the next is read while one is written
    parquet_types.restore(source, target)
    return written


def check_written(path: Path) -> None:
    """Refuse a file whose kept rows could not be written with the types of its columns. Raises UsageError."""
    with reading(path, KIND):
        if not parquet_types.are_lacking(path):
            return
    file = _open(path)
    with reading(path, KIND):
        parquet_types.check(path, file.schema_arrow, _options(file, {}, file.schema_arrow))


def _tables(keeper: Keeper, batches: Iterable[tuple[int, pa.RecordBatch]]) -> Iterator[pa.Table]:
    """The kept rows of each row group, or of a part of it."""
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
    """How the file was written, as far as its metadata tells."""
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
    """The keys and values of a file's footer. Spark's own schema is left out if it lacks some columns, because Spark would not read those."""
    found = dict(file.metadata.metadata or {})
    if add is not None:
        found.pop(SPARK_SCHEMA, None)
    return found


def _int96(file: pq.ParquetFile) -> list[str]:
    return [leaf.path for leaf in map(file.schema.column, range(len(file.schema))) if leaf.physical_type == "INT96"]


def _int96_unit(path: Path) -> str:
    """The unit in which INT96 timestamps (Spark, Hive) are read without loss: ns wraps outside the years 1678 to 2262, us drops digits."""
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
        f"{path}: INT96 timestamps outside the years 1678 to 2262 stand beside ones finer than a microsecond; write it again with INT64 ones"
    )


def _timestamps(values: pa.RecordBatch | pa.Array) -> list[np.ndarray]:
    """The numbers in timestamp columns, however deep in structs, lists and maps they are."""
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
