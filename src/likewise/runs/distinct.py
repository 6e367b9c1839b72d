"""The distinct rows of a collection in priority order, by the driver."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable

import numpy as np

from likewise.io.collection import Collection
from likewise.io.numbered import Numbered, files_of
from likewise.io.units import Units
from likewise.options import Options
from likewise.runs.items import Items, Run, bare, note_need
from likewise.schema import ROW_COLUMNS
from likewise.stages.copies import first_of_copies, roles
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
    copy, live, copied = roles(collection.column("kind"), collection.column("tokens"), collection.column("copy"), options)
    order, border = in_order(collection, options, removing=removing), collection.rows_of_sides[0].stop
    rank = order  # input order is its own inverse
    if options.keep != "first" or options.prefer or not run.alone:
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
    first = copies(copy, collection.column("per"), copied, rank)
    member = order[(first[order] == order) & (live & ~bare(collection))[order]]
    scope = Scope(int(np.count_nonzero(member >= border)), options.also_inside or run.alone) if removing else ALL
    items = Items(collection, first, member, scope)
    for name in ROW_COLUMNS:
        run.work.rest(name)
    bands = run.job.plan.bands if run.job.plan else 0
    note_need(f"{len(collection):,} records", ROW_BYTES * len(collection) + (ITEM_BYTES + BAND_BYTES * bands) * len(member), run)
    return items


def in_order(collection: Collection, options: Options, *, removing: bool) -> np.ndarray:
    """The rows in priority order, int64[n]; units are in the order of their documents, and in input order within a document.

    removing: rows of a second collection come first.
    """
    if isinstance(collection, Units):
        return collection.of_documents(in_order(collection.documents, options, removing=removing))
    preferred = np.repeat(preference(collection, options, removing=removing), np.diff(collection.begins))
    return priority_order(options.keep, collection.column("chars"), collection.column("score"), preferred)


def preference(collection: Numbered, options: Options, *, removing: bool) -> np.ndarray:
    """The place of each file in priority order: int64[files]. The number of the first --prefer pattern that matches it, or else that of patterns.

    removing: the files of a second collection come first.
    """
    patterns, border = options.prefer, len(files_of(collection.sources[: collection.first_side]))
    place = [next((i for i, pattern in enumerate(patterns) if fnmatch.fnmatchcase(name, pattern)), len(patterns)) for name in collection.files]
    return np.where(removing & (np.arange(len(place)) >= border), -1, np.array(place, np.int64))
