"""Helpers of the line formats: cut a stream of bytes into chunks of whole records, name places in it, and copy records."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import DataError, FormatError, no_room
from likewise.io import fields
from likewise.io.batches import changed
from likewise.io.compression import READ_BYTES, Borders, kind_of, open_read, read_into, read_readable, save
from likewise.io.encoding import BOM, refuse_other
from likewise.io.headers import once
from likewise.io.ranges import END, Range
from likewise.io.splice import Ranges
from likewise.items import binary
from likewise.kernels.bytes import gather
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import REJECTED, Chunk, Each, Records, Rejected, Want, in_turn

CHUNK_BYTES = 8 << 20
BLOCK_BYTES = 4 << 20
#: State.more of a chunk that holds one record longer than --max-record: its bytes were skipped, and ``data`` has as many zeros.
PASSED_OVER = "skipped"
TOO_LONG = f"the record is longer than {option('max_record')} allows (64M by default)"
LF, CR = 10, 13
#: Held while lines are counted, so that a thread continues from the count of another instead of reading the file from its beginning.
COUNTING = threading.Lock()


class State(NamedTuple):
    """``Chunk.state`` of the line formats."""

    path: Path
    line_start: int  # offset of the line in which the chunk begins; defined only if Chunk.line is not 0
    more: Any  # further state of the format
    known: list[tuple[int, int, int]] | None = None  # (offset, its line number, the offset of that line) counted so far; one list per file


class Cut(NamedTuple):
    """How many bytes are whole records; State.more for them, or None if they hold no record; and an error if no record can follow."""

    size: int
    more: Any
    failure: DataError | None = None


class Passed(NamedTuple):
    """A record that was skipped: its bytes, at most CHUNK_BYTES read after it, whether the stream ended, and State.more of its chunk."""

    size: int
    after: memoryview | None  # None if more bytes were read than are still there
    ended: bool
    more: Any


@once
def beginning(path: Path) -> int:
    """Return the offset of the text, which is behind the byte-order mark if there is one. Raises DataError for other encodings than UTF-8."""
    with open_read(path) as stream:
        head = bytearray(4)
        head = head[: read_into(stream, memoryview(head))]
    refuse_other(path, head)
    return len(BOM) if head.startswith(BOM) else 0


def of_lines(path: Path, given: Range) -> Range:
    """Return the offsets of the lines that begin in a range. In a compressed file, a line must begin at the range's start."""
    first, (begin, end) = beginning(path), given
    if kind_of(path):
        return max(begin, first), end
    return line_from(path, begin, first), line_from(path, end, first)


def line_from(path: Path, at: int, first: int) -> int:
    """Return the offset of the first line that begins at ``at`` or later; ``first``: the offset of the first line of the file."""
    if at <= first or at == END:
        return max(at, first)
    with open_read(path) as stream:
        stream.seek(at - 1)
        while block := stream.read(READ_BYTES):
            if found := block.find(b"\n") + 1:
                return at - 1 + found
            at += len(block)
    return at - 1


def pieces(
    path: Path,
    start: int,
    cut: Callable[[bytearray, int, bool], Cut],
    want: Want,
    *,
    end: int = END,
    cr: bool = False,
    longer: Callable[[io.RawIOBase, bytearray], Passed] | None = None,
    last: Callable[[bytearray], Cut] | None = None,
    borders: Borders | None = None,
) -> Iterator[Chunk]:
    """Yield chunks of whole records from the offset ``start``, where a record must begin, to ``end`` (uncompressed files only).

    ``cut(data, offset, final)`` returns how many of the next CHUNK_BYTES to yield; it gets more if one record is longer, and all if
    ``final``. So a chunk depends only on the text from its start. ``cr``: a CR without an LF ends a line, too.
    If the text cannot be read to its end, the whole records before the fault are yielded first; then the error is raised.
    ``last(data)`` cuts the text before such a fault, if the end of a record shows without the text behind it.
    ``longer(stream, data)`` skips a record longer than ``want.most`` bytes, which begins with ``data``; without it, that is an error of the file.
    ``borders``: filled as by `open_read`.
    Raises UsageError for a record that does not fit into memory (``want.room``).
    """
    limit = max(CHUNK_BYTES, want.most + 1)
    with ExitStack() as stack:
        opened = stack.enter_context(open_read(path, borders))
        stream: io.RawIOBase = opened
        line, line_start, known = 0, 0, [(0, 1, 0)]
        pending, size = memoryview(b""), CHUNK_BYTES
        if opened.seekable():  # lines are counted only when a message needs one
            opened.seek(start)
            stream = _Until(opened, max(0, end - start))
            size = min(CHUNK_BYTES, max(1, min(path.stat().st_size, end) - start + 1))
        else:
            line, line_start = count_lines(opened, start, cr)
        final, failure = False, None
        while not final and failure is None:
            data = bytearray(size)
            ready = min(size, len(pending))
            memoryview(data)[:ready] = pending[:ready]  # a bytearray would copy them first
            filled, damage = read_readable(stream, memoryview(data)[ready:])
            filled += ready
            final = filled < size and damage is None
            del data[filled:]
            whole, more, wrong = cut(data, start, final) if damage is None or last is None else last(data)
            failure = wrong or damage
            pending = left_over(data, whole, pending, ready)
            if not whole and (final or failure is not None):
                break
            if not whole and size < limit:
                if size >= want.room < want.most:
                    raise no_room(
                        f"{path}: the record that begins at byte {start:,}", f"more than {size >> 20} MiB", "several times as much", want.room
                    )
                size = min(2 * size, limit)
                continue
            array = np.frombuffer(data, np.uint8)[:whole]
            skipped = not whole
            if skipped:
                if longer is None:
                    raise DataError(f"{path}: {TOO_LONG.replace('the record', f'the record that begins at byte {start:,}')}")
                whole, after, final, more = longer(stream, data)
                if after is None:
                    stack.close()
                    stream = opened = stack.enter_context(open_read(path, borders))
                    if opened.seekable():
                        opened.seek(start + whole)
                        stream = _Until(opened, max(0, end - start - whole))
                    else:
                        count_lines(opened, start + whole, cr)
                pending = memoryview(b"") if after is None else after
                array = np.broadcast_to(np.uint8(0), whole)
            size = CHUNK_BYTES
            if more is not None:
                yield Chunk(array, start, line, State(path, line_start, more, known))
            if line and skipped:
                line, line_start = line + 1, start + whole
            elif line:
                line += line_ends(array, cr)
                line_start = start + begun if (begun := after_last_end(data, whole, cr)) else line_start
            start += whole
    if failure is not None:
        raise failure


def left_over(data: bytearray, whole: int, pending: memoryview, ready: int) -> memoryview:
    """Return the bytes after data[:whole]; ``ready`` of ``data`` came from ``pending``. The rest of a long record is not copied."""
    if ready < len(pending):  # nothing else has been read
        return pending[whole:]
    rest = memoryview(data)[whole:]
    return rest if not whole else memoryview(bytes(rest))


def rest_of_line(stream: io.RawIOBase, data: bytearray) -> Passed:
    """Skip to the end of the line that begins with ``data``."""
    before = len(data)
    while block := stream.read(BLOCK_BYTES):
        if end := block.find(b"\n") + 1:
            return Passed(before + end, memoryview(block)[end:], False, PASSED_OVER)
        before += len(block)
    return Passed(before, memoryview(b""), True, PASSED_OVER)


def passed_over(chunk: Chunk, want: Want) -> Records:
    """Return the single row of a chunk whose record was too long to read: rejected."""
    start, length = np.array([chunk.start]), np.array([len(chunk.data)])
    rejected = [Rejected(0, f"{Ruler(chunk).place(0)}: {TOO_LONG}", b"")]
    nothing = pa.nulls(1, binary.TYPE)
    return Records(
        kind=np.full(1, REJECTED, np.uint8),
        start=start,
        length=length,
        text=binary.from_list([b""]),
        id=nothing if want.id is not None else None,
        per=nothing if want.per is not None else None,
        score=np.full(1, np.nan) if want.score is not None else None,
        width=np.zeros(1, np.int64) if of_payload(want.kind).wide else None,
        rejected=rejected,
        found=False,
    )


def line_ends(data: np.ndarray, cr: bool = False) -> int:
    """Return the number of line ends; ``cr``: a CR without an LF counts as well."""
    ends = np.count_nonzero(data == LF)
    if cr:
        ends += np.count_nonzero(data == CR) - np.count_nonzero((data[:-1] == CR) & (data[1:] == LF))
    return int(ends)


def after_last_end(data: bytes | bytearray, size: int, cr: bool) -> int:
    """Return the place after the last line end in data[:size], or 0."""
    return max(data.rfind(b"\n", 0, size), data.rfind(b"\r", 0, size) if cr else -1) + 1


def count_lines(stream: io.RawIOBase, size: int, cr: bool) -> tuple[int, int]:
    """Read ``size`` bytes from the beginning of a stream; return the line number there, from 1, and the offset of that line."""
    line, line_start, at, last = 1, 0, 0, b""
    while at < size and (block := stream.read(min(size - at, BLOCK_BYTES))):
        line += line_ends(np.frombuffer(last + block, np.uint8), cr) - len(last)
        line_start = at + begun if (begun := after_last_end(block, len(block), cr)) else line_start
        at += len(block)
        last = b"\r" if cr and block.endswith(b"\r") else b""
    return line, line_start


def line_at(path: Path, number: int, cr: bool) -> Range | None:
    """Return the offset of a line, from 1, and of the line after it; None if there are fewer lines."""
    begins, line, at = [0][: number == 1], 1, 0
    with open_read(path) as stream:
        while block := stream.read(BLOCK_BYTES):
            while cr and block.endswith(b"\r") and (more := stream.read(1)):  # CR and LF are one line end
                block += more
            data = np.frombuffer(block, np.uint8)
            if line + (ends := line_ends(data, cr)) >= number:
                places = at + 1 + np.flatnonzero(are_ends(data, cr))
                begins += places[max(0, number - line - 1) : number - line + 1].tolist()
                if len(begins) == 2:
                    return begins[0], begins[1]
            line, at = line + ends, at + len(block)
    return (begins[0], END) if begins and begins[0] < at else None


def are_ends(data: np.ndarray, cr: bool) -> np.ndarray:
    """Return whether each byte ends a line, bool[n]; ``cr``: a CR without an LF does as well."""
    end = data == LF
    if cr:
        end |= (data == CR) & (np.append(data[1:], 0) != LF)
    return end


def lines_of(path: Path, chunk: Chunk, records: Records, cr: bool) -> tuple[np.ndarray, np.ndarray]:
    """Return the first and the last line of each record of a chunk, from 1, int64[n] each."""
    ends, first = np.flatnonzero(are_ends(chunk.data, cr)), chunk.line
    if not first:
        with open_read(path) as stream:
            first, _ = count_lines(stream, chunk.start, cr)
    begin = records.start - chunk.start
    last = begin + np.maximum(records.length, 1) - 1
    return first + np.searchsorted(ends, begin), first + np.searchsorted(ends, last)


def counted(chunk: Chunk, cr: bool) -> tuple[int, int]:
    """Return (line, offset of its start) of a chunk of a seekable file, counted from the nearest place counted before."""
    with COUNTING:
        at, line, line_start = max((known for known in chunk.state.known or () if known[0] <= chunk.start), default=(0, 1, 0))
        with open_read(chunk.state.path) as stream:
            stream.seek(at)
            more, begun = count_lines(stream, chunk.start - at, cr)
        line, line_start = line + more - 1, at + begun if begun else line_start
        if chunk.state.known is not None:
            chunk.state.known.append((chunk.start, line, line_start))
    return line, line_start


class Ruler:
    """Translates places in a chunk to lines and columns; places must ascend."""

    def __init__(self, chunk: Chunk, cr: bool = False):
        self.data, self.cr, self.at = chunk.data, cr, 0
        self.line, line_start = chunk.line, chunk.state.line_start
        if not self.line:
            self.line, line_start = counted(chunk, cr)
        self.begin = line_start - chunk.start

    def place(self, at: int) -> str:
        """Return the line and the byte in it, both from 1."""
        passed = self.data[self.at : at]
        self.line += line_ends(passed, self.cr)
        if begun := after_last_end(passed.tobytes(), len(passed), self.cr):
            self.begin = self.at + begun
        self.at = at
        return f"line {self.line}, column {at - self.begin + 1}"


def nullable(offsets: np.ndarray, data: np.ndarray, there: np.ndarray) -> pa.LargeBinaryArray:
    """Return the array over these buffers, null where not ``there``."""
    valid = pa.py_buffer(np.packbits(there, bitorder="little"))
    return pa.LargeBinaryArray.from_buffers(binary.TYPE, len(there), [valid, pa.py_buffer(offsets), pa.py_buffer(data)])


def floats(values: pa.LargeBinaryArray) -> np.ndarray:
    """Return float64[n], NaN where a value is not a number."""
    try:
        return pc.cast(pc.cast(values, pa.large_string()), pa.float64()).fill_null(np.nan).to_numpy()
    except pa.ArrowInvalid:
        return np.array([_float(value) for value in values.to_pylist()], np.float64)


def _float(text: bytes | None) -> float:
    try:
        return float(text or b"nan")
    except ValueError:
        return np.nan


def values(want: Want, there: Sequence[str] | None = None) -> tuple[list[str], dict[str, int]]:
    """Return the wanted names in the kernels' order (compared parts, then id, per and score if wanted), and the index of each role.

    ``there``: the columns, if they are known.
    """
    texts = fields.names(want, there)
    others = {role: name for role, name in (("id", want.id), ("per", want.per), ("score", want.score)) if name is not None}
    return texts + list(others.values()), {role: len(texts) + i for i, role in enumerate(others)}


class _Until(io.RawIOBase):
    """The first ``size`` bytes of a stream. The rest is not read: it may be damaged, and earlier rows are still wanted (--on-error skip)."""

    def __init__(self, stream: io.RawIOBase, size: int):
        self.stream, self.left = stream, size

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = self.stream.readinto(memoryview(buffer)[: self.left]) or 0
        self.left -= size
        return size

    def close(self) -> None:
        self.stream.close()
        super().close()


def until_last(source: Path, end: np.ndarray) -> _Until:
    """Return a stream of the source's text up to the end of the last of some rows."""
    return _Until(open_read(source), int(end[-1]) if len(end) else 0)


def copy_rows(source: Path, target: Path, rows: Ranges, head: bytes = b"", between: bytes = b"", tail: bytes = b"", each: Each = in_turn) -> int:
    """Write ``head``, the ranges of the source's text with ``between`` between records, and ``tail``; compressed like the source.

    Returns the number of records written. Raises FormatError if ranges overlap.
    """
    begin, end, ends = (np.ascontiguousarray(places, np.int64) for places in (rows.begin, rows.end, np.cumsum(rows.opens)))
    opens = np.ascontiguousarray(rows.opens)
    if not between and len(begin):
        begin, end, ends = runs(begin, end, ends)
    if len(begin) and (begin[0] < 0 or (begin > end).any() or (begin[1:] < end[:-1]).any()):  # the kernel does not check bounds
        raise FormatError(f"{source}: its records overlap, so the work folder is damaged; delete it and start over")
    separator, kind = np.frombuffer(bytearray(between), np.uint8), kind_of(source)
    used = int(end[-1]) if len(end) else 0
    done = 0

    def packed(stream: io.RawIOBase, at: int) -> tuple[memoryview, int]:
        """Return the bytes of rows in the next block of the text, and the first row that ends after the block."""
        block = np.empty(min(BLOCK_BYTES, used - at), np.uint8)
        if read_into(stream, block.data) < len(block):
            raise changed(source)
        out = np.empty((1 + len(between)) * len(block) + 64, np.uint8)
        size, row = gather(block, at, begin, end, int(np.searchsorted(end, at, side="right")), opens, separator, out)
        return out.data[:size], row

    def packed_alone(at: int) -> tuple[memoryview, int]:
        with open_read(source) as stream:
            stream.seek(at)
            return packed(stream, at)

    def pieces() -> Iterator[Any]:
        nonlocal done
        places = range(0, used, BLOCK_BYTES)
        yield head
        with open_read(source) as stream:
            # blocks of an uncompressed file are read independently; those of a compressed one, in order
            for data, done in map(partial(packed, stream), places) if kind else each(packed_alone, places):  # noqa: B007 - returned
                yield data
        yield tail

    save(target, pieces(), kind, each)
    return int(ends[done - 1]) if done else 0


def runs(begin: np.ndarray, end: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Join rows that follow each other: return where each run of rows begins and ends, and the ``ends`` of its last row."""
    border = np.flatnonzero(begin[1:] != end[:-1])
    last = np.append(border, len(begin) - 1)
    return begin[np.append(0, border + 1)], end[last], ends[last]


def save_rows(
    source: Path, target: Path, records: Iterable[bytes], head: bytes, between: bytes = b"", tail: bytes = b"", each: Each = in_turn
) -> int:
    """Write ``head``, the records with ``between`` between them, and ``tail``; compressed like the source. Returns the number of records."""
    written = 0

    def pieces() -> Iterator[bytes]:
        nonlocal written
        yield head
        for record in records:
            yield between + record if written else record
            written += 1
        yield tail

    save(target, pieces(), kind_of(source), each)
    return written


def rows(source: Path, begin: np.ndarray, end: np.ndarray) -> Iterator[bytes]:
    """Yield the bytes begin[i]:end[i] of the source's text, row by row. Raises DataError if the source has changed."""
    with io.BufferedReader(until_last(source, end), BLOCK_BYTES) as stream:
        at = 0
        for first, last in zip(begin.tolist(), end.tolist(), strict=True):
            while at < first and (skipped := stream.read(min(first - at, BLOCK_BYTES))):
                at += len(skipped)
            row = stream.read(last - first)
            if at != first or len(row) != last - first:
                raise changed(source)
            at = last
            yield row
