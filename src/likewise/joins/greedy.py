"""The greedy walk (stages/walk.py) over pairs that a search finds, for items that are joined and not walked bucket by bucket.

All pairs are found first, and then decided in one pass. Where there are more than can be held, as in a crowd of like items, the earlier half of the
items is decided first, by the same rule; what its kept items are like is removed from the later half; and what is left of that is decided. So a
crowd of n members costs about as many comparisons, whatever else there is. Nothing but counts of pairs tells where to halve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.joins.hamming_join import Block, Counts
from likewise.kernels.greedy import remove
from likewise.stages.walk import Walk

Longs = NDArray[np.int64]

#: Pairs that are held at once: so many for each item, but no fewer and no more than these. Few enough items are never halved.
EACH, FEWEST, MOST = 8, 2**17, 2**22
#: Verified pairs of an item that are remembered: with the kept items most like it.
REMEMBERED = 128


class Finder(Protocol):
    """What finds the alike pairs among some items."""

    @property
    def cost(self) -> float:
        """Predicted, in nanoseconds of one core, for all pairs."""

    def pairs(self, counts: Counts, items: Longs | None = None, side: NDArray[np.uint8] | None = None, most: int = 2**62) -> Iterator[Block]:
        """As `joins.hamming_join.Finder` says."""


def greedy_walk(finder: Finder, n: int, score: Callable[[np.ndarray], Longs], counts: Counts) -> Walk:
    """The walk over n items in keep order: an item is removed when an item kept before it is found to be like it.

    score: values as whole numbers, greater for the more alike; they are the ``overlap`` of the result, out of 1. counts: added to, but for what was
    looked for in vain because there was too much of it.
    """
    gone = np.zeros(n, np.bool_)
    known = settle(finder, np.arange(n), gone, counts)
    across = finder.pairs(counts, side=np.where(gone, 2, 1).astype(np.uint8)) if known is None else known
    matches = most_alike(across, gone, score)
    first = np.flatnonzero(np.diff(matches[:, 0], prepend=-1))
    witness, value = np.full((2, n), -1, np.int64)
    witness[matches[first, 0]], value[matches[first, 0]] = matches[first, 1:3].T
    matches = matches[np.lexsort((matches[:, 1], matches[:, 0]))]
    return Walk(witness, value, np.broadcast_to(np.int64(1), n), matches, 0)


def settle(finder: Finder, items: Longs, gone: NDArray[np.bool_], counts: Counts) -> list[Block] | None:
    """Decide which of these items, ascending, are removed for one of them. Returns their pairs where they were few enough to be held."""
    if len(items) < 2:
        return []
    found = held(finder, None if len(items) == len(gone) else items, min(max(EACH * len(items), FEWEST), MOST), counts)
    if found is not None:
        left, right = (np.concatenate([np.empty(0, np.int64), *(block[side] for block in found)]) for side in (0, 1))
        order = np.argsort(right)
        remove(left[order], right[order], gone)
        return found
    first, rest = np.split(items, [len(items) // 2])
    settle(finder, first, gone, counts)
    kept = first[~gone[first]]
    side = np.repeat(np.array([1, 2], np.uint8), [len(kept), len(rest)])
    for _, right, _ in finder.pairs(counts, np.concatenate([kept, rest]), side):
        gone[right] = True
    settle(finder, rest[~gone[rest]], gone, counts)
    return None


def held(finder: Finder, items: Longs | None, most: int, counts: Counts) -> list[Block] | None:
    """All pairs of some items; None where there are more than ``most``."""
    found: list[Block] = []
    number, seen = 0, Counts()
    for block in finder.pairs(seen, items, most=most):
        number += len(block[0])
        if number > most:
            return None
        found.append(block)
    counts.add(seen)
    return found


def most_alike(blocks: Iterable[Block], gone: NDArray[np.bool_], score: Callable[[np.ndarray], Longs]) -> Longs:
    """Of the pairs those of a removed item and one kept before it: int64[m, 4] of item, kept item, score, 1; by item, the most alike first, then the
    earlier, and no more than are remembered."""
    matches, waiting, number = np.empty((0, 4), np.int64), [], 0
    for left, right, value in blocks:
        met = gone[right] & ~gone[left]
        waiting.append(np.column_stack([right[met], left[met], score(value[met]), np.ones(np.count_nonzero(met), np.int64)]))
        number += len(waiting[-1])
        if number > max(MOST, len(matches)):
            matches, waiting, number = nearest([matches, *waiting]), [], 0
    return nearest([matches, *waiting])


def nearest(blocks: list[Longs]) -> Longs:
    """Put matches in that order, and leave those out that are not remembered."""
    matches = np.concatenate(blocks)
    matches = matches[np.lexsort((matches[:, 1], -matches[:, 2], matches[:, 0]))]
    place = np.arange(len(matches)) - np.searchsorted(matches[:, 0], matches[:, 0])
    return matches[place < REMEMBERED]
