"""The worked examples of a lecture on similar items: by the textbook in a few lines and, where that means anything, by likewise.

The book is Leskovec, Rajaraman and Ullman, Mining of Massive Datasets, chapter 3. Known misprints of it and of texts that follow it stand at the end.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import likewise as lw
from likewise import lecture
from likewise.errors import UsageError
from likewise.families import Bits, Hyperplane, Line, MinHash, Stripe, Threshold, WeightedMinHash
from likewise.lecture import Matrix, Universal, jaccard
from likewise.planning import Plan, probability
from likewise.verbs.similarity import shingle

TENTHS = [tenth / 10 for tenth in range(1, 10)]


def rounded(values, digits: int = 4) -> list[float]:
    return [round(value, digits) for value in values]


# Shingles


def fingerprints(text: str, by: str) -> Counter[int]:
    """The shingles as likewise hashes them, to 64 bits, with their counts."""
    return Counter(shingle(text, by, None, 0).values.tolist())


@pytest.mark.parametrize(
    ("text", "by", "expected"),
    [
        ("abcab", "chars:2", ["ab", "bc", "ca"]),
        ("abcdabd", "chars:2", ["ab", "bc", "cd", "da", "bd"]),
        ("a rose is a rose is a rose", "words:4", ["a rose is a", "rose is a rose", "is a rose is"]),
    ],
)
def test_shingles(text, by, expected):
    assert lecture.shingles(text, by) == expected
    assert fingerprints(text, by) == sum((fingerprints(one, by) for one in expected), Counter())
    assert sorted(lecture.shingle_numbers(text, by).values()) == sorted(fingerprints(text, by))


def test_a_bag_of_shingles_counts():
    assert lecture.bag("abcab", "chars:2") == {"ab": 2, "bc": 1, "ca": 1}
    assert lecture.weighted_jaccard(lecture.bag("abcab", "chars:2"), lecture.bag("bcab", "chars:2")) == Fraction(3, 4)
    assert lw.similarity("abcab", "bcab", by="chars:2") == 1  # the same three shingles,
    assert lw.similarity("abcab", "bcab", by="chars:2/bag") == 3 / 4  # one of them once more


def test_how_many_shingles_there_can_be():
    """27 letters, runs of five: so many that a given one is in a given message by a small chance only."""
    assert 27**5 == 14_348_907


def test_short_and_empty_items():
    """Fewer than k tokens are one shingle of all of them; no token is no shingle, and two empty sets have no similarity."""
    assert lw.similarity("one two", "one two", by="words:5") == 1.0
    assert lw.similarity("one two", "one two three", by="words:5") == 0.0
    assert math.isnan(lw.similarity("", "...", by="words:5"))


# Jaccard similarity


def test_jaccard():
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    assert jaccard(a, b) == Fraction(3, 8)
    assert lw.similarity(a, b, by="elements") == lw.similarity("0 1 2 5 6", "0 2 3 5 7 9", by="words:1") == 3 / 8


def test_clustered_jaccard():
    """The similarity of the sets of groups that the elements belong to: {C1, C3} and {C1, C2, C3, C4}."""
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    members = {"C1": {0, 1, 2}, "C2": {3, 4}, "C3": {5, 6}, "C4": {7, 8, 9}}
    groups = {element: name for name, elements in members.items() for element in elements}
    assert jaccard({groups[x] for x in a}, {groups[x] for x in b}) == lecture.clustered_jaccard(a, b, members) == Fraction(2, 4)
    assert lw.similarity(a, b, by="elements", groups=groups) == 2 / 4


def test_bit_vectors():
    """10111 and 10011: three ones in common, four in one or the other. With words of bits that is AND, OR and counting."""
    a, b = 0b10111, 0b10011
    assert ((a & b).bit_count(), (a | b).bit_count()) == (3, 4)
    assert lw.similarity(*(np.array(list(bits)) == "1" for bits in ("10111", "10011")), by="elements") == 3 / 4


# MinHash


def by_pair(value, columns: list) -> dict[tuple[int, int], float]:
    """A value of each two columns, counted from 1."""
    return {(a + 1, b + 1): value(columns[a], columns[b]) for a, b in combinations(range(len(columns)), 2)}


def rows_of(signatures: lecture.Signatures) -> list[tuple[int, ...]]:
    """For each hash function the values of all columns."""
    return list(zip(*signatures.columns.values(), strict=True))


def estimates(signatures: lecture.Signatures) -> dict[tuple[int, int], float]:
    """The share of agreeing positions of each two columns, by the family of likewise."""
    return by_pair(MinHash(len(signatures.functions)).estimate, [np.array(column, np.uint32) for column in signatures.columns.values()])


#: A characteristic matrix: row 1 is in the first and the third set.
MATRIX = Matrix.of_bits(["1010", "1001", "0101", "0101", "0101", "1010", "1010"])
COLUMNS = list(MATRIX.sets.values())


def test_a_matrix_and_three_permutations():
    signatures = MATRIX.permuted((2, 3, 7, 6, 1, 5, 4), (4, 2, 1, 3, 6, 7, 5), (3, 4, 7, 2, 6, 1, 5))  # the place of row 1, of row 2, ...
    assert rows_of(signatures) == [(2, 1, 2, 1), (2, 1, 4, 1), (1, 2, 1, 2)]

    similarity = by_pair(jaccard, COLUMNS)
    assert similarity == {(1, 2): 0, (1, 3): Fraction(3, 4), (1, 4): Fraction(1, 7), (2, 3): 0, (2, 4): Fraction(3, 4), (3, 4): 0}
    assert estimates(signatures) == {(1, 2): 0, (1, 3): 2 / 3, (1, 4): 0, (2, 3): 0, (2, 4): 1, (3, 4): 0}


def test_over_all_permutations_the_probability_is_the_similarity():
    """Pr[h(A) = h(B)] = J(A, B): of the 5,040 orders of seven rows, three in four give columns 1 and 3 the same MinHash, one in seven 1 and 4."""
    signatures = MATRIX.permuted(*permutations(range(7)))
    assert {pair: signatures.similarity(*pair) for pair in signatures.pairs()} == {pair: MATRIX.similarity(*pair) for pair in signatures.pairs()}


#: Sets of the rows A to G.
S = [set("ABFG"), set("CDE"), set("AEFG"), set("BCDE")]


@pytest.mark.parametrize(("pair", "types"), [("C1 C3", (3, 1, 0, 3)), ("C2 C4", (3, 0, 1, 3)), ("C1 C4", (1, 3, 3, 0)), ("C1 C2", (0, 4, 3, 0))])
def test_types_of_rows(pair, types):
    """a: 1 1, b: 1 0, c: 0 1, d: 0 0; the similarity is a / (a + b + c)."""
    found = MATRIX.types(*pair.split())
    assert found == types and sum(found) == 7
    assert found.similarity == MATRIX.similarity(*pair.split())


def test_a_matrix_with_letters():
    signatures = Matrix.of(S).ordered("ACGFBED", "DBACFGE", "CDGFABE")
    assert rows_of(signatures) == [(1, 2, 1, 2), (2, 1, 3, 1), (3, 1, 3, 1)]
    similarity = by_pair(jaccard, S)
    assert [similarity[pair] for pair in ((1, 2), (1, 3), (1, 4))] == [0, Fraction(3, 5), Fraction(1, 7)]
    assert [similarity[pair] for pair in ((2, 3), (2, 4), (3, 4))] == [Fraction(1, 6), Fraction(3, 4), Fraction(1, 7)]


@pytest.mark.parametrize(
    ("functions", "columns", "expected"),
    [
        ([Universal(1, 0, 5), Universal(2, 1, 5)], [{1, 3, 4}, {2, 3, 5}], [(1, 2), (0, 0)]),
        ([Universal(1, 1, 5), Universal(2, 3, 5)], [{0, 2, 3}, {1, 2, 4}], [(1, 2), (0, 0)]),
        ([Universal(1, 1, 5), Universal(3, 1, 5)], [{0, 3}, {2}, {1, 4}, {0, 2, 3}], [(1, 0), (3, 2), (0, 3), (1, 0)]),
    ],
    ids=["rows from 1", "rows from 0", "four sets"],
)
def test_one_pass_over_rows_makes_the_signatures(functions, columns, expected):
    assert list(Matrix.of(columns).one_pass(*functions).signatures.columns.values()) == expected


def test_letters_cannot_be_hashed_by_numbers():
    """The example of Mining of Massive Datasets (figure 3.4) names rows by letters as well, and hashes their numbers from 0."""
    columns = {"S1": "ad", "S2": "c", "S3": "bde", "S4": "acd"}
    functions = Universal(1, 1, 5), Universal(3, 1, 5)
    with pytest.raises(UsageError, match=r"row 'a': a hash function does not take it; number the rows, such as 0, 1, 2, ..."):
        Matrix.of(columns).one_pass(*functions)
    numbered = {name: {"abcde".index(letter) for letter in letters} for name, letters in columns.items()}
    assert rows_of(Matrix.of(numbered).one_pass(*functions).signatures) == [(1, 3, 0, 1), (0, 2, 0, 0)]


@given(
    st.lists(st.integers(0, 2**13 - 1), min_size=2, max_size=5), st.lists(st.tuples(st.integers(1, 16), st.integers(0, 16)), min_size=1, max_size=4)
)
def test_one_pass_finds_the_minimum_over_each_set(bits, factors):
    columns = [{row for row in range(13) if number >> row & 1} for number in bits]
    functions = [Universal(a, b, 17) for a, b in factors]
    found = Matrix.of(columns, range(13)).one_pass(*functions).signatures.columns.values()
    assert list(found) == [tuple(min((h(x) for x in column), default=math.inf) for h in functions) for column in columns]


def test_universal_functions_collide_with_one_in_n_or_less():
    """Over all a and b with p = 11 and n = 4, of any two numbers (Carter and Wegman 1979)."""
    members = [Universal(a, b, 4, 11) for a in range(1, 11) for b in range(11)]
    for x, y in combinations(range(11), 2):
        assert sum(h(x) == h(y) for h in members) <= len(members) / 4


def test_equal_signatures_of_unequal_sets():
    """The first and last of the four sets above: two functions are too few to tell 2/3 from 1."""
    assert [(x + 1) % 5 for x in range(5)] == [1, 2, 3, 4, 0]
    assert [(3 * x + 1) % 5 for x in range(5)] == [1, 4, 2, 0, 3]
    assert jaccard({0, 3}, {0, 2, 3}) == Fraction(2, 3)


def test_the_standard_error_of_an_estimate():
    assert MinHash(256).standard_error(1 / 3) == pytest.approx(math.sqrt(1 / 3 * 2 / 3 / 256))


# Banding


def test_a_million_items_have_half_a_trillion_pairs():
    assert math.comb(10**6, 2) == pytest.approx(5 * 10**11, rel=1e-5)


@pytest.mark.parametrize(
    ("similarity", "expected"), [(0.2, 0.0064), (0.3, 0.0475), (0.4, 0.1860), (0.5, 0.4701), (0.6, 0.8019), (0.7, 0.9748), (0.8, 0.99964)]
)
def test_twenty_bands_of_five_rows(similarity, expected):
    found = 1 - (1 - similarity**5) ** 20
    assert found == pytest.approx(expected, abs=5.1e-5)
    plan, family = Plan(20, 5, Fraction(4, 5), 0.99), MinHash().all_of(5).any_of(20)
    for ours in (probability(similarity, 20, 5), plan.curve(similarity), family.probability(similarity)):
        assert ours == pytest.approx(found, rel=1e-9)


def test_one_pair_in_about_2800_is_missed():
    """At 0.8 a band agrees with chance 0.8^5; all twenty fail together with (1 - 0.328)^20."""
    assert round(0.8**5, 3) == 0.328
    assert round((1 - 0.328) ** 20, 5) == 0.00035
    assert round((1 - 0.8**5) ** 20, 5) == 0.00036
    assert 1 / (1 - probability(0.8, 20, 5)) == pytest.approx(2800, rel=0.005)


def test_where_the_curve_is_steepest_about():
    """(1/b)^(1/r), for 20 bands of 5 rows 0.55. There the chance is 1 - (1 - 1/b)^b, near 1 - 1/e."""
    plan = Plan(20, 5, Fraction(4, 5), 0.99)
    assert plan.approximate_threshold == pytest.approx((1 / 20) ** (1 / 5))
    assert round(plan.approximate_threshold, 2) == 0.55
    assert plan.curve(plan.approximate_threshold) == pytest.approx(1 - (1 - 1 / 20) ** 20)


# Families, ANDs and ORs


def test_and_then_or():
    family = MinHash().all_of(4).any_of(4)
    expected = [0.0004, 0.0064, 0.0320, 0.0985, 0.2275, 0.4260, 0.6666, 0.8785, 0.9860]
    assert rounded(1 - (1 - p**4) ** 4 for p in TENTHS) == rounded(family.probability(TENTHS)) == expected


def test_or_then_and():
    family = MinHash().any_of(4).all_of(4)
    expected = [0.0140, 0.1215, 0.3334, 0.5740, 0.7725, 0.9015, 0.9680, 0.9936, 0.9996]
    assert rounded((1 - (1 - p) ** 4) ** 4 for p in TENTHS) == rounded(family.probability(TENTHS)) == expected


@pytest.mark.parametrize(
    ("family", "functions", "p1", "p2"),
    [
        (MinHash(1).all_of(1), 1, "0.8", "0.2"),
        (MinHash().all_of(4).any_of(4), 16, "0.8785", "0.0064"),
        (MinHash().any_of(4).all_of(4), 16, "0.9936", "0.1215"),
        (MinHash().any_of(4).all_of(4).all_of(4).any_of(4), 256, "0.9999996", "0.0008715"),
    ],
    ids=["one function", "and, or", "or, and", "or, and, and, or"],
)
def test_what_becomes_of_a_family_that_is_2_8_8_2_sensitive(family, functions, p1, p2):
    """(.2, .8, .8, .2): within distance .2 two items agree with chance .8 at least, from .8 on with .2 at most."""
    made = family.sensitivity(0.2, 0.8)
    assert family.functions == functions
    assert (made.d1, made.d2) == (0.2, 0.8)
    assert (f"{made.p1:.{len(p1) - 2}f}", f"{made.p2:.{len(p2) - 2}f}") == (p1, p2)


# One function of other families


def test_the_probability_of_one_function():
    assert MinHash().probability(distance=0.25) == WeightedMinHash().probability(distance=0.25) == 0.75
    assert Hyperplane().probability(distance=60) == 2 / 3  # degrees: 1 - 60/180
    assert Hyperplane().probability([1.0, 0.0, -1.0]).tolist() == [1, 0.5, 0]  # of a cosine: the same, right, and opposite directions
    assert Bits(64).probability(16) == 1 - 16 / 64
    assert Threshold(0, 10, dimension=4).probability(8) == 1 - 8 / 40


def test_a_family_is_sensitive():
    """Hyperplanes are (d1, d2, 1 - d1/180, 1 - d2/180)-sensitive, bits of n (d1, d2, 1 - d1/n, 1 - d2/n)."""
    assert Hyperplane().sensitivity(30, 120) == pytest.approx((30, 120, 5 / 6, 1 / 3))
    assert Bits(100).sensitivity(10, 50) == (10, 50, 0.9, 0.5)


def test_ands_and_ors_of_any_family():
    """Three hyperplanes in each of five bands: at 60 degrees a plane agrees with 2/3, a band with 8/27."""
    assert Hyperplane().all_of(3).any_of(5).probability(distance=60) == pytest.approx(1 - (1 - 8 / 27) ** 5)


def test_hyperplanes_of_plus_and_minus_ones():
    """They stand for Gaussian ones with many balanced coordinates only: (1, 0) and (2, 1), which are 27 degrees apart, always agree."""
    x, y = (1, 0), (2, 1)
    degrees = lw.similarity(x, y, by="angle")
    assert (round(degrees), round(Hyperplane().probability(distance=degrees), 2)) == (27, 0.85)
    assert all((v @ x >= 0) == (v @ y >= 0) for v in map(np.array, product((-1, 1), repeat=2)))
    share = {mode: Hyperplane(2000, mode).agreement(*Hyperplane(2000, mode).signature([x, y])) for mode in ("signs", "gaussian")}
    assert share == {"signs": 1, "gaussian": pytest.approx(0.85, abs=0.03)}


@pytest.mark.parametrize("distance", [0.5, 1.0, 4.0])
def test_lines_cut_into_buckets(distance):
    """Projected onto a random line, points at distance d lie t·d apart, t Gaussian for L2 and Cauchy for L1. A cut falls between them with
    chance t·d / width, or surely. Here the mean over t in small steps, beside the closed formulas."""
    width, step = 4.0, 1e-4
    t = np.arange(step / 2, 10, step)  # beyond 10 a Gaussian has nothing, and no two points share a bucket
    gaussian = math.sqrt(2 / math.pi) * np.exp(-(t**2) / 2) * step
    together = np.clip(1 - t * distance / width, 0, None)
    assert Line(width).probability(distance) == pytest.approx((gaussian * together).sum(), abs=1e-6)
    cauchy = 2 / math.pi / (1 + t**2) * step
    assert Line(width, norm="l1").probability(distance) == pytest.approx((cauchy * together).sum(), abs=1e-6)
    same_parity = abs(1 - t * distance / width % 2)
    assert Stripe(width).probability(distance) == pytest.approx((gaussian * same_parity).sum(), abs=1e-6)


def in_the_plane(distance: float, width: float) -> float:
    """The chance that two points of the plane fall into one bucket of a randomly directed line: a mean over its directions."""
    directions = (np.arange(100_000) + 0.5) / 100_000 * math.pi / 2
    return float(np.clip(1 - distance * np.cos(directions) / width, 0, None).mean())


def test_a_line_in_the_plane():
    """(a/2, 2a, 1/2, 1/3)-sensitive, with buckets of width a: at a/2 no direction separates by more than half. At 2a points meet only where
    the line is 60 degrees or more off theirs, for one direction in three, and then not surely."""
    a = 1.0
    assert all(in_the_plane(distance, a) >= 1 / 2 for distance in np.linspace(0.01, a / 2))
    assert all(in_the_plane(distance, a) <= 1 / 3 for distance in np.linspace(2 * a, 20))
    assert in_the_plane(a / 2, a) == pytest.approx(1 - 1 / math.pi)
    assert in_the_plane(2 * a, a) == pytest.approx(1 / 3 - 4 / math.pi * (1 - math.sqrt(3) / 2))


# Random histograms


def test_histograms_match_by_minima_and_by_products():
    x, y = np.array([2, 4, 2, 3]), np.array([1, 2, 2, 2])
    assert np.minimum(x, y).sum() == 1 + 2 + 2 + 2 == 7  # one to one
    assert x @ y == 2 + 8 + 4 + 6 == 20  # one to many
    assert (lecture.one_to_one(x.tolist(), y.tolist()), lecture.one_to_many(x.tolist(), y.tolist())) == (7, 20)


# Misprints in circulation: what is printed, and what is right


def test_misprints_of_the_curve():
    assert round(1 - (1 - 0.00243) ** 20, 4) == 0.0475  # not .00474
    assert round(0.8**5, 3) == 0.328 != round(0.8**2, 3)  # (.8)^5, not (.8)^2
    assert round(100 * probability(0.8, 20, 5), 3) == 99.964  # per cent of pairs at 0.8


def test_misprint_of_or_and():
    """(1 - (1 - p)^4)^4, not 1 - (1 - p^4)^4, which is AND-OR."""
    assert MinHash().any_of(4).all_of(4).probability(0.2) == pytest.approx((1 - (1 - 0.2) ** 4) ** 4)
    assert MinHash().all_of(4).any_of(4).probability(0.2) == pytest.approx(1 - (1 - 0.2**4) ** 4)


def test_misprints_of_the_matrix_with_letters():
    assert jaccard(S[1], S[2]) == Fraction(1, 6)  # not 0: both hold E
    assert jaccard(S[2], S[3]) == Fraction(1, 7)  # not 0: the same


def test_misprint_of_the_shifted_example():
    """With rows from 0 the function that gives the same table is 2x + 3; 2x + 1 gives another."""
    matrix, h = Matrix.of([{0, 2, 3}, {1, 2, 4}]), Universal(1, 1, 5)
    assert [*matrix.one_pass(h, Universal(2, 3, 5)).signatures.columns.values()] == [(1, 2), (0, 0)]
    assert [*matrix.one_pass(h, Universal(2, 1, 5)).signatures.columns.values()] == [(1, 0), (0, 0)]


def test_misprint_of_the_line():
    """The line in the plane tells distances apart that are as 1 to 4, not as 1 to 2: from a on, points are still together too often."""
    assert in_the_plane(1.0, 1.0) > 1 / 3


def test_a_candidate_agrees_in_one_band_or_more():
    """Not in more than one: of these hundred functions, five of one band agree and no others."""
    family = MinHash(100)
    a = family.signature([range(50)])[0]
    b = a + np.uint32(1)
    b[15:20] = a[15:20]
    same = family.band_keys_of(a, 20, 5)[:, 0] == family.band_keys_of(b, 20, 5)[:, 0]
    assert same.tolist() == [band == 3 for band in range(20)]
    amplified = family.all_of(5).any_of(20)
    assert amplified.agree(*(family.band_keys_of(side, 20, 5)[:, 0] for side in (a, b)))
