"""Sets of elements."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from likewise.kinds.kind import MEMBERS, MeasureFacts
from likewise.kinds.stored import Stored

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from likewise.job import Job
    from likewise.joins.keys import Keys
    from likewise.joins.pairs import Among, Join
    from likewise.kinds.kind import Words
    from likewise.methods import Measure, Text
    from likewise.records import Want
    from likewise.stages.sketch import Payload, Sketched
    from likewise.stages.workers import Workers

ELEMENTS = MeasureFacts(
    "elements",
    "likewise.measures.jaccard:jaccard",
    "their Jaccard similarity: the number of shared elements divided by the number of elements in either; 1 means equal, 0 nothing in common",
    parts="elements",
    containment="likewise.measures.containment:containment",
    also=("jaccard",),
    search="likewise.nearest.neighbors:SETS",
)


class Sets(Stored):
    """Sets of integers and strings, stored as sets of 64-bit words."""

    name, noun, item = "sets", "set", "a set of elements"
    reader = "likewise.items.sets:READER"
    values = "u8"
    needed = "sets: lists of whole numbers and strings"
    advice = {  # noqa: RUF012
        "strings": "if a row holds one element, collect the rows of a set into a list; if it holds a whole set, write it as a list",
        "lists of floats": "vectors are compared by cosine",
        "records": "weights are compared by weighted",
        "lists of booleans": "write the numbers of the columns that are true",
    }
    field = payload = holds = "elements"
    look, part, marked = MEMBERS, "element", ("elements", "Common elements come first. ")
    hashed = True
    longest, shortest = "the one with the most elements", "the one with the fewest elements"
    measures = (ELEMENTS,)
    sets = keyed = weighed = grouped = True

    def readable(self, raw: bytes, want: Want) -> str:
        return f"{len(self.item_of(raw, want, 0)):,} elements"

    def item_of(self, raw: bytes, want: Want, width: int) -> Any:
        import numpy as np

        from likewise.items import payloads

        return np.frombuffer(raw, payloads.item(want))

    def deciding(self, text: str, band: int, job: Job) -> list[str]:
        from likewise.stages.shared import elements

        return elements(text, band, job)

    def plain(self, text: str) -> Any:
        try:
            return json.loads(text or "null")
        except (ValueError, RecursionError):
            return text

    def known(self, width: int) -> Any:
        return [[1, -5, 2**63, "7", "milk"]]

    def alone(self, given: Any) -> bool | None:
        from likewise.items import sets

        return sets.alone(given)

    def converter(self, a: Any, b: Any, method: Text | Measure) -> Callable[[Any], Any]:
        """Converts to bit codes, a bit for each possible element, if both batches are 2-D boolean arrays of equal width; else to sets."""
        import numpy as np

        from likewise.items import codes, sets

        bits = all(isinstance(side, np.ndarray) and side.dtype == bool and side.ndim == 2 and side.shape[1] for side in (a, b))
        return codes.codes if bits and a.shape[1] == b.shape[1] and not any(isinstance(side, np.ma.MaskedArray) for side in (a, b)) else sets.sets

    def sketch(self, given: Payload, job: Job) -> Sketched:
        import numpy as np

        from likewise.kernels.rows import ascending
        from likewise.stages.sketch import keys_of, sketched

        words, offsets = given.words()
        values, offsets = ascending(words if job.grouped is None else job.grouped(words), offsets)
        if job.ignored is None:
            return sketched(np.diff(offsets), values, np.diff(offsets), keys_of(job, (values, offsets)))
        left = job.ignored.without(values, offsets)
        size = np.diff(left[1])
        ignored = np.stack([np.diff(offsets), np.diff(offsets) - size], axis=1)
        found = sketched(np.diff(offsets), left[0], size, keys_of(job, left))
        return found._replace(given=(values, np.diff(offsets)), ignored=ignored)

    def join(self, words: Words, job: Job, *, among: Among, per: np.ndarray | None, walk: bool, workers: Workers) -> Join:
        from likewise.joins.set_join import SetJoin
        from likewise.stages.ranking import ranked

        ranking = ranked(*words, side=among.side, workers=workers)
        return SetJoin(ranking, job.threshold, among=among, per=per, contained=job.contained, workers=workers)

    def keys(self, items: int, words: int, sample: Callable[[np.ndarray], Words], job: Job, *, walk: bool) -> Keys:
        from likewise.joins.keys import PrefixKeys

        return PrefixKeys.of_size(job.threshold, words / max(1, items))

    def rule(self, job: Job, mode: int) -> Any:
        from likewise.kernels.compare import SetRule

        return SetRule(job.threshold.numerator, job.threshold.denominator, mode)


KIND = Sets()
