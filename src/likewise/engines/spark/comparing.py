"""The comparison of candidates: sizes and odd sketches, sent to the pairs, rule out most; the others get their words and are compared exactly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.blocks import GATHERED, flat, gathered, lists, packed, part_of, places, whole
from likewise.engines.spark.colliding import items_of
from likewise.engines.spark.hot import heads_in
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.job import Job
from likewise.kernels.rows import gather
from likewise.kernels.sets import ODD_SKETCH
from likewise.runs.items import rule
from likewise.stages.near import near
from likewise.stages.verify import Compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: An item: its number, rank, number of words and odd sketch; or a pair, with these columns of its earlier item.
LIGHT = ["item", "rank", "size", "odd"]
PAIRS = ["later", "earlier", *LIGHT]
#: A pair with the ranks of its items; or the rank of an item that pairs of a partition need.
NEAR = ["place", "later", "earlier", "later_rank", "earlier_rank", "rank"]
SIMILAR = "later long, earlier long, overlap long, out_of long"
#: Bytes of words of a partition, and the number of pairs whose words are gathered and compared at once.
TASK_BYTES = 64 << 20
#: Pairs that are sent at once with the odd sketches of their earlier items, of which one may have very many.
ATTACHED = 1 << 21
PAIRS_AT_ONCE = 1 << 14


def light_of(steps: Steps, entries: DataFrame, items: DataFrame, job: Job, parts: int) -> DataFrame:
    """The step of the columns of items that the filter needs, by partition of the item."""

    def make() -> DataFrame:
        light = items_of(entries, items, job, "size", "odd").select(*LIGHT)
        return mapped(light, partial(sent, at=places(parts)), schema(LIGHT))

    return steps.table("light", make)


def sent(batches: Iterator[pa.RecordBatch], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items -> blocks for the partitions of their numbers."""
    for table in gathered(batches, GATHERED * len(at)):
        columns = {name: table[name].to_numpy() for name in ("item", "rank", "size")}
        if not table["odd"].null_count:
            columns["odd"] = flat(table["odd"], ODD_SKETCH)
        yield packed(part_of(columns["item"], len(at)), at, LIGHT, **columns)


def similar_pairs(
    steps: Steps, name: str, candidates: DataFrame, light: DataFrame, entries: DataFrame, job: Job, parts: int, words: int
) -> DataFrame:
    """The step of similar pairs, each once: later, earlier, overlap, out_of. candidates: blocks by partition (`hot.pair_part`).

    words: the bytes of all items' words.
    """
    at, homes = places(parts), places(parts * (1 + words // (parts * TASK_BYTES)))  # a multiple of parts: each home gets its pairs from one task

    def filtered() -> DataFrame:
        many = heads_in(steps)
        if len(many):
            steps.table("light-many", lambda: mapped(light, partial(of_items, items=many), schema(LIGHT)))
        known = steps.read("light-many", LIGHT) if len(many) else None
        joined = candidates.unionByName(light, allowMissingColumns=True).select("place", *PAIRS)
        half = mapped(joined.repartition(parts, "place"), partial(attached, at=at, known=known), schema(PAIRS))
        both = half.unionByName(light, allowMissingColumns=True).select("place", *PAIRS)
        passed = partial(filter_pairs, job=job, homes=homes)
        return mapped(both.repartition(parts, "place"), passed, ", ".join(f"{column} long" for column in NEAR))

    left = steps.table(f"{name}-near", filtered)

    def compared() -> DataFrame:
        needs = left.where(left["rank"].isNotNull()).select("place", "rank")
        sets = entries.where(entries["sets"].isNotNull()).select("rank", "sets").join(needs, "rank")
        both = left.where(left["later"].isNotNull()).drop("rank").unionByName(sets, allowMissingColumns=True)
        return mapped(both.repartition(len(homes), "place"), partial(compare, job=job), SIMILAR)

    return steps.table(name, compared)


def of_items(batches: Iterator[pa.RecordBatch], items: np.ndarray) -> Iterator[pa.RecordBatch]:
    """`LIGHT` -> that of some items."""
    for table in gathered(batches, GATHERED):
        light = light_in(table)
        some = np.isin(light["item"], items)
        yield packed(
            np.zeros(some.sum(), np.int64), np.zeros(1, np.int64), LIGHT, **{name: values[some] for name, values in light.items() if len(values)}
        )


def attached(batches: Iterator[pa.RecordBatch], at: np.ndarray, known: pa.Table | None = None) -> Iterator[pa.RecordBatch]:
    """Candidates and the items of the same partition -> each pair once, with its earlier item, for the partition of the later one.

    known: `LIGHT` of more items.
    """
    table = whole(batches)
    if table is None:
        return
    later, earlier, light = divided(table, known)
    later, earlier = distinct(later, earlier)
    place = looked_up(earlier, light["item"])
    step = min(GATHERED * 16 * len(at), ATTACHED)
    for begin in range(0, len(later), step):
        here = slice(begin, begin + step)
        columns = {name: values[place[here]] for name, values in light.items() if len(values) and name != "item"}
        yield packed(part_of(later[here], len(at)), at, PAIRS, later=later[here], earlier=earlier[here], **columns)


def filter_pairs(batches: Iterator[pa.RecordBatch], job: Job, homes: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Pairs with their earlier items, and the later ones -> the pairs that may be similar, and each item once for each partition that compares it."""
    table = whole(batches)
    if table is None:
        return
    pairs = table.filter(pc.is_valid(table["later"]))
    later, earlier, light = divided(table)
    place = looked_up(later, light["item"])
    rank = flat(pairs["rank"], np.int64)
    passed = np.arange(len(later))
    if len(light["odd"]):
        size, odd = flat(pairs["size"], np.uint32), flat(pairs["odd"], ODD_SKETCH)
        passed = np.flatnonzero(near(light["size"][place], light["odd"][place], size, odd, rule(job)))
    later, earlier, ranks = later[passed], earlier[passed], (light["rank"][place[passed]], rank[passed])
    home = homes[part_of(later, len(homes))]
    yield rows_of(place=home, later=later, earlier=earlier, later_rank=ranks[0], earlier_rank=ranks[1])
    home, rank = distinct(np.tile(home, 2), np.concatenate(ranks))
    yield rows_of(place=home, rank=rank)


def rows_of(**columns: np.ndarray) -> pa.RecordBatch:
    """Rows of `NEAR`."""
    nothing = pa.nulls(len(columns["place"]), pa.int64())
    return pa.record_batch([pa.array(columns[name]) if name in columns else nothing for name in NEAR], names=NEAR)


def divided(table: pa.Table, known: pa.Table | None = None) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """The pairs and the items among the entries of a partition, and ``known`` ones; the items in the order of their numbers."""
    pairs, items = (table.filter(pc.is_valid(table[name])) for name in ("later", "item"))
    light = light_in(pa.concat_tables([each.select(LIGHT) for each in (items, known) if each is not None]))
    return flat(pairs["later"], np.int64), flat(pairs["earlier"], np.int64), light


def light_in(items: pa.Table) -> dict[str, np.ndarray]:
    """The columns of items in the order of their numbers."""
    types = {"item": np.int64, "rank": np.int64, "size": np.uint32, "odd": ODD_SKETCH}
    light = {name: flat(items[name], dtype) for name, dtype in types.items()}
    order = np.argsort(light["item"])
    return {name: values[order] if len(values) else values for name, values in light.items()}


def distinct(later: np.ndarray, earlier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Each pair of numbers once, by the second."""
    order = np.lexsort((later, earlier))
    later, earlier = later[order], earlier[order]
    new = np.ones(len(later), bool)
    new[1:] = (later[1:] != later[:-1]) | (earlier[1:] != earlier[:-1])
    return later[new], earlier[new]


def looked_up(wanted: np.ndarray, there: np.ndarray) -> np.ndarray:
    """The places of ``wanted`` in ``there``, which is ascending and has all of them."""
    return np.searchsorted(there, wanted)


def ratios_of(pairs: tuple[np.ndarray, np.ndarray], similar: tuple[np.ndarray, np.ndarray], ratios: Compared) -> Compared:
    """The ratios of some pairs, two times int64[m], by those of the similar pairs, which are distinct; -1 and 0 for pairs that are not similar."""
    items = np.unique(np.concatenate([*pairs, *similar]))  # so that the number of a pair fits in int64
    wanted, known = (np.searchsorted(items, later) * len(items) + np.searchsorted(items, earlier) for later, earlier in (pairs, similar))
    order = np.argsort(known)
    place = np.searchsorted(known[order], wanted)
    there = np.append(known[order], -1)[place] == wanted
    found = Compared(np.full(len(wanted), -1, np.int64), np.zeros(len(wanted), np.int64))
    for values, each in zip(found, ratios, strict=True):
        values[there] = each[order[place[there]]]
    return found


def compare(batches: Iterator[pa.RecordBatch], job: Job) -> Iterator[pa.RecordBatch]:
    """Pairs and the words of their items -> the similar pairs."""
    table = whole(batches)
    if table is None:
        return
    pairs, items = (table.filter(pc.is_valid(table[name])) for name in ("later", "sets"))
    later, earlier, *ranks = (pairs[name].to_numpy() for name in ("later", "earlier", "later_rank", "earlier_rank"))
    order = np.lexsort((earlier, later))
    values, offsets = lists(items["sets"])
    rank = items["rank"].to_numpy()
    by_rank = np.argsort(rank)
    rank = rank[by_rank]
    for begin in range(0, len(order), PAIRS_AT_ONCE):
        here = order[begin : begin + PAIRS_AT_ONCE]
        a, b = (words(values, offsets, by_rank[looked_up(each[here], rank)]) for each in ranks)
        overlap, out_of = job.compared.similar(a, b, job)
        good = overlap >= 0
        columns = later[here][good], earlier[here][good], overlap[good], out_of[good]
        yield pa.record_batch([pa.array(each.astype(np.int64)) for each in columns], names=["later", "earlier", "overlap", "out_of"])


def words(values: np.ndarray, offsets: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of rows, concatenated, uint64[m], and the place where each row begins, int64[n + 1]."""
    begins = offsets[rows]
    ends = np.concatenate(([0], np.cumsum(offsets[rows + 1] - begins)))
    out = np.empty(int(ends[-1]), np.uint64)
    gather(values, begins, ends, out)
    return out, ends
