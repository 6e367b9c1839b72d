"""Stores of parts beside the store by definition: who meets whom, changes, flushes and merges in any order."""

from __future__ import annotations

from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from likewise.index.memory import MemoryStore
from likewise.index.store import Change, Items
from likewise.stages import candidates
from plain_store import Item, PlainStore, joined

BANDS = 4
FORMS = {
    "full": {"bands": BANDS, "sets": "full", "bits": 64, "slots": 0},
    "compact": {"bands": BANDS, "sets": "compact", "bits": 48, "slots": 0},
    "none": {"bands": BANDS, "sets": "none", "bits": 64, "slots": 5},
}


def content(number: int, form: dict[str, Any]) -> Item:
    """A content by its number: few keys, so that many share one. Number 0 is empty."""
    random = np.random.default_rng(number)
    keys = tuple((random.integers(0, 3, BANDS) << np.array([0, 20, 40, 46][:BANDS])).tolist())
    words = np.unique(random.integers(0, 1 << 48, number % 7, np.uint64)) << np.uint64(16)
    slots = tuple(random.integers(0, 256, form["slots"]).tolist())
    copy = int(random.integers(0, 1 << 63)), int(random.integers(0, 1 << 32))
    return Item(b"", keys, copy, () if form["sets"] == "none" else tuple(words.tolist()), len(words), slots)


def block(ids: list[int], contents: list[int], form: dict[str, Any]) -> Items:
    made = [content(number, form)._replace(id=b"%d" % id_) for id_, number in zip(ids, contents, strict=True)]
    found = joined(made, BANDS)
    return Items(found.ids, found.keys, found.copy, found.size, found.words, found.slots.reshape(len(ids), form["slots"]))


def same(mine: Any, plain: Any, queries: Items) -> None:
    """Views give the same answers."""
    assert (mine.last, len(mine)) == (plain.last, len(plain))
    one, two = mine.members(queries.keys, queries.copy), plain.members(queries.keys, queries.copy)
    assert [*zip(one.query.tolist(), one.content.tolist(), strict=True)] == [*zip(two.query.tolist(), two.content.tolist(), strict=True)]
    assert one.crowded.tolist() == two.crowded.tolist()
    for a, b in zip(mine.contents(one.content), plain.contents(two.content), strict=True):
        assert a.ravel().tolist() == b.ravel().tolist()
    for most in (None, 1, 2):
        assert [each.tolist() for each in mine.copies(one.content, most)] == [each.tolist() for each in plain.copies(two.content, most)]
    for most in (1, 3, 4096):
        for after in (-1, mine.last // 2):
            scanned = [*mine.scan(after, most)]
            assert all(0 < len(numbers) <= most for numbers, _ in scanned)
            got = [(number, item) for numbers, items in scanned for number, item in zip(numbers.tolist(), items_of(items), strict=True)]
            assert got == [(n, item) for numbers, items in plain.scan(after, most) for n, item in zip(numbers.tolist(), items_of(items), strict=True)]
    living = np.array(sorted(plain.items), np.int64)
    assert mine.ids(living) == plain.ids(living)
    wanted = [b"%d" % number for number in range(-1, 30)]
    assert mine.find(wanted).tolist() == plain.find(wanted).tolist()


def items_of(items: Items) -> list[tuple]:
    ends = np.cumsum(items.size, dtype=np.int64) if len(items.words) else np.zeros(len(items), np.int64)
    begins = ends - items.size if len(items.words) else ends
    return [
        (
            items.ids[i],
            items.size[i] and items.keys[i].tolist(),
            items.copy[i].tolist(),
            items.words[int(begins[i]) : int(ends[i])].tolist(),
            items.slots[i].tolist(),
        )
        for i in range(len(items))
    ]


ids = st.integers(0, 25)
change = st.tuples(
    st.just("write"),
    st.lists(st.tuples(ids, st.integers(0, 12)), max_size=6),
    st.sampled_from(["refuse", "skip", "replace", "require"]),
    st.integers(-1, 40) | st.none(),
    st.lists(ids, max_size=3),
)
steps = st.lists(change | st.tuples(st.sampled_from(["flush", "compact", "merge"])), max_size=14)


@given(steps, st.sampled_from(sorted(FORMS)), st.integers(1, 5))
@settings(max_examples=300, deadline=None)
def test_a_store_of_parts_answers_as_the_store_by_definition(steps: list[tuple], name: str, budget: int) -> None:
    form = FORMS[name]
    queries = block(list(range(13)), list(range(13)), form)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "BUDGET", budget)
        mine, plain = MemoryStore(form), PlainStore({}, BANDS, budget=budget)
        for step in steps:
            if step[0] == "write":
                _, rows, existing, after, removed = step
                items = block([id_ for id_, _ in rows], [number for _, number in rows], form)
                made = Change(items, existing, after, [b"%d" % id_ for id_ in removed])
                one, two = mine.write(made), plain.write(made)
                assert one.numbers.tolist() == two.numbers.tolist()
                assert (one.removed, [*one.refused], one.conflict) == (two.removed, [*two.refused], two.conflict)
            elif step[0] == "merge":
                mine._merge(mine.view().parts[:-1])
            else:
                getattr(mine, step[0])()
            same(mine.view(), plain.view(), queries)
