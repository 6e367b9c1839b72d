"""The lists of a result file: its passages, the texts that share them, or its pairs; by their values, sources or ids."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from likewise.drawing.cards import Card, cards
from likewise.drawing.numbers import count, counted, figure, percent, share, shown
from likewise.explorer.clusters import ROWS, paged
from likewise.explorer.listing import Listing
from likewise.explorer.pages import Request, Shown, link
from likewise.explorer.removals import grouped
from likewise.report.identity import spellings
from likewise.runs.outcome import spread
from likewise.service.problems import ProblemError

#: Sources that the form of a list names; of more, one types the name.
MOST_NAMED = 200
#: Lines and inputs that the first page names, and rows of an id that a search lists.
FIRST, FEW, MOST = 5, 20, 50


def by(values: np.ndarray, *, falling: bool = True) -> np.ndarray:
    """Places in the order of values, equal ones as they are."""
    return np.argsort(-values if falling else values, kind="stable")


class Kind(NamedTuple):
    """A kind of list."""

    path: str
    title: str
    noun: tuple[str, str]  # of a line, singular and plural
    figures: tuple[str, ...]  # columns after the two items; "value" stands for similarity or distance
    sorts: dict[str, tuple[str, Callable[[Listing], np.ndarray]]]  # the orders, each with its name for people; the first one holds by default


SIMILAR: dict[str, tuple[str, Callable[[Listing], np.ndarray]]] = {
    "least": ("least similar", lambda listing: by(listing.values, falling=listing.value != "similarity")),
    "most": ("most similar", lambda listing: by(listing.values, falling=listing.value == "similarity")),
    "place": ("order of the file", lambda listing: np.arange(len(listing.rows))),
}
#: Each line is two texts with all their passages.
TEXTS = Kind(
    "/pairs",
    "Texts that share passages",
    ("pair of texts", "pairs of texts"),
    ("passages", "equal tokens", "longest"),
    {
        "tokens": ("most equal tokens", lambda listing: by(listing.texts.tokens)),
        "longest": ("longest passage", lambda listing: by(listing.texts.longest)),
        "passages": ("most passages", lambda listing: by(listing.texts.passages)),
        "place": ("order of the file", lambda listing: np.arange(len(listing.texts))),
    },
)
PASSAGES = Kind(
    "/passages",
    "Passages",
    ("passage", "passages"),
    ("equal tokens", "value"),
    {"tokens": ("most equal tokens", lambda listing: by(listing.agreed)), **SIMILAR},
)
PAIRS = Kind("/pairs", "Pairs", ("pair", "pairs"), ("value",), SIMILAR)


class Line(NamedTuple):
    """A line of a list."""

    href: str
    items: tuple[Any, Any]
    figures: Sequence[str]
    text: str  # how the passage begins, or the first item; empty if it cannot be read quickly


class Lists:
    """The pages of a result file that list its rows."""

    def __init__(self, listing: Listing):
        self.listing = self._listing = listing
        self._main = TEXTS if listing.quotes else PAIRS
        self._ordered = cache(lambda path, sort: (PASSAGES if path == PASSAGES.path else self._main).sorts[sort][1](listing))

    def overview(self, _: Request) -> Shown:
        """The first page."""
        listing, kind = self._listing, self._main
        name = next(iter(kind.sorts))
        lines = self._lines(kind, self._order(kind, name, "")[:FIRST], {})
        values: dict[str, Any] = {"here": "/", "headline": self._headline(), "cards": cards(self._cards()), "lines": lines}
        values |= {"chart": None if listing.quotes else spread(listing.values, listing.facts.get("threshold"), listing.value)}
        sides = range(len(listing.record.sides))  # both sides of pairs in one collection have their inputs in common
        entries = [(side, entry) for side in sides for entry in listing.entries[listing.sides[side].name] or ()]
        inputs = [(listing.sides[side].side, entry["source"], str(entry.get("path", "")), self._state(side, entry)) for side, entry in entries[:FEW]]
        values |= {"first": kind.sorts[name][0].capitalize(), "columns": self._columns(kind), "inputs": inputs}
        return Shown("listing.html", values | {"more": len(entries) - len(inputs), "sides": len(sides) > 1})

    def main(self, request: Request) -> Shown:
        """The texts that share passages, two and two, or the pairs."""
        return self._list(self._main, request)

    def passages(self, request: Request) -> Shown:
        """The passages one by one."""
        return self._list(PASSAGES, request)

    def search(self, request: Request) -> Shown:
        """The lines with an id."""
        identity = request.query.get("id", "").strip()
        rows, more = self._of(identity) if identity else ([], False)
        chosen = list(dict.fromkeys(self._listing.text_of[rows].tolist())) if self._listing.quotes else rows
        values = {"here": "/search", "id": identity, "lines": self._lines(self._main, np.array(chosen, np.int64), {}), "more": more}
        return Shown("listing_search.html", values | {"columns": self._columns(self._main)})

    def _of(self, identity: str) -> tuple[list[int], bool]:
        """The first rows in which an item has this id, and whether there are more."""
        rows, sides = self._listing.rows, self._listing.sides
        for spelled in spellings(rows.schema, identity):
            found = [rows.find(side.id, spelled, MOST) for side in sides]
            every = sorted({row for one in found for row in one.rows})
            if every:
                return every[:MOST], len(every) > MOST or any(one.more for one in found)
        return [], False

    def _list(self, kind: Kind, request: Request) -> Shown:
        listing = self._listing
        sort, source = self._asked(kind, request)
        order = self._order(kind, sort, source)
        place = paged(len(order), request)
        names = [*dict.fromkeys(listing.rows.sources)] if listing.placed else []
        values: dict[str, Any] = {
            "here": kind.path,
            "name": kind.title,
            "noun": kind.noun,
            "columns": self._columns(kind),
            "place": place,
            "sort": sort,
        }
        values |= {"source": source}
        values |= {"lines": self._lines(kind, order[place.begin : place.begin + ROWS], {"sort": sort, "source": source})}
        return Shown("list.html", values | {"named": listing.placed, "sorts": kind.sorts, "sources": names if len(names) <= MOST_NAMED else []})

    def around(self, number: int, request: Request) -> dict[str, Any]:
        """The lines before and after one of `main` in the order in which it was listed, and the list."""
        sort, source = self._asked(self._main, request)
        order = self._order(self._main, sort, source)
        place = next(iter(np.flatnonzero(order == number).tolist()), -1)
        next_to = {"previous": place - 1, "next": place + 1 if place >= 0 else -1}
        kept = {"sort": sort, "source": source}
        links = {name: link(f"/pairs/{order[at]}", **kept) if 0 <= at < len(order) else "" for name, at in next_to.items()}
        return {**links, "all": link("/pairs", **kept, page=place // ROWS + 1 if place >= ROWS else None), "kept": kept}

    def _asked(self, kind: Kind, request: Request) -> tuple[str, str]:
        """The order and the source of a request. Raises ProblemError."""
        return request.one_of("sort", kind.sorts, next(iter(kind.sorts))), request.query.get("source", "")

    def _order(self, kind: Kind, sort: str, source: str) -> np.ndarray:
        """The rows, or the numbers of texts, in an order; with a source only those with an item of it. Raises ProblemError for an unknown one."""
        listing = self._listing
        order: np.ndarray = self._ordered(kind.path, sort)
        if not source:
            return order
        sides = listing.sources if listing.placed else ()
        if source not in listing.rows.sources or not sides:
            raise ProblemError(404, f"this result has no source {source!r}")
        there = np.logical_or(*(side == listing.rows.sources.index(source) for side in sides))
        return order[(there[listing.texts.first] if kind is TEXTS else there)[order]]

    def _columns(self, kind: Kind) -> tuple[list[str], list[str]]:
        """The names of the columns of items, and of figures."""
        return [side.noun for side in self._listing.sides], [self._listing.value if name == "value" else name for name in kind.figures]

    def _lines(self, kind: Kind, chosen: np.ndarray, kept: dict[str, str]) -> list[Line]:
        """The lines of some rows, or of some numbers of texts. kept: options of the list that the page of a line gets, too."""
        listing, numbers = self._listing, chosen.tolist()
        left, right = listing.sides
        if kind is TEXTS:
            columns = [
                [count(value) for value in column[chosen].tolist()]
                for column in (listing.texts.passages, listing.texts.tokens, listing.texts.longest)
            ]
            hrefs = [link(f"/pairs/{number}", **kept) for number in numbers]
            numbers = [int(mine[listing.agreed[mine].argmax()]) for mine in map(listing.texts.members, numbers)]  # their longest passages
        else:
            columns = [[count(value) for value in listing.agreed[chosen].tolist()]] if listing.quotes else []
            columns.append([figure(value, listing.value) for value in listing.values[chosen].tolist()])
            hrefs = [self._href(row) if listing.quotes else link(f"/pairs/{row}", **kept) for row in numbers]
        rows = listing.rows.rows(numbers)
        parts = [
            ((row[left.source], row[left.position]), (row[left.start], row[left.end]) if listing.quotes else None) for row in rows if listing.placed
        ]
        texts = listing.beginnings(0, parts) or [""] * len(rows)
        items = [(left.item(row), right.item(row)) for row in rows]
        return [Line(*one) for one in zip(hrefs, items, zip(*columns, strict=True), texts, strict=True)]

    def _href(self, row: int) -> str:
        """The place of a passage on the page of its texts."""
        number = int(self._listing.text_of[row])
        place = int(np.searchsorted(self._listing.texts.members(number), row))
        return f"{link(f'/pairs/{number}', page=place // ROWS + 1 if place >= ROWS else None)}#l{place + 1}"

    def _headline(self) -> str:
        facts, some = self._listing.facts, f"{len(self._listing.rows):,}"
        if self._listing.quotes:
            return f"{counted(len(self._listing.rows), 'passage')} in {self._different(0):,} of {counted(facts['read']['suspects'], 'suspect')}"
        if "queries" in facts:
            return f"{some} neighbors of {counted(facts['queries'], 'query', 'queries')}"
        return f"{counted(len(self._listing.rows), 'pair')} of similar items"

    def _different(self, side: int) -> int:
        """The number of texts of a side that share passages."""
        listing = self._listing
        keys = listing.sources[side], listing.rows.column(listing.sides[side].position)
        return len(grouped([key[listing.texts.first] for key in keys])[1])

    def _cards(self) -> Iterator[Card]:
        """Yield the cards, each with a link to the page that says more."""
        listing, facts = self._listing, self._listing.facts
        if listing.quotes:
            texts, read, quoted = listing.texts, facts["read"]["corpus"], self._different(1)
            yield Card("Passages", f"{len(listing.rows):,}", (f"with {facts['min_run']:,} or more equal tokens in a row",), "/passages")
            yield Card("Texts of the corpus", f"{quoted:,}", (f"{share(quoted, read)} of {read:,}",))
            yield Card("Pairs of texts", f"{len(texts):,}", ("that share passages",), "/pairs")
            yield Card("Longest passage", f"{int(texts.longest.max(initial=0)):,}", ("equal tokens",), "/passages")
            return
        yield Card("Pairs", f"{len(listing.rows):,}", (f"of {counted(facts['read'], 'item')}",), "/pairs")
        limit, recall = facts.get("threshold"), facts.get("recall")
        name = "Maximum distance" if listing.value == "distance" else "Threshold"
        yield Card(name, "none" if limit is None else shown(limit), (f"by {listing.by}",))
        yield Card("Recall", "not known" if recall is None else percent(recall, down=True), ("expected, of the pairs at the limit",))

    def _state(self, side: int, entry: dict[str, Any]) -> str:
        """The state of an input, in words."""
        if "path" not in entry:
            return self._listing.contents(side).why_not(entry["source"])
        if entry["source"] in self._listing.contents(side).far:
            return "at an address: read only if the command names it"
        return "changed or deleted" if self._listing.contents(side).changed([entry["source"]]) else "unchanged"
