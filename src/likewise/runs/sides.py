"""The common parts of searches that hold the smaller of two collections in memory and read the other past it, so that memory depends on one only."""

from __future__ import annotations

from collections.abc import Sequence

from likewise.engines.local import Local
from likewise.io.collection import Collection
from likewise.io.inputs import Source
from likewise.io.part import Part
from likewise.runs import pipeline
from likewise.runs.items import Run
from likewise.stages.sketch import Stage

#: Names of the parts of the work folder with the rows of either side.
HELD, STREAMED = "held", "streamed-{}"
#: Share of the memory, 1/n, for what is held.
OF_HELD = 2


def size_of(sources: Sequence[Source]) -> int:
    """Bytes of a collection: the smaller one is held, and no result depends on it."""
    return sum(source.size for source in sources)


def read(run: Run, name: str, sources: Sequence[Source], stage: Stage) -> Collection:
    """Read one of the two collections by a stage, into a part of the work folder."""
    part = Part(run.work, name)
    run.begin("reading" if name == HELD else "reading and searching", pipeline.bytes_to_read(sources), "bytes")
    Local(run).read(sources, run.job, part, stage)
    return Collection(sources, part)


def note_passes(run: Run, held: str, passes: int) -> None:
    """Report that the streamed side is read several times, because what is held does not fit into memory at once."""
    if passes > 1:
        run.note(f"the smaller side has {held}, more than fit into memory at once: the other one is read {passes} times")
