"""The inputs of a result, from which the contents of its items can be read again after the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import DataError
from likewise.io import storage
from likewise.io.address import Place
from likewise.io.collection import STDIN
from likewise.io.columns import wanted
from likewise.io.field_names import top
from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.numbered import Numbered
from likewise.io.places import block_of, records_at
from likewise.io.source_names import printable
from likewise.records import Want
from likewise.runs import shown
from likewise.runs.items import Run
from likewise.runs.recorded import Entry, way

#: Bytes of a source that are read for a preview, which must take no time.
NEAR = 2**26


class Origin:
    """The sources of a run, and where the chunks of each begin: enough to find a row without the work folder.

    It holds the compared column of data from Python, and of files only their names.
    """

    def __init__(self, collection: Numbered, run: Run, first: int = 0):
        """first: the number of the collection's first source among those of the run."""
        self.want = shown.showing(run.job.want)
        self.sources = [reduced(source, self.want) for source in collection.sources]
        self.inputs = run.inputs[first:]
        self._border = run.first_side - first if first < run.first_side else len(self.sources)  # the sources of the first collection
        self.files = collection.files
        self.first_row = collection.first_row
        begins: list[list[tuple[int, int]]] = [[(0, 0)] for _ in self.sources]  # of each chunk and the end: (place, rows before it)
        for entry in collection.chunks:
            chunks = begins[entry["source"]]
            chunks.append((entry["next"], chunks[-1][1] + entry["rows"]))
        self.begins = [np.array(chunks[: max(1, len(chunks) - 1)], np.int64) for chunks in begins]

    def rows(self, source: pa.ChunkedArray, position: pa.ChunkedArray) -> np.ndarray:
        """Return the numbers of the rows at these places, int64[n]."""
        first = [  # the row at position 0 of each file; for users each text file is a source with one item
            int(begin) + (row if isinstance(found.path, Files) else 0)
            for found, begin in zip(self.sources, self.first_row, strict=False)
            for row in range(len(found.path.names) if isinstance(found.path, Files) else 1)
        ]
        file = pc.index_in(source, pa.array(self.files, source.type)).to_numpy()
        return np.array(first, np.int64)[file] + position.to_numpy()

    def snippets(self, rows: np.ndarray, length: int | None, parts: tuple[np.ndarray, np.ndarray] | None = None) -> pa.Array:
        """Return the contents of rows as shown to people, cut to ``length`` characters. Raises DataError if an input is gone or has changed.

        parts: where the wanted parts of texts begin and end, in characters; None: all is wanted.
        """
        if parts is not None:
            return pa.array([snippet(text, self.want.kind, length) for _, text, _ in self.parts(rows, *parts)], pa.large_string())
        places = np.unique(rows, return_inverse=True)[1]
        texts = [snippet(text, self.want.kind, length) for _, text in self.contents(rows)]
        return pa.array(texts, pa.large_string()).take(pa.array(places))

    def parts(self, rows: np.ndarray, starts: np.ndarray, ends: np.ndarray, around: int = 0) -> list[tuple[str, str, str]]:
        """Return parts of the contents of rows, between up to ``around`` characters before and after. Raises the errors of `snippets`.

        starts, ends: int64[n], where each part begins and ends, as in `shown.part_of`.
        """
        found = [("", "", "")] * len(rows)
        order = np.argsort(rows, kind="stable")
        begins = np.searchsorted(rows[order], np.unique(rows))
        for (_, text), here in zip(self.contents(rows), np.split(order, begins)[1:], strict=True):
            for place in here.tolist():
                start, end = int(starts[place]), int(ends[place])
                spans = ((max(0, start - around), start), (start, end), (end, end + around))
                before, part, after = (shown.part_of(text, *span, self.want.kind) for span in spans)
                found[place] = before, part, after
        return found

    def contents(self, rows: np.ndarray) -> Iterator[tuple[int, str]]:
        """Yield each distinct row, ascending, and its content as shown to people. Raises the errors of `snippets`."""
        distinct = np.unique(rows)
        numbers = np.searchsorted(self.first_row, distinct, side="right") - 1
        for number in np.unique(numbers).tolist():
            mine = distinct[numbers == number]
            if self.sources[number].blank:
                yield from ((row, shown.UNREAD) for row in mine.tolist())
                continue
            here = mine - self.first_row[number]
            self._check(number, here)
            yield from zip(mine.tolist(), self._read(number, here), strict=True)

    def near(self, rows: np.ndarray) -> bool:
        """Return True if the rows can be read quickly: they are in memory, or near the beginning of a file."""
        for row in np.unique(rows).tolist():
            number = int(np.searchsorted(self.first_row, row, side="right")) - 1
            if not isinstance(self.sources[number].path, pa.Table) and self._place(number, row - int(self.first_row[number])) > NEAR:
                return False
        return True

    def recorded(self, names: Sequence[set[str] | None], folder: Place) -> list[list[Entry]]:
        """Return the entries of the inputs with these names, or of all, for a file in ``folder`` (`runs.recorded`): of one collection or of two.

        names: those of the first collection and of the second one.
        """
        border = self._border
        if border == len(self.sources):
            return [self._recorded(slice(None), None if None in names else set().union(*filter(None, names)), folder)]
        return [self._recorded(side, some, folder) for side, some in zip((slice(border), slice(border, None)), names, strict=True)]

    def _recorded(self, side: slice, names: set[str] | None, folder: Place) -> list[Entry]:
        found: list[Entry] = []
        for source, inputs in zip(self.sources[side], self.inputs[side], strict=False):
            if source.blank or source.name == STDIN or isinstance(source.path, pa.Table):
                found.append({"source": printable(source.name)})
                continue
            for name, path in source.files:
                if names is None or printable(name) in names:
                    found.append({"source": printable(name), **way(path, folder)})
                    with suppress(OSError):
                        if storage.is_still(now := storage.now(path), inputs[name]):
                            found[-1] |= storage.mark(path, now)
        return found

    def _check(self, number: int, rows: np.ndarray) -> None:
        """Raise DataError if the source of these rows is gone or has changed; of text files, the files of the rows."""
        source = self.sources[number]
        if source.name == STDIN:
            raise DataError("with_text: standard input is not kept, so its items cannot be read again")
        files = source.files
        for name, path in [files[row] for row in rows.tolist()] if isinstance(source.path, Files) else files:
            try:
                now = storage.now(path)
            except OSError as error:
                raise DataError(f"with_text: {printable(path)}: this input no longer exists, so its items cannot be read again") from error
            if not storage.is_still(now, self.inputs[number][name]):
                raise DataError(f"with_text: {printable(path)}: this input has changed since the run, so its items cannot be read again")

    def _place(self, number: int, row: int) -> int:
        """Return the place of the chunk that holds a row of a source."""
        return int(self.begins[number][block_of(np.array([row]), self.begins[number])[0], 0])

    def _read(self, number: int, rows: np.ndarray) -> Iterator[str]:
        """Yield the contents of rows of a source, ascending."""
        source, found = self.sources[number], 0
        want = source.asked(self.want)
        for first, _, records in records_at(source, want, rows, self.begins[number]):
            here = rows[(rows >= first) & (rows < first + len(records))]
            yield from (shown.written(records, row - first, want) for row in here.tolist())
            found += len(here)
            if found == len(rows):
                return
        raise DataError(f"with_text: {printable(source.name)}: no longer has row {rows[found]}")


def reduced(source: Source, want: Want) -> Source:
    """Return the source without the columns of a table in memory that are not shown."""
    if source.blank:
        return replace(source, path=None)  # an index may be closed by then
    if not isinstance(source.path, pa.Table):
        return source
    names = {top(name, source.path.column_names) for name in wanted(source.asked(want), source.path.schema, "the table")}
    return replace(source, path=source.path.select([name for name in source.path.column_names if name in names]))


def snippet(text: str, kind: str, length: int | None) -> str:
    """Return the beginning of a content on one line, or all of it. Lone surrogates, which no table of Arrow holds, are escaped.

    >>> snippet("one  two\\nthree", "text", 9), snippet("one\\ntwo", "text", None)
    ('one two …', 'one\\ntwo')
    """
    if length is not None:
        line = " ".join(shown.shortened(kind, text)[: 100 * length].split())
        text = line if len(line) <= length else f"{line[: length - 1]}…"
    return text.encode("utf-8", "backslashreplace").decode()
