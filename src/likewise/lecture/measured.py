"""The curve of a family or of a plan, measured on given items."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from likewise import methods
from likewise.errors import UsageError
from likewise.families import from_plan
from likewise.families.family import Amplified, Family
from likewise.measures.similarity import values_of
from likewise.messages import quoted
from likewise.planning import Plan

#: Maximum number of items, of which all pairs are compared.
MOST_ITEMS = 500
#: The measure in words, as curves name it -> the same as ``by``.
BY = {
    "Jaccard similarity": "elements",
    "weighted Jaccard similarity": "weighted",
    "cosine": "cosine",
    "angle in degrees": "angle",
    "L2 distance": "l2",
    "L1 distance": "l1",
    "Hamming distance": "hamming",
}


def measured(curve: Family | Amplified | Plan, items: Iterable[Any], steps: int = 10) -> list[tuple[float, float]]:
    """Points for ``svg(points=...)`` and ``plot``: how often pairs of these items agree, by their exact similarity or distance.

    curve: a family, of whose slots the share that agree is measured; or an amplified family or a plan, of which the share of pairs that agree is.
    items: up to 500, as for the family's `signature`; texts as ``[shingles(text) for text in texts]``. All pairs are compared, and those within the
    chart are divided by their value into ``steps`` of equal width. A point is the mean value of the pairs in a step, and the mean of their shares.
    Raises UsageError for fewer than two items, for too many, for items that the family does not take, and for fewer than one step.

    >>> from likewise.families import MinHash
    >>> sets = [range(start, start + 100) for start in range(0, 100, 5)]
    >>> points = measured(MinHash(400), sets, steps=4)
    >>> all(abs(share - similarity) < 0.05 for similarity, share in points)
    True
    """
    if not isinstance(curve, Family | Amplified | Plan):
        raise UsageError(f"measured({quoted(curve)}): give a family, a construction of AND and OR, or a plan")
    family = from_plan(curve).all_of(curve.rows).any_of(curve.bands) if isinstance(curve, Plan) else curve
    agreement = family.agree if isinstance(family, Amplified) else family.agreement
    rows = list(items)
    if not 2 <= len(rows) <= MOST_ITEMS:
        raise UsageError(f"{len(rows):,} items: give 2 to {MOST_ITEMS}; all pairs of them are compared")
    if steps < 1:
        raise UsageError(f"{steps} steps: give 1 or more")
    signatures = family.signature(items if hasattr(items, "shape") else rows)
    low, high = curve.chart((), (), None).span
    method, found = methods.parse(BY[curve.collision.measure]), []
    for place, row in enumerate(rows[:-1]):
        others = rows[place + 1 :]
        values = values_of(method, [row] * len(others), others).tolist()
        shares = agreement(signatures[place], signatures[place + 1 :]).tolist()
        found += [(value, share) for value, share in zip(values, shares, strict=True) if low <= value <= high]  # not NaN, of empty items
    return means(sorted(found), steps)


def means(points: list[tuple[float, float]], steps: int) -> list[tuple[float, float]]:
    """The mean of the points in each step that has any; points in ascending order.

    >>> means([(0.0, 1.0), (0.2, 0.0), (1.0, 0.5)], 2)
    [(0.1, 0.5), (1.0, 0.5)]
    """
    if not points:
        return []
    low, width = points[0][0], (points[-1][0] - points[0][0]) / steps or 1.0
    within: dict[int, list[tuple[float, float]]] = {}
    for point in points:
        within.setdefault(min(int((point[0] - low) / width), steps - 1), []).append(point)
    return [(math.fsum(v for v, _ in each) / len(each), math.fsum(s for _, s in each) / len(each)) for each in within.values()]
