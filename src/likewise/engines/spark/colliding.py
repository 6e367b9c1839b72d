"""Candidates: the band keys of items go to partitions of whole buckets, where each bucket lists its pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.lazily import LISTS, rows
from likewise.engines.spark.sketching import PART, ROW
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.job import Job
from likewise.stages.candidates import FINER, Collisions, before, collisions, keyed, number, whole_pairs
from likewise.stages.lazy import cut
from likewise.stages.scope import Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Entries of a partition: keys, or pairs.
TASK_ENTRIES = 1 << 21
#: The key of an item in a band, and those in the next bands, by which an overfull bucket is split.
KEYS = ["band", "key", "item", "side", *(f"finer_{level}" for level in range(1, 1 + FINER))]
#: The result of a partition of buckets: pairs, for the partition of the earlier item, or rows of whole lists, and the number of their pairs; sizes of
#: buckets, and the number of buckets of each size; and the members of overfull buckets (stages.candidates.Parts), for the partition itself.
FOUND = ["later", "earlier", *LISTS, "pairs", "size", "number", "band", "member", "levels", "listed"]
#: The lists of partition i are numbered from i times this.
MOST_LISTS = 1 << 40


def items_of(entries: DataFrame, items: DataFrame, job: Job, *columns: str) -> DataFrame:
    """Columns of the compared items, with their numbers."""
    what = ROW if job.options.level is None else PART
    return entries.where(entries["what"] == what).select("rank", *columns).join(items, "rank")


def keys_of(entries: DataFrame, items: DataFrame, job: Job, at: np.ndarray, *, split: bool) -> DataFrame:
    """The band keys of items, in partitions of whole buckets. split: with the keys by which overfull buckets are split."""
    assert job.plan is not None
    bands = job.plan.bands
    sides = ["side"] if "side" in items.columns else []
    keys = items_of(entries, items, job, "keys", "per").select("item", "keys", "per", *sides)
    levels = min(FINER, bands - 1) if split else 0
    return mapped(keys, partial(spread, bands=bands, levels=levels, at=at), schema(KEYS)).repartition(len(at), "place")


def collide(steps: Steps, entries: DataFrame, items: DataFrame, job: Job, scope: Scope, parts: int) -> DataFrame:
    """The step of lists of candidates, sizes of buckets and overfull buckets."""
    assert job.plan is not None
    at, bands = places(parts), job.plan.bands

    def make() -> DataFrame:
        return mapped(keys_of(entries, items, job, at, split=True), partial(buckets, bands=bands, at=at, scope=scope), schema(FOUND))

    return steps.table("collided", make)


def pairs(steps: Steps, entries: DataFrame, items: DataFrame, job: Job, parts: int) -> DataFrame:
    """The step of the sizes of buckets and of all pairs that share one; if items have sides, only of pairs across."""
    assert job.plan is not None
    at, bands = places(parts), job.plan.bands

    def make() -> DataFrame:
        return mapped(keys_of(entries, items, job, at, split=False), partial(whole_buckets, bands=bands, at=at), schema(FOUND))

    return steps.table("pairs", make)


def spread(batches: Iterator[pa.RecordBatch], bands: int, levels: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items with their keys in all bands -> an entry for each band."""
    for table in gathered(batches, max(1, GATHERED * len(at) // bands)):
        item, per = table["item"].to_numpy(), table["per"].to_numpy().view(np.uint64)
        keys = flat(table["keys"], np.uint64).reshape(-1, bands).T
        key = keyed(keys, per).ravel()
        columns = {"band": np.repeat(np.arange(bands, dtype=np.int16), len(item)), "key": key, "item": np.tile(item, bands)}
        columns |= {f"finer_{level}": np.roll(keys, -level, axis=0).ravel() for level in range(1, 1 + levels)}
        if "side" in table.column_names:
            columns["side"] = np.tile(table["side"].to_numpy().astype(np.uint8), bands)
        yield packed(part_of(key, len(at)), at, KEYS, **columns)


def buckets(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Whole buckets -> `FOUND`, by the rule for overfull ones."""
    if (table := whole(batches)) is None:
        return
    key, item = flat(table["key"], np.uint64), flat(table["item"], np.int64)
    finer = np.empty((min(FINER, bands - 1), len(key)), np.uint64)
    for level, values in enumerate(finer, 1):
        values[:] = flat(table[f"finer_{level}"], np.uint64)
    partition = table["place"][0].as_py()
    first = MOST_LISTS * int(np.flatnonzero(at == partition)[0])
    for band, mine in of_bands(table, bands):
        found = collisions(key[mine], finer[:, mine], item[mine], scope)
        yield from said(found, first, band, partition, at)
        first += len(found.lists.item)


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


def said(found: Collisions, first: int, band: int, partition: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The rows of `FOUND` for the buckets of a band. first: the number of the first list; no other list has it or a later one."""
    lists = cut(found.lists)
    made = rows(lists, first + np.arange(len(lists.begin) - 1))
    none = {name: pa.nulls(len(made), pa.binary()) for name in FOUND}
    yield pa.record_batch({"place": pa.array(np.full(len(made), at[0])), **none, **dict(zip(LISTS, made.columns, strict=True))})
    pairs = np.array([before(lists.begin, lists.listed)[lists.reads].sum()])
    yield packed(np.zeros(1, np.int64), at[:1], FOUND, pairs=pairs)
    yield sizes_of(found.sizes, at)
    parts = found.overfull
    m = len(parts.members)
    if m:
        columns = {"band": np.full(m, band), "member": parts.members}
        columns |= {"levels": parts.levels.T.astype(np.int32), "listed": parts.listed.T.astype(np.uint8)}
        yield packed(np.zeros(m, np.int64), np.array([partition]), FOUND, **columns)
