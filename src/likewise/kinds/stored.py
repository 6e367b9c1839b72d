"""The base class of all kinds: each item is stored as words of 64 bits, and compared and searched in that form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import Kind, loaded

if TYPE_CHECKING:
    import numpy as np

    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.nearest.search import Found
    from likewise.stages.sketch import Payload, Sketched, Stage
    from likewise.stages.verify import Compared
    from likewise.stages.workers import Workers


class Stored(Kind):
    """Items stored as words of 64 bits."""

    def sketcher(self, job: Job) -> Stage:
        from likewise.stages.sketch import columns_of, payload_of

        return lambda records: columns_of(self.sketch(payload_of(records), job), job)

    def sketch(self, given: Payload, job: Job) -> Sketched:
        """The rows of a chunk as words, with band keys if the job has bands. A row's result depends on that row only."""
        raise NotImplementedError

    def batch(self, words: Words, job: Job) -> Any:
        return words

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        return self.all_pairs(words, job, among=among, per=per, walk=walk, workers=workers)

    def all_pairs(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.joins.measured import measured_join

        how: dict[str, Any] = {"dimension": job.dimension, "per": per, "workers": workers}
        return measured_join(words, lambda a, b: self.values_of(a, b, job), float(job.threshold), job.base.distance, **how)

    def values_of(self, a: Words, b: Words, job: Job) -> np.ndarray:
        """The values of the i-th items of two batches by the function of the measure: float64[n] or int64[n]."""
        values: np.ndarray = loaded(job.base.function)(self.batch(a, job), self.batch(b, job))
        return values

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.stages.verify import contained, similar
        from likewise.stages.walk import MODES

        if not self.ruled:
            return self.within(a, b, job)
        return contained(a, b, job.threshold) if job.contained else similar(a, b, self.rule(job, MODES[job.verify]))

    def within(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.stages.verify import within

        return within(self.values_of(a, b, job), float(job.threshold), distances=job.base.distance)

    def searched(self, words: Words, job: Job) -> Any:
        """Stored items as `nearest.neighbors` accepts them."""
        return self.batch(words, job)

    def nearest(self, base: Words, queries: Words, k: int, job: Job, *, same: bool, workers: Workers) -> Found:
        from likewise.nearest.neighbors import neighbors

        left = self.searched(base, job)
        right = left if same else self.searched(queries, job)
        limit = None if job.options.bound is None else float(job.threshold)
        how: dict[str, Any] = {"recall": job.target, "exact": job.exact, "limit": limit, "seed": job.seed, "order": job.power}
        return neighbors(left, right, job.base.name, k, same=same, workers=workers, **how)
