"""Texts, cut into shingles: what is compared is the set of them."""

from __future__ import annotations

from likewise.kinds.kind import Kind
from likewise.kinds.sets import ELEMENTS


class Texts(Kind):
    """Texts as sets of shingles."""

    name, noun, item = "texts", "text", "a text"
    field = payload = holds = "text"
    cut = ELEMENTS


KIND = Texts()
