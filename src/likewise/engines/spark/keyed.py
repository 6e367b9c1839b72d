"""Candidates of exact joins: the keys of items go to partitions of whole buckets, which pass on the pairs that may be similar (`joins.keys`).

The keys of sets are made of their elements in the order of the number of sets that have each. So elements go to partitions that count them and return
those of several sets to the partitions of the items.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.engine import Found, by_join
from likewise.engines.spark import colliding
from likewise.engines.spark.blocks import GATHERED, binary, flat, gathered, lists, packed, part_of, places, whole
from likewise.engines.spark.colliding import FOUND, first_list
from likewise.engines.spark.distinct import InOrder
from likewise.engines.spark.lazily import LISTS
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import schema
from likewise.joins.keys import SLICE, Keyed, Keys, in_groups, joined, sliced
from likewise.kernels.bands import MIX
from likewise.runs.items import Run
from likewise.runs.pair_search import announce
from likewise.stages.candidates import Lists, keyed, lists_of_pairs, whole_lists
from likewise.stages.scope import Scope
from likewise.stages.verify import Compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Elements of items, each with the number of all elements of its item; those that several items have, with the number of these items.
WORDS, COUNTED = ["word", "owner", "total"], ["word", "owner", "total", "count"]
KEYS = ["key", "item", "mark"]
TYPES = {"word": np.uint64, "owner": np.int64, "count": np.int64, "total": np.uint32, "side": np.uint8}
#: Keys that are sent at once.
ENTRIES = 1 << 20
#: The side of an item, where items have sides.
SIDE = "side"
#: Buckets whose items have more pairs than this on average become lists of whole buckets, which are compared in rounds.
PAIRS_OF_AN_ITEM = 16
#: Elements in the sample that shows which of them very many items have, and how often it has each of these at least.
SAMPLED, SEEN = 1 << 22, 32


@dataclass
class Joined:
    """The `bands.Candidates` of a job without a plan."""

    steps: Steps
    run: Run

    def begin(self, items: InOrder, share: float, walk: bool) -> None:
        self.keys = self.run.job.compared.keys(items.number, items.words, partial(self.sample, items), self.run.job, walk=walk)
        announce(items.number, self.run, "compared", self.keys.cost * share)
        self.run.begin("joining", 0, "items")

    def parts(self, items: InOrder) -> int:
        return 1 + self.keys.number(items.number, items.words) // colliding.TASK_ENTRIES

    def sample(self, items: InOrder, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The words of items, given by number, ascending."""
        some = partial(chosen, numbers=numbers)
        self.steps.table("items-sampled", lambda: items.rows.mapped(self.steps, some, "item long, sets binary", ["sets"]))
        table = self.steps.read("items-sampled", ["item", "sets"])
        return lists(table.take(pc.sort_indices(table["item"])).combine_chunks()["sets"])

    def lists(self, items: InOrder, parts: int) -> tuple[DataFrame, int]:
        def make() -> DataFrame:
            return mapped(self.keyed(items, parts), partial(buckets, keys=self.keys, at=places(parts), scope=items.scope), schema(FOUND))

        found = self.steps.table("collided", make)
        return found.where("entry is not null").select(*LISTS), colliding.listed_pairs(self.steps, "collided")

    def pairs(self, items: InOrder, parts: int) -> DataFrame:
        ends = ["later", "earlier"]
        return self.steps.table(
            "pairs", lambda: mapped(self.keyed(items, parts), partial(pairs_across, keys=self.keys, at=places(parts)), schema(ends))
        ).select("place", *ends)

    def found(self, items: InOrder, removed: DataFrame, matches: int, parts: int, compare: Callable[[np.ndarray, np.ndarray], Compared]) -> Found:
        return by_join(1.0, self.keys.facts())

    def keyed(self, items: InOrder, parts: int) -> DataFrame:
        """The keys of items and their marks, in partitions of whole buckets."""
        at, side, columns = places(parts), [SIDE] if items.sides else [], ["sets", "per", "size"]
        if not self.keys.counted:
            found = partial(of_items, keys=self.keys, at=at)
            return items.rows.mapped(self.steps, found, schema([*KEYS, *side]), columns).repartition(parts, "place")
        common = self.common(items, parts)
        words = partial(to_words, at=at, common=common.word)
        sent = items.rows.mapped(self.steps, words, schema([*WORDS, *side]), columns).repartition(parts, "place")
        back = mapped(sent, partial(counted, at=at, common=common), schema([*COUNTED, *side])).repartition(parts, "place")
        return mapped(back, partial(of_counted, keys=self.keys, at=at), schema([*KEYS, *side])).repartition(parts, "place")

    def common(self, items: InOrder, parts: int) -> Common:
        """The elements that so many items have, by a sample, that no task should get all of these."""
        some = max(SLICE // SEEN, items.words // SAMPLED)
        if parts == 1 or items.number <= SLICE:
            return Common(np.zeros(0, np.uint64), np.zeros(0, np.int64))
        drawn = partial(sampled, some=some)
        self.steps.table("words-sampled", lambda: items.rows.mapped(self.steps, drawn, "words binary", ["sets", "per"]))
        word, number = np.unique(flat(self.steps.read("words-sampled", ["words"])["words"], np.uint64), return_counts=True)
        many = number >= SEEN // 2
        return Common(word[many], number[many] * some)


class Common(NamedTuple):
    """Elements that very many items have."""

    word: np.ndarray  # uint64[k], ascending
    items: np.ndarray  # int64[k]: the estimated number of these


def chosen(batches: Iterator[pa.RecordBatch], numbers: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items -> some of them, given by number."""
    for batch in batches:
        yield batch.select(["item", "sets"]).filter(pa.array(np.isin(batch["item"].to_numpy(), numbers)))


def words_of(table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """The words of sets, which differ between groups (``per``): uint64[m], and where those of each set begin, int64[n + 1]."""
    values, offsets = lists(table["sets"])
    return keyed(values, np.repeat(table["per"].to_numpy().view(np.uint64), np.diff(offsets))), offsets


def sampled(batches: Iterator[pa.RecordBatch], some: int) -> Iterator[pa.RecordBatch]:
    """Items -> the words of one in ``some`` of them."""
    for batch in batches:
        drawn = (batch["item"].to_numpy().astype(np.uint64) * MIX >> np.uint64(32)) % np.uint64(some) == 0
        words, _ = words_of(pa.Table.from_batches([batch.filter(pa.array(drawn))]))
        yield pa.record_batch([binary(words, np.array([0, len(words)]))], names=["words"])


def to_words(batches: Iterator[pa.RecordBatch], at: np.ndarray, common: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items -> their words, for the partitions of these; of common words, for those of the items."""
    for table in gathered(batches, 1 + GATHERED * len(at) // 16):
        words, offsets = words_of(table)
        sizes = np.diff(offsets)
        columns = {
            "word": words,
            "owner": np.repeat(table["item"].to_numpy(), sizes),
            "total": np.repeat(table["size"].to_numpy().astype(np.uint32), sizes),
        }
        if SIDE in table.column_names:
            columns[SIDE] = np.repeat(table[SIDE].to_numpy().astype(np.uint8), sizes)
        home = np.where(np.isin(words, common), columns["owner"].view(np.uint64), words)
        yield packed(part_of(home, len(at)), at, [*columns], **columns)


def counted(batches: Iterator[pa.RecordBatch], at: np.ndarray, common: Common) -> Iterator[pa.RecordBatch]:
    """Words -> those that several items have, with the number of these, for the partitions of the items."""
    if (table := whole(batches)) is None:
        return
    columns = columns_in(table)
    word, place, number = np.unique(columns["word"], return_inverse=True, return_counts=True)
    there = np.isin(word, common.word)
    number[there] = common.items[np.searchsorted(common.word, word[there])]
    columns["count"] = number[place]
    some = np.flatnonzero(columns["count"] > 1)
    columns = {name: values[some] for name, values in columns.items()}
    yield packed(part_of(columns["owner"], len(at)), at, [*COUNTED, *(name for name in columns if name == SIDE)], **columns)


def columns_in(table: pa.Table) -> dict[str, np.ndarray]:
    """The columns of blocks, as arrays."""
    return {name: flat(table[name], TYPES[name]) for name in table.column_names if name != "place"}


def of_counted(batches: Iterator[pa.RecordBatch], keys: Keys, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The words of items that others have, too -> the keys of items."""
    if (table := whole(batches)) is None:
        return
    columns = columns_in(table)
    order = np.argsort(columns["owner"], kind="stable")
    columns = {name: values[order] for name, values in columns.items()}
    item, begin = np.unique(columns["owner"], return_index=True)
    found = keys.of(columns["word"], np.append(begin, len(order)), columns["total"][begin].astype(np.int64), columns["count"])
    yield from sent(found, item, columns[SIDE][begin] if SIDE in columns else None, at)


def of_items(batches: Iterator[pa.RecordBatch], keys: Keys, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Items with all their words -> the keys of items."""
    for table in gathered(batches, 1 + GATHERED * len(at) // 16):
        words, offsets = lists(table["sets"])
        found = keys.of(words, offsets, np.diff(offsets), np.zeros(0, np.int64))
        found = found._replace(key=keyed(found.key, table["per"].to_numpy().view(np.uint64)[found.item]))
        side = table[SIDE].to_numpy().astype(np.uint8) if SIDE in table.column_names else None
        yield from sent(found, table["item"].to_numpy(), side, at)


def sent(found: Keyed, item: np.ndarray, side: np.ndarray | None, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Keys of items, int64[n] and perhaps uint8[n], for the partitions of their buckets."""
    found = sliced(found, item)
    columns = {"key": found.key, "item": item[found.item], "mark": found.mark}
    if side is not None:
        columns[SIDE] = side[found.item]
    for begin in range(0, len(found.key), ENTRIES):
        here = {name: values[begin : begin + ENTRIES] for name, values in columns.items()}
        yield packed(part_of(here["key"], len(at)), at, [*columns], **here)


def buckets(batches: Iterator[pa.RecordBatch], keys: Keys, at: np.ndarray, scope: Scope) -> Iterator[pa.RecordBatch]:
    """Whole buckets of keys -> `FOUND`."""
    if (table := whole(batches)) is None:
        return
    key, item, mark = (flat(table[name], dtype) for name, dtype in (("key", np.uint64), ("item", np.int64), ("mark", (np.uint64, (keys.words,)))))
    first = first_list(table["place"][:1].to_numpy(), at)
    for some in in_groups(key):
        found = lists_in(keys, key[some], item[some], mark[some], scope)
        yield from colliding.said(found, np.zeros(0, np.int64), first, at)
        first += len(found.item)


def lists_in(keys: Keys, key: np.ndarray, item: np.ndarray, mark: np.ndarray, scope: Scope) -> Lists:
    """The candidates in whole buckets: those that may be similar, or all if these are very many."""
    side = None if scope.inside else np.where(item < scope.fixed, 2, 1).astype(np.uint8)
    blocks, left = [np.zeros((2, 0), np.int64)], PAIRS_OF_AN_ITEM * len(item)
    for block in joined(keys, key, mark, side, left):
        left -= len(block[0])
        if left < 0:
            return whole_lists(key, item, scope)
        blocks.append(np.sort(item[np.stack(block)], axis=0))
    earlier, later = np.concatenate(blocks, axis=1)
    some = (later >= scope.fixed) & (scope.inside | (earlier < scope.fixed))
    return lists_of_pairs(later[some], earlier[some])


def pairs_across(batches: Iterator[pa.RecordBatch], keys: Keys, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Whole buckets of keys -> the pairs that may be similar; if items have sides, those across."""
    if (table := whole(batches)) is None:
        return
    key, item, mark = (flat(table[name], dtype) for name, dtype in (("key", np.uint64), ("item", np.int64), ("mark", (np.uint64, (keys.words,)))))
    side = flat(table[SIDE], np.uint8) if SIDE in table.column_names else None
    for some in in_groups(key):
        for block in joined(keys, key[some], mark[some], None if side is None else side[some]):
            earlier, later = np.sort(item[some][np.stack(block)], axis=0)
            yield packed(part_of(earlier, len(at)), at, ["later", "earlier"], later=later, earlier=earlier)
