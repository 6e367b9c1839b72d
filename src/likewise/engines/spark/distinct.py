"""The distinct rows in priority order, as a step: copies go to one partition each, and the first of each to the partition of its place in the order.

Each partition of the order numbers its items from 0; the driver knows the numbers of items before them. The numbers go to the sections of their rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.about import SAMPLED
from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.documents import Rows
from likewise.engines.spark.numbering import Numbering
from likewise.engines.spark.sections import BATCH_ROWS, NUMBERS, Files, Numbered, Sections
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.job import Job
from likewise.options import Options
from likewise.runs.distinct import preference
from likewise.schema import IGNORED
from likewise.stages.copies import first_of_copies, nothing_left, roles
from likewise.stages.order import sort_key
from likewise.stages.scope import Scope

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: A row that may be a copy: its identity and group, its place in priority order, and whether it is compared if it is no copy.
ROWS = ["copy_a", "copy_b", "per", "preference", "value", "rank", "compared"]
#: The same row with its first copy, and the place of that one in priority order.
COPIES = ["rank", "first", "preference", "value", "compared"]
#: The result: `sections.NUMBERS`; and for each partition of the order its number, the number of its items, and how many of these belong to the second
#: collection.
NUMBERED = [*NUMBERS, "counted"]
COUNTED: Any = (np.int64, (3,))
#: Columns of rows that make `ROWS`.
LIGHT = ("kind", "tokens", "chars", "score", "copy_a", "copy_b", "per", "ignored")


class InOrder(NamedTuple):
    """The compared items in priority order."""

    number: int
    scope: Scope
    rows: Numbered  # the items have numbers from 0 in priority order
    words: int  # at least the number of words in their sets
    sides: bool = False  # items have sides


class Distinct(NamedTuple):
    """The distinct rows of a run in priority order."""

    compared: InOrder

    @property
    def number(self) -> int:
        """The number of items."""
        return self.compared.number

    @property
    def scope(self) -> Scope:
        """The pairs that a removal compares."""
        return self.compared.scope


class Order(NamedTuple):
    """The priority order of rows: by preference, then by the policy, then by rank."""

    options: Options
    numbering: Numbering
    begin: np.ndarray  # int64[k]: the first rows of ranges of equal preference
    preference: np.ndarray  # int64[k]
    border: int  # the first row of the second collection

    def keys(self, rank: np.ndarray, row: np.ndarray, chars: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(preference, value) of rows, int64[n] each."""
        return self.preference[np.searchsorted(self.begin, row, side="right") - 1], sort_key(self.options.keep, rank, chars, score)


def order_of(rows: Rows, options: Options) -> Order:
    """The priority order of a removal: rows of a second collection come first."""
    places, begins = preference(rows, options, removing=True), rows.begins
    some = np.flatnonzero(np.diff(begins))
    some = some[np.diff(places[some], prepend=-2) != 0]
    return Order(options, rows.numbering, begins[some], places[some], rows.rows_of_sides[0].stop)


def borders(rows: Rows, order: Order, parts: int) -> np.ndarray:
    """The first places of all partitions of priority order but the first, from a sample of rows: int64[3, parts - 1]."""
    row = np.concatenate([np.arange(begin, begin + about["rows"], SAMPLED) for about, begin in rows.begun()])
    rank, nothing = rows.numbering.ranks(row), np.zeros(len(row), np.int64)
    preferred, value = order.keys(rank, row, nothing, np.zeros(len(row)))
    if "keys" in rows.abouts[0]:
        value = np.concatenate([np.array(about["keys"], np.int64) for about in rows.abouts])
    by = np.lexsort((rank, value, preferred))[len(row) * np.arange(1, parts) // parts]
    return np.stack([preferred[by], value[by], rank[by]])


def distinct(rows: Rows, job: Job, alone: bool, parts: int) -> Distinct:
    """The step of distinct rows. alone: there is no second collection."""
    steps, order, parts, sections = rows.steps, order_of(rows, job.options), max(1, min(parts, len(rows))), rows.sections

    def make() -> DataFrame:
        at, cuts = places(parts), borders(rows, order, parts) if parts > 1 else np.zeros((3, 0), np.int64)
        offer = partial(of_section, sections=sections, job=job, order=order, at=at)
        given = sections.each(steps, offer, schema(ROWS)).repartition(parts, "place")
        if parts == 1:
            found = mapped(given, partial(collapsed_alone, order=order, sections=sections), schema(NUMBERED))
        else:
            copies = mapped(given, partial(collapsed, at=at, cuts=cuts), schema(COPIES)).repartition(parts, "place")
            found = mapped(copies, partial(numbered, order=order, at=at, sections=sections), schema(NUMBERED))
        return found.repartition(sections.number, "place")

    steps.table("copies", make)
    number, fixed = counts(steps, parts)
    scope = Scope(fixed, job.options.also_inside or alone)
    return Distinct(InOrder(int(number.sum()), scope, Numbered(sections, Files.of(steps, "copies"), np.cumsum(number) - number), rows.words))


def counts(steps: Steps, parts: int) -> tuple[np.ndarray, int]:
    """The number of items of each partition, and of all items of the second collection."""
    counted = flat(steps.read("copies", ["counted"], pc.is_valid(pc.field("counted")))["counted"], COUNTED)
    number = np.zeros(parts, np.int64)
    number[counted[:, 0]] = counted[:, 1]
    return number, int(counted[:, 2].sum())


def of_section(number: int, sections: Sections, job: Job, order: Order, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    return offered((batch for table in sections.read(number, LIGHT) for batch in table.to_batches(BATCH_ROWS)), job, order, at)


def offered(batches: Iterable[pa.RecordBatch], job: Job, order: Order, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Rows -> `ROWS`, for the partitions of their identities; null for columns that are 0 in all rows."""
    needed = order.options.keep != "first" or len(order.begin) > 1
    for table in gathered(batches, GATHERED * len(at)):
        kind, tokens, chars, score, copy_a, copy_b, per, ignored = (table[name].to_numpy() for name in LIGHT)
        rank = table["rank"].to_numpy()
        row = order.numbering.rows(rank)
        copy, live, copied = roles(kind, tokens, np.stack([copy_a, copy_b], axis=1).view(np.uint64), order.options)
        some = np.flatnonzero(copied & (row >= 0))
        if job.ignored is not None:
            live = live & ~nothing_left(ignored.astype(np.int64).view(IGNORED.base).reshape(-1, *IGNORED.shape))
        columns = {"copy_a": copy[some, 0], "copy_b": copy[some, 1], "rank": rank[some], "compared": live[some]}
        if order.options.per is not None:
            columns["per"] = per[some]
        if needed:
            keys = order.keys(rank[some], row[some], chars[some], score[some])
            columns |= dict(zip(("preference", "value"), keys, strict=True))
        yield packed(part_of(columns["copy_a"], len(at)), at, ROWS, **columns)


def first_copies(table: pa.Table) -> dict[str, np.ndarray]:
    """All rows with some identities -> the columns of `COPIES`."""
    rank, compared = flat(table["rank"], np.int64), flat(table["compared"], bool)
    copy = np.stack([flat(table[name], np.uint64) for name in ("copy_a", "copy_b")], axis=1)
    per, preferred, value = (filled(flat(table[name], np.int64), len(rank)) for name in ("per", "preference", "value"))
    place = np.empty(len(rank), np.int64)
    place[np.lexsort((rank, value, preferred))] = np.arange(len(rank))
    first = first_of_copies(copy, per, np.ones(len(rank), bool), place)
    return {"rank": rank, "first": rank[first], "preference": preferred[first], "value": value[first], "compared": compared[first]}


def filled(values: np.ndarray, number: int) -> np.ndarray:
    """The values of a column, or zeros if it was not sent."""
    return values if len(values) else np.zeros(number, values.dtype)


def collapsed(batches: Iterator[pa.RecordBatch], at: np.ndarray, cuts: np.ndarray) -> Iterator[pa.RecordBatch]:
    """All rows with some identities -> `COPIES`, for the partitions of the places of first copies. cuts: `borders`."""
    table = whole(batches)
    if table is None:
        return
    found = first_copies(table)
    yield packed(part_in(cuts, np.stack([found["preference"], found["value"], found["first"]])), at, COPIES, **found)


def part_in(cuts: np.ndarray, keys: np.ndarray) -> np.ndarray:
    """The number of borders at or before each place in priority order: int64[n]."""
    k = cuts.shape[1]
    order = np.lexsort((np.arange(k + keys.shape[1]), *np.concatenate([cuts, keys], axis=1)[::-1]))
    passed = np.empty(len(order), np.int64)
    passed[order] = np.cumsum(order < k)
    return passed[k:]


def numbered(batches: Iterator[pa.RecordBatch], order: Order, at: np.ndarray, sections: Sections) -> Iterator[pa.RecordBatch]:
    """All copies whose first ones are in a partition of priority order -> `NUMBERED`."""
    table = whole(batches)
    if table is None:
        return
    types = dict.fromkeys(COPIES, np.int64) | {"compared": np.bool_}
    found = {name: flat(table[name], dtype) for name, dtype in types.items()}
    yield from in_order(found, order, int(np.flatnonzero(at == table["place"][0].as_py())[0]), sections)


def collapsed_alone(batches: Iterator[pa.RecordBatch], order: Order, sections: Sections) -> Iterator[pa.RecordBatch]:
    """All rows -> `NUMBERED`: `collapsed` and `numbered` by one task."""
    table = whole(batches)
    if table is not None:
        yield from in_order(first_copies(table), order, 0, sections)


def in_order(copies: dict[str, np.ndarray], order: Order, part: int, sections: Sections) -> Iterator[pa.RecordBatch]:
    """Columns of `COPIES` -> `NUMBERED`, for the sections of the rows. part: the number of the partition."""
    rank, first, preferred, value, compared = copies.values()
    head = np.flatnonzero(compared & (rank == first))
    head = head[np.lexsort((rank[head], value[head], preferred[head]))]
    by_rank = np.argsort(rank[head])
    number = np.full(len(rank), -1, np.int64)
    if len(head):
        found = np.minimum(np.searchsorted(rank[head[by_rank]], first), len(head) - 1)
        number = np.where(compared, by_rank[found], -1)
    fixed = np.count_nonzero(order.numbering.rows(rank[head]) >= order.border)
    at, parts = places(sections.number), np.full(len(rank), part)
    yield packed(sections.of_ranks(rank), at, NUMBERED, rank=rank, first=first, part=parts, number=number)
    yield packed(np.zeros(1, np.int64), at, NUMBERED, counted=np.array([[part, len(head), fixed]]))
