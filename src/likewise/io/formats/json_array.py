"""A JSON array of records (.json). Elements are parsed like the lines of JSONL; this module checks the syntax between them.

An element that is not valid JSON is rejected alone as long as its brackets and quotes are balanced. If they are not, the start of the
next element is unknown, and the file is in error.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa

from likewise.errors import DataError
from likewise.io import json_text
from likewise.io.compression import open_read, read_into
from likewise.io.encoding import BOM
from likewise.io.field_names import beginnings
from likewise.io.formats import PEEK_BYTES, first_bytes
from likewise.io.formats.jsonl import SAMPLE, additions, extended, known, mentioned, read_rows
from likewise.io.formats.lines import BLOCK_BYTES, Cut, beginning, copy_rows, count_lines, pieces, rows, save_rows
from likewise.io.splice import Reading, of_records
from likewise.kernels.json import elements
from likewise.kernels.raw import json_string
from likewise.records import Chunk, Each, Edits, Records, Want, in_turn

__all__ = ["chunks", "known", "mentioned", "parse", "write"]

BLANK = b" \t\r\n"
LINES = "if each line is a record, name the file .jsonl"


def _first_byte(path: Path) -> tuple[int, bytes]:
    """Return the offset and value of the first byte that is not blank; the value is empty for a blank file."""
    at = beginning(path)
    with open_read(path) as stream:
        read_into(stream, memoryview(bytearray(at)))
        while block := stream.read(BLOCK_BYTES):
            if rest := block.lstrip(BLANK):
                return at + len(block) - len(rest), rest[:1]
            at += len(block)
    return at, b""


def chunks(path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
    """Yield chunks that end after the comma behind an element; the last one ends at the end of the file."""
    bracket, byte = _first_byte(path)
    if byte != b"[":
        came = byte.decode("latin-1") or "nothing"
        raise DataError(f"{place(path, bracket)}: expected the opening bracket of a JSON array, not {came}; {LINES}")
    closed = False

    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        nonlocal closed
        size, more = 0, None

        def failure(at: int, what: str) -> Cut:
            return Cut(size, more, DataError(f"{place(path, offset + at)}: {what}"))

        if not closed:
            begin, end, size, closed, wrong = elements(np.frombuffer(data, np.uint8), offset == bracket + 1)
            more = (begin, end) if len(begin) else None
            if wrong >= 0:
                return failure(wrong, "unmatched closing brace; repair the file there")
        if closed:
            if rest := data[size:].lstrip(BLANK):
                return failure(len(data) - len(rest), f"the array ended before this; {LINES}")
            return Cut(len(data), more)
        if final and not data.strip(BLANK) and last_byte(path, offset) == b"]":  # a resumed run with nothing left to read
            return Cut(len(data), None)
        if final and (rest := data[size:].lstrip(BLANK)) and not _is_json(rest):
            what = "the record that begins here is not valid JSON, and the file ends before the array's closing bracket"
            return failure(len(data) - len(rest), f"{what}; repair it here or copy the file again")
        if final:
            return failure(len(data), "the file ends before the array's closing bracket; copy or write it again")
        return Cut(size, more)

    yield from pieces(path, max(start, bracket + 1), cut, want)


def _is_json(text: bytearray) -> bool:
    try:
        json.loads(text.decode("utf-8", "surrogatepass"), parse_int=str, parse_float=str)
    except (ValueError, RecursionError):
        return False
    return True


def last_byte(path: Path, end: int) -> bytes:
    """Return the last byte before the offset ``end`` that is not blank."""
    last = b""
    with open_read(path) as stream:
        while end > 0 and (block := stream.read(min(end, BLOCK_BYTES))):
            last = block.rstrip(BLANK)[-1:] or last
            end -= len(block)
    return last


def place(path: Path, at: int) -> str:
    """Return the file, line and column of an offset, for messages."""
    with open_read(path) as stream:
        line, line_start = count_lines(stream, at, False)
    return f"{path}, line {line}, column {at - line_start + 1}"


def glance(path: Path, want: Want) -> tuple[list[str], bool]:
    """Return the field names of the first records, up to a wanted one, and whether the file has been seen whole."""
    head = first_bytes(path)
    return json_text.names(bytes(head), 1, beginnings(want.text)), len(head) < PEEK_BYTES


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the rows of a chunk."""
    begin, end = chunk.state.more
    return read_rows(chunk, want, begin, end, end)


def sample(path: Path, want: Want) -> Records | None:
    """Return the first records, or None for an empty array."""
    for chunk in chunks(path, want):
        begin, end = (places[:SAMPLE] for places in chunk.state.more)
        return read_rows(chunk, want, begin, end, end)
    return None


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
    """Write the kept elements byte for byte, one per line, in a new array; ``add``: columns to append as fields of the objects.

    ``edits``: parts of texts, which are cut out of the strings as they are encoded.
    """
    kept = of_records(source, keep, start, length, edits, Reading(chunks, parse, json_string), each)
    head, between, tail = (BOM[: beginning(source)] + b"[\n", b",\n", b"\n]\n") if len(kept.begin) else (b"[]\n", b"", b"")
    if add is None:
        return copy_rows(source, target, kept, head, between, tail, each)
    records = (extended(row, extra, source) for row, extra in zip(rows(source, kept.begin, kept.end), additions(add), strict=True))
    return save_rows(source, target, records, head, between, tail, each)
