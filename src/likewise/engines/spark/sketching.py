"""The executors' part of reading: a task reads ranges of sources, and yields their rows, parts of rows if these are compared, and facts on chunks."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from likewise.engines.spark.about import facts_of
from likewise.engines.spark.blocks import binary
from likewise.engines.spark.tasks import told
from likewise.engines.threads import default_memory
from likewise.errors import LikewiseError
from likewise.io import contents
from likewise.io.beginning_rows import head
from likewise.io.chunks import chunks, failed, parsed
from likewise.io.inputs import Source
from likewise.io.places import marked
from likewise.io.ranges import Range
from likewise.io.room import first_above, with_room
from likewise.job import Job
from likewise.records import Chunk, Records, Want
from likewise.schema import IGNORED
from likewise.stages.sketch import sketcher, takes

#: Types of entries of the table: a row; a part of a row, if parts are the items; a chunk.
ROW, PART, CHUNK = 0, 1, 2
#: Numeric columns of the table, and their types in Spark, which has no unsigned integers.
NUMBERS: dict[str, Any] = {
    "kind": np.int32,
    "start": np.int64,
    "length": np.int64,
    "tokens": np.int32,
    "chars": np.int32,
    "size": np.int32,
    "copy_a": np.int64,
    "copy_b": np.int64,
    "per": np.int64,
    "score": np.float64,
    "bytes": np.int64,
    "units": np.int32,
    "ignored": np.int64,
    "nulls": np.int64,
}
TEXTS = ("id", "odd", "keys", "sets")
SQL = {np.int32: "int", np.int64: "long", np.float64: "double"}
#: The schema of the table. rank: the number of the task << 32 | the place in the task, which ascends in input order.
ENTRIES = ", ".join(
    ["what int, rank long", *(f"{name} {SQL[dtype]}" for name, dtype in NUMBERS.items()), *(f"{name} binary" for name in TEXTS), "about string"]
)
#: The same for Arrow.
TYPES = {"what": pa.int32(), "rank": pa.int64(), **{name: pa.from_numpy_dtype(dtype) for name, dtype in NUMBERS.items()}}
SCHEMA = pa.schema([*TYPES.items(), *((name, pa.binary()) for name in TEXTS), ("about", pa.string())])
#: The number of a task and the name of the file that it has written.
FILES = "number long, name string"
#: Columns of hashes, and bytes of a row group.
HASHED, GROUP_BYTES = ("odd", "keys", "sets"), 16 << 20
#: Maximum rows and bytes of a batch. Sets have kilobytes, and Spark limits batches by rows only.
BATCH_ROWS, BATCH_BYTES = 4096, GROUP_BYTES
#: Columns of compared items with other names than those of their rows.
OF_ITEMS = ("sets", "odd", "band_keys", "ignored")


class Group(NamedTuple):
    """The ranges that a task reads, in input order."""

    ranges: list[tuple[int, Range]]  # (number of the source, range)
    most: int | None = None  # rows


def read(
    batches: Iterator[pa.RecordBatch], folder: Path, job: Job, sources: Mapping[int, Source], groups: Mapping[int, Group]
) -> Iterator[pa.RecordBatch]:
    """Write the entries of groups, given by number, into a file each: `FILES`. Another attempt at a group writes another file."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            name = f"_{number}-{uuid.uuid4().hex}"
            write(folder / name, of_group(number, job, sources, groups[number]))
            yield pa.record_batch({"number": [number], "name": [name]})


def write(path: Path, entries: Iterator[pa.RecordBatch]) -> None:
    """Write a file of entries; about `GROUP_BYTES` in a row group. Hashes are not compressed."""
    fast: Any = {name: "none" if name in HASHED else "snappy" for name in SCHEMA.names}
    with pq.ParquetWriter(path, SCHEMA, compression=fast, use_dictionary=False, write_statistics=["what", "rank"]) as file:
        held: list[pa.RecordBatch] = []
        for batch in entries:
            held.append(batch)
            if sum(each.nbytes for each in held) >= GROUP_BYTES:
                file.write_table(pa.Table.from_batches(held))
                held = []
        if held:
            file.write_table(pa.Table.from_batches(held))


def of_group(number: int, job: Job, sources: Mapping[int, Source], group: Group) -> Iterator[pa.RecordBatch]:
    """The entries of a group. Errors of the input are entries, too, so that the driver can raise the first of all tasks."""
    rank = rank_of_parts = number << 32
    skip, sketch, left, at, ended = job.options.on_error == "skip", sketcher(job), group.most, 0, -1
    memory, needed = job.options.memory or default_memory(), takes(job.method)
    want = with_room(job.want, memory)
    try:
        for source, part in group.ranges:
            for chunk in chunks(sources[source], want, part=part, skip=skip):
                if source == ended:  # nothing behind damage counts
                    break
                records, place = records_of(sources[source], chunk, want, skip=skip)
                if found := first_above(records.text, memory, needed):
                    yield about_chunk(rank, rank_of_parts, {"at": at, "source": source, "too_large": found, "memory": memory})
                    return
                columns = sketch(records) | {"content": contents.words(records)}
                if left is not None and len(records) >= left:
                    records, columns = head(records, columns, left)
                n, parts = len(records), len(columns.get("unit-size", ()))
                about = {"at": at, "source": source, "place": place, "rows": n, "parts": parts, "marks": marked(sources[source], records)}
                about |= facts_of(records, columns, source, rank, job)
                yield about_chunk(rank, rank_of_parts, about | {"digest": contents.digest(columns.pop("content")).hex()})
                if records.rejected and not skip:
                    return
                if "units" in columns:
                    of_parts = {name: columns.pop(name) for name in [*columns] if name.startswith("unit-") or name in OF_ITEMS}
                    of_parts = {name.removeprefix("unit-"): values for name, values in of_parts.items()}
                    of_parts["per"] = np.repeat(columns["per"], columns["units"])
                    yield from entries(PART, rank_of_parts, parts, of_parts)
                yield from entries(ROW, rank, n, columns, records)
                rank, rank_of_parts, at = rank + n, rank_of_parts + parts, at + 1
                left = None if left is None else left - n
                if left == 0:
                    return
                ended = source if place[1] < 0 else ended
    except LikewiseError as error:
        yield about_chunk(rank, rank_of_parts, {"at": at, "error": told(error)})


def records_of(source: Source, chunk: Chunk | str, want: Want, *, skip: bool) -> tuple[Records, tuple[int, int, int]]:
    """The rows of a chunk, and its begin, end and bytes. One rejected row stands for the rest of a damaged source."""
    records = chunk if isinstance(chunk, str) else parsed(source, chunk, want, skip=skip)
    if isinstance(records, str) or isinstance(chunk, str):
        return failed(str(records), want), (-1, -1, 0)
    return records, (chunk.start, chunk.start + len(chunk.data), int(chunk.data.nbytes))


def about_chunk(rank: int, rank_of_parts: int, about: dict[str, Any]) -> pa.RecordBatch:
    """The entry of a chunk."""
    text = json.dumps(about | {"rank": rank, "rank_of_parts": rank_of_parts})
    return batch_of(1, {"what": pa.array([CHUNK], pa.int32()), "rank": pa.array([rank]), "about": pa.array([text])})


def entries(what: int, rank: int, n: int, columns: dict[str, np.ndarray], records: Records | None = None) -> Iterator[pa.RecordBatch]:
    """The entries of n rows or parts, in batches."""
    copy = columns["copy"].view(np.int64).reshape(-1, 2)
    numbers = {name: columns[name] for name in NUMBERS if name in columns} | {"copy_a": copy[:, 0], "copy_b": copy[:, 1]}
    if "ignored" in columns:
        numbers["ignored"] = np.ascontiguousarray(columns["ignored"], IGNORED.base).view(np.int64).ravel()
    if records is not None and records.nulls is not None:
        numbers["nulls"] = records.nulls
    ends = np.concatenate(([0], np.cumsum(columns["size"], dtype=np.int64)))
    for begin, end in cuts(ends):
        here = slice(begin, end)
        every = np.arange(end - begin + 1)
        made = {name: pa.array(np.ascontiguousarray(values[here]).astype(NUMBERS[name], copy=False)) for name, values in numbers.items()}
        made |= {"what": pa.array(np.full(end - begin, what, np.int32)), "rank": pa.array(rank + np.arange(begin, end))}
        if "sets" in columns:  # not of rows whose parts are compared
            made |= {"sets": binary(columns["sets"], ends[begin : end + 1]), "keys": binary(columns["band_keys"].T[here], every)}
        if "odd" in columns:
            made["odd"] = binary(columns["odd"][here], every)
        if records is not None and records.id is not None:
            made["id"] = records.id[here].cast(pa.binary())
        yield batch_of(end - begin, made)


def cuts(ends: np.ndarray) -> Iterator[tuple[int, int]]:
    """Ranges of rows with up to BATCH_ROWS rows, and up to BATCH_BYTES of words unless one row has more."""
    begin, n = 0, len(ends) - 1
    while begin < n:
        end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + BATCH_BYTES // 8, side="right")) - 1)
        end = min(end, begin + BATCH_ROWS, n)
        yield begin, end
        begin = end


def batch_of(n: int, made: dict[str, pa.Array]) -> pa.RecordBatch:
    """A batch of the table: these columns, and nulls in the others."""
    return pa.record_batch([made[field.name] if field.name in made else pa.nulls(n, field.type) for field in SCHEMA], schema=SCHEMA)
