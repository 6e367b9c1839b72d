"""The whole run: read, shingle and sketch; collapse copies; band, compare, cluster; keep and write.

An item becomes a set of shingles, the set a signature, the signature band keys. Items with equal band keys collide in a bucket, colliding items are
compared exactly, and each cluster keeps its first item in priority order. The steps are in stages/; files are handled in io/.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Engine
from likewise.errors import DataError, UsageError
from likewise.io import compression, presence
from likewise.io.collection import Collection
from likewise.io.facts import limits_of
from likewise.io.formats.text import Files
from likewise.io.inputs import Source
from likewise.io.numbered import Numbered
from likewise.io.row_checks import fields_missing, not_usable
from likewise.io.source_names import printable
from likewise.io.units import Units
from likewise.items.ignored import ignoring
from likewise.job import Job
from likewise.messages import option
from likewise.runs.fate import Fate
from likewise.runs.items import Items, Run, note_need
from likewise.stages.counting import Common
from likewise.stages.listing import Listing

#: Bytes of memory held for each listed pair.
PAIR_BYTES = 90
#: Bytes of memory held for each ignored shingle, with where its bucket begins and the counts.
IGNORED_BYTES = 24


def collected(sources: Sequence[Source], run: Run, engine: Engine) -> Collection:
    """`collect`, with the columns of rows as arrays."""
    return engine.arrays(collect(sources, run, engine))


def collect(sources: Sequence[Source], run: Run, engine: Engine) -> Numbered:
    """Read and sketch all rows. Raises UsageError and DataError for options that no row fits, and for inputs that changed."""
    prepare(sources, run, engine)
    run.begin("reading and sketching", bytes_to_read(sources), "bytes")
    run.progress.resumed(sum(entry.get("bytes", 0) for entry in run.work.done("chunk")))
    collection = engine.rows(sources)
    check_rows(collection, run)
    return collection


def prepare(sources: Sequence[Source], run: Run, engine: Engine) -> None:
    """Check the options that need no row, and find the common shingles that are ignored."""
    job, options = run.job, run.job.options
    files = [printable(name) for source in sources[: run.first_side] for name, _ in source.files]
    for pattern in options.prefer:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in files):
            there = f"the inputs are {', '.join(files[:5])}" if files else "the data come from Python"
            raise UsageError(f"{option('prefer', pattern)}: no input file matches; {there}")
    job.kind.check_libraries(job)  # fail before any file is read
    if options.ignore_common is not None:
        run.begin("reading shingles", bytes_to_read(sources), "bytes")
        run.progress.resumed(sum(entry.get("bytes", 0) for entry in run.work.done("count-chunk")))
        ignore(run, *engine.common(sources, options.ignore_common))


def check_rows(collection: Numbered, run: Run, first: int = 0) -> None:
    """Raises DataError for options that no row fits, and for inputs that changed. first: the number of the first source among those of the run."""
    job, options, sources = run.job, run.job.options, collection.sources
    for number, source in enumerate(sources, first):
        check_unchanged(source, run.inputs[number])
    facts = collection.facts(limits_of(job))
    limited = options.limit is not None
    if message := fields_missing(collection, facts, job.want, limited=limited) or not_usable(collection, facts, job.want, str(job.method)):
        raise DataError(message)
    if options.id and len(collection) and not any(side.have_ids for side in facts):
        raise DataError(
            f"no row has an id in the field {options.id!r}{presence.seen(sources, job.want)}; "
            f"name another one with {option('id', placeholder='F')}, or leave it out to number the rows"
        )
    sides = [(side, numbers) for side, numbers in zip(facts, collection.sources_of_sides, strict=True) if side.readable]
    for side, numbers in sides if options.per and job.kept is None else ():
        if not side.total("grouped"):
            name = f" of {', '.join(collection.files_in(numbers))}" if len(sides) > 1 else ""
            seen = presence.seen([sources[number] for number in numbers], job.want)
            raise DataError(f"no row{name} has a value in the field {options.per!r}{seen}; name one with {option('per', placeholder='F')}")
    if options.score and len(collection) and not any(side.total("scored") for side in facts):
        seen = presence.seen(sources, job.want)
        raise DataError(f"no row has a number in the field {options.score!r}, which {option('keep', options.keep)} needs{seen}")


def ignore(run: Run, common: Common, items: int) -> None:
    """Let the run ignore common shingles, besides those that it ignores already."""
    run.common = (common, items)
    given = common.words[:0] if run.job.ignored is None else run.job.ignored.words
    ignored = ignoring(np.concatenate([common.words, given]))
    run.job = replace(run.job, ignored=ignored)
    note_need(f"{len(ignored.words):,} ignored shingles", IGNORED_BYTES * len(ignored.words), run)


def bytes_to_read(sources: Sequence[Source]) -> int:
    """The bytes of all chunks, for progress; 0 if file sizes do not show them: compressed files expand, and only some columns are read."""
    for source in sources:
        if not isinstance(source.path, Files):
            with suppress(DataError):  # the reader reports it
                if isinstance(source.path, Path) and not hasattr(source.format, "schema") and not compression.kind_of(source.path):
                    continue
            return 0
    return sum(source.size for source in sources)


def check_unchanged(source: Source, fingerprint: dict) -> None:
    """Raises DataError if an input was written to since the run began."""
    if not isinstance(source.path, pa.Table) and (now := source.fingerprint(now=True)) != fingerprint:
        name = next(name for name in fingerprint if now[name] != fingerprint[name])
        raise DataError(f"{printable(name)}: has changed during the run; start over, and do not change inputs during the run")


def compared(documents: Numbered, job: Job) -> Numbered:
    """The rows that are compared: the documents, or their units."""
    if job.options.level is None:
        return documents
    assert isinstance(documents, Collection)  # parts are arrays
    return Units(documents)


def find_pairs(items: Items, run: Run, engine: Engine, sides: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of rows at or above the threshold, exact copies included: (int64[m, 2] rows, float64[m] similarity or distance).

    sides: uint8[rows] or None; if given, only pairs of rows of different sides. By containment the second row contains the first.
    """
    job = run.job
    listed = Listing(items.first, items.member, sides, job.options.max_pairs, 0.0 if job.distances else 1.0, ordered=job.contained)
    listed.copies()
    noted = note_need(f"{listed.count:,} pairs of copies", PAIR_BYTES * listed.count, run)
    for left, right, value in engine.pairs(items, listed.sides_of_items()):
        listed.add(left, right, value)
        noted = noted or note_need(f"{listed.count:,} pairs so far", PAIR_BYTES * listed.count, run)
    return listed.result()


def star_pairs(items: Items, run: Run, engine: Engine) -> tuple[np.ndarray, np.ndarray]:
    """Each removed row with the row kept in its place, by the greedy walk: (int64[m, 2] rows, float64[m] similarity or distance)."""
    fate = engine.outcome(items.collection, items)
    assert isinstance(fate, Fate)
    decision = fate.decision
    rows = np.flatnonzero(decision.removed)
    return np.stack([decision.kept_row[rows], rows], axis=1), decision.similarity[rows]
