"""The check that the tests of a damaged or interrupted index use: it must see each way in which an index can be wrong."""

from __future__ import annotations

import random

import pytest

from index_steps import BANDS, SETS, Step, WrongError, check, drawn, states, taking
from plain_store import PlainStore

STEPS = [Step("refuse", (0, 1, 2, 3, 4), 1), Step("replace", (1,), 2), Step("remove", (2,)), Step("skip", (0, 5), 3), Step("exchange", (6,), 4, (5,))]
LEFT = {0: 1, 1: 2, 3: 1, 4: 1, 6: 4}


def held(sets: str, many: int = len(STEPS)) -> PlainStore:
    store = PlainStore(SETS[sets], BANDS)
    taking(store, STEPS[:many], sets, lambda line: None)
    return store


@pytest.mark.parametrize("sets", SETS)
def test_the_items_after_the_acknowledged_steps_or_one_more_are_right(sets):
    assert states(STEPS)[-1] == LEFT
    assert dict(check(held(sets).view(), sets, [STEPS], [5])) == LEFT
    assert dict(check(held(sets).view(), sets, [STEPS], [4])) == LEFT
    for many in (3, 6):
        with pytest.raises(WrongError, match="was acknowledged"):
            check(held(sets).view(), sets, [[*STEPS, Step("remove", (0,))]], [many])


def test_what_is_wrong_is_seen():
    sets = "full"
    numbers = {item.id: number for number, item in held(sets).items.items()}

    def wrong(change):
        view = held(sets).view()
        change(view)
        with pytest.raises(WrongError):
            check(view, sets, [STEPS], [5])

    def altered(view, **how):
        view.items[numbers[b"3"]] = view.items[numbers[b"3"]]._replace(**how)

    wrong(lambda view: view.items.pop(numbers[b"3"]))  # lost
    wrong(lambda view: view.items.update({99: held(sets, 2).items[2]}))  # item 2 comes back
    wrong(lambda view: view.items.update({99: view.items[numbers[b"3"]]}))  # twice
    wrong(lambda view: altered(view, words=(1, 2, 3), size=3))
    wrong(lambda view: altered(view, keys=(1, 2, 3, 4)))
    wrong(lambda view: altered(view, copy=(1, 1)))
    wrong(lambda view: altered(view, id=b"77"))
    members, find, copies = PlainStore.view(held(sets)).members, PlainStore.view(held(sets)).find, PlainStore.view(held(sets)).copies
    wrong(lambda view: setattr(view, "members", lambda keys, copy: type(found := members(keys, copy))(*(part[:-1] for part in found[:2]), found[2])))
    wrong(lambda view: setattr(view, "find", lambda ids: find(ids) * 0 - 1))
    wrong(lambda view: setattr(view, "copies", lambda some: copies(some[::-1])))


def test_writers_of_disjoint_items_are_judged_apart():
    draw = random.Random(3)
    both = [drawn(draw, 0, 12, tidy=False), drawn(draw, 1000, 12, tidy=False)]
    store = PlainStore(SETS["full"], BANDS)
    for steps, many in zip(both, (7, 11), strict=True):
        taking(store, steps[:many], "full", lambda line: None)
    check(store.view(), "full", both, [7, 11])
    check(store.view(), "full", both, [6, 11])
    with pytest.raises(WrongError):
        check(store.view(), "full", both, [4, 11])
