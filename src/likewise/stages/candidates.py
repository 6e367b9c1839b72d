"""The candidate pairs of a bucket, which depend only on keys and priority order, not on the items that a run has kept.

In a bucket of up to `BUDGET` items each is a candidate with all before it. A larger bucket is overfull and is split by the key of the next band:
each item is a candidate with the heads of the parts, the first item of each, for the first `BUDGET` parts; and each part is treated as a bucket, down
to `FINER` levels. At the last level each item is a candidate with the first `BUDGET` of its part. So the comparisons for one item are bounded,
whatever the collection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from likewise.kernels.bands import MIX, number_equal, repeated
from likewise.kernels.heads import list_members, list_pairs
from likewise.stages.scope import ALL, Scope

#: A bucket of more items than this is overfull. No bucket lists more items than this as candidates for later ones.
BUDGET = 128
#: How often an overfull bucket is split, each time by the key of one more band.
FINER = 2


class Parts(NamedTuple):
    """The overfull buckets of one band and their parts. Numbers of parts follow those of the band's buckets."""

    members: np.ndarray  # int32[m]: the items in overfull buckets, in priority order
    levels: np.ndarray  # int32[1 + finer, m]: the item's bucket, and its part at each further level; -1 for none
    listed: np.ndarray  # bool[1 + finer, m]: later members are compared with it there
    sizes: np.ndarray  # int64[parts]


def number(keys: np.ndarray, out: np.ndarray, scope: Scope = ALL) -> np.ndarray:
    """Write bucket numbers from 0 into ``out``, int32[n], -1 for unique keys; return the sizes of the buckets, int64[buckets] (`Scope.sizes`)."""
    items = np.flatnonzero(repeated(keys))  # the exact comparison takes only keys that may repeat
    part = np.empty(len(items), np.int32)
    count = number_equal(keys[items], part)
    out[:] = -1
    out[items] = part
    return scope.sizes(out, count)


def keyed(keys: np.ndarray, by: np.ndarray | None) -> np.ndarray:
    """Keys combined with groups: equal where both are equal. uint64[n]"""
    return keys if by is None else keys ^ (by + np.uint64(1)) * MIX


def split_overfull(bucket: np.ndarray, sizes: np.ndarray, finer: Callable[[int], np.ndarray], levels: int, scope: Scope = ALL) -> Parts:
    """Split the overfull buckets of a band.

    bucket: int32[n], each item's bucket, -1 for none. sizes: int64[buckets]. finer: returns the keys of all items, uint64[n], for level 1 to
    ``levels``.
    """
    members = np.flatnonzero(np.append(sizes > BUDGET, False)[bucket]).astype(np.int32)  # -1 selects the appended False
    found = np.full((1 + levels, len(members)), -1, np.int32)
    found[0] = bucket[members]
    parts = [np.zeros(0, np.int64)]
    overfull = [sizes > BUDGET if levels else np.zeros(len(sizes), bool)]
    for level in range(1, 1 + levels):
        above = found[level - 1]
        live = np.flatnonzero(np.concatenate([*overfull, [False]])[above])
        part = np.empty(len(live), np.int32)
        keys = keyed(finer(level)[members[live]], above[live].astype(np.uint64))
        parts.append(number(keys, part, scope.of(members[live])) if len(live) else parts[0])
        found[level, live] = np.where(part >= 0, part + sum(map(len, overfull)), -1)
        overfull.append(parts[-1] > BUDGET if level < levels else np.zeros(len(parts[-1]), bool))
    listed = np.empty(found.shape, bool)
    list_members(found, np.concatenate(overfull), BUDGET, scope.of(members), listed)
    return Parts(members, found, listed, np.concatenate(parts))


class Lists(NamedTuple):
    """Candidate pairs as lists of items: an item that reads a list is a candidate with the listed items before it. Entries are by list and item."""

    begin: np.ndarray  # int64[lists + 1]: where the entries of each list begin
    item: np.ndarray  # int64[m]
    listed: np.ndarray  # bool[m]
    reads: np.ndarray  # bool[m]

    @property
    def of(self) -> np.ndarray:
        """The number of each entry's list: int64[m]."""
        return np.repeat(np.arange(len(self.begin) - 1), np.diff(self.begin))

    def places(self) -> np.ndarray:
        """The candidate pairs as places of entries, (later, earlier), int64[2, p]. Each pair of a bucket is in one of its lists."""
        pairs = np.empty((list_pairs(self.begin, self.listed, self.reads, np.empty((0, 2), np.int64)), 2), np.int64)
        list_pairs(self.begin, self.listed, self.reads, pairs)
        return pairs.T


def lists_of_pairs(later: np.ndarray, earlier: np.ndarray) -> Lists:
    """Candidate pairs, int64[p] each, as lists: one for each later item, which reads it. A pair may be repeated."""
    order = np.lexsort((earlier, later))
    later, earlier = later[order], earlier[order]
    new = np.append(True, (np.diff(later) != 0) | (np.diff(earlier) != 0))[: len(later)]
    later, earlier = later[new], earlier[new]
    begin = np.flatnonzero(np.diff(later, prepend=-1))
    ends = np.append(begin[1:], len(later))[: len(begin)]
    item = np.insert(earlier, ends, later[begin])
    reads = np.zeros(len(item), bool)
    reads[ends + np.arange(len(ends))] = True
    return Lists(np.append(begin, len(later)) + np.arange(len(begin) + 1), item, ~reads, reads)


def whole_lists(keys: np.ndarray, rank: np.ndarray, scope: Scope) -> Lists:
    """All pairs in buckets of two items or more, as lists. keys: uint64[n]. rank: int64[n], the places of the items in priority order."""
    order = np.lexsort((rank, keys))
    keys, rank = keys[order], rank[order]
    new = np.ones(len(keys), bool)
    new[1:] = keys[1:] != keys[:-1]
    stays = rank < scope.fixed
    return pruned(Lists(np.append(np.flatnonzero(new), len(keys)), rank, stays | scope.inside, ~stays))


def in_parts(lists: Lists, most: int) -> Iterator[Lists]:
    """The same candidate pairs, in order, as lists with at most so many pairs, or those of one reader."""
    ends = np.cumsum(np.where(lists.reads, before(lists.begin, lists.listed), 0))
    begin = 0
    while begin < len(ends):
        end = max(begin + 1, int(np.searchsorted(ends, (ends[begin - 1] if begin else 0) + most, side="right")))
        number = int(np.searchsorted(lists.begin, begin, side="right")) - 1  # of the list that may have begun before
        first, last = int(lists.begin[number]), int(np.searchsorted(lists.begin, end))
        here = slice(first, end)
        borders = np.append(lists.begin[number:last], end) - first
        yield Lists(borders, lists.item[here], lists.listed[here], lists.reads[here] & (np.arange(first, end) >= begin))
        begin = end


class Collisions(NamedTuple):
    """Some buckets of one band, of two items or more."""

    lists: Lists
    sizes: np.ndarray  # int64[buckets]
    overfull: Parts  # members int64[m], in priority order


def whole_pairs(keys: np.ndarray, rank: np.ndarray, side: np.ndarray, most: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield all pairs in the buckets of one band, without the rule for overfull ones: later and earlier items, int64[m] each.

    keys: uint64[n], in that band: all of them, or those of some buckets with all their members. rank: int64[n], the distinct places of the items in
    priority order. side: uint8[n] or none; 1, 2 or 3 for items of A, B or both, if only pairs across are wanted. most: pairs at once, unless one
    item has more.
    """
    order = np.argsort(rank, kind="stable")
    bucket = np.empty(len(keys), np.int32)
    number(keys[order], bucket)
    members = np.flatnonzero(bucket >= 0)
    members = members[np.argsort(bucket[members], kind="stable")]
    first = np.searchsorted(bucket[members], bucket[members])  # of the bucket
    before = np.arange(len(members)) - first
    ends = np.concatenate(([0], np.cumsum(before)))
    item = order[members]
    begin = 0
    while begin < len(members):
        end = max(begin + 1, int(np.searchsorted(ends, ends[begin] + most, side="right")) - 1)
        times = before[begin:end]
        later = np.repeat(np.arange(begin, end), times)
        earlier = first[later] + np.arange(len(later)) - np.repeat(np.cumsum(times) - times, times)
        later, earlier = item[later], item[earlier]
        if len(side):
            across = (side[later] | side[earlier]) == 3
            across &= (side[later] > 0) & (side[earlier] > 0)
            later, earlier = later[across], earlier[across]
        yield rank[later], rank[earlier]
        begin = end


class Candidates(NamedTuple):
    """The candidate pairs in some buckets of one band, and the buckets. Items are numbered by rank."""

    later: np.ndarray  # int64[p]: the candidate pairs, each once
    earlier: np.ndarray  # int64[p]
    sizes: np.ndarray  # int64[buckets]: the sizes of buckets of two items or more
    overfull: Parts  # members int64[m], in priority order


def candidate_pairs(keys: np.ndarray, finer: np.ndarray, rank: np.ndarray, scope: Scope = ALL) -> Candidates:
    """The candidate pairs in one band; the parameters are those of `collisions`."""
    lists, sizes, overfull = collisions(keys, finer, rank, scope)
    later, earlier = lists.item[lists.places()]
    return Candidates(later, earlier, sizes, overfull)


def collisions(keys: np.ndarray, finer: np.ndarray, rank: np.ndarray, scope: Scope = ALL) -> Collisions:
    """The lists of one band, or of some of its buckets with all their members.

    keys: uint64[n], the items' keys in that band. finer: uint64[levels, n], their keys in the next bands, up to `FINER`. rank: int64[n], their
    distinct places in priority order; ``scope`` is that of these places. Whole buckets can be passed in several calls, because the
    pairs of a bucket do not depend on others.
    """
    order, bucket, sizes, scope = bucketed(keys, rank, scope)
    return in_buckets(bucket, sizes, finer[:, order], rank[order], scope)


def in_buckets(bucket: np.ndarray, sizes: np.ndarray, finer: np.ndarray, rank: np.ndarray, scope: Scope) -> Collisions:
    """`collisions` of items in priority order, whose buckets are known: int32[n], -1 for none. sizes: int64[buckets] (`Scope.sizes`)."""
    parts = split_overfull(bucket, sizes, lambda level: finer[level - 1], len(finer), scope)
    members = np.flatnonzero(bucket >= 0)
    levels = np.full((len(parts.levels), len(members)), -1, np.int32)
    listed = np.zeros(levels.shape, bool)
    levels[0], listed[0] = bucket[members], scope.inside or members < scope.fixed
    place = np.searchsorted(members, parts.members)
    levels[:, place], listed[:, place] = parts.levels, parts.listed
    lists = lists_of(rank[members], levels, listed, scope.of(members))
    return Collisions(lists, sizes, parts._replace(members=rank[parts.members]))


def ordinary(keys: np.ndarray, rank: np.ndarray, scope: Scope = ALL) -> tuple[Lists, np.ndarray, np.ndarray]:
    """The lists and the sizes of the buckets that are not overfull, and the places of the members of the others in ``keys``.

    For those, `collisions` needs the keys in the next bands. The other parameters are its own.
    """
    order, bucket, sizes, scope = bucketed(keys, rank, scope)
    over = np.append(sizes > BUDGET, False)[bucket]
    members = np.flatnonzero((bucket >= 0) & ~over)
    listed = np.full((1, len(members)), scope.inside) | (members < scope.fixed)
    lists = lists_of(rank[order[members]], bucket[members][np.newaxis], listed, scope.of(members))
    return lists, sizes[sizes <= BUDGET], order[over]


def bucketed(keys: np.ndarray, rank: np.ndarray, scope: Scope) -> tuple[np.ndarray, np.ndarray, np.ndarray, Scope]:
    """The priority order of items, int[n], in it their buckets, int32[n], the sizes of these, int64[buckets], and the scope of the places in it."""
    order = np.argsort(rank, kind="stable")
    bucket, scope = np.empty(len(keys), np.int32), scope.of(rank[order])
    return order, bucket, scope.comparing(bucket, number(keys[order], bucket, scope)), scope


def lists_of(item: np.ndarray, levels: np.ndarray, listed: np.ndarray, scope: Scope) -> Lists:
    """The lists of buckets and of their parts.

    item: int64[n], ascending; levels, listed: as in `Parts`. The head of a part may be listed in the part and a level above: it gets into one list.
    """
    found = []
    for level, number in enumerate(levels):  # numbers of parts follow those of the level above
        member = np.flatnonzero(number >= 0)
        member = member[np.argsort(number[member], kind="stable")]
        heads = np.flatnonzero(np.diff(number[member], prepend=-1))
        stands = listed[level, member]
        if level:
            stands[heads] &= ~listed[level - 1, member[heads]]
        found.append(pruned(Lists(np.append(heads, len(member)), item[member], stands, member >= scope.fixed)))
    ends = np.cumsum([0, *(len(each.item) for each in found)])
    begin = np.concatenate([*(each.begin[:-1] + end for each, end in zip(found, ends, strict=False)), ends[-1:]])
    return Lists(begin, *(np.concatenate(each) for each in list(zip(*found, strict=True))[1:]))


def pruned(lists: Lists) -> Lists:
    """The lists without the entries that are in no pair."""
    lists = in_pairs(lists)
    return selected(lists, lists.listed | lists.reads)


def in_pairs(lists: Lists) -> Lists:
    """The same entries, with the marks that are not part of any pair cleared."""
    reads = lists.reads & (before(lists.begin, lists.listed) > 0)
    return lists._replace(listed=lists.listed & (after(lists.begin, reads) > 0), reads=reads)


def before(begin: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """The number of marked entries before each entry of its list: int[m]."""
    count = counted(marked)
    return count[:-1] - np.repeat(count[begin[:-1]], np.diff(begin))


def after(begin: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """The number of marked entries after each entry of its list: int[m]."""
    count = counted(marked)
    return np.repeat(count[begin[1:]], np.diff(begin)) - count[1:]


def counted(marked: np.ndarray) -> np.ndarray:
    """The number of marked entries before each entry, and of all: int[m + 1]; int32 if possible, to save memory for very large buckets."""
    count = np.zeros(len(marked) + 1, np.int32 if len(marked) < 2**31 else np.int64)
    np.cumsum(marked, out=count[1:])
    return count


def selected(lists: Lists, some: np.ndarray) -> Lists:
    """Some entries of lists, bool[m], without lists that have none."""
    sizes = counted(some)[lists.begin].astype(np.int64)
    return Lists(np.unique(sizes), lists.item[some], lists.listed[some], lists.reads[some])
