"""The tables that a client makes of answers, as `Index` makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pyarrow as pa

from likewise import schema
from likewise.index.answers import ESTIMATES, Answers
from likewise.index.ids import json_id, json_ids
from likewise.io.idcolumn import column_of
from likewise.items.wrapped import wrapped
from likewise.kinds.kind import Kind
from likewise.methods import parse
from likewise.runs.table import Data, Table
from likewise.service.wire import Changed, Match, Queried


class Shape(NamedTuple):
    """The items of an index, and its columns."""

    kind: Kind
    per: str | None  # the field of groups
    fields: list[pa.Field]  # the columns of values

    @classmethod
    def of(cls, info: dict[str, Any]) -> Shape:
        """From the facts that a service tells (`Index.info`)."""
        method = parse(info["by"])
        value = schema.SIMILARITY
        if method.facts.distance:
            value = schema.WHOLE_DISTANCE if method.facts.whole else schema.DISTANCE
        return cls(method.kind, info["per"], ESTIMATES if info["sets"] == "none" else [value])


def answers(shape: Shape, parts: Sequence[tuple[int, Queried]], ids: Any) -> Answers:
    """The answers to queries. parts: the number of the first query of each, and its answer. ids: of the queries, or None."""
    pairs = [(begin + place, one) for begin, part in parts for place, found in enumerate(part.results) for one in found.matches]
    json: dict[str, pa.Array] = {}
    named = wrapped(np.array([place for place, _ in pairs], np.int64))
    if ids is not None:
        given = json_ids(ids)
        named, json = column_of_ids("query", [given[place] for place, _ in pairs])
    made = table(shape, {"query": named}, [one.id for _, one in pairs], [one for _, one in pairs])
    return Answers(made._replace(json={**made.json, **json}), msgspec.structs.asdict(parts[0][1].report))


def arrivals(shape: Shape, parts: Sequence[tuple[int, Changed]]) -> Table:
    """The table of add_new."""
    rows: list[tuple[int, bool, Any, Match | None]] = []
    for begin, part in parts:
        for row, one in enumerate(part.results, begin):
            rows += [(row, False, match.id, match) for match in one.matches] or [(row, one.added, one.id, None)]
    numbers, added, ids, matches = zip(*rows, strict=True)
    return Table(table(shape, {"row": wrapped(np.array(numbers, np.int64)), "added": wrapped(np.array(added, bool))}, ids, matches))


def table(shape: Shape, first: dict[str, pa.Array], ids: Sequence[Any], matches: Sequence[Match | None]) -> Data:
    """A table of the first columns, ids and values, with a row for each match; None: a row without values."""
    named, json = column_of_ids("id", [json_id(id, 0) or b"null" for id in ids])
    gone = np.array([one is None for one in matches], bool)
    values = {
        field.name: wrapped(np.array([np.nan if one is None else getattr(one, field.name) for one in matches], np.float64), gone).cast(field.type)
        for field in shape.fields
    }
    return Data(pa.table({**first, "id": named, **values}), json)


def column_of_ids(name: str, ids: Sequence[bytes]) -> tuple[pa.Array, dict[str, pa.Array]]:
    """A column of ids, from JSON texts, and `Data.json` of it."""
    column = column_of(ids) if ids else None
    if column is None:
        return pa.nulls(len(ids), pa.string()), {}
    return column.values, {} if column.json is None else {name: column.json}
