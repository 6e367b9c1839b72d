"""The steps of an outcome: removed rows, representatives, rows in clusters, similar pairs. Rows are named by rank, which ascends in input order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.engines.spark import components
from likewise.engines.spark.distinct import Distinct
from likewise.engines.spark.settling import MATCHES, Log
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.job import Job
from likewise.runs.verify import valued
from likewise.stages.settle import MOST_MATCHES, REMEMBERED
from likewise.stages.verify import Compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Bytes of a row group: the driver reads ranges of rows.
GROUP_BYTES = 4 << 20
#: Columns of removed rows, which ascend by rank. kept: the kept row; overlap, out_of: the similarity to it, null for exact copies.
REMOVED = ["rank", "rank_id", "kept", "kept_id", "overlap", "out_of"]
#: Columns of rows in clusters, which ascend by head, the representative; it comes first, and the others ascend by rank.
#: component: the first representative of the component. opens: true for all rows of the first cluster of a component.
CLUSTERS = ["rank", "rank_id", "head", "head_id", "component", "component_id", "overlap", "out_of", "opens"]
#: Columns of similar pairs, which ascend by a, then by b.
PAIRS = ["a", "a_id", "b", "b_id", "overlap", "out_of"]


class Found(NamedTuple):
    """The search of which these are the steps."""

    steps: Steps
    items: Distinct
    ids: DataFrame | None  # rank, id; None if no row has an id
    border: int  # rows from this rank on belong to the second collection
    matches: str  # the step of `settling.MATCHES`, or that of `remembered`


def remembered(steps: Steps, job: Job) -> str:
    """The name of the step of matches, `settling.MATCHES`: of very many only the most similar of each item, as the local engine stores them."""
    if steps.rows("matches") <= MOST_MATCHES:
        return "matches"

    def make() -> DataFrame:
        close = mapped(steps.frame("matches"), partial(closeness, job=job), f"{MATCHES}, closeness double")
        place = "row_number() over (partition by later order by closeness desc, earlier) as place"
        some = close.selectExpr("*", place).where(f"place <= {REMEMBERED}").drop("place", "closeness", "previous")
        return some.selectExpr("*", "lag(earlier) over (partition by later order by earlier) as previous")

    steps.table("remembered", make)
    return "remembered"


def closeness(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """Matches -> matches with a number that is the greater, the more similar they are."""
    for batch in batches:
        value = valued(Compared(batch["overlap"].to_numpy(), batch["out_of"].to_numpy()), job)
        yield batch.append_column("closeness", pa.array(np.nan_to_num(-value if job.distances else value)))


def with_ids(frame: DataFrame, ids: DataFrame | None, *columns: str) -> DataFrame:
    """A table with the ids of the rows that some columns name, in columns NAME_id."""
    for name in columns:
        if ids is None:
            frame = frame.selectExpr("*", f"cast(null as binary) as {name}_id")
        else:
            frame = frame.join(ids.selectExpr(f"rank as {name}", f"id as {name}_id"), name, "left")
    return frame


def removed(found: Found) -> list[Path]:
    """The files of removed rows. A copy of a removed item has the representative of that item."""
    steps, items = found.steps, found.items
    copy = f"rank <> first and rank < {found.border}L"
    if not items.scope.inside:
        copy += f" and first >= {found.border}L"

    def make() -> DataFrame:
        best = steps.frame("matches").where("best").selectExpr("later as item", "earlier", "overlap", "out_of")
        rows = items.copies.join(best, "item", "left").join(items.items.selectExpr("item as earlier", "rank as kept"), "earlier", "left")
        gone = rows.where(f"kept is not null or {copy}")
        each = gone.selectExpr("rank", "coalesce(kept, first) as kept", "coalesce(earlier, item) as item", "overlap", "out_of")
        return with_ids(each, found.ids, "rank", "kept").select(*REMOVED, "item").orderBy("rank")

    steps.table("removed", make, GROUP_BYTES)
    return steps.files_of("removed")


def heads(found: Found, log: Log) -> DataFrame:
    """The step of representatives: head, head_id, component, component_id, opens."""
    steps = found.steps

    def make() -> DataFrame:
        linked = components.components(steps, steps.frame(found.matches), found.items.number, log)
        each = steps.frame("removed").groupBy("kept", "item").agg({"kept_id": "max"}).toDF("head", "item", "head_id")
        firsts = found.items.items.selectExpr("item as first", "rank as component")
        joined = each.join(linked, "item", "left").join(firsts, "first", "left")
        of = with_ids(joined.selectExpr("head", "head_id", "coalesce(component, head) as component"), found.ids, "component")
        return of.selectExpr("*", "min(head) over (partition by component) = head as opens")

    return steps.table("heads", make)


def clusters(found: Found, log: Log) -> list[Path]:
    """The files of rows in clusters."""
    steps, representatives = found.steps, heads(found, log)

    def make() -> DataFrame:
        from pyspark.sql.functions import expr

        own = representatives.selectExpr("head as rank", "head_id as rank_id", "*", "cast(null as long) as overlap", "cast(null as long) as out_of")
        members = steps.frame("removed").selectExpr("rank", "rank_id", "kept as head", "overlap", "out_of").join(representatives, "head")
        return own.select(*CLUSTERS).unionByName(members.select(*CLUSTERS)).orderBy("head", expr("rank <> head"), "rank")

    steps.table("clusters", make, GROUP_BYTES)
    return steps.files_of("clusters")


def pairs(found: Found) -> list[Path]:
    """The files of similar pairs."""
    steps, ranks = found.steps, found.items.items

    def make() -> DataFrame:
        matches = steps.frame(found.matches)
        both = matches.join(ranks.selectExpr("item as later", "rank as x"), "later").join(ranks.selectExpr("item as earlier", "rank as y"), "earlier")
        each = both.selectExpr("least(x, y) as a", "greatest(x, y) as b", "overlap", "out_of")
        return with_ids(each, found.ids, "a", "b").select(*PAIRS).orderBy("a", "b")

    steps.table("matched", make, GROUP_BYTES)
    return steps.files_of("matched")
