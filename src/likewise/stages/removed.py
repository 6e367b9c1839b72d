"""Facts for the report about removed rows, which come in blocks: their sources, those removed for some rows, and examples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from likewise.schema import REASONS

#: Groups of examples, with the number of examples in each: near-duplicates with values next to the threshold, half-way to equality, and next to it;
#: and removals of unknown value or for other reasons.
GROUPS = {"borderline": 5, "middle": 3, "high": 3, "other": 2}
#: Candidates that are sorted at first for each example, because several may have the same kept row.
FACTOR = 16


class Removed(NamedTuple):
    """Some removed rows."""

    row: np.ndarray  # int64[n]
    kept_row: np.ndarray  # int64[n]
    value: np.ndarray  # float64[n]
    reason: np.ndarray  # int8[n], of schema.REASONS

    def at(self, places: np.ndarray) -> Removed:
        """The rows at some places, int64[m] or bool[n]."""
        return Removed(*(column[places] for column in self))


#: No rows.
NOTHING = Removed(*(np.zeros(0, kind) for kind in (np.int64, np.int64, np.float64, np.int8)))

#: Gives the source of each of some rows.
SourceOf = Callable[[np.ndarray], np.ndarray]


def joined(blocks: Iterable[Removed]) -> Removed:
    """The rows of some blocks."""
    return Removed(*map(np.concatenate, zip(NOTHING, *blocks, strict=True)))


def matrix(blocks: Iterable[Removed], group: np.ndarray, source_of: SourceOf) -> np.ndarray:
    """The number of rows by the group of their own source and that of the kept row's source, int64[groups, groups].

    group: int64[sources], the group of each source, from 0.
    """
    groups = int(group.max(initial=0)) + 1
    found = np.zeros((groups, groups), np.int64)
    for removed in blocks:
        own, kept = (group[source_of(rows)] for rows in (removed.row, removed.kept_row))
        found += np.bincount(own * groups + kept, minlength=found.size).reshape(found.shape)
    return found


def removed_for(blocks: Iterable[Removed], heads: np.ndarray) -> Removed:
    """The rows removed for a few kept rows, int64[k]."""
    return joined(removed.at(np.isin(removed.kept_row, heads)) for removed in blocks)


def examples(blocks: Iterable[Removed], limit: float, *, distances: bool, ends: np.ndarray | None, source_of: SourceOf) -> list[Removed]:
    """The examples among removed rows, by group.

    An example of near-duplicates is next to a value, the first row if several are equally near; another one is a first row. Examples in a group have
    different kept rows. limit: the threshold, or with ``distances`` the maximum distance. ends: int64[sources]; only rows of a source before this one
    are chosen, with their kept rows. None: all rows.
    """

    def chosen(removed: Removed) -> list[Removed]:
        if ends is not None:
            inside = (rows < ends[source_of(rows)] for rows in (removed.row, removed.kept_row))
            removed = removed.at(np.logical_and(*inside))
        return of_block(removed, limit, distances=distances)

    return of_block(joined(group for removed in blocks for group in chosen(removed)), limit, distances=distances)


def of_block(removed: Removed, limit: float, *, distances: bool) -> list[Removed]:
    """The examples among some rows, by group."""
    near = (removed.reason == REASONS.index("near")) & ~np.isnan(removed.value)
    at, others = np.flatnonzero(near), np.flatnonzero(~near)
    equality = 0.0 if distances else 1.0
    values, counts = removed.value[at], GROUPS.values()
    keys = [np.abs(values - target) for target in (limit, (limit + equality) / 2, equality)]
    return [first(removed, *each) for each in zip([at] * len(keys) + [others], [*keys, removed.row[others]], counts, strict=True)]


def first(removed: Removed, among: np.ndarray, key: np.ndarray, count: int) -> Removed:
    """The ``count`` rows with the least keys that have different kept rows, in order. among: int64[m], places of rows; key: [m]."""
    most = FACTOR * count
    while True:
        some = np.arange(len(key)) if len(key) <= most else np.flatnonzero(key <= np.partition(key, most - 1)[most - 1])
        rows = among[some][np.lexsort((removed.row[among[some]], key[some]))]
        _, at = np.unique(removed.kept_row[rows], return_index=True)
        if len(at) >= count or len(some) == len(key):
            return removed.at(rows[np.sort(at)[:count]])
        most *= FACTOR
