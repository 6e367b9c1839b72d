"""Text files: each file is an item, and all text files of a run form one source."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError, has_gone, naming
from likewise.io import storage
from likewise.io.batches import CHUNK_BYTES, reading
from likewise.io.encoding import other
from likewise.io.ids import as_json
from likewise.io.ranges import WHOLE, Range, few, joined
from likewise.io.splice import of_bytes
from likewise.items import binary
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Each, Edits, Records, Rejected, Want, in_turn

__all__ = ["chunks", "few", "holds", "known", "parse", "schema", "write"]

KIND = "text"


class Files(NamedTuple):
    """The text files or the image files of a run: their paths, and their names relative to the inputs' common folder, with / as separator."""

    paths: tuple[Path, ...]
    names: tuple[str, ...]
    format: str = "text"  # a key of formats.FORMATS


def holds(want: Want) -> bool:
    """Return True if text files can hold the wanted kind of item."""
    return of_payload(want.kind).raw


def plan(path: Files, size: int) -> list[Range]:
    """Return ranges of files."""
    return joined(((1, place.stat().st_size) for place in path.paths), size)


def chunks(path: Files, want: Want, start: int = 0, part: Range = WHOLE, most: int | None = None) -> Iterator[Chunk]:
    """Yield whole files, together about ``most`` bytes (CHUNK_BYTES); ``start`` counts files.

    ``data`` is a RecordBatch of names and bytes; ``state`` maps the files of the chunk that could not be read to the reason.
    """
    begin, end = max(start, part[0]), min(part[1], len(path.paths))
    first, size = begin, 0
    names: list[bytes] = []
    bodies: list[bytes] = []
    failures: dict[int, str] = {}
    for number in range(begin, end):
        names.append(as_json(path.names[number]))
        try:
            with reading(path.paths[number], KIND):
                bodies.append(content(path.paths[number], want.most))
        except DataError as error:
            if has_gone(error):
                raise
            failures[len(bodies)] = error.marked.removeprefix(f"{path.paths[number]}: ")  # the result must not depend on the input's location
            bodies.append(b"")
        size += len(bodies[-1])
        if size >= (most or CHUNK_BYTES) or number + 1 == end:
            yield Chunk(pa.record_batch({"name": binary.from_list(names), "bytes": binary.from_list(bodies)}), first, 0, failures)
            first, size, names, bodies, failures = number + 1, 0, [], [], {}


def content(path: Path, most: int) -> bytes:
    """Return the bytes of a file. Raises DataError if it has more than ``most``."""
    if (length := path.stat().st_size) > most:
        raise DataError(f"{path}: the file has {length:,} bytes, but {option('max_record')} allows {most:,}; raise it, or leave the file out")
    return path.read_bytes()


def schema(path: Files, want: Want) -> pa.Schema:
    """Return the schema: one field, text."""
    return pa.schema({"text": pa.large_string()})


def known(chunk: Chunk) -> Sequence[str]:
    """Return the name of the only field."""
    return ("text",)


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the files of a chunk as rows. The id of a file is its name; it has no other field and holds only text."""
    names, raw = chunk.data.columns
    rows = len(raw)
    textual = of_payload(want.kind).raw
    kind = np.full(rows, TEXT if textual else NO_TEXT, np.uint8)
    text, rejected = raw, [Rejected(row, reason, b"") for row, reason in chunk.state.items()]
    kind[list(chunk.state)] = REJECTED
    offsets, data = binary.parts(raw)
    marked = any(data[at : at + 3].tobytes() == codecs.BOM_UTF8 for at in offsets[:-1].tolist())
    if not textual or marked or not binary.is_utf8(raw):
        bodies = [body.removeprefix(codecs.BOM_UTF8) if textual else b"" for body in raw.to_pylist()]
        for row, body in enumerate(bodies):
            if (at := binary.utf8_fault(body)) is not None:
                rejected.append(Rejected(row, _reason(body, at), raw[row].as_py()))
                kind[row], bodies[row] = REJECTED, b""
        text = binary.from_list(bodies)
        rejected.sort()
    return Records(
        kind=kind,
        start=np.arange(chunk.start, chunk.start + rows),
        length=np.diff(offsets),
        text=text,
        id=names if want.id else None,
        per=pa.nulls(rows, binary.TYPE) if want.per else None,
        score=np.full(rows, np.nan) if want.score else None,
        rejected=rejected,
        fields=("text",),
        found=want.text == "text" and textual,
    )


def _reason(body: bytes, at: int) -> str:
    """Return a message with line and column as editors count them: from 1, columns in characters."""
    line_start = body.rfind(b"\n", 0, at) + 1
    column = len(body[line_start:at].decode("utf-8", "surrogatepass")) + 1
    hint = f"; the first bytes are {name}, so save the file as UTF-8" if (name := other(body[:4])) else ""
    line = body.count(b"\n", 0, at) + 1
    return f"line {line}, column {column} (0x{body[at]:02x}): this byte is not UTF-8{hint}"


def write(
    source: Files,
    target: Path,
    keep: np.ndarray,
    start: np.ndarray,
    length: np.ndarray,
    add: pa.Table | None = None,
    each: Each = in_turn,
    edits: Edits | None = None,
) -> int:
    """Copy the kept files to the folder ``target``, without the parts in ``edits``. Raises UsageError if ``add`` has columns."""
    if add is not None:
        raise UsageError(f"columns ({', '.join(add.column_names)}) cannot be added to files; choose {option('output', 'ids')} or mask instead")
    written = 0
    for number in np.flatnonzero(keep):  # files beyond --limit have no entry
        path, name = source.paths[number], source.names[number]
        place = target / name
        place.parent.mkdir(parents=True, exist_ok=True)
        with naming(place):
            here = None if edits is None else edits.of(int(number), int(number) + 1)
            if here is None or not len(here.row):
                storage.copy(path, place)
            else:
                place.write_bytes(without_parts(path, here))
        written += 1
    return written


def without_parts(path: Path, edits: Edits) -> bytes:
    """Return the bytes of a file, its byte-order mark included, without some parts of its text."""
    raw = path.read_bytes()
    body = raw.removeprefix(codecs.BOM_UTF8)
    left, _ = of_bytes(np.frombuffer(body, np.uint8), np.array([0, len(body)]), edits)
    return raw[: len(raw) - len(body)] + left.tobytes()
