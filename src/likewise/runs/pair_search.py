"""How the similar pairs of a run are found: in buckets, or, where a kind of item is joined, by a join of its own. The table is `JOINS`.

Where pairs across two collections are wanted, items have sides: uint8[items] of 1, 2 or 3 for A, B or both; empty where all pairs are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.items.sparse import of_words
from likewise.joins.edit_join import EditJoin, edits
from likewise.joins.hamming_join import code_join
from likewise.joins.pairs import ALL, Among, Join, PairBlock
from likewise.joins.scan import Scan
from likewise.joins.set_join import SetJoin
from likewise.joins.sparse_join import SparseJoin
from likewise.joins.vector_join import choose_layout, prepare, vector_join
from likewise.joins.weighted_join import weighted_join
from likewise.planning import Plan
from likewise.runs.items import Items, Run, feature_sets, numbers, rule, sets, strings, words
from likewise.runs.job import Job
from likewise.stages.buckets import Buckets, group
from likewise.stages.ranking import ranked
from likewise.stages.verify import all_pairs

#: Candidate pairs whose comparison is announced: a minute or so.
MANY = 10**8
#: Bytes that numbering the keys of one band takes for each item: keys, those that repeat and where they are, and a table of up to four places each.
NUMBERING_BYTES = 48
#: Nanoseconds of one core from which on the cost of a search is said before it begins.
LONG = 60e9
NO_SIDE = np.zeros(0, np.uint8)


def bucket(items: Items, run: Run, plan: Plan, *, split: bool) -> Buckets:
    """Group the items by band key, as many bands at once as memory allows; ``split`` overfull buckets for the walk."""
    bands = plan.bands
    for said in plan.about_items(len(items.member)):
        if said not in run.progress.warnings:
            run.progress.warn(said)
    run.begin("grouping bands", bands, "bands")

    def keys(band: int) -> np.ndarray:
        run.progress.advance(1)
        return items.collection.band(band, bands)[items.member]

    per = items.per
    at_once = max(1, run.memory // 4 // (NUMBERING_BYTES * max(1, len(per))))
    return group(keys, per, bands, replace(run.workers, run=partial(run.engine.run, at_once=at_once)), split=split)


def in_buckets(items: Items, run: Run, side: np.ndarray, plan: Plan) -> Iterator[PairBlock]:
    """The similar pairs among items that share a bucket."""
    buckets = bucket(items, run, plan, split=False)
    if (candidates := buckets.pairs()) > MANY:
        run.progress.warn(f"{candidates:,} candidate pairs will be compared, most of them in overfull buckets; dedup would compare far fewer")
    run.begin("comparing", candidates, "pairs")
    stored = sets(items, run)
    for block in all_pairs(stored, buckets, side, run.workers, run.job.options.max_pairs):
        yield PairBlock(block[:, 0], block[:, 1], stored.similarity(block[:, 2], block[:, 3]))


def elements(items: Items) -> int:
    """How many elements the items' sets have together: the work of a join, for progress."""
    return int(items.collection.column("size")[items.member].sum(dtype=np.int64))


def joined_pairs(items: Items, run: Run, side: np.ndarray = NO_SIDE, *, walk: bool = False) -> Iterator[PairBlock]:
    """The similar pairs by the join of the kind of items; ``walk``: as a walk finds them."""
    among = Among(side=side) if len(side) else ALL
    yield from join_of(items, run, among, walk=walk).pairs(among, run.job.options.max_pairs)


def join_of(items: Items, run: Run, among: Among = ALL, *, walk: bool = False) -> Join:
    """The join of the kind of items. What it will cost is said at once, if that is much.

    among: the pairs that will be wanted. walk: they are for a walk, in which most items that are similar to an earlier one are left out.
    """
    run.begin("joining", *((elements(items), "elements") if run.job.items in ("texts", "sets") else (len(items.member), "items")))
    found = JOINS[run.job.items](items, run, among, walk)
    if isinstance(found, SetJoin):
        announce(items, run, "joined", 0.0 if walk else found.cost)  # of a crowd a walk compares far fewer pairs than there are
    else:
        announce(items, run, "compared", found.cost * wanted(among.side))
    return found


def announce(items: Items, run: Run, what: str, cost: float) -> None:
    """Say that a search will take long: once, though an audit searches twice. ``cost``: nanoseconds of one core."""
    said = f"{len(items.member):,} {run.job.items} are to be {what}, which may take about {cost / 60e9:,.0f} minutes of one core"
    if cost > LONG and said not in run.progress.warnings:
        run.progress.warn(said)


def wanted(side: np.ndarray | None) -> float:
    """The share of all pairs that is of both sides."""
    if side is None or len(side) < 2:
        return 1.0
    a, b, both = (float(np.count_nonzero(side == one)) for one in (1, 2, 3))
    return (a * b + (a + b) * both + both * (both - 1) / 2) / (len(side) * (len(side) - 1) / 2)


def of_sets(items: Items, run: Run, among: Among = ALL, walk: bool = False) -> SetJoin:
    """Texts as sets, and sets."""
    job = run.job
    ranking = ranked(*words(items, run), side=among.side, workers=run.workers)
    return SetJoin(ranking, job.threshold, among=among, per=items.per, contained=job.contained, workers=run.workers)


def of_sparse(items: Items, run: Run, among: Among = ALL, walk: bool = False) -> SparseJoin:
    return SparseJoin.of(of_words(*words(items, run)), rule(run.job), items.per, run.workers)


def of_strings(items: Items, run: Run, among: Among, walk: bool) -> EditJoin:
    job, texts = run.job, pa.array(strings(items, run), pa.large_binary())
    levenshtein = job.measure.name == "levenshtein"
    return EditJoin(texts, edits(job.threshold), levenshtein=levenshtein, per=items.per, workers=run.workers)


def of_weighted(items: Items, run: Run, among: Among, walk: bool) -> Join:
    return weighted_join(*words(items, run), float(run.job.threshold), **how(items, run))


def of_codes(items: Items, run: Run, among: Among, walk: bool) -> Join:
    job, n = run.job, len(items.member)
    codes = words(items, run)[0].reshape(n, -1) if n else np.zeros((0, 1), np.uint64)
    return code_join(codes, job.dimension, int(job.threshold), walk=walk, **how(items, run))


def of_vectors(items: Items, run: Run, among: Among, walk: bool) -> Join:
    """Vectors by the way that was asked for."""
    job = run.job
    if len(items.member) < 2:  # of no vector the dimension is not known
        return code_join(np.zeros((len(items.member), 1), np.uint64), 64, 0)
    values = numbers(words(items, run)[0], job)
    prepared = prepare(values, job.told_by, float(job.threshold), job.seed, run.workers)
    if job.exact:
        return Scan(prepared, **how(items, run))
    return vector_join(prepared, choose_layout(prepared, job.target, job.seed, walk=walk), **how(items, run))


def of_features(items: Items, run: Run, among: Among, walk: bool) -> Join:
    """Sets of features that are compared as they are: all pairs, or those whose encodings are near."""
    from likewise.joins.feature_join import Encoded, encoded_join, exact_join

    job = run.job
    if len(items.member) < 2:
        return code_join(np.zeros((len(items.member), 1), np.uint64), 64, 0)
    sets, name, limit = feature_sets(words(items, run), job), job.measure.name, float(job.threshold)
    if job.exact:
        return exact_join(sets, name, limit, **how(items, run))
    encoded = Encoded.of(sets, job.seed, run.workers)
    return encoded_join(encoded, name, limit, job.target, walk=walk, **how(items, run))


def how(items: Items, run: Run) -> dict[str, Any]:
    """What every join takes."""
    return {"workers": run.workers, "per": per if (per := items.per).any() else None}


#: What is compared -> how its similar pairs are found where they are joined.
JOINS: dict[str, Callable[[Items, Run, Among, bool], Join]] = {
    "texts": of_sets,
    "sets": of_sets,
    "vectors": of_vectors,
    "sparse vectors": of_sparse,
    "codes": of_codes,
    "strings": of_strings,
    "weighted sets": of_weighted,
    "feature sets": of_features,
}


def pair_source(job: Job) -> Callable[[Items, Run, np.ndarray], Iterator[PairBlock]]:
    """How a run finds its pairs."""
    return partial(in_buckets, plan=job.plan) if job.plan else joined_pairs
