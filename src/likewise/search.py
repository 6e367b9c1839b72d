"""How alike pairs are found: in buckets; or, where a kind of item has an engine of its own, by that. The table is `ENGINES`.

An engine takes the items, the run, and the side of each item: uint8[items] of 1, 2 or 3 for A, B or both; empty where all pairs are wanted.
It yields blocks of items, later items, and how alike they are, each pair once and in no particular order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.options import Options, items_of
from likewise.run import Block, Items, Run, numbers, sets, strings, words
from likewise.stages.candidates import Buckets, group
from likewise.stages.cluster import ratio
from likewise.stages.codes import Counts, code_pairs
from likewise.stages.exact import exact_pairs
from likewise.stages.strings import edit_pairs
from likewise.stages.vectors import choose_layout, prepare, vector_pairs
from likewise.stages.verify import all_pairs

#: Candidate pairs whose comparison is announced: a minute or so.
MANY = 10**8
#: Bytes that sorting the keys of one band takes for each item: keys, order, and what the sort itself needs.
SORT_BYTES = 32


def bucket(items: Items, run: Run, *, split: bool) -> Buckets:
    """Group the items by band key, as many bands at once as memory allows; ``split`` crowded buckets for the walk."""
    bands = run.options.plan.bands
    run.progress.begin("grouping bands", bands, "bands")

    def keys(band: int) -> np.ndarray:
        run.progress.advance(1)
        return items.collection.band(band)[items.member]

    per = items.per
    at_once = max(1, run.memory // 4 // (SORT_BYTES * max(1, len(per))))
    return group(keys, per, bands, partial(run.engine.run, at_once=at_once), split=split, allocate=run.work.scratch)


def in_buckets(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """The alike pairs among items that share a bucket."""
    buckets = bucket(items, run, split=False)
    if (candidates := buckets.pairs()) > MANY:
        run.progress.warn(f"{candidates:,} candidate pairs are to be compared, most of them in crowded buckets; dedup would compare far fewer")
    run.progress.begin("comparing", candidates, "pairs")
    stored = sets(items, run)
    for block in all_pairs(stored, buckets, side, run.engine.run, run.engine.threads, run.advance, run.options.max_pairs):
        yield block[:, 0], block[:, 1], stored.similarity(block[:, 2], block[:, 3])


def of_sets(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """All pairs of sets, with none missed."""
    run.progress.begin("joining", len(items.member), "items")
    values, offsets = words(items, run)
    how: dict[str, Any] = {"side": side, "per": items.per, "run": run.engine.run, "shares": run.engine.threads, "advance": run.advance}
    for block in exact_pairs(values, offsets, run.options.threshold, most=run.options.max_pairs, **how):
        yield block[:, 0], block[:, 1], ratio(block[:, 2], block[:, 3])


def of_vectors(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """Pairs of vectors that meet by their codes."""
    options = run.options
    if len(items.member) < 2:  # and of none the dimension is not known
        return
    values, _ = words(items, run)
    prepared = prepare(numbers(values, options), options.measure.name, float(options.threshold), options.seed, run.engine.run)
    layout = choose_layout(prepared, options.asked["recall"], options.seed)
    yield from vector_pairs(prepared, layout, Counts(), **joined(items, run, side))  # type: ignore[misc]


def of_codes(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """All pairs of codes, with none missed."""
    if len(items.member) < 2:
        return
    values, _ = words(items, run)
    codes = values.reshape(len(items.member), -1)
    for left, right, distance in code_pairs(codes, run.options.dimension, int(run.options.threshold), Counts(), **joined(items, run, side)):
        yield left, right, distance.astype(np.float64)


def of_strings(items: Items, run: Run, side: np.ndarray) -> Iterator[Block]:
    """All pairs of strings within a number of edits, with none missed."""
    options = run.options
    run.progress.begin("joining", len(items.member), "items")
    how: dict[str, Any] = {"side": side, "per": items.per, "run": run.engine.run, "shares": run.engine.threads, "advance": run.advance}
    texts = pa.array(strings(items, run), pa.large_binary())
    for block in edit_pairs(texts, int(options.threshold), levenshtein=options.measure.name == "levenshtein", most=options.max_pairs, **how):
        yield block[:, 0], block[:, 1], block[:, 2].astype(np.float64)


def joined(items: Items, run: Run, side: np.ndarray) -> dict:
    """What the joins of codes take."""

    def expect(comparisons: int) -> None:
        run.progress.begin("comparing", comparisons, "pairs")

    per = items.per if items.per.any() else None
    how = {"run": run.engine.run, "shares": run.engine.threads, "expect": expect, "advance": run.advance, "most": run.options.max_pairs}
    return {"side": side if len(side) else None, "per": per, **how}


#: What is compared -> how its alike pairs are found.
ENGINES: dict[str, Callable[[Items, Run, np.ndarray], Iterator[Block]]] = {
    "texts": in_buckets,
    "sets": in_buckets,
    "weighted sets": in_buckets,
    "vectors": of_vectors,
    "codes": of_codes,
    "strings": of_strings,
}


def engine(options: Options) -> Callable[[Items, Run, np.ndarray], Iterator[Block]]:
    """How a run finds its pairs."""
    kind = items_of(options.method)
    return of_sets if options.joined and kind != "strings" else ENGINES[kind]


def by_bands(options: Options) -> bool:
    """Whether pairs are found in buckets, so that band keys are wanted."""
    return engine(options) is in_buckets
