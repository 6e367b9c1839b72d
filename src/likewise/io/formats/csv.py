"""Separated values with a header (.csv, .tsv): RFC 4180, with LF, CRLF or CR, and the separator that the header shows.

A column is wanted by its name. All cells are texts, also empty ones; an empty id is none. Ids are JSON strings: CSV knows no numbers.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.io import binary
from likewise.io.compression import KINDS, kind_of, open_read, open_write
from likewise.io.formats.bytes import Cut, Ruler, beginning, copy_rows, count_lines, floats, nullable, pieces, rows, values
from likewise.io.formats.jsonl import MAX_FIELDS, additions
from likewise.io.records import NO_TEXT, REJECTED, TEXT, Chunk, Records, Rejected, Want
from likewise.kernels.csv import AFTER_QUOTE, NOT_UTF8, OK, cells, read, whole
from likewise.kernels.json import identities

__all__ = ["chunks", "parse", "write"]

SEPARATORS = ",;\t|"


class Header(NamedTuple):
    columns: tuple[str, ...]
    separator: str
    end: int  # the offset of the first byte after it


def chunks(path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
    """Chunks end after a record. State.more is the Header."""
    if want.tokens:
        raise UsageError(f"{path}: a cell of a CSV file is a text and no list of tokens; convert the file to JSON lines or Parquet")
    header = _header(path)
    if header is None:
        return
    for name in set(values(want)[0]):
        if header.columns.count(name) > 1:
            raise DataError(f"{path}: the header has the column {name!r} {header.columns.count(name)} times; rename all but one")

    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        size, quote = whole(np.frombuffer(data, np.uint8), ord(header.separator), final)
        if final and quote >= 0:
            raise _unclosed(path, offset + quote)
        return Cut(size, header)

    yield from pieces(path, max(start, header.end), cut, cr=True)


def _header(path: Path) -> Header | None:
    """The first record that is not an empty line; None in an empty file."""
    first = beginning(path)
    found: Header | None = None

    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        nonlocal found
        blank = len(data) - len(data.lstrip(b"\r\n"))
        line = bytes(data[blank:]).splitlines()[0] if blank < len(data) else b""
        separator = _separator(path, line)
        size, quote = whole(np.frombuffer(data, np.uint8)[blank:], ord(separator), final)
        if quote >= 0 and final:
            raise _unclosed(path, offset + blank + quote)
        return Cut(0, None)

    raise NotImplementedError


def _separator(path: Path, line: bytes) -> str:
    """A tab in .tsv files, else what stands most often in the header outside quotes."""
    name = path.name.lower()
    for kind in KINDS.values():
        for suffix in kind.suffixes:
            name = name.removesuffix(suffix)
    if name.endswith(".tsv"):
        return "\t"
    outside = b"".join(line.split(b'"')[::2]).decode("latin-1")
    return max(SEPARATORS, key=outside.count)
