"""The base class of all kinds: each item is stored as words of 64 bits, and compared and searched in that form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import Kind

if TYPE_CHECKING:
    from likewise.job import Job
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

    def similar(self, a: Words, b: Words, job: Job) -> Compared:
        from likewise.stages.verify import contained, similar
        from likewise.stages.walk import MODES

        return contained(a, b, job.threshold) if job.contained else similar(a, b, self.rule(job, MODES[job.verify]))

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
