"""The worked values of SPEC 3 and 4, by the textbook in a few lines and, where that means anything, by the product."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

import likewise as lw
from likewise.families import MinHash
from likewise.planning import Plan, chance


def minhash(ranks: dict, columns: list[set]) -> tuple[int, ...]:
    """The textbook: of each set, the least rank that one of its rows has."""
    return tuple(min(ranks[row] for row in column) for column in columns)


def jaccard(a: set, b: set) -> Fraction:
    return Fraction(len(a & b), len(a | b))


def estimates(signatures: list[tuple[int, ...]]) -> dict[tuple[int, int], float]:
    """The share of agreeing positions for each pair of columns, counted from 1; one tuple of all columns for each hash."""
    rows = np.array(signatures, np.uint32).T.copy()
    family = MinHash(len(signatures))
    return {(a + 1, b + 1): family.estimate(rows[a], rows[b]) for a, b in combinations(range(len(rows)), 2)}


def test_the_matrix_of_seven_rows():
    matrix = ["1010", "1001", "0101", "0101", "0101", "1010", "1010"]
    columns = [{row for row, bits in enumerate(matrix, 1) if bits[c] == "1"} for c in range(4)]
    orders = [(2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5)]
    signatures = [minhash(dict(enumerate(order, 1)), columns) for order in orders]
    assert signatures == [(2, 1, 2, 1), (2, 1, 4, 1), (1, 2, 1, 2)]

    similarity = {(a + 1, b + 1): jaccard(columns[a], columns[b]) for a, b in combinations(range(4), 2)}
    assert similarity == {(1, 2): 0, (1, 3): Fraction(3, 4), (1, 4): Fraction(1, 7), (2, 3): 0, (2, 4): Fraction(3, 4), (3, 4): 0}
    assert estimates(signatures) == {(1, 2): 0, (1, 3): 2 / 3, (1, 4): 0, (2, 3): 0, (2, 4): 1, (3, 4): 0}


def test_the_sets_of_letters():
    columns = [set("ABFG"), set("CDE"), set("AEFG"), set("BCDE")]
    signatures = [minhash({letter: place for place, letter in enumerate(order, 1)}, columns) for order in ("ACGFBED", "DBACFGE", "CDGFABE")]
    assert signatures == [(1, 2, 1, 2), (2, 1, 3, 1), (3, 1, 3, 1)]
    similarity = {(a + 1, b + 1): jaccard(columns[a], columns[b]) for a, b in combinations(range(4), 2)}
    assert [similarity[pair] for pair in ((1, 2), (1, 3), (1, 4))] == [0, Fraction(3, 5), Fraction(1, 7)]
    assert [similarity[pair] for pair in ((2, 3), (2, 4), (3, 4))] == [Fraction(1, 6), Fraction(3, 4), Fraction(1, 7)]


@pytest.mark.parametrize(
    ("functions", "columns", "expected"),
    [
        ([lambda x: x % 5, lambda x: (2 * x + 1) % 5], [{1, 3, 4}, {2, 3, 5}], [(1, 2), (0, 0)]),
        ([lambda x: (x + 1) % 5, lambda x: (2 * x + 3) % 5], [{0, 2, 3}, {1, 2, 4}], [(1, 2), (0, 0)]),
        ([lambda x: (x + 1) % 5, lambda x: (3 * x + 1) % 5], [{0, 3}, {2}, {1, 4}, {0, 2, 3}], [(1, 0), (3, 2), (0, 3), (1, 0)]),
    ],
)
def test_one_pass(functions, columns, expected):
    """One row after the other, each function's value kept where it is below what stands there."""
    signatures = [[np.inf] * len(functions) for _ in columns]
    for row in sorted(set().union(*columns)):
        for c, column in enumerate(columns):
            if row in column:
                signatures[c] = [min(have, h(row)) for have, h in zip(signatures[c], functions, strict=True)]
    assert [tuple(signature) for signature in signatures] == expected


def test_one_pass_values():
    assert [(x + 1) % 5 for x in range(5)] == [1, 2, 3, 4, 0]
    assert [(3 * x + 1) % 5 for x in range(5)] == [1, 4, 2, 0, 3]
    assert jaccard({0, 3}, {0, 2, 3}) == Fraction(2, 3)


@pytest.mark.parametrize(
    ("similarity", "expected"), [(0.2, 0.0064), (0.3, 0.0475), (0.4, 0.1860), (0.5, 0.4701), (0.6, 0.8019), (0.7, 0.9748), (0.8, 0.99964)]
)
def test_the_curve_of_20_bands_of_5_rows(similarity, expected):
    plan = Plan(20, 5, Fraction(4, 5), 0.99)
    assert plan.curve(similarity) == pytest.approx(expected, abs=6e-5)
    assert chance(similarity, 20, 5) == pytest.approx(1 - (1 - similarity**5) ** 20, rel=1e-12)


def test_what_20_bands_of_5_rows_miss():
    assert round(0.8**5, 3) == 0.328
    assert 1 / (1 - chance(0.8, 20, 5)) == pytest.approx(2800, rel=0.02)
    assert Plan(20, 5, Fraction(4, 5), 0.99).approximate_threshold == pytest.approx((1 / 20) ** (1 / 5))


def test_four_bands_of_four_rows():
    """SPEC 5: AND of 4, then OR of 4."""
    expected = [0.0004, 0.0064, 0.0320, 0.0985, 0.2275, 0.4260, 0.6666, 0.8785, 0.9860]
    assert [round(chance(p / 10, 4, 4), 4) for p in range(1, 10)] == expected


def test_jaccard_of_the_worked_sets_and_bit_vectors():
    """SPEC 1: {0,1,2,5,6} and {0,2,3,5,7,9} share 3 of 8; 10111 and 10011, as the places of their ones, 3 of 4."""
    assert lw.similarity("0 1 2 5 6", "0 2 3 5 7 9", by="words:1") == 3 / 8
    places = [" ".join(str(place) for place, bit in enumerate(bits) if bit == "1") for bits in ("10111", "10011")]
    assert lw.similarity(*places, by="words:1") == 3 / 4


def test_short_and_empty_items():
    """SPEC 8: fewer than k tokens are one shingle of all of them; no token is no shingle, and two empty sets have no similarity."""
    assert lw.similarity("one two", "one two", by="words:5") == 1.0
    assert lw.similarity("one two", "one two three", by="words:5") == 0.0
    assert math.isnan(lw.similarity("", "...", by="words:5"))
