"""The footer of a Parquet file: its schema, row groups and column chunks.

pyarrow opens and reads files safely, but its objects for row groups and column chunks end the process if a footer is damaged, instead of raising an
exception. So this module reads them itself, from Thrift's compact protocol (Apache Thrift, Thrift Compact protocol encoding), by the numbers of
their fields (Apache Parquet, parquet.thrift).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from operator import index
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from likewise.errors import DataError

MAGIC = b"PAR1"
#: Types of the protocol.
TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, STRUCT = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12)
#: Maximum nesting of structs: a footer has less than ten levels.
DEEPEST = 20
#: Numbers of CompressionCodec -> the names that pyarrow uses when it writes.
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


class Element(NamedTuple):
    """An element of the schema: a group, or a column of numbers or bytes."""

    fields: dict[int, Any]  # those of SchemaElement
    begin: int  # its place in the footer
    end: int


def read(file: BinaryIO) -> bytes:
    """The footer of an open file, without its size and the magic after it."""
    end = file.seek(0, 2) - len(MAGIC) - 4
    file.seek(max(0, end))
    size = int.from_bytes(file.read(4), "little")
    file.seek(max(0, end - size))
    return file.read(size)


def groups(path: Path) -> list[Group]:
    """The row groups of a file. Raises DataError for a damaged footer."""
    with path.open("rb") as file:
        data = read(file)
    with undamaged(path):
        return [group(found) for found in Compact(data).struct().get(4, ())]


def schema(data: bytes, path: str | Path) -> list[Element]:
    """The elements of the schema in a footer, each group before its members. Raises DataError, which names ``path``."""
    values = Compact(data)
    with undamaged(path):
        for number, kind in values.headings():
            if number == 2:  # FileMetaData.schema
                return [Element(values.struct(1), begin, values.at) for begin in values.beginnings()]
            values.value(kind, 0)
        raise ValueError("a footer without a schema")


@contextmanager
def undamaged(path: str | Path) -> Iterator[None]:
    """Turn errors in the values of a footer into a DataError."""
    try:
        yield
    except DataError:
        raise
    except (IndexError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(f"{path}: cannot be read as a Parquet file: its footer is damaged. Copy or create the file again") from error


def group(found: dict[int, Any]) -> Group:
    """A row group from the fields of its struct."""
    columns = [chunk[3] for chunk in found[1] if 3 in chunk]  # missing if a column is encrypted
    paths = [".".join(part.decode() for part in chunk[3]) for chunk in columns]
    made = [Column(path, CODECS.get(chunk[4], "NONE"), index(chunk.get(11, 0))) for path, chunk in zip(paths, columns, strict=True)]
    return Group(index(found[3]), index(found[2]), made)


class Compact:
    """A reader of the compact protocol, value by value: a struct becomes a dict by the numbers of its fields."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def byte(self) -> int:
        """The next byte."""
        self.at += 1
        return self.data[self.at - 1]

    def varint(self) -> int:
        """The next unsigned number. Raises ValueError for more than 64 bits."""
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
        """The next signed number (zigzag encoding)."""
        number = self.varint()
        return number >> 1 ^ -(number & 1)

    def raw(self, size: int) -> bytes:
        """The next ``size`` bytes. Raises ValueError if there are fewer."""
        if size > len(self.data) - self.at:
            raise ValueError("bytes beyond the end")
        self.at += size
        return self.data[self.at - size : self.at]

    def headings(self) -> Iterator[tuple[int, int]]:
        """Number and type of each field of a struct. The caller reads its value before the next one."""
        number = 0
        while head := self.byte():
            number = number + (head >> 4) if head >> 4 else self.whole()
            yield number, head & 15

    def struct(self, depth: int = 0) -> dict[int, Any]:
        """The fields of a struct."""
        return {number: kind == TRUE if kind in (TRUE, FALSE) else self.value(kind, depth) for number, kind in self.headings()}

    def beginnings(self) -> Iterator[int]:
        """The place of each value of a list. The caller reads the value before the next one."""
        head = self.byte()
        for _ in range(head >> 4 if head >> 4 < 15 else self.varint()):
            yield self.at

    def value(self, kind: int, depth: int) -> Any:
        """A value of this type. Raises ValueError for unknown types and for structs that are nested too deeply."""
        if depth > DEEPEST:
            raise ValueError("endlessly nested structs")
        if kind in (I16, I32, I64):
            return self.whole()
        if kind in (TRUE, FALSE, BYTE):
            return self.byte()
        if kind == DOUBLE:
            return self.raw(8)
        if kind == BINARY:
            return self.raw(self.varint())
        if kind in (LIST, SET):
            inner = self.data[self.at] & 15
            return [self.value(inner, depth + 1) for _ in self.beginnings()]
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise ValueError(f"a value of type {kind}")
