"""The rule of overfull buckets (`stages.candidates`) for queries of stores that list the members of buckets: the query comes last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from likewise.index.store import Members
from likewise.stages import candidates


def met(numbers: np.ndarray, keys: np.ndarray, copy: np.ndarray, own: np.ndarray, own_copy: np.ndarray) -> Members:
    """The members that queries meet, among contents that include all members of their buckets and all their copies.

    numbers: int64[n], ascending. keys: uint64[n, bands]. copy: uint64[n, 2]. own, own_copy: the same of the queries.
    """
    shared = keys[None] == own[:, None]  # a chunk of queries is small
    mine = shared & (budgeted(keys, shared, own) if (shared.sum(1) >= candidates.BUDGET).any() else True)
    query, place = np.nonzero(mine.any(2) | (copy[None] == own_copy[:, None]).all(2))
    return Members(query, numbers[place], (mine != shared).any((1, 2)))


def budgeted(keys: np.ndarray, shared: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The members of buckets that the rule of overfull buckets lets a query meet: bool[queries, n, bands], as ``shared``."""
    found = shared.copy()
    for query, band in zip(*np.nonzero(shared.sum(1) >= candidates.BUDGET), strict=True):
        finer = [Finer(*(partial(one, keys[:, at]) for one in (heads, partial(equal, own[query, at])))) for at in next_bands(band, keys.shape[1])]
        found[query, :, band] = False
        found[query, first_met(np.flatnonzero(shared[query, :, band]), finer), band] = True
    return found


def heads(keys: np.ndarray, members: np.ndarray) -> np.ndarray:
    """The first members with each key, up to the budget. keys: uint64[n], of all contents."""
    return members[np.sort(np.unique(keys[members], return_index=True)[1])[: candidates.BUDGET]]


def equal(own: np.uint64, keys: np.ndarray, members: np.ndarray) -> np.ndarray:
    """The members with this key."""
    return members[keys[members] == own]


class Finer(NamedTuple):
    """A further band, by which the members of an overfull bucket, int64[n] in order of arrival, are split."""

    heads: Callable[[np.ndarray], np.ndarray]  # the first members with each key, up to the budget
    own: Callable[[np.ndarray], np.ndarray]  # the members with the key of the query


def next_bands(band: int, bands: int) -> list[int]:
    """The bands by which an overfull bucket of a band is split."""
    return [(band + 1 + level) % bands for level in range(min(candidates.FINER, bands - 1))]


def first_met(members: np.ndarray, finer: Sequence[Finer]) -> np.ndarray:
    """The members of one bucket that a query meets, int64[n] in order of arrival: the rule of `stages.candidates`, the query last."""
    if len(members) < candidates.BUDGET or not finer:
        return members[: candidates.BUDGET]
    return np.union1d(finer[0].heads(members), first_met(finer[0].own(members), finer[1:]))


def together(parts: Sequence[Members]) -> Members:
    """The members of consecutive parts of some queries."""
    begin = np.cumsum([0, *(len(part.crowded) for part in parts)])
    query = [part.query + at for part, at in zip(parts, begin, strict=False)]
    nothing = np.zeros(0, np.int64)
    return Members(
        np.concatenate([nothing, *query]),
        np.concatenate([nothing, *(part.content for part in parts)]),
        np.concatenate([nothing.astype(bool), *(part.crowded for part in parts)]),
    )
