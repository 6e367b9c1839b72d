"""One line of a result file: two texts side by side with all passages that they share, or the two items of a pair with their differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from likewise.drawing.markup import Html, join, tag
from likewise.drawing.numbers import counted, share
from likewise.explorer import pair
from likewise.explorer.clusters import ROWS, paged
from likewise.explorer.listed import Lists
from likewise.explorer.listing import Listing
from likewise.explorer.pages import Request, Shown
from likewise.kinds import of_payload
from likewise.runs.quotes_page import WHOLE, marked
from likewise.service.problems import ProblemError

#: Passages of two texts whose characters are counted.
MOST = 10_000
#: The letters of the places of passages on both sides of a page.
LETTERS = "lr"


class Quoting(NamedTuple):
    """A text with its passages."""

    noun: str
    item: pair.Item
    fault: str  # the reason if the text is missing
    markup: Html | None = None
    said: str = ""  # how much of it is in passages
    length: int = 0


def one(lists: Lists, request: Request) -> Shown:
    """The page of a line."""
    listing = lists.listing
    total, number = len(listing.texts if listing.quotes else listing.rows), int(request.path["number"])
    if number >= total:
        raise ProblemError(404, f"there are {counted(total, 'pair')}, counted from 0")
    values = passages(listing, number, request) if listing.quotes else {"pair": listing.pair_of(number, request)}
    return Shown(
        "passages.html" if listing.quotes else "pair.html", {"here": "/pairs", "path": f"/pairs/{number}", **lists.around(number, request), **values}
    )


def passages(listing: Listing, number: int, request: Request) -> dict[str, Any]:
    """Two texts with their passages, which have the same numbers on both sides. Of very many, those of a page are marked."""
    members = listing.texts.members(number)
    place = paged(len(members), request)
    every = listing.rows.rows(members[:MOST].tolist())
    rows = listing.rows.rows(members[place.begin : place.begin + ROWS].tolist())
    whole = request.query.get("all") == "yes"
    sides = [quoting(listing, which, rows, every if len(every) == len(members) else [], place.begin, whole=whole) for which in range(2)]
    lengths = [one.length for one in sides]
    listed = [
        {"number": place.begin + at, "row": row, "spans": [(row[side.start], row[side.end]) for side in listing.sides]}
        for at, row in enumerate(rows, 1)
    ]
    cut = not whole and max(lengths) > WHOLE
    facts = {"tokens": int(listing.texts.tokens[number]), "longest": int(listing.texts.longest[number])}
    return {"sides": sides, "passages": listed, "place": place, "cut": cut, "short": max(lengths) <= pair.FULL, "whole": whole, **facts}


def quoting(listing: Listing, which: int, rows: Sequence[dict[str, Any]], every: Sequence[dict[str, Any]], first: int, *, whole: bool) -> Quoting:
    """A side. rows: those whose passages are marked; every: all of them, to be counted; first: the number before that of the first passage."""
    side, kind = listing.sides[which], of_payload(listing.kind)
    item = side.item(rows[0])
    found = listing.read_side(which, [item.place])
    if isinstance(found, str):
        return Quoting(side.noun, item, found)
    text, here, there = found[item.place].text, LETTERS[which], LETTERS[1 - which]

    def numbered(number: int) -> Html:
        return tag("a", first + number, id=f"{here}{first + number}", href=f"#{there}{first + number}", class_="number")

    def spans(some: Sequence[dict[str, Any]]) -> list[tuple[int, int]]:
        return kind.spans(text, [(row[side.start], row[side.end]) for row in some])

    markup = join(marked(text, spans(rows), numbered, whole=whole and len(text) <= pair.FULL))
    inside = covered(spans(every))
    said = f"{inside:,} of {counted(len(text), 'character')} ({share(inside, len(text))}) in passages" if every else counted(len(text), "character")
    return Quoting(side.noun, item, "", markup, said, len(text))


def covered(spans: Sequence[tuple[int, int]]) -> int:
    """The places in spans, each counted once.

    >>> covered([(5, 9), (0, 6), (20, 21)])
    10
    """
    if not spans:
        return 0
    starts, ends = np.array(sorted(spans), np.int64).T
    before = np.concatenate(([0], np.maximum.accumulate(ends)[:-1]))
    return int(np.maximum(0, ends - np.maximum(starts, before)).sum())
