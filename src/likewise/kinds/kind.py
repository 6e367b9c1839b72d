"""What is declared of a kind of item, and of each measure of it. Loads neither numpy nor Arrow: `lw.plan()` and ``--help`` read it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Where items meet in bands: where a plan makes them, where the user asks for bands, or never, because items are always joined.
PLANNED, ASKED, NEVER = "planned", "asked", "never"
#: With what chance a join that is not asked to miss none finds a pair at the limit: surely, with that of --recall, or with none that is known.
EXACT, TARGET, NOT_PROMISED = "exact", "target", "not promised"


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """One measure of a kind of item."""

    name: str  # as in ``by=``
    function: str  # "module:function": the exact values of two batches, item by item
    value: str = ""  # the value of two items, in words, for reports
    units: tuple[str, str] = ("", "")  # of one, and of several
    empty: str = "empty"  # items that hold nothing that could be compared, in words
    parts: str = ""  # what an item is made of, where a plan counts them
    distance: bool = False  # small values are similar
    real: bool = False  # similarities are no ratios of counts
    directed: bool = False  # of vectors only the direction counts, which a zero vector has not
    order: str = ""  # pattern of further names, whose group is the order of the measure; no item is then found by it under its own name
    containment: str = ""  # "module:function" of NAME/containment
    becomes: tuple[str, str] | None = None  # the kind that is made of items, and the measure that compares what is made
    also: tuple[str, ...] = ()  # its names elsewhere, for a hint
    instead: str = ""  # for a similarity that no --within goes with: what to give


class Kind:
    """A kind of item: how it is named, read, sketched, compared, joined, searched and shown. One object in one file."""

    name: str  # of many: "codes"
    noun: str  # of one: "code"
    item: str  # of one, for reports: "a code of bits"
    field: str  # the column that holds it, where none is named
    payload: str  # what readers give of a row (records.PAYLOADS)
    holds: str  # what a row holds, where a message says that it does not
    measures: tuple[MeasureFacts, ...] = ()
    cut: MeasureFacts | None = None  # the measure of the sets that items are cut into; None: they are compared as they are
    unit: str = ""  # the one unit that they are cut by; empty: any other
    bands: str = PLANNED  # or ASKED, or NEVER
    recall: str = EXACT  # of its join; or TARGET, or NOT_PROMISED
    weighed: bool = False  # costs decide between a join and bands, where neither was asked for
    searched: bool = True  # neighbours are looked for
    grouped: bool = False  # elements may stand in groups
    needs_data: bool = False  # a plan depends on how many numbers, or bits, an item has
    sparse: bool = False  # vectors of which only what is not 0 is kept

    def seen(self, facts: Any) -> Kind:
        """The kind that items turn out to be, once `planning.Facts` are known."""
        return self
