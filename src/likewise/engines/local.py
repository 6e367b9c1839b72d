"""The engine of one machine: rows are columns in a work folder, stages run on threads.

Candidates are compared and decided at once, so that nothing is compared with an item that has been removed: the steps before `settle` only hand on
the buckets, and `settle` walks over them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Found
from likewise.io.collection import Collection, read
from likewise.io.inputs import Source
from likewise.items.documents import TEXT_COPIES, memory_of
from likewise.joins.greedy import removals
from likewise.joins.pairs import Counts
from likewise.methods import Measure, Text
from likewise.records import Each
from likewise.runs.items import Items, Run, sets
from likewise.runs.pair_search import bucket, join_of
from likewise.stages.buckets import Buckets, spread
from likewise.stages.budget import Cut, hottest, overfull, sampled_cut
from likewise.stages.copies import first_of_copies
from likewise.stages.settle import Removals
from likewise.stages.sketch import sketcher
from likewise.stages.verify import verified
from likewise.stages.walk import Sets, Walk, walk


class Local:
    """The steps of `engines.engine.Engine` for one run."""

    def __init__(self, run: Run):
        self.run = run

    def rows(self, sources: Sequence[Source]) -> Collection:
        run, job = self.run, self.run.job
        read(
            sources,
            job.want,
            sketcher(job),
            run.work,
            run.threads,
            skip=job.options.on_error == "skip",
            listed=run.listed,
            limit=job.options.limit,
            advance=run.advance,
            memory=run.memory,
            takes=takes(job.method),
        )
        return Collection(sources, run.work, run.first_side)

    def copies(self, copy: np.ndarray, per: np.ndarray, live: np.ndarray, rank: np.ndarray) -> np.ndarray:
        return first_of_copies(copy, per, live, rank)

    def collide(self, items: Items) -> Buckets | None:
        """The buckets; None where items are joined."""
        plan = self.run.job.plan
        return bucket(items, self.run, plan, split=True) if plan else None

    def similar(self, items: Items, candidates: Buckets | None) -> tuple[Sets, Buckets] | None:
        """The stored items and their buckets, for `settle`; None where items are joined."""
        return None if candidates is None else (sets(items, self.run), candidates)

    def settle(self, items: Items, similar: tuple[Sets, Buckets] | None) -> Found:
        job = self.run.job
        if similar is None or job.plan is None:
            return joined(items, self.run)
        stored, buckets = similar
        self.run.begin("comparing", len(items.member), "items")
        found = walk(stored, buckets, self.run.workers)
        full = overfull(buckets, found.representative < 0)
        cut = sampled_cut(partial(verified, stored), buckets, full, job.seed)
        return Found(
            with_values(found, stored), cut.recall(job.plan.recall, len(found.matches)), spread(buckets.sizes), cut, hottest(buckets, full), {}
        )

    def write(self, source: Source, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, added: pa.Table | None, each: Each) -> int:
        return source.format.write(source.path, target, keep, start, length, added, each)


def takes(method: Text | Measure) -> Callable[[np.ndarray], int]:
    """The function that estimates the bytes of memory needed to sketch a row from its content, uint8[n]."""
    if isinstance(method, Text):
        return partial(memory_of, unit=method.unit)
    return lambda held: TEXT_COPIES * len(held)


def joined(items: Items, run: Run) -> Found:
    """Removals found by a join, as if all items shared one bucket."""
    join = join_of(items, run, walk=True)
    found = removals(join, len(items.member), Counts(), distances=run.job.distances)
    return Found(found, join.recall, spread(np.zeros(0, np.int64)), Cut(0, 0, 0, 0.0), [], join.facts())


def with_values(found: Walk, stored: Sets) -> Removals:
    """The removals of a walk, with similarities in place of counts."""
    value, matches = stored.similarity(found.overlap, found.out_of), found.matches
    return Removals(found.representative, value, matches[:, :2], stored.similarity(matches[:, 2], matches[:, 3]), found.compared)
