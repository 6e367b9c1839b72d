"""An engine: where the steps of a removal are computed and what lies between them is stored.

The steps are few, each takes what the one before gave, and what they compute is a matter of the pure functions on arrays in stages/. So an engine may
hold rows in the memory of one process, in files, or in tables of a cluster, in any partitions; the bytes of the result do not depend on it.

The driver (runs/pipeline.py) is the same for all engines. It looks at the inputs, makes the job, puts rows into keep order, turns removals of items
into those of rows, and writes the report, the tables of removals and clusters, and the manifest.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from likewise.io.collection import Collection
    from likewise.io.inputs import Source
    from likewise.records import Each
    from likewise.runs.items import Items
    from likewise.stages.budget import Cut
    from likewise.stages.settle import Removals


class Found(NamedTuple):
    """The removals, and how they were found."""

    removals: Removals
    recall: float | None  # the probability that a pair exactly at the threshold was found, less what the rule for overfull buckets may have missed
    buckets: dict[str, Any]  # `stages.buckets.spread`; of no buckets where items are joined
    cut: Cut  # pairs that overfull buckets left out
    hottest: list[tuple[int, int, int]]  # `stages.budget.hottest`
    facts: dict[str, Any]  # of a join, for the report


class Engine(Protocol):
    """The steps, in order. Between `meet`, `alike` and `settle` flows what the engine likes: a table, a handle, or work that a later step does.

    Items are numbered from 0 in keep order. int64 is enough for all numbers of rows, items and counts.
    """

    def rows(self, sources: Sequence[Source]) -> Collection:
        """Read and sketch all rows (`stages.sketch`).

        A table of one entry a row, in input order: the columns of `schema.ROW_COLUMNS` and the id, which the driver looks up, and the words, the odd
        sketch and a band key for each band, which stay with the engine. Raises DataError and FormatError for rows and files that cannot be read.
        """

    def copies(self, copy: np.ndarray, per: np.ndarray, live: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """The first copy of each row in keep order, or the row itself: `stages.copies.first_of_copies`, which can be computed for all rows of some
        values of ``copy`` apart from others."""

    def meet(self, items: Items) -> Any:
        """The pairs of items that meet in any band: a table of (later, earlier), each pair once. `stages.meeting` computes those of a band for any
        whole buckets apart from others. In a job without a plan all items meet, if they have the same value of ``--per``."""

    def alike(self, items: Items, met: Any) -> Any:
        """Of those the similar pairs: a table of (later, earlier, overlap, out of). `stages.near` rules pairs out by their sizes and odd sketches,
        `Kind.alike` compares the words of others exactly."""

    def settle(self, items: Items, similar: Any) -> Found:
        """The removed items, each with its witness: `stages.settle`, or another algorithm with the same result. Also a comparison of some pairs that
        the rule for overfull buckets left out (`stages.budget`)."""

    def write(
        self,
        source: Source,
        target: Path,
        keep: np.ndarray,
        start: np.ndarray,
        length: np.ndarray,
        added: pa.Table | None,
        each: Each,
    ) -> int:
        """Write rows of a source, byte for byte, and return how many: `io.formats.Format.write`, which explains the arguments. It may be called for
        several sources at once."""
