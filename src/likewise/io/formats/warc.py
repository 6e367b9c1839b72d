"""Web archives (WARC 1.0 and 1.1, ISO 28500), plain or compressed: each record with a document is a row.

Records are found by their Content-Length. A record after which no other begins is rejected, and reading continues at the next one. Kept records are
written byte for byte; of gzip archives as members, unchanged if a member holds one record. A record of another type, such as a request, is written
if it belongs to a kept record or to none.
"""

from __future__ import annotations

import io
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.io import columns, storage, web
from likewise.io.batches import changed
from likewise.io.compression import Borders, kind_of, read_into
from likewise.io.field_names import top
from likewise.io.formats import first_bytes
from likewise.io.formats.lines import BLOCK_BYTES, CHUNK_BYTES, TOO_LONG, Cut, Passed, copy_rows, pieces, rows, save_rows
from likewise.io.splice import Ranges
from likewise.records import REJECTED, Chunk, Each, Records, Rejected, Want, in_turn

__all__ = ["OPTIONS", "chunks", "known", "parse", "schema", "write"]

#: Options of this format only (`io.formats.Format`).
OPTIONS = ("html",)

#: Why nothing can be cut out of a text (`io.formats.Format`).
UNCUT = "its records hold pages as they were sent, with their lengths and digests; write their text as JSON lines first"

SCHEMA = pa.schema(
    {
        "text": pa.large_binary(),
        "uri": pa.large_string(),
        "host": pa.large_string(),
        "language": pa.large_string(),
        "date": pa.timestamp("us", "UTC"),
        "id": pa.large_string(),
        "type": pa.large_string(),
        "content_type": pa.large_string(),
        "status": pa.int64(),
    }
)
MAGIC = b"WARC/"
#: Types of records that hold a document. A segment of a document is not one.
DOCUMENTS = (b"response", b"resource", b"conversion")
#: Fields that name a record to which another belongs.
LINKS = (b"warc-concurrent-to", b"warc-refers-to", b"warc-segment-origin-id")
NEXT = re.compile(rb"\r?\nWARC/[0-9]\.[0-9]{1,2}[ \t]{0,3}\r?\n")
NEXT_BYTES = 16  # maximum length of a match of NEXT
LINE_ENDS = re.compile(rb"[\r\n]*")
ASTRAY = "no record begins after the content of this one"


class Frame(NamedTuple):
    """A record in a chunk. ``fault``: why it cannot be read. ``begun``: the beginning of the block of a record that is too long to hold."""

    begin: int
    block: int
    end: int  # where the next record begins
    head: dict[bytes, bytes]
    links: list[bytes]
    fault: str = ""
    begun: bytes | None = None

    @property
    def is_row(self) -> bool:
        """True if the record holds a document or cannot be read."""
        return bool(self.fault) or self.head.get(b"warc-type", b"").lower() in DOCUMENTS


def schema(path: Path, want: Want) -> pa.Schema:
    """Return the schema of every archive."""
    return SCHEMA.set(0, pa.field("text", pa.large_string()))


def known(chunk: Chunk) -> Sequence[str]:
    """Return the names of the fields."""
    return SCHEMA.names


def chunks(path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
    """Yield chunks of whole records; ``State.more`` has the frames of their rows. Raises DataError for a file that is not an archive."""
    if not start and (head := bytes(first_bytes(path)).lstrip(b"\r\n")) and not head.startswith(MAGIC):
        raise DataError(f"{path}: expected a web archive, which begins with WARC/, but the file begins with {head[:12]!r}; copy or rename it")
    for chunk in framed(path, start, want):
        if frames := [frame for frame in chunk.state.more if frame.is_row]:
            yield chunk._replace(state=chunk.state._replace(more=frames))


def framed(path: Path, start: int, want: Want, borders: Borders | None = None) -> Iterator[Chunk]:
    """Yield chunks of whole records; ``State.more`` has the frames of all records, which do not depend on ``want``."""

    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        frames, at = [], 0
        while at < len(data) and (frame := frame_at(data, at, final)) is not None:
            frames.append(frame)
            at = frame.end
        return Cut(at, frames or None)

    def last(data: bytearray) -> Cut:
        size, frames, _ = cut(data, 0, True)
        if frames and frames[-1].fault:  # its end is behind the damage
            size, frames = frames[-1].begin, frames[:-1]
        return Cut(size, frames or None)

    return pieces(path, start, cut, want, longer=longer, last=last, borders=borders)


class Begun(NamedTuple):
    """A record with a complete header. ``end``: of its block, None without a Content-Length; ``fault`` is then the reason."""

    at: int
    block: int  # or where the search for the next record begins
    end: int | None
    head: dict[bytes, bytes]
    links: list[bytes]
    fault: str = ""

    def whole(self, after: int) -> Frame:
        """Return its frame if the next record begins at ``after``."""
        return Frame(self.at, self.block, after, self.head, self.links)

    def damaged(self, end: int, *, short: int = 0, begun: bytes | None = None) -> Frame:
        """Return its frame if the next record begins at ``end``. short: bytes that the file has behind its header, if it ends within this record."""
        fault = self.fault or (f"this record ends after {short:,} bytes of content" if short else ASTRAY)
        if self.end is not None:
            fault += f"; its Content-Length is {self.end - self.block:,}"
        return Frame(self.at, self.at, end, self.head, [], fault, begun)


def begun(data: bytearray, start: int) -> Begun:
    """Return the record that begins at ``start``, behind line ends."""
    at = line_ends(data, start)
    if not data.startswith(MAGIC, at):
        return Begun(at, at, None, {}, [], "expected a record, which begins with WARC/")
    blank = web.BLANK_LINE.search(data, at, at + web.HEAD_BYTES)
    if blank is None:
        return Begun(at, at + len(MAGIC), None, {}, [], "the header of this record has no end")
    block = blank.end()
    head, links = header(data[at:block])
    length = size_of(head)
    if length is None:
        return Begun(at, block, None, head, links, "the header of this record has no Content-Length")
    return Begun(at, block, block + length, head, links)


def frame_at(data: bytearray, start: int, final: bool) -> Frame | None:
    """Return the record that begins at ``start``, behind line ends; None if its end is not in ``data``. final: the file ends with ``data``."""
    at = line_ends(data, start)
    if len(data) - at < web.HEAD_BYTES and not final and web.BLANK_LINE.search(data, at) is None:
        return None
    if at == len(data):
        return Frame(start, at, at, {}, [])  # line ends behind the last record
    record = begun(data, at)
    if record.end is not None:
        after = line_ends(data, min(record.end, len(data)))
        if len(data) - after < len(MAGIC) and not final:
            return None
        if record.end <= len(data) and (after == len(data) or data.startswith(MAGIC, after)):
            return record.whole(after)
    found = next_record(data, record.block)
    if found is None and not final:
        return None
    if found is not None:
        return record.damaged(found)
    return record.damaged(len(data), short=len(data) - record.block if record.end is not None and record.end > len(data) else 0)


def next_record(data: bytes | bytearray, at: int) -> int | None:
    """Return where the first record behind ``at`` begins, or None."""
    found = NEXT.search(data, at) if data.find(MAGIC, at) >= 0 else None
    return data.index(MAGIC, found.start()) if found else None


def header(raw: bytes | bytearray) -> tuple[dict[bytes, bytes], list[bytes]]:
    """Return the fields of a header, and the ids of the records that it names."""
    fields = web.fields(bytes(raw))
    return web.by_name(fields), [value for name, value in fields if name in LINKS]


def line_ends(data: bytearray, at: int) -> int:
    """Return the place behind the line ends at ``at``."""
    found = LINE_ENDS.match(data, at)
    return found.end() if found else at


def size_of(head: dict[bytes, bytes]) -> int | None:
    """Return the Content-Length, or None."""
    given = head.get(b"content-length", b"")
    return int(given) if given.isdigit() and len(given) < 19 else None


def longer(stream: io.RawIOBase, data: bytearray) -> Passed:
    """Skip a record that begins with ``data``: to its end or, if no record begins there, to the first one behind its header, as `frame_at`."""
    record = begun(data, 0)
    content = bytes(data[record.block : record.block + web.HEAD_BYTES])
    window, at, end, found, ended = data, 0, record.end, None, False  # window: the text from the place ``at``
    while True:
        if found is None and (ahead := next_record(window, max(0, record.block - at))) is not None:
            found = at + ahead
        reached = at + len(window)
        if end is not None and (ended or reached >= end):
            after = line_ends(window, min(max(0, end - at), len(window)))
            if reached >= end and (window.startswith(MAGIC, after) or (ended and after == len(window))):
                return Passed(at + after, memoryview(window)[after:], ended, [record.whole(at + after)._replace(begun=content)])
            if ended or len(window) - after >= len(MAGIC):
                end = None
        if end is None and found is not None:
            rest = memoryview(window)[found - at :] if found >= at else None
            return Passed(found, rest, False, [record.damaged(found, begun=b"")])
        if ended:
            short = reached - record.block if record.end is not None and record.end > reached else 0
            return Passed(reached, memoryview(b""), True, [record.damaged(reached, short=short, begun=b"")])
        more = stream.read(BLOCK_BYTES) or b""
        kept = min(NEXT_BYTES, len(window))
        window, at, ended = window[len(window) - kept :] + more, reached - kept, not more


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the rows of a chunk, or of a table without rows, by which `io.presence` tries out a field."""
    if isinstance(chunk.data, pa.Table):
        return columns.parse(chunk, want, where)
    frames: list[Frame] = chunk.state.more
    begin = np.array([frame.begin for frame in frames], np.int64)
    names = {top(name, SCHEMA.names) for name in columns.wanted(want, SCHEMA, where)}
    rejected = [Rejected(row, f"{place(frame, chunk)}: {frame.fault}", raw(chunk, frame)) for row, frame in enumerate(frames) if frame.fault]
    values: dict[str, list[Any]] = {name: [] for name in SCHEMA.names if name in names}
    for row, frame in enumerate(frames):
        try:
            here = {} if frame.fault else values_of(frame, chunk.data, want, "text" in names)
        except web.UnreadableError as error:
            here = {}
            rejected.append(Rejected(row, f"{place(frame, chunk)}: {error}", raw(chunk, frame)))
        for name, column in values.items():
            column.append(here.get(name))
    table = pa.table({name: pa.array(column, SCHEMA.field(name).type) for name, column in values.items()})
    records = columns.parse(Chunk(table, 0, 0, tuple(SCHEMA.names)), want, where, lambda row: place(frames[row], chunk))
    return taken(records, chunk.start + begin, np.array([frame.end for frame in frames], np.int64) - begin, rejected)


def taken(records: Records, start: np.ndarray, length: np.ndarray, rejected: list[Rejected]) -> Records:
    """Return the records at these places, with further rejected rows."""
    records.start, records.length = start, length
    if rejected:
        records.kind[[entry.row for entry in rejected]] = REJECTED
        records.rejected = sorted({entry.row: entry for entry in (*records.rejected, *rejected)}.values())
    return records


def place(frame: Frame, chunk: Chunk) -> str:
    """Return the place of a record for messages: its id, and its first byte in the decompressed archive."""
    identity = frame.head.get(b"warc-record-id", b"").decode("utf-8", "replace")
    return f"record {identity}{' ' * bool(identity)}at byte {chunk.start + frame.begin:,}"


def raw(chunk: Chunk, frame: Frame) -> bytes:
    """Return the bytes of a record; none of one that was too long to hold."""
    return chunk.data[frame.begin : frame.end].tobytes() if frame.begun is None else b""


def values_of(frame: Frame, data: np.ndarray, want: Want, wanted: bool) -> dict[str, Any]:
    """Return the fields of a record; the text only if it is ``wanted``. Raises UnreadableError."""
    head = frame.head
    length = size_of(head) or 0
    block = data[frame.block : frame.block + length].tobytes() if frame.begun is None else frame.begun
    kind, charset = web.media(head.get(b"content-type", b""))
    if kind == "application/http":
        content = web.of_http(block)
    else:
        content = web.Content(kind, charset, (), None, block)
    text = None
    if wanted:
        if frame.begun is not None and web.is_text(content):
            raise web.UnreadableError(TOO_LONG)
        if b"warc-segment-number" in head:
            raise web.UnreadableError("it is a segment of a record that is divided; join its segments first")
        if frame.begun is None:
            text = web.text(content, want.html, want.most, cut=b"warc-truncated" in head)
            if text is not None and len(text) > want.most:
                raise web.UnreadableError(TOO_LONG)
    uri = named(head, b"warc-target-uri")
    return {
        "text": text,
        "uri": uri,
        "host": host_of(uri),
        "language": named(head, b"warc-identified-content-language"),
        "date": moment(head.get(b"warc-date", b"")),
        "id": named(head, b"warc-record-id"),
        "type": named(head, b"warc-type"),
        "content_type": content.type or None,
        "status": content.status,
    }


def named(head: dict[bytes, bytes], name: bytes) -> str | None:
    """Return the value of a field of the header as text."""
    return head[name].decode("utf-8", "replace") if name in head else None


def host_of(uri: str | None) -> str | None:
    """Return the host of an address in lower case, without user and port; None without one."""
    try:
        return (urlsplit(uri.strip("<>")).hostname if uri else None) or None  # old archives have addresses in angle brackets
    except ValueError:  # such as of an open square bracket
        return None


def moment(value: bytes) -> datetime | None:
    """Return a date of WARC, which may omit its last parts; None for others."""
    text = value.decode("latin-1").strip()
    text += "-01-01"[len(text) - 4 :] if len(text) in (4, 7) else ""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def write(
    source: Path, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, add: pa.Table | None = None, each: Each = in_turn
) -> int:
    """Write the kept records byte for byte, with the records that belong to them or to none. ``add``: fields of their headers to add."""
    borders: Borders = {}
    there = length > 0  # the unreadable rest of a source has no bytes
    keep, start, length = keep[there], start[there], length[there]
    begin, end = chosen(source, keep, start, length, borders)
    kind, is_row = kind_of(source), np.isin(begin, start[keep])
    if add is not None:
        records = annotated(rows(source, begin, end), is_row, add, source)
        written = save_members(target, map(member, records)) if kind == "gz" else save_rows(source, target, records, b"", each=each)
    elif kind == "gz":
        written = save_members(target, members_of(source, begin, end, borders))
    else:
        written = copy_rows(source, target, Ranges(begin, end, np.ones(len(begin), bool)), each=each)
    return int(np.count_nonzero(is_row[:written]))


def chosen(source: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, borders: Borders) -> tuple[np.ndarray, np.ndarray]:
    """Return where each record to write begins and ends, int64[n] each; fills ``borders`` as `open_read`. Raises DataError if the source changed."""
    fate: dict[bytes, bool] = {}  # id of a row, or of a record that a row names -> whether the row is kept
    others: list[tuple[int, int, list[bytes]]] = []  # (begin, end, ids: its own, which may be b"", and those that it names)
    number = 0
    try:
        for begin, end, frame in frames_of(source, borders):
            own = frame.head.get(b"warc-record-id", b"")
            if not frame.is_row:
                others.append((begin, end, [own, *frame.links]))
            elif number == len(start):  # behind --limit
                last = int(start[-1]) if number else 0
                others = [other for other in others if other[0] < last or any(link in fate for link in other[2])]
                break
            elif start[number] != begin or length[number] != end - begin:
                raise changed(source)
            else:
                fate |= {link: bool(keep[number]) for link in frame.links if link and link not in fate}
                if own:
                    fate[own] = bool(keep[number])
                number += 1
    except DataError:
        if keep[number:].any():  # else the damage was skipped
            raise
    if keep[number:].any():
        raise changed(source)
    decided = decisions(fate, [ids for _, _, ids in others])
    spans = [(begin, end) for number, (begin, end, _) in enumerate(others) if decided.get(number, True)]
    spans += zip(start[keep].tolist(), (start + length)[keep].tolist(), strict=True)
    both = np.array(sorted(spans), np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def decisions(fate: dict[bytes, bool], ids: list[list[bytes]]) -> dict[int, bool]:
    """Return whether records that are not rows are kept, by number; those that belong to no row have no entry. Adds their own ids to ``fate``.

    ids: of each record its own, and those of the records to which it belongs, which may again belong to others.
    """
    belonging: dict[bytes, list[int]] = {}
    for number, names in enumerate(ids):
        for name in names:
            belonging.setdefault(name, []).append(number)
    decided: dict[int, bool] = {}
    new = fate
    while new:
        reached = sorted({number for name in new for number in belonging.get(name, ())} - decided.keys())
        decided |= {number: next(fate[name] for name in ids[number] if name in fate) for number in reached}
        new = {ids[number][0]: decided[number] for number in reached if ids[number][0] and ids[number][0] not in fate}
        fate |= new
    return decided


def frames_of(source: Path, borders: Borders) -> Iterator[tuple[int, int, Frame]]:
    """Yield (begin, end, frame) of all records."""
    for chunk in framed(source, 0, Want(most=CHUNK_BYTES), borders):
        for frame in chunk.state.more:
            if frame.head or frame.fault:
                yield chunk.start + frame.begin, chunk.start + frame.end, frame


def members_of(source: Path, begin: np.ndarray, end: np.ndarray, borders: Borders) -> Iterator[bytes | bytearray]:
    """Yield records of a gzip archive: the members that hold exactly a record, unchanged; other records as members of their own."""
    whole = np.array([first in borders and last in borders for first, last in zip(begin.tolist(), end.tolist(), strict=True)], bool)
    others = rows(source, begin[~whole], end[~whole])
    with storage.raw(source) as file:
        for first, last, alone in zip(begin.tolist(), end.tolist(), whole.tolist(), strict=True):
            if alone:
                packed = bytearray(borders[last] - borders[first])
                file.seek(borders[first])
                if read_into(file, memoryview(packed)) < len(packed):
                    raise changed(source)
                yield packed
            else:
                yield member(next(others))


def save_members(target: Path, members: Iterable[bytes | bytearray]) -> int:
    """Write a gzip file, and return its number of members. Without any it is empty, but a gzip file."""
    written = 0
    with open(target, "wb") as out:
        for one in members:
            out.write(one)
            written += 1
        if not written:
            out.write(member(b""))
    return written


def member(record: bytes) -> bytes:
    """Return a record as a gzip member, without a time, so that equal records give equal bytes."""
    encoder = zlib.compressobj(6, zlib.DEFLATED, 31)
    return encoder.compress(record) + encoder.flush()


def annotated(records: Iterable[bytes], kept: np.ndarray, add: pa.Table, source: Path) -> Iterator[bytes]:
    """Yield the records; those where ``kept`` is true with the next row of ``add`` as fields of the header. A field without a value is left out.

    Raises UsageError if a record already has one of the fields.
    """
    extra = iter(add.to_pylist())
    for record, is_kept in zip(records, kept.tolist(), strict=True):
        if is_kept:
            blank = web.BLANK_LINE.search(record)
            assert blank is not None  # rows have a header
            head = header(record[: blank.end()])[0]
            if clash := [name for name in add.column_names if name.encode() in head]:
                raise UsageError(f"{source}: a record already has the field {clash[0]!r}, which likewise would add; rename it there first")
            lines = (f"\r\n{name}: {' '.join(str(value).split())}" for name, value in next(extra).items() if value is not None)
            record = record[: blank.start()] + "".join(lines).encode("utf-8", "replace") + record[blank.start() :]
        yield record
