"""Two items side by side: their content with its differences marked, and how similar they are."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from likewise.drawing.markup import Html, join
from likewise.explorer.output import Output
from likewise.explorer.pages import Request
from likewise.explorer.shared import marked as passages_marked
from likewise.kinds import of_payload
from likewise.kinds.kind import DIGITS, NUMBERS, SIGNS, WORDS
from likewise.report import differences, wording
from likewise.report.examples import marked
from likewise.report.pictures import LARGE
from likewise.runs.shown import shortened

#: Characters of two texts that are shown in full; of longer ones, long equal stretches are left out unless the reader asks for them.
WHOLE = 20_000
REASONS = {"exact": "exact copy", "equal": "same shingles", "passage": "shared passage", "rest": "short rest beside a shared passage"}


class Item(NamedTuple):
    """An item, or a part of one, as a table names it."""

    id: Any
    source: str
    position: int
    span: tuple[int, int] | None  # of a part

    @property
    def place(self) -> tuple[str, int]:
        return self.source, self.position


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


def beside(output: Output, left: Item, right: Item, removal: dict[str, Any] | None, request: Request) -> Pair:
    """The two items. removal: the row of removed.parquet that compared them; without one, they are compared now."""
    found = output.read([left.place, right.place])
    look, pictures = of_payload(output.originals.want.kind).look, (output.pictures(left.source, LARGE), output.pictures(right.source, LARGE))
    class_ = "text digits" if look in (NUMBERS, DIGITS) else "text"
    if isinstance(found, str):
        return Pair(left, right, None, found, "", how(output, removal, None), class_, False, "", False, pictures)
    kind = output.originals.want.kind
    texts = [part(found[item.place].text, item) for item in (left, right)]
    value = None
    if removal is None:
        value = output.value_of(*(part(found[item.place].item, item) for item in (left, right)))
    shared = look == WORDS and request.one_of("view", ("differences", "shared"), "differences") == "shared"
    runs = None if shared else differences.runs(kind, texts[0], texts[1], output.originals.groups)
    remark = differences.remark(kind, texts[0], texts[1]).replace("the removed item", "the left item").replace("the kept one", "the right one")
    long = sum(map(len, texts)) > WHOLE and look in (WORDS, SIGNS)
    cut = long and request.query.get("all") != "yes"
    if shared:
        markup, cut = passages_marked(*texts), False
    elif runs is None:
        markup = join([shortened(kind, texts[0])]), join([shortened(kind, texts[1])])
    else:
        markup = join(marked(runs, "delete", whole=not cut)), join(marked(runs, "insert", whole=not cut))
    marks = "shared" if shared else "" if runs is None else "differences"
    return Pair(left, right, markup, "", remark, how(output, removal, value), class_, cut, marks, look == WORDS, pictures)


def part(content: Any, item: Item) -> Any:
    """The content of an item, or of the part that is named."""
    return content[slice(*item.span)] if item.span and content is not None else content


def how(output: Output, removal: dict[str, Any] | None, value: float | None) -> str:
    """How similar two items are. value: as computed now, if no removal compared them."""
    if removal is not None and removal["reason"] in REASONS:
        return REASONS[removal["reason"]]
    about = ""
    if removal is not None:
        value = removal[output.value]
        about = "" if output.report["verified"] == "exact" else "about "
    if value is None:
        return f"{output.value} not computed"
    return f"{output.value} {about}{'not defined: both are empty' if math.isnan(value) else wording.amount(value, output.value, output.by)}"
