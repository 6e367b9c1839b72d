"""Two items side by side: their content with its differences marked, and how similar they are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Protocol

from likewise.drawing.markup import Html, join
from likewise.explorer.pages import Request
from likewise.explorer.shared import marked as passages_marked
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, NUMBERS, SIGNS, WORDS
from likewise.report import differences, wording
from likewise.report.contents import Original
from likewise.report.differences import Groups
from likewise.report.examples import marked
from likewise.runs.shown import shortened

#: Characters of two texts that are shown in full; of longer ones, long equal stretches are left out unless the reader asks for them.
WHOLE = 20_000
#: Characters of a text that is shown in full if the reader asks for it.
FULL = 1_000_000
#: Characters of two texts whose shared passages are searched, which takes some hundred bytes a word.
MOST = 4_000_000
REASONS = {"exact": "exact copy", "equal": "same shingles", "passage": "shared passage", "rest": "short rest beside a shared passage"}
#: The same for a row of a table.
ALL_REASONS = REASONS | {"near": "near-duplicate"}


class Item(NamedTuple):
    """An item, or a part of one, as a table names it."""

    id: Any
    source: str
    position: int
    span: tuple[int, int] | None  # of a part

    @property
    def place(self) -> tuple[str, int]:
        return self.source, self.position


class Explored(Protocol):
    """A result, as `beside` uses it."""

    @property
    def kind(self) -> str:
        """The kind of its items."""

    @property
    def value(self) -> str:
        """ "similarity" or "distance"."""

    @property
    def by(self) -> str:
        """The measure."""

    @property
    def exact(self) -> bool:
        """True if the values of its rows are exact."""

    @property
    def groups(self) -> Groups | None:
        """The groups of elements."""

    def pictures_of(self, left: Item, right: Item) -> tuple[Html | None, Html | None]:
        """The pictures of items that are image files."""

    def both(self, left: Item, right: Item) -> tuple[Original, Original] | str:
        """Two items, or why they cannot be read."""

    def value_of(self, one: Any, other: Any) -> float | None:
        """The exact value of two items; None if it cannot be computed."""


class Pair(NamedTuple):
    """Two items as a page shows them."""

    left: Item
    right: Item
    texts: tuple[Html, Html] | None
    fault: str  # the reason if texts are missing
    remark: str
    how: str  # how similar they are, in words
    look: str  # the class of their content
    cut: bool  # long equal stretches are left out
    short: bool  # both can be shown in full
    marks: str  # what is marked: "differences", "shared" passages, or "" for nothing
    has_passages: bool  # shared passages can be shown
    pictures: tuple[Html | None, Html | None]


def removed_of(row: dict[str, Any]) -> Item:
    return item_of(row, "")


def kept_of(row: dict[str, Any]) -> Item:
    return item_of(row, "kept_")


def item_of(row: dict[str, Any], prefix: str) -> Item:
    span = (row[f"{prefix}start"], row[f"{prefix}end"]) if f"{prefix}start" in row else None
    return Item(row[f"{prefix}id"], row[f"{prefix}source"], row[f"{prefix}position"], span)


def beside(output: Explored, left: Item, right: Item, removal: dict[str, Any] | None, request: Request) -> Pair:
    """The two items. removal: the row of removed.parquet that compared them; without one, they are compared now."""
    found, look, pictures = output.both(left, right), of_payload(output.kind).look, output.pictures_of(left, right)
    class_ = "text digits" if look in (NUMBERS, DIGITS) else "text"
    if isinstance(found, str):
        return without(output, left, right, removal, found)
    kind = output.kind
    texts = [part(content.text, item) for content, item in zip(found, (left, right), strict=True)]
    value = None
    if removal is None:
        value = output.value_of(*(part(content.item, item) for content, item in zip(found, (left, right), strict=True)))
    has_passages = look == WORDS and sum(map(len, texts)) <= MOST
    shared = has_passages and request.one_of("view", ("differences", "shared"), "differences") == "shared"
    runs = None if shared else differences.runs(kind, texts[0], texts[1], output.groups)
    said = "" if shared else differences.remark(kind, texts[0], texts[1])
    remark = said.replace("the removed item", "the first item").replace("the kept one", "the second one")
    long = sum(map(len, texts)) > WHOLE and look in (WORDS, SIGNS)
    short = max(map(len, texts)) <= FULL
    cut = long and not (short and request.query.get("all") == "yes")
    if shared:
        markup, cut = passages_marked(*texts), False
    elif runs is None:
        markup = join([shortened(kind, texts[0])]), join([shortened(kind, texts[1])])
    else:
        markup = join(marked(runs, "delete", whole=not cut)), join(marked(runs, "insert", whole=not cut))
    marks = "shared" if shared else "" if runs is None else "differences"
    return Pair(left, right, markup, "", remark, how(output, removal, value), class_, cut, short, marks, has_passages, pictures)


def without(output: Explored, left: Item, right: Item, removal: dict[str, Any] | None, why: str) -> Pair:
    """The two items without their content. why: it cannot be shown."""
    pictures = output.pictures_of(left, right)
    return Pair(left, right, None, why, "", how(output, removal, None), "text", False, False, "", False, pictures)


def part(content: Any, item: Item) -> Any:
    """The content of an item, or of the part that is named."""
    return content[slice(*item.span)] if item.span and content is not None else content


def how(output: Explored, removal: dict[str, Any] | None, value: float | None) -> str:
    """How similar two items are. value: as computed now, if no removal compared them."""
    if removal is not None and removal["reason"] in REASONS:
        return REASONS[removal["reason"]]
    about = ""
    if removal is not None:
        value = removal[output.value]
        about = "" if output.exact else "about "
    if value is None:
        return f"{output.value} not computed"
    return f"{output.value} {about}{'not defined: both are empty' if math.isnan(value) else wording.amount(value, output.value, output.by)}"
