"""A join of entries with a number of their item: pairs with states, links with next items, entries of lists with outcomes.

Both sides go to the partitions of the items, as blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, texts, whole
from likewise.engines.spark.tasks import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Columns of items, and of their numbers.
ITEM, SAID = "told_item", "told"
Columns = dict[str, Any]
NONE = np.zeros(0, np.int64)
#: Takes columns of entries and the number of each entry's item, and yields batches.
Then = Callable[[Columns, np.ndarray], Iterable[pa.RecordBatch]]


def schema(names: Iterable[str]) -> str:
    """The schema of `blocks.packed`."""
    return ", ".join(["place long", *(f"{name} binary" for name in names)])


def sent(frame: DataFrame, names: list[str], by: str, parts: int, many: np.ndarray = NONE, other: str | None = None) -> DataFrame:
    """Columns of integers as blocks, sent to partitions by the column ``by``.

    many: items with very many entries. These go to partitions by the column ``other``; without one, to all partitions.
    """
    return mapped(frame.select(*names), partial(spread, by=by, at=places(parts), many=many, other=other), schema(names))


def spread(batches: Iterator[pa.RecordBatch], by: str, at: np.ndarray, many: np.ndarray, other: str | None) -> Iterator[pa.RecordBatch]:
    for table in gathered(batches, GATHERED * len(at)):
        values = arrays(table)
        some = np.isin(values[by], many)
        key: Any = values[by] if other is None else np.where(some, values[other], values[by])
        part = part_of(key, len(at))
        if other is None and some.any():
            every = np.concatenate([np.flatnonzero(~some), np.repeat(np.flatnonzero(some), len(at))])
            part = np.concatenate([part[~some], np.tile(np.arange(len(at)), some.sum())])
            values = {name: each[every] for name, each in values.items()}
        yield packed(part, at, table.column_names, **values)


def arrays(table: pa.Table) -> Columns:
    """The columns of a table of integers: int64[n] each."""
    return {name: table[name].to_numpy().astype(np.int64) for name in table.column_names}


def said(frame: DataFrame, item: str, number: str, parts: int, many: np.ndarray = NONE) -> DataFrame:
    """Items and numbers as blocks for the partitions of the items. item, number: SQL expressions; rows of one item have the same number.

    many: items whose entries are in all partitions (`sent`).
    """
    return sent(frame.selectExpr(f"{item} as {ITEM}", f"{number} as {SAID}"), [ITEM, SAID], ITEM, parts, many)


def with_told(entries: DataFrame, names: list[str], by: str, told: DataFrame, default: int, then: Then, out: str, parts: int) -> DataFrame:
    """Pass entries to ``then`` with the number of each entry's item, which is in the column ``by``; ``default`` for an item without a number.

    entries: blocks of columns ``names`` for the partitions of their items (`sent`). told: a result of `said`. out: the schema of the result.
    """
    both = entries.select("place", *names).unionByName(told.select("place", ITEM, SAID), allowMissingColumns=True).repartition(parts, "place")
    return mapped(both, partial(look_up, names=names, by=by, default=default, then=then), out)


def columns_in(table: pa.Table, names: Iterable[str]) -> dict[str, Any]:
    """The columns of blocks: int64[n], or bytes (`blocks.texts`) if there is a column NAME_size, too."""
    names = list(names)
    own = (name for name in names if not name.endswith("_size"))
    return {name: texts(table, name) if f"{name}_size" in names else flat(table[name], np.int64) for name in own}


def look_up(batches: Iterator[pa.RecordBatch], names: list[str], by: str, default: int, then: Then) -> Iterator[pa.RecordBatch]:
    table = whole(batches)
    if table is None:
        return
    values = columns_in(table, names)
    item, told = flat(table[ITEM], np.int64), flat(table[SAID], np.int64)
    order = np.argsort(item)
    item, told = item[order], told[order]
    found = np.full(len(values[by]), default)
    if len(item):
        at = np.minimum(np.searchsorted(item, values[by]), len(item) - 1)
        found = np.where(item[at] == values[by], told[at], default)
    yield from then(values, found)
