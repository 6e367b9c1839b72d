"""Steps that change an index by the protocol of stores, and the check that all acknowledged ones are in it, and nothing else.

Items are known by their number and version: the same pair always has the same keys and words. Some are copies, some share a part of their keys, and
one in eleven is empty.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from likewise.index.store import Change, Items, Store, View
from plain_store import Item, PlainStore, joined, parted

BANDS = 4
SETS: dict[str, dict[str, Any]] = {
    "full": {"bands": BANDS, "sets": "full", "bits": 64, "slots": 0},
    "compact": {"bands": BANDS, "sets": "compact", "bits": 48, "slots": 0},
    "none": {"bands": BANDS, "sets": "none", "bits": 8, "slots": 12},
}


@cache
def item(number: int, version: int, sets: str) -> Item:
    """An item with the number as its id."""
    own = number - (number % 5 == 4)  # a copy of the one before it
    draw = random.Random(f"{own} {version}")
    keys = [draw.getrandbits(48) for _ in range(BANDS)]
    if own % 5 == 2:
        keys[:2] = item(own - 1, version, sets).keys[:2]
    size = 0 if own % 11 == 10 else draw.randint(10, 60)
    keys = keys if size else [0] * BANDS  # stores need not keep those of empty items
    words = sorted({draw.getrandbits(48) << 16 for _ in range(size)})
    slots = [draw.randrange(256) for _ in range(12)]
    copy = draw.getrandbits(64), draw.getrandbits(32)
    return Item(b"%d" % number, tuple(keys), copy, tuple(words) if sets != "none" else (), len(words), tuple(slots) if sets == "none" else ())


def items(numbers: Iterable[int], version: int, sets: str) -> Items:
    found = [item(number, version, sets) for number in numbers]
    made = joined(found, BANDS)
    slots = np.array([one.slots for one in found], np.uint8).reshape(len(found), SETS[sets]["slots"])
    return Items(made.ids, made.keys, made.copy, made.size, made.words, slots)


class Step(NamedTuple):
    """A step: "refuse", "skip" or "replace" items (`Change.existing`), "remove" them, "exchange" (remove some and add as many new ones at once), or
    "flush" and "compact", which change no item."""

    what: str
    numbers: tuple[int, ...] = ()
    version: int = 0
    gone: tuple[int, ...] = ()

    def take(self, store: Store, sets: str) -> None:
        if self.what in ("flush", "compact"):
            getattr(store, self.what)()
            return
        removed = [b"%d" % number for number in (self.numbers if self.what == "remove" else self.gone)]
        added = () if self.what == "remove" else self.numbers
        existing = self.what if self.what in ("skip", "replace") else "refuse"
        outcome = store.write(Change(items(added, self.version, sets), existing, remove=removed))  # type: ignore[arg-type]
        assert not outcome.refused, (self, outcome)
        assert not outcome.conflict, (self, outcome)

    def known(self, living: dict[int, int]) -> dict[int, int]:
        """The living items after the step, number -> version."""
        left = {number: version for number, version in living.items() if number not in self.gone}
        if self.what == "remove":
            return {number: version for number, version in left.items() if number not in self.numbers}
        added = dict.fromkeys(self.numbers, self.version)
        return added | left if self.what == "skip" else left | added


def drawn(draw: random.Random, first: int, many: int, *, before: Sequence[Step] = (), tidy: bool = True) -> list[Step]:
    """Steps over numbers from ``first`` on, after others over these, each of which is allowed when it comes."""
    steps, living = list(before), states(before)[-1]
    free = max((number + 1 for step in before for number in step.numbers), default=first)
    for version in range(len(before) + 1, len(before) + many + 1):
        some = tuple(sorted(draw.sample(sorted(living), min(len(living), draw.randint(1, 3)))))
        new = tuple(range(free, free + draw.randint(1, 4)))
        choices = [Step("refuse", new, version)] * 4
        if some:
            choices += [Step("remove", some), Step("replace", some, version), Step("exchange", new, version, some), Step("skip", some + new, version)]
        if tidy:
            choices += [Step("flush"), Step("compact")]
        steps.append(draw.choice(choices))
        free = max(free, *(number + 1 for number in steps[-1].numbers)) if steps[-1].numbers else free
        living = steps[-1].known(living)
    return steps


def states(steps: Sequence[Step]) -> list[dict[int, int]]:
    """The living items before and after each step."""
    found: list[dict[int, int]] = [{}]
    for step in steps:
        found.append(step.known(found[-1]))
    return found


# --- the check


class WrongError(AssertionError):
    """An index holds other items, or answers in another way, than it must."""


@cache
def contents(written: tuple[tuple[Step, ...], ...], sets: str) -> dict[Item, tuple[int, int]]:
    """All items that the steps of some writers write -> their numbers and versions."""
    return {item(number, step.version, sets): (number, step.version) for steps in written for step in steps for number in step.numbers}


def living(view: View, sets: str, written: Sequence[Sequence[Step]]) -> list[tuple[int, int]]:
    """The items in order of arrival: number and version. Raises WrongError for one whose content no step wrote under its id."""
    known, found = contents(tuple(map(tuple, written)), sets), []
    for _, block in view.scan():
        for one in parted(block):
            if one not in known:
                raise WrongError(f"the content of {one.id!r} was never written")
            found.append(known[one])
    if len({number for number, _ in found}) < len(found):
        raise WrongError(f"an id is there twice: {found}")
    return found


def check(view: View, sets: str, written: Sequence[Sequence[Step]], acknowledged: Sequence[int]) -> list[tuple[int, int]]:
    """Raise WrongError unless the items of each writer are those after its acknowledged steps, or after one step more, and the view answers like a
    plain store with these items. Returns the items.

    written: by writer, its steps. acknowledged: by writer, how many of them.
    """
    found = living(view, sets, written)
    rest = dict(found)
    for steps, many in zip(written, acknowledged, strict=True):
        own = {number for step in steps for number in step.numbers}
        mine = {number: rest.pop(number) for number in list(rest) if number in own}
        allowed = states(steps)[many : many + 2]
        if mine not in allowed:
            raise WrongError(f"items {mine} are there, and {' or '.join(map(str, allowed))} was acknowledged")
    if rest:
        raise WrongError(f"items that nobody wrote: {rest}")
    if len(view) != len(found):
        raise WrongError(f"{len(view)} items are counted, and {len(found)} are there")
    asked = tuple(sorted({number for steps in written for step in steps for number in step.numbers}))
    if (said := answers(view, asked, sets)) != (right := expected(tuple(found), asked, sets)):
        raise WrongError(f"answers {said}, and {right} is right")
    return found


@cache
def expected(found: tuple[tuple[int, int], ...], asked: tuple[int, ...], sets: str) -> dict[str, Any]:
    plain = PlainStore(SETS[sets], BANDS)
    for number, version in found:
        plain.write(Change(items([number], version, sets)))
    return answers(plain.view(), asked, sets)


def answers(view: View, asked: Sequence[int], sets: str) -> dict[str, Any]:
    """The answers of a view about these items in their first versions, and about all living ones, without the numbers that a store gives."""
    queries = items(asked, 1, sets)
    own = [block for _, block in view.scan()]
    keys = np.concatenate([queries.keys, *(block.keys for block in own)])
    copy = np.concatenate([queries.copy, *(block.copy for block in own)])
    met = view.members(keys, copy)
    contents = view.contents(met.content)
    offsets, copies = view.copies(met.content)
    ids = view.ids(copies)
    listed = [tuple(ids[low:high]) for low, high in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    words = np.split(contents.words, np.cumsum(contents.size)[:-1]) if len(contents.words) else [()] * len(contents.size)
    described = zip(
        met.query.tolist(), map(tuple, contents.copy.tolist()), contents.size.tolist(), (tuple(map(int, some)) for some in words),
        map(tuple, contents.slots.tolist()), listed, strict=True,
    )  # fmt: skip
    return {
        "met": sorted(set(described)),
        "crowded": np.flatnonzero(met.crowded).tolist(),
        "there": [number for number, found in zip(asked, view.find([b"%d" % number for number in asked]).tolist(), strict=True) if found >= 0],
    }


def taking(store: Store, steps: Sequence[Step], sets: str, say: Callable[[str], object]) -> None:
    """Take steps one after the other, and acknowledge each."""
    for number, step in enumerate(steps):
        step.take(store, sets)
        say(f"{number}")
