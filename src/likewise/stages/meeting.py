"""Which items of a bucket meet: a function of their keys and of priority order, never of the items that a run has kept.

In a bucket of up to `BUDGET` items each meets all before it. A larger one is overfull, and is split by the key of the next band: each item meets
the heads of its parts, the first item of each part, for the first `BUDGET` of those; and each part is treated likewise, `FINER` times at most. At
the last level each item meets the first `BUDGET` of its part. So the comparisons for one item are bounded, whatever the collection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from likewise.kernels.bands import MIX, number_equal, repeated
from likewise.kernels.heads import list_members, list_pairs

#: A bucket of more items than this is overfull; no bucket lists more items that others meet.
BUDGET = 128
#: How often an overfull bucket is split further, each time by the key of one more band.
FINER = 2


class Parts(NamedTuple):
    """The overfull buckets of one band and the parts that they are split into, numbered on from the band's buckets."""

    members: np.ndarray  # int32[m]: the items in overfull buckets, in priority order
    levels: np.ndarray  # int32[1 + finer, m]: each one's bucket, and its part at each further level; -1 where it has none
    listed: np.ndarray  # bool[1 + finer, m]: whether those after it meet it there
    sizes: np.ndarray  # int64[parts]


def number(keys: np.ndarray, out: np.ndarray) -> np.ndarray:
    """Write bucket numbers from 0 into ``out``, int32[n], -1 for items that are alone; return the sizes of the buckets, int64[buckets]."""
    items = np.flatnonzero(repeated(keys))  # only keys that seem to repeat are compared
    part = np.empty(len(items), np.int32)
    count = number_equal(keys[items], part)
    out[:] = -1
    out[items] = part
    return np.bincount(part[part >= 0], minlength=count)


def keyed(keys: np.ndarray, by: np.ndarray | None) -> np.ndarray:
    """Keys that are equal where both are equal. uint64[n]"""
    return keys if by is None else keys ^ (by + np.uint64(1)) * MIX


def split_overfull(bucket: np.ndarray, sizes: np.ndarray, finer: Callable[[int], np.ndarray], levels: int) -> Parts:
    """Split the overfull buckets of a band.

    bucket: int32[n], each item's bucket, -1 for none. sizes: int64[buckets]. finer: the keys of all items at level 1, 2, .. ``levels``: uint64[n].
    """
    members = np.flatnonzero(np.append(sizes > BUDGET, False)[bucket]).astype(np.int32)  # -1 is none, and so the last
    found = np.full((1 + levels, len(members)), -1, np.int32)
    found[0] = bucket[members]
    parts = [np.zeros(0, np.int64)]
    overfull = [sizes > BUDGET if levels else np.zeros(len(sizes), bool)]
    for level in range(1, 1 + levels):
        above = found[level - 1]
        live = np.flatnonzero(np.concatenate([*overfull, [False]])[above])
        part = np.empty(len(live), np.int32)
        parts.append(number(keyed(finer(level)[members[live]], above[live].astype(np.uint64)), part) if len(live) else parts[0])
        found[level, live] = np.where(part >= 0, part + sum(map(len, overfull)), -1)
        overfull.append(parts[-1] > BUDGET if level < levels else np.zeros(len(parts[-1]), bool))
    listed = np.empty(found.shape, bool)
    list_members(found, np.concatenate(overfull), BUDGET, listed)
    return Parts(members, found, listed, np.concatenate(parts))


class Met(NamedTuple):
    """Who meets in some buckets of one band, and the buckets. Items have the numbers of their ranks."""

    later: np.ndarray  # int64[p]: the pairs that meet, each once
    earlier: np.ndarray  # int64[p]
    sizes: np.ndarray  # int64[buckets]: of the buckets of two items or more
    overfull: Parts  # members int64[m], in priority order


def meeting(keys: np.ndarray, finer: np.ndarray, rank: np.ndarray) -> Met:
    """The pairs of items that meet in one band: all of it, or some of its buckets with all their members.

    keys: uint64[n], the items' keys in that band. finer: uint64[levels, n], their keys in the next bands, up to `FINER`. rank: int64[n], their
    places in priority order, distinct; of several arrays of whole buckets each gives its own pairs, whatever else the others hold.
    """
    order = np.argsort(rank, kind="stable")
    keys, finer, rank = keys[order], finer[:, order], rank[order]
    bucket = np.empty(len(keys), np.int32)
    sizes = number(keys, bucket)
    parts = split_overfull(bucket, sizes, lambda level: finer[level - 1], len(finer))
    members = np.flatnonzero(bucket >= 0)
    levels = np.full((len(parts.levels), len(members)), -1, np.int32)
    listed = np.zeros(levels.shape, bool)
    levels[0], listed[0] = bucket[members], True
    place = np.searchsorted(members, parts.members)
    levels[:, place], listed[:, place] = parts.levels, parts.listed
    room = np.concatenate([sizes, parts.sizes])
    begin = np.cumsum(room) - room
    arguments = levels, listed, begin, np.empty(int(room.sum()), np.int64)
    pairs = np.empty((list_pairs(*arguments, np.empty((0, 2), np.int64)), 2), np.int64)
    list_pairs(*arguments, pairs)
    later, earlier = rank[members[pairs.T]]
    return Met(later, earlier, sizes, parts._replace(members=rank[parts.members]))
