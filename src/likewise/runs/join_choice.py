"""Costs, predicted by a sample of the sources, decide between an exact join and bands, for sets and sparse vectors.

It is decided before the run, so that band keys are made while rows are read, or not at all. Coefficients are fixed, and the sample depends on the
sources alone: every machine and every number of threads decides the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.errors import DataError
from likewise.io import compression
from likewise.io.collection import head
from likewise.io.inputs import Source
from likewise.io.ranges import WHOLE
from likewise.items.sets import read_only
from likewise.items.sparse import of_words
from likewise.joins.set_join import cost_at
from likewise.joins.sparse_join import COMPARE, MEET, MULTIPLY, PREPARE, SparseJoin, least_cosine
from likewise.kernels.rows import gather
from likewise.planning import Plan
from likewise.planning.families import costs
from likewise.planning.model import BAND_COST
from likewise.records import TEXT, Records
from likewise.runs.items import rule
from likewise.runs.job import Job
from likewise.stages.buckets import MOST_MET, group
from likewise.stages.copies import first_of_copies
from likewise.stages.ranking import ranked
from likewise.stages.sketch import Columns, Stage, keys_of, sketcher

#: Rows of the sample, the sources that they are from, evenly among all, and bytes of these that are read.
ROWS, SOURCES, BYTES = 1 << 11, 8, 1 << 19
#: What the bytes of compressed files are taken to expand to.
EXPANSION = 4
#: Nanoseconds of one core for two items that meet in a bucket: to see whether they met before, and to compare them, mostly, if not.
MEETING_COST = 150.0


#: Of which the columns are empty.
NO_ROWS = Records(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), pa.array([], pa.large_binary()))


class Sample(NamedTuple):
    """Different items."""

    words: NDArray[np.uint64]
    offsets: NDArray[np.int64]  # int64[m + 1]
    per: NDArray[np.uint64]
    times: float  # so many times as many items there are

    @property
    def items(self) -> float:
        """How many there are in all, about."""
        return (len(self.offsets) - 1) * self.times


def joined_unasked(sources: Sequence[Source], job: Job, *, walk: bool) -> bool:
    """True if an exact join costs less than the bands of a plan, and the user asked for neither. ``walk``: items will be removed, and the candidates
    of each are bounded. Sources that cannot be read are left out: the run reports them."""
    plan = job.plan
    if plan is None or job.options.exact is not None or job.verify != "exact" or plan.chosen_by != "plan":
        return False
    if job.compared.weighed:
        return sets_are_joined(sampled(sources, job), job, plan, walk)
    return job.compared.sparse and least_cosine(rule(job)) > 0 and vectors_are_joined(sampled(sources, job), job, plan)


def sets_are_joined(sample: Sample, job: Job, plan: Plan, walk: bool) -> bool:
    """An exact join beside making band keys, and comparing the items that share a bucket."""
    joined = cost_at(ranked(sample.words, sample.offsets), job.threshold, sample.times)
    banded = (BAND_COST * plan.bands + costs(plan.collision.family, 0).slot * plan.slots) * sample.items
    return joined < banded or joined < banded + MEETING_COST * meetings(sample, job, walk)


def meetings(sample: Sample, job: Job, walk: bool) -> float:
    """About how many candidate pairs there will be in buckets; of a ``walk`` no more than its budget allows."""
    keys = keys_of(job, (sample.words, sample.offsets))
    sizes = group(keys.__getitem__, sample.per, len(keys), split=False).sizes
    others = (sizes - 1) * sample.times
    return float((sizes * sample.times * (np.minimum(others, MOST_MET) if walk else others)).sum() / 2)


def vectors_are_joined(sample: Sample, job: Job, plan: Plan) -> bool:
    """An exact join beside the plan's bands, by what a plan is predicted to cost."""
    vectors, n, times = of_words(sample.words, sample.offsets), sample.items, sample.times
    made, entries = SparseJoin.of(vectors, rule(job)), len(vectors.values)
    visits, each = made.visits * times**2, entries / max(1, len(vectors))
    joined = PREPARE * entries * times + MEET * visits + (COMPARE + MULTIPLY * each) * min(visits, n * (n - 1) / 2)
    return joined <= n * replace(plan.model, items=max(1, round(n)), dimension=round(each)).cost(plan.bands, plan.rows)


def sampled(sources: Sequence[Source], job: Job) -> Sample:
    """The first different items of some sources. Those that cannot be read are left out: the run says so, or rejects them."""
    count, stage = min(len(sources), SOURCES), sketcher(replace(job, plan=None))
    some = [sources[place * len(sources) // count] for place in range(count)]
    parts, rows = [stage(NO_ROWS)], 0.0
    for source in some:
        with suppress(DataError):
            found, number = beginning(source, job, stage, count)
            parts += found
            rows += number
    columns = {name: np.concatenate([part[name] for part in parts]) for name in ("kind", "tokens", "copy", "per", "size", "sets")}
    rows *= sum(source.size for source in sources) / max(1, sum(source.size for source in some))
    rows = rows if job.options.limit is None else min(rows, job.options.limit)
    return different(columns, job, max(1.0, rows / max(1, len(columns["kind"]))))


def different(columns: Columns, job: Job, times: float) -> Sample:
    """The items among some rows: each text or set once, and no empty or short one."""
    live = (columns["kind"] == TEXT) & (columns["tokens"] >= max(1, job.options.min_tokens))
    place, size = np.arange(len(live)), columns["size"].astype(np.int64)
    member = np.flatnonzero(live & (first_of_copies(columns["copy"], columns["per"], live, place) == place))
    offsets = np.concatenate(([0], np.cumsum(size[member])))
    words = np.empty(int(offsets[-1]), np.uint64)
    gather(columns["sets"], (np.cumsum(size) - size)[member], offsets, words)
    return Sample(read_only(words), read_only(offsets), columns["per"][member], times)


def beginning(source: Source, job: Job, stage: Stage, count: int) -> tuple[list[Columns], float]:
    """The first rows of one of ``count`` sources, as `sketcher` makes them, and about how many rows there are."""
    part, most = source.plan(BYTES // count)[0], ROWS // count
    parts: list[Columns] = []
    rows, read, ended = 0, 0, part == WHOLE
    for chunk in source.chunks(job.want, 0, part):
        if rows >= most or read >= BYTES // count:
            ended = False
            break
        records = source.parse(chunk, job.want)
        columns = stage(records)
        parts.append(head(records, columns, most - rows)[1] if rows + len(records) > most else columns)
        rows, read = rows + len(records), read + chunk.data.nbytes
    known = len(source.path) if isinstance(source.path, pa.Table) else rows if ended else None
    expands = EXPANSION if isinstance(source.path, Path) and compression.kind_of(source.path) else 1
    return parts, rows * expands * source.size / max(1, read) if known is None else known
