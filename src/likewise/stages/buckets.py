"""Buckets: the items of equal band key, one band at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import UsageError
from likewise.stages.candidates import BUDGET, FINER, Parts, keyed, number, split_overfull
from likewise.stages.scope import ALL, Scope
from likewise.stages.workers import ALONE, Workers

#: An item of an overfull bucket is a candidate with at most this many others in a walk, over all levels.
MOST_CANDIDATES = 2 * BUDGET * (1 + FINER)
MOST_BUCKETS = 2**31 - 1

Keys = Callable[[int], np.ndarray]  # band -> uint64[n], the members' keys in that band


class Splits(NamedTuple):
    """The parts of the overfull buckets. The members of band b are items[begin[b] : begin[b + 1]], in priority order."""

    items: np.ndarray  # int32[m]
    begin: np.ndarray  # int64[bands + 1]
    bucket: np.ndarray  # int32[levels, m]: the item's part at each further level, -1 for none
    listed: np.ndarray  # bool[1 + levels, m]: later members are compared with it, in its bucket and in its part at each further level


def no_splits(bands: int) -> Splits:
    """Empty splits, for bands without overfull buckets."""
    return Splits(np.zeros(0, np.int32), np.zeros(bands + 1, np.int64), np.zeros((0, 0), np.int32), np.zeros((1, 0), bool))


@dataclass(frozen=True)
class Buckets:
    """The items of equal band keys, and the parts of overfull buckets. Numbers of buckets are unique over all bands and levels."""

    bucket: np.ndarray  # int32[bands, n]: the item's bucket, -1 if it is the only one with its key
    sizes: np.ndarray  # int64[buckets], without the parts of overfull ones (`Scope.sizes`)
    band: np.ndarray  # int64[buckets]: the band of each
    splits: Splits
    scope: Scope = ALL

    def members(self, number: int) -> np.ndarray:
        """The items of a bucket in priority order: int64[m]."""
        return np.flatnonzero(self.bucket[self.band[number]] == number)

    def overfull(self, band: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The members of a band's overfull buckets, for kernels.heads: (items int32[m], levels int32[1 + finer, m], listed bool[1 + finer, m])."""
        mine = slice(*self.splits.begin[band : band + 2])
        items = self.splits.items[mine]
        return items, np.concatenate([self.bucket[band, items][None], self.splits.bucket[:, mine]]), self.splits.listed[:, mine]

    @property
    def count(self) -> int:
        return max(len(self.sizes), int(self.splits.bucket.max(initial=-1)) + 1)

    def pairs(self, *, walk: bool = False) -> int:
        """Candidate pairs, counted once a band. ``walk``: at most those that the rule for overfull buckets admits."""
        return candidates_of(self.sizes, MOST_CANDIDATES if walk else MOST_BUCKETS)


def candidates_of(sizes: np.ndarray, most: int = MOST_BUCKETS, times: int | np.ndarray = 1) -> int:
    """Candidate pairs in buckets of these sizes, if each item is a candidate with at most so many others. times: as for `spread`."""
    return int((times * (sizes * np.minimum(sizes - 1, most) // 2)).sum())


def spread(sizes: np.ndarray, times: np.ndarray | None = None) -> dict[str, Any]:
    """The number of buckets, the largest size, and the numbers by size in powers of two: '2', '3-4', '5-8', ... sizes: int64[buckets].

    times: int64[buckets], how many buckets each entry stands for; 1 by default.
    """
    power = np.frexp(np.maximum(sizes, 2) - 1)[1]  # bits of size - 1
    steps, step = np.unique(power, return_inverse=True)
    numbers = np.bincount(step, times, len(steps)).astype(np.int64)  # sums below 2^53 are exact
    named = {"2" if step == 1 else f"{2 ** (step - 1) + 1}-{2**step}": int(number) for step, number in zip(steps.tolist(), numbers, strict=True)}
    return {"number": int(numbers.sum()), "largest": int(sizes.max(initial=0)), "by_size": named}


def group(keys: Keys, per: np.ndarray, bands: int, workers: Workers = ALONE, *, split: bool, scope: Scope = ALL) -> Buckets:
    """Number the buckets of every band, several bands at once. Raises UsageError for more buckets than int32 can number.

    per: uint64[n], mixed into every key, so that only items with equal values collide. ``split`` adds the parts of overfull buckets.
    """
    grouped = per if per.any() else None
    bucket = workers.allocate((bands, len(per)), "i4")
    sizes = list(workers.run(lambda band: scope.comparing(bucket[band], number(keyed(keys(band), grouped), bucket[band], scope)), range(bands)))
    levels = min(FINER, bands - 1)
    parts = None
    if split and any((each > BUDGET).any() for each in sizes):
        parts = list(workers.run(lambda band: parts_of(keys, bucket[band], sizes[band], band, bands, levels, scope), range(bands)))
    raised = shifts([len(each) for each in sizes], 0)

    def raise_numbers(band: int) -> None:
        row = bucket[band]
        row[row >= 0] += np.int32(raised[band])

    list(workers.run(raise_numbers, range(bands)))
    splits = no_splits(bands) if parts is None else joined(parts, [len(each) for each in sizes], int(raised[-1]))
    return Buckets(bucket, np.concatenate(sizes), np.repeat(np.arange(bands), [len(each) for each in sizes]), splits, scope)


def parts_of(keys: Keys, bucket: np.ndarray, sizes: np.ndarray, band: int, bands: int, levels: int, scope: Scope) -> Parts:
    """The parts of a band's overfull buckets, split by the keys of the next bands."""
    return split_overfull(bucket, sizes, lambda level: keys((band + level) % bands), levels, scope)


def joined(parts: list[Parts], buckets: list[int], base: int) -> Splits:
    """The parts of all bands, numbered consecutively from ``base``. buckets: the number of buckets in each band."""
    raised = shifts([len(each.sizes) for each in parts], base)
    for each, own, first in zip(parts, buckets, raised[:-1], strict=True):
        finer = each.levels[1:]
        finer[finer >= 0] += np.int32(first - own)
    begin = np.concatenate(([0], np.cumsum([len(each.members) for each in parts])))
    levels, listed = (np.concatenate(rows, axis=1) for rows in ([each.levels for each in parts], [each.listed for each in parts]))
    return Splits(np.concatenate([each.members for each in parts]), begin, levels[1:], listed)


def shifts(counts: list[int], base: int) -> np.ndarray:
    """The first number of each band, consecutive from ``base``, then the next free one: int64[bands + 1]. Raises UsageError for too many."""
    ends = base + np.concatenate(([0], np.cumsum(counts)))
    if ends[-1] > MOST_BUCKETS:
        raise UsageError(f"{ends[-1]:,} buckets are more than the maximum of {MOST_BUCKETS:,}; use fewer bands or a higher threshold")
    return ends
