"""Sets of elements with weights."""

from __future__ import annotations

from likewise.kinds.kind import Kind, MeasureFacts

WEIGHTED = MeasureFacts(
    "weighted",
    "likewise.measures.weighted_jaccard:weighted_jaccard",
    "their weighted Jaccard similarity: the lesser weights of the elements, summed, divided by the sum of the greater; 1 is equal",
    parts="elements",
    real=True,
)


class WeightedSets(Kind):
    """Maps from element to weight."""

    name, noun, item = "weighted sets", "weighted set", "a set of elements with weights"
    field = holds = "elements"
    payload = "weighted"
    measures = (WEIGHTED,)


KIND = WeightedSets()
