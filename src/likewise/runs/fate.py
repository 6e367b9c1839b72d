"""The fate of documents: removed whole, or written without some of their parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np
import pyarrow as pa

from likewise import schema
from likewise.engines.engine import Found
from likewise.io.collection import Collection
from likewise.io.facts import blocks
from likewise.io.numbered import Numbered
from likewise.io.units import Units
from likewise.job import Job
from likewise.kernels.units import outcomes
from likewise.records import REJECTED, Chosen, Edits
from likewise.runs import decided, tables
from likewise.runs.distinct import in_order
from likewise.runs.items import Items, Run
from likewise.runs.results import Decision, Search
from likewise.runs.tables import Made, Rows, clusters_rows, removed_rows
from likewise.stages.bins import Scales
from likewise.stages.clusters import Clusters
from likewise.stages.facts import Facts, facts, first_true, merged
from likewise.stages.removed import Removed, examples, matrix, removed_for
from likewise.stages.settle import Removals

#: Default of --min-left: a document of which no token is left is removed.
LEAST_LEFT = 1


@dataclass(frozen=True)
class Fate:
    """The outcome of documents, and of the compared rows: documents, or their units."""

    documents: Collection
    removed: np.ndarray  # bool[documents]
    compared: Collection
    decision: Decision  # of what was compared
    left: np.ndarray | None = None  # int64[documents]: tokens of the units that stay; None if documents were compared

    @property
    def kept(self) -> np.ndarray:
        """bool[documents]: written, whole or without some of their parts. A second collection is not."""
        kept = (self.documents.column("kind") != REJECTED) & ~self.removed
        kept[self.documents.rows_of_sides[1]] = False
        return kept

    @cached_property
    def outcomes(self) -> Facts:
        """The numbers of removed and kept documents of the first collection."""
        kept = self.kept
        masks = ((block, [("removed", self.removed[part]), ("kept", kept[part])]) for part, block in blocks(self.documents, 0))
        return merged([facts(block, each, {}) for block, each in masks])

    @property
    def search(self) -> Search:
        """The search behind the outcome."""
        return self.decision.search

    def reasons(self, scales: Scales) -> Facts:
        """Return the numbers of compared rows that were removed, by reason and by value."""
        return self.decision.outcomes(self.compared, scales)

    @property
    def removed_rows(self) -> Iterator[Removed]:
        """The compared rows that were removed, in blocks."""
        return self.decision.removed_rows(self.compared)

    def matrix(self, group: np.ndarray) -> np.ndarray:
        """Return the numbers of removed rows by the groups of their sources and of those of the kept rows (`stages.removed.matrix`)."""
        return matrix(self.removed_rows, group, self.compared.source_of)

    def removed_for(self, heads: np.ndarray) -> Removed:
        """Return the rows removed for some kept rows (`stages.removed.removed_for`)."""
        return removed_for(self.removed_rows, heads)

    def examples(self, limit: float, ends: np.ndarray | None) -> list[Removed]:
        """Return removed rows for examples, by group (`stages.removed.examples`)."""
        distances = self.search.value.name == "distance"
        return examples(self.removed_rows, limit, distances=distances, ends=ends, source_of=self.compared.source_of)

    def clusters(self, half_way: float | None) -> Clusters:
        """Return the facts about clusters (`Decision.clusters`)."""
        return self.decision.clusters(self.compared, half_way)

    def median(self) -> float | None:
        """Return the median value of near-duplicates; None without any."""
        return self.decision.median()

    def numbers(self, what: str) -> list[int]:
        """Return the number of rows of each source of the first collection that `chosen` chooses."""
        return numbers_of(self.outcomes, self.documents.sources_of_sides[0], what)

    def chosen(self, number: int, what: str, job: Job) -> Chosen:
        """Return the rows of a source to write: "kept", "removed" or, with columns added, "annotated" ones."""
        documents, rows = self.documents, self.documents.rows_of(number)
        readable, removed = documents.column("kind")[rows] != REJECTED, self.removed[rows]
        keep = chosen_among(what, readable, removed)
        typed, added = not hasattr(documents.sources[number].format, "schema"), None
        if what == "annotated":
            added = self.added(rows.start + np.flatnonzero(keep), typed=typed)
        edits = self.edits(number, job) if what == "kept" else None
        return Chosen(keep, documents.column("start")[rows], documents.column("length")[rows], added, edits)

    @cached_property
    def added(self) -> Callable[..., pa.Table]:
        """The function that makes the columns that annotated rows get (`tables.added`)."""
        return tables.added(self.documents, self.decision)

    def kept_rows(self, count: int | None = None) -> Rows:
        """Return the table of the ids and places of kept documents; of the first ``count`` ones."""
        return tables.placed_rows(self.documents, np.flatnonzero(self.kept) if count is None else first_true(self.kept, count))

    def mask_rows(self) -> Rows:
        """Return the table of the places of all documents of the first collection, and whether they are kept."""
        return tables.mask_rows(self.documents, self.kept[self.documents.rows_of_sides[0]])

    def pairs_rows(self) -> Rows:
        """Return the table of compared pairs that are similar."""
        return tables.compared_pairs(self.compared, self.decision)

    def tables(self) -> dict[str, Callable[[], Rows]]:
        """Return functions that make the tables of a result, by name."""
        made = {name: partial(make, self.compared, self.decision) for name, make in (("removed", removed_rows), ("clusters", clusters_rows))}
        return made | ({"dropped": self.dropped_rows} if self.compared.of_parts else {})

    def dropped_rows(self) -> Rows:
        """Return the table of documents that lost parts and kept too few tokens."""
        collection, rows, left = self.documents, np.flatnonzero(self.removed), self.left
        assert left is not None

        def made(part: slice) -> Made:
            some = rows[part]
            return tables.placed(collection, some, collection.column("tokens")[some].astype(np.int64), left[some])

        return Rows(schema.dropped(collection.id_type()), len(rows), made)

    @property
    def cut(self) -> np.ndarray:
        """int64[m]: the units that are cut out of documents that stay."""
        assert isinstance(self.compared, Units)
        gone = self.decision.removed
        return np.flatnonzero(gone & ~self.removed[self.compared.document])

    def edits(self, number: int, job: Job) -> Edits | None:
        """Return the parts to cut out of the documents of a source; None if documents were compared, or if no part was removed."""
        if not isinstance(self.compared, Units):
            return None
        units, rows = self.compared, self.documents.rows_of(number)
        cut = self.cut
        cut = cut[slice(*np.searchsorted(units.document[cut], (rows.start, rows.stop)).tolist())]
        if not len(cut):
            return None
        row, (begin, end) = units.document[cut] - rows.start, units.byte_spans(cut)
        first = np.append(True, (row[1:] != row[:-1]) | (begin[1:] != end[:-1]))  # of units that follow each other
        want = self.documents.sources[number].asked(job.want)
        return Edits(want, row[first], begin[first], end[np.append(first[1:], True)], units.in_characters)


def numbers_of(outcomes: Facts, sources: range, what: str) -> list[int]:
    """The number of rows of each source that `Fate.chosen` chooses. outcomes: `Fate.outcomes`."""
    names = ("kept", "removed") if what == "annotated" else (what,)
    return [sum(counts) for counts in zip(*(outcomes.by_source(name, sources) for name in names), strict=True)]


def chosen_among(what: str, readable: np.ndarray, removed: np.ndarray) -> np.ndarray:
    """The rows that `Fate.chosen` chooses among some, bool[n]."""
    return {"kept": readable & ~removed, "removed": removed, "annotated": readable}[what]


def outcome(documents: Numbered, items: Items, run: Run, settle: Callable[[Items], tuple[Removals, Found]]) -> Fate:
    """The outcome of all documents; ``settle`` finds the removals among the items."""
    assert isinstance(documents, Collection)
    return fate_of(documents, items, decided.decide(items, run, settle), run)


def fate_of(documents: Collection, items: Items, decision: Decision, run: Run) -> Fate:
    """The outcome of all documents.

    A document that loses parts and keeps fewer tokens than --min-left is removed. Its parts then represent no others: parts of later documents that
    were removed as duplicates of them stay, the first one of equal parts.
    """
    units, options = items.collection, run.job.options
    if not isinstance(units, Units):
        return Fate(documents, decision.removed, documents, decision)
    least = LEAST_LEFT if options.min_left is None else options.min_left
    order = in_order(documents, options, removing=True)
    equals = np.where(decision.exact | decision.equal, decision.kept_row, items.first)
    removed, left, kept = outcomes(order, units.first, units.column("tokens"), units.document, equals, decision.kept_row, least)
    changed = np.flatnonzero(kept != decision.kept_row)
    similarity, exact = decision.similarity.copy(), decision.exact.copy()
    stays = kept[changed] < 0
    similarity[changed] = np.where(stays, np.nan, 1.0)
    exact[changed] = ~stays & (items.first[changed] == items.first[kept[changed]])
    return Fate(documents, removed, units, replace(decision, kept_row=kept, similarity=similarity, exact=exact), left)
