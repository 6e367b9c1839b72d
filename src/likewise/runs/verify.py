"""The exact comparison of pairs of a run's items, of any kind."""

from __future__ import annotations

import numpy as np

from likewise.job import Job
from likewise.kernels.compare import values
from likewise.kernels.rows import gather
from likewise.runs.items import Items, Run, sets
from likewise.stages.verify import Compared, verified
from likewise.stages.walk import ratio

#: Pairs whose words are in memory at once, for kinds compared in batches.
PAIRS_AT_ONCE = 1 << 14


def verify(items: Items, run: Run, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The similarities or distances of pairs of items, float64[m]; NaN beyond the threshold of the job.

    left, right: int64[m], item numbers. By containment the value is the share of left that right contains.
    """
    job = run.job
    ruled = job.compared.ruled and not job.contained and not job.base.measured
    return valued(verified(sets(items, run), left, right, run.workers) if ruled else in_batches(items, run, left, right), job)


def valued(found: Compared, job: Job) -> np.ndarray:
    """Similarities or distances from counts or scores, float64[m]; NaN for pairs beyond the threshold."""
    value = ratio(*found) if job.compared.sets else values(found.overlap, distances=job.base.distance)
    return np.where(found.overlap >= 0, value, np.nan)


def in_batches(items: Items, run: Run, left: np.ndarray, right: np.ndarray) -> Compared:
    """Counts or scores of pairs of items, with the words of only some pairs in memory at once."""
    job, size = run.job, np.asarray(items.collection.column("size"))
    similar = job.compared.within if job.base.measured else job.compared.similar
    begin, stored = np.cumsum(size, dtype=np.int64) - size, run.work.column("sets", "u8")

    def words(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        rows = items.member[numbers]
        offsets = np.concatenate(([0], np.cumsum(size[rows], dtype=np.int64)))
        gathered = np.empty(int(offsets[-1]), np.uint64)
        gather(stored, begin[rows], offsets, gathered)
        return gathered, offsets

    found = Compared(*np.zeros((2, len(left)), np.int64))
    for at in range(0, len(left), PAIRS_AT_ONCE):
        part = slice(at, at + PAIRS_AT_ONCE)
        found.overlap[part], found.out_of[part] = similar(words(left[part]), words(right[part]), job)
        run.workers.advance(0)
    return found
