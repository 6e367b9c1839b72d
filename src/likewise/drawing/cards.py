"""Cards: the few numbers at the head of a page."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from likewise.drawing.markup import Html, tag


class Card(NamedTuple):
    """One number with its name, and what to know about it."""

    label: str
    figure: object
    notes: tuple[object, ...] = ()
    href: str | None = None  # where the page says more, such as "#recall"
    urgent: bool = False


def cards(found: Iterable[Card]) -> Html:
    """The cards as a list of terms, which reads well without a style sheet, too."""
    return tag("dl", *(drawn(card) for card in found), class_="cards")


def drawn(card: Card) -> Html:
    """A card."""
    figure = card.figure if card.href is None else tag("a", card.figure, href=card.href)
    notes = (tag("dd", note) for note in card.notes)
    return tag("div", tag("dt", card.label), tag("dd", figure, class_="figure"), *notes, class_="urgent" if card.urgent else None)
