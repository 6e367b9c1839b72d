"""Exact nearest neighbors of strings: signs and lengths bound all of them, and the measure decides those that may be near, the likeliest first."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from likewise.items.sets import read_only
from likewise.items.strings import strings_of
from likewise.kernels.strings import apart
from likewise.measures.strings import MEASURES
from likewise.nearest.search import Floats, Found, Longs
from likewise.stages.workers import ALONE, Workers

#: Strings that are measured first for a query, as a multiple of k and at least; and the growth of their number from then on.
FIRST, FEWEST, GROWTH = 4, 32, 8
#: Queries of a task.
QUERIES_AT_ONCE = 64


def strings_near(
    base: Sequence[str], queries: Sequence[str], measure: str, k: int, *, limit: Fraction | None = None, same: bool = False, workers: Workers = ALONE
) -> Found:
    """The k strings of ``base`` nearest to each query, by a measure of `measures.strings`. Ties go to the earlier string.

    same: the queries are the strings of ``base``, and never their own neighbors; ``queries`` is empty. limit: the minimum similarity, or maximum
    distance. Strings without any similarity are no neighbors. Progress is counted in queries.
    """
    how, strings, n = MEASURES[measure], strings_of([*base, *queries]), len(base)
    asked = np.arange(n) if same else np.arange(n, n + len(queries))
    signs, heads, length = read_only(strings.signs), read_only(strings.heads), strings.length
    ours, firsts = read_only(signs[:n]), read_only(heads[:n])
    strings.held  # noqa: B018 - made once, before threads need it

    def near(query: int) -> tuple[Longs, Floats, int]:
        """The neighbors of one query, their values, and the number of strings that were measured."""
        bits, prefix = np.empty(n, np.int64), np.empty(n, np.int64)
        apart(ours, firsts, signs, heads, query, bits, prefix)
        best = how.best(bits, prefix, length[:n], np.full(n, length[query]))
        cost = -best if how.relative else best  # small for near strings
        open_ = np.flatnonzero(cost < 0) if how.relative else np.arange(n)
        open_ = open_[open_ != query] if same else open_
        found, values = open_[:0], cost[:0]
        number, measured = max(FEWEST, FIRST * k), 0
        while len(open_):
            order = np.argpartition(cost[open_], number - 1) if len(open_) > number else np.arange(len(open_))
            now, open_ = open_[order[:number]], open_[order[number:]]
            worst = math.nan if len(found) < k else abs(float(values[-1]))
            value, good = how.compare(strings, query, now, limit, worst)
            measured += len(now)
            value = -value if how.relative else value
            good &= value < 0 if how.relative else good
            found, values = np.concatenate([found, now[good]]), np.concatenate([values, value[good]])
            nearest = np.lexsort((found, values))[:k]
            found, values = found[nearest], values[nearest]
            if len(found) == k:
                open_ = open_[cost[open_] <= values[-1]]
            number *= GROWTH
        return found, np.abs(values), measured

    def part(begin: int) -> list[tuple[Longs, Floats, int]]:
        here = asked[begin : begin + QUERIES_AT_ONCE].tolist()
        done = [near(query) for query in here]
        workers.advance(len(here))
        return done

    each = [one for some in workers.run(part, range(0, len(asked), QUERIES_AT_ONCE)) for one in some]
    found, values, measured = zip(*each, strict=True) if each else ((), (), ())
    query = np.repeat(np.arange(len(asked)), [len(one) for one in found])
    item = np.concatenate([np.empty(0, np.int64), *found])
    return Found(query, item, np.concatenate([np.empty(0), *values]), np.full(len(asked), n), np.array(measured, np.int64), True)
