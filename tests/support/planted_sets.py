"""Sets with planted near copies, and what `Index.add_new` may do with them when several writers bring all of them at once."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np

import likewise as lw

THRESHOLD = 0.8
CHOICES: dict[str, Any] = {"by": "elements", "threshold": THRESHOLD, "bands": 12, "rows": 3, "seed": 5}


def planted(seed: int, groups: int) -> list[list[int]]:
    """Groups of sets in any order. In a group each set shares much with the first one, with similarities on both sides of the threshold; some sets
    come twice."""
    draw = random.Random(seed)
    made = []
    for _ in range(groups):
        base = draw.sample(range(1 << 40), 30)
        made.append(base)
        for _ in range(draw.randrange(6)):
            changed = draw.choice((0, 1, 1, 2, 3, 3, 4, 6))
            made.append(base[changed:] + draw.sample(range(1 << 40), changed))
    draw.shuffle(made)
    return made


def similarity(a: Sequence[int], b: Sequence[int]) -> float:
    return len({*a} & {*b}) / len({*a} | {*b})


def batches(seed: int, count: int) -> list[list[int]]:
    """The places of all items in an order of this writer, in batches of one to six."""
    draw = random.Random(f"order {seed}")
    order = draw.sample(range(count), count)
    found = []
    while order:
        size = draw.randint(1, 6)
        found.append(order[:size])
        del order[:size]
    return found


def brought(index: lw.Index, items: Sequence[Sequence[int]], writer: int) -> list[tuple[int, bool, int, float]]:
    """Bring all items to the index in batches. Returns of each its place, if it was added, the id of the similar item, and the similarity."""
    told = []
    for places in batches(writer, len(items)):
        table = index.add_new([items[place] for place in places], ids=places)
        rows = table.to_dicts()
        assert [row["row"] for row in rows] == [*range(len(places))]
        told += [(places[row["row"]], row["added"], row["id"], row["similarity"]) for row in rows]
    return told


def judge(index: lw.Index, items: Sequence[Sequence[int]], told: Sequence[Sequence[tuple[int, bool, int, float]]]) -> int:
    """Assert that the items in the index are those that `add_new` allows, and each answer has its reason. Returns the number of items."""
    keys = index.sketching.items([*items]).keys
    inside = list(index.ids())
    added = [place for answers in told for place, new, *_ in answers if new]
    assert len(added) == len({*added}), "an item was added twice"
    assert sorted(added) == sorted(inside)
    for number, place in enumerate(inside):
        meeting = np.flatnonzero((keys[inside[:number]] == keys[place]).any(1)).tolist()
        for other in meeting:
            assert similarity(items[inside[other]], items[place]) < THRESHOLD, "two similar items that meet were both added"
    present = {*inside}
    for answers in told:
        assert sorted(place for place, *_ in answers) == [*range(len(items))]
        for place, new, other, value in answers:
            if new:
                assert other == place
                continue
            assert other in present, "refused for an item that is not there"
            assert value == similarity(items[place], items[other]) >= THRESHOLD, "refused without a reason"
            assert (keys[place] == keys[other]).any(), "refused for an item that it does not meet"
    return len(inside)
