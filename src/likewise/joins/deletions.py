"""Join strings by their rests after a few deletions (kernels.deletions), for strings that share most of their q-grams anyway."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.strings import Strings
from likewise.joins.combined import shared_keys
from likewise.joins.prefix import Joined, Longs
from likewise.kernels import join as kernels
from likewise.kernels.deletions import BASE, rests
from likewise.kernels.join import GRAMS

#: More deletions leave too many distinct rests.
MOST_DELETIONS = 2
#: A bound on common q-grams that excludes no pair: only the rests decide.
NO_BOUND = 2**40


def number_of_rests(length: Longs, within: int) -> Longs:
    """An upper bound for the number of rests of strings of these lengths: int64[n]."""
    return 1 + length + (length * (length - 1) // 2 if within > 1 else 0)


def joined_by_rests(strings: Strings, within: int, differing: int, chosen: Longs, probes: NDArray[np.bool_]) -> Joined:
    """An index over the rests of the chosen strings, in their order. Only those of ``probes`` are looked up.

    Strings that share a rest are within twice the edits, so nearly all candidates are measured; signs exclude some first: those that differ in more
    code points than ``differing``.
    """
    begin, length = strings.begin[chosen], strings.length[chosen]
    room = number_of_rests(length, within)
    at = np.cumsum(room) - room
    powers = np.full(int(length.max(initial=0)) + 1, BASE)
    powers[0] = 1
    powers = np.cumprod(powers, dtype=np.uint64)
    keys = np.empty(int(room.sum()), np.uint64)
    counts = rests(strings.points, begin, length, within, powers, at, keys)
    keys = keys[np.arange(counts.sum()) + np.repeat(at - np.cumsum(counts) + counts, counts)]
    _, ids, before, number = shared_keys(keys)
    ends = np.cumsum(counts)
    kept = before[ends] - before[ends - counts]
    size = length.astype(np.uint32)
    none = np.zeros(len(chosen), np.uint32)
    sets = np.empty(0, np.uint32), np.zeros(len(chosen), np.int64), none, size, strings.signs[chosen]
    held = ids, before[ends - counts].astype(np.int64), np.zeros(len(ids), np.uint32), number, 0
    index = kernels.build(sets, held, kept, number)
    elements = np.concatenate(([0], np.cumsum(length)))
    return Joined(sets, 0, (GRAMS, NO_BOUND, differing), held, np.where(probes, kept, 0).astype(np.uint32), index, elements)
