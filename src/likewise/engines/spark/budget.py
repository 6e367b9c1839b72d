"""The pairs that the rule for overfull buckets left out, counted and sampled in the partitions that have the buckets (`stages.budget`).

Each partition gets the removed members of its buckets, and counts the pairs that were left out. One task takes all counts, finds the buckets with the
most such pairs, and draws numbers of pairs; the partitions then look up the items of these pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.settling import batch
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import Columns, said, schema, with_told
from likewise.stages.buckets import Splits
from likewise.stages.budget import Counts, Cut, Hot, Overfull, drawn, hottest, left_out, merged, overfull, skipped
from likewise.stages.candidates import FINER
from likewise.stages.scope import Scope
from likewise.stages.verify import Compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MEMBERS = ["band", "member", "levels", "listed"]
COUNTS = "place long, band long, first long, size long, kept long, fixed long, candidates long"
#: The sample: pairs, by place and name of their bucket and their number in it; the hottest buckets; the number of pairs that were left out.
DRAWN = "place long, bucket long, number long, band long, first long, size long, cut long, total long"
SKIPPED = "earlier long, later long"


def sizes(steps: Steps, *names: str) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of buckets, and the number of buckets of each, int64[k] each, from the steps that list their pairs. A size may occur several times."""
    table = pa.concat_tables([steps.read(name, ["size", "number"], pc.is_valid(pc.field("size"))) for name in names])
    return flat(table["size"], np.int64), flat(table["number"], np.int64)


def estimate(
    steps: Steps,
    removed: DataFrame,
    bands: int,
    scope: Scope,
    seed: int,
    parts: int,
    compare: Callable[[np.ndarray, np.ndarray], Compared],
) -> tuple[list[Hot], Cut]:
    """The hottest buckets (`stages.budget.hottest`), and the estimate for the pairs that were left out.

    removed: items. compare: compares items left, int64[m], with items right, int64[m], as `stages.verify` does.
    """
    members = steps.frame("split").where("member is not null").select("place", *MEMBERS)
    if not steps.has("split", "member"):
        return [], Cut(0, 0, 0, 0.0)
    gone = steps.table("overfull-gone", partial(told_home, members, removed, places(parts)))
    here = members.unionByName(gone, allowMissingColumns=True)
    counts = steps.table("overfull-counts", lambda: mapped(here.repartition(parts, "place"), partial(count, bands=bands, scope=scope), COUNTS))
    steps.table("overfull-drawn", lambda: mapped(counts.repartition(1), partial(draw, inside=scope.inside, seed=seed), DRAWN))
    total, worst = 0, []
    for row in steps.frame("overfull-drawn").where("bucket is null").select(*Hot._fields, "total").collect():
        *bucket, number = row
        total = number if row["first"] is None else total
        worst += [] if row["first"] is None else [Hot(*bucket)]
    wanted = steps.frame("overfull-drawn").where("bucket is not null").select("place", "bucket", "number")
    asked = here.unionByName(wanted, allowMissingColumns=True)
    steps.table("skipped", lambda: mapped(asked.repartition(parts, "place"), partial(name, bands=bands, scope=scope), SKIPPED))
    table = steps.read("skipped", ["earlier", "later"])
    left, right = (table[each].to_numpy() for each in table.column_names)
    similar = np.count_nonzero(compare(left, right).overlap >= 0) if len(left) else 0
    return sorted(worst, key=lambda each: -each.cut), left_out(total, len(left), int(similar))


def told_home(members: DataFrame, removed: DataFrame, at: np.ndarray) -> DataFrame:
    """The removed members, for the partitions of their buckets."""
    names = ["member", "home"]
    by_item = mapped(members.select("place", "member"), partial(to_items, at=at), schema(names))
    told = said(removed, "item", "1L", len(at))
    return with_told(by_item, names, "member", told, 0, partial(to_home, at=at), schema(["gone"]), len(at))


def to_items(batches: Iterator[pa.RecordBatch], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Members -> members with the numbers of their partitions, for the partitions of the items."""
    order = np.argsort(at)
    for table in gathered(batches, GATHERED):
        member = flat(table["member"], np.int64)
        sizes = pc.binary_length(table["member"]).to_numpy() // 8
        home = np.repeat(order[np.searchsorted(at[order], table["place"].to_numpy())], sizes)
        yield packed(part_of(member, len(at)), at, ["member", "home"], member=member, home=home)


def to_home(members: Columns, gone: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    some = np.flatnonzero(gone)
    yield packed(members["home"][some], at, ["gone"], gone=members["member"][some])


def here(table: pa.Table, bands: int, scope: Scope) -> tuple[Splits, Overfull]:
    """The overfull buckets of a partition."""
    levels = 1 + min(FINER, bands - 1)
    band, item, gone = (flat(table[name], np.int64) for name in ("band", "member", "gone"))
    level, listed = flat(table["levels"], (np.int64, (levels,))), flat(table["listed"], (np.uint8, (levels,)))
    order = np.lexsort((item, band))
    band, item, level, listed = band[order], item[order], level[order].T, listed[order].T.astype(bool)
    begin = np.searchsorted(band, np.arange(bands + 1))
    members = ((item[a:b], level[:, a:b], listed[:, a:b]) for a, b in pairwise(begin.tolist()))
    return Splits(item, begin, level[1:], listed), overfull(members, lambda items: ~np.isin(items, gone), scope)


def count(batches: Iterator[pa.RecordBatch], bands: int, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Members of whole buckets, and the removed ones -> `COUNTS`."""
    table = whole(batches)
    if table is None:
        return
    counts = here(table, bands, scope)[1].counts
    yield batch(COUNTS, np.full(len(counts.band), table["place"][0].as_py()), *counts.columns)


def draw(batches: Iterator[pa.RecordBatch], inside: bool, seed: int) -> Iterator[pa.RecordBatch]:
    """The counts of all buckets -> `DRAWN`."""
    table = whole(batches)
    if table is None:
        return
    place, *found = (column.to_numpy() for column in table.columns)
    given = Counts(inside, *found)
    counts = merged([given])
    bucket, number = drawn(counts, seed)
    place, names = place[np.argsort(given.name)], counts.name
    none = pa.nulls(len(bucket), pa.int64())
    hot = len(Hot._fields)
    yield batch(DRAWN, place[bucket], names[bucket], number, *(none,) * (hot + 1))
    worst = np.array(hottest(counts), np.int64).reshape(-1, hot)
    none = pa.nulls(len(worst), pa.int64())
    yield batch(DRAWN, *(none,) * 3, *worst.T, none)
    yield batch(DRAWN, *(pa.nulls(1, pa.int64()),) * (3 + hot), np.array([int(counts.cut.sum())]))


def name(batches: Iterator[pa.RecordBatch], bands: int, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Members of whole buckets, the removed ones, and numbers of pairs -> those pairs that were left out."""
    table = whole(batches)
    if table is None:
        return
    asked = table.filter(pc.is_valid(table["bucket"]))
    if not len(asked):
        return
    splits, full = here(table, bands, scope)
    bucket = np.searchsorted(full.counts.name, asked["bucket"].to_numpy())
    yield batch(SKIPPED, *skipped(splits, full, bucket, asked["number"].to_numpy()))
