"""The messages of Arrow IPC, before pyarrow reads them: their batches, compression and decompressed size.

pyarrow does not expose these, so this module reads the flatbuffers of messages and of a file's footer by the numbers of their fields (Apache Arrow,
Message.fbs and File.fbs).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np

from likewise.errors import DataError
from likewise.io.batches import reading
from likewise.messages import option
from likewise.records import BATCH_FACTOR

KIND = "an Arrow file or stream"
FILE_MAGIC = b"ARROW1"
CONTINUATION = b"\xff\xff\xff\xff"
#: Kinds of messages that hold values (MessageHeader).
DICTIONARY, BATCH = 2, 3
#: A footer's entry for a message (Block): its offset, and the bytes of its flatbuffer with its prefix and of its body.
BLOCK = np.dtype({"names": ["at", "meta", "body"], "formats": ["<i8", "<i4", "<i8"], "offsets": [0, 8, 16], "itemsize": 24})
#: Lists of such entries in a footer (Footer.dictionaries and Footer.recordBatches).
BLOCKS = (2, 3)
#: Bytes after a footer: its size, and the magic.
TAIL = 4 + len(FILE_MAGIC)


class Batch(NamedTuple):
    """A batch of records."""

    rows: int
    size: int  # bytes


class First(NamedTuple):
    """The first batch: its bytes, and the compression of its buffers."""

    size: int
    codec: str | None


def first_batch(path: Path) -> First:
    """The first batch of a file or stream. Raises DataError for an offset outside the file."""
    with _messages(path) as (messages, _):
        message = next((message for message in messages if message.kind == BATCH), None)
        if message is None:
            return First(0, None)
        meta = message.meta
        header = _field(meta, _follow(meta, 0), 2)  # Message.header, a RecordBatch
        body = _field(meta, _follow(meta, header), 3) if header else 0  # RecordBatch.compression, a BodyCompression
        codec = _field(meta, _follow(meta, body), 0) if body else 0  # BodyCompression.codec: 1 is zstd, the default 0 is lz4
        return First(message.size, None if not body else "zstd" if codec and meta[codec] == 1 else "lz4")


def batches(path: Path) -> list[Batch]:
    """The batches of a file, in the order of its footer. Raises DataError."""
    with _messages(path) as (messages, _):
        return [Batch(_rows(message.meta), message.size) for message in messages if message.kind == BATCH]


def _rows(meta: bytes) -> int:
    """The rows of a batch."""
    length = _field(meta, _follow(meta, _field(meta, _follow(meta, 0), 2)), 0)  # Message.header, a RecordBatch; RecordBatch.length
    return int(struct.unpack_from("<q", meta, length)[0]) if length else 0


def within(path: Path, most: int) -> Iterator[int]:
    """The number of each message that is a batch of records.

    Raises DataError before a batch or dictionary that would expand to more than ``most`` bytes, by the lengths before its compressed buffers. Ends
    without an error where a stream is truncated: its reader reports that.
    """
    with _messages(path) as (messages, file):
        for number, message in enumerate(messages):
            if (size := _expanded(message, file)) > most:
                raise DataError(
                    f"{path}: message {number} of this file states an expanded size of {size:,} bytes; at most {most:,} are allowed, "
                    f"{BATCH_FACTOR} times {option('max_record')}; raise it if you trust the file"
                )
            if message.kind == BATCH:
                yield number


class Message(NamedTuple):
    """A message of a file or stream."""

    kind: int
    meta: bytes  # its flatbuffer
    body: int  # where in the file its buffers begin
    size: int  # and their bytes


@contextmanager
def _messages(path: Path) -> Iterator[tuple[Iterator[Message], BinaryIO]]:
    """The messages that hold values, and the file. Raises DataError for an offset outside the file."""
    with reading(path, KIND), path.open("rb") as file:
        try:
            yield _each_message(file), file
        except (struct.error, ValueError, IndexError, OverflowError) as error:
            if isinstance(error, DataError):
                raise
            raise DataError(
                f"{path}: cannot be read as {KIND}: a message contains an offset outside the file. Copy or write the file again"
            ) from error


def _each_message(file: BinaryIO) -> Iterator[Message]:
    """The messages of a file that its footer lists, which may be in any order with other bytes between them; or those of a stream."""
    if file.read(len(FILE_MAGIC)) != FILE_MAGIC:
        yield from _stream(file, 0)
    elif (blocks := _blocks(file)) is not None:
        for at, meta in zip(blocks["at"].tolist(), blocks["meta"].tolist(), strict=True):
            if (message := _message(file, at)) is not None:
                yield message._replace(body=at + meta)  # where pyarrow looks for it
    else:  # pyarrow reports the fault in the footer
        yield from _stream(file, 8)  # after the magic and padding


def _stream(file: BinaryIO, at: int) -> Iterator[Message]:
    """The messages of a stream, one after the other."""
    while (message := _message(file, at)) is not None:
        yield message
        at = message.body + message.size


def _message(file: BinaryIO, at: int) -> Message | None:
    """The message that begins at ``at``; None at the end of a stream, or where the file ends in it."""
    file.seek(at)
    head = file.read(8)
    begin = at + (8 if head.startswith(CONTINUATION) else 4)  # before version 0.15 without a continuation marker
    size = int.from_bytes(head[begin - at - 4 : begin - at], "little", signed=True)
    file.seek(begin)
    if size <= 0 or len(meta := file.read(size)) < size:
        return None
    message = _follow(meta, 0)
    kind, length = _field(meta, message, 1), _field(meta, message, 3)  # Message.header_type, Message.bodyLength
    body = struct.unpack_from("<q", meta, length)[0] if length else 0
    if body < 0:
        raise ValueError("a body of negative size")
    return Message(meta[kind] if kind else 0, meta, begin + size, body)


def _blocks(file: BinaryIO) -> np.ndarray | None:
    """The entries of a file's footer for dictionaries and batches, BLOCK[n]; None if no footer can be read."""
    end = file.seek(0, 2)
    file.seek(max(0, end - TAIL))
    tail = file.read(TAIL)
    size = int.from_bytes(tail[:4], "little", signed=True)
    if len(tail) < TAIL or not tail.endswith(FILE_MAGIC) or not 0 < size <= end - TAIL:
        return None
    file.seek(end - TAIL - size)
    meta = file.read(size)
    try:
        footer = _follow(meta, 0)
        return np.concatenate([_listed(meta, _field(meta, footer, slot)) for slot in BLOCKS])
    except (struct.error, ValueError, IndexError, OverflowError):
        return None


def _listed(meta: bytes, field: int) -> np.ndarray:
    """A vector of blocks, BLOCK[n]."""
    if not field:
        return np.zeros(0, BLOCK)
    at = _follow(meta, field)
    return np.frombuffer(meta, BLOCK, struct.unpack_from("<I", meta, at)[0], at + 4)


def _expanded(message: Message, file: BinaryIO) -> int:
    """The decompressed bytes of a compressed batch's buffers, from the first eight bytes of each. 0 for other messages."""
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
    """The position of the table to which a flatbuffer's offset at ``at`` leads."""
    return at + int(struct.unpack_from("<I", meta, at)[0])


def _field(meta: bytes, table: int, slot: int) -> int:
    """The position of field number ``slot`` in a flatbuffer's table, or 0 if it has its default."""
    vtable = table - struct.unpack_from("<i", meta, table)[0]
    entry = 4 + 2 * slot
    offset = struct.unpack_from("<H", meta, vtable + entry)[0] if entry < struct.unpack_from("<H", meta, vtable)[0] else 0
    return table + int(offset) if offset else 0
