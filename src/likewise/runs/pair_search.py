"""How alike pairs are found: in buckets; or, where a kind of item is joined, by an engine of its own. The table is `JOINS`.

An engine takes the items, the run, and the side of each item: uint8[items] of 1, 2 or 3 for A, B or both; empty where all pairs are wanted.
It yields blocks of items, later items, and how alike they are, each pair once and in no particular order; by containment, blocks of items,
others that hold them, and how much of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.io import bands as band_files
from likewise.items.sets import read_only
from likewise.items.sparse import of_words
from likewise.joins.edit_join import edit_pairs, edits
from likewise.joins.greedy import Finder
from likewise.joins.hamming_join import Counts, all_finder, code_finder
from likewise.joins.scan import Scan
from likewise.joins.set_join import Begun, exact_pairs
from likewise.joins.sparse_join import Prepared as PreparedSparse
from likewise.joins.sparse_join import sparse_pairs
from likewise.joins.vector_join import Layout, Prepared, choose_layout, prepare, vector_finder
from likewise.kernels.sets import ODD_SKETCH, odd_sketches
from likewise.planning import Plan
from likewise.runs.items import Block, Items, Run, feature_sets, numbers, rule, sets, strings, words
from likewise.runs.job import Job
from likewise.stages.buckets import MOST_MET, Buckets, group
from likewise.stages.ranking import Ranked, ranked
from likewise.stages.sketch import keys_of
from likewise.stages.verify import all_pairs
from likewise.stages.walk import ratio

#: Candidate pairs whose comparison is announced: a minute or so.
MANY = 10**8
#: Bytes that numbering the keys of one band takes for each item: keys, those that repeat and where they are, and a table of up to four places each.
NUMBERING_BYTES = 48
#: Items that band keys are made for at once: of sparse vectors each direction is made once for all of them.
KEYS_AT_ONCE = 1 << 12
#: Sets whose buckets are looked into to predict those of all.
SAMPLED = 1 << 13
#: Nanoseconds of one core from which on the cost of a search is said before it begins.
LONG = 60e9
#: Nanoseconds of one core for two weighted sets to be compared, and for each element.
WEIGHTED_COST, ELEMENT_COST = 20.0, 4.0
#: Steps of a curve; it shows distances to so many limits.
STEPS, BEYOND = 40, 4
NO_SIDE = np.zeros(0, np.uint8)


def bucket(items: Items, run: Run, plan: Plan, *, split: bool) -> Buckets:
    """Group the items by band key, as many bands at once as memory allows; ``split`` overfull buckets for the walk."""
    if (begun := items.taken(Buckets)) is not None:
        return begun
    bands = plan.bands
    for said in plan.about_items(len(items.member)):
        if said not in run.progress.warnings:
            run.progress.warn(said)
    run.begin("grouping bands", bands, "bands")

    made = keys_of_sparse(items, run, plan) if run.options.facts.sparse else None
    if made is None and band_files.names(bands)[0] not in run.work.lengths:
        made = keys_of_sets(items, run, plan, items.member)
        make_odd_sketches(items, run)

    def keys(band: int) -> np.ndarray:
        run.progress.advance(1)
        return items.collection.band(band, bands)[items.member] if made is None else made[band]

    per = items.per
    at_once = max(1, run.memory // 4 // (NUMBERING_BYTES * max(1, len(per))))
    return group(keys, per, bands, replace(run.workers, run=partial(run.engine.run, at_once=at_once)), split=split)


def keys_of_sets(items: Items, run: Run, plan: Plan, rows: np.ndarray) -> np.ndarray:
    """The band keys of sets at these rows, which were not made while reading: uint64[bands, rows]."""
    values, offsets = words(items, run, rows)
    made = run.work.scratch((plan.bands, len(rows)), "u8")

    def part(begin: int) -> None:
        end = min(begin + KEYS_AT_ONCE, len(rows))
        first, last = int(offsets[begin]), int(offsets[end])
        made[:, begin:end] = keys_of(run.options, (read_only(values[first:last]), read_only(offsets[begin : end + 1] - first)), True)
        run.engine.check()

    list(run.engine.run(part, range(0, len(rows), KEYS_AT_ONCE)))
    return made


def make_odd_sketches(items: Items, run: Run) -> None:
    """Append the odd sketches of all rows, by which most comparisons in buckets are spared, unless a run before this one did."""
    if "odd" in run.work.lengths:
        return
    size = items.collection.column("size")
    ends, values = np.concatenate(([0], np.cumsum(size, dtype=np.int64))), run.work.column("sets", "u8")

    def part(begin: int) -> np.ndarray:
        end = min(begin + KEYS_AT_ONCE, len(size))
        return odd_sketches(read_only(values[ends[begin] : ends[end]]), read_only(ends[begin : end + 1] - ends[begin]))

    made = list(run.engine.run(part, range(0, len(size), KEYS_AT_ONCE)))
    run.work.append({"odd": np.concatenate([np.zeros(0, ODD_SKETCH), *made])}, step="odd")
    run.work.rest("sets")


def meetings_expected(items: Items, run: Run, plan: Plan, *, walk: bool) -> float:
    """About how many candidate pairs there will be in buckets, by those among a sample of the items; of a ``walk`` no more than its budget allows."""
    step = -(-len(items.member) // SAMPLED) or 1
    made = keys_of_sets(items, run, plan, items.member[::step])
    sizes = group(made.__getitem__, items.per[::step], len(made), run.workers, split=False).sizes
    others = (sizes - 1) * step
    return float((sizes * step * (np.minimum(others, MOST_MET) if walk else others)).sum() / 2)


def keys_of_sparse(items: Items, run: Run, plan: Plan) -> np.ndarray:
    """The band keys of sparse vectors, uint64[bands, items], some items at a time."""
    vectors = of_words(*words(items, run))
    made = run.work.scratch((plan.bands, len(vectors)), "u8")

    def part(begin: int) -> None:
        rows = np.arange(begin, min(begin + KEYS_AT_ONCE, len(vectors)))
        made[:, rows] = keys_of(run.options, vectors[rows], True)
        run.engine.check()

    list(run.engine.run(part, range(0, len(vectors), KEYS_AT_ONCE)))
    return made


def ranks(items: Items, run: Run, side: np.ndarray = NO_SIDE) -> Ranked:
    """The items' sets, ranked for an exact join."""
    if not len(side) and (begun := items.taken(Begun)) is not None:
        return begun.ranking
    return ranked(*words(items, run), side=side if len(side) else None, workers=run.workers)


def rare(items: Items, run: Run) -> PreparedSparse:
    """The items' sparse vectors, and the rare coordinates of each."""
    begun = items.taken(PreparedSparse)
    return PreparedSparse.of(of_words(*words(items, run)), rule(run.options), run.workers) if begun is None else begun


def in_buckets(items: Items, run: Run, side: np.ndarray, plan: Plan) -> Iterator[Block]:
    """The alike pairs among items that share a bucket."""
    buckets = bucket(items, run, plan, split=False)
    if (candidates := buckets.pairs()) > MANY:
        run.progress.warn(f"{candidates:,} candidate pairs will be compared, most of them in overfull buckets; dedup would compare far fewer")
    run.begin("comparing", candidates, "pairs")
    stored = sets(items, run)
    for block in all_pairs(stored, buckets, side, run.workers, run.job.options.max_pairs):
        yield block[:, 0], block[:, 1], stored.similarity(block[:, 2], block[:, 3])


def of_sets(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """All pairs of sets, with none missed."""
    run.begin("joining", elements(items), "elements")
    how: dict[str, Any] = {"side": side, "per": items.per, "workers": run.workers}
    how |= {"contained": run.options.contained, "most": run.job.options.max_pairs, "expect": partial(announce, items, run, "joined")}
    begun = None if len(side) or items.per.any() else items.taken(Begun)
    ranking, made = begun or (ranks(items, run, side), None)
    for block in exact_pairs(ranking, run.options.threshold, **how, made=made):
        yield block[:, 0], block[:, 1], ratio(block[:, 2], block[:, 3])


def elements(items: Items) -> int:
    """How many elements the items' sets have together: the work of a join, for progress."""
    return int(items.collection.column("size")[items.member].sum(dtype=np.int64))


def of_sparse(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """All pairs of sparse vectors, with none missed."""
    run.begin("joining", len(items.member), "items")
    stored = sets(items, run)
    how: dict[str, Any] = {"side": side, "per": items.per, "workers": run.workers, "most": run.job.options.max_pairs}
    for block in sparse_pairs(rare(items, run), **how):
        yield block[:, 1], block[:, 0], stored.similarity(block[:, 2], block[:, 3])


def of_found(items: Items, run: Run, side: np.ndarray, *, walk: bool = False) -> Iterator[Block]:
    """The pairs of vectors, codes or sets of features, and of weighted sets exactly; ``walk``: as a walk finds them."""
    found, _ = finder(items, run, walk=walk, side=side)
    for left, right, value in found.pairs(Counts(), side=side if len(side) else None, most=run.job.options.max_pairs):
        yield left, right, value.astype(np.float64)


def finder(items: Items, run: Run, *, walk: bool = False, side: np.ndarray = NO_SIDE) -> tuple[Finder, Found]:
    """What finds the alike pairs of vectors or codes, and what is to be said of it; what it will cost is said at once, if that is much.

    walk: the pairs are for a walk, in which most items that are like an earlier one are left out. side: of which sides pairs will be wanted.
    """

    how: dict[str, Any] = {"workers": run.workers, "per": per if (per := items.per).any() else None}
    found, way = made_to_find(items, run, walk, how)
    announce(items, run, "compared", found.cost * wanted(side))
    return found, way


def announce(items: Items, run: Run, what: str, cost: float) -> None:
    """Say that a search will take long: once, though an audit searches twice. ``cost``: nanoseconds of one core."""
    said = f"{len(items.member):,} {run.options.items} are to be {what}, which may take about {cost / 60e9:,.0f} minutes of one core"
    if cost > LONG and said not in run.progress.warnings:
        run.progress.warn(said)


def wanted(side: np.ndarray) -> float:
    """The share of all pairs that is of both sides."""
    a, b, both = (float(np.count_nonzero(side == one)) for one in (1, 2, 3))
    return (a * b + (a + b) * both + both * (both - 1) / 2) / (len(side) * (len(side) - 1) / 2) if len(side) > 1 else 1.0


def made_to_find(items: Items, run: Run, walk: bool, how: dict[str, Any]) -> tuple[Finder, Found]:
    """A finder for the kind of items, by the way that was asked for."""
    options, n = run.options, len(items.member)
    if n < 2:  # and of no vector the dimension is not known
        return code_finder(np.zeros((n, 1), np.uint64), 64, 0), Found("all pairs", options.dimension)
    if options.items == "weighted sets":
        return weighted_finder(items, run, how), Found("all pairs", 0)
    if options.items == "feature sets":
        return of_features(items, run, walk, how)
    values = words(items, run)[0]
    if options.items == "codes":
        codes = values.reshape(n, -1)
        return code_finder(codes, options.dimension, int(options.threshold), walk=walk, **how), Found("blocks of bits", options.dimension)
    prepared = prepare(numbers(values, options), options.told_by, float(options.threshold), options.seed, run.workers)
    if options.exact:
        return Scan(prepared, **how), Found("all pairs", options.dimension)
    layout = choose_layout(prepared, options.target, options.seed, walk=walk)
    return vector_finder(prepared, layout, **how), Found("bits of vectors", options.dimension, prepared, layout)


def weighted_finder(items: Items, run: Run, how: dict[str, Any]) -> Finder:
    """All pairs of weighted sets are compared."""
    from likewise.kernels.weighted_nearest import similarities

    sets, limit = tuple(map(read_only, words(items, run))), float(run.options.threshold)

    def check(left: np.ndarray, right: np.ndarray) -> tuple[Block, int]:
        values = similarities(*sets, read_only(left), read_only(right))
        good = values >= limit
        return (left[good], right[good], values[good]), len(left)

    n = len(items.member)
    return all_finder(n, check, n * (n - 1) / 2 * (WEIGHTED_COST + ELEMENT_COST * len(sets[0]) / n), **how)


def of_features(items: Items, run: Run, walk: bool, how: dict[str, Any]) -> tuple[Finder, Found]:
    """Sets of features that are compared as they are: all pairs, or those whose encodings are near."""
    from likewise.joins.feature_join import Encoded, encoded_finder, exact_finder

    options = run.options
    sets, name, limit = feature_sets(words(items, run), options), options.measure.name, float(options.threshold)
    if options.exact:
        return exact_finder(sets, name, limit, **how), Found("all pairs", sets[0].shape[1])
    encoded = Encoded.of(sets, options.seed, run.workers)
    found, least = encoded_finder(encoded, name, limit, options.target, walk=walk, **how)
    return found, Found("encodings", encoded.vectors.shape[1], least=least)


@dataclass(frozen=True)
class Found:
    """How vectors, codes or sets are found, and with what chance."""

    by: str
    dimension: int
    prepared: Prepared | None = None
    layout: Layout | None = None  # None: none is missed
    least: float | None = None  # of encodings that propose pairs the least cosine; there is no chance to be told then

    @property
    def recall(self) -> float | None:
        if self.least is not None:
            return None
        return 1.0 if self.layout is None else self.layout.recall

    def compared(self, counts: Counts) -> int:
        """Pairs of items that were compared: by their vectors, where their codes did not tell them apart, else each time that two met."""
        if self.least is not None:
            return counts.computed
        return counts.compared if self.layout is None else counts.proposed

    def facts(self) -> dict[str, Any]:
        """For report.json: named as in a plan (`planning.Plan.to_dict`)."""
        if self.prepared is None or self.layout is None:
            least = {} if self.least is None else {"least_cosine": self.least}
            return {"join": {"by": self.by, "dimension": self.dimension, **least}, "curve": []}
        measure = {"cosine": "cosine", "angle": "angle in degrees"}.get(self.prepared.measure, self.prepared.measure.upper() + " distance")
        family = "Hyperplane" if self.prepared.angles else self.by
        layout = {"bands": self.layout.bands, "rows": self.layout.rows, "bits": self.layout.bits, "recall": self.recall}
        join = {"by": self.by, "dimension": self.dimension, "family": family, "measure": measure, **layout}
        return {"join": join, "curve": self.curve(self.prepared, self.layout)}

    @staticmethod
    def curve(prepared: Prepared, layout: Layout) -> list[list[float]]:
        """The chance that a pair meets, by its similarity or distance."""
        end = 1.0 if prepared.measure == "cosine" else min(BEYOND * prepared.limit or 1.0, 180.0 if prepared.measure == "angle" else math.inf)
        values = [end * step / STEPS for step in range(STEPS + 1)]
        return [[value, layout.chance(prepared.differ(layout.coding, value))] for value in values]


def of_strings(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """All pairs of strings within a number of edits, with none missed."""
    options = run.options
    run.begin("joining", len(items.member), "items")
    how: dict[str, Any] = {"side": side, "per": items.per, "workers": run.workers, "most": options.options.max_pairs}
    texts = pa.array(strings(items, run), pa.large_binary())
    for block in edit_pairs(texts, edits(options.threshold), levenshtein=options.measure.name == "levenshtein", **how):
        yield block[:, 0], block[:, 1], block[:, 2].astype(np.float64)


#: What is compared -> how its alike pairs are found where they are joined.
JOINS: dict[str, Callable[[Items, Run, np.ndarray], Iterator[Block]]] = {
    "texts": of_sets,
    "sets": of_sets,
    "vectors": of_found,
    "sparse vectors": of_sparse,
    "codes": of_found,
    "strings": of_strings,
    "weighted sets": of_found,
    "feature sets": of_found,
}


def pair_source(job: Job) -> Callable[[Items, Run, np.ndarray], Iterator[Block]]:
    """How a run finds its pairs."""
    return partial(in_buckets, plan=job.plan) if job.plan else JOINS[job.items]
