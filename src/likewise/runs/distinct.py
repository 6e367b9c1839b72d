"""The distinct rows of a collection in priority order, by the driver."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence

import numpy as np

from likewise.io.collection import Collection
from likewise.io.numbered import Numbered
from likewise.io.units import Units
from likewise.options import Options
from likewise.records import REJECTED, TEXT
from likewise.runs.items import Items, Run, bare, note_need
from likewise.schema import ROW_COLUMNS
from likewise.stages.copies import first_of_copies
from likewise.stages.order import priority_order
from likewise.stages.scope import ALL, Scope

#: Bytes of memory held for each row, each distinct row, and each of its bands.
ROW_BYTES, ITEM_BYTES, BAND_BYTES = 120, 50, 4


def distinct(collection: Numbered, run: Run, *, removing: bool = False, copies: Callable[..., np.ndarray] = first_of_copies) -> Items:
    """Put the rows into priority order and collapse exact copies into the first of them.

    removing: rows of a second collection come first, because they stay. copies: `stages.copies.first_of_copies`, or another function with its result.
    """
    assert isinstance(collection, Collection)
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
    first = copies(copy, collection.column("per"), copied, rank)
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


def in_order(collection: Collection, options: Options, *, removing: bool) -> np.ndarray:
    """The rows in priority order, int64[n]; units are in the order of their documents, and in input order within a document.

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
