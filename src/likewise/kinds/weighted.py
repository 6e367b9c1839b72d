"""Sets of elements with weights."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import MEMBERS, MeasureFacts
from likewise.kinds.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from likewise.items.payloads import Rows
    from likewise.job import Job
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.workers import Workers

WEIGHTED = MeasureFacts(
    "weighted",
    "likewise.measures.weighted_jaccard:weighted_jaccard",
    "their weighted Jaccard similarity: the sum of the element-wise minima divided by the sum of the maxima; 1 means equal",
    parts="elements",
    real=True,
    search="likewise.nearest.neighbors:WEIGHTED",
    scanned=True,
)


class WeightedSets(Stored):
    """Maps from element to weight."""

    name, noun, item = "weighted sets", "weighted set", "a set of elements with weights"
    reader = "likewise.items.weighted:READER"
    values = "likewise.items.payloads:WEIGHTED"
    needed = "weighted sets: maps from element to weight, or lists of pairs of both"
    advice = {  # noqa: RUF012
        "lists of whole numbers": "sets without weights are compared by elements",
        "strings": "JSON and Parquet hold maps and lists",
    }
    field = holds = "elements"
    payload = "weighted"
    look, part, marked = MEMBERS, "element", ("elements and weights", "Common elements with equal weights come first. ")
    hashed = True
    longest, shortest = "the one with the most elements", "the one with the fewest elements"
    measures = (WEIGHTED,)
    all_compared = True

    def readable(self, raw: bytes, want: Want) -> str:
        return f"{len(self.item_of(raw, want, 0)):,} elements"

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        import numpy as np

        from likewise.items import payloads

        return [(int(word), float(weight)) for word, weight in np.frombuffer(raw, payloads.item(want)).tolist()]

    def deciding(self, text: str, band: int, job: Job) -> list[str]:
        from likewise.stages.shared import elements

        return elements(text, band, job)

    def plain(self, text: str) -> Any:
        try:
            return json.loads(text or "null")
        except (ValueError, RecursionError):
            return text

    def known(self, width: int) -> Any:
        return [{1: 0.5, "milk": 2.0, -5: 1.0}]

    def alone(self, given: Any) -> bool | None:
        from likewise.items import weighted

        return weighted.alone(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        from likewise.items import weighted

        return partial(weighted.weighted, own=False)

    def check_rows(self, rows: Rows, want: Want) -> None:
        from likewise.items.payloads import signable

        if want.signed:
            signable(rows)

    def sketch(self, given: Payload, job: Job) -> Sketched:
        import numpy as np

        from likewise.items.weighted import merged

        words, offsets = given.words()
        pairs = words.reshape(-1, 2)
        return self.made(merged(pairs[:, 0], pairs[:, 1].view(np.float64), offsets // 2), job)

    def made(self, items: Any, job: Job) -> Sketched:
        """The elements of each row, followed by the bits of their weights. items: elements uint64[m], weights float64[m], offsets int64[n + 1]."""
        import numpy as np

        from likewise.stages.sketch import keys_of, sketched

        values, weights, ends = items
        size = np.diff(ends)
        out = np.empty(2 * len(values), np.uint64)
        place = np.arange(len(values)) + np.repeat(ends[:-1], size)
        out[place] = values
        out[place + np.repeat(size, size)] = weights.view(np.uint64)
        return sketched(size, out, 2 * size, keys_of(job, items))

    def batch(self, words: Words, job: Job) -> Any:
        """Elements uint64[m], weights float64[m] and offsets int64[n + 1]."""
        from likewise.items.sparse import of_words

        items = of_words(*words)
        return items.indices, items.values, items.offsets

    def searched(self, words: Words, job: Job) -> Words:
        return words

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.joins.weighted_join import weighted_join

        return weighted_join(*words, float(job.threshold), per=per, workers=workers)

    def rule(self, job: Job, mode: int) -> Any:
        from likewise.kernels.compare import WeightedRule

        return WeightedRule(float(job.threshold), mode)


KIND = WeightedSets()
