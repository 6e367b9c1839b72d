"""Slices of hot buckets list the pairs that whole buckets list, and no task gets much more than the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from likewise.engines.spark import budget, colliding, hot
from likewise.engines.spark.blocks import flat, packed, part_of, places
from likewise.engines.spark.comparing import LIGHT, attached, of_items
from likewise.engines.spark.lazily import LISTS, certain, list_all, list_first
from likewise.engines.spark.lazily import rows as rows_of
from likewise.stages.candidates import Lists, collisions, keyed
from likewise.stages.scope import Scope

PARTS = 16
NONE = np.zeros(0, np.int64)


def items_of(n: int, bands: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Keys of n items, and their groups. Half share the key of the first band; of these half that of the second, and of these half that of the third.

    A few items share each key of further bands.
    """
    rng = np.random.default_rng(seed)
    keys = rng.integers(0, 2**63, (n, bands)).astype(np.uint64)
    keys[:, 3:] = rng.integers(0, n // 3, keys[:, 3:].shape).astype(np.uint64)
    shared = rng.permutation(n)
    for band, share in zip(range(bands), (2, 4, 8), strict=False):
        keys[shared[: n // share], band] = 7
    return keys, np.zeros(n, np.uint64)


def rows(keys: np.ndarray, per: np.ndarray) -> list[pa.RecordBatch]:
    """Batches of items in any order."""
    order = np.random.default_rng(1).permutation(len(keys))
    return [
        pa.record_batch({"item": some, "keys": [row.tobytes() for row in keys[some]], "per": per[some].view(np.int64)})
        for some in np.array_split(order, 7)
    ]


def shuffled(batches: Iterable[pa.RecordBatch]) -> list[list[pa.RecordBatch]]:
    """The rows of each partition, as Spark moves them."""
    table = pa.Table.from_batches(batches)
    return [table.filter(pa.compute.equal(table["place"], place)).to_batches() for place in sorted(set(table["place"].to_pylist()))]


def entries(partition: list[pa.RecordBatch], column: str) -> int:
    return len(flat(pa.Table.from_batches(partition)[column], np.int64))


def made(function: Callable[..., Iterator[pa.RecordBatch]], partitions: Iterable[list[pa.RecordBatch]], **more: Any) -> list[pa.RecordBatch]:
    return [batch for partition in partitions for batch in function(iter(partition), **more)]


def found(keys: np.ndarray, per: np.ndarray, scope: Scope, at: np.ndarray, *, sliced: bool) -> tuple[list[pa.RecordBatch], list[list[int]]]:
    """The rows of `colliding.FOUND` of all buckets, and the numbers of keys of the tasks of each step."""
    given, bands = rows(keys, per), keys.shape[1]
    levels = hot.lists_in(keys, per, len(keys) // 20)
    assert len(levels) == min(bands, 3) and all(len(level.name) for level in levels), "there are hot buckets, and hot parts at each level"
    spread = partial(colliding.spread, bands=bands, at=at, but=levels[0] if sliced else None)
    grouped = shuffled(made(spread, [given]))
    result, sizes = made(colliding.buckets, grouped, bands=bands, at=at, scope=scope), [[entries(each, "item") for each in grouped]]
    crowded = [batch for batch in result if batch["item"].null_count < len(batch)]
    if crowded:
        members = made(colliding.to_items, [crowded], at=at) + made(colliding.with_keys, [given], at=at)
        again = shuffled(made(colliding.spread_again, shuffled(members), bands=bands, at=at))
        result += made(colliding.overfull, again, bands=bands, at=at, scope=scope)
        sizes.append([entries(each, "item") for each in again])
    if sliced:
        own = [batch for batch in hot.members_of(iter(given), levels=levels, bands=bands) if len(batch)]
        told = [batch for each in own for batch in hot.told(iter([each]), levels=levels, bands=bands, scope=scope)]
        known = hot.known(pa.Table.from_batches(told), levels, scope)
        slices = shuffled(hot.slices(iter(own), hot=known, bands=bands, at=at))
        result += made(colliding.in_slices, slices, hot=known, at=at, scope=scope)
        sizes.append([entries(each, "item") for each in slices])
    return result, sizes


def pairs_of(result: list[pa.RecordBatch], at: np.ndarray) -> np.ndarray:
    """The numbers of all candidate pairs, ascending."""
    lists = [batch for batch in result if batch["entry"].null_count < len(batch)]
    listed = pa.Table.from_batches([batch for each in lists for batch in list_all(iter([each.select(LISTS)]), at, NONE)])
    pairs = numbers(*(flat(listed[name], np.int64) for name in ("later", "earlier")))
    assert int(sum(flat(batch["pairs"], np.int64).sum() for batch in result)) == len(pairs)
    return np.sort(pairs)


def numbers(later: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    return later << 32 | earlier


def sizes_of(result: list[pa.RecordBatch]) -> list[int]:
    table = pa.Table.from_batches(result)
    return sorted(np.repeat(flat(table["size"], np.int64), flat(table["number"], np.int64)).tolist())


def counts_of(result: list[pa.RecordBatch], bands: int, scope: Scope, gone: np.ndarray) -> list[tuple[Any, ...]]:
    """The counts of the rule for overfull buckets, by band and first member."""
    members = [batch.select(["place", *budget.MEMBERS]) for batch in result if batch["member"].null_count < len(batch)]
    told = []
    for partition in shuffled(members) if members else []:
        table = pa.Table.from_batches(partition)
        table = table.append_column("gone", pa.array([gone.tobytes()] + [None] * (len(table) - 1), pa.binary()))
        told += budget.count(iter(table.to_batches()), bands=bands, scope=scope)
    return sorted(tuple(row.values())[1:] for batch in told for row in batch.to_pylist())


@pytest.mark.parametrize("bands", [1, 2, 5])
@pytest.mark.parametrize("scope", [Scope(), Scope(900, True), Scope(900, False), Scope(40, False)])
def test_slices_list_the_pairs_of_whole_buckets(bands: int, scope: Scope) -> None:
    """The items that stay may be so few that no bucket is overfull, although a task with its readers gets many times as many as others."""
    at = places(PARTS)
    keys, per = items_of(4_000, bands, 3)
    whole, _ = found(keys, per, scope, at, sliced=False)
    slices, _ = found(keys, per, scope, at, sliced=True)
    wanted = [np.zeros(0, np.int64)]
    for band in range(bands):
        finer = np.stack([keys[:, (band + level) % bands] for level in range(min(3, bands))])[1:]
        lists = collisions(keyed(keys[:, band], per), finer, np.arange(len(keys)), scope).lists
        wanted.append(numbers(*lists.item[lists.places()]))
    pairs = np.sort(np.concatenate(wanted))
    assert np.array_equal(pairs_of(slices, at), pairs) and np.array_equal(pairs_of(whole, at), pairs) and len(pairs) > 10_000
    assert sizes_of(slices) == sizes_of(whole)
    gone = np.random.default_rng(5).permutation(len(keys))[:1_500]
    counts = counts_of(whole, bands, scope, gone)
    assert counts_of(slices, bands, scope, gone) == counts and bool(counts) == (scope.fixed != 40)


def test_no_task_gets_three_times_as_many_keys_as_the_median() -> None:
    """Half of all items share a bucket, half of these a part of it, and half of these a part of that."""
    at = places(PARTS)
    keys, per = items_of(40_000, 5, 4)
    (grouped, split), (other, slices) = (found(keys, per, Scope(), at, sliced=sliced)[1] for sliced in (False, True))
    assert max(grouped) > 4 * np.median(grouped) and len(split) < 4, "whole buckets"
    assert sum(other) + sum(slices) == sum(grouped) == keys.size
    for sizes in (other, slices):
        assert len(sizes) == PARTS and max(sizes) < 1.5 * np.median(sizes)


def test_the_pairs_of_an_item_with_very_many_go_to_the_tasks_of_the_others() -> None:
    """Item 3 is listed in four lists of 1,000 readers, and waits for item 1 in a fifth. The outcome of the first round is the same."""
    at, sizes = places(PARTS), []
    item = [np.concatenate(([3], np.arange(10 + 1000 * each, 1010 + 1000 * each))) for each in range(4)] + [np.array([1, 3]), np.array([2, 20, 2500])]
    begin = np.concatenate(([0], np.cumsum([len(each) for each in item])))
    listed = np.zeros(begin[-1], bool)
    listed[begin[:-1]] = True
    lists = rows_of(Lists(begin, np.concatenate(item), listed, ~listed), np.arange(len(item)))
    number = np.arange(4_100)
    light = packed(part_of(number, PARTS), at, LIGHT, item=number, rank=number << 3, size=np.full(4_100, 5, np.uint32))
    others = [(3, 1), (20, 2), (2500, 2)]
    for many in (NONE, np.array([2, 3])):
        found = pa.Table.from_batches(made(certain, shuffled(list_first(iter([lists]), at, many)), number=1, fixed=0, at=at))
        assert sorted(ends_of(found)) == others
        told = found.filter(pa.compute.is_valid(found["told_item"]))
        assert {(row["place"], row["told_item"]) for row in told.to_pylist()} == {
            (at[part_of(np.array([kept]), PARTS)[0]], np.int64(kept).tobytes()) for kept in (1, 2)
        }
        pairs = shuffled(list_all(iter([lists]), at, many))
        sizes.append([entries(each, "later") for each in pairs])
        known = pa.Table.from_batches([*of_items(iter([light]), many)]) if len(many) else None
        with_light = []
        for partition in pairs:
            own = light.filter(pa.compute.equal(light["place"], partition[0]["place"][0]))
            both = pa.concat_tables([pa.Table.from_batches(partition), pa.Table.from_batches([own])], promote_options="default")
            with_light += attached(iter(both.to_batches()), at, known)
        table = pa.Table.from_batches(with_light)
        assert sorted(ends_of(table)) == sorted([(later, 3) for later in range(10, 4_010)] + others)
        assert (flat(table["rank"], np.int64) == flat(table["earlier"], np.int64) << 3).all()
    assert max(sizes[0]) == 4_000 and max(sizes[1]) < 1.5 * np.median(sizes[1])


def ends_of(table: pa.Table) -> list[tuple[int, int]]:
    return list(zip(*(flat(table[name], np.int64).tolist() for name in ("later", "earlier")), strict=True))
