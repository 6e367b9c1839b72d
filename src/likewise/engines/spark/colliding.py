"""Candidates: the band keys of items go to partitions of whole buckets, where each bucket lists its pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.sketching import PART, ROW
from likewise.engines.spark.steps import Steps
from likewise.job import Job
from likewise.stages.candidates import FINER, Candidates, candidate_pairs, keyed
from likewise.stages.scope import Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Entries of a partition: keys, or pairs.
TASK_ENTRIES = 1 << 21
#: The key of an item in a band, and those in the next bands, by which an overfull bucket is split.
KEYS = ["band", "key", "item", *(f"finer_{level}" for level in range(1, 1 + FINER))]
#: What a partition of buckets says: pairs, for the partition of the earlier item; sizes of buckets, with the number of buckets of each; or the
#: members of overfull buckets (stages.candidates.Parts), with the partition, which tells buckets of two apart.
FOUND = ["later", "earlier", "size", "number", "band", "partition", "member", "levels", "listed"]


def schema(names: list[str]) -> str:
    """The schema of `blocks.packed`."""
    return ", ".join(["place long", *(f"{name} binary" for name in names)])


def items_of(entries: DataFrame, items: DataFrame, job: Job, *columns: str) -> DataFrame:
    """Columns of the compared items, with their numbers."""
    what = ROW if job.options.level is None else PART
    return entries.where(entries["what"] == what).select("rank", *columns).join(items, "rank")


def collide(steps: Steps, entries: DataFrame, items: DataFrame, job: Job, scope: Scope, parts: int) -> DataFrame:
    """The step of candidate pairs, sizes of buckets and overfull buckets."""
    assert job.plan is not None
    at, bands = places(parts), job.plan.bands

    def make() -> DataFrame:
        keys = items_of(entries, items, job, "keys", "per").select("item", "keys", "per")
        sent = keys.mapInArrow(partial(spread, bands=bands, at=at), schema(KEYS))
        return sent.repartition(parts, "place").mapInArrow(partial(buckets, bands=bands, at=at, scope=scope), schema(FOUND))

    return steps.table("collided", make)


def spread(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items with their keys in all bands -> an entry for each band."""
    levels = range(1, 1 + min(FINER, bands - 1))
    for table in gathered(batches, max(1, GATHERED * len(at) // bands)):
        item, per = table["item"].to_numpy(), table["per"].to_numpy().view(np.uint64)
        keys = flat(table["keys"], np.uint64).reshape(-1, bands).T
        key = keyed(keys, per).ravel()
        columns = {"band": np.repeat(np.arange(bands, dtype=np.int16), len(item)), "key": key, "item": np.tile(item, bands)}
        columns |= {f"finer_{level}": np.roll(keys, -level, axis=0).ravel() for level in levels}
        yield packed(part_of(key, len(at)), at, KEYS, **columns)


def buckets(batches: Iterator[pa.RecordBatch], bands: int, at: np.ndarray, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Whole buckets -> `FOUND`."""
    table = whole(batches)
    if table is None:
        return
    band, key, item = (flat(table[name], dtype) for name, dtype in (("band", np.int16), ("key", np.uint64), ("item", np.int64)))
    finer = np.empty((min(FINER, bands - 1), len(key)), np.uint64)
    for level, values in enumerate(finer, 1):
        values[:] = flat(table[f"finer_{level}"], np.uint64)
    order, partition = np.argsort(band, kind="stable"), table["place"][0].as_py()
    edges = np.searchsorted(band[order], np.arange(bands + 1))
    for number in range(bands):
        mine = order[edges[number] : edges[number + 1]]
        if len(mine):
            found = candidate_pairs(key[mine], finer[:, mine], item[mine], scope)
            yield from said(found, number, partition, at)


def said(found: Candidates, band: int, partition: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """What the buckets of a band give."""
    for begin in range(0, len(found.later), TASK_ENTRIES):
        later, earlier = (each[begin : begin + TASK_ENTRIES] for each in (found.later, found.earlier))
        yield packed(part_of(earlier, len(at)), at, FOUND, later=later, earlier=earlier)
    size, number = np.unique(found.sizes, return_counts=True)
    whole = np.zeros(len(size), np.int64)
    yield packed(whole, at[:1], FOUND, size=size, number=number)
    parts = found.overfull
    m = len(parts.members)
    if m:
        columns = {"band": np.full(m, band), "partition": np.full(m, partition), "member": parts.members}
        columns |= {"levels": parts.levels.T.astype(np.int32), "listed": parts.listed.T.astype(np.uint8)}
        yield packed(np.zeros(m, np.int64), at[:1], FOUND, **columns)
