"""Items that are added only if nothing similar is in the index: the decision about each of a batch, and its writing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from likewise.index import ids as names
from likewise.index.answers import Comparison, Matches
from likewise.index.store import Change, Items, Store, View
from likewise.messages import option
from likewise.stages import candidates

#: Pairs of items that share a key, counted in each band, which are listed at once: of more, the first items are decided and written alone.
PAIRS = 1 << 17


class Arrived(NamedTuple):
    """The outcome of a batch."""

    added: np.ndarray  # bool[n]
    matches: Matches  # by item: the most similar ones of each that was not added, and itself, with the value NaN, for one that was or is left out
    ids: list[bytes]  # of the matches


class Looked(NamedTuple):
    """The decision about the first items of a batch."""

    new: np.ndarray  # bool[m]
    similar: Matches  # the similar contents of the view, by item
    inside: Matches  # the similar items before it in the batch: pairs of places


def add_new(
    store: Store, comparison: Comparison, items: Items, k: int, *, skip: bool = False, numbered: Callable[[int], Sequence[bytes]] | None = None
) -> Arrived:
    """Add the new ones among items in their order. k: how many matches of the others are wanted. skip: an item whose id is there is left out, and
    has itself as its match, with the value NaN; else ids are given once. numbered: draws ids, if the items have none.

    A decision is written only if nothing that could change it came meanwhile; else the index is looked at again. Raises IdError for the id of a
    new item that is there, unless skip: it says which items before it were added.
    """
    n, begin, window = len(items), 0, len(items)
    added = np.zeros(n, bool)
    parts: list[Matches] = []
    named: dict[int, bytes] = {}
    while begin < n:
        view = store.view()
        here = items.at(np.arange(begin, min(begin + window, n)))
        if numbered is not None:
            here = replace(here, ids=numbered(len(here)))
        if skip and (again := names.repeated(here.ids)):
            here = here.at(np.arange(again[0]))
        numbers = view.find(here.ids) if skip else np.full(len(here), -1)
        rest = np.flatnonzero(numbers < 0)  # those that are not left out
        found = look(view, comparison, here if len(rest) == len(here) else here.at(rest))
        end = len(here) if len(found.new) == len(rest) else int(rest[len(found.new)])
        new = rest[: len(found.new)][found.new]
        if len(new):
            outcome = store.write(Change(here.at(new), after=view.last))
            if outcome.conflict or (outcome.refused and (skip or numbered is not None)):
                continue
            if (view.find([here.ids[new[place]] for place in outcome.refused]) < 0).any():  # the same item came meanwhile
                continue
            if outcome.refused:
                rows = [begin + int(new[place]) for place in outcome.refused]
                written = f"the items before row {begin} were added if they are new" if begin else "nothing was written"
                instead = f"give such items other ids, leave them out with {option('existing', 'skip')}, or call update to replace them; {written}"
                raise names.refused(items.ids, rows, there=True, instead=instead)
            numbers[new] = outcome.numbers
        matches = listed(view, comparison, found, rest, numbers[:end], k)
        known = {int(number): here.ids[place] for place, number in enumerate(numbers[:end].tolist()) if number >= 0}
        others = np.array([number for number in np.unique(matches.number).tolist() if number not in known], np.int64)
        named |= known | dict(zip(others.tolist(), view.ids(others), strict=True))
        added[begin + new] = True
        parts.append(matches._replace(query=matches.query + begin))
        begin, window = begin + end, 2 * end
    whole = Matches(
        *(
            np.concatenate([np.zeros(0, dtype), *each])
            for dtype, each in zip(("i8", "i8", "f8"), zip(*parts, strict=True) if parts else [()] * 3, strict=True)
        )
    )
    return Arrived(added, whole, [named[number] for number in whole.number.tolist()])


def look(view: View, comparison: Comparison, items: Items) -> Looked:
    """Decide about the first of the items, up to one whose bucket may be overfull together with new items before it: those must be written first."""
    items, earlier, later = sharing(items)
    similar, met, crowded = comparison.matches(view, items)
    value = comparison.values(items, items, later, earlier)
    old = np.zeros(len(items), bool)
    old[similar.query] = True
    new = ~old
    before: dict[int, list[tuple[int, bool]]] = {}
    for i, j, near in zip(earlier.tolist(), later.tolist(), (value == value).tolist(), strict=True):
        before.setdefault(j, []).append((i, near))
    end = len(items)
    for j in sorted(before):
        written = [(i, near) for i, near in before[j] if new[i]]
        if written and (crowded[j] or met[j] + len(written) + 1 > candidates.BUDGET):
            end = j
            break
        new[j] &= not any(near for _, near in written)
    near = (value == value) & new[earlier] & (later < end)
    return Looked(new[:end], similar.of(similar.query < end), Matches(later[near], earlier[near], value[near]))


def sharing(items: Items) -> tuple[Items, np.ndarray, np.ndarray]:
    """The first of the items, as many as have up to `PAIRS` pairs, and those that share a key: (items, earlier, later), int64[p], each pair once."""
    some = np.flatnonzero(items.size)
    keys = items.keys[some]
    order = np.argsort(keys, axis=0, kind="stable")
    ascending = np.take_along_axis(keys, order, axis=0)
    row = np.arange(len(some))[:, np.newaxis]
    first = np.ones(keys.shape, bool)
    first[1:] = ascending[1:] != ascending[:-1]
    before = row - np.maximum.accumulate(np.where(first, row, 0), axis=0)  # the items with the same key before each
    if len(items) > 1 and before.sum() > PAIRS:
        return sharing(items.at(np.arange(len(items) // 2)))
    place, band = np.nonzero(before)
    count = before[place, band]
    back = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + 1  # 1 to count for each place
    earlier = some[order[np.repeat(place, count) - back, np.repeat(band, count)]]
    later = np.repeat(some[order[place, band]], count)
    return items, *np.divmod(np.unique(earlier * len(items) + later), max(1, len(items)))


def listed(view: View, comparison: Comparison, found: Looked, rest: np.ndarray, numbers: np.ndarray, k: int) -> Matches:
    """The k most similar items of each of the rest that was not added, and itself for each other. numbers: int64[m], -1 for those not added."""
    old = ~found.new
    stored = comparison.items(view, found.similar.of(old[found.similar.query]), k)
    inside = found.inside.of(old[found.inside.query])
    near = Matches(*map(np.concatenate, zip(stored, inside._replace(number=numbers[rest[inside.number]]), strict=True)))
    rows = comparison.ordered(near, k)
    there = np.flatnonzero(numbers >= 0)
    own = Matches(there, numbers[there], np.full(len(there), np.nan))
    whole = Matches(*map(np.concatenate, zip(rows._replace(query=rest[rows.query]), own, strict=True)))
    return whole.of(np.argsort(whole.query, kind="stable"))
