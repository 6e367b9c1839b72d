"""The search for similar pairs of a run: in buckets, or by a join that the kind of item provides (`Kind.join`).

If pairs across two collections are wanted, items have sides: uint8[items] of 1, 2 or 3 for A, B or both; empty if all pairs are wanted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from likewise.job import Job
from likewise.joins.pairs import ALL, Among, Join, PairBlock
from likewise.planning import Plan
from likewise.runs.items import Items, Run, note_need, sets, words
from likewise.stages.buckets import Buckets, group
from likewise.stages.scope import ALL as WHOLE
from likewise.stages.verify import all_pairs

#: More candidate pairs than this, about a minute of comparisons, are announced.
MANY = 10**8
#: Bytes for each item to number the keys of a band: keys, those that repeat and their places, and a table of up to four places each.
NUMBERING_BYTES = 48
#: Bytes in memory for each element of the sets that are joined: ranks, and an index of them.
JOIN_BYTES = 20
#: Searches above this cost, in nanoseconds of one core, are announced.
LONG = 60e9
NO_SIDE = np.zeros(0, np.uint8)


def bucket(items: Items, run: Run, plan: Plan, *, split: bool) -> Buckets:
    """Group the items by band keys, as many bands at once as memory allows; for the walk ``split`` overfull buckets, and keep to `Items.scope`."""
    bands, scope = plan.bands, items.scope if split else WHOLE
    for said in plan.about_items(len(items.member)):
        run.warn(said)
    run.begin("grouping bands", bands, "bands")

    def keys(band: int) -> np.ndarray:
        run.progress.advance(1)
        return items.collection.band(band, bands)[items.member]

    per = items.per
    at_once = max(1, run.memory // 4 // (NUMBERING_BYTES * max(1, len(per))))
    return group(keys, per, bands, replace(run.workers, run=partial(run.threads.run, at_once=at_once)), split=split, scope=scope)


def in_buckets(items: Items, run: Run, side: np.ndarray, plan: Plan) -> Iterator[PairBlock]:
    """Yield the similar pairs among items that share a bucket."""
    buckets = bucket(items, run, plan, split=False)
    candidates = buckets.pairs()
    announce_pairs(run, candidates)
    run.begin("comparing", candidates, "pairs")
    stored = sets(items, run)
    for block in all_pairs(stored, buckets, side, run.workers, run.job.options.max_pairs):
        yield PairBlock(block[:, 0], block[:, 1], stored.similarity(block[:, 2], block[:, 3]))


def announce_pairs(run: Run, candidates: int) -> None:
    """Warn of a list of very many candidate pairs."""
    if candidates > MANY:
        run.warn(f"{candidates:,} candidate pairs will be compared, most of them in overfull buckets; dedup would compare far fewer")


def elements(items: Items) -> int:
    """The total number of elements of the items' sets: the work of a join, for progress."""
    return int(items.collection.column("size")[items.member].sum(dtype=np.int64))


def joined_pairs(items: Items, run: Run, side: np.ndarray = NO_SIDE, *, walk: bool = False) -> Iterator[PairBlock]:
    """Yield the similar pairs that the kind's join finds. walk: find only the pairs that a greedy walk needs."""
    among = Among(side=side) if len(side) else ALL
    yield from join_of(items, run, among, walk=walk).pairs(among, run.job.options.max_pairs)


def join_of(items: Items, run: Run, among: Among = ALL, *, walk: bool = False) -> Join:
    """The join of the kind of items. Warns at once if it will take long.

    among: the pairs that will be requested. walk: they serve a greedy walk, which skips most items that are similar to an earlier one.
    """
    kind, per = run.job.compared, items.per
    run.begin("joining", *((elements(items), "elements") if kind.sets else (len(items.member), "items")))
    if kind.sets:
        note_need(f"{elements(items):,} elements of sets", JOIN_BYTES * elements(items), run)
    find = kind.all_pairs if run.job.base.measured else kind.join
    found = find(words(items, run), run.job, among=among, per=per if per.any() else None, walk=walk, workers=run.workers)
    if kind.sets:
        announce(len(items.member), run, "joined", 0.0 if walk else found.cost)  # a walk skips most pairs among many similar sets
    else:
        announce(len(items.member), run, "compared", found.cost * wanted(among.side))
    return found


def announce(number: int, run: Run, what: str, cost: float) -> None:
    """Warn that a search among items will take long, once a run, though an audit searches twice. cost: nanoseconds of one core."""
    if cost > LONG:
        run.warn(f"{number:,} {run.job.compared.name} will be {what}; expect about {cost / 60e9:,.0f} minutes on one core")


def wanted(side: np.ndarray | None) -> float:
    """The share of all pairs that cross the two sides."""
    if side is None or not len(side):
        return 1.0
    a, b, both = (int(np.count_nonzero(side == one)) for one in (1, 2, 3))
    return across(a, b, both, len(side))


def across(a: int, b: int, both: int, number: int) -> float:
    """The share of the pairs of so many items that cross two sides, of which items of A, B or both are known."""
    return 1.0 if number < 2 else (a * b + (a + b) * both + both * (both - 1) / 2) / (number * (number - 1) / 2)


def pair_source(job: Job) -> Callable[[Items, Run, np.ndarray], Iterator[PairBlock]]:
    """The function that finds the similar pairs of a run."""
    return partial(in_buckets, plan=job.plan) if job.plan else joined_pairs
