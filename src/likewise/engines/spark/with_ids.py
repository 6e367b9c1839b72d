"""Ids of rows, which a task looks up in the section of the rows, and sends on with other columns."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import packed, places, whole
from likewise.engines.spark.sections import Sections
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import Columns, columns_in, schema
from likewise.items.wrapped import wrapped

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: Rows of which ids are looked up at once.
AT_ONCE = 1 << 16
#: Takes entries, and returns them, perhaps several times, with the partition of each and the places of all partitions.
Targets = Callable[[Columns], tuple[Columns, np.ndarray, np.ndarray]]


def types(names: Iterable[str]) -> str:
    """The schema of a step."""
    return ", ".join(f"{name} {'binary' if name.endswith('_id') else 'boolean' if name == 'opens' else 'long'}" for name in names)


def by_section(sections: Sections, name: str) -> Targets:
    """Entries go to the sections of the rows in a column."""
    return partial(section_of, sections=sections, name=name)


def section_of(columns: Columns, sections: Sections, name: str) -> tuple[Columns, np.ndarray, np.ndarray]:
    return columns, sections.of_ranks(columns[name]), places(sections.number)


def sent(columns: Columns, names: list[str], targets: Targets) -> pa.RecordBatch:
    """Entries as blocks for their partitions."""
    columns, part, at = targets(columns)
    return packed(part, at, names, **columns)


def identified(blocks: DataFrame, name: str, names: list[str], targets: Targets, sections: Sections) -> DataFrame:
    """Entries with the ids of the rows that a column names, in a column NAME_id. blocks: for the sections of these rows."""
    task = partial(with_ids, name=name, names=names, targets=targets, sections=sections)
    return mapped(blocks.repartition(sections.number, "place"), task, schema(names))


def with_ids(batches: Iterator[pa.RecordBatch], name: str, names: list[str], targets: Targets, sections: Sections) -> Iterator[pa.RecordBatch]:
    table = whole(batches)
    if table is None:
        return
    given = [column for column in names if not column.startswith(f"{name}_id")]
    columns = {column: values for column, values in columns_in(table, given).items() if len(values)}
    columns = in_order(columns, np.argsort(columns[name], kind="stable"))
    for here, ids in ids_of(sections, sections.here(table), columns[name]):
        some = {column: values[here] for column, values in columns.items()} | {f"{name}_id": ids}
        yield sent(some, names, targets)


def in_order(columns: Columns, order: np.ndarray) -> Columns:
    return {name: values[order] if isinstance(values, np.ndarray) else values.take(pa.array(order)) for name, values in columns.items()}


def ids_of(sections: Sections, number: int, ranks: np.ndarray) -> Iterator[tuple[slice, pa.Array]]:
    """The ids of rows of a section whose ranks ascend, in slices."""
    for here, column, place in sections.look_up(number, "id", ranks):
        for begin in range(0, len(place), AT_ONCE):
            some = column.take(wrapped(place[begin : begin + AT_ONCE]))
            yield slice(here.start + begin, here.start + begin + len(some)), pa.concat_arrays(some.chunks)


def ids_or_none(ranks: np.ndarray, table: pa.Table, ids: bool, sections: Sections) -> Iterator[tuple[slice, pa.Array | None]]:
    """`ids_of` the section whose blocks a task has, or one slice of all ranks without ids."""
    if ids:
        yield from ids_of(sections, sections.here(table), ranks)
    else:
        yield slice(0, len(ranks)), None


def rows_of(names: list[str], columns: Columns) -> pa.RecordBatch:
    """Rows of a step, in which ids may be missing."""
    n = len(columns[names[0]])
    made = [wrapped(columns[name]) if name in columns else pa.nulls(n, pa.binary()) for name in names]
    return pa.record_batch([each.cast(pa.binary()) if pa.types.is_large_binary(each.type) else each for each in made], names=names)
