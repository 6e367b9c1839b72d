"""Choose between an exact join and bands for sets and sparse vectors, by costs predicted from a sample of the sources.

The choice is made before the run, because band keys are computed while rows are read. Coefficients are fixed and the sample depends on the sources
only, so every machine and every number of threads makes the same choice.
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
from likewise.io.beginning_rows import head
from likewise.io.inputs import Source
from likewise.io.ranges import WHOLE
from likewise.items import binary
from likewise.items.sets import read_only
from likewise.items.sparse import of_words
from likewise.job import Job
from likewise.joins.set_join import cost_at
from likewise.joins.sparse_join import COMPARE, MULTIPLY, PREPARE, VISIT, SparseJoin, least_cosine
from likewise.kernels.rows import gather
from likewise.planning import Plan
from likewise.planning.families import costs
from likewise.planning.model import BAND_COST
from likewise.records import TEXT, Records
from likewise.runs.items import rule
from likewise.stages.buckets import MOST_CANDIDATES, group
from likewise.stages.copies import first_of_copies
from likewise.stages.ranking import ranked
from likewise.stages.sketch import Columns, Stage, keys_of, sketcher

#: Rows of the sample, the number of evenly chosen sources they come from, and the bytes read from these.
ROWS, SOURCES, BYTES = 1 << 11, 8, 1 << 19
#: The assumed expansion of compressed files.
EXPANSION = 4
#: Nanoseconds of one core for a candidate pair: a check for repetition and, in most cases, a comparison.
CANDIDATE_COST = 150.0


#: Yields empty columns.
NO_ROWS = Records(np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.int64), binary.from_list([]))


class Sample(NamedTuple):
    """Distinct items."""

    words: NDArray[np.uint64]
    offsets: NDArray[np.int64]  # int64[m + 1]
    per: NDArray[np.uint64]
    times: float  # the collection has so many times as many items

    @property
    def items(self) -> float:
        """The estimated number of items in the collection."""
        return (len(self.offsets) - 1) * self.times


def joined_unasked(sources: Sequence[Source], job: Job, *, walk: bool) -> bool:
    """True if an exact join costs less than the bands of a plan, and the user asked for neither.

    walk: items will be removed, which bounds the candidates of each. Unreadable sources are skipped here; the run reports them.
    """
    plan = job.plan
    if plan is None or job.options.exact is not None or job.verify != "exact" or plan.chosen_by != "plan":
        return False
    if job.compared.weighed:
        return sets_are_joined(sampled(sources, job), job, plan, walk)
    return job.compared.sparse and least_cosine(rule(job)) > 0 and vectors_are_joined(sampled(sources, job), job, plan)


def sets_are_joined(sample: Sample, job: Job, plan: Plan, walk: bool) -> bool:
    """Compare the cost of an exact join with that of computing band keys and comparing candidates."""
    joined = cost_at(ranked(sample.words, sample.offsets), job.threshold, sample.times)
    banded = (BAND_COST * plan.bands + costs(plan.collision.family, 0).slot * plan.slots) * sample.items
    return joined < banded or joined < banded + CANDIDATE_COST * expected_candidates(sample, job, walk)


def expected_candidates(sample: Sample, job: Job, walk: bool) -> float:
    """The expected number of candidate pairs; with ``walk`` at most those that the rule for overfull buckets admits."""
    keys = keys_of(job, (sample.words, sample.offsets))
    sizes = group(keys.__getitem__, sample.per, len(keys), split=False).sizes
    others = (sizes - 1) * sample.times
    return float((sizes * sample.times * (np.minimum(others, MOST_CANDIDATES) if walk else others)).sum() / 2)


def vectors_are_joined(sample: Sample, job: Job, plan: Plan) -> bool:
    """Compare the cost of an exact join with the predicted cost of the plan."""
    vectors, n, times = of_words(sample.words, sample.offsets), sample.items, sample.times
    made, entries = SparseJoin.of(vectors, rule(job)), len(vectors.values)
    visits, each = made.visits * times**2, entries / max(1, len(vectors))
    joined = PREPARE * entries * times + VISIT * visits + (COMPARE + MULTIPLY * each) * min(visits, n * (n - 1) / 2)
    return joined <= n * replace(plan.model, items=max(1, round(n)), dimension=round(each)).cost(plan.bands, plan.rows)


def sampled(sources: Sequence[Source], job: Job) -> Sample:
    """The first distinct items of some sources. Unreadable sources are skipped here; the run reports or rejects them."""
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
    """The distinct items among some rows, without empty and short ones."""
    live = (columns["kind"] == TEXT) & (columns["tokens"] >= max(1, job.options.min_tokens))
    place, size = np.arange(len(live)), columns["size"].astype(np.int64)
    member = np.flatnonzero(live & (first_of_copies(columns["copy"], columns["per"], live, place) == place))
    offsets = np.concatenate(([0], np.cumsum(size[member])))
    words = np.empty(int(offsets[-1]), np.uint64)
    gather(columns["sets"], (np.cumsum(size) - size)[member], offsets, words)
    return Sample(read_only(words), read_only(offsets), columns["per"][member], times)


def beginning(source: Source, job: Job, stage: Stage, count: int) -> tuple[list[Columns], float]:
    """The columns of the first rows of one of ``count`` sources, and the estimated number of its rows."""
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
