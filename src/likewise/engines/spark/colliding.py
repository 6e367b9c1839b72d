"""Candidates: the band keys of items go to partitions of whole buckets, where each bucket lists its pairs.

Overfull buckets are split by the keys of further bands. Few items are in such buckets, so only their members get these keys, in a second step.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark import hot as hot_buckets
from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.distinct import InOrder
from likewise.engines.spark.hot import Hot, Level
from likewise.engines.spark.lazily import LISTS, rows
from likewise.engines.spark.sections import Numbered
from likewise.engines.spark.settling import united
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.stages.candidates import FINER, Lists, before, collisions, in_buckets, keyed, number, ordinary, pruned, whole_pairs
from likewise.stages.lazy import cut
from likewise.stages.scope import Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Entries of a partition: keys, or pairs.
TASK_ENTRIES = 1 << 21
#: The key of an item in a band; for members of overfull buckets also those in the next bands, by which the buckets are split.
KEYS = ["band", "key", "item", "side"]
SPLIT_KEYS = ["band", "key", "item", *(f"finer_{level}" for level in range(1, 1 + FINER))]
#: The result of a partition of buckets: pairs, for the partition of the earlier item, or rows of whole lists, and the number of their pairs; sizes of
#: buckets, and the number of buckets of each size; members of overfull buckets, for the partition itself: as they are, with their keys, or split
#: (stages.candidates.Parts).
FOUND = ["later", "earlier", *LISTS, "pairs", "size", "number", "band", "key", "item", "member", "levels", "listed"]
#: The steps of buckets: all but the overfull ones, and these.
STEPS = ("collided", "split")
#: Members of overfull buckets, with the numbers of the partitions of the buckets; or items, with their keys in all bands.
SPLITTING = ["band", "key", "item", "home", "own", "keys"]
#: The lists of partition i are numbered from i times this, those of overfull buckets from the middle.
MOST_LISTS = 1 << 40


def keys_of(steps: Steps, items: Numbered, bands: int, at: np.ndarray, but: Level | None = None) -> DataFrame:
    """The band keys of items, in partitions of whole buckets. but: buckets that are left out."""
    return items.mapped(steps, partial(spread, bands=bands, at=at, but=but), schema(KEYS), ["keys", "per"]).repartition(len(at), "place")


def collide(steps: Steps, items: InOrder, bands: int, parts: int) -> DataFrame:
    """The steps of lists of candidates, sizes of buckets and overfull buckets: the rows of both."""
    at, scope = places(parts), items.scope
    hot = hot_buckets.found(steps, items, bands, parts)
    but = None if hot is None else hot.levels[0]
    first = steps.table(
        "collided", lambda: mapped(keys_of(steps, items.rows, bands, at, but), partial(buckets, bands=bands, at=at, scope=scope), schema(FOUND))
    )
    split = []
    if steps.has("collided", "item"):
        members = mapped(first.where("item is not null").select("place", "band", "key", "item"), partial(to_items, at=at), schema(SPLITTING))
        keys = items.rows.mapped(steps, partial(with_keys, at=at), schema(SPLITTING), ["keys"])
        blocks = mapped(members.unionByName(keys).repartition(parts, "place"), partial(spread_again, bands=bands, at=at), schema(SPLIT_KEYS))
        split.append(mapped(blocks.repartition(parts, "place"), partial(overfull, bands=bands, at=at, scope=scope), schema(FOUND)))
    if hot is not None:
        blocks = mapped(steps.frame("hot-items"), partial(hot_buckets.slices, hot=hot, bands=bands, at=at), schema(hot_buckets.MEMBERS))
        split.append(mapped(blocks.repartition(parts, "place"), partial(in_slices, hot=hot, at=at, scope=scope), schema(FOUND)))
    if not split:
        nothing = pa.table({"place": pa.array([], pa.int64()), **{name: pa.array([], pa.binary()) for name in FOUND}})
        return first.unionByName(steps.put("split", nothing))
    return first.unionByName(steps.table("split", lambda: united(split)))


def listed_pairs(steps: Steps, *names: str) -> int:
    """The number of candidate pairs in the lists of steps, counted in each of them."""
    return sum(int(flat(steps.read(name, ["pairs"], pc.is_valid(pc.field("pairs")))["pairs"], np.int64).sum()) for name in names)


def pairs(steps: Steps, items: InOrder, bands: int, parts: int) -> DataFrame:
    """The step of the sizes of buckets and of all pairs that share one; if items have sides, only of pairs across."""
    at = places(parts)
    return steps.table("pairs", lambda: mapped(keys_of(steps, items.rows, bands, at), partial(whole_buckets, bands=bands, at=at), schema(FOUND)))


def spread(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray, but: Level | None = None) -> Iterator[pa.RecordBatch]:
    """Items with their keys in all bands -> an entry for each band, but not those in the buckets ``but``."""
    for table in gathered(batches, max(1, GATHERED * len(at) // bands)):
        item, per = table["item"].to_numpy(), table["per"].to_numpy().view(np.uint64)
        key = keyed(flat(table["keys"], np.uint64).reshape(-1, bands).T, per).ravel()
        columns = {"band": np.repeat(np.arange(bands, dtype=np.int16), len(item)), "key": key, "item": np.tile(item, bands)}
        if "side" in table.column_names:
            columns["side"] = np.tile(table["side"].to_numpy().astype(np.uint8), bands)
        if but is not None:
            some = but.of(columns["band"].astype(np.int64), key) < 0
            columns = {name: values[some] for name, values in columns.items()}
        yield packed(part_of(columns["key"], len(at)), at, KEYS, **columns)


def to_items(batches: Iterator[pa.RecordBatch], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Members of overfull buckets -> `SPLITTING`, for the partitions of the items."""
    order = np.argsort(at)
    for table in gathered(batches, GATHERED):
        band, key, item = (flat(table[name], dtype) for name, dtype in (("band", np.int16), ("key", np.int64), ("item", np.int64)))
        home = order[np.searchsorted(at[order], np.repeat(table["place"].to_numpy(), pc.binary_length(table["item"]).to_numpy() // 8))]
        yield packed(part_of(item, len(at)), at, SPLITTING, band=band, key=key, item=item, home=home)


def with_keys(batches: Iterator[pa.RecordBatch], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items -> `SPLITTING`."""
    for table in gathered(batches, GATHERED * len(at)):
        own = table["item"].to_numpy()
        yield packed(part_of(own, len(at)), at, SPLITTING, own=own, keys=flat(table["keys"], np.uint64).reshape(len(own), -1))


def spread_again(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Members of overfull buckets and the keys of their items -> entries of members with their keys in the next bands."""
    if (table := whole(batches)) is None:
        return
    own, keys = flat(table["own"], np.int64), flat(table["keys"], np.uint64).reshape(-1, bands)
    columns = {name: flat(table[name], np.int16 if name == "band" else np.int64) for name in KEYS[:3]}
    order = np.argsort(own)
    place, band = order[np.searchsorted(own[order], columns["item"])], columns["band"].astype(np.int64)
    columns |= {f"finer_{level}": keys[place, (band + level) % bands] for level in range(1, 1 + min(FINER, bands - 1))}
    yield packed(flat(table["home"], np.int64), at, SPLIT_KEYS, **columns)


def buckets(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Whole buckets -> `FOUND`, with the members of overfull ones as they are."""
    if (table := whole(batches)) is None:
        return
    key, item = flat(table["key"], np.uint64), flat(table["item"], np.int64)
    here = table["place"][:1].to_numpy()
    first = first_list(here, at)
    for band, mine in of_bands(table, bands):
        lists, sizes, over = ordinary(key[mine], item[mine], scope)
        yield from said(lists, sizes, first, at)
        first += len(lists.item)
        if len(over):
            columns = {"band": np.full(len(over), band, np.int16), "key": key[mine[over]], "item": item[mine[over]]}
            yield packed(np.zeros(len(over), np.int64), here, FOUND, **columns)


def overfull(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Whole overfull buckets -> `FOUND`, by the rule for them."""
    if (table := whole(batches)) is None:
        return
    key, item = flat(table["key"], np.uint64), flat(table["item"], np.int64)
    finer = np.empty((min(FINER, bands - 1), len(key)), np.uint64)
    for level, values in enumerate(finer, 1):
        values[:] = flat(table[f"finer_{level}"], np.uint64)
    here = table["place"][:1].to_numpy()
    first = first_list(here, at) + MOST_LISTS // 2
    for band, mine in of_bands(table, bands):
        found = collisions(key[mine], finer[:, mine], item[mine], scope)
        yield from said(found.lists, found.sizes, first, at)
        first += len(found.lists.item)
        parts = found.overfull
        m = len(parts.members)
        columns = {"band": np.full(m, band), "member": parts.members}
        columns |= {"levels": parts.levels.T.astype(np.int64), "listed": parts.listed.T.astype(np.uint8)}
        yield packed(np.zeros(m, np.int64), here, FOUND, **columns)


def in_slices(batches: Iterator[pa.RecordBatch], hot: Hot, at: np.ndarray, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Slices of hot buckets -> `FOUND`; the members of overfull ones for the partitions of whole buckets."""
    begun = 0
    for place, band, bucket, item, finer, shared in hot_buckets.of_slices(batches, hot):
        here = first_list(np.array([place]), at)
        begun = begun or here + MOST_LISTS * 3 // 4
        own, number_of = np.unique(bucket, return_inverse=True)
        found = in_buckets(number_of.astype(np.int32), hot.sizes[own], finer.T, item, scope.of(item))
        lists = pruned(found.lists._replace(reads=found.lists.reads & ~np.isin(found.lists.item, item[shared])))
        yield from said(lists, hot.sizes[bucket[~shared & (item == hot.first[bucket])]], begun, at)
        begun += len(lists.item)
        parts = found.overfull
        some = np.searchsorted(item, parts.members)
        levels = hot_buckets.numbered(parts.levels, hot_buckets.hot_lists(hot.levels, bucket[some], finer[some]), here // MOST_LISTS)
        local = ~shared[some]
        home = part_of(hot.levels[0].key[bucket[some[local]]], len(at))
        columns = {"band": np.full(len(home), band), "member": parts.members[local]}
        columns |= {"levels": levels.T[local], "listed": parts.listed.T[local].astype(np.uint8)}
        yield packed(home, at, FOUND, **columns)


def first_list(here: np.ndarray, at: np.ndarray) -> int:
    """The number of the first list of each partition."""
    return MOST_LISTS * int(np.flatnonzero(at == here[0])[0])


def whole_buckets(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Whole buckets -> all their pairs, and their sizes."""
    if (table := whole(batches)) is None:
        return
    key, item, side = (flat(table[name], dtype) for name, dtype in (("key", np.uint64), ("item", np.int64), ("side", np.uint8)))
    for _, mine in of_bands(table, bands):
        bucket = np.empty(len(mine), np.int32)
        yield sizes_of(number(key[mine], bucket), at)
        for later, earlier in whole_pairs(key[mine], item[mine], side[mine] if len(side) else side, TASK_ENTRIES):
            yield packed(part_of(earlier, len(at)), at, FOUND, later=later, earlier=earlier)


def of_bands(table: pa.Table, bands: int) -> Iterator[tuple[int, np.ndarray]]:
    """The bands of the keys of a partition, and the places of the keys of each."""
    band = flat(table["band"], np.int16)
    order = np.argsort(band, kind="stable")
    edges = np.searchsorted(band[order], np.arange(bands + 1))
    for here in np.flatnonzero(np.diff(edges)).tolist():
        yield here, order[edges[here] : edges[here + 1]]


def sizes_of(sizes: np.ndarray, at: np.ndarray) -> pa.RecordBatch:
    """The distinct sizes of buckets, and the number of buckets of each size."""
    size, number = np.unique(sizes, return_counts=True)
    return packed(np.zeros(len(size), np.int64), at[:1], FOUND, size=size, number=number)


def said(found: Lists, sizes: np.ndarray, first: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The rows of `FOUND` for the lists and sizes of buckets of a band. first: the number of the first list; no other list has it or a later one."""
    lists = cut(found)
    made = rows(lists, first + np.arange(len(lists.begin) - 1))
    none = {name: pa.nulls(len(made), pa.binary()) for name in FOUND}
    yield pa.record_batch({"place": pa.array(np.full(len(made), at[0])), **none, **dict(zip(LISTS, made.columns, strict=True))})
    pairs = np.array([before(lists.begin, lists.listed)[lists.reads].sum()])
    yield packed(np.zeros(1, np.int64), at[:1], FOUND, pairs=pairs)
    yield sizes_of(sizes, at)
