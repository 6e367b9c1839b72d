"""A search for the most similar items: its parameters, and the arrays for its result."""

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

#: The maximum number of queries of a task, and tasks for each core; with few queries tasks get smaller.
QUERIES_AT_ONCE, TASKS = 256, 4


@dataclass(frozen=True)
class Found:
    """Rows of a query, an item near it and the measure's value: by query, nearest first, ties by the earlier item."""

    query: Longs
    item: Longs
    value: Floats
    scanned: Longs  # of each query: visited codes, products, or entries of lists
    compared: Longs  # of each query: items whose value was computed
    exact: bool  # no neighbor can be missing


@dataclass(frozen=True)
class Search:
    """The parameters of a search."""

    kind: int  # of kernels.top_k
    k: int
    recall: float
    exact: bool
    limit: float | None
    seed: int
    workers: Workers
    same: bool
    order: float = 0.0  # the r of L_r

    def over(self, count: int, part: int, task: Callable[[int, int], None]) -> None:
        """Call ``task`` for each range (begin, end) of ``part`` numbers below ``count``, several at once."""
        list(self.workers.run(lambda begin: task(begin, min(count, begin + part)), range(0, count, part)))

    def over_queries(self, count: int, task: Callable[[int, int], None]) -> None:
        """Call ``task`` for ranges of the queries, and report progress."""

        def part(begin: int, end: int) -> None:
            task(begin, end)
            self.workers.advance(end - begin)

        self.over(count, min(QUERIES_AT_ONCE, -(-count // (TASKS * self.workers.tasks * QUERIES)) * QUERIES), part)


class Way(NamedTuple):
    """How a measure finds neighbors."""

    kind: int  # of kernels.top_k
    near: Callable[..., bool]  # (search, base, queries, out): fills ``out``; returns True if no neighbor can be missing


class Out:
    """The arrays that kernels write: k places for each query, of which the first ``counts`` are used."""

    def __init__(self, search: Search, queries: int):
        self.search = search
        self.items = np.empty((queries, search.k), np.int64)
        self.values = np.empty((queries, search.k))
        self.counts = np.zeros(queries, np.int64)
        self.counters = np.zeros((queries, 3), np.int64)

    @property
    def arrays(self) -> tuple[Longs, Floats, Longs, Longs]:
        """out_items, out_values, out_counts and counters, as kernels name them."""
        return self.items, self.values, self.counts, self.counters

    def found(self, exact: bool) -> Found:
        """The neighbors within the limit, as `Found`."""
        used = np.arange(self.search.k) < self.counts[:, None]
        distances = self.search.kind in DISTANCES
        values = self.values[used] if distances else 0.0 - self.values[used]  # kernels negate similarities; this also avoids -0.0
        wanted = np.ones(len(values), bool)
        if self.search.limit is not None:
            wanted = values <= self.search.limit if distances else values >= self.search.limit
        query, item = np.nonzero(used)[0][wanted], self.items[used][wanted]
        return Found(query, item, values[wanted], self.counters[:, 0].copy(), self.counters[:, 2].copy(), exact)
