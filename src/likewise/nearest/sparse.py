"""Exact nearest neighbors of sparse vectors: inverted lists of coordinates give the products of one vector with all others at once.

A cost is computed from them, small for similar vectors: minus the cosine, the squared L2 distance, the L1 distance. It has a bounded rounding error;
whatever that leaves open is decided by the measure's exact value.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.items.sparse import Sparse
from likewise.kernels.sparse import in_common, nearest
from likewise.kinds import measure as facts_of
from likewise.measures.sparse import kernel_of
from likewise.nearest.search import Out, Search

Floats = NDArray[np.float64]
Longs = NDArray[np.int64]

#: Costs and queries held at once.
COSTS, QUERIES = 1 << 21, 256
#: The error bound of a cost, times the sum of both weights.
SLACK = 1e-9


@dataclass(frozen=True)
class Lists:
    """The inverted lists of vectors: for each index the vectors with that coordinate."""

    words: NDArray[np.uint64]  # the indices, ascending
    begins: Longs  # the vectors with words[r] are holders[begins[r] : begins[r + 1]], ascending
    holders: Longs
    values: Floats  # their values there

    @classmethod
    def of(cls, vectors: Sparse, values: Floats) -> Lists:
        order = np.argsort(vectors.indices, kind="stable")
        words, begins = np.unique(vectors.indices[order], return_index=True)
        holders = np.repeat(np.arange(len(vectors)), vectors.sizes)
        return cls(words, np.append(begins, len(order)), holders[order], values[order])

    def ranks(self, vectors: Sparse) -> Longs:
        """The rank in ``words`` of each index of the vectors, int64[m]; -1 if absent."""
        if not len(self.words):
            return np.full(len(vectors.indices), -1)
        rank = np.searchsorted(self.words, vectors.indices).clip(max=len(self.words) - 1)
        return np.where(self.words[rank] == vectors.indices, rank, -1)


def weighed(vectors: Sparse, measure: str) -> tuple[Floats, Floats]:
    """The inputs of costs: values, float64[m], scaled to length 1 if directions count; and weights, float64[n].

    Weights are sums of absolute values for L1, squared lengths for L2, else 1/2.
    """
    directed, power = facts_of(measure).directed, facts_of(measure).power
    with np.errstate(over="ignore"):
        if not directed:
            return vectors.values, vectors.sums(np.abs(vectors.values) if power == 1 else vectors.values**2)
    values = vectors.values / np.repeat(vectors.reduced(np.maximum, np.abs(vectors.values)), vectors.sizes)
    return values / np.repeat(np.sqrt(vectors.sums(values**2)), vectors.sizes), np.full(len(vectors), 0.5)


def close(vectors: Sparse, drawn: Longs, measure: str, limit: float) -> Iterator[tuple[Longs, Longs, int]]:
    """Yield all pairs of a drawn vector and any vector that are within the limit, and a few more.

    In blocks of rows (drawn, other), with the number of drawn vectors that are finished.
    """
    facts = facts_of(measure)
    cosine = math.cos(math.radians(min(limit, 180.0))) if facts.distance else limit
    bound = -cosine if facts.directed else limit if facts.power == 1 else limit * limit
    values, weights = weighed(vectors, measure)
    for begin in range(0, len(drawn), QUERIES):
        rows = drawn[begin : begin + QUERIES]
        queries = vectors[rows]
        lists = Lists.of(queries, weighed(queries, measure)[0])
        ranks = lists.ranks(vectors)
        step = max(1, COSTS // len(rows))
        for first in range(0, len(vectors), step):
            last = min(first + step, len(vectors))
            common = in_common(ranks, values, vectors.offsets, first, last, len(rows), lists.begins, lists.holders, lists.values, facts.power == 1)
            with np.errstate(invalid="ignore", over="ignore"):
                both = weights[first:last, None] + weights[rows]
                cost = -common if facts.directed else both - facts.power * common
                other, query = np.nonzero(~(cost > bound + SLACK * both))  # keeps all pairs whose squares overflow
            yield rows[query], first + other, len(rows) * (last == len(vectors))


def sparse_near(search: Search, base: Sparse, queries: Sparse, out: Out, measure: str) -> bool:
    """Search by cosine or L_r. Returns True: the result is exact.

    Cosines must be above 0: a query shares no coordinate with most vectors, and those would all be equally near.
    """
    values, weights = weighed(base, measure)
    asked, own = weighed(queries, measure)
    lists = Lists.of(base, values)
    ranks = lists.ranks(queries)
    most = math.inf if search.limit is None else float(search.limit)
    facts = facts_of(measure)
    if not facts.distance:
        most = -0.0 if search.limit is None else -most
    found = (lists.begins, lists.holders, lists.values)
    rule = (*kernel_of(facts, search.order), most, SLACK)

    def part(begin: int, end: int) -> None:
        nearest(base.arrays, weights, queries.arrays, asked, own, ranks, found, rule, search.same, begin, end, *out.arrays)

    search.over_queries(len(queries), part)
    return True
