"""The removed items and their matches, from all similar pairs: in one task if it can hold the pairs, otherwise in rounds over blocks of items.

A round is a step: undecided pairs, with the states of their earlier items after the previous round, go to the blocks of their later items
(`stages.rounds`). So a resumed run continues after the last round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import Columns, arrays, said, schema, sent, with_told
from likewise.kernels.greedy import KEPT, REMOVED, UNDECIDED
from likewise.stages.rounds import matched, settle_round

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Maximum number of pairs that one task decides about. At about 160 bytes each they take 400 MB, which an executor must have beside Java anyway.
ALONE = 2_500_000
#: Number of slices of the items. Their pairs are counted, so that blocks of items have about equally many.
SLICES = 1024
PAIRS = ["later", "earlier", "overlap", "out_of"]
#: Undecided pairs, with the states of their earlier items.
OPEN = ["later", "earlier", "state"]
#: The result of a round: the states of items, and the pairs that remain undecided.
SAID = "item long, state long, later long, earlier long"
#: The matches of removed items; whether the kept item is the representative; the kept item of the item's previous match, if it has one.
MATCHES = "later long, earlier long, overlap long, out_of long, best boolean, previous long"

Log = Callable[[str], None]


def settled(steps: Steps, similar: DataFrame, pairs: int, number: int, parts: int, log: Log, many: np.ndarray, name: str = "matches") -> DataFrame:
    """The step of matches: the similar pairs of removed items with kept ones, each once.

    similar: each pair once; pairs: their number. number: of items. many: items that may have very many pairs (`hot.heads_in`).
    """
    if pairs <= ALONE:
        return steps.table(name, lambda: mapped(similar.select(*PAIRS).repartition(1), decide_all, MATCHES))
    removed = said(in_rounds(steps, similar, pairs, number, log, many, name), "item", f"{REMOVED}L", parts, many)

    def make() -> DataFrame:
        then = partial(of_kept, at=places(parts))
        kept = with_told(sent(similar, PAIRS, "earlier", parts, many, "later"), PAIRS, "earlier", removed, KEPT, then, schema(PAIRS), parts)
        return mapped(kept.repartition(parts, "place"), match, MATCHES)

    return steps.table(name, make)


def in_rounds(steps: Steps, similar: DataFrame, left: int, number: int, log: Log, many: np.ndarray, name: str) -> DataFrame:
    """The removed items, decided in rounds: at most one per block, and one more when the remaining pairs fit into one task. left: of pairs."""
    rounds, decided = 0, []
    borders = equal_blocks(similar, number, blocks_for(left))
    pairs, states = similar.select("later", "earlier"), None
    while left:
        own = borders if left > ALONE else borders[:0]
        told = steps.table(f"{name}-{rounds}", partial(next_round, pairs, states, own, many))
        decided.append(told.where(f"state = {REMOVED}").select("item"))
        states, pairs = told.where("item is not null").select("item", "state"), told.where("later is not null").select("later", "earlier")
        before, left, rounds = left, steps.filled(f"{name}-{rounds}", "later"), rounds + 1
        log(f"settling, round {rounds}: {before - left:,} of {before:,} pairs decided; blocks: {1 + len(own)}")
    return united(decided)


def united(frames: list[DataFrame]) -> DataFrame:
    """All rows of tables with the same columns."""
    every = frames[0]
    for each in frames[1:]:
        every = every.unionByName(each)
    return every


def next_round(pairs: DataFrame, states: DataFrame | None, borders: np.ndarray, many: np.ndarray) -> DataFrame:
    """A round. states: those of items after the previous round; an item without one is the later item of no pair, so it is kept."""
    at = places(1 + len(borders))
    if states is None:
        blocks = mapped(pairs, partial(undecided, borders=borders, at=at), schema(OPEN))
    else:
        ends = ["later", "earlier"]
        then, told = partial(to_blocks, borders=borders, at=at), said(states, "item", "state", len(at), many)
        blocks = with_told(sent(pairs, ends, "earlier", len(at), many, "later"), ends, "earlier", told, KEPT, then, schema(OPEN), len(at))
    return mapped(blocks.repartition(len(at), "place"), partial(decide, borders=borders), SAID)


def blocks_for(pairs: int) -> int:
    """The number of blocks: each has about a quarter of the pairs that one task can decide about."""
    return 1 + 4 * pairs // ALONE


def equal_blocks(pairs: DataFrame, number: int, blocks: int) -> np.ndarray:
    """The first items of all blocks but the first, int64[..]: blocks of about equally many pairs, from counts of slices of the items."""
    width = max(1, -(-number // SLICES))
    slices = pairs.selectExpr(f"later div {width} as slice").groupBy("slice").count().coalesce(1).collect()
    counts = np.zeros(SLICES, np.int64)
    counts[[row["slice"] for row in slices]] = [row["count"] for row in slices]
    ends = np.cumsum(counts)
    return np.unique(np.searchsorted(ends, ends[-1] * np.arange(1, blocks) // blocks, side="right")) * width


def undecided(batches: Iterator[pa.RecordBatch], borders: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Pairs -> blocks of later items."""
    for table in gathered(batches, GATHERED * len(at)):
        yield from to_blocks(arrays(table), np.full(len(table), UNDECIDED), borders, at)


def to_blocks(pairs: Columns, state: np.ndarray, borders: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    part: Any = np.searchsorted(borders, pairs["later"], side="right")
    yield packed(part, at, OPEN, **pairs, state=state)


def decide(batches: Iterator[pa.RecordBatch], borders: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The pairs of a block -> `SAID`."""
    table = whole(batches)
    if table is None:
        return
    later, earlier, state = (flat(table[name], np.int64) for name in OPEN)
    own = np.searchsorted(borders, later, side="right") == np.searchsorted(borders, earlier, side="right")
    found = settle_round(later, earlier, state.astype(np.uint8), own)
    left, none = found.open, pa.nulls
    yield batch(SAID, found.item, found.state.astype(np.int64), none(len(found.item), pa.int64()), none(len(found.item), pa.int64()))
    yield batch(SAID, *(none(int(left.sum()), pa.int64()),) * 2, later[left], earlier[left])


def batch(schema: str, *columns: np.ndarray | pa.Array) -> pa.RecordBatch:
    names = [each.split()[0] for each in schema.split(", ")]
    return pa.record_batch([each if isinstance(each, pa.Array) else pa.array(each) for each in columns], names=names)


def of_kept(pairs: Columns, state: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Similar pairs, with the states of their earlier items -> the pairs with kept items, for the partitions of their later items."""
    values = {name: each[state == KEPT] for name, each in pairs.items()}
    yield packed(part_of(values["later"], len(at)), at, PAIRS, **values)


def match(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All similar pairs of some items with kept ones -> `MATCHES`."""
    table = whole(batches)
    if table is not None:
        yield matches(*(flat(table[name], np.int64) for name in PAIRS))


def decide_all(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """All similar pairs -> `MATCHES`."""
    table = whole(batches)
    if table is None:
        return
    later, earlier, *ratio = arrays(table).values()
    found = settle_round(later, earlier, np.full(len(later), UNDECIDED, np.uint8), np.ones(len(later), bool))
    kept = ~np.isin(earlier, found.item[found.state == REMOVED])
    yield matches(*(each[kept] for each in (later, earlier, *ratio)))


def matches(*pairs: np.ndarray) -> pa.RecordBatch:
    order, best, previous = matched(*pairs)
    return batch(MATCHES, *(each[order] for each in pairs), best, pa.array(previous, mask=previous < 0))
