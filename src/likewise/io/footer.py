"""The footer of a Parquet file: its row groups and column chunks.

pyarrow opens and reads files safely, but its objects for row groups and column chunks end the process where a footer is damaged: no exception of
theirs comes through. So they are read here, from Thrift's compact protocol (Apache Thrift, Thrift Compact protocol encoding) by the numbers of
their fields (Apache Parquet, parquet.thrift).
"""

from __future__ import annotations

from operator import index
from pathlib import Path
from typing import Any, NamedTuple

from likewise.errors import DataError

MAGIC = b"PAR1"
#: Types of the protocol.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, STRUCT = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
#: Structs in structs that are followed: a footer has fewer than ten.
DEEPEST = 20
#: Numbers of CompressionCodec, as pyarrow names them when it writes.
CODECS = {0: "NONE", 1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 5: "LZ4", 6: "ZSTD", 7: "LZ4"}


class Column(NamedTuple):
    """A column chunk."""

    path: str
    codec: str
    dictionary: int  # where its dictionary page begins, or 0


class Group(NamedTuple):
    """A row group."""

    rows: int
    size: int  # bytes, uncompressed
    columns: list[Column]


def groups(path: Path) -> list[Group]:
    """The row groups of a file. Raises DataError."""
    with open(path, "rb") as file:
        end = file.seek(0, 2) - len(MAGIC) - 4
        file.seek(max(0, end))
        size = int.from_bytes(file.read(4), "little")
        file.seek(max(0, end - size))
        data = file.read(size)
    try:
        return [group(found) for found in Compact(data).struct().get(4, ())]
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: cannot be read as a Parquet file: its footer is damaged. Copy or make the file again") from error


def group(found: dict[int, Any]) -> Group:
    columns = [chunk[3] for chunk in found[1] if 3 in chunk]  # it is not there where a column is encrypted
    paths = [".".join(part.decode() for part in chunk[3]) for chunk in columns]
    made = [Column(path, CODECS.get(chunk[4], "NONE"), index(chunk.get(11, 0))) for path, chunk in zip(paths, columns, strict=True)]
    return Group(index(found[3]), index(found[2]), made)


class Compact:
    """Values of the compact protocol, one after the other: a struct is a dict by the numbers of its fields."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def byte(self) -> int:
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 63:
                raise ValueError("a number of more than 64 bits")

    def whole(self) -> int:
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def raw(self, size: int) -> bytes:
        if size > len(self.data) - self.at:
            raise ValueError("bytes that are not there")
        self.at += size
        return self.data[self.at - size : self.at]

    def struct(self, depth: int = 0) -> dict[int, Any]:
        found: dict[int, Any] = {}
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.whole()
            kind = head & 15
            found[number] = kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth)
        return found

    def value(self, kind: int, depth: int) -> Any:
        if depth > DEEPEST:
            raise ValueError("structs in structs without end")
        if kind in (I16, I32, I64):
            return self.whole()
        if kind in (TRUE, FALSE, BYTE):
            return self.byte()
        if kind == DOUBLE:
            return self.raw(8)
        if kind == BINARY:
            return self.raw(self.varint())
        if kind in (LIST, SET):
            head = self.byte()
            size = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15, depth + 1) for _ in range(size)]
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a value of type {kind}")
