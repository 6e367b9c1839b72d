"""Jaro-Winkler similarity of strings (Winkler, String Comparator Metrics and Enhanced Decision Rules in the Fellegi-Sunter Model, 1990).

The Jaro similarity of strings of a and b code points, of which c match and 2t of those are in another order, is (c/a + c/b + (c - t)/c) / 3. If it is
7/10 or more, each code point of a common prefix of up to four takes a tenth of what is missing to 1. All of these are ratios of integers, so that
values are correctly rounded and a threshold is exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.items.strings import Longs, Strings, strings_of
from likewise.kernels.strings import PREFIX, matched
from likewise.measures.checks import same_size

Floats = NDArray[np.float64]
Good = NDArray[np.bool_]

#: From this Jaro similarity on, a common prefix counts.
RAISED = Fraction(7, 10)
#: Longer strings have numerators and denominators beyond 2^53, which float64 cannot hold.
LONGEST = 60_000
#: Pairs compared by a task, and an upper bound of the rounding errors of a similarity.
COMPARED_AT_ONCE, SLACK = 1 << 14, 1e-12


@dataclass(frozen=True)
class JaroWinkler:
    """The similarity. Members are those of `measures.edit.Edits`."""

    relative = True
    slope = 0

    def floor(self, limit: Fraction) -> Floats:
        """The minimum Jaro similarities of `jaro`, reduced by the rounding errors of a computed one: float64[PREFIX + 1]."""
        return np.array([float(share) - SLACK for share in self.jaro(limit)])

    def jaro(self, limit: Fraction) -> list[Fraction]:
        """The minimum Jaro similarity of two similar strings, by the length of their common prefix."""
        if limit <= RAISED:
            return [limit] * (PREFIX + 1)
        return [max(RAISED, (limit - Fraction(prefix, 10)) / (1 - Fraction(prefix, 10))) for prefix in range(PREFIX + 1)]

    def room(self, longer: Longs, limit: Fraction) -> Longs:
        """At most 3 (1 - J) a for strings of a >= b code points with a Jaro similarity of at least J.

        c/a + c/b >= 3 J - 1 =: x, so that c >= x ab / (a + b), and a + b - 2c code points have no partner. That is a convex function of b, and equal,
        (2 - x) a, at both ends of its range: b = a, and b = (x - 1) a, where all of b match.
        """
        return np.stack([longer * share.numerator // share.denominator for share in (3 * (1 - jaro) for jaro in self.jaro(limit))])

    def least(self, longer: Longs, limit: Fraction) -> Longs:
        """(x - 1) a: see `room`."""
        return np.maximum(longer - self.room(longer, limit)[PREFIX], 0)

    def best(self, bits: Longs, prefix: Longs, a: Longs, b: Longs) -> Floats:
        most = np.minimum(np.minimum(a, b), (a + b - bits) // 2)
        jaro = np.divide(most * (a + b) + a * b, 3 * a * b, out=(a + b == 0).astype(np.float64), where=most > 0)
        return np.where(jaro >= float(RAISED) - SLACK, jaro + prefix / 10 * (1 - jaro), jaro) + SLACK * (most > 0)

    def compare(
        self,
        strings: Strings,
        left: Longs | int,
        right: Longs,
        limit: Fraction | None,
        worst: float = math.nan,
        run: Callable[..., Any] = map,
        tasks: int = 1,
    ) -> tuple[Floats, Good]:
        left = np.broadcast_to(left, right.shape)

        def part(at: int) -> Longs:
            here = (read_only(np.ascontiguousarray(side[at : at + COMPARED_AT_ONCE])) for side in (left, right))
            return np.asarray(matched(strings.held, *here))

        counts = np.concatenate([np.empty((0, 3), np.int64), *run(part, range(0, len(right), COMPARED_AT_ONCE))])
        return similarities(strings.length[left], strings.length[right], counts, limit)


def similarities(a: Longs, b: Longs, counts: Longs, limit: Fraction | None) -> tuple[Floats, Good]:
    """The similarities of strings of these lengths with these `matched` counts, and which of them are at least the limit."""
    over, under = numbers(a, b, *counts.T)
    values = np.divide(over, under, out=np.zeros(len(a)), where=under > 0)
    values[(a == 0) & (b == 0)] = 1.0
    exact = {pair: ratio_of(a, b, counts, pair) for pair in np.flatnonzero(np.maximum(a, b) > LONGEST).tolist()}
    for pair, ratio in exact.items():
        values[pair] = float(ratio)
    if limit is None:
        return values, np.ones(len(values), np.bool_)
    good = values >= float(limit)
    for pair in np.flatnonzero((values == float(limit)) & (values < 1)).tolist():  # rounding may hide which is greater
        good[pair] = ratio_of(a, b, counts, pair) >= limit
    return values, good


def ratio_of(a: Longs, b: Longs, counts: Longs, pair: int) -> Fraction:
    """The similarity of one pair, not rounded."""
    over, under = numbers(int(a[pair]), int(b[pair]), *counts[pair].tolist())
    return Fraction(int(over), int(under)) if under else Fraction(0)


def numbers(a: Any, b: Any, matches: Any, crossed: Any, prefix: Any) -> tuple[Any, Any]:
    """The numerator and the denominator of similarities, from int64[n] or int."""
    over, under = matches * matches * (a + b) + (matches - crossed) * a * b, 3 * a * b * matches
    prefix = prefix * (over * RAISED.denominator >= under * RAISED.numerator)
    return over * (10 - prefix) + under * prefix, 10 * under


def jaro_winkler(a: list[str], b: list[str]) -> Floats:
    """The Jaro-Winkler similarities of the i-th strings of two batches; 1 for two empty strings. float64[n]"""
    same_size(len(a), len(b))
    return JaroWinkler().compare(strings_of([*a, *b]), np.arange(len(a)), np.arange(len(a)) + len(a), None)[0]
