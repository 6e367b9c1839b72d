"""Separated values with a header (.csv, .tsv): RFC 4180, with LF, CRLF or CR line ends; the separator is detected from the header.

Columns are found by name. All cells are strings, including empty ones. An empty id is a missing id, and alternative fields skip empty cells. Ids
are JSON strings, because CSV has no number type. A vector has one number per column and is missing if one of its cells is; a code is
hexadecimal or decimal (`io.code_cells`).

A CSV file is one range (`io.ranges`): a line break may be inside a quoted cell, and only the quotes from the start of the file show that.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.io import code_cells, fields
from likewise.io.compression import KINDS, open_read, read_into
from likewise.io.formats import SEPARATORS
from likewise.io.formats.jsonl import MAX_FIELDS, additions
from likewise.io.formats.lines import TOO_LONG, Cut, Ruler, beginning, copy_rows, count_lines, floats, nullable, pieces, rows, save_rows, values
from likewise.io.headers import once
from likewise.io.splice import Reading, of_records
from likewise.items import binary, payloads
from likewise.items.readers import reader_of, sure_reader_of
from likewise.kernels.csv import AFTER_QUOTE, LONG, NOT_UTF8, OK, QUOTE, cells, read, whole
from likewise.kernels.json_strings import identities
from likewise.kernels.raw import cell
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Each, Edits, Records, Rejected, Want, in_turn

__all__ = ["chunks", "parse", "write"]

HEADER_BYTES = 1 << 16
#: The first nonempty one of alternative fields (text|content) is used.
EMPTY_IS_MISSING = True
#: Columns searched in one pass: a set of them is the bits of an integer.
AT_ONCE = 60
LINE_ENDS = b"\r\n"


class Header(NamedTuple):
    """The header of a file, parsed."""

    columns: tuple[str, ...]
    separator: str
    end: int  # offset of the first byte after the header
    decimal: frozenset[str] = frozenset()  # columns of codes written as decimal numbers


def chunks(path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
    """Yield chunks that end after a record; State.more is the Header. Raises UsageError for items that a cell cannot hold."""
    reader = reader_of(want.kind)
    if reader is not None and reader.from_cells is None:
        raise UsageError(f"{path}: a cell of a CSV file cannot hold a {reader.item}; convert the file to JSON lines or Parquet")
    header = _header(path)
    if header is None:
        return
    for name in {name for one in fields.each(want, header.columns) for name in values(one, header.columns)[0]}:
        if header.columns.count(name) > 1:
            raise DataError(f"{path}: the header has the column {name!r} {header.columns.count(name)} times; rename all but one")
    if reader is not None and reader.decimal:
        forms = code_forms(path, want)
        header = header._replace(decimal=frozenset(name for name in forms if forms[name] == "decimal" or (not forms[name] and want.decimal)))
    yield from pieces(path, max(start, header.end), _cut(path, header), want, cr=True)


def _cut(path: Path, header: Header) -> Callable[[bytearray, int, bool], Cut]:
    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        size, quote = whole(np.frombuffer(data, np.uint8), ord(header.separator), final, len(data))
        return Cut(size, header, _unclosed(path, offset + quote) if final and quote >= 0 else None)

    return cut


def code_forms(path: Path, want: Want) -> dict[str, str]:
    """Return `code_cells.form` of each column of codes, decided from this file alone; "" if it is undecided."""
    header = _header(path)
    names = fields.every(want, header.columns) if header else []
    return {name: _code_form(path, name, want.most) for name in names if header and name in header.columns}


@once
def _code_form(path: Path, name: str, most: int) -> str:
    return code_cells.form(_column(path, Want(most=most), name))


def _column(path: Path, want: Want, name: str) -> Iterator[pa.LargeBinaryArray]:
    """Yield the cells of a column up to the end or to damage, which is reported when the records are read."""
    with suppress(DataError):
        header = _header(path)
        assert header is not None
        for chunk in pieces(path, header.end, _cut(path, header), want, cr=True):
            for part in _parts(chunk, header.separator):
                *_, fault, _, first, last = _find(part, [name], want.most)
                good = fault == OK
                text, offsets = cells(part.data, np.ascontiguousarray(first[good]), np.ascontiguousarray(last[good]))
                yield nullable(offsets, text, np.diff(offsets) > 0)


def _parts(chunk: Chunk, separator: str) -> Iterator[Chunk]:
    """Split a chunk into parts of code_cells.SAMPLE records, because the first part is usually enough."""
    at = 0
    while at < len(chunk.data):
        rest = chunk.data[at:]
        size, _ = whole(rest, ord(separator), True, code_cells.SAMPLE)
        yield chunk._replace(data=rest[:size])
        at += size


def known(chunk: Chunk) -> Sequence[str]:
    """Return the names of the columns."""
    return chunk.state.more.columns


def glance(path: Path, want: Want) -> tuple[Sequence[str], bool]:
    """Return the column names, and True: all records have the same columns."""
    header = _header(path)
    return header.columns if header else (), True


@once
def _header(path: Path) -> Header | None:
    """Return the header: the first nonempty line; None in an empty file."""
    at, data = beginning(path), b""
    with open_read(path) as stream:
        read_into(stream, memoryview(bytearray(at)))
        while block := stream.read(HEADER_BYTES):
            data += block
            if header := _first_record(path, data, at, final=False):
                return header
    return _first_record(path, data, at, final=True)


def _first_record(path: Path, data: bytes, at: int, *, final: bool) -> Header | None:
    """Return the header in ``data``, the beginning of the text at offset ``at``, or None if it is incomplete."""
    record = data.lstrip(b"\r\n")
    line = record.splitlines(keepends=True)[:1]
    if not line or not (final or line[0].endswith((b"\r", b"\n"))):
        return None
    separator = _separator(path, line[0])
    size, quote = whole(np.frombuffer(bytearray(record), np.uint8), ord(separator), final, 1)
    start = at + len(data) - len(record)
    if final and quote >= 0:
        raise _unclosed(path, start + quote)
    if not size:
        return None
    try:
        columns = next(csv.reader(io.StringIO(record[:size].decode("utf-8", "surrogatepass"), newline=""), delimiter=separator, strict=True))
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: the first record, expected to be a header with column names, cannot be read: {error}") from None
    return Header(tuple(columns), separator, start + size)


def _separator(path: Path, line: bytes) -> str:
    """Return the separator: a tab for .tsv files, else the most frequent candidate outside quotes in the header."""
    name = path.name.lower()
    for kind in KINDS.values():
        for suffix in kind.suffixes:
            name = name.removesuffix(suffix)
    if name.endswith(".tsv"):
        return "\t"
    outside = b"".join(line.split(b'"')[::2]).decode("latin-1")
    return max(SEPARATORS, key=outside.count)


def _unclosed(path: Path, at: int) -> DataError:
    with open_read(path) as stream:
        line, line_start = count_lines(stream, at, cr=True)
    place = f"{path}, line {line}, column {at - line_start + 1}"
    return DataError(f"{place}: the quote opened here is never closed; close or remove it")


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the rows of a chunk."""
    header: Header = chunk.state.more
    names, others = values(want, header.columns)
    texts = names[: len(names) - len(others)]
    start, length, width, fault, at, first, last = _find(chunk, names, want.most)

    def column(*chosen: int) -> tuple[np.ndarray, np.ndarray]:
        return cells(chunk.data, np.ascontiguousarray(first[:, chosen]), np.ascontiguousarray(last[:, chosen]))

    def identity(role: str) -> pa.LargeBinaryArray | None:
        if role not in others:
            return None
        text, offsets = column(others[role])
        json, ends, there = identities(text, np.where(np.diff(offsets) > 0, offsets[:-1], -1), offsets[1:], True)
        return nullable(ends, json, there)

    there = [value for value, name in enumerate(texts) if name in header.columns]
    records = Records(
        kind=np.full(len(start), TEXT if there else NO_TEXT, np.uint8),
        start=chunk.start + start,
        length=length,
        text=binary.build(np.zeros(len(start) + 1, np.int64), b""),
        id=identity("id"),
        per=identity("per"),
        score=floats(binary.build(*column(others["score"])[::-1])) if "score" in others else None,
        rejected=list(_refused(chunk, start, length, width, fault, at)),
        fields=header.columns[:MAX_FIELDS],
        found=len(there) == len(texts),
    )
    if of_payload(want.kind).raw:
        if there:
            records.text = binary.build(*column(*there)[::-1])
        if want.located:
            records.located = np.stack([first[:, 0], last[:, 0]], axis=1)
    else:
        _read_items(records, chunk, want, texts, first[:, : len(texts)], last[:, : len(texts)])
    records.kind[fault != OK] = REJECTED
    return records


def _find(chunk: Chunk, names: list[str], most: int) -> tuple[np.ndarray, ...]:
    """Return the result of kernels.csv.read for these columns, with places of -1 for a name that is not a column."""
    header: Header = chunk.state.more
    numbers = {name: number for number, name in enumerate(header.columns)}
    found, first, last = (), [], []
    for some in (names[at : at + AT_ONCE] for at in range(0, max(len(names), 1), AT_ONCE)):
        wanted = np.zeros(len(header.columns), np.int64)
        for value, name in enumerate(some):
            if name in numbers:
                wanted[numbers[name]] |= 1 << value
        *found, begin, end = read(chunk.data, ord(header.separator), wanted, len(some), most)
        first.append(begin)
        last.append(end)
    return (*found, np.concatenate(first, axis=1), np.concatenate(last, axis=1))


def _read_items(records: Records, chunk: Chunk, want: Want, names: list[str], first: np.ndarray, last: np.ndarray) -> None:
    """Put the items in the cells of these columns into ``records``."""
    text, offsets = cells(chunk.data, np.ascontiguousarray(first).reshape(-1, 1), np.ascontiguousarray(last).reshape(-1, 1))
    cell = nullable(offsets, text, np.diff(offsets) > 0)
    reader, numbered = sure_reader_of(want.kind), of_payload(want.kind).numbered
    assert reader.from_cells is not None
    if len(names) > 1 and not numbered:
        raise UsageError(f"{option('field', want.text)}: a {reader.item} must be in one column")
    rows = reader.checked(reader.from_cells(cell, len(names), want, names[0] in chunk.state.more.decimal), want)
    records.kind[:], records.text, records.width = payloads.laid(rows, want)
    records.other = rows.other
    ruler = Ruler(chunk, cr=True) if rows.faults else None

    def place(row: int, fault: payloads.Fault) -> str:
        return ruler.place(int(first[row, fault.item if numbered else 0]))  # type: ignore[union-attr]

    def raw(row: int) -> bytes:
        begin = int(records.start[row] - chunk.start)
        return chunk.data[begin : begin + records.length[row]].tobytes().rstrip(LINE_ENDS)

    records.rejected = sorted([*records.rejected, *payloads.refused(rows, names, "column", records.id, place, raw)])


def _refused(chunk: Chunk, start: np.ndarray, length: np.ndarray, width: np.ndarray, fault: np.ndarray, place: np.ndarray) -> Iterator[Rejected]:
    bad = np.flatnonzero(fault)
    ruler = Ruler(chunk, cr=True) if len(bad) else None
    for row, at in zip(bad.tolist(), place[bad].tolist(), strict=True):
        reason = {
            NOT_UTF8: f"this byte (0x{chunk.data[at]:02x}) is not UTF-8",
            LONG: TOO_LONG,
            AFTER_QUOTE: "the cell continues after its closing quote; write a quote inside a quoted cell twice",
        }.get(int(fault[row]), f"the record has {width[row]} cell{'s' * bool(width[row] != 1)}, but the header has {len(chunk.state.more.columns)}")
        yield Rejected(row, f"{ruler.place(at)}: {reason}", chunk.data[start[row] : start[row] + length[row]].tobytes().rstrip(LINE_ENDS))  # type: ignore[union-attr]


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
    """Write the header and the kept records byte for byte, with line ends and byte-order mark; ``add``: columns to append as further cells.

    ``edits``: parts of texts, which are cut out of the cells as they are written, so quotes and separators stay.
    """
    header = _header(source)
    head = bytearray(header.end if header else 0)
    with open_read(source) as stream:
        read_into(stream, memoryview(head))
    kept = of_records(source, keep, start, length, edits, Reading(chunks, parse, partial(_places, source, header)), each)
    if header is None or add is None:
        return copy_rows(source, target, kept, bytes(head), each=each)
    if clash := set(header.columns) & set(add.column_names):
        raise UsageError(f"{source}: already has the column {min(clash)!r}, which likewise would add; rename or drop it there first")
    separator = header.separator
    records = (_extended(row, extra.values(), separator) for row, extra in zip(rows(source, kept.begin, kept.end), additions(add), strict=True))
    return save_rows(source, target, records, _extended(bytes(head), add.column_names, separator), each=each)


def _places(path: Path, header: Header | None, data: np.ndarray, first: np.ndarray, last: np.ndarray, row: np.ndarray, at: np.ndarray) -> np.ndarray:
    """`kernels.raw.cell` for parts, begin and end in turn.

    Raises DataError where what is left of a cell without quotes would be read in another way.
    """
    found = cell(data, first, last, row, at)
    begin, end, (cell_begin, cell_end) = found[0::2], found[1::2], (each[row[0::2]] for each in (first, last))
    opens = (begin == cell_begin) & (end > begin) & (data[cell_begin] != QUOTE)  # in a cell with quotes nothing begins at its first byte
    alone = opens & (end == cell_end) & (header is not None and len(header.columns) == 1)
    quoted = opens & (end < cell_end) & (data[np.minimum(end, len(data) - 1)] == QUOTE)
    for bad, what in ((alone, "nothing is left of a record, and an empty line is none"), (quoted, "what is left of a cell begins with a quote")):
        if bad.any():
            raise DataError(f"{path}: {what} in a file of separated values; put quotes around the cells of this column, and run again")
    return found


def _extended(record: bytes, more: Iterable[Any], separator: str) -> bytes:
    """Return the record with further cells before its line end."""
    body = record.rstrip(LINE_ENDS)  # outside quotes: a quoted cell ends with its quote
    line = io.StringIO()
    csv.writer(line, delimiter=separator, lineterminator="").writerow(["", *(_cell(value) for value in more)])
    return body + line.getvalue().encode("utf-8", "surrogatepass") + record[len(body) :]


def _cell(value: Any) -> Any:
    if value is None or value != value:
        return ""
    return str(value).lower() if isinstance(value, bool) else value
