"""The nearest neighbors of rows in arrays: the search of their kind, once, or once for each value of ``--per``."""

from __future__ import annotations

import numpy as np

from likewise.engines.engine import Nearest
from likewise.io.collection import Collection
from likewise.records import TEXT
from likewise.runs.items import Run, bare, note_need, words_of

#: Bytes in memory for each element of the sets that are searched: ranks, and lists of the sets that have each element.
SEARCH_BYTES = 30


def searched(collection: Collection) -> np.ndarray:
    """The rows that can be neighbors, int64[n]: those with something to compare."""
    return np.flatnonzero((collection.column("kind") == TEXT) & (collection.column("tokens") > 0) & ~bare(collection))


def asking(collection: Collection, run: Run, rows: np.ndarray) -> np.ndarray:
    """Which rows are queries of a second collection, bool[n]; none if all rows are queries."""
    return np.asarray(collection.source_of(rows) >= run.first_side)


def nearest(collection: Collection, run: Run, k: int) -> Nearest:
    """The neighbors that `engines.engine.Engine.nearest` describes."""
    rows = searched(collection)
    if not run.job.options.per:
        return nearest_among(rows, collection, run, k)
    value, size = np.unique(collection.column("per")[rows], return_inverse=True, return_counts=True)[1:]
    groups = np.split(rows[np.argsort(value, kind="stable")], np.cumsum(size)[:-1])
    found, values, exact = zip(*(nearest_among(group, collection, run, k) for group in groups), strict=True)
    pairs = np.concatenate(found)
    order = np.argsort(pairs[:, 0], kind="stable")
    return Nearest(pairs[order], np.concatenate(values)[order], all(exact))


def nearest_among(rows: np.ndarray, collection: Collection, run: Run, k: int) -> Nearest:
    """The neighbors among some of the rows."""
    job, second = run.job, asking(collection, run, rows)
    base, queries = (rows, rows) if run.alone else (rows[~second], rows[second])
    if not len(base) or not len(queries):
        return Nearest(np.zeros((0, 2), np.int64), np.zeros(0), True)
    begun = "comparing with all" if job.compared.scans(job) else "searching for neighbors"
    run.begin(begun, len(queries), "items")
    sides = [words_of(collection, run, side) for side in ((base,) if run.alone else (base, queries))]
    if job.compared.sets:
        many = sum(len(words) for words, _ in sides)
        note_need(f"{many:,} elements of sets", SEARCH_BYTES * many, run)
    found = job.compared.nearest(sides[0], sides[-1], k, job, same=run.alone, workers=run.workers)
    return Nearest(np.stack([queries[found.query], base[found.item]], axis=1), found.value, found.exact)
