"""DataFrames of this process, with the methods that steps of likewise on Spark use, so that they run without Java."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from likewise.engines.spark.blocks import spark_hash

TYPES = {"long": pa.int64(), "binary": pa.binary(), "boolean": pa.bool_(), "int": pa.int32()}


class Frame:
    """Partitions, each a table."""

    def __init__(self, partitions: list[pa.Table]):
        self.partitions = partitions

    def each(self, function: Callable[[pa.Table], pa.Table]) -> Frame:
        return Frame([function(table) for table in self.partitions])

    def select(self, *names: str) -> Frame:
        return self.each(lambda table: table.select(list(names)))

    def where(self, condition: str) -> Frame:
        name, operator, value = re.fullmatch(r"(\w+)(?: (is not null|=))?(?: ?(\d+))?", condition).groups()  # type: ignore[union-attr]
        if operator == "is not null":
            return self.each(lambda table: table.filter(pc.is_valid(table[name])))
        return self.each(lambda table: table.filter(pc.equal(table[name], int(value)) if operator else table[name]))

    def selectExpr(self, *expressions: str) -> Frame:  # noqa: N802
        def made(table: pa.Table) -> pa.Table:
            columns = {}
            for expression in expressions:
                value, _, name = expression.partition(" as ")
                columns[name or value] = table[value] if value in table.column_names else pa.array([int(value[:-1])] * len(table), pa.int64())
            return pa.table(columns)

        return self.each(made)

    def unionByName(self, other: Frame, allowMissingColumns: bool = False) -> Frame:  # noqa: N802, N803
        names = list(dict.fromkeys(name for frame in (self, other) for name in frame.partitions[0].column_names))
        types = {field.name: field.type for frame in (other, self) for field in frame.partitions[0].schema}

        def filled(table: pa.Table) -> pa.Table:
            return pa.table({name: table[name] if name in table.column_names else pa.nulls(len(table), types[name]) for name in names})

        assert allowMissingColumns or set(self.partitions[0].column_names) == set(other.partitions[0].column_names)
        return Frame([filled(table) for frame in (self, other) for table in frame.partitions])

    def repartition(self, number: int, by: str | None = None) -> Frame:
        table = pa.concat_tables(self.partitions)
        if by is None:
            ends = [at * len(table) // number for at in range(number + 1)]
            return Frame([table.slice(begin, end - begin) for begin, end in pairwise(ends)])
        home = pa.array(spark_hash(table[by].to_numpy()) % number)
        return Frame([table.filter(pc.equal(home, at)) for at in range(number)])

    def mapInArrow(self, function: Any, schema: str) -> Frame:  # noqa: N802
        types = pa.schema([(name, TYPES[kind]) for name, kind in (each.split() for each in schema.split(", "))])
        return self.each(lambda table: pa.Table.from_batches([batch.cast(types) for batch in function(iter(table.to_batches()))], types))

    def count(self) -> int:
        return sum(map(len, self.partitions))


class Steps:
    """`likewise.engines.spark.steps.Steps` in memory."""

    def __init__(self) -> None:
        self.made: dict[str, Frame] = {}

    def table(self, name: str, make: Callable[[], Frame]) -> Frame:
        return self.made[name] if name in self.made else self.made.setdefault(name, make())

    def put(self, name: str, table: pa.Table) -> Frame:
        return self.made.setdefault(name, Frame([table]))

    def done(self, name: str) -> bool:
        return name in self.made

    def rows(self, name: str) -> int:
        return self.made[name].count()

    def filled(self, name: str, column: str) -> int:
        return sum(len(table) - table[column].null_count for table in self.made[name].partitions)

    def columns(self, name: str, *columns: str) -> list[Any]:
        table = pa.concat_tables(self.made[name].partitions)
        return [table[column].to_numpy() for column in columns]
