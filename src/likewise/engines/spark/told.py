"""A join of entries with a number of their item: pairs with states, links with next items, entries of lists with outcomes.

Both sides go to the partitions of the items, as blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import GATHERED, flat, gathered, packed, part_of, places, whole
from likewise.engines.spark.tasks import mapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Columns of items, and of their numbers.
ITEM, SAID = "told_item", "told"
Columns = dict[str, np.ndarray]
#: Takes columns of entries and the number of each entry's item, and yields batches.
Then = Callable[[Columns, np.ndarray], Iterable[pa.RecordBatch]]


def schema(names: Iterable[str]) -> str:
    """The schema of `blocks.packed`."""
    return ", ".join(["place long", *(f"{name} binary" for name in names)])


def sent(frame: DataFrame, names: list[str], by: str, parts: int) -> DataFrame:
    """Columns of integers as blocks, sent to partitions by the column ``by``."""
    return mapped(frame.select(*names), partial(spread, by=by, at=places(parts)), schema(names))


def spread(batches: Iterator[pa.RecordBatch], by: str, at: np.ndarray) -> Iterator[pa.RecordBatch]:
    for table in gathered(batches, GATHERED * len(at)):
        values = arrays(table)
        yield packed(part_of(values[by], len(at)), at, table.column_names, **values)


def arrays(table: pa.Table) -> Columns:
    """The columns of a table of integers: int64[n] each."""
    return {name: table[name].to_numpy().astype(np.int64) for name in table.column_names}


def said(frame: DataFrame, item: str, number: str, parts: int) -> DataFrame:
    """Items and numbers as blocks for the partitions of the items. item, number: SQL expressions; rows of one item have the same number."""
    return sent(frame.selectExpr(f"{item} as {ITEM}", f"{number} as {SAID}"), [ITEM, SAID], ITEM, parts)


def with_told(entries: DataFrame, names: list[str], by: str, told: DataFrame, default: int, then: Then, out: str, parts: int) -> DataFrame:
    """Pass entries to ``then`` with the number of each entry's item, which is in the column ``by``; ``default`` for an item without a number.

    entries: blocks of columns ``names`` for the partitions of their items (`sent`). told: a result of `said`. out: the schema of the result.
    """
    both = entries.select("place", *names).unionByName(told.select("place", ITEM, SAID), allowMissingColumns=True).repartition(parts, "place")
    return mapped(both, partial(look_up, names=names, by=by, default=default, then=then), out)


def look_up(batches: Iterator[pa.RecordBatch], names: list[str], by: str, default: int, then: Then) -> Iterator[pa.RecordBatch]:
    table = whole(batches)
    if table is None:
        return
    values = {name: flat(table[name], np.int64) for name in names}
    item, told = flat(table[ITEM], np.int64), flat(table[SAID], np.int64)
    order = np.argsort(item)
    item, told = item[order], told[order]
    found = np.full(len(values[by]), default)
    if len(item):
        at = np.minimum(np.searchsorted(item, values[by]), len(item) - 1)
        found = np.where(item[at] == values[by], told[at], default)
    yield from then(values, found)
