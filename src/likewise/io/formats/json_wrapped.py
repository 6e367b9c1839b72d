"""Records in a list within one JSON document (--records data): parsed like a JSON array and written back within the same document."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from likewise.errors import DataError
from likewise.io import json_text
from likewise.io.compression import open_read, read_into
from likewise.io.formats import PEEK_BYTES, json_array
from likewise.io.formats.jsonl import SAMPLE, additions, extended, read_rows
from likewise.io.formats.lines import BLOCK_BYTES, Cut, beginning, copy_rows, pieces, rows, save_rows
from likewise.io.splice import Reading, of_records
from likewise.kernels.json import elements
from likewise.kernels.raw import json_string
from likewise.messages import option
from likewise.records import Chunk, Each, Edits, Records, Want, in_turn

BLANK = json_text.BLANK


@dataclass(frozen=True)
class Wrapped:
    """A format (`io.formats.Format`). ``records``: the path of keys to the list, separated by dots."""

    records: str
    OPTIONS: ClassVar[tuple[str, ...]] = ("records",)

    def __getattr__(self, name: str) -> Any:
        return getattr(json_array, name)

    def chunks(self, path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
        """Yield chunks that end after an element of the list. Raises DataError for a broken document, and for text after it."""
        bracket = self._bracket(path, want.most)
        end = start if start > bracket + 1 and json_array.last_byte(path, start) == b"]" else -1

        def cut(data: bytearray, offset: int, final: bool) -> Cut:
            nonlocal end
            if end >= 0:
                return Cut(len(data), None)
            begin, stop, size, closed, wrong = elements(np.frombuffer(data, np.uint8), offset == bracket + 1)
            failure = None
            if wrong >= 0:
                failure = DataError(f"{json_array.place(path, offset + wrong)}: unmatched closing brace; repair the file there")
            elif closed:
                end = offset + size
            elif final:
                failure = DataError(f"{path}: the file ends before the list {self.records!r} is closed; copy or write it again")
            return Cut(size, (begin, stop) if len(begin) else None, failure)

        if end < 0:
            yield from pieces(path, max(start, bracket + 1), cut, want)
        if end >= 0:
            self._check_rest(path, end, want.most)

    def _bracket(self, path: Path, most: int | None = None) -> int:
        """Return the offset of the list's opening bracket. Raises DataError if the document is broken or has no such list."""
        at, size = beginning(path), PEEK_BYTES
        while True:
            with open_read(path) as stream:
                read_into(stream, memoryview(bytearray(at)))
                head = bytearray(size)
                del head[read_into(stream, memoryview(head)) :]
            try:
                found = json_text.opening(head, self.records.split("."))
            except json_text.BrokenError as error:
                raise DataError(f"{json_array.place(path, at + error.at)}: unexpected token in JSON; repair the file there") from None
            if found is not None:
                return at + found
            if len(head) < size:
                there = ", ".join(json_text.names(bytes(head))) or "none"
                raise DataError(f"{path}: has no list for {option('records', self.records)}; fields of the document: {there}")
            if most is not None and size > most:
                wider = f"raise {option('max_record')} to search further"
                raise DataError(f"{path}: has no list for {option('records', self.records)} in the first {size:,} bytes; {wider}")
            size *= 2

    def _check_rest(self, path: Path, at: int, most: int) -> None:
        """Raise DataError for text after the document, because a second document would be lost."""
        rest = self._rest(path, at, most)
        inside = [b"{"] * len(self.records.split("."))
        try:
            for event in json_text.events(rest, inside):
                if event.kind == json_text.CLOSE and event.depth == 0:
                    if behind := rest[event.end :].lstrip(BLANK):
                        where = json_array.place(path, at + len(rest) - len(behind))
                        raise DataError(f"{where}: text after the end of the document; {option('records', self.records)} reads one document per file")
                    return
        except json_text.BrokenError as error:
            raise DataError(f"{json_array.place(path, at + error.at)}: unexpected token in JSON; repair the file there") from None
        raise DataError(f"{path}: the file ends before its document is closed; copy or write it again")

    def _rest(self, path: Path, at: int, most: int) -> bytes:
        with open_read(path) as stream:
            forward(stream, at)
            rest = bytearray(most + 1)
            size = read_into(stream, memoryview(rest))
        if size > most:
            raise DataError(f"{path}: more than {most:,} bytes follow the list {self.records!r}; raise {option('max_record')}, or put the list last")
        return bytes(rest[:size])

    def glance(self, path: Path, want: Want) -> tuple[list[str], bool]:
        """Return the field names of the first records, and whether these are all records of the first chunk."""
        for chunk in self.chunks(path, want):
            begin, end = chunk.state.more
            texts = [chunk.data[b:e].tobytes() for b, e in zip(begin[:SAMPLE].tolist(), end[:SAMPLE].tolist(), strict=True)]
            return list(dict.fromkeys(name for text in texts for name in json_text.names(text))), len(begin) <= SAMPLE
        return [], True

    def sample(self, path: Path, want: Want) -> Records | None:
        """Return the first records, or None for an empty list."""
        for chunk in self.chunks(path, want):
            begin, end = (places[:SAMPLE] for places in chunk.state.more)
            return read_rows(chunk, want, begin, end, end)
        return None

    def write(
        self,
        source: Path,
        target: Path,
        keep: np.ndarray,
        start: np.ndarray,
        length: np.ndarray,
        add: pa.Table | None = None,
        each: Each = in_turn,
        edits: Edits | None = None,
    ) -> int:
        """Write the kept records byte for byte, one per line, within the same document; ``add``: columns to append as fields of the objects.

        ``edits``: as `json_array.write`.
        """
        bracket = self._bracket(source)
        closing = self._closing(source, int(start[-1] + length[-1]) if len(start) else bracket + 1)
        kept = of_records(source, keep, start, length, edits, Reading(self.chunks, self.parse, json_string), each)
        with open_read(source) as stream:
            head = bytearray(bracket + 1)
            read_into(stream, memoryview(head))
            forward(stream, closing - bracket - 1)
            tail = b"".join(iter(lambda: stream.read(BLOCK_BYTES), b""))
        parts = (bytes(head) + b"\n", b",\n", b"\n" + tail) if len(kept.begin) else (bytes(head), b"", tail)
        if add is None:
            return copy_rows(source, target, kept, *parts, each)
        records = (extended(row, extra, source) for row, extra in zip(rows(source, kept.begin, kept.end), additions(add), strict=True))
        return save_rows(source, target, records, *parts, each)

    def _closing(self, path: Path, at: int) -> int:
        """Return the offset of the list's closing bracket; the search starts at the end of a record or after the opening bracket."""
        end = -1

        def cut(data: bytearray, offset: int, final: bool) -> Cut:
            nonlocal end
            if end < 0:
                *_, size, closed, _ = elements(np.frombuffer(data, np.uint8), False)
                if not closed:
                    return Cut(len(data) if final else size, None)
                end = offset + size - 1
            return Cut(len(data), None)

        for _ in pieces(path, at, cut, Want()):
            pass
        return end


def forward(stream: io.RawIOBase, size: int) -> None:
    """Skip ``size`` bytes."""
    while size > 0 and (block := stream.read(min(size, BLOCK_BYTES))):
        size -= len(block)
