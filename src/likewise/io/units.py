"""The units of documents, such as their lines, by number: the items of a run that compares parts of documents."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.io import bands
from likewise.io.collection import Collection
from likewise.io.idcolumn import IdColumn
from likewise.io.work import Work
from likewise.items.wrapped import wrapped
from likewise.records import TEXT
from likewise.schema import UNIT_COLUMNS, UNITS


class Units(Collection):
    """Units by number, from 0 across all documents in order. A unit has the id and the place of its document; `spans` distinguishes them."""

    def __init__(self, documents: Collection):
        super().__init__(documents.sources, documents.work, documents.first_side)
        self.documents = documents
        number = documents.work.column("units", UNITS)
        self.first = np.concatenate(([0], np.cumsum(number, dtype=np.int64)))  # unit of each document
        self.document = np.repeat(np.arange(len(number)), number)  # of each unit

    of_parts = True
    #: True if `byte_spans` returns characters.
    in_characters = False

    def __len__(self) -> int:
        return int(self.first[-1])

    def column(self, name: str) -> np.ndarray:
        """Return a column with one entry per unit: of schema.UNIT_COLUMNS, or ``kind``, ``per`` or ``score`` of its document."""
        if name == "kind":
            return np.full(len(self), TEXT, np.uint8)
        if name in UNIT_COLUMNS:
            return self.work.column(f"unit-{name}", UNIT_COLUMNS[name])
        return self.documents.column(name)[self.document]

    def band(self, number: int, of: int) -> np.ndarray:
        assert isinstance(self.work, Work)  # a part has no bands
        return bands.read(self.work, number, of, [entry["units"] for entry in self.work.done("chunk")])

    def rows_of(self, source: int) -> slice:
        rows = super().rows_of(source)
        return slice(int(self.first[rows.start]), int(self.first[rows.stop]))

    def source_of(self, rows: np.ndarray) -> np.ndarray:
        return self.documents.source_of(self.document[rows])

    def where(self, rows: np.ndarray) -> list[Any]:
        return [*self.places(rows), *self.spans(rows)]

    def file_of(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.documents.file_of(self.document[rows])

    def ids(self, rows: np.ndarray | pa.Array, side: int = 0) -> pa.Array:
        return self.documents.ids(self._documents(rows), side)

    def json_ids(self, rows: np.ndarray | pa.Array, side: int = 0) -> pa.LargeBinaryArray | None:
        return self.documents.json_ids(self._documents(rows), side)

    def _column_of(self, side: int) -> IdColumn | None:
        return self.documents._column_of(side)

    @property
    def _ids(self) -> list[IdColumn | None]:  # type: ignore[override]
        return self.documents._ids

    @property
    def rows_of_sides(self) -> tuple[slice, slice]:
        border = int(self.first[super().rows_of_sides[0].stop])
        return slice(0, border), slice(border, len(self))

    @property
    def without_id(self) -> np.ndarray:  # type: ignore[override]
        return self.documents.without_id[self.document]

    def _documents(self, rows: np.ndarray | pa.Array) -> Any:
        return wrapped(self.document).take(wrapped(rows))

    @property
    def ids_are_unique(self) -> bool:
        """False: a document has several units."""
        return False

    def spans(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return where units begin and end in their texts, in characters (code points): int64[m] each."""
        return self._spans(rows, self._char_ends)

    def byte_spans(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """`spans` in bytes of the text, as UTF-8."""
        return self._spans(rows, self._byte_ends)

    def _spans(self, rows: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        before = ends[self.first[self.document[rows]]]
        return ends[rows] - before, ends[rows + 1] - before

    @cached_property
    def _char_ends(self) -> np.ndarray:
        return np.concatenate(([0], np.cumsum(self.column("chars"), dtype=np.int64)))

    @cached_property
    def _byte_ends(self) -> np.ndarray:
        return np.concatenate(([0], np.cumsum(self.column("bytes"), dtype=np.int64)))

    def of_documents(self, order: np.ndarray) -> np.ndarray:
        """Return the units of documents in the given order, int64[m]."""
        number = np.diff(self.first)[order]
        ends = np.cumsum(number)
        return np.arange(ends[-1] if len(ends) else 0) + np.repeat(self.first[:-1][order] - (ends - number), number)


class Pieces(Units):
    """Documents cut at any places, by arrays in memory: passages, and what lies between them."""

    def __init__(self, documents: Collection, number: np.ndarray, chars: np.ndarray, place: np.ndarray | None, tokens: np.ndarray):
        """number: int64[documents], of units. chars, place: int64[u, 2], begin and end of each in characters and bytes. tokens: uint32[u].

        Without ``place`` bytes are not known (`in_characters`).
        """
        Collection.__init__(self, documents.sources, documents.work, documents.first_side)
        self.documents, self._chars, self._bytes = documents, chars, chars if place is None else place
        self.in_characters = place is None
        self.first = np.concatenate(([0], np.cumsum(number, dtype=np.int64)))
        self.document = np.repeat(np.arange(len(number)), number)
        #: The passages repeated most, if they are known: their documents, int64[m], and for each begin and end in characters, times, documents.
        self.most: tuple[np.ndarray, np.ndarray] | None = None
        self._columns = {"tokens": tokens, "chars": np.diff(chars)[:, 0], "bytes": np.diff(self._bytes)[:, 0]}

    def column(self, name: str) -> np.ndarray:
        return self._columns[name] if name in self._columns else super().column(name)

    def spans(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._chars[rows, 0], self._chars[rows, 1]

    def byte_spans(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self._bytes[rows, 0], self._bytes[rows, 1]
