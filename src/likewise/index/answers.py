"""Answers of an index: what queries meet is compared by the rule of its kind, and listed item by item."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from likewise import schema
from likewise.drawing.numbers import percent
from likewise.errors import UsageError
from likewise.families.bbit import BBit
from likewise.index.settings import LEAST_RECALL, SLOT_BITS, Settings, recall_at
from likewise.index.store import Contents, Items, View
from likewise.io.idcolumn import id_column
from likewise.items import binary
from likewise.items.wrapped import wrapped
from likewise.kernels.compare import EXACT
from likewise.messages import Message, option
from likewise.planning.curves import mapped
from likewise.runs.table import Data, Table
from likewise.stages.verify import compared, in_memory

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


class Comparison:
    """Compares the items of one index at one limit. Several threads may use it."""

    def __init__(self, settings: Settings, limit: Fraction):
        job = settings.job()
        self.limit, self.distances, self.whole = limit, job.distances, job.base.whole
        self.rule = job.compared.rule(replace(job, options=replace(job.options, bound=limit)), EXACT)
        plan = settings.plan
        self.family = None if settings.exact else BBit(plan.slots, SLOT_BITS, plan.sketch, settings.options.seed)

    @property
    def columns(self) -> list[pa.Field]:
        """The columns of values."""
        if self.family is not None:
            return ESTIMATES
        return [(schema.WHOLE_DISTANCE if self.whole else schema.DISTANCE) if self.distances else schema.SIMILARITY]

    def values(self, a: Items | Contents, b: Items | Contents, left: np.ndarray, right: np.ndarray) -> np.ndarray:
        """The values of pairs, float64[p]; NaN beyond the limit. left, right: int64[p], places in a and b."""
        if self.family is not None:
            found: np.ndarray = self.family.estimate(a.slots[left], b.slots[right]) if len(left) else np.zeros(0)
            return np.where(found >= float(self.limit), found, np.nan)
        one, other = (in_memory((side.words, ends_of(side.size)), self.rule) for side in (a, b))
        overlap, out_of = compared(one, other, left, right)
        return np.where(overlap >= 0, one.similarity(overlap, np.maximum(out_of, 1)), np.nan)

    def matches(self, view: View, queries: Items) -> tuple[Matches, np.ndarray, np.ndarray]:
        """(the contents similar to each query; the number of contents that each query met, int64[q]; `Members.crowded`)."""
        met = view.members(queries.keys, queries.copy)
        some = queries.size[met.query] > 0
        query, content = (met.query, met.content) if some.all() else (met.query[some], met.content[some])
        value = self.values(queries, view.contents(content), query, np.arange(len(query)))
        near = value == value
        return Matches(query[near], content[near], value[near]), np.bincount(query, minlength=len(queries)), met.crowded

    def errors(self, values: np.ndarray) -> np.ndarray:
        """The standard errors of estimates, float64[p]."""
        assert self.family is not None
        found: np.ndarray = mapped(self.family.standard_error, np.clip(values, 0, 1))
        return found

    def ordered(self, matches: Matches, k: int | None) -> Matches:
        """Matches by query, the most similar first, ties in order of arrival, each once; the first k of each query."""
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
        ends, numbers = view.copies(matches.number)
        if len(numbers) == len(matches.number):
            return self.ordered(matches._replace(number=numbers), k)
        each = np.repeat(np.arange(len(matches.number)), np.diff(ends))
        return self.ordered(Matches(matches.query[each], numbers, matches.value[each]), k)


def ends_of(size: np.ndarray) -> np.ndarray:
    """Where each item begins, and where the last one ends: int64[n + 1]."""
    ends = np.zeros(len(size) + 1, np.int64)
    np.cumsum(size, out=ends[1:])
    return ends


def table(comparison: Comparison, named: tuple[str, Any], ids: Sequence[bytes], value: np.ndarray, *more: tuple[str, Any]) -> Data:
    """A table of a first column, of ids as JSON text, and of values, float64[p], NaN for none; ``more`` columns follow the first."""
    texts = binary.from_list(ids)
    column = id_column(texts)
    fields = comparison.columns
    shown_ids = pa.nulls(len(ids), pa.string()) if column is None else column.values
    gone = value != value
    values = wrapped(value, gone if gone.any() else None)
    columns = {named[0]: named[1], **dict(more), "id": shown_ids, fields[0].name: values.cast(fields[0].type)}
    if comparison.family is not None:
        columns["standard_error"] = wrapped(comparison.errors(value))
    json = {} if column is None or column.json is None else {"id": column.json}
    return Data(pa.table(columns), json)


def answers(comparison: Comparison, settings: Settings, matches: Matches, ids: Sequence[bytes], queries: Sequence[bytes]) -> Answers:
    """The table of answers. ids: those of the items. queries: the ids of the queries, if they have any."""
    query: Any = wrapped(matches.query)
    json = {}
    if queries:
        column = id_column(binary.from_list([queries[place] for place in matches.query.tolist()]))
        query = pa.nulls(0, pa.string()) if column is None else column.values
        json = {} if column is None or column.json is None else {"query": column.json}
    made = table(comparison, ("query", query), ids, matches.value)
    recall = recall_at(settings, comparison.limit)
    report = {
        "threshold": float(comparison.limit),
        "value": comparison.columns[0].name,
        "recall": recall,
        "warnings": [Message(loose(settings, comparison.limit, recall))] if looser(settings, comparison.limit) else [],
    }
    return Answers(made._replace(json={**made.json, **json}), report)


def looser(settings: Settings, limit: Fraction) -> bool:
    """True if a limit lets in pairs that the index was not planned for."""
    planned = settings.plan.threshold
    return limit > planned if settings.options.method.facts.distance else limit < planned


def loose(settings: Settings, limit: Fraction, recall: float) -> str:
    """The warning about a limit that the index was not planned for."""
    name = "within" if settings.options.method.facts.distance else "threshold"
    made, asked = option(name, float(settings.plan.threshold)), option(name, float(limit))
    return f"{asked}: the index was created with {made}, so an item exactly at this limit is found with a probability of only {percent(recall)}"


def check_limit(settings: Settings, limit: Fraction, *, force: bool) -> None:
    """Raises UsageError for a limit at which the bands of the index find less than half of the pairs, unless it is forced."""
    if looser(settings, limit) and not force and (recall := recall_at(settings, limit)) < LEAST_RECALL:
        again = "create an index with this limit"
        raise UsageError(f"{loose(settings, limit, recall)}; {again}, or give {option('force', True)} for the items that are found")
