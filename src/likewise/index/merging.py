"""The rule by which the newest items of an index become a segment, and segments become fewer; `embedded` and `memory` share it."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.index import segment as segments
from likewise.index.parts import Parts
from likewise.index.segment import Segment

#: The tail becomes a segment when it has this many items, or bytes.
TAIL, TAIL_BYTES = 8192, 16 << 20
#: Segments beyond this number are merged.
SEGMENTS = 8


def full(items: int, nbytes: int, times: int = 1) -> bool:
    """True if a tail is to become a segment, or is so many times as large."""
    return items >= times * TAIL or nbytes >= times * TAIL_BYTES


def named(view: Parts) -> list[Segment]:
    """The segments of a view, in order."""
    return [part for part in view.parts if isinstance(part, Segment)]


def due(view: Parts) -> list[Segment]:
    """The segments of a view to merge next."""
    found = named(view)
    begin, end = to_merge([one.items for one in found], [view.removed_of(one) for one in found])
    return found[begin:end]


def to_merge(items: Sequence[int], removed: Sequence[int]) -> tuple[int, int]:
    """The neighbors to merge among some segments, from one place to another: none if these are equal.

    A segment of which more than a quarter was removed is written again alone. If there are too many segments, the newest are merged, with each older
    one that has no more items than those after it. So in 1,000 flushes an item is written again fewer than five times.
    """
    for place, (count, gone) in enumerate(zip(items, removed, strict=True)):
        if 4 * gone > count:
            return place, place + 1
    begin, end = max(0, len(items) - 2), len(items)
    if end <= SEGMENTS or sum(items[begin:]) > segments.MOST:
        return end, end
    while begin and items[begin - 1] <= sum(items[begin:]) <= segments.MOST - items[begin - 1]:
        begin -= 1
    return begin, end
