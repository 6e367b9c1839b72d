"""The search for passages of suspects that stand in a corpus: one side is held, the other streams past it, and passages grow from what they share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from likewise.engines.local import Local
from likewise.io.collection import Collection
from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.part import Part
from likewise.items.ignored import NOTHING
from likewise.passages import streams
from likewise.passages.grown import Suspects, first_places, grown, near_repeats
from likewise.passages.prints import CORPUS, SUSPECT, Tokens
from likewise.passages.search import Search
from likewise.passages.shares import share
from likewise.runs import pipeline, sides
from likewise.runs.items import Run
from likewise.stages.known import KEY_BYTES, known
from likewise.stages.sketch import Stage


@dataclass
class Side:
    """One of the two collections, as it was read: once, or several times if the held side does not fit into memory at once."""

    run: Run
    parts: list[Part]
    collection: Collection
    first: int  # number of its first source among those of the run

    @cached_property
    def stored(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Tokens of the rows that have any common fingerprint: (offsets int64[n + 1], streams.TOKEN_COLUMNS)."""
        read = [
            (self.offsets("stored", part), {name: part.column(name, dtype) for name, dtype in streams.TOKEN_COLUMNS.items()}) for part in self.parts
        ]
        if len(read) == 1:
            return read[0]
        offsets = np.concatenate(([0], np.cumsum(np.max([np.diff(mine) for mine, _ in read], axis=0))))
        columns = {name: self.run.work.scratch((int(offsets[-1]),), dtype) for name, dtype in streams.TOKEN_COLUMNS.items()}
        for mine, values in read:
            for row in np.flatnonzero(np.diff(mine)).tolist():
                for name, out in columns.items():
                    out[offsets[row] : offsets[row + 1]] = values[name][mine[row] : mine[row + 1]]
        return offsets, columns

    @property
    def tokens(self) -> Tokens:
        """The hashes of those tokens."""
        offsets, columns = self.stored
        return Tokens(columns["hash"], offsets)

    def offsets(self, name: str, part: Part | None = None) -> np.ndarray:
        """Where the values of each row begin, int64[n + 1], from the column of their numbers."""
        return np.concatenate(([0], np.cumsum((part or self.parts[0]).column(name, "u4"), dtype=np.int64)))

    def held(self, name: str) -> np.ndarray:
        """A column of streams.PRINT_COLUMNS of the held side."""
        return self.parts[0].column(name, streams.PRINT_COLUMNS[name])

    def prints(self, keys: np.ndarray) -> Suspects:
        """The fingerprints of the held side, with the numbers of their keys."""
        return Suspects(self.offsets("prints"), self.held("print-token"), keys)

    def hits(self) -> Suspects:
        """The known fingerprints of the streamed side, with the numbers of their keys."""
        read = [
            Suspects(self.offsets("hits", part), *(part.column(name, dtype) for name, dtype in streams.HIT_COLUMNS.items())) for part in self.parts
        ]
        if len(read) == 1:
            return read[0]
        rows = np.concatenate([np.repeat(np.arange(len(self.collection), dtype=np.uint32), np.diff(one.offsets)) for one in read])
        tokens, keys = (np.concatenate(values) for values in list(zip(*read, strict=True))[1:])
        order = np.lexsort((tokens, rows))
        return Suspects(np.sum([one.offsets for one in read], axis=0), tokens[order], keys[order])

    def characters(self, rows: np.ndarray, first: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first character of token ``first`` of each row, and the end of the token before ``end``: int64[m] both."""
        offsets, columns = self.stored
        return columns["first"][offsets[rows] + first].astype(np.int64), columns["last"][offsets[rows] + end - 1].astype(np.int64)


@dataclass
class Passages:
    """The passages of a search, and the fingerprints that the two sides share."""

    suspects: Side
    corpus: Side
    same: np.ndarray  # int64[suspects]: the row of the corpus that is the same record, or -1
    found: np.ndarray  # int64[m, 7]: suspect, first token, end, row of the corpus, first token, end, agreed tokens
    shared: Suspects
    places: np.ndarray  # int64[keys]: the number of places of each key in the corpus
    repeats: int  # fingerprints of suspects that were not followed, since they repeat one nearby


class Given(NamedTuple):
    """One of the two collections before it is read."""

    sources: Sequence[Source]
    first: int  # number of its first source among those of the run
    mark: np.uint64  # of ignored tokens

    @property
    def size(self) -> int:
        """Bytes of the sources."""
        return sides.size_of(self.sources)


def search(sources: Sequence[Source], run: Run, settings: Search, *, one: bool) -> Passages:
    """Find the passages. The corpus comes first in ``sources``, then the suspects, from run.first_side on.

    one: both are the same data in Python. The smaller side, by bytes, is held; the result does not depend on it. Raises the errors of
    `pipeline.collect`.
    """
    pipeline.prepare(sources, run, Local(run))
    settings = replace(settings, ignored=run.job.ignored or NOTHING)
    first, second = Given(sources[: run.first_side], 0, CORPUS), Given(sources[run.first_side :], run.first_side, SUSPECT)
    corpus_held = first.size <= second.size
    if not corpus_held:
        first, second = second, first

    held = read(run, sides.HELD, first, streams.held(run.job, settings, first.mark))
    keys = held.held("print-key")
    passes = max(1, -(-len(keys) * KEY_BYTES // max(1, run.memory // sides.OF_HELD)))
    sides.note_passes(run, f"{len(keys):,} fingerprints", passes)
    numbers, many = run.work.scratch((len(keys),), "u4"), 0
    parts: list[Part] = []
    for number in range(passes):
        distinct, places, which = share(keys, number, passes)
        numbers[places] = many + which
        del places, which
        stage = streams.streamed(run.job, settings, second.mark, known(distinct), many, capped=not corpus_held)
        streamed = read(run, sides.STREAMED.format(number), second, stage)
        parts += streamed.parts
        many += len(distinct)
    both = (held, replace(streamed, parts=parts))
    same = same_records(*(side.collection for side in (both if corpus_held else both[::-1])), one=one)
    return follow(run, settings, *both, numbers, many, same, corpus_held=corpus_held)


def read(run: Run, name: str, given: Given, stage: Stage) -> Side:
    """Read one of the two collections by a stage, into a part of the work folder."""
    collection = sides.read(run, name, given.sources, stage)
    pipeline.check_rows(collection, run, given.first)
    return Side(run, [Part(run.work, name)], collection, given.first)


def follow(
    run: Run, settings: Search, held: Side, streamed: Side, numbers: np.ndarray, many: int, same: np.ndarray, *, corpus_held: bool
) -> Passages:
    """Grow the passages from the fingerprints that both sides have.

    numbers: the number of the key of each held fingerprint; many: of keys. same: see `grown`.
    """
    prints, hits = held.prints(numbers), streamed.hits()
    corpus, suspects = (held, streamed) if corpus_held else (streamed, held)
    of_corpus, shared = (prints, hits) if corpus_held else (hits, prints)
    totals = np.bincount(of_corpus.keys, minlength=many)
    for part in () if corpus_held else streamed.parts:
        more, times = (part.column(name, dtype) for name, dtype in streams.MORE_COLUMNS.items())
        totals += np.bincount(more, times, minlength=many).astype(np.int64)
    places = first_places(*of_corpus, many)
    left_out = near_repeats(shared, many, settings)
    run.begin("comparing", len(shared.keys), "fingerprints")
    workers = replace(run.workers, advance=Local(run).counted)
    found = grown(shared, places, same, suspects.tokens, corpus.tokens, settings, left_out=left_out, workers=workers)
    return Passages(suspects, corpus, same, found, shared, totals, int(np.count_nonzero(left_out & (totals[shared.keys] > 0))))


def same_records(corpus: Collection, suspects: Collection, *, one: bool) -> np.ndarray:
    """The row of the corpus that is the same record as each suspect, at one place of one file, or -1: int64[suspects].

    one: both collections are the same data in Python.
    """
    if one:
        return np.arange(len(suspects))
    begins = {path: begin for path, begin, _ in files(corpus)}
    same = np.full(len(suspects), -1, np.int64)
    for path, begin, end in files(suspects):
        if path in begins:
            same[begin:end] = begins[path] + np.arange(end - begin)
    return same


def files(collection: Collection) -> Iterator[tuple[str, int, int]]:
    """Yield (path, first row, end) of each file."""
    for number, source in enumerate(collection.sources):
        rows, each = collection.rows_of(number), isinstance(source.path, Files)
        for place, (_, path) in enumerate(source.files):
            begin = rows.start + place
            yield str(path.resolve() if isinstance(path, Path) else path), begin, begin + 1 if each else rows.stop
