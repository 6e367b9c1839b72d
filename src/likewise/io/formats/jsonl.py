"""JSON lines (.jsonl, .ndjson): one JSON value per line, blank lines allowed; or consecutive documents that each span several lines.

Only the wanted fields of objects are decoded. A line with valid JSON other than an object is a row without text; a line that is not valid
JSON is rejected. In unused values NaN and the like are accepted, because records are copied unchanged (`kernels.json`).
Ids are unchanged JSON text, except that strings are in their shortest form, so that "\\u0061" and "a" are the same id; 1 and 1.0 are two.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.drawing.controls import escaped_json
from likewise.errors import DataError, UsageError
from likewise.io import fields as names
from likewise.io import json_text
from likewise.io.compression import kind_of, open_read
from likewise.io.encoding import BOM
from likewise.io.field_names import beginnings, steps
from likewise.io.formats import PEEK_BYTES, first_bytes
from likewise.io.formats.lines import (
    PASSED_OVER,
    TOO_LONG,
    Cut,
    Ruler,
    beginning,
    copy_rows,
    count_lines,
    floats,
    nullable,
    of_lines,
    passed_over,
    pieces,
    rest_of_line,
    rows,
    save_rows,
    values,
)
from likewise.io.headers import once
from likewise.io.ids import as_json, compact, from_json
from likewise.io.ranges import END, WHOLE, Range
from likewise.io.ranges import cut as equal_ranges
from likewise.io.splice import Reading, of_records
from likewise.items import binary, json_values, payloads, sparse_names, unusable
from likewise.items.reader import Reader
from likewise.items.reader import from_json as from_json_texts
from likewise.items.readers import reader_of
from likewise.kernels.json import LONG, MAX_PATHS, REASONS, documents, lines, read
from likewise.kernels.json_strings import identities
from likewise.kernels.raw import json_string
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Each, Edits, Records, Rejected, Want, in_turn

__all__ = ["chunks", "parse", "write"]

MAX_FIELDS = 50
SAMPLE = 20


def plan(path: Path, size: int) -> list[Range]:
    """Return ranges of bytes. A compressed file is one range, and so is a file whose documents span several lines."""
    return [WHOLE] if few(path) == END else equal_ranges(path.stat().st_size, size)


def few(path: Path) -> int:
    """Return the end of a range of the first few rows; END if the file can be read only from its beginning."""
    return END if kind_of(path) or _are_documents(path) else PEEK_BYTES


def chunks(path: Path, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield chunks that end after a line feed. If documents span several lines, chunks end between documents and State.more holds their places."""
    if _are_documents(path):
        yield from _documents(path, want, start)
        return

    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        return Cut(len(data) if final else data.rfind(b"\n") + 1, ())

    begin, end = of_lines(path, part)
    yield from pieces(path, max(start, begin), cut, want, end=end, longer=rest_of_line)


@once
def _are_documents(path: Path) -> bool:
    return json_text.are_documents(bytes(first_bytes(path)))


def _documents(path: Path, want: Want, start: int) -> Iterator[Chunk]:
    def cut(data: bytearray, offset: int, final: bool) -> Cut:
        *places, size = documents(np.frombuffer(data, np.uint8), final)
        failure = None
        if final and size < len(data):
            with open_read(path) as stream:
                line, line_start = count_lines(stream, offset + size, False)
            place = f"{path}, line {line}, column {offset + size - line_start + 1}"
            failure = DataError(f"{place}: the JSON document that begins here is never closed; copy or write the file again")
        return Cut(size, tuple(places) if len(places[0]) else None, failure)

    yield from pieces(path, max(start, beginning(path)), cut, want)


def rows_of(chunk: Chunk) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the offsets at which each record begins, ends, and the next begins."""
    return chunk.state.more or lines(chunk.data)


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the rows of a chunk."""
    if chunk.state.more is PASSED_OVER:
        return passed_over(chunk, want)
    return read_rows(chunk, want, *rows_of(chunk))


def sample(path: Path, want: Want) -> Records | None:
    """Return the first records, or None for an empty file."""
    for chunk in chunks(path, want):
        if chunk.state.more is not PASSED_OVER:
            return read_rows(chunk, want, *(places[:SAMPLE] for places in rows_of(chunk)))
    return None


def known(chunk: Chunk) -> None:
    """Return None: each record has its own fields."""


def mentioned(chunk: Chunk, names: Sequence[str]) -> set[str]:
    """Return the names that may occur in a chunk: in quotes, or with one of their characters as an escape. The chunk is not copied."""
    if chunk.state.more is PASSED_OVER:
        return set()
    return {name for name in names if any(re.search(pattern, chunk.data) for pattern in spellings(name))}


@lru_cache
def spellings(name: str) -> tuple[bytes, bytes]:
    """Return patterns of a name in quotes as most programs write it, and of escapes, one of which is in every other spelling."""
    raw = name.encode("utf-16-be", "surrogatepass")
    units = {raw[at : at + 2].hex() for at in range(0, len(raw), 2)}
    digits = ("".join(f"[{digit}{digit.upper()}]" if digit.isalpha() else digit for digit in unit) for unit in sorted(units))
    escaped = rf"\\(?:u(?:{'|'.join(digits)}){'|/' * ('/' in name)})"
    return re.escape(json.dumps(name, ensure_ascii=False).encode("utf-8", "surrogatepass")), escaped.encode()


def glance(path: Path, want: Want) -> tuple[list[str], bool]:
    """Return the field names of the first records, up to a wanted one, and whether the file has been seen whole."""
    head, until = bytes(first_bytes(path)), beginnings(want.text)
    whole = len(head) < PEEK_BYTES
    if json_text.are_documents(head):
        return json_text.names(head, until=until), whole
    seen: dict[str, None] = {}
    for line in head.split(b"\n")[: None if whole else -1]:
        seen |= dict.fromkeys(json_text.names(line, until=until))
        if not until.isdisjoint(seen):
            break
    return list(seen), whole


def inside(path: Path) -> str:
    """Return the field of a file's only record that holds a list of objects, which may be the records; "" if there is no such field."""
    head = bytes(first_bytes(path))
    return json_text.list_of_objects(head) if json_text.are_documents(head) or b"\n" not in head.rstrip(json_text.BLANK) else ""


def read_rows(chunk: Chunk, want: Want, begin: np.ndarray, end: np.ndarray, following: np.ndarray) -> Records:
    """Parse the records data[begin[i]:end[i]]; the bytes data[begin[i]:following[i]] are copied to the output."""
    wanted, others = values(want)
    texts, reader = len(wanted) - len(others), reader_of(want.kind)
    in_kernel = reader is not None and reader.in_kernel
    how = texts, in_kernel, reader is None and not want.located, want.most
    fault, place, first, last, is_text, text, offsets = read(chunk.data, begin, end, *tables(wanted), *how)
    column = {role: (np.ascontiguousarray(first[:, value]), np.ascontiguousarray(last[:, value])) for role, value in others.items()}
    there = names.found(wanted[:texts], (first[:, :texts] >= 0).any(axis=0).tolist())
    records = Records(
        kind=np.where(fault > 0, REJECTED, np.where(is_text, TEXT, NO_TEXT)).astype(np.uint8),
        start=chunk.start + begin,
        length=following - begin,
        text=binary.build(offsets, text),
        id=identity(chunk.data, *column["id"]) if want.id is not None else None,
        per=identity(chunk.data, *column["per"]) if want.per is not None else None,
        score=score(chunk.data, *column["score"]) if want.score is not None else None,
        rejected=list(refused(chunk, begin, end, fault, place)),
        fields=() if there else fields(chunk.data[b:e] for b, e, bad in zip(begin.tolist(), end.tolist(), fault.tolist(), strict=True) if not bad),
        found=there,
        located=np.stack([first[:, 0], last[:, 0]], axis=1) if want.located else None,
    )
    if reader is not None and not in_kernel:
        read_items(records, chunk, want, reader, wanted[:texts], first, last)
    elif (gone := records.kind == NO_TEXT).any():
        records.other = other(chunk.data, first[gone, :texts], last[gone, :texts])
    return records


def other(data: np.ndarray, first: np.ndarray, last: np.ndarray) -> str:
    """Describe (`unusable.held`) the first value that is not null among data[first[i, j]:last[i, j]]; first is -1 for a missing value."""
    begin, end = first[first >= 0], last[first >= 0]
    at = np.flatnonzero(data[begin] != ord("n"))[:1]  # null is the only JSON value that begins with n
    return unusable.of_texts([data[begin[i] : end[i]].tobytes() for i in at.tolist()], np.ones(len(at), bool))


def read_items(records: Records, chunk: Chunk, want: Want, reader: Reader, parts: list[str], first: np.ndarray, last: np.ndarray) -> None:
    """Fill ``records`` with sets, vectors or codes. Part p of a row is at first[row, p] : last[row, p]."""
    raw = chunk.data.tobytes()
    places = [list(zip(first[:, part].tolist(), last[:, part].tolist(), strict=True)) for part in range(len(parts))]
    texts = [[raw[at:stop] if at >= 0 and raw[at : at + 4] != b"null" else None for at, stop in part] for part in places]
    if reader.by_parts and sparse_names.are_parts(parts):
        texts = [[names.as_record(row) for row in zip(*texts, strict=True)]]
    rows = from_json_texts(texts, reader, want)
    kind, records.text, records.width = payloads.laid(rows, want)
    records.nulls, records.other, records.matrix = rows.nulls, rows.other, rows.matrix
    records.kind = np.where(records.kind == REJECTED, REJECTED, kind).astype(np.uint8)
    ruler = Ruler(chunk) if rows.faults else None

    def place(row: int, fault: payloads.Fault) -> str:
        values = [part for part in range(len(parts)) if first[row, part] >= 0]
        at = int(first[row, values[0]])
        if of_payload(want.kind).numbered and fault.item >= 0:
            at = json_values.place(raw, [(int(first[row, part]), int(last[row, part])) for part in values], fault.item)
        return ruler.place(at)  # type: ignore[union-attr]

    def record(row: int) -> bytes:
        begin = int(records.start[row] - chunk.start)
        return raw[begin : begin + int(records.length[row])].rstrip(b"\r\n")

    found = payloads.refused(rows, parts, "field", records.id, place, record)
    records.rejected = sorted([*records.rejected, *found])


def tables(wanted: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, int]:
    """Return (keys, key_at, path_at, value_of, lists) for kernels.json. A name is a key of the record itself, or else a path with dots.

    Raises UsageError for too many names. Made afresh for each chunk, because threads that share arrays contend for their reference counts.
    """
    paths = []  # (value, keys, whether the strings of a list are meant)
    for value, name in enumerate(wanted):
        paths.append((value, [name], False))
        if "." in name or name.endswith("[]"):
            paths.append((value, *steps(name)))
    if len(paths) > MAX_PATHS:
        raise UsageError(f"{option('field', '+'.join(wanted))}: {len(wanted)} names; at most {MAX_PATHS // 2} can be searched at once")
    keys = [key.encode("utf-8", "surrogatepass") for _, path, _ in paths for key in path]
    sizes = [len(key) for key in keys]
    return (
        np.frombuffer(bytearray(b"".join(keys)), np.uint8),
        np.concatenate(([0], np.cumsum(sizes, dtype=np.int64))),
        np.concatenate(([0], np.cumsum([len(path) for _, path, _ in paths], dtype=np.int64))),
        np.array([value for value, _, _ in paths], np.int64),
        sum(1 << number for number, (_, _, strings) in enumerate(paths) if strings),
    )


def identity(data: np.ndarray, first: np.ndarray, last: np.ndarray) -> pa.LargeBinaryArray:
    """Return values as JSON text. The kernel normalizes strings; objects and lists, which are rare as ids, are converted one by one."""
    text, offsets, there = identities(data, first, last, False)
    found = nullable(offsets, text, there)
    if not np.isin(data[first[first >= 0]], (ord("{"), ord("["))).any():
        return found
    return binary.from_list(value if value is None or value[:1] not in b"{[" else compact(value) for value in found.to_pylist())


def score(data: np.ndarray, first: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return values as float64[n], NaN for a value that is not a number."""
    number = np.zeros(256, bool)
    number[list(b"-0123456789")] = True
    there = first >= 0
    there[there] = number[data[first[there]]]
    return floats(identity(data, np.where(there, first, -1), last))


def refused(chunk: Chunk, begin: np.ndarray, end: np.ndarray, fault: np.ndarray, place: np.ndarray) -> Iterator[Rejected]:
    """Yield the rejected records with the reason and the place of the fault."""
    bad = np.flatnonzero(fault)
    ruler = Ruler(chunk) if len(bad) else None
    for row, at in zip(bad.tolist(), place[bad].tolist(), strict=True):
        here = f" (0x{chunk.data[at]:02x})" if at < end[row] else ""
        reason = TOO_LONG if fault[row] == LONG else REASONS[fault[row]]
        yield Rejected(row, f"{ruler.place(at)}{here}: {reason}", chunk.data[begin[row] : end[row]].tobytes().rstrip(b"\r\n"))  # type: ignore[union-attr]


def fields(records: Iterable[np.ndarray]) -> tuple[str, ...]:
    """Return the field names of the first records that are objects."""
    seen: dict[str, None] = {}
    for record in islice(records, 100):
        seen |= dict.fromkeys(json_text.names(record.tobytes()))
    return tuple(seen)[:MAX_FIELDS]


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
    """Write the kept lines byte for byte, with line ends and byte-order mark; ``add``: columns to append as fields of the objects.

    ``edits``: parts of texts, which are cut out of the strings as they are encoded.
    """
    head = BOM[: beginning(source)] if keep.any() else b""
    kept = of_records(source, keep, start, length, edits, Reading(chunks, parse, json_string), each)
    if add is None:
        return copy_rows(source, target, kept, head, each=each)
    records = (extended(row, extra, source) for row, extra in zip(rows(source, kept.begin, kept.end), additions(add), strict=True))
    return save_rows(source, target, records, head, each=each)


def additions(add: pa.Table) -> Iterator[dict[str, Any]]:
    """Yield the rows as mappings; JSON texts are decoded."""
    texts = [field.name for field in add.schema if isinstance(field.type, pa.JsonType)]
    for batch in add.to_batches(max_chunksize=1 << 14):
        for row in batch.to_pylist():
            yield row | {name: None if row[name] is None else from_json(row[name]) for name in texts}


def extended(row: bytes, extra: dict[str, Any], source: Path) -> bytes:
    """Return the record with further fields before its last brace; other values than objects stay unchanged.

    Raises UsageError if the record already has one of the fields.
    """
    record = row.rstrip(b" \t\r\n")
    if not record.endswith(b"}") or not extra:
        return row
    quoted = [json.dumps(name, ensure_ascii=False).encode() for name in extra]
    if any(name in record for name in quoted) and (clash := extra.keys() & json_text.names(record)):
        raise UsageError(f"{source}: a record already has the field {min(clash)!r}, which likewise would add; rename it there first")
    members = b",".join(
        name + b":" + (b"null" if value != value else escaped_json(as_json(value).decode()).encode())
        for name, value in zip(quoted, extra.values(), strict=True)
    )
    comma = b"" if record[:-1].strip() == b"{" else b","
    return record[:-1] + comma + members + b"}" + row[len(record) :]
