"""The search for exact repeats: the inputs are read twice, and what may repeat is compared in the work folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from likewise.engines.local import Local
from likewise.io.collection import Collection
from likewise.io.inputs import Source
from likewise.io.part import Part
from likewise.kernels.repeats import tally
from likewise.passages import repeats, stretches
from likewise.passages.repeats import Repeats, Stretches
from likewise.passages.search import Search
from likewise.passages.streams import TOKEN_COLUMNS
from likewise.runs import pipeline
from likewise.runs.items import Run

#: Bytes of text for each byte of files of which only the reader knows how much they hold, such as compressed ones.
EXPANDED = 8
#: Fingerprints that are counted between two reports of progress.
AT_ONCE = 1 << 20
#: Runs of tokens that are looked up in files at once.
LOOKED_UP = 1 << 14


@dataclass
class Found:
    """The repeats of a collection."""

    collection: Collection
    stretches: Stretches
    repeats: Repeats
    first: np.ndarray  # uint32: the first character of each token of the stretches, or the first token id
    last: np.ndarray  # uint32: the end of each
    spare: Callable[[], None]  # called now and then, to release memory

    def characters(self, begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Runs of tokens, from ``begin`` up to ``end``, as characters: int64[n] both."""
        low, high = np.empty(len(begin), np.int64), np.empty(len(begin), np.int64)
        for at in range(0, len(begin), LOOKED_UP):
            some = slice(at, at + LOOKED_UP)
            low[some], high[some] = self.first[begin[some]], self.last[end[some] - 1]
            self.spare()
        return low, high


def search(sources: Sequence[Source], run: Run, settings: Search) -> Found:
    """Find the repeats of ``settings.run`` tokens or more. Raises the errors of `pipeline.collect`."""
    engine, job = Local(run), run.job
    pipeline.prepare(sources, run, engine)
    size = pipeline.bytes_to_read(sources)
    first, part = Part(run.work, "count"), Part(run.work, "repeat")
    if not part.done("read"):  # a resumed run counts again what the first pass wrote
        run.begin("reading fingerprints", size, "bytes")
        engine.read(sources, job, first, stretches.counted(job, settings))
        pipeline.check_rows(Collection(sources, first), run)
        seen = repeats.counters(size or EXPANDED * sum(source.size for source in sources), run.memory)
        keys = first.column("print", stretches.PRINT)
        for begin in range(0, len(keys), AT_ONCE):
            tally(keys[begin : begin + AT_ONCE], seen)
        del keys
        run.begin("reading and searching", size, "bytes")
        engine.read(sources, job, part, stretches.stretched(job, settings, seen))
        first.discard()
        del seen
    collection = Collection(sources, part)
    pipeline.check_rows(collection, run)
    rows = np.repeat(np.arange(len(collection)), part.column("stretches", "u4"))
    offsets = np.concatenate(([0], np.cumsum(part.column("stretch-size", "u4"), dtype=np.int64)))
    hashes, begins, ends = (part.column(name, dtype) for name, dtype in TOKEN_COLUMNS.items())
    found = Stretches(rows, offsets, hashes)
    run.begin("comparing", int(found.windows(settings.run)[-1]), "runs")
    workers = replace(run.workers, advance=engine.counted)
    return Found(collection, found, repeats.repeats(found, settings.run, settings.seed, run.memory, workers=workers), begins, ends, run.spare)
