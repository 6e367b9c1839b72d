"""The nearest of given candidates of each query, by a measure of pairs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from likewise.nearest.search import Floats, Found, Longs
from likewise.stages.workers import Workers

#: Pairs compared before a thread checks if the run is being stopped.
PAIRS_AT_ONCE = 1024


class Candidates:
    """The items to compare with each query: some, or all."""

    def __init__(self, queries: int, items: int, some: Found | None):
        """some: the candidates as neighbors; None: all items."""
        self.all = some is None
        self.places = np.arange(queries + 1) * items if some is None else np.searchsorted(some.query, np.arange(queries + 1))
        self.items = np.arange(items) if some is None else some.item

    def of(self, query: int) -> Longs:
        """The candidates of a query, int64[m]."""
        return self.items if self.all else self.items[self.places[query] : self.places[query + 1]]


def best(compare: Callable[[Longs, Longs], Floats], candidates: Candidates, k: int, *, limit: float | None, same: bool, workers: Workers) -> Found:
    """The k most similar candidates of each query, ties by the earlier item.

    compare: the similarities of pairs of a query and an item, int64[m] each. limit: the minimum similarity. same: the queries are the items, and none
    is its own neighbor. Progress is counted in queries.
    """
    asking, k = len(candidates.places) - 1, min(k, int(np.diff(candidates.places).max(initial=0)))
    values, items, counts = np.empty((asking, k)), np.empty((asking, k), np.int64), np.zeros(asking, np.int64)

    def one(query: int) -> None:
        these = candidates.of(query)
        these = these[these != query] if same else these
        value = np.empty(len(these))
        for at in range(0, len(these), PAIRS_AT_ONCE):
            some = these[at : at + PAIRS_AT_ONCE]
            value[at : at + PAIRS_AT_ONCE] = compare(np.full(len(some), query), some)
            workers.advance(0)
        order = np.lexsort((these, -value))[:k]
        order = order if limit is None else order[value[order] >= limit]
        counts[query] = len(order)
        values[query, : len(order)], items[query, : len(order)] = value[order], these[order]
        workers.advance(1)

    list(workers.run(one, range(asking)))
    used, scanned = np.arange(k) < counts[:, None], np.diff(candidates.places)
    return Found(np.nonzero(used)[0], items[used], values[used], scanned, scanned - (same and candidates.all), candidates.all)
