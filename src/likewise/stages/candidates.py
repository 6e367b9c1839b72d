"""Buckets: the items of equal band key, one band at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from likewise.errors import UsageError
from likewise.kernels.bands import MIX, number_equal, repeated

#: A bucket of more items than this is crowded: a removal remembers this many kept items of it and looks for others in finer splits.
BUDGET = 128
#: How often a crowded bucket is split further, each time by the key of one more band.
FINER = 2
MOST_BUCKETS = 2**31 - 1

Keys = Callable[[int], np.ndarray]  # band -> uint64[n], the members' keys in that band
Allocate = Callable[[tuple[int, ...], str | np.dtype], np.ndarray]


class Splits(NamedTuple):
    """The finer buckets of the items in crowded ones: those of band b are items[begin[b] : begin[b + 1]], ascending."""

    items: np.ndarray  # int32[m]
    begin: np.ndarray  # int64[bands + 1]
    bucket: np.ndarray  # int32[levels, m]: the item's bucket at each further level, -1 where it is alone


def no_splits(bands: int) -> Splits:
    return Splits(np.zeros(0, np.int32), np.zeros(bands + 1, np.int64), np.zeros((0, 0), np.int32))


@dataclass(frozen=True)
class Buckets:
    """The items of equal band key, and the splits of those buckets that are crowded. Buckets of all levels are numbered through."""

    bucket: np.ndarray  # int32[bands, n]: the item's bucket, -1 where it is alone
    sizes: np.ndarray  # int64[buckets], without the finer ones
    band: np.ndarray  # int64[buckets]: the band that each belongs to
    splits: Splits

    def members(self, number: int) -> np.ndarray:
        """The items of a bucket, in keep order."""
        return np.flatnonzero(self.bucket[self.band[number]] == number)

    def crowds(self, band: int) -> np.ndarray:
        """The items of a band that are in crowded buckets, in keep order; all where none was split."""
        items, begin, finer = self.splits
        return items[begin[band] : begin[band + 1]] if len(finer) else np.arange(self.bucket.shape[1])

    @property
    def count(self) -> int:
        return max(len(self.sizes), int(self.splits.bucket.max(initial=-1)) + 1)

    def pairs(self, *, walk: bool = False) -> int:
        """Candidate pairs, counted once a band; of those no more than a ``walk`` compares, whose budget each bucket has."""
        others = np.minimum(self.sizes - 1, 2 * BUDGET * (1 + FINER)) if walk else self.sizes - 1
        return int((self.sizes * others // 2).sum())

    def histogram(self) -> dict[str, int]:
        """Number of buckets by size, in powers of two: '2', '3-4', '5-8', ..."""
        power = np.frexp(np.maximum(self.sizes, 2) - 1)[1]  # the bits of size - 1
        steps, numbers = np.unique(power, return_counts=True)
        return {"2" if step == 1 else f"{2 ** (step - 1) + 1}-{2**step}": int(number) for step, number in zip(steps.tolist(), numbers, strict=True)}


def group(keys: Keys, per: np.ndarray, bands: int, run: Callable, *, split: bool, allocate: Allocate) -> Buckets:
    """Number the buckets of every band; ``run`` maps a function over bands, at once where it can.

    per: uint64[n], mixed into every key, so that only items of one group meet. ``split`` adds the finer levels for crowded buckets.
    """
    grouped = per if per.any() else None
    bucket = allocate((bands, len(per)), "i4")
    found = run(lambda band: number(keyed(keys(band), grouped), bucket[band]), range(bands))
    base, sizes = shift(bucket, found, 0, run), np.concatenate(found)
    crowded = sizes > BUDGET
    finer = min(FINER, bands - 1) if split and crowded.any() else 0
    return Buckets(bucket, sizes, np.repeat(np.arange(bands), [len(each) for each in found]), splits_of(keys, bucket, crowded, finer, base, run))


def splits_of(keys: Keys, bucket: np.ndarray, crowded: np.ndarray, levels: int, base: int, run: Callable) -> Splits:
    """Split the crowded buckets, each level by the key of one band further on. crowded: bool[buckets]; base: the first free number."""
    bands = len(bucket)
    if not levels:
        return no_splits(bands)
    members = run(lambda band: np.flatnonzero((bucket[band] >= 0) & crowded[bucket[band]]).astype(np.int32), range(bands))
    begin = np.concatenate(([0], np.cumsum([len(items) for items in members])))
    finer = np.full((1 + levels, begin[-1]), -1, np.int32)
    finer[0] = np.concatenate([bucket[band, items] for band, items in enumerate(members)])
    for level in range(1, 1 + levels):
        above, below = (np.split(finer[at], begin[1:-1]) for at in (level - 1, level))  # a band each
        found = run(partial(refine, keys, level, members, above, below), range(bands))
        base = shift(below, found, base, run)
    return Splits(np.concatenate(members), begin, finer[1:])


def keyed(keys: np.ndarray, by: np.ndarray | None) -> np.ndarray:
    """Keys that are equal where both are equal."""
    return keys if by is None else keys ^ (by + np.uint64(1)) * MIX


def number(keys: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Bucket numbers from 0 into ``out``; returns the sizes of the buckets. Only keys that seem to repeat are compared."""
    items = np.flatnonzero(repeated(keys))
    part = np.empty(len(items), np.int32)
    count = number_equal(keys[items], part)
    out[:] = -1
    out[items] = part
    return np.bincount(part[part >= 0], minlength=count)


def refine(keys: Keys, level: int, members: list[np.ndarray], above: list[np.ndarray], below: list[np.ndarray], band: int) -> np.ndarray:
    """Split the buckets ``above`` of a band's members by the key of the band ``level`` further on. Numbers from 0 go into ``below``; their sizes."""
    live = np.flatnonzero(above[band] >= 0)
    if not len(live):
        return np.zeros(0, np.int64)
    part = np.empty(len(live), np.int32)
    sizes = number(keyed(keys((band + level) % len(members))[members[band][live]], above[band][live].astype(np.uint64)), part)
    below[band][live] = part
    return sizes


def shift(rows: Sequence[np.ndarray] | np.ndarray, sizes: list[np.ndarray], base: int, run: Callable) -> int:
    """Make the numbers of the bands follow each other, from ``base`` on. Returns the next free number."""
    ends = base + np.cumsum([len(each) for each in sizes])
    if ends[-1] > MOST_BUCKETS:
        raise UsageError(f"{ends[-1]:,} buckets are more than can be numbered ({MOST_BUCKETS:,}); take fewer bands or a higher threshold")

    def raise_numbers(band: int) -> None:
        row = rows[band]
        row[row >= 0] += np.int32(ends[band] - len(sizes[band]))

    run(raise_numbers, range(len(sizes)))
    return int(ends[-1])
