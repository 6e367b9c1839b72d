"""A result file that is explored: passages, or pairs. Its rows, and the texts of its inputs, are read when a page shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from threading import RLock
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise import methods
from likewise.drawing.markup import Html
from likewise.errors import LikewiseError
from likewise.explorer import pair
from likewise.explorer.again import Again, found_among
from likewise.explorer.pages import Request
from likewise.explorer.pair import Item
from likewise.explorer.removals import grouped
from likewise.explorer.rows import Rows
from likewise.explorer.unchanged import Unchanged
from likewise.io.storage import mark, now
from likewise.kinds import kind_of, of_payload
from likewise.report.contents import Original, Place
from likewise.report.differences import Groups
from likewise.report.pictures import LARGE, reduced
from likewise.report.precision import Near
from likewise.runs.recorded import as_recorded, read
from likewise.runs.shown import in_brief, wanted

#: Bytes of the sources of a page up to which it shows how the items begin: a source may have to be read from its beginning.
SMALL = 64 << 20


class Side(NamedTuple):
    """The columns of one side of the rows."""

    name: str  # as the record calls it
    side: str  # for people; and one of its items
    noun: str
    id: str
    source: str
    position: str
    start: str = ""
    end: str = ""

    def item(self, row: dict[str, Any]) -> Item:
        return Item(row[self.id], row.get(self.source, ""), row.get(self.position, -1), None)


def of_passages(name: str, side: str, noun: str) -> Side:
    return Side(name, side, noun, name, *(f"{name}_{what}" for what in ("source", "position", "start", "end")))


QUOTES = (of_passages("suspect", "suspects", "suspect"), of_passages("corpus", "corpus", "text of the corpus"))
#: Pairs of one collection, and of two, each with a side in the record.
PAIRS = (Side("", "", "a", "id_a", "source_a", "position_a"), Side("", "", "b", "id_b", "source_b", "position_b"))
ACROSS = (PAIRS[0]._replace(name="a", side="a"), PAIRS[1]._replace(name="b", side="b"))


def is_text(given: pa.DataType) -> bool:
    return pa.types.is_string(given) or pa.types.is_large_string(given)


class Texts(NamedTuple):
    """The passages of a file by the two texts that share them, one entry for each two."""

    order: np.ndarray  # int64[n]: the rows, texts by texts, in the order of the file
    begin: np.ndarray  # int64[t]
    passages: np.ndarray  # int64[t]
    tokens: np.ndarray  # int64[t]: equal ones
    longest: np.ndarray  # int64[t]: equal tokens of the longest passage

    def __len__(self) -> int:
        return len(self.begin)

    @property
    def first(self) -> np.ndarray:
        """int64[t]: the first row of each entry."""
        return self.order[self.begin]

    def members(self, number: int) -> np.ndarray:
        begin = int(self.begin[number])
        return self.order[begin : begin + int(self.passages[number])]


class Listing:
    """A result file. Raises UsageError for one that does not name its inputs, and FormatError for a damaged or changed one.

    inputs: where the inputs are now, if they were moved.
    """

    def __init__(self, path: Path, inputs: Sequence[str] = ()):
        self.unchanged, self._lock = Unchanged(path, path), RLock()
        self.path = self.place = path
        self.record = read(path)
        self.quotes = self.record.verb == "quotes"
        self.sides = QUOTES if self.quotes else PAIRS if len(self.record.sides) == 1 else ACROSS
        with as_recorded(path):
            self.facts, self.method = self.record.facts, self.record.facts["method"]
            self.want = wanted(self.method)
            self.entries = found_among(self.record.sides, inputs, path, self.want)
            self._known: dict[str, dict[str, Place]] = {side.name: {} for side in self.sides}
            self._contents = {side.name: Again(path, self.entries[side.name] or (), self.want) for side in self.sides}
        self.rows = Rows(path, [source for contents in self._contents.values() for source in contents.inputs])
        self.placed = self.sides[0].source in self.rows.schema.names
        self.rows.check([side.id for side in self.sides], self._types())

    def _types(self) -> dict[str, Callable[[pa.DataType], bool]]:
        """The types of the columns that pages read, without those of ids."""
        types: dict[str, Callable[[pa.DataType], bool]] = {self.value: lambda given: pa.types.is_float64(given) or pa.types.is_int64(given)}
        for side in self.sides if self.placed or self.quotes else ():
            types |= {side.source: is_text, **dict.fromkeys(filter(None, (side.position, side.start, side.end)), pa.types.is_int64)}
        return types | ({"agreed": pa.types.is_int64} if self.quotes else {})

    @property
    def kind(self) -> str:
        return self.want.kind

    @property
    def value(self) -> str:
        return str(self.facts.get("value", "similarity"))

    @property
    def by(self) -> str:
        return str(self.method["by"])

    @property
    def exact(self) -> bool:
        return self.method.get("verify", "exact") == "exact"

    @property
    def groups(self) -> Groups | None:
        """None: the file of groups is not among the inputs, which are recognized by their contents."""
        return None

    def pictures_of(self, left: Item, right: Item) -> tuple[Html | None, Html | None]:
        """The pictures of items that are image files."""
        method = methods.parse(self.by)
        if isinstance(method, methods.Text) or not kind_of(method.facts.name).made_of:
            return None, None
        return self._picture(0, left.source), self._picture(1, right.source)

    def _picture(self, side: int, source: str) -> Html | None:
        return None if self.unreadable(side, [source]) else reduced(self.contents(side).paths[source], source, LARGE)

    def contents(self, side: int) -> Again:
        """The inputs of a side."""
        return self._contents[self.sides[side].name]

    @cached_property
    def values(self) -> np.ndarray:
        """float64[n]: the similarity or distance of each row."""
        return self.rows.column(self.value).astype(np.float64)

    @property
    def digest(self) -> str:
        return str(mark(self.path, now(self.path))["xxh3_128"])

    @cached_property
    def near(self) -> Near:
        """The pairs in random order, by their similarity from the threshold on."""
        return Near(self.path, self.value, float(self.facts["threshold"]))

    def row(self, number: int) -> dict[str, Any]:
        """A row of the table."""
        return self.rows.rows([number])[0]

    def pair_of(self, number: int, request: Request) -> pair.Pair:
        """The two items of a pair side by side."""
        row = self.row(number) | {"reason": "near"}
        items = self.located(row)
        if isinstance(items, str):
            left, right = (side.item(row) for side in self.sides)
            return pair.without(self, left, right, row, items)
        return pair.beside(self, *items, row, request)

    @cached_property
    def agreed(self) -> np.ndarray:
        """int64[n]: the equal tokens of each passage."""
        return self.rows.column("agreed")

    @cached_property
    def sources(self) -> tuple[np.ndarray, np.ndarray]:
        """The source of each row on both sides, int32[n] each: its place in ``rows.sources``."""
        left, right = (self.rows.source(side.source) for side in self.sides)
        return left, right

    @cached_property
    def texts(self) -> Texts:
        """The passages by texts."""
        keys = [key for side, source in zip(self.sides, self.sources, strict=True) for key in (source, self.rows.column(side.position))]
        order, begin = grouped(keys)
        sizes = np.diff(np.append(begin, len(order)))
        first = np.argsort(order[begin], kind="stable")  # texts in the order of the file
        number = np.empty(len(first), np.int64)
        number[first] = np.arange(len(first))
        order, passages = order[np.argsort(np.repeat(number, sizes), kind="stable")], sizes[first]
        begin = np.cumsum(passages) - passages
        agreed = self.agreed[order]
        tokens, longest = (way.reduceat(agreed, begin) if len(begin) else agreed for way in (np.add, np.maximum))
        return Texts(order, begin, passages, tokens, longest)

    @cached_property
    def text_of(self) -> np.ndarray:
        """int64[n]: the entry of ``texts`` of each row."""
        found = np.empty(len(self.rows), np.int64)
        found[self.texts.order] = np.repeat(np.arange(len(self.texts)), self.texts.passages)
        return found

    def prepare(self) -> None:
        """Read what the pages need, once."""
        with self._lock:
            _ = (self.text_of,) if self.quotes else (self.values,)

    def unreadable(self, side: int, sources: Iterable[str]) -> str:
        """Why the items of these sources of a side cannot be shown; empty if they can."""
        sources = [*sources]
        contents, name = self.contents(side), self.sides[side].name
        if self.entries[name] is None:
            return "this result has too many inputs to name them, so their items cannot be shown"
        if far := sorted({*sources} & contents.far):
            return f"{contents.inputs[far[0]]['path']} lies at an address, which is read only if it is named: likewise serve FILE INPUT"
        if unknown := sorted({*sources} - contents.paths.keys()):
            return f"{unknown[0]} cannot be shown: {contents.why_not(unknown[0])}"
        changed = contents.changed({*sources})
        gone = "has changed since the run, or is no longer there, so its items cannot be shown"
        return f"{contents.paths[min(changed)]} {gone}; if it was moved, name its place: likewise serve FILE INPUT" if changed else ""

    def read_side(self, side: int, places: list[Place]) -> dict[Place, Original] | str:
        """The items at these places of a side, or why they cannot be read."""
        try:
            return self.unreadable(side, (source for source, _ in places)) or self.contents(side).texts(places)
        except LikewiseError as error:
            return str(error)

    def both(self, left: Item, right: Item) -> tuple[Original, Original] | str:
        """The two items of a pair, or why they cannot be read."""
        one, other = self.read_side(0, [left.place]), self.read_side(1, [right.place])
        return one if isinstance(one, str) else other if isinstance(other, str) else (one[left.place], other[right.place])

    def located(self, row: dict[str, Any]) -> tuple[Item, Item] | str:
        """The two items of a pair. If the table has ids alone, their places are looked up; a reason if they are not found."""
        left, right = self.sides
        items = left.item(row), right.item(row)
        if self.placed:
            return items
        for side in range(2):
            if said := self.unreadable(side, self.contents(side).inputs):
                return said
        try:
            one, other = (self._place(side, str(item.id)) for side, item in enumerate(items))
        except LikewiseError as error:
            return str(error)
        if one is None or other is None:
            return f"no item with the id {items[one is not None].id} is in the inputs, so it cannot be shown"
        return Item(items[0].id, *one, None), Item(items[1].id, *other, None)

    def _place(self, side: int, identity: str) -> Place | None:
        """Where the item with this id is. What was found before is not looked up again."""
        contents, known = self.contents(side), self._known[self.sides[side].name]
        if identity not in known:
            if identity in contents.paths and contents.is_item(identity):
                known[identity] = identity, 0
            elif contents.numbered and len(contents.paths) == 1 and identity.isdecimal():
                known[identity] = next(iter(contents.paths)), int(identity)
            elif found := contents.find(identity):
                known[identity] = found[0]
        return known.get(identity)

    def value_of(self, one: Any, other: Any) -> float | None:
        """Each pair has its value in the table."""
        return None

    def beginnings(self, side: int, parts: list[tuple[Place, tuple[int, int] | None]]) -> list[str]:
        """How items of a side, or parts of them, begin; [] if they cannot be read quickly. parts: places, and the part of each."""
        if of_payload(self.kind).files:
            return []
        sources = {source for (source, _), _ in parts}
        sizes = [self.contents(side).inputs.get(source, {}).get("size", SMALL) for source in sources]
        found = self.read_side(side, [place for place, _ in parts]) if sum(sizes) < SMALL else ""
        if isinstance(found, str):
            return []
        kind = of_payload(self.kind)
        whole = [(found[place].text, span) for place, span in parts]
        return [in_brief(self.kind, text if span is None else kind.part_of(text, *span)) for text, span in whole]
