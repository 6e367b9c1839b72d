"""The greedy walk of removal, and its results: representatives and matches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from likewise.kernels.bands import MIX
from likewise.kernels.compare import ESTIMATE, EXACT, UNCHECKED, SetRule
from likewise.kernels.compare import values as scored
from likewise.kernels.unionfind import join_buckets
from likewise.kernels.walk import LIST, REMEMBERED, greedy_walk
from likewise.stages.buckets import Buckets
from likewise.stages.candidates import BUDGET
from likewise.stages.settle import MOST_MATCHES, most_similar
from likewise.stages.workers import ALONE, Workers

MODES = {"exact": EXACT, "estimate": ESTIMATE, "none": UNCHECKED}
#: Comparisons that a kernel makes before it returns, so that progress is shown and Ctrl-C works.
COMPARED_AT_ONCE = 2**16
#: Verified pairs that a kernel returns at once.
MATCHES_AT_ONCE = 2**16
#: Parts of the walk for each thread; they take unequal time, and an idle thread takes the next.
PARTS = 4
#: Larger buckets keep copies of their items' odd sketches side by side: fetching them from all over memory took half the time of a walk.
LARGE = 32


@dataclass(frozen=True)
class Sets:
    """The items' words and the rule that compares two items. kernels.walk explains the arrays."""

    file: int  # an open file, or -1: the words are in ``values``
    values: np.ndarray
    offset: np.ndarray
    size: np.ndarray
    rule: Any  # one of kernels.compare
    odd: np.ndarray  # the odd sketches of the rows, or no rows
    row: np.ndarray

    def arguments(self) -> tuple[tuple, Any]:
        """(sets, rule), as the kernels take them."""
        return (self.file, self.values, self.offset, self.size, self.odd, self.row), self.rule

    def similarity(self, overlap: np.ndarray, out_of: np.ndarray) -> np.ndarray:
        """Similarities, or distances if the rule is for distances; NaN where nothing was checked. float64[n]"""
        if isinstance(self.rule, SetRule) or self.rule.mode == UNCHECKED:
            return ratio(overlap, out_of)
        return scored(overlap, distances=self.rule.distance)

    def buffers(self) -> np.ndarray:
        """Room for the words of two items, uint64[2, largest size]; each thread needs its own."""
        return np.empty((2, int(self.size.max(initial=0))), np.uint64)


@dataclass
class Walk:
    """The result of the walk over n items in priority order."""

    representative: np.ndarray  # int64[n]: the kept item that an item was removed for; -1: kept
    overlap: np.ndarray  # int64[n]: overlap / out_of is the similarity to the representative
    out_of: np.ndarray
    matches: np.ndarray  # int64[m, 4]: the verified pairs: item, kept item, overlap, out of; those of `trimmed` if there are very many
    compared: int


def walk(sets: Sets, buckets: Buckets, workers: Workers = ALONE) -> Walk:
    """Remove each item that collides with an earlier kept item and is at or above the threshold: greedy leader clustering in priority order.

    Tasks are parts of the items that have no bucket in common, so the result does not depend on them. Progress is counted in items.
    """
    bands, n = buckets.bucket.shape
    levels = 1 + len(buckets.splits.bucket)
    lists, remembered, near = empty_lists(buckets, sets.odd, workers.allocate)
    seen = np.full(n, -1, np.int32)
    state = np.full((n, 3), -1, np.int64)

    held = [0]  # matches so far; threads may lose each other's additions, which only delays `trimmed`

    def part(items: np.ndarray) -> tuple[list[np.ndarray], int, int]:
        matches = np.empty((levels * bands * BUDGET + MATCHES_AT_ONCE, 4), np.int64)
        buffers, cursor = sets.buffers(), buckets.splits.begin[:-1].copy()
        found, compared, place, number = [], 0, 0, 0
        while place < len(items):
            before = place
            room = (cursor, buffers, seen, state, matches)
            place, written, more = greedy_walk(
                *sets.arguments(),
                *(buckets.bucket, buckets.splits, buckets.scope, lists, remembered, near, BUDGET),
                *(items, place, COMPARED_AT_ONCE, *room),
            )
            number += written
            held[0] += written
            found.append(trimmed(matches[:written], sets) if held[0] > MOST_MATCHES else matches[:written].copy())
            compared += more
            workers.advance(place - before)
        return found, number, compared

    done = list(workers.run(part, independent(buckets, 1 if workers.tasks == 1 else PARTS * workers.tasks)))
    matches = np.concatenate([np.empty((0, 4), np.int64), *(found for blocks, _, _ in done for found in blocks)])
    if sum(number for _, number, _ in done) > MOST_MATCHES:
        matches = trimmed(matches, sets)
    matches = matches[np.lexsort((matches[:, 1], matches[:, 0]))]
    compared = sum(number for _, _, number in done)
    return Walk(state[:, 0], state[:, 1], state[:, 2], matches, compared)


def trimmed(matches: np.ndarray, sets: Sets) -> np.ndarray:
    """The most similar matches of each item (`settle.most_similar`). Nothing is trimmed unless all are too many, so threads do not matter."""
    value = sets.similarity(matches[:, 2], matches[:, 3])
    closeness = np.nan_to_num(-value if sets.rule.distance else value)
    return matches[most_similar(matches[:, 0], matches[:, 1], closeness)]


def empty_lists(buckets: Buckets, odd: np.ndarray, allocate: Callable[..., np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(lists, remembered, near) as the kernel takes them: room for the kept items that each bucket may remember."""
    finer, numbered = buckets.splits.bucket[buckets.splits.bucket >= 0], len(buckets.sizes)
    sizes = np.concatenate([buckets.sizes, np.bincount(finer - numbered, minlength=buckets.count - numbered)])
    large, room = sizes > large_above(sizes, buckets.bucket.shape[1]), np.minimum(sizes, BUDGET).astype(np.int32)
    del sizes  # frees memory, which counts with many buckets
    lists, near, end = np.zeros(buckets.count, LIST), int(room[large].sum()), 0
    for some in (large, ~large):
        mine = room[some]
        begin = np.cumsum(mine, dtype=np.int64)
        begin -= mine
        begin += end
        lists["begin"][some] = begin
        end += int(mine.sum())
    return lists, allocate((end,), REMEMBERED), allocate((near if len(odd) else 0, odd.shape[1]), "u8")


def large_above(sizes: np.ndarray, most: int) -> int:
    """Buckets above this size keep copies of odd sketches: the minimum, raised so that these buckets remember at most ``most`` items in total."""
    large = np.sort(sizes[sizes > LARGE])[::-1]
    fit = int(np.searchsorted(np.cumsum(np.minimum(large, BUDGET)), most, side="right"))
    return int(large[fit]) if fit < len(large) else LARGE


def independent(buckets: Buckets, shares: int) -> list[np.ndarray]:
    """The items that collide with any other, in up to ``shares`` parts of about equal size; no bucket spans two parts. Each part is ascending."""
    head = join_buckets(buckets.bucket, len(buckets.sizes))
    items = np.flatnonzero(head >= 0)
    part = (head[items].astype(np.uint64) * MIX >> np.uint64(32)) % np.uint64(shares)  # hashes the item's connected group
    part = part.astype(np.uint16)  # numpy sorts 16-bit words by radix, in one pass for all parts
    parts = np.split(items[np.argsort(part, kind="stable")], np.cumsum(np.bincount(part, minlength=shares))[:-1])
    return [found for found in parts if len(found)]


def ratio(overlap: np.ndarray, out_of: np.ndarray) -> np.ndarray:
    """Similarities, float64[n]; NaN where nothing was checked."""
    return np.divide(overlap, out_of, out=np.full(len(overlap), np.nan), where=out_of > 0)
