"""Hot buckets, which have so many members that a task with all of them would take much longer than others: each is cut into slices.

The members of a part of a hot bucket go to one task. If the part is hot itself, those of its own parts do, and at the last level any members
(`stages.candidates`). To find its candidates, a slice needs the items that the hot buckets and parts list, which may be in other slices. These are
few: a bucket lists the smallest items of its parts, up to `BUDGET` of them, so the smallest ones that each task finds are enough to know them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import GATHERED, binary, flat, gathered, packed, part_of, whole
from likewise.engines.spark.distinct import InOrder
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.stages.candidates import BUDGET, FINER, keyed
from likewise.stages.scope import Scope

if TYPE_CHECKING:
    pass

#: A bucket or part is hot if it has more members than `LEAST`, and more than 1/`SHARE` of the keys that a partition has on average.
LEAST, SHARE = 1 << 16, 2
#: Members of a bucket of this size that the sample has on average. A bucket with half as many in the sample is hot.
SEEN = 32
#: The step of items that hot buckets list: each is a candidate of very many items. No more than so many are treated so.
HEADS, MOST_HEADS = "hot-heads", 1 << 16
#: More than the number of buckets and parts in a partition.
NUMBERED = 1 << 33
#: The members of a slice: the number of the hot bucket, the item, and its keys in the next bands.
MEMBERS = ["bucket", "item", "finer"]
#: The items that a task found for a hot bucket or part: one of the first members, or the first member of a part; or the number of members that stay.
FIRST, HEAD, STAYING, OTHERS = range(4)
TELLING = ["level", "what", "list", "item", "bucket", "finer"]


class Level(NamedTuple):
    """The hot buckets, or their hot parts at a level, in the order of their names."""

    name: np.ndarray  # uint64[k], ascending
    above: np.ndarray  # int64[k]: the band of a bucket, or the hot bucket or part above
    key: np.ndarray  # uint64[k]

    def of(self, above: np.ndarray, key: np.ndarray) -> np.ndarray:
        """The numbers of hot buckets or parts with these keys, int64[n]; -1 for others."""
        if not len(self.name):
            return np.full(len(key), -1)
        place = np.minimum(np.searchsorted(self.name, names(above, key)), len(self.name) - 1)
        return np.where((self.above[place] == above) & (self.key[place] == key) & (above >= 0), place, -1)


class Hot(NamedTuple):
    """The hot buckets and parts, and the members that other slices need."""

    levels: tuple[Level, ...]
    sizes: np.ndarray  # int64[k]: of the hot buckets, by the rule for overfull buckets (`Scope.sizes`); 0: without a pair to compare
    first: np.ndarray  # int64[k]: the first members of the hot buckets
    shared: Shared


class Shared(NamedTuple):
    """Members that slices need of a hot bucket or part, at its level."""

    level: np.ndarray  # int64[m]
    list: np.ndarray  # int64[m]
    bucket: np.ndarray  # int64[m]
    item: np.ndarray  # int64[m]
    finer: np.ndarray  # uint64[m, finer]


def hot_lists(levels: Sequence[Level], bucket: np.ndarray, finer: np.ndarray) -> np.ndarray:
    """The hot bucket and the hot parts of members, int64[1 + finer, n]; -1 where a part is not hot. finer: uint64[n, finer]."""
    found = [bucket]
    for level, keys in zip(levels[1:], finer.T, strict=True):
        found.append(level.of(found[-1], keys))
    return np.stack(found)


def numbered(levels: np.ndarray, lists: np.ndarray, place: int) -> np.ndarray:
    """Return the numbers of the buckets and parts of members (`candidates.Parts`), int64[1 + finer, m]. They are distinct in all partitions.

    levels: the numbers in a partition, whose number is ``place``. lists: `hot_lists`. Buckets of other partitions have numbers below `NUMBERED`.
    """
    depth = np.arange(len(levels))[:, np.newaxis]
    return np.where(levels < 0, -1, np.where(lists >= 0, (1 << 60) + (depth << 40) + lists, (1 + place) * NUMBERED + levels.astype(np.int64)))


def names(above: np.ndarray, key: np.ndarray) -> np.ndarray:
    return keyed(key, above.astype(np.uint64))


def frequent(above: np.ndarray, key: np.ndarray, least: int) -> Level:
    """The pairs of numbers that occur at least so often."""
    name, first, count = np.unique(names(above, key), return_index=True, return_counts=True)
    some = (count >= least) & (above[first] >= 0)
    return Level(name[some], above[first[some]], key[first[some]])


def lists_in(keys: np.ndarray, per: np.ndarray, least: int) -> tuple[Level, ...]:
    """The buckets and parts with at least so many of some items. keys: uint64[n, bands]. per: uint64[n]"""
    bands = keys.shape[1]
    above, levels = np.repeat(np.arange(bands), len(keys)), []
    for level in range(1 + min(FINER, bands - 1)):
        key = np.roll(keys, -level, axis=1).T.ravel() if level else keyed(keys.T, per).ravel()
        levels.append(frequent(above, key, least))
        above = levels[-1].of(above, key)
    return tuple(levels)


def found(steps: Steps, items: InOrder, bands: int, parts: int) -> Hot | None:
    """The hot buckets of a run, None without any; and the step "hot-items" of their members."""
    size, scope = max(LEAST, items.number * bands // parts // SHARE), items.scope
    if parts == 1 or items.number <= size:
        return None
    some = max(1, size // SEEN)
    steps.table("keys-sampled", lambda: items.rows.mapped(steps, partial(sampled, some=some), "keys binary, per long", ["keys", "per"]))
    sample = steps.read("keys-sampled", ["keys", "per"])
    levels = lists_in(flat(sample["keys"], np.uint64).reshape(-1, bands), sample["per"].to_numpy().view(np.uint64), max(2, size // some // 2))
    if not len(levels[0].name):
        return None
    own = partial(members_of, levels=levels, bands=bands)
    members = steps.table("hot-items", lambda: items.rows.mapped(steps, own, "item long, keys binary, per long", ["keys", "per"]))
    said = ", ".join(f"{name} {'binary' if name == 'finer' else 'long'}" for name in TELLING)
    steps.table("hot-told", lambda: mapped(members, partial(told, levels=levels, bands=bands, scope=scope), said))
    hot = known(steps.read("hot-told", TELLING), levels, scope)
    order = np.argsort(-hot.sizes[hot.shared.bucket], kind="stable")
    steps.put(HEADS, pa.table({"item": np.sort(np.unique(hot.shared.item[order[:MOST_HEADS]]))}))
    return hot


def heads_in(steps: Steps) -> np.ndarray:
    """The items that hot buckets list, ascending: int64[k]."""
    return steps.columns(HEADS, "item")[0] if steps.done(HEADS) else np.zeros(0, np.int64)


def pair_part(later: np.ndarray, earlier: np.ndarray, parts: int, many: np.ndarray) -> np.ndarray:
    """The partition of each pair: that of the earlier item, or that of the later one if the earlier one is one of ``many``, which have many pairs."""
    return part_of(np.where(np.isin(earlier, many), later, earlier), parts)


def sampled(batches: Iterator[pa.RecordBatch], some: int) -> Iterator[pa.RecordBatch]:
    """Items -> the keys of one in ``some``."""
    for batch in batches:
        yield batch.select(["keys", "per"]).filter(pa.array(part_of(batch["item"].to_numpy(), some) == 0))


def members_of(batches: Iterator[pa.RecordBatch], levels: Sequence[Level], bands: int) -> Iterator[pa.RecordBatch]:
    """Items -> those with a key of a hot bucket."""
    for batch in batches:
        if len(batch):
            yield batch.select(["item", "keys", "per"]).filter(pa.array((in_hot(batch, levels[0], bands) >= 0).any(axis=1)))


def in_hot(rows: pa.RecordBatch | pa.Table, buckets: Level, bands: int) -> np.ndarray:
    """The hot bucket of each row in each band, int64[n, bands]; -1 for none."""
    keys, per = flat(rows["keys"], np.uint64).reshape(-1, bands), rows["per"].to_numpy().view(np.uint64)
    return np.stack([buckets.of(np.full(len(keys), band), keyed(keys[:, band], per)) for band in range(bands)], axis=1)


def memberships(rows: pa.RecordBatch | pa.Table, levels: Sequence[Level], bands: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(bucket, item, finer) of all members of hot buckets among rows with ``item``, ``keys`` and ``per``."""
    bucket = in_hot(rows, levels[0], bands)
    row, band = np.nonzero(bucket >= 0)
    keys = flat(rows["keys"], np.uint64).reshape(-1, bands)
    finer = keys[row[:, np.newaxis], (band[:, np.newaxis] + np.arange(1, len(levels))) % bands]
    return bucket[row, band], rows["item"].to_numpy()[row], finer


def told(batches: Iterator[pa.RecordBatch], levels: Sequence[Level], bands: int, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Members of hot buckets -> `TELLING`."""
    for table in gathered(batches, 1 << 16):
        bucket, item, finer = memberships(table, levels, bands)
        lists = hot_lists(levels, bucket, finer)
        for level, list_ in enumerate(lists):
            mine = np.flatnonzero(list_ >= 0)
            first = mine[smallest(list_[mine], item[mine], 1 + BUDGET)]
            yield row_of(level, FIRST, first, list_, item, bucket, finer)
            if level < finer.shape[1]:
                yield row_of(level, HEAD, mine[heads(list_[mine], finer[mine, level], item[mine])], list_, item, bucket, finer)
        for what, some in ((STAYING, item < scope.fixed), (OTHERS, item >= scope.fixed)):
            count = np.bincount(bucket[some], minlength=len(levels[0].name))
            every = np.arange(len(count))
            yield row_of(0, what, every, every, count, every, np.zeros((len(count), finer.shape[1]), np.uint64))


def row_of(level: int, what: int, some: np.ndarray, *columns: np.ndarray) -> pa.RecordBatch:
    list_, item, bucket, finer = (each[some] for each in columns)
    same = (pa.array(np.full(len(some), number)) for number in (level, what))
    made = dict(zip(("level", "what"), same, strict=True)) | {
        "list": list_,
        "item": item,
        "bucket": bucket,
        "finer": binary(finer, np.arange(1 + len(some))),
    }
    return pa.record_batch([made[name] for name in TELLING], names=TELLING)


def smallest(group: np.ndarray, item: np.ndarray, most: int) -> np.ndarray:
    """The places of the smallest items of each group, ``most`` of them: int64[k]."""
    order = np.lexsort((item, group))
    rank = np.arange(len(order)) - np.searchsorted(group[order], group[order])
    return order[rank < most]


def heads(group: np.ndarray, part: np.ndarray, item: np.ndarray) -> np.ndarray:
    """The places of the smallest items of the parts of each group, of `BUDGET` parts."""
    order = np.lexsort((item, part, group))
    new = np.ones(len(order), bool)
    new[1:] = (group[order[1:]] != group[order[:-1]]) | (part[order[1:]] != part[order[:-1]])
    first = order[new]
    return first[smallest(group[first], item[first], BUDGET)]


def known(table: pa.Table, levels: tuple[Level, ...], scope: Scope) -> Hot:
    """Facts about hot buckets, from the counts of all tasks."""
    level, list_, what, item, bucket = (table[name].to_numpy() for name in ("level", "list", "what", "item", "bucket"))
    finer = flat(table["finer"], np.uint64).reshape(len(table), len(levels) - 1)
    staying, others = (np.bincount(bucket[what == each], item[what == each], len(levels[0].name)).astype(np.int64) for each in (STAYING, OTHERS))
    sizes = staying + others if scope.inside else staying + (others > 0)
    sizes[(others == 0) | ((staying == 0) & (not scope.inside))] = 0
    places = []
    for number in range(len(levels)):
        mine = np.flatnonzero((level == number) & (what == FIRST))
        places.append(mine[smallest(list_[mine], item[mine], 1 + BUDGET)])
        mine = np.flatnonzero((level == number) & (what == HEAD))
        if len(mine):
            places.append(mine[heads(list_[mine], finer[mine, number], item[mine])])
    first = np.full(len(sizes), -1)
    first[bucket[places[0][::-1]]] = item[places[0][::-1]]  # places ascend by bucket and item
    every = np.concatenate(places)
    return Hot(levels, sizes, first, Shared(level[every], list_[every], bucket[every], item[every], finer[every]))


def slices(batches: Iterator[pa.RecordBatch], hot: Hot, bands: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Members of hot buckets -> `MEMBERS`, for the partitions of their slices."""
    for table in gathered(batches, max(1, GATHERED * len(at) // bands)):
        bucket, item, finer = memberships(table, hot.levels, bands)
        some = hot.sizes[bucket] > 0
        bucket, item, finer = bucket[some], item[some], finer[some]
        yield packed(
            part_of(slice_of(hot_lists(hot.levels, bucket, finer), item, finer), len(at)), at, MEMBERS, bucket=bucket, item=item, finer=finer
        )


def slice_of(lists: np.ndarray, item: np.ndarray, finer: np.ndarray) -> np.ndarray:
    """A number of the slice of each member: of its first part that is not hot, or its own. uint64[n]"""
    name = names(lists[-1], item.astype(np.uint64))
    for level in range(len(lists) - 2, -1, -1):
        whole_part = (lists[level] >= 0) & (lists[level + 1] < 0)
        name[whole_part] = names(lists[level][whole_part], finer[whole_part, level])
    return name


def of_slices(batches: Iterator[pa.RecordBatch], hot: Hot) -> Iterator[tuple[int, int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """The members of the slices of a partition, by band: (place, band, bucket, item, finer, shared), in priority order.

    shared: bool[n], True for members of other slices, which are there because they are listed.
    """
    table = whole(batches)
    if table is None:
        return
    bucket, item = flat(table["bucket"], np.int64), flat(table["item"], np.int64)
    finer = flat(table["finer"], np.uint64).reshape(len(item), len(hot.levels) - 1)
    lists, shared, bands = hot_lists(hot.levels, bucket, finer), hot.shared, hot.levels[0].above
    needed = np.zeros(len(shared.item), bool)
    for level, list_ in enumerate(lists):
        needed |= (shared.level == level) & np.isin(shared.list, list_)
    bucket, item, finer = (np.concatenate([own, more[needed]]) for own, more in ((bucket, shared.bucket), (item, shared.item), (finer, shared.finer)))
    others = np.arange(len(item)) >= lists.shape[1]
    order = np.lexsort((others, item, bands[bucket]))
    bucket, item, finer, others = bucket[order], item[order], finer[order], others[order]
    band = bands[bucket]
    new = np.ones(len(item), bool)
    new[1:] = (item[1:] != item[:-1]) | (band[1:] != band[:-1])
    for here in np.unique(band[new]).tolist():
        mine = np.flatnonzero(new & (band == here))
        yield table["place"][0].as_py(), here, bucket[mine], item[mine], finer[mine], others[mine]
