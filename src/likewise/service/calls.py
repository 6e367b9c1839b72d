"""Calls of the index with the items of requests, and its answers as those of the service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from likewise.index.answers import Answers
from likewise.index.ids import json_ids
from likewise.service.wire import Added, Found, Match, Report, whole_id
from likewise.verbs.index import Index

#: Columns of values, in tables of the index.
VALUES = ("similarity", "distance", "estimate", "standard_error")


class Value(NamedTuple):
    """An item of a request."""

    item: Any
    id: Any  # None: it has none
    per: Any


class Calls:
    """The methods of an index for the values of one or more requests. Each returns an answer for each value, in their order."""

    def __init__(self, index: Index):
        self._index = index
        self._per = index.settings.options.per
        self._field = index.settings.options.method.kind.field

    def values(self, items: Sequence[Any]) -> list[Value]:
        """The items of a request (`wire.Types`)."""
        field, per = self._field, self._per
        return [Value(getattr(item, field), whole_id(item.id), getattr(item, per) if per else None) for item in items]

    def query(self, values: Sequence[Value], options: dict[str, Any]) -> list[tuple[Found, Report]]:
        found = self._index.query(self._items(values), **self._groups(values), **options)
        matches = grouped(found, len(values))
        report = Report(found.report["threshold"], found.report["value"], found.report["recall"], list(map(str, found.report["warnings"])))
        return [(Found(value.id, some), report) for value, some in zip(values, matches, strict=True)]

    def add(self, values: Sequence[Value], options: dict[str, Any]) -> list[Added]:
        added = self._index.add(self._items(values), self._ids(values), **self._groups(values), **options)
        return list(map(Added, added.ids, added.new))

    def update(self, values: Sequence[Value], options: dict[str, Any]) -> list[Added]:
        updated = self._index.update(self._items(values), self._ids(values), **self._groups(values))
        return list(map(Added, updated.ids, updated.new))

    def add_new(self, values: Sequence[Value], options: dict[str, Any]) -> list[Added]:
        table = self._index.add_new(self._items(values), self._ids(values), **self._groups(values), **options)
        made: list[Added] = []
        value = table.columns[-1]
        for row in table:
            if row["added"] or row[value] is None:
                made.append(Added(row["id"], row["added"]))
            elif row["row"] < len(made):
                made[-1].matches.append(match(row))
            else:
                made.append(Added(values[row["row"]].id, False, [match(row)]))
        return made

    def remove(self, values: Sequence[Any], options: dict[str, Any]) -> int:
        return self._index.remove(values, **options)

    def contains(self, ids: Sequence[Any]) -> list[bool]:
        """For each id, True if it is in the index. All are looked up at one moment."""
        found: list[bool] = (self._index.store.view().find(json_ids(map(whole_id, ids))) >= 0).tolist()
        return found

    def info(self) -> dict[str, Any]:
        return self._index.info()

    def may_stop(self, values: Sequence[Value], options: dict[str, Any]) -> bool:
        """True if `add_new` may end after some of these items: the id of one is in the index, and refused."""
        return options.get("existing") != "skip" and any(self.contains([value.id for value in values if value.id is not None]))

    def _items(self, values: Sequence[Value]) -> list[Any]:
        return [value.item for value in values]

    def _ids(self, values: Sequence[Value]) -> list[Any] | None:
        """Their ids; None if none has one, so that the index gives them ids."""
        ids = [value.id for value in values]
        return None if ids.count(None) == len(ids) else ids

    def _groups(self, values: Sequence[Value]) -> dict[str, Any]:
        return {"per": [value.per for value in values]} if self._per else {}


def grouped(table: Answers, n: int) -> list[list[Match]]:
    """The matches of each of n queries."""
    found: list[list[Match]] = [[] for _ in range(n)]
    for row in table:
        found[row["query"]].append(match(row))
    return found


def match(row: dict[str, Any]) -> Match:
    return Match(row["id"], **{name: row[name] for name in VALUES if name in row})
