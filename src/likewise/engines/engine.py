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
    """The steps, in order. ``Met`` and ``similar`` are the engine's own: it may compute them at once, or leave the work to a later step."""

    def rows(self, sources: Sequence[Source]) -> Collection:
        """Read and sketch all rows (`stages.sketch`), in input order. The result has the columns of `schema.ROW_COLUMNS` and the ids; words, odd
        sketches and band keys stay with the engine. Raises DataError and FormatError for rows and files that cannot be read."""

    def copies(self, copy: np.ndarray, per: np.ndarray, live: np.ndarray, rank: np.ndarray) -> np.ndarray:
        """The first copy of each row in keep order: `stages.copies.first_of_copies`."""

    def meet(self, items: Items) -> Any:
        """The pairs (later, earlier) of items that meet, each once: those that any band yields (`stages.meeting`). Items are numbered in keep order,
        so that a number is a rank."""

    def alike(self, items: Items, met: Any) -> Any:
        """Of the pairs that meet those that are similar, with overlap and out of: `stages.near` rules out, `stages.verify` compares."""

    def settle(self, items: Items, similar: Any) -> Found:
        """The items that are removed, each with its witness (`stages.settle`), and a sample of what overfull buckets left out (`stages.budget`)."""

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
        """Write rows of a source as they were, and return how many: `io.formats.Format.write`, which explains the arguments."""
