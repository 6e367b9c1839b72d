"""Rows by number, and the place of each row in its source, known once the chunks of all sources have been read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.source_names import printable
from likewise.items.wrapped import wrapped
from likewise.stages.facts import Facts, Limits


class Named(NamedTuple):
    """The name of a row in messages and reports."""

    source: str
    position: int
    id: Any  # in its original type; the position if no row has an id


def files_of(sources: Sequence[Source]) -> list[str]:
    """Return the names of all files as shown to users."""
    return [printable(name) for s in sources for name in (s.path.names if isinstance(s.path, Files) else [s.name])]


class Numbered(ABC):
    """Rows by number, from 0 across all sources in order; rejected rows are included."""

    def __init__(self, sources: Sequence[Source], chunks: list[dict[str, Any]], first_side: int | None = None):
        """chunks: the journal of chunks (`collection.append`), in input order. first_side: the number of sources in the first of two collections; the
        others form the second. None: there is one collection.
        """
        self.sources = sources
        self.first_side = len(sources) if first_side is None else first_side
        self.chunks = chunks
        rows = np.zeros(len(sources), np.int64)
        for entry in chunks:
            rows[entry["source"]] += entry["rows"]
        self.first_row = np.concatenate(([0], np.cumsum(rows)))

    #: True if the rows are parts of documents, which have a beginning and an end in them.
    of_parts = False

    def __len__(self) -> int:
        return int(self.first_row[-1])

    def rows_of(self, source: int) -> slice:
        """Return the range of a source's rows."""
        return slice(int(self.first_row[source]), int(self.first_row[source + 1]))

    def source_of(self, rows: np.ndarray) -> np.ndarray:
        """Return the source number of each row."""
        return np.searchsorted(self.first_row, rows, side="right") - 1

    def places(self, rows: np.ndarray) -> tuple[pa.Array, np.ndarray]:
        """Return (source names, positions) of rows."""
        file, position = self.file_of(rows)
        return pa.array(self.files, pa.string()).take(wrapped(file)), position

    def where(self, rows: np.ndarray) -> list[Any]:
        """Return the columns of `schema.place` for rows."""
        return [*self.places(rows)]

    def file_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (number in ``files``, position in that file) of rows. For users each text file is a source with one item."""
        source = self.source_of(rows)
        position = rows - self.first_row[source]
        first, texts = (values[source] for values in self._of_files)
        return first + np.where(texts, position, 0), np.where(texts, 0, position)

    @cached_property
    def begins(self) -> np.ndarray:
        """The first row of each file in ``files``, and the number of all rows: int64[files + 1]. A file without rows begins where the next does."""
        parts = [np.zeros(0, np.int64)]
        for number, source in enumerate(self.sources):
            rows, of_files = self.rows_of(number), len(source.path.names) if isinstance(source.path, Files) else 1
            parts.append(np.minimum(rows.start + np.arange(of_files), rows.stop))
        return np.append(np.concatenate(parts), len(self))

    @cached_property
    def _of_files(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each source's first file in ``files``, and whether a source is text files: made once, since blocks of rows ask often."""
        texts = np.array([isinstance(s.path, Files) for s in self.sources], bool)
        counts = [len(s.path.names) if isinstance(s.path, Files) else 1 for s in self.sources]
        return np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))[:-1], texts

    @cached_property
    def files(self) -> list[str]:
        """The names of all files as shown to users."""
        return files_of(self.sources)

    @property
    def rows_of_sides(self) -> tuple[slice, slice]:
        """The rows of the first collection, and of the second, if there is one."""
        border = int(self.first_row[self.first_side])
        return slice(0, border), slice(border, len(self))

    @property
    def sources_of_sides(self) -> tuple[range, range]:
        """The numbers of the sources of both sides."""
        return range(self.first_side), range(self.first_side, len(self.sources))

    @cached_property
    def marks(self) -> np.ndarray:
        """The marked rows and where they begin in their sources (`io.places`), int64[k, 2]."""
        begins = zip(self.chunks, self.begins_of_chunks[:-1].tolist(), strict=True)
        return np.array([(begin + row, start) for entry, begin in begins for row, start in entry.get("marks", ())], np.int64).reshape(-1, 2)

    @cached_property
    def begins_of_chunks(self) -> np.ndarray:
        """The first row of each chunk, and the number of all rows: int64[chunks + 1]."""
        return np.cumsum([0, *(entry["rows"] for entry in self.chunks)])

    def failed(self, source: int) -> bool:
        """Return True if a source could not be read to its end (--on-error skip)."""
        return source in self._failed

    @cached_property
    def _failed(self) -> set[int]:
        return {entry["source"] for entry in self.chunks if entry["next"] < 0}

    def nulls(self, sources: range) -> int:
        """Return the number of missing elements left out of sets in some sources."""
        return sum(entry.get("nulls", 0) for entry in self.chunks if entry["source"] in sources)

    def files_in(self, sources: range) -> list[str]:
        """Return the names of the first three files of some sources."""
        return files_of(self.sources[sources.start : sources.stop])[:3]

    def start_of_chunk(self, row: int, source: int) -> int:
        """Return the place in a source where the chunk with a row begins."""
        before = int(np.searchsorted(self.begins_of_chunks, row, side="right")) - 2
        return int(self.chunks[before]["next"]) if before >= 0 and self.chunks[before]["source"] == source else 0

    # The methods below depend on where the engine stores rows

    @abstractmethod
    def facts(self, limits: Limits) -> tuple[Facts, Facts]:
        """Return the facts about the rows of both sides."""

    @abstractmethod
    def named(self, rows: Sequence[int], side: int) -> list[Named]:
        """Return the places of a few rows of a side (0, 1 or `collection.BOTH`), with their ids."""

    @abstractmethod
    def starts(self, rows: np.ndarray) -> np.ndarray:
        """Return the column ``start`` of a few rows, int64[n]."""

    @abstractmethod
    def id_note(self, *sides: int) -> str | None:
        """Return the first note on the id columns of these sides that are not simply the ids, or None."""

    @property
    @abstractmethod
    def repeated_ids(self) -> tuple[int, list[str]]:
        """The number of ids that several rows of a side have, and up to three of them."""

    @abstractmethod
    def unreadable(self) -> tuple[list[str], list[str]]:
        """Return (places and reasons of unreadable rows, reasons of sources that could not be read to their end), of both sides."""

    @abstractmethod
    def rejections(self, side: int) -> np.ndarray:
        """Return the lines of rejected.jsonl for a side, uint8[n]."""

    @abstractmethod
    def digests(self) -> list[str]:
        """Return the digest of the content of each source (`io.contents`)."""
