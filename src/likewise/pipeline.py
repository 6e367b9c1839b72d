"""The story: read, shingle, sketch; collapse copies; band, compare, cluster; keep and write.

An item becomes a set of shingles, the set a signature, the signature band keys; items of equal band key meet in a bucket, bucket mates
are compared exactly, and each cluster keeps its first item in keep order. What each step does is in stages/; where bytes live is in io/.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pyarrow as pa

from likewise.engines.local import Local
from likewise.errors import DataError, UsageError
from likewise.io.collection import Collection, band_column, read
from likewise.io.inputs import Source, printable
from likewise.io.work import Work
from likewise.options import Options
from likewise.progress import Progress
from likewise.records import REJECTED, TEXT, Want
from likewise.results import Decision
from likewise.schema import DECISION_COLUMNS
from likewise.stages.budget import what_was_cut
from likewise.stages.candidates import Buckets, group
from likewise.stages.cluster import Sets, Walk, components, ratio, walk
from likewise.stages.copies import first_of_copies
from likewise.stages.keep import keep_order
from likewise.stages.listing import Listing
from likewise.stages.sketch import sketcher
from likewise.stages.verify import all_pairs

#: Buckets that the budget cut most from, named in the report with so many characters of text.
HOTTEST, SHOWN = 5, 200
#: Candidate pairs whose comparison is announced: a minute or so.
MANY = 10**8
#: Bytes that sorting the keys of one band takes for each item: keys, order, and what the sort itself needs.
SORT_BYTES = 32


@dataclass
class Run:
    """What every step of a run shares."""

    options: Options
    work: Work
    engine: Local
    progress: Progress
    inputs: list[dict]  # the fingerprint of each source, as it was when the run began
    first_side: int  # so many sources are of the first collection, the others of the second
    memory: int  # bytes to stay within

    def advance(self, amount: int) -> None:
        """Called from several threads: so much more is done, unless the run is being stopped."""
        self.engine.check()
        self.progress.advance(amount)


@dataclass
class Items:
    """The rows that are compared: distinct texts, in keep order."""

    collection: Collection
    empty: np.ndarray  # bool[rows]: no token at all
    short: np.ndarray  # bool[rows]: fewer tokens than --min-tokens
    first: np.ndarray  # int64[rows]: the first exact copy of a row in keep order, itself where there is none
    rank: np.ndarray  # int64[rows]: place in keep order
    member: np.ndarray  # int64[items]: the row of each item


def want(options: Options) -> Want:
    """What to take from each row."""
    return Want(options.field, options.id or "id", options.per, options.score, tokens=options.method.unit == "tokens")


def collect(sources: Sequence[Source], run: Run) -> Collection:
    """Read, shingle and sketch every row."""
    options, progress = run.options, run.progress
    files = [printable(name) for source in sources for name, _ in source.files]
    for pattern in options.prefer:
        if not any(fnmatch.fnmatchcase(name, pattern) for name in files):
            raise UsageError(f"--prefer {pattern!r}: no input file matches; there are {', '.join(files[:5])}")
    progress.begin("reading and sketching", sum(source.size for source in sources), "bytes")
    skip = options.on_error == "skip"
    read(sources, want(options), sketcher(options), run.work, run.engine, skip=skip, limit=options.limit, advance=progress.advance)
    for number, source in enumerate(sources):
        check_unchanged(source, run.inputs[number])
    collection = Collection(sources, run.work)
    if message := collection.fields_missing(options.field):
        raise DataError(message)
    if options.id and len(collection) and not collection.has_ids():
        raise DataError(f"no row has the id field {options.id!r}; name another with --id, or leave it out to number the rows")
    if options.per and len(collection) and not collection.column("per").any():
        raise DataError(f"no row has the field {options.per!r}; name the one to compare inside of with --per")
    if options.score and len(collection) and np.isnan(collection.column("score")).all():
        raise DataError(f"no row has a number in the field {options.score!r}; --keep {options.keep} orders by it")
    return collection


def check_unchanged(source: Source, fingerprint: dict) -> None:
    """Refuse to go on with an input that was written to since the run began."""
    if not isinstance(source.path, pa.Table) and (now := source.fingerprint()) != fingerprint:
        name = next(name for name in fingerprint if now[name] != fingerprint[name])
        raise DataError(f"{printable(name)}: was changed while likewise worked; start again, and let nothing write to the inputs meanwhile")


def distinct(collection: Collection, run: Run) -> Items:
    """Put the rows into keep order and collapse exact copies into the first of them."""
    options = run.options
    run.progress.begin("collapsing exact copies", len(collection), "items")
    kind, tokens = collection.column("kind"), collection.column("tokens")
    empty = (kind != REJECTED) & (tokens == 0)
    short = (kind == TEXT) & (tokens > 0) & (tokens < options.min_tokens)
    live = (kind == TEXT) & (tokens > 0) & ~short
    copy, copied = collection.column("copy"), live
    if options.copies == "empty":
        copy, copied = np.where(empty[:, None], np.uint64(0), copy), live | empty
    order = keep_order(options.keep, collection.column("chars"), collection.column("score"), preference(collection, options.prefer))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    first = first_of_copies(copy, collection.column("per"), copied, rank)
    member = order[(first[order] == order) & live[order]]
    return Items(collection, empty, short, first, rank, member)


def preference(collection: Collection, patterns: Sequence[str]) -> np.ndarray:
    """For each row the number of the first --prefer pattern that its file matches; all others come after them. int64[rows]"""
    if not patterns:
        return np.zeros(len(collection), np.int64)
    files = collection.files
    place = [next((i for i, pattern in enumerate(patterns) if fnmatch.fnmatchcase(name, pattern)), len(patterns)) for name in files]
    return np.array(place, np.int64)[collection.file_of(np.arange(len(collection)))[0]]


def bucket(items: Items, run: Run, *, split: bool) -> Buckets:
    """Group the items by band key, as many bands at once as memory allows; ``split`` crowded buckets for the walk."""
    run.progress.begin("grouping bands", run.options.plan.bands, "bands")

    def keys(band: int) -> np.ndarray:
        run.progress.advance(1)
        return items.collection.band(band)[items.member]

    per = np.asarray(items.collection.column("per")[items.member])
    at_once = max(1, run.memory // 4 // (SORT_BYTES * max(1, len(per))))
    return group(keys, per, run.options.plan.bands, partial(run.engine.run, at_once=at_once), split=split, allocate=run.work.scratch)


def sets(items: Items, run: Run) -> Sets:
    """The items' sets, where the work folder holds them."""
    size = items.collection.column("size")
    offset = np.cumsum(size, dtype=np.int64) - size
    file, values = run.work.opened("sets", "u8")
    return Sets(file, values, offset[items.member], np.ascontiguousarray(size[items.member]), run.options.plan.threshold, run.options.verify)


def decide(items: Items, run: Run) -> Decision:
    """What the walk decides, kept in the work folder; the sets and band keys are not needed after it."""
    work = run.work
    if not work.done("decide"):
        decision = walk_in_order(items, run)
        work.append({name: getattr(decision, name) for name in DECISION_COLUMNS}, step="decide", facts=decision.facts)
    work.discard("sets", *(band_column(band) for band in range(run.options.plan.bands)))
    columns = {name: work.column(name, dtype) for name, dtype in DECISION_COLUMNS.items()}
    return Decision(**columns, facts=work.done("decide")[0]["facts"])


def walk_in_order(items: Items, run: Run) -> Decision:
    """Walk the items in keep order, and say of every row whether it stays, and if not, for which row that stays it goes."""
    buckets = bucket(items, run, split=True)
    run.progress.begin("comparing", len(items.member), "items")
    found = walk(sets(items, run), buckets, run.work.scratch, run.engine.run, run.engine.threads, run.advance)
    n, member = len(items.collection), items.member

    witness = np.full(n, -1, np.int64)
    removed = found.witness >= 0
    witness[member[removed]] = member[found.witness[removed]]
    similarity = np.full(n, np.nan)
    similarity[member[removed]] = ratio(found.overlap[removed], found.out_of[removed])

    first = items.first
    copied = first != np.arange(n)
    original_stays = witness[first] < 0
    kept_row = np.where(copied, np.where(original_stays, first, witness[first]), witness)
    exact = copied & original_stays
    similarity = np.where(exact, 1.0, similarity[first])

    component = np.arange(n)
    component[member] = member[components(len(member), found.matches)]
    facts = walk_facts(items, buckets, found, run)
    return Decision(kept_row, similarity, exact, component, member[found.matches[:, :2]], ratio(found.matches[:, 2], found.matches[:, 3]), facts)


def walk_facts(items: Items, buckets: Buckets, found: Walk, run: Run) -> dict:
    """The counters of the walk, for the report."""
    hot = np.argsort(-found.cut_in[: len(buckets.sizes)], kind="stable")[:HOTTEST]
    hot = hot[found.cut_in[hot] > 0]
    cut = what_was_cut(sets(items, run), buckets, found, run.options.seed)
    return {
        "items": len(items.member),
        "buckets": {"number": len(buckets.sizes), "largest": int(buckets.sizes.max(initial=0)), "by_size": buckets.histogram()},
        "compared": found.compared,
        "matched": len(found.matches),
        "budget": {
            "cut": cut.cut,
            "sampled": cut.sampled,
            "alike": cut.alike,
            "missed_at_most": round(cut.missed, 1),
            "recall": cut.recall(run.options.plan.recall, len(found.matches)),
            "buckets": [crowded(items, buckets, int(number), int(found.cut_in[number]), run) for number in hot],
        },
    }


def crowded(items: Items, buckets: Buckets, number: int, cut: int, run: Run) -> dict:
    """A bucket that the budget cut, with the beginning of the text of its first item."""
    first = int(items.member[buckets.members(number)[0]])
    source, position = items.collection.places(np.array([first]))
    text = items.collection.texts([first], want(run.options))[first]
    return {"items": int(buckets.sizes[number]), "cut": cut, "source": source[0].as_py(), "position": int(position[0]), "text": text[:SHOWN]}


def find_pairs(items: Items, run: Run, sides: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """All pairs of rows at or above the threshold: (int64[m, 2] rows, float64[m] similarity), exact copies included.

    sides: uint8[rows]; when given, only pairs of rows of different sides.
    """
    options = run.options
    buckets = bucket(items, run, split=False)
    if (candidates := buckets.pairs()) > MANY:
        run.progress.warn(f"{candidates:,} candidate pairs are to be compared, most of them in crowded buckets; dedup would compare far fewer")
    run.progress.begin("comparing", candidates, "pairs")
    listed = Listing(items.first, items.member, sides, options.max_pairs)
    listed.copies()
    for block in all_pairs(sets(items, run), buckets, listed.sides_of_items(), run.engine.run, run.engine.threads, run.advance, options.max_pairs):
        listed.add(block)
    return listed.result()


def star_pairs(items: Items, run: Run) -> tuple[np.ndarray, np.ndarray]:
    """Each member against its leader only: what the greedy walk would remove, and for which row."""
    decision = decide(items, run)
    rows = np.flatnonzero(decision.removed)
    return np.stack([decision.kept_row[rows], rows], axis=1), decision.similarity[rows]
