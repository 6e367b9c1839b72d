"""An engine computes the steps of a removal, or of a list of pairs, and stores what passes between them.

The steps are few. Each takes the result of the one before, and calls the pure functions of arrays in stages/. So an engine may hold rows in the
memory of one process, in files, or in the tables of a cluster, in any partitions: the bytes of the result do not depend on it.

The driver (runs/removal.py) serves all engines. It inspects the inputs, makes the job, and writes the report, the tables of removals and clusters,
and the manifest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from likewise.stages.buckets import spread
from likewise.stages.budget import Cut

if TYPE_CHECKING:
    from likewise.io.collection import Collection
    from likewise.io.inputs import Source
    from likewise.io.numbered import Numbered
    from likewise.job import Job
    from likewise.joins.pairs import PairBlock
    from likewise.records import Chosen, Each
    from likewise.runs.items import Items
    from likewise.runs.results import Search
    from likewise.runs.tables import Rows
    from likewise.stages.bins import Scales
    from likewise.stages.budget import Hot
    from likewise.stages.clusters import Clusters
    from likewise.stages.counting import Common
    from likewise.stages.facts import Facts
    from likewise.stages.removed import Removed
    from likewise.stages.scope import Scope


class Found(NamedTuple):
    """Facts about the search for removals, for the report."""

    recall: float | None  # the probability of finding a pair at the threshold, less the loss to overfull buckets; None: unknown
    buckets: dict[str, Any]  # `stages.buckets.spread`; without buckets where items are joined
    cut: Cut  # pairs that overfull buckets left out
    hottest: list[Hot]  # `stages.budget.hottest`
    facts: dict[str, Any]  # facts about a join, for the report


class Nearest(NamedTuple):
    """The neighbors of all queries: by query, nearest first, ties by the earlier row."""

    rows: np.ndarray  # int64[m, 2]: a query and its neighbor
    value: np.ndarray  # float64[m]: similarity or distance
    exact: bool  # no neighbor can be missing


def by_join(recall: float | None, facts: dict[str, Any]) -> Found:
    """Facts about a search without buckets."""
    return Found(recall, spread(np.zeros(0, np.int64)), Cut(0, 0, 0, 0.0), [], facts)


class Distinct(Protocol):
    """The distinct rows in priority order, as an engine stores them."""

    @property
    def number(self) -> int:
        """The number of compared items."""

    @property
    def scope(self) -> Scope:
        """The pairs that a removal compares."""


class Outcome(Protocol):
    """The outcome of documents, as facts and as tables in blocks, so that an engine can keep rows out of the driver's memory."""

    @property
    def documents(self) -> Numbered: ...

    @property
    def compared(self) -> Numbered:
        """The compared rows: the documents, or parts of them."""

    @property
    def search(self) -> Search:
        """The search behind the outcome."""

    @property
    def outcomes(self) -> Facts:
        """The numbers of documents of the first collection that are ``removed`` and ``kept``, by source."""

    def reasons(self, scales: Scales) -> Facts:
        """Return the numbers of compared rows that were removed (`stages.facts.outcome_facts`)."""

    def clusters(self, half_way: float | None) -> Clusters:
        """Return the facts about clusters. half_way: near-duplicates below it may be pages of a template; None: items have no templates."""

    def median(self) -> float | None:
        """Return the median value of near-duplicates; None without any."""

    def matrix(self, group: np.ndarray) -> np.ndarray:
        """Return the numbers of removed rows by the group of their source and that of the kept row's source (`stages.removed.matrix`).

        group: int64[sources], the number of the group of each source, from 0.
        """

    def removed_for(self, heads: np.ndarray) -> Removed:
        """Return the rows removed for a few kept rows, int64[k], in order."""

    def examples(self, limit: float, ends: np.ndarray | None) -> list[Removed]:
        """Return removed rows for examples, by group (`stages.removed.examples`).

        ends: int64[sources]; only rows before these are chosen, with their kept rows. None: all rows.
        """

    def numbers(self, what: str) -> list[int]:
        """Return the number of rows of each source of the first collection that `chosen` chooses."""

    def chosen(self, number: int, what: str, job: Job) -> Chosen:
        """Return the rows of a source to write: "kept", "removed" or, with columns added, "annotated" ones."""

    def kept_rows(self, count: int | None = None) -> Rows:
        """Return the table of the ids and places of kept documents; of the first ``count`` ones."""

    def mask_rows(self) -> Rows:
        """Return the table of the places of all documents of the first collection, and whether they are kept."""

    def pairs_rows(self) -> Rows:
        """Return the table of compared pairs that are similar."""

    def tables(self) -> dict[str, Callable[[], Rows]]:
        """Return functions that make the other tables of a result, by name."""


class Engine(Protocol):
    """The steps of a removal, in order.

    Items are numbered from 0 in priority order. int64 is enough for all numbers of rows, items and counts.
    """

    def common(self, sources: Sequence[Source], share: Fraction) -> tuple[Common, int]:
        """The shingles in more than a share of the distinct items (``--ignore-common``), and the number of these items.

        The sets are those of `stages.sketch` for the job that `Job.counting` gives. Exact copies count as one item, whatever their group; items
        without shingles do not count. Raises the errors of `rows`, and of `stages.counting.limit_of`.
        """

    def rows(self, sources: Sequence[Source]) -> Numbered:
        """Read and sketch all rows (`stages.sketch`).

        The driver reads facts about them. Raises DataError and FormatError for rows and files that cannot be read.
        """

    def arrays(self, rows: Numbered) -> Collection:
        """The same rows, with their columns as arrays of the driver, which lists of pairs and parts of documents need."""

    def distinct(self, rows: Numbered, *, removing: bool = False) -> Distinct:
        """Put the rows, or parts of them, into priority order, and collapse exact copies into the first of them (`stages.copies`).

        removing: rows of a second collection come first, because they stay.
        """

    def outcome(self, documents: Numbered, items: Distinct) -> Outcome:
        """Decide what becomes of all documents.

        Items with a band key in common are candidate pairs (`stages.candidates`), each pair once; a band may be partitioned by whole buckets. Without
        a plan all items with equal values of ``--per`` are. Only pairs in `Items.scope` count. `stages.near` rules pairs out by sizes and odd
        sketches; the kind compares the words of the others exactly. The removed items and their representatives are those of `stages.settle`. A
        sample of the pairs that the rule for overfull buckets left out is compared too (`stages.budget`).
        """

    def pairs(self, items: Items, side: np.ndarray) -> Iterator[PairBlock]:
        """Yield the similar pairs of items that share a bucket, or that a join finds, for a list of all pairs: each once, in no particular order.

        No bucket is overfull here. side: uint8[items] or none; 1, 2 or 3 for items of A, B or both, if only pairs across are wanted.
        """

    def nearest(self, rows: Collection, k: int) -> Nearest:
        """Return the k most similar rows of the first collection for each row of the second.

        Without a second collection each row is a query, and not its own neighbor. With ``--per`` only rows with equal values are neighbors.
        """

    def write(self, source: Source, target: Path, rows: Chosen, each: Each) -> int:
        """Write rows of a source, byte for byte but for ``rows.edits``, and return their number.

        `io.formats.Format.write` explains the arguments. May be called for several sources at once.
        """


def written(source: Source, target: Path, rows: Chosen, each: Each) -> int:
    """Write rows of a source in this process, and return their number."""
    more = {} if rows.edits is None else {"edits": rows.edits}  # not all formats take them
    return source.format.write(source.path, target, rows.keep, rows.start, rows.length, rows.added, each, **more)
