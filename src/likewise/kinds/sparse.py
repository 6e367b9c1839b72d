"""Sparse vectors, stored by their nonzero coordinates. Some inputs turn out to hold them in the column of vectors."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from likewise.errors import UsageError
from likewise.kinds import measures
from likewise.kinds.kind import MEMBERS, MeasureFacts
from likewise.kinds.stored import Stored
from likewise.messages import option

if TYPE_CHECKING:
    import numpy as np

    from likewise.items.sparse import Sparse
    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.workers import Workers


class SparseVectors(Stored):
    """Vectors of any dimension, compared by the measures of `vectors`."""

    name, noun, item = "sparse vectors", "sparse vector", "a vector"
    reader = "likewise.items.sparse:READER"
    values = "likewise.items.payloads:ENTRY"
    needed = "sparse vectors: records of indices and values"
    widths = "the first vector that has one", "all vectors must have the same dimension"
    field = holds = "vector"
    payload = "sparse"
    look, part, marked = MEMBERS, "coordinate", ("coordinates", "Common coordinates with equal values come first. ")
    needs_data = True
    zeros = "is a zero vector, which has no direction", "are zero vectors, which have no direction"
    sparse = stated = True

    def known(self, width: int) -> Any:
        return [{"indices": [1, 7, 400], "values": [0.5, -1.0, 2.0]}]

    def width_of(self, width: int) -> str:
        return f"dimension {width:,}"

    def readable(self, raw: bytes, want: Want) -> str:
        return " ".join(f"{index}:{value}" for index, value in entries(raw, want).tolist())

    def written(self, raw: bytes, want: Want, width: int) -> str:
        return json.dumps(entries(raw, want).tolist())

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        values = entries(raw, want)
        return {"indices": values["index"], "values": values["value"]}

    def plain(self, text: str) -> Any:
        try:
            value = json.loads(text or "null")
        except (ValueError, RecursionError):
            return text
        return {"indices": [index for index, _ in value or ()], "values": [number for _, number in value or ()]}

    def sketch(self, given: Payload, job: Job) -> Sketched:
        """A vector without coordinates is empty for measures that need a direction; for a distance it is the origin, a valid item."""
        import numpy as np

        from likewise.items.sparse import Sparse

        words, offsets = given.words()
        entries = words.reshape(-1, 2)
        found = self.made(Sparse(entries[:, 0].copy(), entries[:, 1].copy().view(np.float64), offsets // 2), job)
        return found._replace(tokens=np.maximum(found.tokens, given.there & (not job.base.directed)).astype(np.uint32))

    def made(self, items: Any, job: Job) -> Sketched:
        """The indices of each row, followed by the bits of its values. items: `items.sparse.Sparse`.

        A row without coordinates has no band keys where only directions count.
        """
        import numpy as np

        from likewise.items.sparse import words_of
        from likewise.stages.sketch import keys_of, sketched

        keys = np.zeros((job.plan.bands if job.plan else 0, len(items)), np.uint64)
        if job.plan:
            some = np.flatnonzero(items.sizes) if job.base.directed else np.arange(len(items))
            keys[:, some] = keys_of(job, items[some])
        return sketched(items.sizes, words_of(items), 2 * items.sizes, keys)

    def batch(self, words: Words, job: Job) -> Sparse:
        from likewise.items.sparse import of_words

        return of_words(*words)

    def scans(self, job: Job) -> bool:
        if not job.base.in_sparse:
            can = " and ".join(name for name, facts in measures().items() if facts.in_sparse)
            raise UsageError(f"{option('by', job.base.name)}: nearest neighbors of sparse vectors are available for {can}; choose one of them")
        return job.base.scanned

    def compares_all(self, measure: MeasureFacts) -> bool:
        return not measure.directed

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        """By rare coordinates if similar vectors must share one, else by comparing all pairs."""
        from likewise.joins.norm_scan import SparseScan
        from likewise.joins.sparse_join import SparseJoin, least_cosine
        from likewise.kernels.compare import EXACT

        rule = self.rule(job, EXACT)
        return (SparseJoin if least_cosine(rule) else SparseScan).of(self.batch(words, job), rule, per, workers)

    def rule(self, job: Job, mode: int) -> Any:
        from likewise.kernels.compare import SparseRule
        from likewise.measures.sparse import kernel_of

        return SparseRule(float(job.threshold), *kernel_of(job.base, job.power), mode)


def entries(raw: bytes, want: Want) -> np.ndarray:
    """The (index, value) pairs of a payload."""
    import numpy as np

    from likewise.items import payloads

    return np.frombuffer(raw, payloads.item(want))


KIND = SparseVectors()
