"""Sets of elements."""

from __future__ import annotations

from likewise.kinds.kind import Kind, MeasureFacts

ELEMENTS = MeasureFacts(
    "elements",
    "likewise.measures.jaccard:jaccard",
    "the Jaccard similarity of these sets: what both hold, divided by what either holds; 1 is equal, 0 has nothing in common",
    parts="elements",
    containment="likewise.measures.containment:containment",
    also=("jaccard",),
)


class Sets(Kind):
    """Sets of whole numbers and strings, as sets of words of 64 bits."""

    name, noun, item = "sets", "set", "a set of elements"
    field = payload = holds = "elements"
    measures = (ELEMENTS,)
    weighed = grouped = True


KIND = Sets()
