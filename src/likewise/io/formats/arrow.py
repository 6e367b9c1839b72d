"""Arrow IPC: the file format (.arrow, Feather 2) and the stream format, told apart by their first bytes."""

from __future__ import annotations

import os
import struct
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import ipc

from likewise.errors import DataError
from likewise.io.batches import Keeper, check, check_names, gather, nonempty, reading
from likewise.io.columns import parse, wanted
from likewise.records import BATCH_FACTOR, Chunk, Each, Want, in_turn

__all__ = ["chunks", "parse", "schema", "write"]

KIND = "an Arrow file or stream"
FILE_MAGIC, FEATHER_1 = b"ARROW1", b"FEA1"
LARGE_BATCH = 256 << 20
CONTINUATION = b"\xff\xff\xff\xff"
#: Kinds of messages that hold values (MessageHeader).
DICTIONARY, BATCH = 2, 3


def _open(path: Path, fields: list[int] | None = None) -> Any:
    """A reader of the file or of the stream. Mapped only where batches are too large to be held: cut short while mapped, it ends the process."""
    nonempty(path, KIND)
    with reading(path, KIND):
        with open(path, "rb") as file:
            magic = file.read(len(FILE_MAGIC))
        if magic.startswith(FEATHER_1):
            raise DataError(f"{path}: is a Feather file of version 1, which is no longer read; write it again with pyarrow.feather.write_feather")
        mapped = _first_batch(path).size > LARGE_BATCH
        raw = (pa.memory_map if mapped else pa.OSFile)(os.fsencode(path))  # bytes: pyarrow takes no str for a name that is not UTF-8
        options = ipc.IpcReadOptions(included_fields=fields or [])
        reader = ipc.open_file(raw, options=options) if magic == FILE_MAGIC else ipc.open_stream(raw, options=options)
        check_names(reader.schema)
        return reader


def _batches(path: Path, reader: Any, *, full: bool = False) -> Iterator[tuple[pa.RecordBatch, Any]]:
    """Batches with their custom metadata. ``full``: all of what is in them is looked at, as is that of single columns where these are parsed."""
    with reading(path, KIND):  # a caller's exceptions do not pass through a generator, so these are pyarrow's
        if isinstance(reader, ipc.RecordBatchFileReader):
            batches = map(reader.get_batch_with_custom_metadata, range(reader.num_record_batches))
        else:
            batches = reader.iter_batches_with_custom_metadata()
        for batch, custom in batches:
            yield check(batch, full=full), custom


def schema(path: Path, want: Want) -> pa.Schema:
    return _open(path).schema


def chunks(path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
    names = _open(path).schema.names
    top = [name for full in wanted(want, names, path) for name in (full, full.partition(".")[0])]
    fields = [number for number, name in enumerate(names) if name in top]
    reader = _open(path, fields or [0])  # an empty list would read all of them
    batches, bounded = (batch for batch, _ in _batches(path, reader)), within(path, BATCH_FACTOR * want.most)
    if isinstance(reader, ipc.RecordBatchFileReader):  # its batches may be in another order than they lie in
        deque(bounded, 0)
        bounded = iter(())
    yield from gather(chain((batch for _, batch in zip(bounded, batches, strict=False)), batches), names, 0, start)


def write(
    source: Path, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, add: pa.Table | None = None, each: Each = in_turn
) -> int:
    """The rows where ``keep`` is true, batch by batch, as the same kind of file; ``add``: columns for behind the others, one row a kept row."""
    reader = _open(source)
    keeper = Keeper(source, reader.schema, keep, add)
    options = ipc.IpcWriteOptions(compression=_first_batch(source).codec)
    if isinstance(reader, ipc.RecordBatchFileReader):
        create = partial(ipc.new_file, schema=keeper.schema, options=options, metadata=reader.metadata)
    else:
        create = partial(ipc.new_stream, schema=keeper.schema, options=options)
    return save(((keeper(batch), custom) for batch, custom in keeper.wanted(_batches(source, reader, full=True))), target, create)


def save(batches: Iterable[tuple[pa.RecordBatch, Any]], target: Path, create: Callable[[Any], Any]) -> int:
    """Batches that have rows, with their custom metadata, through the writer that ``create`` makes; returns how many rows."""
    written = 0
    with pa.OSFile(os.fsencode(target), "wb") as sink, create(sink) as writer:
        for batch, custom in batches:
            if len(batch):
                writer.write_batch(batch, custom_metadata=custom)
                written += len(batch)
    return written


class First(NamedTuple):
    """Bytes of the first batch, and how its buffers are compressed."""

    size: int
    codec: str | None


def _first_batch(path: Path) -> First:
    """pyarrow does not tell, so this reads the message's flatbuffer."""
    with _messages(path) as (messages, _):
        message = next((message for message in messages if message.kind == BATCH), None)
        if message is None:
            return First(0, None)
        meta = message.meta
        header = _field(meta, _follow(meta, 0), 2)  # Message.header, a RecordBatch
        body = _field(meta, _follow(meta, header), 3) if header else 0  # RecordBatch.compression, a BodyCompression
        codec = _field(meta, _follow(meta, body), 0) if body else 0  # BodyCompression.codec: 1 is zstd, the default 0 is lz4
        return First(message.size, None if not body else "zstd" if codec and meta[codec] == 1 else "lz4")


def within(path: Path, most: int) -> Iterator[int]:
    """The number of each message that is a batch of records. Raises DataError before one that, or a dictionary for it, would expand to more than
    so many bytes, as the lengths before its compressed buffers say. Where a stream is cut short it ends, and leaves that to its reader."""
    with _messages(path) as (messages, file):
        for number, message in enumerate(messages):
            if (size := _expanded(message, file)) > most:
                raise DataError(
                    f"{path}: message {number} of this file says that it expands to {size:,} bytes, and {most:,} are allowed, "
                    f"{BATCH_FACTOR} times --max-record; raise that if the file is to be trusted"
                )
            if message.kind == BATCH:
                yield number


class Message(NamedTuple):
    """A message of a stream."""

    kind: int
    meta: bytes  # its flatbuffer
    body: int  # where in the file its buffers begin
    size: int  # and their bytes


@contextmanager
def _messages(path: Path) -> Iterator[tuple[Iterator[Message], BinaryIO]]:
    """The messages of a file, and the file. What leads out of them is a DataError."""
    with reading(path, KIND), open(path, "rb") as file:
        try:
            yield _each_message(file), file
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(f"{path}: cannot be read as {KIND}: an offset in a message leads out of it. Copy or make the file again") from error


def _each_message(file: BinaryIO) -> Iterator[Message]:
    at = 8 if file.read(len(FILE_MAGIC)) == FILE_MAGIC else 0  # a file is its magic, padding, and a stream
    while True:
        file.seek(at)
        head = file.read(8)
        begin = at + (8 if head.startswith(CONTINUATION) else 4)  # before version 0.15 there was none
        size = int.from_bytes(head[begin - at - 4 : begin - at], "little", signed=True)
        file.seek(begin)
        if size <= 0 or len(meta := file.read(size)) < size:
            return
        message = _follow(meta, 0)
        kind, length = _field(meta, message, 1), _field(meta, message, 3)  # Message.header_type, Message.bodyLength
        body = struct.unpack_from("<q", meta, length)[0] if length else 0
        if body < 0:
            raise ValueError("a body of less than no bytes")
        yield Message(meta[kind] if kind else 0, meta, begin + size, body)
        at = begin + size + body


def _expanded(message: Message, file: BinaryIO) -> int:
    """Bytes of the buffers of a compressed batch once they are decompressed: each says it in its first eight bytes. 0 for others."""
    if message.kind not in (BATCH, DICTIONARY):
        return 0
    meta = message.meta
    batch = _field(meta, _follow(meta, 0), 2)  # Message.header, a RecordBatch or a DictionaryBatch
    if batch and message.kind == DICTIONARY:
        batch = _field(meta, _follow(meta, batch), 1)  # DictionaryBatch.data
    buffers, compression = (_field(meta, _follow(meta, batch), slot) if batch else 0 for slot in (2, 3))  # of RecordBatch
    if not buffers or not compression:
        return 0
    at, total = _follow(meta, buffers), 0
    places = np.frombuffer(meta, "<i8", 2 * struct.unpack_from("<I", meta, at)[0], at + 4).reshape(-1, 2)
    for offset, length in places.tolist():
        if length >= 8:
            file.seek(message.body + offset)
            total += max(0, int.from_bytes(file.read(8), "little", signed=True))
    return total


def _follow(meta: bytes, at: int) -> int:
    """Where the table stands that a flatbuffer's offset at ``at`` leads to."""
    return at + int(struct.unpack_from("<I", meta, at)[0])


def _field(meta: bytes, table: int, slot: int) -> int:
    """Where field number ``slot`` of a flatbuffer's table stands, or 0 where it has its default."""
    vtable = table - struct.unpack_from("<i", meta, table)[0]
    entry = 4 + 2 * slot
    offset = struct.unpack_from("<H", meta, vtable + entry)[0] if entry < struct.unpack_from("<H", meta, vtable)[0] else 0
    return table + int(offset) if offset else 0
