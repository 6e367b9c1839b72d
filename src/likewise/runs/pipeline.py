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
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.engines.engine import Engine, Found
from likewise.errors import DataError, UsageError
from likewise.io import bands as band_files
from likewise.io import compression, presence
from likewise.io.collection import BOTH, Collection
from likewise.io.formats.text import Files
from likewise.io.inputs import Source, printable
from likewise.io.units import Units
from likewise.items.ignored import ignoring
from likewise.job import Job
from likewise.messages import option
from likewise.options import Options
from likewise.records import REJECTED, TEXT
from likewise.runs.items import Items, Run, bare, words_of
from likewise.runs.results import Decision
from likewise.runs.shown import beginning
from likewise.schema import DECISION_COLUMNS, DISTANCE, ROW_COLUMNS, SIMILARITY, WHOLE_DISTANCE
from likewise.stages.components import components
from likewise.stages.counting import Common
from likewise.stages.listing import Listing
from likewise.stages.order import priority_order
from likewise.stages.scope import ALL, Scope

#: Bytes of memory held for each row, each distinct row, each of its bands, and each listed pair.
ROW_BYTES, ITEM_BYTES, BAND_BYTES, PAIR_BYTES = 120, 50, 4, 90
#: Bytes of memory held for each ignored shingle, with where its bucket begins and the counts.
IGNORED_BYTES = 24


def collect(sources: Sequence[Source], run: Run, engine: Engine) -> Collection:
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


def check_rows(collection: Collection, run: Run, first: int = 0) -> None:
    """Raises DataError for options that no row fits, and for inputs that changed. first: the number of the first source among those of the run."""
    job, options, sources = run.job, run.job.options, collection.sources
    for number, source in enumerate(sources, first):
        check_unchanged(source, run.inputs[number])
    if message := collection.fields_missing(job.want, limited=options.limit is not None) or collection.unusable(job.want, str(job.method)):
        raise DataError(message)
    if options.id and len(collection) and not collection.has_ids():
        raise DataError(
            f"no row has the id field {options.id!r}{presence.seen(sources, job.want)}; "
            f"name another one with {option('id', placeholder='F')}, or leave it out to number the rows"
        )
    for numbers, rows in collection.sides if options.per and job.kept is None else ():
        if not collection.column("per")[rows].any():
            side = f" of {', '.join(collection.files_in(numbers))}" if len(collection.sides) > 1 else ""
            seen = presence.seen([sources[number] for number in numbers], job.want)
            raise DataError(f"no row{side} has the field {options.per!r}{seen}; name one with {option('per', placeholder='F')}")
    if options.score and len(collection) and np.isnan(collection.column("score")).all():
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


def compared(documents: Collection, job: Job) -> Collection:
    """The rows that are compared: the documents, or their units."""
    return documents if job.options.level is None else Units(documents)


def distinct(collection: Collection, run: Run, engine: Engine, *, removing: bool = False) -> Items:
    """Put the rows into priority order and collapse exact copies into the first of them.

    removing: rows of a second collection come first, because they stay.
    """
    options = run.job.options
    run.begin("collapsing exact copies", len(collection), "items")
    kind, tokens = collection.column("kind"), collection.column("tokens")
    empty = without_tokens(collection)
    short = (kind == TEXT) & (tokens > 0) & (tokens < options.min_tokens)
    live = (kind == TEXT) & (tokens > 0) & ~short
    copy, copied = collection.column("copy"), live
    if options.copies == "empty":
        copy, copied = np.where(empty[:, None], np.uint64(0), copy), live | empty
    order, border = in_order(collection, options, removing=removing), collection.rows_of_sides[0].stop
    rank = order  # input order is its own inverse
    if options.keep != "first" or options.prefer or not run.alone:
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
    first = engine.copies(copy, collection.column("per"), copied, rank)
    member = order[(first[order] == order) & (live & ~bare(collection))[order]]
    scope = Scope(int(np.count_nonzero(member >= border)), options.also_inside or run.alone) if removing else ALL
    items = Items(collection, empty, short, first, member, scope)
    for name in ROW_COLUMNS:
        run.work.rest(name)
    bands = run.job.plan.bands if run.job.plan else 0
    note_need(f"{len(collection):,} records", ROW_BYTES * len(collection) + (ITEM_BYTES + BAND_BYTES * bands) * len(member), run)
    return items


def without_tokens(collection: Collection) -> np.ndarray:
    """bool[rows]: readable rows without tokens."""
    return np.asarray((collection.column("kind") != REJECTED) & (collection.column("tokens") == 0))


def note_need(what: str, need: int, run: Run) -> bool:
    """Report that ``what`` needs more than --memory; True if it does."""
    if need > run.memory:
        mebibytes = -(-need >> 20)
        run.note(f"{what} take about {mebibytes:,} MiB, more than {option('memory')} allows; the run continues and may exceed the limit")
    return need > run.memory


def in_order(collection: Collection, options: Options, *, removing: bool) -> np.ndarray:
    """The rows in priority order, int64[n]; units follow the order of their documents, in which they keep theirs.

    removing: rows of a second collection come first.
    """
    if isinstance(collection, Units):
        return collection.of_documents(in_order(collection.documents, options, removing=removing))
    preferred = preference(collection, options.prefer)
    if removing:
        preferred[collection.rows_of_sides[1]] = -1
    return priority_order(options.keep, collection.column("chars"), collection.column("score"), preferred)


def preference(collection: Collection, patterns: Sequence[str]) -> np.ndarray:
    """The number of the first --prefer pattern that matches each row's file, or the number of patterns: int64[rows]."""
    if not patterns:
        return np.zeros(len(collection), np.int64)
    files = collection.files
    place = [next((i for i, pattern in enumerate(patterns) if fnmatch.fnmatchcase(name, pattern)), len(patterns)) for name in files]
    return np.array(place, np.int64)[collection.file_of(np.arange(len(collection)))[0]]


def decide(items: Items, run: Run, engine: Engine) -> Decision:
    """The removals, stored in the work folder, which then drops sets and band keys."""
    work = run.work
    if not work.done("decide"):
        decision = decided(items, engine.settle(items, engine.similar(items, engine.collide(items))), run)
        work.append({name: getattr(decision, name) for name in DECISION_COLUMNS}, step="decide", facts=decision.facts, compared=decision.compared)
    written = run.job.options.sketches  # later
    work.discard("odd", *([] if written else ["sets", *(band_files.names(run.job.plan.bands) if run.job.plan else ())]))
    columns: dict[str, Any] = {name: work.column(name, dtype) for name, dtype in DECISION_COLUMNS.items()}
    done = work.done("decide")[0]
    columns |= {"facts": done["facts"], "compared": done["compared"]}
    return Decision(**columns, value=value_of(run.job), counted=counted(run.job), kept_side=kept_side(run))


def kept_side(run: Run) -> int:
    """The side of the rows that others are duplicates of."""
    return 0 if run.alone else BOTH if run.job.options.also_inside else 1


def value_of(job: Job) -> pa.Field:
    """The column of similarities or distances."""
    if not job.distances:
        return SIMILARITY
    return WHOLE_DISTANCE if job.base.whole else DISTANCE


def counted(job: Job) -> bool:
    """True if similarities are ratios of counted shingles (`Decision.counted`)."""
    return bool(job.compared.cut) and job.verify == "exact" and not job.contained


def decided(items: Items, found: Found, run: Run) -> Decision:
    """The outcome of every row from that of the items: kept, or removed as a duplicate of which kept row."""
    job, n, member, first = run.job, len(items.collection), items.member, items.first
    counters = facts(items, found, run)
    representative, value, matches, values, compared = found.removals
    removed = np.flatnonzero(representative >= 0)
    kept_row, similarity = np.full(n, -1, np.int64), np.full(n, np.nan)
    kept_row[member[removed]] = member[representative[removed]]
    similarity[member[removed]] = value[removed]
    del found, representative, value, removed  # frees memory, which counts with many items

    border = items.collection.rows_of_sides[0].stop
    copies = np.flatnonzero((first != np.arange(n))[:border])  # rows of a second collection stay
    original = first[copies]
    stays = kept_row[original] < 0
    if not items.scope.inside:
        gone = ~stays | (original >= border)
        copies, original, stays = copies[gone], original[gone], stays[gone]
    kept_row[copies] = np.where(stays, original, kept_row[original])
    similarity[copies] = np.where(stays, 0.0 if job.distances else 1.0, similarity[original])
    exact = np.zeros(n, bool)
    exact[copies[stays]] = True

    component, head = np.arange(n), components(len(member), matches)
    joined = np.unique(matches[:, 1])
    component[member[joined]] = member[head[joined]]
    return Decision(kept_row, similarity, exact, component, member[matches], values, counters, compared, value_of(job), counted(job))


def facts(items: Items, found: Found, run: Run) -> dict:
    """The counters of a removal, for the report."""
    cut = found.cut
    worst = [bucket_facts(items, *bucket, run) for bucket in found.hottest]
    missed = {"missed_at_most": round(cut.missed, 1), "recall": found.recall, "buckets": worst}
    return {
        "items": len(items.member),
        "buckets": found.buckets,
        "matched": len(found.removals.matches),
        "budget": {"cut": cut.cut, "sampled": cut.sampled, "similar": cut.similar, **missed},
        **found.facts,
    }


def bucket_facts(items: Items, first: int, size: int, cut: int, run: Run) -> dict:
    """The facts about an overfull bucket that left out pairs, with the beginning of its first item, for the report."""
    row = int(items.member[first])
    source, position = items.collection.places(np.array([row]))
    text = beginning(items.collection, row, run.job.want)
    return {"items": size, "cut": cut, "source": source[0].as_py(), "position": int(position[0]), "text": text}


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
    decision = decide(items, run, engine)
    rows = np.flatnonzero(decision.removed)
    return np.stack([decision.kept_row[rows], rows], axis=1), decision.similarity[rows]


def nearest(collection: Collection, run: Run, k: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """The k most similar rows of the first collection for each row of the second, nearest first.

    Returns (int64[m, 2] of query and row, float64[m], True if no neighbor can be missing). Without a second collection each row is a query, and not
    its own neighbor. With ``--per`` only rows with equal values are neighbors.
    """
    rows = np.flatnonzero((collection.column("kind") == TEXT) & (collection.column("tokens") > 0) & ~bare(collection))
    if not run.job.options.per:
        return nearest_among(rows, collection, run, k)
    value, size = np.unique(collection.column("per")[rows], return_inverse=True, return_counts=True)[1:]
    groups = np.split(rows[np.argsort(value, kind="stable")], np.cumsum(size)[:-1])
    found, values, exact = zip(*(nearest_among(group, collection, run, k) for group in groups), strict=True)
    pairs = np.concatenate(found)
    order = np.argsort(pairs[:, 0], kind="stable")
    return pairs[order], np.concatenate(values)[order], all(exact)


def nearest_among(rows: np.ndarray, collection: Collection, run: Run, k: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """The k most similar of these rows for each query among them, as `nearest` returns them."""
    job = run.job
    second = collection.source_of(rows) >= run.first_side
    same = not second.any() and run.first_side == len(collection.sources)
    base, queries = (rows, rows) if same else (rows[~second], rows[second])
    if not len(base) or not len(queries):
        return np.zeros((0, 2), np.int64), np.zeros(0), True
    begun = "comparing with all" if job.compared.scans(job) else "searching for neighbors"
    run.begin(begun, len(queries), "items")
    sides = [words_of(collection, run, side) for side in ((base,) if same else (base, queries))]
    found = job.compared.nearest(sides[0], sides[-1], k, job, same=same, workers=run.workers)
    return np.stack([queries[found.query], base[found.item]], axis=1), found.value, found.exact
