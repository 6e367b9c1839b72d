"""The comparison of candidates: sizes and odd sketches, sent to the pairs, rule out most; the others get their words and are compared exactly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.blocks import GATHERED, flat, gathered, lists, packed, part_of, places, whole
from likewise.engines.spark.distinct import InOrder
from likewise.engines.spark.hot import heads_in
from likewise.engines.spark.sections import Sections
from likewise.engines.spark.sketching import cuts
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.items.wrapped import wrapped
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
#: A pair with the ranks of its items, by the partition that compares it; or ranks of items and the numbers of partitions that need them, in blocks
#: for the sections of the items.
NEAR = {"place": "long", "later": "long", "earlier": "long", "later_rank": "long", "earlier_rank": "long", "rank": "binary", "home": "binary"}
SIMILAR = "later long, earlier long, overlap long, out_of long"
#: Bytes of words of a partition, and the number of pairs whose words are gathered and compared at once.
TASK_BYTES = 64 << 20
#: Pairs that are sent at once with the odd sketches of their earlier items, of which one may have very many.
ATTACHED = 1 << 21
PAIRS_AT_ONCE = 1 << 14


def light_of(steps: Steps, items: InOrder, parts: int) -> DataFrame:
    """The columns of items that the filter needs, by partition of the item."""
    return items.rows.mapped(steps, partial(sent, at=places(parts)), schema(LIGHT), ["size", "odd"])


def sent(batches: Iterator[pa.RecordBatch], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items -> blocks for the partitions of their numbers."""
    for table in gathered(batches, GATHERED * len(at)):
        columns = {name: table[name].to_numpy() for name in ("item", "rank", "size")}
        if not table["odd"].null_count:
            columns["odd"] = flat(table["odd"], ODD_SKETCH)
        yield packed(part_of(columns["item"], len(at)), at, LIGHT, **columns)


def similar_pairs(steps: Steps, name: str, candidates: DataFrame, items: InOrder, job: Job, parts: int) -> DataFrame:
    """The step of similar pairs, each once: later, earlier, overlap, out_of. candidates: blocks by partition (`hot.pair_part`)."""
    at, light, sections = places(parts), light_of(steps, items, parts), items.rows.sections
    homes = places(parts * (1 + 8 * items.words // (parts * TASK_BYTES)))  # a multiple of parts: each home gets its pairs from one task

    def filtered() -> DataFrame:
        many = heads_in(steps)
        if len(many):
            steps.table("light-many", lambda: mapped(light, partial(of_items, items=many), schema(LIGHT)))
        known = steps.read("light-many", LIGHT) if len(many) else None
        joined = candidates.unionByName(light, allowMissingColumns=True).select("place", *PAIRS)
        half = mapped(joined.repartition(parts, "place"), partial(attached, at=at, known=known), schema(PAIRS))
        both = half.unionByName(light, allowMissingColumns=True).select("place", *PAIRS)
        passed = partial(filter_pairs, job=job, homes=homes, sections=sections)
        return mapped(both.repartition(parts, "place"), passed, ", ".join(f"{column} {kind}" for column, kind in NEAR.items()))

    left = steps.table(f"{name}-near", filtered)

    def compared() -> DataFrame:
        needs = left.where("home is not null").select("place", "rank", "home").repartition(sections.number, "place")
        sets = mapped(needs, partial(sets_of, sections=sections, homes=homes), "place long, rank long, sets binary")
        pairs = left.where("later is not null").drop("rank", "home")
        return mapped(pairs.unionByName(sets, allowMissingColumns=True).repartition(len(homes), "place"), partial(compare, job=job), SIMILAR)

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


def filter_pairs(batches: Iterator[pa.RecordBatch], job: Job, homes: np.ndarray, sections: Sections) -> Iterator[pa.RecordBatch]:
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
    home = part_of(later, len(homes))
    columns = [homes[home], later, earlier, *ranks, *(pa.nulls(len(home), pa.binary()),) * 2]
    yield pa.record_batch([wrapped(each) for each in columns], [*NEAR])
    home, rank = distinct(np.tile(home, 2), np.concatenate(ranks))
    needs = packed(sections.of_ranks(rank), places(sections.number), ["rank", "home"], rank=rank, home=home)
    none = pa.nulls(len(needs), pa.int64())
    yield pa.record_batch([needs["place"], none, none, none, none, needs["rank"], needs["home"]], [*NEAR])


def sets_of(batches: Iterator[pa.RecordBatch], sections: Sections, homes: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Ranks of items of a section, and the partitions that need them -> the words of the items, for these partitions."""
    table = whole(batches)
    if table is None:
        return
    wanted, home = flat(table["rank"], np.int64), flat(table["home"], np.int64)
    order = np.argsort(wanted, kind="stable")
    wanted, home = wanted[order], home[order]
    for here, column, place in sections.look_up(sections.here(table), "sets", wanted):
        ends = np.concatenate([[0], np.cumsum(pc.binary_length(column).to_numpy()[place] // 8)])
        for begin, end in cuts(ends):
            some = slice(here.start + begin, here.start + end)
            sets = pa.concat_arrays(column.take(wrapped(place[begin:end])).chunks)
            yield pa.record_batch([wrapped(homes[home[some]]), wrapped(wanted[some]), sets], ["place", "rank", "sets"])


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
