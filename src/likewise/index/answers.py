"""Answers of an index: the contents that queries meet are compared by the rule of their kind, and listed item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise import schema
from likewise.drawing.numbers import percent
from likewise.errors import UsageError
from likewise.families.bbit import BBit
from likewise.index.settings import LEAST_RECALL, SLOT_BITS, Settings
from likewise.index.store import Contents, Items, View
from likewise.io.idcolumn import column_of
from likewise.items.wrapped import wrapped
from likewise.kernels.compare import EXACT
from likewise.kernels.sets import ODD_WORDS
from likewise.messages import Message, option
from likewise.planning.curves import mapped
from likewise.runs.table import Data, Table
from likewise.stages.verify import compared
from likewise.stages.walk import Sets

ESTIMATES = [pa.field("estimate", pa.float64()), pa.field("standard_error", pa.float64())]


class Answers(Table):
    """The similar items of each query: query, id, similarity or distance; the most similar first, of equal ones that which came first.

    ``query`` is the place of the query in its batch, or its id if ids were given. An index without sets has the columns estimate and standard_error
    in place of similarity. ``report``: threshold, value (the name of the column), recall (the probability that an item exactly at the threshold is
    found), warnings.
    """

    def __init__(self, table: pa.Table | Data, report: dict[str, Any]):
        super().__init__(table)
        self.report = report

    @property
    def _warnings(self) -> list[str]:
        said: list[str] = self.report["warnings"]
        return said


class Matches(NamedTuple):
    """Pairs of a query and an item or a content at or above the limit."""

    query: np.ndarray  # int64[p]
    number: np.ndarray  # int64[p]: of the content, or of the item
    value: np.ndarray  # float64[p]: similarities, distances or estimates

    def of(self, chosen: np.ndarray) -> Matches:
        """Some of them, by a mask or by places."""
        return Matches(self.query[chosen], self.number[chosen], self.value[chosen])


#: No match.
NONE = Matches(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))
#: Items in memory have no odd sketches.
NO_ODD = np.empty((0, ODD_WORDS), np.uint64)


class Comparison:
    """Compares the items of one index at one limit. Several threads may use it."""

    def __init__(self, settings: Settings, limit: Fraction):
        job, plan = settings.job(), settings.plan
        self.settings, self.limit, self.distances = settings, limit, job.distances
        self.rule = job.compared.rule(replace(job, options=replace(job.options, bound=limit)), EXACT)
        self.family = None if settings.exact else BBit(plan.slots, SLOT_BITS, plan.sketch, settings.options.seed)
        one = (schema.WHOLE_DISTANCE if job.base.whole else schema.DISTANCE) if job.distances else schema.SIMILARITY
        self.columns = [one] if self.family is None else ESTIMATES
        self.recall: float = plan.curve(float(limit))
        self.looser = limit > plan.threshold if job.distances else limit < plan.threshold

    def check(self) -> None:
        """Raises UsageError for a limit at which the bands of the index find less than half of the pairs."""
        if self.looser and self.recall < LEAST_RECALL:
            instead = f"create an index with this limit, or give {option('force', True)} for the items that are found"
            raise UsageError(f"{self.warning}; {instead}")

    @cached_property
    def report(self) -> dict[str, Any]:
        """The report of answers."""
        said = [*self.settings.plan.about_layout, *([self.warning] if self.looser else [])]
        return {"threshold": float(self.limit), "value": self.columns[0].name, "recall": self.recall, "warnings": list(map(Message, said))}

    @cached_property
    def nothing(self) -> Data:
        """The table of no answers."""
        return table(self, ("query", wrapped(NONE.query)), [], NONE.value)

    @property
    def warning(self) -> str:
        """The warning about a limit that the index was not planned for."""
        name = "within" if self.distances else "threshold"
        made, asked = option(name, float(self.settings.plan.threshold)), option(name, float(self.limit))
        return (
            f"{asked}: the index was created with {made}, so an item exactly at this limit is found with a probability of only {percent(self.recall)}"
        )

    def values(self, a: Items | Contents, b: Items | Contents, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The values of pairs, float64[p]; NaN beyond the limit. left, right: int64[p], places in a and b."""
        if not len(left):
            return np.zeros(0)
        if self.family is not None:
            found: np.ndarray = self.family.estimate(a.slots[left], b.slots[right])
            return np.where(found >= float(self.limit), found, np.nan)
        one = self._held(a)
        overlap, out_of = compared(one, self._held(b), left, right)
        return np.where(overlap >= 0, one.similarity(overlap, np.maximum(out_of, 1)), np.nan)

    def _held(self, items: Items | Contents) -> Sets:
        """Items as comparisons take them, without odd sketches."""
        begin = np.cumsum(items.size, dtype=np.int64) - items.size
        return Sets(-1, items.words, begin, items.size, self.rule, NO_ODD, begin)  # the last is read, but not used

    def matches(self, view: View, queries: Items) -> tuple[Matches, np.ndarray, np.ndarray]:
        """Find the contents similar to each query. Also return the number of comparisons of each, and `Members.crowded`."""
        query, content, crowded = view.members(queries.keys, queries.copy)
        if len(query) and not (some := queries.size[query] > 0).all():
            query, content = query[some], content[some]
        met = np.bincount(query, minlength=len(queries))
        if not len(query):
            return NONE, met, crowded
        value = self.values(queries, view.contents(content), query, np.arange(len(query)))
        near = value == value
        return Matches(query, content, value) if near.all() else Matches(query[near], content[near], value[near]), met, crowded

    def errors(self, values: np.ndarray) -> np.ndarray:
        """The standard errors of estimates, float64[p]."""
        assert self.family is not None
        found: np.ndarray = mapped(self.family.standard_error, np.clip(values, 0, 1))
        return found

    def ordered(self, matches: Matches, k: int | None) -> Matches:
        """Matches by query, the most similar first, ties in order of arrival, each once; the first k of each query."""
        if len(matches.query) < 2:
            return matches
        order = np.lexsort((matches.number, matches.value if self.distances else -matches.value, matches.query))
        found = matches.of(order)
        new = np.ones(len(order), bool)
        new[1:] = (found.query[1:] != found.query[:-1]) | (found.number[1:] != found.number[:-1])
        found = found if new.all() else found.of(new)
        if k is None:
            return found
        return found.of(np.arange(len(found.query)) - np.searchsorted(found.query, found.query) < k)

    def items(self, view: View, matches: Matches, k: int | None) -> Matches:
        """The living items of similar contents, in the order of answers."""
        if not len(matches.query):
            return matches
        ends, numbers = view.copies(matches.number, k)
        if len(numbers) == len(matches.number):
            return self.ordered(Matches(matches.query, numbers, matches.value), k)
        each = np.repeat(np.arange(len(matches.number)), np.diff(ends))
        return self.ordered(Matches(matches.query[each], numbers, matches.value[each]), k)


def table(comparison: Comparison, named: tuple[str, Any], ids: Sequence[bytes], value: np.ndarray, *more: tuple[str, Any]) -> Data:
    """A table of a first column, of ids as JSON text, and of values, float64[p], NaN for none; ``more`` columns follow the first."""
    column = column_of(ids) if ids else None
    field, gone = comparison.columns[0], value != value
    values = wrapped(value, gone if gone.any() else None)
    columns = dict([named, *more])
    columns["id"] = pa.nulls(0, pa.string()) if column is None else column.values
    columns[field.name] = values.cast(field.type) if field.type != values.type else values
    if comparison.family is not None:
        columns["standard_error"] = wrapped(comparison.errors(value))
    json = {} if column is None or column.json is None else {"id": column.json}
    return Data(pa.Table.from_arrays([*columns.values()], [*columns]), json)


def answers(comparison: Comparison, matches: Matches, ids: Sequence[bytes], queries: Sequence[bytes]) -> Answers:
    """The table of answers. ids: those of the items. queries: the ids of the queries, if they have any."""
    if not len(matches.query) and not queries:
        return Answers(comparison.nothing, {**comparison.report})
    if not queries:
        return Answers(table(comparison, ("query", wrapped(matches.query)), ids, matches.value), {**comparison.report})
    column = column_of([queries[place] for place in matches.query.tolist()]) if ids else None
    made = table(comparison, ("query", pa.nulls(0, pa.string()) if column is None else column.values), ids, matches.value)
    json = {} if column is None or column.json is None else {"query": column.json}
    return Answers(made._replace(json={**made.json, **json}), {**comparison.report})
