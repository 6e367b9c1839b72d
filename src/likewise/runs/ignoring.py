"""The shingles of inputs that the user named to be ignored (``--ignore``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from likewise.errors import DataError
from likewise.io import presence
from likewise.io.inputs import Source
from likewise.io.source_names import printable
from likewise.items import unusable
from likewise.items.ignored import Ignored, ignoring
from likewise.job import Job
from likewise.stages.sketch import sketcher


def of_inputs(sources: Sequence[Source], job: Job) -> Ignored:
    """All shingles of the items in some sources, or all their elements. Raises DataError for unreadable rows, and if there is nothing to ignore."""
    stage, want = sketcher(job.counting), job.want._replace(id=None, per=None, score=None)
    presence.check(sources, want)
    found: list[np.ndarray] = []
    for source in sources:
        for chunk in source.chunks(want):
            records = source.parse(chunk, want)
            if records.rejected:
                raise DataError(f"{printable(source.name)}, {records.rejected[0].reason}")
            found.append(np.unique(stage(records)["sets"]))
            if records.other and not len(found[-1]):
                raise DataError(unusable.message(printable(source.name), records.other, source.asked(want), str(job.method)))
    words = np.concatenate([np.zeros(0, np.uint64), *found])
    if not len(words):
        names = ", ".join(printable(source.name) for source in sources[:3]) or "the inputs"
        raise DataError(f"{names} {'has' if len(sources) == 1 else 'have'} no {job.kind.holds} to ignore")
    return ignoring(words)
