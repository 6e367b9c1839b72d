"""Buckets: the items of equal band key, one band at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from likewise.errors import UsageError
from likewise.kernels.bands import mark_runs, repeated

#: A bucket of more items than this is crowded: a removal remembers this many kept items of it and looks for others in finer splits.
BUDGET = 128
#: How often a crowded bucket is split further, each time by the key of one more band.
FINER = 2
MOST_BUCKETS = 2**31 - 1
MIX = np.uint64(0x9E3779B97F4A7C15)

Keys = Callable[[int], np.ndarray]  # band -> uint64[n], the members' keys in that band
Allocate = Callable[[tuple[int, ...], str], np.ndarray]


@dataclass(frozen=True)
class Buckets:
    """``bucket`` int32[levels, bands, n]: the item's bucket, -1 where it is alone. Level 0 is the band key, further levels split crowded buckets."""

    bucket: np.ndarray
    sizes: np.ndarray  # int64[buckets of level 0]
    band: np.ndarray  # int64[buckets of level 0]: the band that each belongs to

    def members(self, number: int) -> np.ndarray:
        """The items of a bucket, in keep order."""
        return np.flatnonzero(self.bucket[0, self.band[number]] == number)

    @property
    def count(self) -> int:
        return int(self.bucket.max(initial=-1)) + 1

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
    n = len(per)
    grouped = bool(per.any())
    level0 = allocate((1, bands, n), "i4")
    numbers = run(lambda band: number(keyed(keys(band), per if grouped else None), level0[0, band]), range(bands))
    base = shift(level0[0], numbers, 0)
    sizes = np.bincount(level0[level0 >= 0], minlength=base) if base else np.zeros(0, np.int64)
    band_of = np.repeat(np.arange(bands), numbers)
    crowded = sizes > BUDGET
    finer = min(FINER, bands - 1) if split and crowded.any() else 0
    if not finer:
        return Buckets(level0, sizes, band_of)
    bucket = allocate((1 + finer, bands, n), "i4")
    bucket[0] = level0[0]
    for level in range(1, 1 + finer):
        numbers = run(lambda band, level=level: refine(keys, crowded, bucket, level, band, bands), range(bands))
        base = shift(bucket[level], numbers, base)
    return Buckets(bucket, sizes, band_of)


def keyed(keys: np.ndarray, by: np.ndarray | None) -> np.ndarray:
    """Keys that are equal where both are equal."""
    return keys if by is None else keys ^ (by + np.uint64(1)) * MIX


def number(keys: np.ndarray, out: np.ndarray) -> int:
    """Bucket numbers from 0 into ``out``; returns how many. Only keys that repeat are sorted."""
    items = np.flatnonzero(repeated(keys))
    keys, part = keys[items], np.empty(len(items), np.int32)
    count = mark_runs(keys, np.argsort(keys), part, 0)
    out[:] = -1
    out[items] = part
    return int(count)


def refine(keys: Keys, crowded: np.ndarray, bucket: np.ndarray, level: int, band: int, bands: int) -> int:
    """Split the crowded buckets of one band by the key of the band ``level`` further on."""
    above = bucket[level - 1, band]
    out = bucket[level, band]
    out[:] = -1
    home = bucket[0, band]
    members = np.flatnonzero((home >= 0) & crowded[home] & (above >= 0))
    if not len(members):
        return 0
    key = keyed(keys((band + level) % bands)[members], above[members].astype(np.uint64))
    part = np.empty(len(members), np.int32)
    count = number(key, part)
    out[members] = part
    return count


def shift(bucket: np.ndarray, numbers: list[int], base: int) -> int:
    """Make the numbers of the bands follow each other, from ``base`` on. Returns the next free number."""
    if base + sum(numbers) > MOST_BUCKETS:
        raise UsageError(f"{base + sum(numbers):,} buckets are more than can be numbered ({MOST_BUCKETS:,}); take fewer bands or a higher threshold")
    for band, count in enumerate(numbers):
        row = bucket[band]
        row[row >= 0] += base
        base += count
    return base
