"""The steps of an outcome: removed rows and similar pairs; `clustered` has that of clusters. Rows are named by rank, which ascends in input order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import packed, part_of, places, whole
from likewise.engines.spark.distinct import Distinct
from likewise.engines.spark.sections import Numbered, Sections
from likewise.engines.spark.session import ADAPTIVE, changed
from likewise.engines.spark.settling import MATCHES
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import Columns, columns_in, schema, sent, with_told
from likewise.engines.spark.with_ids import by_section, identified, ids_or_none, in_order, rows_of, types
from likewise.items.wrapped import wrapped
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
#: Columns of similar pairs, which ascend by a, then by b.
PAIRS = ["a", "a_id", "b", "b_id", "overlap", "out_of"]
#: Removed rows also tell the number of the kept item, -1 if it is not compared; one in so many tells its place among clusters.
SAMPLED = 1024
MORE = ["item", "sampled_head", "sampled_rank"]
#: Blocks: pairs of items; a removed item, or a row with its first copy and item; a removed row; a pair of rows.
MATCH = ["later", "earlier", "overlap", "out_of"]
OF_ITEMS = [*MATCH, "kept", "rank", "first", "item"]
GONE = ["rank", "kept", "item", "overlap", "out_of", "kept_id", "kept_id_size"]
PAIR = ["a", "b", "overlap", "out_of", "b_id", "b_id_size"]


class Found(NamedTuple):
    """The search of which these are the steps."""

    steps: Steps
    items: Distinct
    parts: int  # partitions of items
    ids: bool  # some rows have ids
    border: int  # rows from this rank on belong to the second collection
    matches: str  # the step of `settling.MATCHES`, or that of `remembered`

    @property
    def rows(self) -> Numbered:
        return self.items.compared.rows


def remembered(steps: Steps, job: Job) -> str:
    """The name of the step of matches, `settling.MATCHES`: of very many only the most similar of each item, as the local engine stores them."""
    if steps.rows("matches") <= MOST_MATCHES:
        return "matches"

    def make() -> DataFrame:
        close = mapped(steps.frame("matches"), partial(closeness, job=job), f"{MATCHES}, closeness double")
        place = "row_number() over (partition by later order by closeness desc, earlier) as place"
        some = close.selectExpr("*", place).where(f"place <= {REMEMBERED}").drop("place", "closeness", "previous")
        return some.selectExpr("*", "lag(earlier) over (partition by later order by earlier) as previous")

    with changed(steps.session, ADAPTIVE):
        steps.table("remembered", make)
    return "remembered"


def closeness(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """Matches -> matches with a number that is the greater, the more similar they are."""
    for batch in batches:
        value = valued(Compared(batch["overlap"].to_numpy(), batch["out_of"].to_numpy()), job)
        yield batch.append_column("closeness", pa.array(np.nan_to_num(-value if job.distances else value)))


def removed(found: Found) -> list[Path]:
    """The files of removed rows, one for each section. A copy of a removed item has the representative of that item."""
    steps, rows, sections, at = found.steps, found.rows, found.rows.sections, places(found.parts)

    def make() -> DataFrame:
        best = sent(steps.frame("matches").where("best"), MATCH, "earlier", found.parts)
        to_later = partial(known, name="kept", by="later", names=OF_ITEMS, at=at)
        kept = with_told(best, MATCH, "earlier", rows.ranks(steps, found.parts), -1, to_later, schema(OF_ITEMS), found.parts)
        copies = sections.each(steps, partial(copies_in, rows=rows, border=found.border, at=at), schema(OF_ITEMS))
        by = "kept" if found.ids else "rank"
        gone_ = partial(gone_in, inside=found.items.scope.inside, border=found.border, by=by, sections=sections)
        gone = mapped(kept.unionByName(copies).repartition(found.parts, "place"), gone_, schema(GONE))
        if found.ids:
            gone = identified(gone, "kept", GONE, by_section(sections, "rank"), sections)
        return mapped(gone.repartition(sections.number, "place"), partial(removed_in, ids=found.ids, sections=sections), types([*REMOVED, *MORE]))

    steps.table("removed", make, GROUP_BYTES)
    return steps.files_of("removed")


def known(columns: Columns, told: np.ndarray, name: str, by: str, names: list[str], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Entries, with a number of their items -> entries with this number as a column, for the partitions of other items."""
    yield packed(part_of(columns[by], len(at)), at, names, **columns, **{name: told})


def copies_in(number: int, rows: Numbered, border: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The rows of a section that may be removed -> `OF_ITEMS`."""
    copies = rows.copies(number)
    some = (copies["rank"] < border) & ((copies["item"] >= 0) | (copies["rank"] != copies["first"]))
    rank, first, item = (copies[name][some] for name in ("rank", "first", "item"))
    yield packed(part_of(np.where(item < 0, rank, item), len(at)), at, OF_ITEMS, rank=rank, first=first, item=item)


def gone_in(batches: Iterator[pa.RecordBatch], inside: bool, border: int, by: str, sections: Sections) -> Iterator[pa.RecordBatch]:
    """Removed items and rows with items -> `GONE`, for the sections of rows. by: of the column of these rows."""
    table = whole(batches)
    if table is None:
        return
    found = columns_in(table, OF_ITEMS)
    order = np.argsort(found["later"])
    place = np.searchsorted(found["later"][order], found["item"])
    near = np.append(found["later"][order], -2)[place] == found["item"]
    match = np.append(order, -1)[place]
    gone = near | ((found["rank"] != found["first"]) & (inside | (found["first"] >= border)))
    near, match, columns = near[gone], match[gone], {name: found[name][gone] for name in ("rank", "first", "item")}

    def either(name: str, other: np.ndarray) -> np.ndarray:
        return np.where(near, np.append(found[name], -1)[match], other)

    none = np.full(len(near), -1)
    made = {"rank": columns["rank"], "kept": either("kept", columns["first"]), "item": either("earlier", columns["item"])}
    made |= {"overlap": either("overlap", none), "out_of": either("out_of", none)}
    yield packed(sections.of_ranks(made[by]), places(sections.number), GONE, **made)


def removed_in(batches: Iterator[pa.RecordBatch], ids: bool, sections: Sections) -> Iterator[pa.RecordBatch]:
    """All `GONE` of a section -> removed rows, in order."""
    table = whole(batches)
    if table is None:
        return
    columns = columns_in(table, GONE if ids else GONE[:5])
    columns = in_order(columns, np.argsort(columns["rank"]))
    for here, own in ids_or_none(columns["rank"], table, ids, sections):
        some = {name: values[here] for name, values in columns.items()} | ({} if own is None else {"rank_id": own})
        few = np.arange(here.start, here.stop) % SAMPLED != 0
        some |= {"sampled_head": wrapped(some["kept"], few), "sampled_rank": wrapped(some["rank"], few)}
        some |= {name: wrapped(some[name], some[name] < 0) for name in ("overlap", "out_of")}
        yield rows_of([*REMOVED, *MORE], some)


def pairs(found: Found) -> list[Path]:
    """The files of similar pairs, one for each section."""
    steps, rows, sections, at = found.steps, found.rows, found.rows.sections, places(found.parts)

    def make() -> DataFrame:
        ranks, half = rows.ranks(steps, found.parts), [*MATCH, "rank"]
        matches = sent(steps.frame(found.matches), MATCH, "later", found.parts)
        to_earlier = partial(known, name="rank", by="earlier", names=half, at=at)
        both = with_told(matches, MATCH, "later", ranks, -1, to_earlier, schema(half), found.parts)
        then = partial(pairs_of, by="b" if found.ids else "a", sections=sections)
        each = with_told(both, half, "earlier", ranks, -1, then, schema(PAIR), found.parts)
        if found.ids:
            each = identified(each, "b", PAIR, by_section(sections, "a"), sections)
        return mapped(each.repartition(sections.number, "place"), partial(pairs_in, ids=found.ids, sections=sections), types(PAIRS))

    steps.table("matched", make, GROUP_BYTES)
    return steps.files_of("matched")


def pairs_of(columns: Columns, told: np.ndarray, by: str, sections: Sections) -> Iterator[pa.RecordBatch]:
    """Pairs with the ranks of both items -> `PAIR`, for the sections of rows. by: of the column of these rows."""
    ends = {"a": np.minimum(told, columns["rank"]), "b": np.maximum(told, columns["rank"])}
    yield packed(sections.of_ranks(ends[by]), places(sections.number), PAIR, **ends, overlap=columns["overlap"], out_of=columns["out_of"])


def pairs_in(batches: Iterator[pa.RecordBatch], ids: bool, sections: Sections) -> Iterator[pa.RecordBatch]:
    """All `PAIR` of a section -> pairs, in order."""
    table = whole(batches)
    if table is None:
        return
    columns = columns_in(table, PAIR if ids else PAIR[:4])
    columns = in_order(columns, np.lexsort((columns["b"], columns["a"])))
    for here, own in ids_or_none(columns["a"], table, ids, sections):
        yield rows_of(PAIRS, {name: values[here] for name, values in columns.items()} | ({} if own is None else {"a_id": own}))
