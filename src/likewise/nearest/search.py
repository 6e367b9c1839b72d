"""A search for the most similar items: what is asked, and where the answer goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.nearest import QUERIES
from likewise.kernels.top_k import DISTANCES
from likewise.stages.workers import Workers

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]
Words = NDArray[np.uint64]

#: Queries that a task takes at most; fewer, where there are few, so that each core gets several tasks.
QUERIES_AT_ONCE, TASKS = 256, 4


@dataclass(frozen=True)
class Found:
    """Row by row a query, an item near it and the measure's value: by query, the nearest first, ties by the earlier item."""

    query: Longs
    item: Longs
    value: Floats
    scanned: Longs  # of each query: codes or products looked at, or entries of lists
    compared: Longs  # of each query: items whose value was told
    exact: bool  # nothing that belongs here can be missing


@dataclass(frozen=True)
class Search:
    """What is asked."""

    kind: int  # of kernels.top_k
    k: int
    recall: float
    exact: bool
    limit: float | None
    seed: int
    workers: Workers
    same: bool

    def over(self, count: int, part: int, task: Callable[[int, int], None]) -> None:
        """``task`` of each (begin, end) of so many numbers below ``count``, several at once."""
        list(self.workers.run(lambda begin: task(begin, min(count, begin + part)), range(0, count, part)))

    def over_queries(self, count: int, task: Callable[[int, int], None]) -> None:
        """The same of the queries."""

        def part(begin: int, end: int) -> None:
            task(begin, end)
            self.workers.advance(end - begin)

        self.over(count, min(QUERIES_AT_ONCE, -(-count // (TASKS * self.workers.tasks * QUERIES)) * QUERIES), part)


class Way(NamedTuple):
    """How neighbours are looked for by a measure."""

    kind: int  # of kernels.top_k
    near: Callable[..., bool]  # (search, base, queries, out): fills ``out``, and says whether none can be missing


class Out:
    """What kernels write: k places for each query, of which the first so many are used."""

    def __init__(self, search: Search, queries: int):
        self.search = search
        self.items = np.empty((queries, search.k), np.int64)
        self.values = np.empty((queries, search.k))
        self.counts = np.zeros(queries, np.int64)
        self.counters = np.zeros((queries, 3), np.int64)

    @property
    def arrays(self) -> tuple[Longs, Floats, Longs, Longs]:
        """out_items, out_values, out_counts and counters, as kernels call them."""
        return self.items, self.values, self.counts, self.counters

    def found(self, exact: bool) -> Found:
        used = np.arange(self.search.k) < self.counts[:, None]
        distances = self.search.kind in DISTANCES
        values = self.values[used] if distances else 0.0 - self.values[used]  # similarities came negative; no zero has a sign
        wanted = np.ones(len(values), bool)
        if self.search.limit is not None:
            wanted = values <= self.search.limit if distances else values >= self.search.limit
        query, item = np.nonzero(used)[0][wanted], self.items[used][wanted]
        return Found(query, item, values[wanted], self.counters[:, 0].copy(), self.counters[:, 2].copy(), exact)
