"""Items of a result, read again from its inputs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import DataError
from likewise.io import storage
from likewise.io.field_names import of_source
from likewise.io.formats.lines import line_at, lines_of
from likewise.io.inputs import FILES, Source, resolve
from likewise.io.places import begins_of, between, records_at
from likewise.io.ranges import END
from likewise.kinds import of_payload
from likewise.records import TEXT, Chunk, Records, Want
from likewise.runs import shown

Place = tuple[str, int]  # source and position

#: Formats of lines, and whether a carriage return alone ends a line.
LINES = {"jsonl": False, "csv": True}


class Original(NamedTuple):
    """An item as read from its source."""

    text: str  # as shown to people (runs.shown.written); lone surrogates are kept
    item: Any  # as compared
    kind: int
    id: str | None  # as JSON text


class Contents:
    """The inputs of a result, by the source names in its tables."""

    def __init__(self, said: str, paths: Mapping[str, Path], inputs: Mapping[str, dict[str, Any]], want: Want, wanted: Callable[[], None]):
        """said: where the result lists its inputs. paths: of those that are files. inputs: what is known of each, with a `storage.stamp` of files.

        wanted: called before each chunk of a source; may raise an error to stop reading.
        """
        self.said, self.paths, self.inputs, self.want, self._wanted = said, dict(paths), dict(inputs), want, wanted
        self.indexes = {source for source, entry in inputs.items() if "index" in entry}  # they do not keep the content of their items

    @property
    def numbered(self) -> bool:
        """True if no item has an id, so that positions identify the items."""
        return False

    @property
    def _marks(self) -> Mapping[str, Sequence[tuple[int, int]]]:
        """Places in sources from which rows can be read, by source: (start, position). Without them, sources are read from their beginnings."""
        return {}

    def _is_still(self, source: str, found: Any) -> bool:
        """Return whether a source whose state is ``found`` is as it was when the result was made."""
        return storage.is_still(found, self.inputs[source])

    def texts(self, places: Iterable[Place]) -> dict[Place, Original]:
        """Return the items at these places. Raises DataError if one no longer exists.

        Items of an index have no content.
        """
        wanted = defaultdict(set)
        found = {}
        for source, position in places:
            if source in self.indexes:
                found[source, position] = Original(shown.UNREAD, None, TEXT, None)
            else:
                wanted[source].add(position)
        for source, positions in wanted.items():
            for first, records in self.records(source, sorted(positions)):
                found.update({(source, at): self.original(records, at - first) for at in positions if first <= at < first + len(records)})
                if first + len(records) > max(positions):
                    break
            if missing := sorted(at for at in positions if (source, at) not in found):
                raise DataError(f"{self.paths[source]}: row {missing[0]} no longer exists; the file has changed since the result was written")
        return found

    def changed(self, among: Iterable[str] | None = None) -> list[str]:
        """Return the sources that have been changed or removed since the run, among all or some."""
        paths = self.paths if among is None else {source: self.paths[source] for source in among if source in self.paths}
        now = {source: storage.now(path) if path.exists() else None for source, path in paths.items()}
        return [source for source, stat in now.items() if stat is None or not self._is_still(source, stat)]

    def find(self, identity: str) -> tuple[Place, Original] | None:
        """Return the place and content of the first item with this id, as typed on a command line, or None."""
        ways = ways_of(identity)
        for source in sorted(self.paths, key=lambda name: name != identity):  # the id of a file that is an item is its name
            for first, records in self.records(source):
                ids = records.id.to_pylist() if records.id is not None else []
                row = next((row for row, value in enumerate(ids) if value in ways), None)
                if row is None and self.numbered and identity.isdecimal() and len(identity) < 19 and first <= int(identity) < first + len(records):
                    row = int(identity) - first
                if row is None and source == identity and self.is_item(source):
                    row = 0
                if row is not None:
                    return (source, first + row), self.original(records, row)
        return None

    def name(self, place: Place) -> str:
        """Return a place as people write it: SOURCE:LINE in files of lines, SOURCE:ROW in others, or the name of a text file.

        `position` understands it. If the source cannot be read, the place is "record 3 of SOURCE", from 1.
        """
        source, position = place
        if source in self.indexes:
            return source
        try:
            for format, path, first, chunk, records in self.parsed(source, [position]):
                if format in FILES:
                    return source
                if format not in LINES:
                    return f"{source}:{position} (rows count from 0)"
                if first <= position < first + len(records):
                    return f"{source}:{lines_of(path, chunk, records, LINES[format])[0][position - first]}"
        except DataError:
            pass
        return f"record {position + 1} of {source}"

    def position(self, source: str, number: int) -> int | None:
        """Return the position of the record at a line, or with the number of a row, as `name` shows them, or None."""
        if source not in self.paths:
            return None
        try:
            found, format, want = self.opened(source)
            if format not in LINES:
                return number
            line, begins = line_at(self.paths[source], number, LINES[format]), self.begins_of(source)
            if line is None:
                return None
            first, last = (np.searchsorted(begins[:, 0], (line[0], line[1] - 1), side="right") - 1).tolist()
            for row, _, records in between(found, want, begins, first, last):
                here = (records.start < line[1]) & (records.start + np.maximum(records.length, 1) > line[0])
                if here.any():
                    return row + int(here.argmax())
        except DataError:
            return number - 1
        return None

    def records(self, source: str, positions: Sequence[int] = ()) -> Iterator[tuple[int, Records]]:
        """Yield (position of the first row, rows) of the chunks of a source, as `parsed`."""
        return ((first, records) for _, _, first, _, records in self.parsed(source, positions))

    def parsed(self, source: str, positions: Sequence[int] = ()) -> Iterator[tuple[str, Path, int, Chunk, Records]]:
        """Yield (format, path, position of the first row, chunk, rows) of the chunks of a source. Raises DataError if the source is gone.

        positions: ascending; if given, only chunks with these rows are read.
        """
        found, format, want = self.opened(source)
        read = records_at(found, want, np.array(positions), self.begins_of(source)) if positions else between(found, want, begins_of(()), 0, 0)
        for first, chunk, records in read:
            self._wanted()
            yield format, self.paths[source], first, chunk, records

    def opened(self, source: str) -> tuple[Source, str, Want]:
        """Return a source, the name of its format, and the Want for it. Raises DataError if it is gone."""
        path = self.paths.get(source)
        if path is None:
            raise DataError(f"{source}: the items came from Python, not from a file ({self.said} lists none), so they cannot be read again")
        if not path.exists():
            piped = "standard input is not kept" if source == "stdin" else "this input no longer exists"
            raise DataError(f"{path}: {piped}, so its items cannot be shown")
        [found] = resolve([path], want=self.want)
        format = getattr(found.format, "__name__", "").rpartition(".")[2]
        return found, format, shown.showing(of_source(self.want, source))

    def is_quick(self, source: str) -> bool:
        """Return whether a row of a source can be read in milliseconds, and not only with the rows before it."""
        try:
            return self.opened(source)[0].few != END
        except DataError:
            return False

    def is_item(self, source: str) -> bool:
        """Return whether a source is a file with one item. Raises DataError if it is gone."""
        return self.opened(source)[1] in FILES

    def begins_of(self, source: str) -> np.ndarray:
        """Return the places from which the rows of a source can be read (`io.places.records_at`)."""
        return begins_of(self._marks.get(source, ()))

    def original(self, records: Records, row: int) -> Original:
        """Return a row as an item."""
        identity = records.id[row].as_py() if records.id is not None else None
        width = 0 if records.width is None else int(records.width[row])
        item = of_payload(self.want.kind).item_of(records.text[row].as_py() or b"", self.want, width)
        name = None if identity is None else identity.decode("utf-8", "replace")
        return Original(shown.written(records, row, self.want), item, int(records.kind[row]), name)


def ways_of(identity: str) -> set[bytes]:
    """The ways in which an id that somebody typed may be written in an input, as JSON text."""
    ways = {identity.encode(), json.dumps(identity, ensure_ascii=False).encode(), f'"{identity}"'.encode()}  # the last one with escapes, as shown
    if identity.removeprefix("-").isdecimal():
        ways.add(f"{identity}.0".encode())
    if identity in ("True", "False"):
        ways.add(identity.lower().encode())
    return ways
