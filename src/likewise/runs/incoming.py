"""Records for an index, batch by batch and in order: from files, read by several threads, or line by line as they come from standard input."""

from __future__ import annotations

import json
import select
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.drawing.numbers import counted
from likewise.engines.threads import Threads
from likewise.errors import DataError, IdError
from likewise.index.ids import and_others
from likewise.index.settings import Settings
from likewise.index.sketching import items_of
from likewise.index.store import Items
from likewise.io import presence
from likewise.io.chunks import chunks, failed, parsed
from likewise.io.collection import LEFT_OUT, STDIN, place
from likewise.io.encoding import BOM
from likewise.io.field_names import mapped
from likewise.io.formats import load
from likewise.io.formats.lines import TOO_LONG, State
from likewise.io.formats.text import Files
from likewise.io.ids import as_json, from_json
from likewise.io.inputs import STDIN as DASH
from likewise.io.inputs import Source, Sources
from likewise.io.presence import Lack
from likewise.io.sketches import Block
from likewise.io.source_names import printable
from likewise.items import binary, unusable
from likewise.items.wrapped import wrapped
from likewise.job import Job
from likewise.kinds.kind import loaded
from likewise.messages import option, quoted
from likewise.options import Options, checked
from likewise.progress import Progress
from likewise.records import NO_TEXT, REJECTED, Chunk, Records, Want
from likewise.runs import inspection
from likewise.runs.building import item_ids, record_ids
from likewise.runs.pipeline import bytes_to_read
from likewise.runs.session import sources_of
from likewise.stages.sketch import Stage, sketcher

#: Bytes that are taken from standard input at once, if so many have come; and the seconds for which a stream that flows is waited for.
MOST_BYTES, FLOWING, PATIENCE = 4 << 20, 32 << 10, 0.001


class Batch(NamedTuple):
    """Consecutive records."""

    block: Block  # those that could be read
    read: int  # all of them
    rejected: list[str]  # the places and reasons of the others

    def queries(self, settings: Settings) -> Items:
        """The records as queries, with their ids of any type, or else their places."""
        return items_of(self.block.columns, record_ids(self.block).to_pylist(), settings)

    def ids(self) -> list[Any]:
        """The ids of the records. Raises DataError for one without an id, or with one that is no id."""
        if self.block.ids.null_count:
            row = int(np.argmax(self.block.ids.is_null().to_numpy(zero_copy_only=False)))
            raise DataError(f"{self.place(row)}: this record has no id; name its field with {option('id', placeholder='F')}")
        return list(map(from_json, item_ids(self.block).to_pylist()))

    def place(self, row: int) -> str:
        """The place of a record for a message."""
        return f"{self.block.source[row]}, item {int(self.block.position[row]) + 1}"

    def refused(self, error: IdError, what: str, remedy: str, written: int) -> IdError:
        """The error about ids of these records, with the place of the first. what: "is already in the index". written: records before them."""
        row, ids = error.rows[0], record_ids(self.block)
        first = ids.index(ids[row]).as_py()
        done = f"{counted(written, 'record')} before it {'was' if written == 1 else 'were'} written" if written else "nothing was written"
        said = f"is that of item {int(self.block.position[first]) + 1} too" if first < row else what
        return IdError(f"{self.place(row)}: its id {quoted(error.ids[0])} {said}{and_others(error.rows)}; {remedy}; {done}", error.ids, error.rows)

    def items(self, settings: Settings) -> Items:
        """The records as items to write, with their ids, or else their places. Without ids if they came from standard input without any.

        Raises DataError for records of standard input of which only some have an id, and for one with an id that is none.
        """
        block = self.block
        if not len(block) or block.source[0].as_py() != STDIN or not block.ids.null_count:
            return items_of(block.columns, item_ids(block).to_pylist(), settings)
        if block.ids.null_count < len(block):
            row = int(block.position[block.ids.is_null().to_numpy(zero_copy_only=False)][0])
            raise DataError(f"{STDIN}, item {row + 1}: this record has no id, but others have one; give an id to all of them or to none")
        return items_of(block.columns, [], settings)


@dataclass
class Incoming:
    """Reads records as the items of an index. With ``sketch`` False, only their ids are read."""

    settings: Settings
    options: Options  # those of reading, and of the machine
    progress: Progress
    sketch: bool = True

    @classmethod
    def of(cls, settings: Settings, choices: dict[str, Any], progress: Progress, *, sketch: bool = True) -> Incoming:
        """From the options that a user gave. Raises UsageError."""
        names = ("field", "fields", "records", "html", "id", "on_error", "max_record", "limit", "threads")
        method: Any = settings.options.method
        given = checked(by=method, limited=False, **choices)
        options = replace(settings.options, **{name: getattr(given, name) for name in names})
        if not sketch:
            options = replace(options, field=options.id or "id", fields=(), per=None)
        return cls(settings, options, progress, sketch)

    def batches(self, inputs: Sequence[Path]) -> Iterator[Batch]:
        """Yield the records of the inputs. Raises the errors of `likewise.dedup`."""
        left = self.options.limit
        for batch in self._streamed() if [*map(str, inputs)] == [DASH] and are_lines(ahead(sys.stdin.buffer)) else self._read(inputs):
            if left is not None:
                if left < batch.read:
                    batch = first_of(batch, left)
                left -= batch.read
            yield batch
            if left == 0:
                break

    def _read(self, inputs: Sequence[Path]) -> Iterator[Batch]:
        """The records of files."""
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="likewise-")))  # for standard input and downloads
            sources = sources_of(list(inputs), None, folder, self._want())
            want = self._settled(sources)
            threads = Threads(self.options.threads)
            stack.callback(threads.close)
            stage, skip = self._stage(want), self.options.on_error == "skip"

            def made(task: tuple[int, Chunk | str]) -> tuple[int, Records, dict[str, np.ndarray], int]:
                number, chunk = task
                records: Any = chunk if isinstance(chunk, str) else parsed(sources[number], chunk, want, skip=skip)
                found: Records = failed(records, want) if isinstance(records, str) else records
                return number, found, stage(found), 0 if isinstance(chunk, str) else int(chunk.data.nbytes)

            self.progress.begin("reading", bytes_to_read(sources), "bytes")
            tasks = ((number, chunk) for number, source in enumerate(sources) for chunk in chunks(source, want, 0, skip=skip))
            read = [0] * len(sources)
            for number, records, columns, size in threads.map(made, tasks):
                yield self._batch(sources[number], read[number], records, columns)
                read[number] += len(records)
                self.progress.advance(size)

    def _streamed(self) -> Iterator[Batch]:
        """The records of standard input, which are JSON lines, as they come."""
        source = Source(STDIN, Path(STDIN), load("jsonl"), 0)
        want = self._want()
        stage, start, line, read = self._stage(want), 0, 1, 0
        for data in whole_lines(sys.stdin.buffer, want):
            array = np.frombuffer(data, np.uint8).copy()  # writeable, as those of files are: kernels are compiled for either
            chunk = Chunk(array, start, line, State(Path(STDIN), start, None))
            records = source.parse(chunk, want)
            if not read and self.sketch:
                check_first(records, source, want, str(self.options.method))
            yield self._batch(source, read, records, stage(records))
            start, line, read = start + len(data), line + data.count(b"\n"), read + len(records)

    def _want(self) -> Want:
        """The fields to read."""
        want = inspection.want(self.options, self.settings.facts)
        return want if self.sketch else want._replace(kind="text")

    def _settled(self, sources: Sources) -> Want:
        """The fields to read of these sources. Raises UsageError and DataError for sources that have not got them, or other items in them."""
        field, some = presence.settled(sources, self.options.field, self.options.fields)
        want = self._want()._replace(text=field, mapped=mapped(some))
        if self.sketch:
            inspection.check_kinds(sources, self.options, want)
            if (reader := self.options.method.kind.reader) and loaded(reader).decimal:
                want = want._replace(decimal=self.options.method.kind.facts_of(sources, want, (DataError,), self.options.method, None)[1].decimal)
        presence.check(sources, want)
        return want

    def _stage(self, want: Want) -> Stage:
        """The function from rows to their columns."""
        if not self.sketch:
            return lambda records: {}
        job: Job = replace(self.settings.job(), want=want)
        sketch = sketcher(job)

        def stage(records: Records) -> dict[str, np.ndarray]:
            columns = sketch(records)
            read = records.kind != REJECTED
            size, tokens = columns["size"][read], columns["tokens"][read]
            words, keys = columns["sets"], columns["band_keys"][:, read]
            if (idle := (tokens == 0) & (size > 0)).any():  # vectors without a direction
                words, size = words[~np.repeat(idle, size)], np.where(idle, 0, size).astype(np.uint32)
            return {"size": size, "sets": words, "band_keys": keys, "copy": columns["copy"][read], "per": columns["per"][read]}

        return stage

    def _batch(self, source: Source, first: int, records: Records, columns: dict[str, np.ndarray]) -> Batch:
        """The batch of records, which follow ``first`` others of their source. Raises DataError for records that cannot be read, unless skipped."""
        rejected = [f"{place(source, first, entry.row)[0]}, {entry.reason}" for entry in records.rejected]
        if rejected and self.options.on_error != "skip":
            raise DataError(f"{rejected[0]}; {LEFT_OUT}")
        rows = np.flatnonzero(records.kind != REJECTED)
        if self.options.id and not first and len(rows) and (records.id is None or records.id.null_count == len(records.id)):
            where = source.name if records.fields == () else f"{source.name}; fields seen: {', '.join(records.fields)}"
            raise DataError(f"no row has an id in the field {self.options.id!r} in {where}; name another one with {option('id', placeholder='F')}")
        ids = pa.nulls(len(records), binary.TYPE) if records.id is None else records.id
        if isinstance(source.path, Files):
            ids = binary.from_list(as_json(printable(name)) for name in source.path.names[first : first + len(records)])
        sources = pa.array([source.name] * len(rows), pa.string())
        return Batch(Block(ids.take(wrapped(rows)), sources, first + rows, columns), len(records), rejected)


def first_of(batch: Batch, count: int) -> Batch:
    """The first records of a batch."""
    block = batch.block
    begin = int(block.position[0]) if len(block) else 0
    some = int(np.searchsorted(block.position, begin + count))
    columns = {name: values[:, :some] if name == "band_keys" else values[:some] for name, values in block.columns.items() if name != "sets"}
    if "sets" in block.columns:
        columns["sets"] = block.columns["sets"][: int(columns["size"].sum(dtype=np.int64))]
    return Batch(Block(block.ids[:some], block.source[:some], block.position[:some], columns), count, batch.rejected)


def ahead(stream: Any) -> bytes:
    """The next bytes of a stream, at least one unless it ends, which stay in it."""
    if hasattr(stream, "peek"):
        return bytes(stream.peek(1))
    at = stream.tell()  # in memory
    data = bytes(stream.read(MOST_BYTES))
    stream.seek(at)
    return data


def are_lines(head: bytes) -> bool:
    """True if a text that begins so is JSON lines: its first line is an object, as far as it has come."""
    text = head.removeprefix(BOM).lstrip()
    line, end, _ = text.partition(b"\n")
    if not line.startswith(b"{") or not end:
        return line.startswith(b"{") and not text.endswith(b"{")
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return line.rstrip().endswith(b"}")  # a broken record, which is reported or skipped with its line


def whole_lines(stream: Any, want: Want) -> Iterator[bytes]:
    """Yield the lines of a stream as they come, many at once if many have come. Raises DataError for a line that is too long."""
    begun, mark = b"", BOM
    while data := flowing(stream):
        end = data.rfind(b"\n") + 1
        if end:
            yield (begun + data[:end]).removeprefix(mark)
            begun, mark = b"", b""
        begun += data[end:]
        if len(begun) > want.most:
            raise DataError(f"{STDIN}: {TOO_LONG}")
    if begun := begun.removeprefix(mark):
        yield begun


def flowing(stream: Any) -> bytes:
    """The next bytes of a stream: what has come, and more while it flows."""
    data: bytes = stream.read1(MOST_BYTES)
    size, parts = len(data), [data]
    try:
        number = stream.fileno()
    except OSError:  # in memory
        return data
    while len(data) >= FLOWING and size < MOST_BYTES and select.select([number], [], [], PATIENCE)[0] and (data := stream.read1(MOST_BYTES)):
        parts.append(data)
        size += len(data)
    return b"".join(parts)


def check_first(records: Records, source: Source, want: Want, by: str) -> None:
    """Raises DataError if the first records lack the wanted field, or have values in it that the index does not compare."""
    readable = records.kind != REJECTED
    if readable.any() and not records.found:
        raise DataError(presence.message([Lack(source.name, records.fields)], [source.name], want))
    if records.other and (records.kind[readable] == NO_TEXT).all():
        raise DataError(unusable.message(source.name, records.other, want, by))
