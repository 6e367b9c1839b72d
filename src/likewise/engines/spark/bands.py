"""Candidates from the band keys of a plan, with the rule for overfull buckets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from likewise.engines.engine import Found
from likewise.engines.spark import budget, colliding
from likewise.engines.spark.distinct import InOrder
from likewise.engines.spark.lazily import LISTS
from likewise.engines.spark.steps import Steps
from likewise.planning import Plan
from likewise.runs.items import Run
from likewise.runs.pair_search import announce_pairs
from likewise.stages.buckets import candidates_of, spread
from likewise.stages.verify import Compared

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Candidates(Protocol):
    """Where the candidates of items come from: items with a key in common are candidates."""

    def parts(self, items: InOrder) -> int:
        """The number of partitions of keys and pairs that the items need."""

    def begin(self, items: InOrder, share: float, walk: bool) -> None:
        """Announce that candidates are searched, before anything else. share: of all pairs that are wanted. walk: most similar ones are not."""

    def lists(self, items: InOrder, parts: int) -> tuple[DataFrame, int]:
        """The candidates of a removal as rows of whole lists (`lazily.LISTS`), and the number of pairs in them, repeated ones included."""

    def pairs(self, items: InOrder, parts: int) -> DataFrame:
        """All candidate pairs, as blocks of ``later`` and ``earlier`` for the partitions of the earlier items; if items have sides, those across."""

    def found(self, items: InOrder, removed: DataFrame, matches: int, parts: int, compare: Callable[[np.ndarray, np.ndarray], Compared]) -> Found:
        """Facts about the search. removed: items. matches: their number of matches. compare: compares earlier items with later ones."""


class Banded(NamedTuple):
    """The `Candidates` of a job with a plan."""

    steps: Steps
    run: Run
    plan: Plan

    def parts(self, items: InOrder) -> int:
        return 1 + items.number * self.plan.bands // colliding.TASK_ENTRIES

    def begin(self, items: InOrder, share: float, walk: bool) -> None:
        for said in self.plan.about_items(items.number):
            self.run.warn(said)
        self.run.begin("grouping bands", 0, "bands")

    def lists(self, items: InOrder, parts: int) -> tuple[DataFrame, int]:
        found = colliding.collide(self.steps, items, self.plan.bands, parts)
        return found.where("entry is not null").select(*LISTS), colliding.listed_pairs(self.steps, *colliding.STEPS)

    def pairs(self, items: InOrder, parts: int) -> DataFrame:
        found = colliding.pairs(self.steps, items, self.plan.bands, parts)
        sizes, times = budget.sizes(self.steps, "pairs")
        announce_pairs(self.run, candidates_of(sizes, times=times))
        return found.where("later is not null").select("place", "later", "earlier")

    def found(self, items: InOrder, removed: DataFrame, matches: int, parts: int, compare: Callable[[np.ndarray, np.ndarray], Compared]) -> Found:
        hottest, cut = budget.estimate(self.steps, removed, self.plan.bands, items.scope, self.run.job.seed, parts, compare)
        return Found(cut.recall(self.plan.recall, matches), spread(*budget.sizes(self.steps, *colliding.STEPS)), cut, hottest, {})
