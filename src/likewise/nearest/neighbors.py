"""The k most similar items of a collection for each query, with exact values.

Vectors are searched by codes of their signs, as deep as the recall requires (nearest.by_vectors). Codes are scanned for Hamming distances, and sets
are searched by inverted lists of their elements (kernels.inverted_index); both are exact. By L_r other than L2, and by weights, a query is compared
with all items. The result for a query depends neither on the other queries nor on the number of threads.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from likewise.errors import UsageError
from likewise.items.sets import read_only
from likewise.items.sparse import Sparse
from likewise.kernels.inverted_index import Ranked, lists_of, most_similar
from likewise.kernels.nearest import Asked, MaxCosines
from likewise.kernels.scan import MOST
from likewise.kernels.top_k import ANGLE, COSINE, HAMMING, JACCARD, L2, NORM, Items, Rule
from likewise.kernels.weighted_nearest import most_similar as most_similar_weighted
from likewise.kinds import measures
from likewise.kinds.kind import loaded
from likewise.methods import named
from likewise.nearest.by_codes import SCANNED_BITS, Coded, by_codes
from likewise.nearest.by_vectors import all_near, vectors_near
from likewise.nearest.search import Found, Longs, Out, Search, Way, Words
from likewise.nearest.sparse import sparse_near
from likewise.stages.ranking import ranked
from likewise.stages.workers import ALONE, Workers


def neighbors(
    base: Any,
    queries: Any,
    measure: str,
    k: int,
    *,
    recall: float = 0.99,
    exact: bool = False,
    limit: float | None = None,
    seed: int = 0,
    workers: Workers = ALONE,
    same: bool = False,
    order: float = 0.0,
) -> Found:
    """The k items of ``base`` most similar to each query, by one of the measures in kinds.

    cosine, angle, l2, l1, linf, lr with its ``order``: finite float32 or float64 [n, d]; but for angle also sparse vectors, which are compared with
    all items; hamming: uint64[n, words], all of one length; elements: Jaccard similarity of sets as (values uint64[m], offsets int64[n + 1]),
    elements ascending and distinct; weighted: as for elements, but with a set's elements followed by the bits of their weights.

    recall: the minimum probability of finding each true neighbor. exact: it is 1. limit: the minimum similarity, or maximum distance, of a neighbor.
    same: the queries are the items themselves, and no item is its own neighbor.
    A query may have fewer than k neighbors: a zero vector has none by cosine, and sets with nothing in common are not neighbors.
    Progress is counted in queries. Raises UsageError for invalid arguments.
    """
    facts = named(measure)
    if facts is None or not facts.search:
        raise UsageError(f"neighbors by {measure!r}: choose one of {', '.join(name for name, facts in measures().items() if facts.search)}")
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1 or not 0 < recall <= 1:
        raise UsageError(f"k = {k!r} with recall = {recall!r}: give a whole number of 1 or more, and a recall above 0 and up to 1")
    kind, near = loaded(facts.search)
    n, asking = (len(side[1]) - 1 if kind == JACCARD else len(side) for side in (base, queries))
    if isinstance(base, Sparse):
        near = partial(sparse_near, measure=measure)
    elif kind != JACCARD and n and asking and base.shape[1] != queries.shape[1]:
        unit = "words" if kind == HAMMING else "numbers"
        raise UsageError(f"the items have {base.shape[1]} {unit} and the queries {queries.shape[1]}; both must have the same number")
    search = Search(kind, min(int(k), max(1, n)), recall, exact or recall == 1, limit, seed, workers, same, order or facts.power)
    out = Out(search, asking)
    return out.found(near(search, base, queries, out) if n and asking else True)


def sets_near(search: Search, base: Any, queries: Any, out: Out) -> bool:
    """Search by inverted lists, the rarest element first. Returns True: the result is exact."""
    n = len(base[1]) - 1
    ranks = ranked(*(base if search.same else joined(base, queries)), workers=search.workers)

    def part(some: slice) -> Ranked:
        return Ranked(ranks.tokens, ranks.first[some], ranks.shared[some], ranks.size[some])

    sets, probes = part(slice(0, n)), part(slice(0, n) if search.same else slice(n, None))
    begins, holders = lists_of(sets, ranks.ranks)
    most = 0.0 if search.limit is None else -float(search.limit)
    search.over_queries(len(probes.size), lambda *part: most_similar(most, sets, begins, holders, probes, search.same, *part, *out.arrays))
    return True


def weighted_near(search: Search, base: Any, queries: Any, out: Out) -> bool:
    """Search by comparing with all sets. Returns True: the result is exact."""
    sides = [(read_only(values), read_only(offsets)) for values, offsets in (base, queries)]
    most = 0.0 if search.limit is None else -float(search.limit)
    search.over_queries(len(sides[1][1]) - 1, lambda *part: most_similar_weighted(most, *sides[0], *sides[1], search.same, *part, *out.arrays))
    return True


def joined(base: tuple[Words, Longs], queries: tuple[Words, Longs]) -> tuple[Words, Longs]:
    """The sets of both sides, those of ``base`` first."""
    (values, offsets), (others, ends) = base, queries
    values = np.concatenate([values[offsets[0] : offsets[-1]], others[ends[0] : ends[-1]]])
    return values, np.concatenate([offsets - offsets[0], ends[1:] - ends[0] + offsets[-1] - offsets[0]])


def codes_near(search: Search, base: Words, queries: Words, out: Out) -> bool:
    """Search codes by Hamming distance. Returns True: the result is exact."""
    n, words = base.shape
    rule = Rule(HAMMING, math.inf if search.limit is None else float(search.limit), 0.0, 0.0, 0.0)
    nothing = Items(read_only(np.empty((0, 0), np.float32)), read_only(np.empty(0)))
    coded = Coded(np.ascontiguousarray(base), np.zeros(n), np.arange(n), min(64 * words, SCANNED_BITS))
    no_doubt = MaxCosines(np.zeros(MOST + 1), np.zeros(64 * words + 1))
    by_codes(search, rule, no_doubt, nothing, coded, nothing, Asked(np.ascontiguousarray(queries), np.zeros(len(queries))), out)
    return True


#: The values that `MeasureFacts.search` refers to.
COSINES, ANGLES = Way(COSINE, vectors_near), Way(ANGLE, vectors_near)
L2_DISTANCES, DISTANCES_BY_SCAN = Way(L2, vectors_near), Way(NORM, all_near)
SETS, WEIGHTED, CODES = Way(JACCARD, sets_near), Way(JACCARD, weighted_near), Way(HAMMING, codes_near)
