"""The state that all steps of a run share, and the items that it compares."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from likewise.engines.threads import Threads, give_back, resident_memory
from likewise.io.collection import Collection
from likewise.io.work import Work
from likewise.job import Job
from likewise.kernels.rows import gather
from likewise.kernels.sets import ODD_SKETCH
from likewise.messages import Message, in_document, option
from likewise.progress import Progress, raise_if_interrupted
from likewise.schema import IGNORED
from likewise.stages.copies import nothing_left
from likewise.stages.counting import Common
from likewise.stages.scope import ALL, Scope
from likewise.stages.walk import MODES, Sets
from likewise.stages.workers import Workers


@dataclass
class Run:
    """The state that all steps of a run share."""

    job: Job
    work: Work
    threads: Threads
    progress: Progress
    inputs: list[dict]  # the fingerprint of each source at the beginning of the run
    first_side: int  # this many sources belong to the first collection, the others to the second (``--against``)
    memory: int  # limit in bytes
    listed: bool  # unreadable rows are listed in an output file
    spark: Any = None  # the session of the Spark DataFrames that are inputs
    common: tuple[Common, int] | None = None  # the common shingles that are ignored, and the number of items that were counted
    warnings: list[str] = field(default_factory=list)  # for the report
    notes: list[str] = field(default_factory=list)  # about this machine, for run.json

    @property
    def alone(self) -> bool:
        """True if there is no second collection."""
        return self.first_side == len(self.inputs)

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Begin a new stage of progress (`Progress.begin`)."""
        self.spare()
        self.progress.begin(stage, total, unit)

    def warn(self, message: str) -> None:
        """Report something that the user should know, once (`Progress.warn`)."""
        if (said := in_document(message)) not in self.warnings:
            self.warnings.append(said)
            self.progress.warn(Message(message))

    def note(self, message: str) -> None:
        """Report something about this run on this machine, not about its result (`Progress.note`)."""
        self.notes.append(in_document(message))
        self.progress.note(Message(message))

    def spare(self) -> None:
        """Release unused memory if more than half of --memory is taken: freed memory, and the pages of columns."""
        if (resident_memory() or 0) > self.memory // 2:
            self.work.rest()
            give_back()

    @cached_property
    def workers(self) -> Workers:
        """The threads and the progress of this run, and memory in the work folder."""

        def expect(comparisons: int) -> None:
            self.begin("comparing", comparisons, "pairs")

        return Workers(self.threads.run, self.threads.number, self.advance, expect, self.work.scratch)

    def advance(self, amount: int) -> None:
        """Report progress, from any thread. Raises StoppedError or KeyboardInterrupt if the run is being stopped."""
        self.threads.check()
        raise_if_interrupted()
        self.progress.advance(amount)


def note_need(what: str, need: int, run: Run) -> bool:
    """Report that ``what`` needs more than --memory; True if it does."""
    if need > run.memory:
        mebibytes = -(-need >> 20)
        run.note(f"{what} take about {mebibytes:,} MiB, more than {option('memory')} allows; the run continues and may exceed the limit")
    return need > run.memory


@dataclass
class Items:
    """The compared rows: distinct ones, in priority order."""

    collection: Collection
    first: np.ndarray  # int64[rows]: the first exact copy of a row in priority order, or the row itself
    member: np.ndarray  # int64[items]: the row of each item
    scope: Scope = ALL  # the pairs that a removal compares

    @property
    def number(self) -> int:
        """The number of items."""
        return len(self.member)

    @property
    def sides(self) -> np.ndarray:
        """uint8[items] (`joins.pairs.Among`): 2 for the items that stay, the first ones, and 1 for the others."""
        sides = np.ones(len(self.member), np.uint8)
        sides[: self.scope.fixed] = 2
        return sides

    @property
    def per(self) -> np.ndarray:
        """uint64[items]: only items with equal values are compared."""
        return np.asarray(self.collection.column("per")[self.member])


def shingles(collection: Collection) -> np.ndarray:
    """The numbers of shingles of each row, all and ignored ones (schema.IGNORED); no rows if the run ignores nothing."""
    return collection.work.column("ignored", IGNORED)


def bare(collection: Collection) -> np.ndarray:
    """bool[rows]: rows all of whose shingles are ignored, so that nothing is left to compare."""
    found = shingles(collection)
    return nothing_left(found) if len(found) else np.zeros(len(collection), bool)


def sets(items: Items, run: Run) -> Sets:
    """The items' words, as stored in the work folder, with the rule that compares them."""
    size = items.collection.column("size")
    offset = np.cumsum(size, dtype=np.int64) - size
    file, values = run.work.opened("sets", "u8")
    odd = run.work.column("odd", ODD_SKETCH)
    return Sets(file, values, offset[items.member], np.ascontiguousarray(size[items.member]), rule(run.job), odd, items.member)


def rule(job: Job) -> Any:
    """The rule that compares two items (kernels.compare)."""
    return job.compared.rule(job, MODES[job.verify])


def words(items: Items, run: Run, rows: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """The words of all items, or of some rows, end to end: uint64[m], and where each begins, int64[n + 1]."""
    return words_of(items.collection, run, items.member if rows is None else rows)


def words_of(collection: Collection, run: Run, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The words of rows, int64[n], end to end: uint64[m], and where each begins, int64[n + 1]."""
    size = np.asarray(collection.column("size"))
    stored = collection.work.column("sets", "u8")
    as_they_lie = len(rows) == len(size) and (rows == np.arange(len(rows))).all()
    if len(size) and (each := int(size[0])) and (size == each).all():  # codes and vectors: the beginnings need no lookup
        offsets = np.arange(len(rows) + 1) * each
        if as_they_lie:
            return stored, offsets
        values = run.work.scratch((len(rows) * each,), "u8")
        np.take(stored.reshape(-1, each), rows, axis=0, out=values.reshape(-1, each), mode="clip")
        collection.work.rest("sets")
        return values, offsets
    begin = np.cumsum(size, dtype=np.int64) - size
    if as_they_lie:
        return stored, np.concatenate((begin, [len(stored)]))
    offsets = np.concatenate(([0], np.cumsum(size[rows], dtype=np.int64)))
    values = run.work.scratch((int(offsets[-1]),), "u8")
    gather(stored, begin[rows], offsets, values)
    collection.work.rest("sets")
    return values, offsets
