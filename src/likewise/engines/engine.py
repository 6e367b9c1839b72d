"""An engine computes the steps of a removal, or of a list of pairs, and stores what passes between them.

The steps are few, each takes the result of the one before, and each computes the pure functions on arrays in stages/. So an engine may hold rows in
the memory of one process, in files, or in the tables of a cluster, in any partitions; the bytes of the result do not depend on it.

The driver (runs/removal.py) serves all engines. It inspects the inputs, makes the job, and writes the report, the tables of removals and clusters,
and the manifest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from likewise.io.collection import Collection
    from likewise.io.inputs import Source
    from likewise.joins.pairs import PairBlock
    from likewise.records import Each, Edits
    from likewise.runs.fate import Fate
    from likewise.runs.items import Items
    from likewise.stages.budget import Cut
    from likewise.stages.counting import Common
    from likewise.stages.settle import Removals


class Found(NamedTuple):
    """The removals, and facts about the search for the report."""

    removals: Removals
    recall: float | None  # the probability of finding a pair at the threshold, less the loss to overfull buckets; None: unknown
    buckets: dict[str, Any]  # `stages.buckets.spread`; without buckets where items are joined
    cut: Cut  # pairs that overfull buckets left out
    hottest: list[tuple[int, int, int]]  # `stages.budget.hottest`
    facts: dict[str, Any]  # facts about a join, for the report


class Engine(Protocol):
    """The steps of a removal, in order.

    Items are numbered from 0 in priority order. int64 is enough for all numbers of rows, items and counts.
    """

    def common(self, sources: Sequence[Source], share: Fraction) -> tuple[Common, int]:
        """The shingles in more than a share of the distinct items (``--ignore-common``), and the number of these items.

        The sets are those of `stages.sketch` for the job that `Job.counting` gives. Exact copies count as one item, whatever their group; items
        without shingles do not count. Raises the errors of `rows`, and of `stages.counting.limit_of`.
        """

    def rows(self, sources: Sequence[Source]) -> Collection:
        """Read and sketch all rows (`stages.sketch`).

        Returns a table of one entry a row, in input order. Its columns of `schema.ROW_COLUMNS` and the id are read by the driver; the words, the odd
        sketch and the band keys stay with the engine. Raises DataError and FormatError for rows and files that cannot be read.
        """

    def distinct(self, rows: Collection, *, removing: bool = False) -> Items:
        """Put the rows, or parts of them, into priority order, and collapse exact copies into the first of them (`stages.copies`).

        removing: rows of a second collection come first, because they stay.
        """

    def outcome(self, documents: Collection, items: Items) -> Fate:
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

    def write(
        self,
        source: Source,
        target: Path,
        keep: np.ndarray,
        start: np.ndarray,
        length: np.ndarray,
        added: pa.Table | None,
        each: Each,
        edits: Edits | None = None,
    ) -> int:
        """Write rows of a source, byte for byte but for ``edits``, and return their number.

        `io.formats.Format.write` explains the arguments. May be called for several sources at once.
        """
