"""Every store against the store by definition: the same changes have the same outcomes, and each view, also an old one, shows the same items."""

from __future__ import annotations

import tempfile
from pathlib import Path
from threading import Thread

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from index_stores import BANDS, STORES, made, settings_for
from likewise.index import opened
from likewise.index.store import Change, Items, View
from likewise.stages import candidates
from plain_store import PlainStore, PlainView, parted

IDS = [b'"%c"' % letter for letter in b"abcdefgh"] + [b"1", b'"1"', '"é"'.encode(), b"-18446744073709551615"]
QUERIES = made(range(40), [b"0"] * 40, "full")
FIELDS = ("keys", "copy", "size", "words", "slots")


class Machine(RuleBasedStateMachine):
    """A store beside the one by definition."""

    store_name, sets, budget = "plain", "full", candidates.BUDGET

    def __init__(self) -> None:
        super().__init__()
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(candidates, "BUDGET", self.budget)
        self.folder = tempfile.TemporaryDirectory()
        self.place = STORES[self.store_name]
        self.store = self.place.create(settings_for(self.sets), Path(self.folder.name))
        self.plain = PlainStore({}, BANDS, budget=self.budget)
        self.numbers: dict[int, int] = {}  # of the store -> of the one by definition
        self.old: list[tuple[View, PlainView]] = []

    def teardown(self) -> None:
        self.store.close()
        self.folder.cleanup()
        self.patch.undo()

    @initialize(contents=st.lists(st.integers(0, 30), max_size=60))
    def load(self, contents):
        ids = [b"%d" % (1000 + place) for place in range(len(contents))]
        blocks = [made(contents[begin : begin + 13], ids[begin : begin + 13], self.sets) for begin in range(0, len(contents), 13)]
        assert self.store.load(iter(blocks)) == self.plain.load(iter(blocks)) == len(contents)
        found = self.store.view().find(ids).tolist()
        self.numbers |= dict(zip(found, self.plain.view().find(ids).tolist(), strict=True))

    @rule(
        items=st.lists(st.tuples(st.sampled_from(IDS), st.integers(0, 30)), max_size=12),
        remove=st.lists(st.sampled_from([*IDS, b"1000", b"1003", b"1007", b"9"]), max_size=4),
        existing=st.sampled_from(["refuse", "skip", "replace", "require"]),
        ago=st.none() | st.integers(0, 20),
    )
    def write(self, items, remove, existing, ago):
        batch = made([content for _, content in items], [one for one, _ in items], self.sets)
        mine, yours = self.store.view().last, self.plain.view().last
        after = (None, None)
        if ago is not None:  # the same moment in the numbers of both
            known = sorted(self.numbers)
            at = known[-1 - ago] if ago < len(known) else -1
            after = (at, self.numbers.get(at, -1))
        found = self.store.write(Change(batch, existing, after[0], remove))
        wanted = self.plain.write(Change(batch, existing, after[1], remove))
        assert found.conflict == wanted.conflict and list(found.refused) == list(wanted.refused)
        if not found.conflict and not found.refused:
            assert found.removed == wanted.removed
        added = found.numbers >= 0
        assert np.array_equal(added, wanted.numbers >= 0) and (np.diff(found.numbers[added]) > 0).all() and (found.numbers[added] > mine).all()
        self.numbers |= dict(zip(found.numbers[added].tolist(), wanted.numbers[added].tolist(), strict=True))
        assert self.store.view().last >= max(mine, found.numbers.max(initial=-1)) and self.plain.view().last >= yours

    @rule()
    def flush(self):
        self.store.flush()

    @rule()
    def compact(self):
        self.store.compact()

    @rule()
    def check(self):
        assert self.store.check() == []

    @rule()
    def reopen(self):
        if self.place.reopen is not None:
            self.old.clear()
            self.store = self.place.reopen(self.store, Path(self.folder.name))

    @rule()
    def keep(self):
        """Keep a view: what comes later does not show in it."""
        if not self.place.kept:
            return
        self.old = [*self.old[-1:], (self.store.view(), self.plain.view())]

    @rule()
    def look_back(self):
        for mine, yours in self.old:
            self.compare(mine, yours)

    @invariant()
    def same(self):
        self.compare(self.store.view(), self.plain.view())

    def compare(self, mine: View, yours: PlainView) -> None:
        assert len(mine) == len(yours)
        ids = [*IDS, *(b"%d" % number for number in range(1000, 1060)), b'"absent"']
        assert [self.numbers.get(number, -1) for number in mine.find(ids).tolist()] == yours.find(ids).tolist()
        self.compare_scan(mine, yours)
        self.compare_members(mine, yours)

    def compare_scan(self, mine: View, yours: PlainView) -> None:
        blocks = list(mine.scan(most=7))
        numbers = [number for block, _ in blocks for number in block.tolist()]
        assert [self.numbers[number] for number in numbers] == sorted(yours.items) and numbers == sorted(numbers)
        assert [item for _, items in blocks for item in parted(items)] == [item for _, item in sorted(yours.items.items())]
        assert mine.ids(np.array(numbers, np.int64)) == [item.id for _, item in sorted(yours.items.items())]
        half = numbers[len(numbers) // 2] if numbers else -1
        assert [number for block, _ in mine.scan(half) for number in block.tolist()] == [number for number in numbers if number > half]

    def compare_members(self, mine: View, yours: PlainView) -> None:
        found, wanted = mine.members(QUERIES.keys, QUERIES.copy), yours.members(QUERIES.keys, QUERIES.copy)
        first = {number: min(n for n, item in yours.items.items() if item.copy == yours.items[number].copy) for number in yours.items}
        pairs = list(zip(found.query.tolist(), found.content.tolist(), strict=True))
        named = [(query, first[self.numbers[content]]) for query, content in pairs]
        assert pairs == sorted(set(pairs))
        assert {*named} == {*zip(wanted.query.tolist(), wanted.content.tolist(), strict=True)}
        assert found.crowded.dtype == bool and not (wanted.crowded & ~found.crowded).any()
        if len(first) < self.budget:
            assert not found.crowded.any()
        self.compare_contents(mine, yours, found.content)

    def compare_contents(self, mine: View, yours: PlainView, numbers: np.ndarray) -> None:
        own = np.array([self.numbers[number] for number in numbers.tolist()], np.int64)
        found, wanted = mine.contents(numbers), yours.contents(own)
        assert np.array_equal(found.copy, wanted.copy) and np.array_equal(found.size, wanted.size)
        assert np.array_equal(found.words, wanted.words) and np.array_equal(found.slots.ravel(), wanted.slots.ravel())
        (ends, copies), (right, others) = mine.copies(numbers), yours.copies(own)
        for place in range(len(own)):  # the copies that a part of a store keeps, or all: together each content has all of its copies
            here = [self.numbers[number] for number in copies[ends[place] : ends[place + 1]].tolist()]
            assert here == sorted(set(here)) and {*here} <= {*others[right[place] : right[place + 1]].tolist()}
        assert {self.numbers[number] for number in copies.tolist()} == {*others.tolist()}


def test_every_store_has_a_place():
    """A new store takes part in these tests, and in those of other files, once its place is in `index_stores.STORES`."""
    assert {*opened.SCHEMES.values()} <= {*STORES}


@pytest.mark.parametrize("budget", [3, 128])
@pytest.mark.parametrize("sets", ["full", "compact", "none"])
@pytest.mark.parametrize("name", STORES)
def test_a_store_does_what_the_one_by_definition_does(name, sets, budget, scaled):
    machine = type("StoreMachine", (Machine,), {"store_name": name, "sets": sets, "budget": budget})
    run_state_machine_as_test(machine, settings=settings(max_examples=scaled(100, 8), stateful_step_count=20, deadline=None))


@pytest.mark.parametrize("name", STORES)
def test_each_view_of_a_store_under_threads_has_whole_changes_only(name, tmp_path):
    """Four threads write pairs of items and remove pairs; readers see both of each or neither."""
    store = STORES[name].create(settings_for("full"), tmp_path)
    wrong: list[object] = []

    def write(own: int) -> None:
        for step in range(30):
            ids = [b"%d" % (own * 1000 + step * 2 + side) for side in (0, 1)]
            store.write(Change(made([own + 1, step + 40], ids, "full")))
            if step % 3 == 0:
                store.write(Change(made([], [], "full"), remove=ids))

    def read() -> None:
        while any(thread.is_alive() for thread in writers):
            view = store.view()
            found = view.find([b"%d" % number for number in range(4000)]) >= 0
            missing = len(view) - found.sum()
            if not np.array_equal(found[::2], found[1::2]) or missing < 0 or (missing and STORES[name].kept):
                wrong.append(found)

    writers = [Thread(target=write, args=[own]) for own in range(4)]
    readers = [Thread(target=read) for _ in range(2)]
    for thread in (*writers, *readers):
        thread.start()
    for thread in (*writers, *readers):
        thread.join()
    assert not wrong and len(store.view()) == 4 * 20 * 2
    store.close()


def test_items_keep_their_fields():
    """The suite itself: made items of equal content are copies, and those of others are not."""
    one: Items = made([5, 6, 5], [b"1", b"2", b"3"], "full")
    assert all(np.array_equal(getattr(made([5], [b"1"], "full"), name)[0], getattr(one, name)[0]) for name in FIELDS if name != "slots")
    assert np.array_equal(one.copy[0], one.copy[2]) and not np.array_equal(one.copy[0], one.copy[1])
