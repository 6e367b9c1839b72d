"""Items of an output folder, read again from their source files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from likewise.errors import DataError, FormatError
from likewise.io import storage
from likewise.io.address import place
from likewise.io.ids import from_json
from likewise.report.contents import Contents, Original, Place
from likewise.report.differences import Groups, groups_of
from likewise.report.examples import Example
from likewise.report.own_files import document, sealed, whole
from likewise.runs import shown

#: The items of an example.
SIDES = ("removed", "kept")
PLACES = "places.parquet"


class Originals(Contents):
    """The inputs of an output folder, by the source names in its tables."""

    def __init__(self, out: Path, wanted: Callable[[], None] = lambda: None):
        """wanted: called before each chunk of a source; may raise an error to stop reading.

        Raises UsageError if ``out`` is not an output folder of dedup, FormatError if its files are damaged.
        """
        self.out = out
        manifest, run = self.manifest, self.run = sealed(out / "manifest.json"), sealed(out / "run.json")
        if manifest.get("format") != "likewise/output":
            raise FormatError(f"{out / 'manifest.json'}: is not the manifest of an output folder; its format is {manifest.get('format')!r}")
        self.method: dict[str, Any] = manifest["method"]
        entries = [*run["inputs"], *run.get("against", ())]
        self.second = {entry["source"] for entry in run.get("against", ())}  # the sources of the second collection
        paths = {entry["source"]: place(entry["path"]) for entry in entries if "path" in entry}
        inputs = {entry["source"]: entry for entry in entries}
        super().__init__(str(out / "run.json"), paths, inputs, shown.wanted(self.method), wanted)

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

    @cached_property
    def _marks(self) -> dict[str, list[tuple[int, int]]]:
        """The marks in places.parquet by source: (start, position). Without that file, sources are read from their beginnings."""
        if not (self.out / PLACES).exists():
            return {}
        table, found = pq.read_table(storage.arrow(whole(self.out, self.manifest, PLACES))), defaultdict(list)
        for source, *mark in zip(*(table[name].to_pylist() for name in ("source", "start", "position")), strict=True):
            found[source].append(tuple(mark))
        return found


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
