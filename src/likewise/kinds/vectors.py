"""Vectors of numbers."""

from __future__ import annotations

from typing import Any

from likewise.kinds import sparse
from likewise.kinds.kind import ASKED, TARGET, Kind, MeasureFacts

COSINE = MeasureFacts(
    "cosine",
    "likewise.measures.cosine:cosine",
    "the cosine of the angle between them, whatever their lengths: 1 is one direction, 0 a right angle, -1 the opposite",
    empty="of zeros only",
    real=True,
    directed=True,
    instead="a cosine is no distance; give --threshold, or --by angle --within DEGREES",
)
ANGLE = MeasureFacts(
    "angle",
    "likewise.measures.cosine:angle",
    "the angle between them in degrees, whatever their lengths: 0 is one direction, 90 a right angle, 180 the opposite",
    units=("degree", "degrees"),
    empty="of zeros only",
    distance=True,
    directed=True,
)
L1 = MeasureFacts(
    "l1",
    "likewise.measures.norms:l1",
    "the sum of the differences of their numbers, each without its sign (L1)",
    distance=True,
    also=("manhattan", "cityblock"),
)
L2 = MeasureFacts(
    "l2",
    "likewise.measures.norms:l2",
    "the square root of the sum of the squared differences of their numbers (L2, Euclid's)",
    distance=True,
    also=("euclidean",),
)
LINF = MeasureFacts("linf", "likewise.measures.norms:linf", distance=True, also=("chebyshev",))
#: L_r of any other order of 1 or more: l3, l2.5.
LR = MeasureFacts("lr", "likewise.measures.norms:lr", distance=True, order=r"l(\d+(?:\.\d+)?)")


class Vectors(Kind):
    """Vectors, all of one dimension."""

    name, noun, item = "vectors", "vector", "a vector"
    field = payload = holds = "vector"
    measures = (COSINE, ANGLE, L1, L2, LINF, LR)
    bands, recall = ASKED, TARGET
    needs_data = True

    def seen(self, facts: Any) -> Kind:
        return sparse.KIND if facts.sparse else self


KIND = Vectors()
