"""Candidate pairs in rounds (`stages.lazy`), if there are very many: each item of an overfull bucket of similar items then costs one comparison.

A row has whole lists of a bucket, so any task can list their pairs. After a round, the entries of lists go to the partitions of their items, where
they get the decisions of the round; the remaining entries return to the partitions of their lists.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import BLOCK, GATHERED, binary, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.hot import heads_in, pair_part
from likewise.engines.spark.settling import Log, settled, united
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import ITEM, SAID, Columns, said, schema, with_told
from likewise.stages.candidates import Lists, in_pairs, in_parts, selected
from likewise.stages.lazy import ROUNDS, first_pairs, late, late_pairs, left

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Candidate pairs are listed in rounds if there are more than `MANY`, and more than `FOR_EACH` per item.
MANY, FOR_EACH = 1 << 24, 16
#: Whole lists: their numbers and lengths, the items of their entries, and the flags of entries: the sum of `LISTED` and `READS`.
LISTS = ["list", "length", "entry", "flags"]
ENTRIES = ["entry", "list", "flags"]
PAIRS = ["later", "earlier"]
LISTED, READS = 1, 2
#: Pairs that a task lists at once.
LISTED_AT_ONCE = 1 << 21
#: The number of an item is twice the round that decided it, plus 1 if it is removed.
REMOVED = 1

#: Takes a name and blocks of candidate pairs, and returns the step of this name with the similar ones.
Compare = Callable[[str, "DataFrame"], "DataFrame"]


def similar_pairs(
    steps: Steps,
    lists: DataFrame,
    pairs: int,
    number: int,
    fixed: int,
    parts: int,
    compare: Compare,
    log: Log = lambda _: None,
) -> DataFrame:
    """Similar candidate pairs: all of them, or those with kept items and those that decide which items are kept.

    pairs: the number of candidate pairs in the lists, counted in each band. number: of items, of which the first ``fixed`` stay.
    """
    at, many = places(parts), heads_in(steps)
    if pairs <= max(MANY, FOR_EACH * number):
        return compare("similar", mapped(lists, partial(list_all, at=at, many=many), schema(PAIRS)))
    remaining, found, decided = lists, [], []
    for number_of in range(1, 1 + ROUNDS):
        first = steps.table(f"first-{number_of}", partial(first_of, remaining, number_of, fixed, at, many))
        found.append(compare(f"similar-{number_of}", first.where("later is not null").select("place", *PAIRS)))
        gone = said(found[-1], "later", f"{2 * number_of + REMOVED}L", parts)
        decided.append(first.where(f"{ITEM} is not null").select("place", ITEM, SAID).unionByName(gone))
        remaining = steps.table(f"lists-{number_of}", partial(next_lists, remaining, decided[-1], at))
        log(f"comparing, round {number_of}: {steps.rows(f'similar-{number_of}'):,} similar pairs with certainly kept items")
    last = 2 * (1 + ROUNDS)
    found.append(compare("similar-rest", mapped(remaining, partial(list_all, at=at, many=many), schema(PAIRS))))
    rest = settled(steps, found[-1], steps.rows("similar-rest"), number, parts, log, many, "matches-rest").where("best")
    told = united([*decided, said(rest, "later", f"{last + REMOVED}L", parts)])
    entries = sent_back(lists, told, last, partial(of_late, at=at), ["told"], at)
    found.append(compare("similar-late", mapped(entries, partial(list_late, at=at, many=many), schema(PAIRS))))
    return united(found)


def first_of(lists: DataFrame, number: int, fixed: int, at: np.ndarray, many: np.ndarray) -> DataFrame:
    """The pairs to compare in a round, and the certainly kept items among them as `ITEM` and `SAID`."""
    names = [*PAIRS, "waits"]
    both = mapped(lists, partial(list_first, at=at, many=many), schema(names)).repartition(len(at), "place")
    return mapped(both, partial(certain, number=number, fixed=fixed, at=at), schema([*PAIRS, ITEM, SAID]))


def next_lists(lists: DataFrame, told: DataFrame, at: np.ndarray) -> DataFrame:
    """The lists after a round."""
    return mapped(sent_back(lists, told, 0, partial(of_left, at=at), [], at), list_again, rows_schema())


def sent_back(lists: DataFrame, told: DataFrame, default: int, then: Callable, more: list[str], at: np.ndarray) -> DataFrame:
    """The entries of lists, passed to ``then`` with the numbers of their items, and sent to the partitions of their lists."""
    entries = mapped(lists, partial(to_items, at=at), schema(ENTRIES))
    return with_told(entries, ENTRIES, "entry", told, default, then, schema([*ENTRIES, *more]), len(at)).repartition(len(at), "place")


def rows_schema() -> str:
    return ", ".join(f"{name} binary" for name in LISTS)


def rows(lists: Lists, numbers: np.ndarray) -> pa.RecordBatch:
    """Lists as rows of whole lists, with about `BLOCK` entries each. numbers: int64[lists]"""
    begin = lists.begin
    ends = np.append(np.flatnonzero(np.diff(begin[:-1] // BLOCK, prepend=-1)), len(begin) - 1)
    columns = (numbers, ends), (np.diff(begin), ends), (lists.item, begin[ends]), (flags_of(lists.listed, lists.reads), begin[ends])
    return pa.record_batch([binary(values, offsets) for values, offsets in columns], names=LISTS)


def flags_of(listed: np.ndarray, reads: np.ndarray) -> np.ndarray:
    return LISTED * listed.astype(np.int64) + READS * reads


def marks(flags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(listed, reads), bool[m] each."""
    return flags & LISTED > 0, flags & READS > 0


def lists_in(table: pa.Table) -> tuple[Lists, np.ndarray]:
    """The lists of rows, and their numbers."""
    numbers, length, item, flags = (flat(table[name], np.int64) for name in LISTS)
    return Lists(np.concatenate(([0], np.cumsum(length))), item, *marks(flags)), numbers


def several(batches: Iterable[pa.RecordBatch], at: np.ndarray) -> Iterator[tuple[Lists, np.ndarray]]:
    for table in gathered(batches, 1 + GATHERED * len(at) // BLOCK):
        yield lists_in(table)


def list_all(batches: Iterator[pa.RecordBatch], at: np.ndarray, many: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Lists -> their pairs, for their partitions (`hot.pair_part`)."""
    for several_lists, _ in several(batches, at):
        for lists in in_parts(several_lists, LISTED_AT_ONCE):
            later, earlier = lists.item[lists.places()]
            yield packed(pair_part(later, earlier, len(at), many), at, PAIRS, later=later, earlier=earlier)


def list_first(batches: Iterator[pa.RecordBatch], at: np.ndarray, many: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Lists -> their first pairs, for their partitions, and the later items, for those of pairs in which they are the earlier ones."""
    for lists, _ in several(batches, at):
        later, earlier = np.unique(np.stack(first_pairs(lists)), axis=1)
        yield packed(pair_part(later, earlier, len(at), many), at, [*PAIRS, "waits"], later=later, earlier=earlier)
        waits = np.unique(later)
        everywhere = np.isin(waits, many)
        home = np.concatenate([part_of(waits[~everywhere], len(at)), np.repeat(np.arange(len(at)), everywhere.sum())])
        waits = np.concatenate([waits[~everywhere], np.tile(waits[everywhere], len(at))])
        yield packed(home, at, [*PAIRS, "waits"], waits=waits)


def certain(batches: Iterator[pa.RecordBatch], number: int, fixed: int, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """First pairs and waiting items -> the pairs whose earlier item does not wait, and these earlier items, which are certainly kept."""
    table = whole(batches)
    if table is None:
        return
    later, earlier, waits = (flat(table[name], np.int64) for name in (*PAIRS, "waits"))
    some = ~np.isin(earlier, waits)
    kept, here = np.unique(earlier[some]), table["place"][:1].to_numpy()
    names = [*PAIRS, ITEM, SAID]
    yield packed(part_of(kept, len(at)), at, names, **{ITEM: kept, SAID: np.full(len(kept), 2 * number)})
    later, earlier = np.unique(np.stack([later[some], earlier[some]])[:, later[some] >= fixed], axis=1)
    yield packed(np.zeros(len(later), np.int64), here, names, later=later, earlier=earlier)


def to_items(batches: Iterator[pa.RecordBatch], at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Lists -> their entries, for the partitions of the items."""
    for lists, numbers in several(batches, at):
        yield packed(part_of(lists.item, len(at)), at, ENTRIES, entry=lists.item, list=numbers[lists.of], flags=flags_of(lists.listed, lists.reads))


def of_left(entries: Columns, told: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Entries, with the decisions of a round about their items -> the entries that remain."""
    flags = flags_of(*left(*marks(entries["flags"]), told % 2 == REMOVED, told > 0))
    yield to_lists(entries | {"flags": flags}, flags > 0, ENTRIES, at)


def of_late(entries: Columns, told: np.ndarray, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Entries, with the final decisions about their items -> those that may be in a pair that no round compared."""
    flags = flags_of(*late(*marks(entries["flags"]), told % 2 == REMOVED, told // 2))
    yield to_lists(entries | {"flags": flags, "told": told}, flags > 0, [*ENTRIES, "told"], at)


def to_lists(entries: Columns, some: np.ndarray, names: list[str], at: np.ndarray) -> pa.RecordBatch:
    values = {name: each[some] for name, each in entries.items()}
    return packed(part_of(values["list"], len(at)), at, names, **values)


def regrouped(table: pa.Table) -> tuple[Lists, np.ndarray, np.ndarray]:
    """The lists of entries that come in any order; the number of each entry's list, and the order."""
    item, number, flags = (flat(table[name], np.int64) for name in ENTRIES)
    order = np.lexsort((item, number))
    begin = np.flatnonzero(np.diff(number[order], prepend=-1))
    return Lists(np.append(begin, len(order)), item[order], *marks(flags[order])), number[order], order


def list_again(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Remaining entries -> lists."""
    table = whole(batches)
    if table is None:
        return
    lists, number, _ = regrouped(table)
    lists = in_pairs(lists)
    some = lists.listed | lists.reads
    yield rows(selected(lists, some), np.unique(number[some]))


def list_late(batches: Iterator[pa.RecordBatch], at: np.ndarray, many: np.ndarray) -> Iterator[pa.RecordBatch]:
    """Entries of removed items and of those that were kept late -> the pairs that no round compared."""
    table = whole(batches)
    if table is None:
        return
    lists, _, order = regrouped(table)
    told = flat(table["told"], np.int64)[order]
    later, earlier = late_pairs(lists, told % 2 == REMOVED, told // 2)
    yield packed(pair_part(later, earlier, len(at), many), at, PAIRS, later=later, earlier=earlier)
