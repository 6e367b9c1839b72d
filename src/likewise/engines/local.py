"""The engine of one machine: rows are columns in a work folder, stages run on threads.

Candidates are compared and decided at once, so that nothing is compared with an item that has been removed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from likewise.engines.engine import Distinct, Found, Nearest, by_join, written
from likewise.io.collection import Collection, read
from likewise.io.inputs import Source
from likewise.io.numbered import Numbered
from likewise.io.part import Part
from likewise.io.units import Units
from likewise.io.work import Work
from likewise.job import Job
from likewise.joins.greedy import removals
from likewise.joins.pairs import Among, Counts, PairBlock
from likewise.records import TEXT, Chosen, Each
from likewise.runs.distinct import distinct
from likewise.runs.fate import Fate, outcome
from likewise.runs.items import Items, Run, sets
from likewise.runs.neighbor_search import nearest
from likewise.runs.pair_search import bucket, join_of, pair_source
from likewise.stages.buckets import spread
from likewise.stages.budget import hottest, of_buckets, sampled_cut
from likewise.stages.copies import first_of_copies
from likewise.stages.counting import Common, Stored, common, limit_of
from likewise.stages.settle import Removals
from likewise.stages.sketch import Stage, sketcher, takes
from likewise.stages.verify import verified
from likewise.stages.walk import Sets, Walk, walk

#: The columns of the work folder with a `stages.counting.Common`, by the ends of their names.
COMMON = {"": "u8", "-items": "i8", "-most": "u8", "-first": "i8"}


class Local:
    """The steps of `engines.engine.Engine` for one run."""

    def __init__(self, run: Run):
        self.run = run

    def common(self, sources: Sequence[Source], share: Fraction) -> tuple[Common, int]:
        run, part = self.run, Part(self.run.work, "count")
        if not run.work.done("common"):
            self.read(sources, run.job.counting, part)
            documents = Collection(sources, part)
            sets, items = stored_sets(documents if run.job.options.level is None else Units(documents))
            run.begin("counting shingles", 2 * int(sets.offsets[-1]), "shingles")
            found = common(sets, limit_of(share, items), run.memory, workers=replace(run.workers, advance=self.counted))
            columns = {f"common{name}": values for name, values in zip(COMMON, found, strict=True)}
            run.work.append(columns, step="common", of=items)
        part.discard()
        words, *others = (run.work.column(f"common{name}", dtype) for name, dtype in COMMON.items())
        return Common(words, *others), run.work.done("common")[0]["of"]

    def rows(self, sources: Sequence[Source]) -> Collection:
        self.read(sources, self.run.job, self.run.work)
        return Collection(sources, self.run.work, self.run.first_side)

    def arrays(self, rows: Numbered) -> Collection:
        assert isinstance(rows, Collection)
        return rows

    def read(self, sources: Sequence[Source], job: Job, work: Work | Part, stage: Stage | None = None) -> None:
        """Read all rows into a work folder, and the columns that a stage makes of them: by default `sketcher`.

        Another stage may make columns of its own besides those of schema.ROW_COLUMNS, of any length, in which the rows of all chunks follow each
        other. So one side of a comparison streams past what is known of the other: the stage looks each row up and returns what it found.
        """
        run = self.run
        read(
            sources,
            job.want,
            stage or sketcher(job),
            work,
            run.threads,
            skip=job.options.on_error == "skip",
            listed=run.listed,
            limit=job.options.limit,
            first_side=min(run.first_side, len(sources)),
            advance=run.advance if stage is None else self.counted,  # tokens of all texts take more than what is sketched of them
            memory=run.memory,
            takes=takes(job.method),
        )

    def counted(self, amount: int) -> None:
        """Report progress of work through columns and arrays in the work folder, which take memory until they are released."""
        self.run.advance(amount)
        self.run.spare()

    def distinct(self, rows: Numbered, *, removing: bool = False) -> Items:
        return distinct(rows, self.run, removing=removing)

    def outcome(self, documents: Numbered, items: Distinct) -> Fate:
        assert isinstance(items, Items)
        return outcome(documents, items, self.run, self.settle)

    def settle(self, items: Items) -> tuple[Removals, Found]:
        """The removals: candidates are compared and decided at once, or items are joined."""
        job = self.run.job
        if job.plan is None:
            return joined(items, self.run)
        buckets, stored = bucket(items, self.run, job.plan, split=True), sets(items, self.run)
        self.run.begin("comparing", len(items.member), "items")
        found = walk(stored, buckets, self.run.workers)
        full = of_buckets(buckets, found.representative < 0)
        cut = sampled_cut(partial(verified, stored), buckets, full, job.seed)
        recall = cut.recall(job.plan.recall, len(found.matches))
        return with_values(found, stored), Found(recall, spread(buckets.sizes), cut, hottest(full.counts), {})

    def pairs(self, items: Items, side: np.ndarray) -> Iterator[PairBlock]:
        yield from pair_source(self.run.job)(items, self.run, side)

    def nearest(self, rows: Collection, k: int) -> Nearest:
        return nearest(rows, self.run, k)

    def write(self, source: Source, target: Path, rows: Chosen, each: Each) -> int:
        return written(source, target, rows, each)


def stored_sets(collection: Collection) -> tuple[Stored, int]:
    """The sets of all rows, of which exact copies after the first are not counted; and the number of counted items."""
    size, n = np.asarray(collection.column("size")), len(collection)
    live = (collection.column("kind") == TEXT) & (size > 0)
    first = first_of_copies(collection.column("copy"), np.zeros(n, np.uint64), live, np.arange(n))
    counted = live & (first == np.arange(n))
    offsets = np.concatenate(([0], np.cumsum(size, dtype=np.int64)))
    return Stored(collection.work.column("sets", "u8"), offsets, counted), int(np.count_nonzero(counted))


def joined(items: Items, run: Run) -> tuple[Removals, Found]:
    """Removals found by a join, as if all items shared one bucket."""
    scope = items.scope
    join = join_of(items, run, walk=True) if scope.inside else join_of(items, run, Among(side=items.sides))
    found = removals(join, len(items.member), Counts(), distances=run.job.distances, scope=scope)
    return found, by_join(join.recall, join.facts())


def with_values(found: Walk, stored: Sets) -> Removals:
    """The removals of a walk, with similarities in place of counts."""
    value, matches = stored.similarity(found.overlap, found.out_of), found.matches
    return Removals(found.representative, value, matches[:, :2], stored.similarity(matches[:, 2], matches[:, 3]), found.compared)
