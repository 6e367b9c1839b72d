"""The step of rows in clusters, cluster by cluster, from removed rows and the links between their representatives.

Representatives go to the partitions of their items, where they meet the first items of their components, and from there to all partitions that have
rows of their clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark import components
from likewise.engines.spark.blocks import packed, part_of, places, whole
from likewise.engines.spark.distinct import part_in
from likewise.engines.spark.removed import GROUP_BYTES, Found
from likewise.engines.spark.sections import Files
from likewise.engines.spark.settling import Log
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import Columns, columns_in, said, schema, with_told
from likewise.engines.spark.with_ids import AT_ONCE, Targets, by_section, identified, in_order, rows_of, sent, types
from likewise.items.wrapped import wrapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Columns of rows in clusters, which ascend by head, the representative; it comes first, and the others ascend by rank.
#: component: the first representative of the component. opens: true for all rows of the first cluster of a component.
CLUSTERS = ["rank", "rank_id", "head", "head_id", "component", "component_id", "overlap", "out_of", "opens"]
#: Rows of a partition.
TASK_ROWS = 1 << 19
#: Blocks: representatives with their items; with their components; other rows.
HEAD = ["head", "item", "head_id", "head_id_size"]
HEADS = ["head", "head_id", "head_id_size", "component", "component_id", "component_id_size", "opens"]
MEMBERS = ["rank", "rank_id", "rank_id_size", "member_of", "overlap", "out_of"]
#: More than any rank.
LAST = 2**62


def clusters(found: Found, log: Log) -> list[Path]:
    """The files of rows in clusters, one for each partition of `borders`."""
    steps, sections, parts = found.steps, found.rows.sections, found.parts
    linked = components.components(steps, found.matches, found.items.number, log)

    def make() -> DataFrame:
        cuts, files = borders(steps), Files.of(steps, "removed")
        at, to_rows = places(1 + cuts.shape[1]), partial(parts_of, cuts=cuts)
        own = sections.each(steps, partial(heads_in, files=files, ids=found.ids, at=places(parts)), schema(HEAD))
        if linked is None:
            heads = mapped(own.repartition(parts, "place"), partial(alone, ids=found.ids, targets=to_rows), schema(HEADS))
        else:
            names = HEAD if found.ids else HEAD[:2]
            then = partial(known_first, at=places(parts))
            own = with_told(own, names, "item", said(linked, "item", "first", parts), -1, then, schema([*HEAD, "first"]), parts)
            then = partial(of_components, targets=by_section(sections, "component") if found.ids else to_rows)
            heads = with_told(own, [*names, "first"], "first", found.rows.ranks(steps, parts), -1, then, schema(HEADS), parts)
            if found.ids:
                heads = identified(heads, "component", HEADS, to_rows, sections)
        members = sections.each(steps, partial(members_in, files=files, ids=found.ids, cuts=cuts, at=at), schema(MEMBERS))
        both = members.unionByName(heads, allowMissingColumns=True).repartition(len(at), "place")
        return mapped(both, partial(clusters_in, ids=found.ids, cuts=cuts, at=at), types(CLUSTERS))

    steps.table("clusters", make, GROUP_BYTES)
    return steps.files_of("clusters")


def borders(steps: Steps) -> np.ndarray:
    """The representatives and ranks with which all partitions of rows but the first begin: int64[2, partitions - 1]."""
    parts = 1 + steps.rows("removed") // TASK_ROWS
    if parts == 1:
        return np.zeros((2, 0), np.int64)
    sample = steps.read("removed", ["sampled_head", "sampled_rank"], pc.is_valid(pc.field("sampled_rank")))
    head, rank = (sample[name].to_numpy() for name in sample.column_names)
    by = np.lexsort((rank, head))[len(head) * np.arange(1, parts) // parts]
    return np.stack([head[by], rank[by]])


def parts_of(heads: Columns, cuts: np.ndarray) -> tuple[Columns, np.ndarray, np.ndarray]:
    """Representatives go to all partitions that may have rows of their clusters."""
    first, last = (part_in(cuts, np.stack([heads["head"], np.full(len(heads["head"]), rank)])) for rank in (-1, LAST))
    number = last - first + 1
    part = np.repeat(first - np.cumsum(number) + number, number) + np.arange(number.sum())
    return in_order(heads, np.repeat(np.arange(len(number)), number)), part, places(1 + cuts.shape[1])


def heads_in(number: int, files: Files, ids: bool, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The representatives in a file of removed rows -> `HEAD`, for the partitions of their items."""
    for table in files.tables(number, ["kept", "item", *(["kept_id"] if ids else [])]):
        head, place = np.unique(table["kept"].to_numpy(), return_index=True)
        columns = {"head": head, "item": table["item"].to_numpy()[place]}
        if ids:
            columns["head_id"] = pa.concat_arrays(table["kept_id"].take(wrapped(place)).chunks)
        yield packed(part_of(np.where(columns["item"] < 0, head, columns["item"]), len(at)), at, HEAD, **columns)


def members_in(number: int, files: Files, ids: bool, cuts: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """A file of removed rows -> `MEMBERS`."""
    for table in files.tables(number, ["rank", "kept", "overlap", "out_of", *(["rank_id"] if ids else [])]):
        rank, head = table["rank"].to_numpy(), table["kept"].to_numpy()
        columns = {name: table[name].fill_null(-1).to_numpy() for name in ("overlap", "out_of")} | {"rank": rank, "member_of": head}
        if ids:
            columns["rank_id"] = pa.concat_arrays(table["rank_id"].chunks)
        yield packed(part_in(cuts, np.stack([head, rank])), at, MEMBERS, **columns)


def once(heads: Columns) -> Columns:
    """Each representative once."""
    return in_order(heads, np.unique(heads["head"], return_index=True)[1])


def alone(batches: Iterator[pa.RecordBatch], ids: bool, targets: Targets) -> Iterator[pa.RecordBatch]:
    """All `HEAD` of some items without links -> `HEADS`: each is a component."""
    table = whole(batches)
    if table is None:
        return
    heads = once(columns_in(table, HEAD if ids else HEAD[:2]))
    made = {"head": heads["head"], "component": heads["head"], "opens": np.ones(len(heads["head"]), np.int64)}
    yield sent(made | ({"head_id": heads["head_id"], "component_id": heads["head_id"]} if ids else {}), HEADS, targets)


def known_first(heads: Columns, told: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """`HEAD`, with the first items of their components, -1 for themselves -> the same, for the partitions of the first items."""
    heads = once(heads | {"first": np.where(told < 0, heads["item"], told)})
    by: Any = np.where(heads["first"] < 0, heads["head"], heads["first"])
    yield packed(part_of(by, len(at)), at, [*HEAD, "first"], **heads)


def of_components(heads: Columns, told: np.ndarray, targets: Targets) -> Iterator[pa.RecordBatch]:
    """All representatives of some components, with the ranks of the first items, -1 for items that are not compared -> `HEADS`."""
    head, component = heads["head"], np.where(told < 0, heads["head"], told)
    order = np.lexsort((head, component))
    opens = np.zeros(len(head), np.int64)
    opens[order[np.flatnonzero(np.diff(component[order], prepend=-1))]] = 1
    made = {"head": head, "component": component, "opens": opens} | ({"head_id": heads["head_id"]} if "head_id" in heads else {})
    yield sent(made, HEADS, targets)


def clusters_in(batches: Iterator[pa.RecordBatch], ids: bool, cuts: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """All `MEMBERS` of a partition, and their `HEADS` -> rows in clusters, in order."""
    table = whole(batches)
    if table is None:
        return
    heads = columns_in(table, HEADS if ids else ["head", "component", "opens"])
    heads = in_order(heads, np.argsort(heads["head"]))
    members = columns_in(table, MEMBERS if ids else ["rank", "member_of", "overlap", "out_of"])
    part = int(np.flatnonzero(at == table["place"][0].as_py())[0])
    own = np.flatnonzero(part_in(cuts, np.stack([heads["head"], np.full(len(heads["head"]), -1)])) == part)
    place = np.concatenate([own, np.searchsorted(heads["head"], members["member_of"])])
    none = np.full(len(own), -1)
    rows: Columns = {"rank": np.concatenate([heads["head"][own], members["rank"]])}
    rows |= {name: np.concatenate([none, members[name]]) for name in ("overlap", "out_of")}
    if ids:
        rows["rank_id"] = pa.concat_arrays([heads["head_id"].take(wrapped(own)), members["rank_id"]])
    order = np.lexsort((rows["rank"], rows["rank"] != heads["head"][place], heads["head"][place]))
    for begin in range(0, len(order), AT_ONCE):
        here = order[begin : begin + AT_ONCE]
        some = in_order(rows, here) | in_order(heads, place[here])
        some |= {name: wrapped(some[name], some[name] < 0) for name in ("overlap", "out_of")} | {"opens": some["opens"] > 0}
        yield rows_of(CLUSTERS, some)
