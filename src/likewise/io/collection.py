"""The rows of a run: read once from the sources into the columns of the work folder, and looked up there from then on."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property, partial
from threading import Lock
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import DataError, UsageError, no_room
from likewise.io import bands, consistency, contents, ids, unreadable
from likewise.io.beginning_rows import head
from likewise.io.chunks import chunk_at, chunks, failed, parsed
from likewise.io.dimensions import first_dimension, has_other_dimension, with_dimension
from likewise.io.facts import facts_of
from likewise.io.formats.text import Files
from likewise.io.idcolumn import IdColumn, id_column
from likewise.io.inputs import Source
from likewise.io.numbered import Named, Numbered
from likewise.io.part import Part, Parts
from likewise.io.places import marked
from likewise.io.room import CHUNK_COPIES, GUESS, LONG, SHORT, Sketched, first_above, held, with_room
from likewise.io.source_names import printable
from likewise.io.work import Work
from likewise.items import binary
from likewise.items.wrapped import bits, wrapped
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import REJECTED, TEXT, Chunk, Records, Rejected, Want
from likewise.schema import IGNORED, ROW_COLUMNS
from likewise.stages.facts import Facts, Limits

Sketch = Callable[[Records], dict[str, np.ndarray]]
STDIN = "stdin"  # name of standard input as a source
BOTH = 2  # stands for both sides, 0 and 1, of two collections
#: Advice about unreadable rows: if they are listed in a file, and if not.
LISTED = f"{option('on_error', 'skip')} lists such rows in rejected.jsonl and continues"
LEFT_OUT = f"{option('on_error', 'skip')} omits such rows and continues"


@dataclass(frozen=True)
class Task:
    """A chunk to be processed by a thread."""

    source: int
    chunk: Chunk | None
    failure: str = ""  # reason why the rest of the source is skipped as unreadable


def read(
    sources: Sequence[Source],
    want: Want,
    sketch: Sketch,
    work: Work | Part,
    engine: Any,
    *,
    skip: bool,
    listed: bool,
    limit: int | None,
    first_side: int,
    advance: Callable[[int], None],
    memory: int,
    takes: Callable[[np.ndarray], int],
) -> None:
    """Read, parse and sketch all rows into ``work``, continuing where an interrupted run stopped.

    skip: leave out rows that cannot be read; listed: they will be listed in a file. limit: maximum number of rows of the first ``first_side``
    sources; the others are read whole. memory: maximum bytes, which limits the number of chunks in work. takes: returns the bytes needed to
    sketch the content of a row, uint8[n]. Raises DataError for unreadable rows unless they are skipped, and UsageError for a record that does not
    fit into ``memory``.
    """
    if work.steps:
        consistency.check(work, len(sources))
    if work.done("read"):
        return

    want = with_room(want, memory)
    alone = Lock()  # held for a long record: two at a time may need too much memory

    def stage(task: Task) -> Sketched:
        nbytes = 0 if task.chunk is None else held(task.chunk)
        with alone if nbytes > max(SHORT, memory // LONG) else nullcontext():
            return sketched(task, nbytes)

    def sketched(task: Task, nbytes: int) -> Sketched:
        records = task.failure if task.chunk is None else parsed(sources[task.source], task.chunk, want, skip=skip)
        chunk = task.chunk
        if isinstance(records, str):
            chunk, records = None, failed(records, want)
        at = (-1, -1, 0) if chunk is None else (chunk.start, chunk.start + len(chunk.data), int(chunk.data.nbytes))
        if found := first_above(records.text, memory, takes):
            return Sketched(task.source, *at, records, {}, b"", 0, found)
        columns = sketch(records) | {"content": contents.words(records)}
        records = replace(records, text=binary.from_list([]), sketched=None)
        return Sketched(task.source, *at, records, columns, b"", CHUNK_COPIES * nbytes + sum(values.nbytes for values in columns.values()))

    stated = of_payload(want.kind).stated
    read_of = [0] * len(sources)  # rows read so far, by source
    for entry in work.done("chunk"):
        if entry.get("dimension") and not want.width:
            want = with_dimension(want, entry["dimension"], partial(place, sources[entry["source"]], read_of[entry["source"]]))
        read_of[entry["source"]] += entry["rows"]
    without = {"odd"} if work.done("chunk") and "odd" not in work.lengths else set()  # begun by an earlier version: either all rows have one or none

    def take(numbers: range, most: int | None) -> None:
        """Read the rows of some sources, at most ``most``."""
        nonlocal want
        left = None if most is None else most - sum(read_of[numbers.start : numbers.stop])
        if left == 0:
            return
        ended = -1  # source found damaged last, whose further chunks are ignored
        room = engine.in_flight(memory * 3 // 4, GUESS)
        for chunk in engine.map(stage, tasks(sources, numbers, want, work, skip=skip), room):
            if chunk.source == ended:
                continue
            if stated and (dimension := first_dimension(chunk.records)):
                want = want if want.width else with_dimension(want, dimension, partial(place, sources[chunk.source], read_of[chunk.source]))
                if has_other_dimension(chunk.records, want.width):  # parsed before the first dimension was known
                    chunk = stage(Task(chunk.source, chunk_at(sources[chunk.source], want, chunk.start)))
            ended = chunk.source if chunk.next < 0 else -1
            room.took(chunk.memory)
            if chunk.too_large is not None:
                raise too_large(sources[chunk.source], read_of[chunk.source], chunk.too_large, memory)
            records, columns = chunk.records, chunk.columns
            if left is not None and len(records) >= left:
                records, columns = head(records, columns, left)
            if records.rejected and not skip:
                raise unreadable_row(sources[chunk.source], read_of[chunk.source], records.rejected[0], listed=listed)
            digest = contents.digest(columns["content"])
            columns = {name: values for name, values in columns.items() if name not in without | {"content"}}
            more = {"dimension": dimension} if stated else {}
            append(work, sources[chunk.source], read_of[chunk.source], chunk._replace(records=records, columns=columns, digest=digest), **more)
            read_of[chunk.source] += len(records)
            left = None if left is None else left - len(records)
            advance(chunk.nbytes)
            del chunk, records, columns  # free memory before waiting for the next
            if left == 0:
                break

    take(range(first_side), limit)
    take(range(first_side, len(sources)), None)
    work.append({}, step="read")
    work.settle()


def unreadable_row(source: Source, first: int, entry: Rejected, *, listed: bool) -> DataError:
    """The error of a row that cannot be read and is not skipped. first: rows of the source before its chunk. listed: skipped rows are listed."""
    name, _ = place(source, first, entry.row)
    return DataError(f"{name}, {entry.reason}; {LISTED if listed else LEFT_OUT}")


def too_large(source: Source, first: int, found: tuple[int, int, int], memory: int) -> UsageError:
    """The error of a row that `room.first_above` found. first: rows of the source before its chunk."""
    row, size, need = found
    name, position = place(source, first, row)
    return no_room(f"{name}, item {position + 1}: this record", f"{size:,} bytes", f"about {need >> 20:,} MiB", size * memory // need)


def append(work: Work | Part, source: Source, first: int, chunk: Sketched, **more: Any) -> None:
    """Store the rows of a chunk, which follow ``first`` rows of its source, and journal it. Chunks come in input order."""
    records = chunk.records
    work.append(
        stored(records, chunk.columns, chunk.digest, partial(place, source, first)),
        step="chunk",
        source=chunk.source,
        rows=len(records),
        next=chunk.next,
        bytes=chunk.nbytes,
        found=records.found,
        texts=int(np.count_nonzero(records.kind == TEXT)),
        fields=list(records.fields),
        **more,
        **({"marks": marks} if (marks := marked(source, records)) else {}),
        **({"units": len(chunk.columns["unit-size"])} if "units" in chunk.columns else {}),
        **({"other": records.other} if records.other else {}),
        **({"matrix": records.matrix} if records.matrix else {}),
        **({"nulls": int(records.nulls.sum())} if records.nulls is not None else {}),
    )


def tasks(sources: Sequence[Source], numbers: range, want: Want, work: Work | Part, *, skip: bool) -> Iterator[Task]:
    """Yield the chunks still to be read of some sources, source by source."""
    done = work.done("chunk")
    at, following = (done[-1]["source"], done[-1]["next"]) if done else (-1, 0)
    for number in numbers:
        start = following if number == at else 0
        if number >= at and start >= 0:  # -1: the source had failed
            for chunk in chunks(sources[number], want, start, skip=skip):
                yield Task(number, None, chunk) if isinstance(chunk, str) else Task(number, chunk)


def place(source: Source, first: int, row: int) -> tuple[str, int]:
    """Return (source name, position) of a row as shown to users, for whom each text file is a source with one item.

    first: rows of the source before the chunk.
    """
    row += first
    return (printable(source.path.names[row]), 0) if isinstance(source.path, Files) else (printable(source.name), row)


def stored(records: Records, columns: dict[str, np.ndarray], digest: bytes, place: Callable[[int], tuple[str, int]]) -> dict[str, Any]:
    """Return the work folder's columns for the rows of a chunk."""
    rejected = [unreadable.explained(entry, *place(entry.row)) for entry in records.rejected]
    identity = records.id if records.id is not None else pa.nulls(len(records), pa.large_binary())
    text = identity.fill_null(binary.EMPTY)
    sizes = np.diff(np.frombuffer(text.buffers()[1], np.int64)[text.offset :][: len(text) + 1]) if len(text) else np.zeros(0, np.int64)
    start = np.frombuffer(text.buffers()[1], np.int64)[text.offset] if len(text) else 0
    data = memoryview(text.buffers()[2] or b"")[start : start + int(sizes.sum())]
    missing = identity.is_null().to_numpy(zero_copy_only=False)
    return {
        **{name: values for name, values in columns.items() if name != "band_keys"},
        "id-size": np.where(missing, -1, sizes).astype("i4"),
        "id-data": data,
        "rejected": "".join(json.dumps(entry) + "\n" for entry in rejected).encode(),
        "digest": digest,
        **bands.columns(columns["band_keys"]),
    }


class Collection(Numbered):
    """The rows of sources whose columns lie in a work folder."""

    def __init__(self, sources: Sequence[Source], work: Work | Part | Parts, first_side: int | None = None):
        """first_side: the number of sources in the first of two collections; the others form the second. None: there is one collection."""
        super().__init__(sources, work.done("chunk"), first_side)
        self.work = work
        self._facts: dict[Limits, tuple[Facts, Facts]] = {}

    def facts(self, limits: Limits) -> tuple[Facts, Facts]:
        if limits not in self._facts:
            ignored = self.work.column("ignored", IGNORED)
            ignored = ignored if len(ignored) == len(self) else ignored[:0]  # with parts, the column describes parts, not documents
            sizes = None if self.of_parts else self.work.column("id-size", "i4")  # parts have no ids
            self._facts[limits] = facts_of(self, self.column, sizes, ignored, limits)
        return self._facts[limits]

    def starts(self, rows: np.ndarray) -> np.ndarray:
        return np.asarray(self.column("start")[rows])

    def named(self, rows: Sequence[int], side: int) -> list[Named]:
        source, position = self.places(np.array(rows, np.int64))
        return list(map(Named, source.to_pylist(), position.tolist(), self.names(np.array(rows, np.int64), side)))

    def column(self, name: str) -> np.ndarray:
        """Return a column of schema.ROW_COLUMNS, read-only."""
        return self.work.column(name, ROW_COLUMNS[name])

    def band(self, number: int, of: int) -> np.ndarray:
        """Return the keys of band ``number`` of ``of``, uint64[n], read from the file at each call."""
        assert isinstance(self.work, Work)  # a part has no bands
        return bands.read(self.work, number, of, [entry["rows"] for entry in self.work.done("chunk")])

    @cached_property
    def _ids(self) -> list[IdColumn | None]:
        """For each side the ids of its rows in one column; None if no row has an id."""
        return [self._ids_of(rows) for rows in self.rows_of_sides]

    @cached_property
    def _all_ids(self) -> IdColumn | None:
        """The ids of both sides in one column."""
        return self._ids_of(slice(0, len(self)))

    def id_texts(self) -> pa.LargeBinaryArray:
        """Return the ids of all rows as JSON text, as they were read; null for rows without an id."""
        sizes = self.work.column("id-size", "i4")
        offsets = np.concatenate(([0], np.cumsum(np.maximum(sizes, 0), dtype=np.int64)))
        data = pa.py_buffer(np.ascontiguousarray(self.work.column("id-data", "u1")))
        return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(sizes), [bits(sizes >= 0), pa.py_buffer(offsets), data])

    def _ids_of(self, rows: slice) -> IdColumn | None:
        if not (self.work.column("id-size", "i4")[rows] >= 0).any():
            return None
        text = self.id_texts()[rows]
        read = (self.column("kind") != REJECTED)[rows]  # an unreadable row must not change the type of the others' ids
        if read.all():
            return id_column(text)
        column = id_column(text.filter(wrapped(read)))
        return None if column is None else column.filled(read)

    def _column_of(self, side: int) -> IdColumn | None:
        return self._all_ids if side == BOTH else self._ids[side]

    def ids(self, rows: np.ndarray | pa.Array, side: int = 0) -> pa.Array:
        """Return the ids of rows of a side (0, 1 or ``BOTH``), in one type for the whole side; null for rows without an id and for null rows.

        If no row of the side has an id, their positions are returned.
        """
        chosen, column = wrapped(rows), self._column_of(side)
        if column is not None:
            return column.values.take(self._within(chosen, side))
        positions = self.file_of(chosen.fill_null(0).to_numpy())[1]
        return wrapped(positions, chosen.is_null().to_numpy(zero_copy_only=False))

    def json_ids(self, rows: np.ndarray | pa.Array, side: int = 0) -> pa.LargeBinaryArray | None:
        """Return the ids as JSON text, which keeps the type of each; None if all have the type of the column."""
        column = self._column_of(side)
        return None if column is None or column.json is None else column.json.take(self._within(wrapped(rows), side))

    def names(self, rows: np.ndarray | pa.Array, side: int = 0) -> list[Any]:
        """Return the ids as Python values in their original types."""
        typed = self.json_ids(rows, side)
        return self.ids(rows, side).to_pylist() if typed is None else [None if text is None else ids.from_json(text) for text in typed.to_pylist()]

    def _within(self, rows: pa.Array, side: int) -> pa.Array:
        start = 0 if side == BOTH else self.rows_of_sides[side].start
        return pc.subtract(rows, start) if start else rows

    def id_type(self, side: int = 0) -> pa.DataType:
        """Return the type of the id column of a side."""
        column = self._column_of(side)
        return pa.int64() if column is None else column.values.type

    def id_note(self, *sides: int) -> str | None:
        """The first note on the id columns of these sides that are not simply the ids, or None."""
        return next((column.note for column in map(self._column_of, sides) if column is not None and column.note), None)

    @property
    def ids_are_unique(self) -> bool:
        """True if ids identify the items of each side; a single file without ids has positions, which identify them too."""
        if self.repeated_ids[0] or self.without_id.any():
            return False
        sides = (self.sources[: self.first_side], self.sources[self.first_side :])
        files = [sum(len(s.path.names) if isinstance(s.path, Files) else 1 for s in side) for side in sides]
        return all(column is not None or number <= 1 for column, number in zip(self._ids, files, strict=True))

    @cached_property
    def repeated_ids(self) -> tuple[int, list[str]]:
        """The number of ids that several rows of a side have, and up to three of them."""
        found = [ids.repeated(column.values) for column in self._ids if column is not None]
        return sum(number for number, _ in found), list(dict.fromkeys(name for _, names in found for name in names))[:3]

    @cached_property
    def without_id(self) -> np.ndarray:
        """bool[n]: readable rows without an id on a side where others have one."""
        missing = np.zeros(len(self), bool)
        for column, rows in zip(self._ids, self.rows_of_sides, strict=True):
            if column is not None and column.values.null_count:
                missing[rows] = column.values.is_null().to_numpy(zero_copy_only=False)
        return missing & (self.column("kind") != REJECTED)

    def rejections(self, side: int) -> np.ndarray:
        """Return the lines of rejected.jsonl for a side, uint8[n]."""
        rejected, rows = self.column("kind") == REJECTED, self.rows_of_sides[side]
        return unreadable.some(self.work.column("rejected", "u1"), *(int(np.count_nonzero(rejected[:end])) for end in (rows.start, rows.stop)))

    def unreadable(self) -> tuple[list[str], list[str]]:
        """Return (places and reasons of unreadable rows, reasons of sources that could not be read to their end), of both sides."""
        return unreadable.reasons(self.work.column("rejected", "u1"))

    def digests(self) -> list[str]:
        each = self.work.column("digest", np.dtype(("u1", 16)))
        parts: list[list[tuple[bytes, int]]] = [[] for _ in self.sources]
        for entry, digest in zip(self.work.done("chunk"), each, strict=True):
            parts[entry["source"]].append((digest.tobytes(), entry["rows"]))
        return [contents.joined(some) for some in parts]
