"""Items of an output folder, read again from their source files."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from likewise.errors import DataError, FormatError
from likewise.io import storage
from likewise.io.address import place
from likewise.io.field_names import of_source
from likewise.io.formats.lines import line_at, lines_of
from likewise.io.ids import from_json
from likewise.io.inputs import FILES, Source, resolve
from likewise.io.places import begins_of, between, records_at
from likewise.io.ranges import END
from likewise.kinds import of_payload
from likewise.records import TEXT, Chunk, Records, Want
from likewise.report.differences import Groups, groups_of
from likewise.report.examples import Example
from likewise.report.own_files import document, sealed, whole
from likewise.runs import shown

Place = tuple[str, int]  # source and position

#: The items of an example.
SIDES = ("removed", "kept")
PLACES = "places.parquet"
#: Formats of lines, and whether a carriage return alone ends a line.
LINES = {"jsonl": False, "csv": True}


class Original(NamedTuple):
    """An item as read from its source."""

    text: str  # as shown to people (runs.shown.written); lone surrogates are kept
    item: Any  # as compared
    kind: int
    id: str | None  # as JSON text


class Originals:
    """The inputs of an output folder, by the source names in its tables."""

    def __init__(self, out: Path, wanted: Callable[[], None] = lambda: None):
        """wanted: called before each chunk of a source; may raise an error to stop reading.

        Raises UsageError if ``out`` is not an output folder of dedup, FormatError if its files are damaged.
        """
        self.out, self._wanted = out, wanted
        manifest, run = self.manifest, self.run = sealed(out / "manifest.json"), sealed(out / "run.json")
        if manifest.get("format") != "likewise/output":
            raise FormatError(f"{out / 'manifest.json'}: is not the manifest of an output folder; its format is {manifest.get('format')!r}")
        self.method: dict[str, Any] = manifest["method"]
        entries = [*run["inputs"], *run.get("against", ())]
        self.paths = {entry["source"]: place(entry["path"]) for entry in entries if "path" in entry}
        self.indexes = {entry["source"] for entry in entries if "index" in entry}  # they do not keep the content of their items
        self.inputs: dict[str, dict[str, Any]] = {entry["source"]: entry for entry in entries}
        self.second = {entry["source"] for entry in run.get("against", ())}  # the sources of the second collection
        self.want = shown.wanted(self.method)

    @cached_property
    def report(self) -> dict[str, Any]:
        """The content of report.json. Raises FormatError if it has been changed."""
        return document(whole(self.out, self.manifest, "report.json"))

    @cached_property
    def removed(self) -> pa.Table:
        """The table removed.parquet. Raises FormatError if it has been changed."""
        return pq.read_table(storage.arrow(whole(self.out, self.manifest, "removed.parquet")))

    def tokens_left(self, place: Place) -> int | None:
        """Return the tokens left of a document that lost parts and was removed; None if it was not. Raises FormatError as `removed`."""
        table = pq.read_table(storage.arrow(whole(self.out, self.manifest, "dropped.parquet")))
        here = pc.and_(pc.equal(table["source"], place[0]), pc.equal(table["position"], place[1]))
        left: list[int] = table.filter(here)["tokens_left"].to_pylist()
        return left[0] if left else None

    @cached_property
    def groups(self) -> Groups | None:
        """The groups of elements, or None if the run had none or their file is gone."""
        given = self.method.get("groups")
        return groups_of(Path(given)) if given else None

    @property
    def value(self) -> str:
        """Name of the value column of removed.parquet: "similarity" or "distance"."""
        return self.report.get("value", "similarity")

    @property
    def numbered(self) -> bool:
        """True if no item of the output has an id, so that positions identify the items."""
        counts, ids = self.report["counts"], self.report.get("ids")
        return ids is None or ids["missing"] == counts["read"] - counts["rejected"]  # None: written by an earlier version

    def called(self, place: Place, found: Original) -> Any:
        """Return the id of an item; its position if the output has no ids, None if only this item has none."""
        if found.id is None:
            return place[1] if self.numbered else None
        value = from_json(found.id)
        return int(value) if isinstance(value, float) and pa.types.is_integer(self.removed.schema.field("id").type) else value

    def typed(self, rows: list[dict[str, Any]], side: str = "") -> list[Any]:
        """Return the ids of rows of removed.parquet in their original types; ``side`` "kept_": those of the kept items.

        Reads the sources again if the column holds texts because ids have several types.
        """
        if b"likewise.ids" not in (self.removed.schema.metadata or {}):
            return [row[f"{side}id"] for row in rows]
        places = [(row[f"{side}source"], row[f"{side}position"]) for row in rows]
        found = self.texts({place for place in places if place[0] not in self.indexes})
        read = [found.get(place) for place in places]
        return [row[f"{side}id"] if one is None else None if one.id is None else from_json(one.id) for row, one in zip(rows, read, strict=True)]

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
                raise DataError(f"{self.paths[source]}: row {missing[0]} no longer exists; the file has changed since {self.out} was written")
        return found

    def changed(self, among: Iterable[str] | None = None) -> list[str]:
        """Return the sources that have been changed or removed since the run, among all or some."""
        paths = self.paths if among is None else {source: self.paths[source] for source in among if source in self.paths}
        now = {source: storage.now(path) if path.exists() else None for source, path in paths.items()}
        return [source for source, stat in now.items() if stat is None or not storage.is_still(stat, self.inputs[source])]

    def find(self, identity: str) -> tuple[Place, Original] | None:
        """Return the place and content of the first item with this id, as typed on a command line, or None."""
        same = {identity.encode(), json.dumps(identity, ensure_ascii=False).encode(), f'"{identity}"'.encode()}  # the last one with escapes, as shown
        if identity.removeprefix("-").isdecimal():
            same.add(f"{identity}.0".encode())
        if identity in ("True", "False"):
            same.add(identity.lower().encode())
        for source in sorted(self.paths, key=lambda name: name != identity):  # the id of a file that is an item is its name
            for first, records in self.records(source):
                ids = records.id.to_pylist() if records.id is not None else []
                row = next((row for row, value in enumerate(ids) if value in same), None)
                if row is None and self.numbered and identity.isdecimal() and len(identity) < 19 and first <= int(identity) < first + len(records):
                    row = int(identity) - first
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
            raise DataError(
                f"{source}: the items came from Python, not from a file ({self.out / 'run.json'} lists none), so they cannot be read again"
            )
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

    def begins_of(self, source: str) -> np.ndarray:
        """Return the places from which the rows of a source can be read (`io.places.records_at`)."""
        return begins_of(self._marks.get(source, ()))

    @cached_property
    def _marks(self) -> dict[str, list[tuple[int, int]]]:
        """The marks in places.parquet by source: (start, position). Without that file, sources are read from their beginnings."""
        if not (self.out / PLACES).exists():
            return {}
        table, found = pq.read_table(storage.arrow(whole(self.out, self.manifest, PLACES))), defaultdict(list)
        for source, *mark in zip(*(table[name].to_pylist() for name in ("source", "start", "position")), strict=True):
            found[source].append(tuple(mark))
        return found

    def original(self, records: Records, row: int) -> Original:
        """Return a row as an item."""
        identity = records.id[row].as_py() if records.id is not None else None
        width = 0 if records.width is None else int(records.width[row])
        item = of_payload(self.want.kind).item_of(records.text[row].as_py() or b"", self.want, width)
        name = None if identity is None else identity.decode("utf-8", "replace")
        return Original(shown.written(records, row, self.want), item, int(records.kind[row]), name)


def examples(originals: Originals) -> Iterator[Example]:
    """Yield the removed items for report.html: ``examples`` of report.json, with their whole texts."""
    if changed := originals.changed():
        raise DataError(f"{changed[0]} has changed since the run, or no longer exists")
    rows = [row for row in originals.report.get("examples", ()) if None not in (row["removed"]["text"], row["kept"]["text"])]
    texts = originals.texts({place_of(row[side]) for row in rows for side in SIDES})
    how: dict[str, Any] = {"kind": originals.want.kind, "value": originals.value, "by": originals.method["by"], "groups": originals.groups}
    for row in rows:
        named: dict[str, Any] = {f"{side}_{name}": row[side][name] for side in SIDES for name in ("id", "source", "position")}
        contents: dict[str, Any] = {f"{side}_text": part_of(texts[place_of(row[side])].text, row[side]) for side in SIDES}
        yield Example(**named, **contents, similarity=row[originals.value], reason=row["reason"], group=row["group"], **how)


def place_of(row: dict[str, Any]) -> Place:
    """Return the place of an item that report.json names."""
    return row["source"], row["position"]


def part_of(text: str, row: dict[str, Any]) -> str:
    """Return what a row names of the text of an item: a part, or all of it."""
    return text[row["start"] : row["end"]] if "start" in row else text
