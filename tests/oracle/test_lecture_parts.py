"""The parts of `likewise.lecture` against brute force and against libraries."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Indel

import likewise as lw
from likewise import lecture
from likewise.errors import UsageError
from likewise.families import Line, MinHash
from likewise.lecture import Matrix, Signatures, Universal

SHORT = st.text("abcd", max_size=8)
BASKETS = st.lists(st.sets(st.integers(1, 8), max_size=5), max_size=10)


@given(SHORT, SHORT)
def test_an_alignment_has_the_edit_distance_and_both_strings(a, b):
    found = lecture.edit(a, b)
    assert found.distance == Indel.distance(a, b) == lw.similarity(a, b, by="edit")
    assert ("".join(found.first), "".join(found.second)) == (a, b)
    assert all(x == y or "" in (x, y) for x, y in zip(found.first, found.second, strict=True))
    assert found.distance == len(a) + len(b) - 2 * len(found.common)


@given(BASKETS, st.integers(1, 4), st.integers(1, 7))
def test_frequent_pairs_are_those_of_brute_force(baskets, support, buckets):
    counts = Counter(pair for basket in baskets for pair in combinations(sorted(basket), 2))
    frequent = {pair: count for pair, count in counts.items() if count >= support}
    simple = lecture.a_priori(baskets, support)
    hashed = lecture.pcy(baskets, support, lambda pair: 3 * pair[0] + pair[1], buckets)
    assert simple.pairs == hashed.pairs == frequent
    assert set(hashed.counted) <= set(simple.counted)
    assert sum(hashed.buckets) == sum(math.comb(len(basket), 2) for basket in baskets)


@given(st.lists(st.lists(st.integers(0, 2), min_size=3, max_size=3), min_size=6, max_size=6), st.sampled_from([(1, 6), (2, 3), (3, 2), (6, 1)]))
def test_candidates_agree_in_all_rows_of_one_band_or_more(rows, layout):
    bands, height = layout
    signatures = Signatures.of(rows)
    expected = {}
    for a, b in combinations(range(3), 2):
        same = [band + 1 for band in range(bands) if all(rows[i][a] == rows[i][b] for i in range(band * height, (band + 1) * height))]
        if same:
            expected[f"C{a + 1}", f"C{b + 1}"] = same
    assert signatures.banded(bands, height).candidates == expected


def test_buckets_are_drawn_with_their_columns():
    banding = Signatures.of([(1, 1, 2), (3, 3, 4)]).banded(1, 2)
    picture = banding.svg()
    assert banding._repr_svg_() == picture and not hasattr(banding, "_repr_html_")  # which a notebook would show instead
    assert picture.count("<rect") == 3  # the page and two buckets
    assert "C1, C2" in picture and "Candidates: C1 and C2" in picture


def test_elements_may_be_numbers_and_strings_at_once():
    assert Matrix.of([{10, "b"}, {9, "b"}]).rows == (9, 10, "b")
    assert lecture.a_priori([{1, "a"}, {"a", 1}], 2).pairs == {(1, "a"): 2}


def test_weights_may_be_a_mapping_or_a_list():
    assert lecture.weighted_jaccard([2, 4, 2, 3], [1, 2, 2, 2]) == lecture.weighted_jaccard({0: 2, 1: 4, 2: 2, 3: 3}, [1, 2, 2, 2]) == Fraction(7, 11)


def test_the_similarities_of_a_matrix_give_its_expected_errors():
    """Of 1/5 and 1, by one band of one row: a pair at 1/5 is a candidate in one case of five."""
    matrix = Matrix.of([{1, 2, 3}, {3, 4, 5}, {3, 4, 5}])
    assert matrix.similarities() == {("C1", "C2"): Fraction(1, 5), ("C1", "C3"): Fraction(1, 5), ("C2", "C3"): 1}
    expected = (1, 0, 2, pytest.approx(2 / 5))
    assert lecture.errors_of(matrix.similarities(), 1, 1, threshold=0.5) == expected
    assert lecture.errors_of(matrix.similarities().values(), 1, 1, threshold=0.5) == expected


@given(st.lists(st.sets(st.integers(0, 4)), min_size=1, max_size=4), st.permutations(range(5)))
def test_first_elements_stand_at_the_places_of_the_signature(sets, order):
    matrix = Matrix.of(sets, rows=range(5))
    (places,), (first,) = (zip(*s.columns.values(), strict=True) for s in (matrix.ordered(order), matrix.firsts(order)))
    assert [order[place - 1] if place < math.inf else None for place in places] == list(first)


def test_points_are_the_mean_shares_of_all_pairs_by_their_value():
    """Sets of 1 to 4 shifted elements: pairs at 1/3 and 3/5, and pairs with nothing in common, each in a step of its own."""
    sets = [{1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}, {9}, set()]
    family = MinHash(200, "classic")
    signatures = family.signature(sets)
    by_value = {Fraction(3, 5): [(0, 1), (1, 2)], Fraction(1, 3): [(0, 2)], Fraction(0): [(0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4), (3, 4)]}
    expected = {value: np.mean([(signatures[a] == signatures[b]).mean() for a, b in pairs]) for value, pairs in by_value.items()}
    found = lecture.measured(family, sets)
    assert np.array(found) == pytest.approx(np.array(sorted((float(value), share) for value, share in expected.items())))
    assert family.svg(points=found).count("<path d=") == 4  # three points, and one in the legend


def test_points_of_a_plan_are_shares_of_pairs_in_a_common_bucket():
    vectors = [[1, 0], [1, 0.01], [0, 1], [-1, 0.5]]
    plan = lw.plan(by="angle", within=10, dimension=2)
    found = lecture.measured(plan, vectors, steps=100)
    close, *far = [(float(lw.similarity(a, b, by="angle"))) for a, b in combinations(vectors, 2)]
    assert found[0] == (pytest.approx(close), 1.0)
    assert all(share == 0 for value, share in found[1:]) and [value for value, _ in found[1:]] == pytest.approx(
        sorted(d for d in far if d <= plan.span[1])
    )


def test_points_lie_within_the_chart():
    """Of lines it ends where the curve has come down."""
    family = Line(1.0)
    assert [value for value, _ in lecture.measured(family, [[0.0], [1.0], [1e6]])] == [1.0]
    assert lecture.measured(family, [[0.0], [1e6]]) == []


@given(st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3).filter(any), min_size=2, max_size=2))
def test_degrees_are_the_angle(vectors):
    assert lecture.degrees(*vectors) == pytest.approx(lw.similarity(*np.array(vectors, float), by="angle"), abs=1e-6)


@pytest.mark.parametrize("by", ["words:2", "chars:3", "whitespace:1", "lines:1", "paragraphs:1", "stopwords:2", "code:2", "bytes:4", "words:2/bag"])
def test_numbers_of_shingles_are_those_that_are_compared(by):
    text = "The cat of the house,  the DOG!\nif (a.b == 'c d') x = 10.5\r\n\r\nÄpfel und die Birnen\n"
    from likewise.verbs.similarity import shingle

    plain = by.removesuffix("/bag")
    assert sorted(lecture.shingle_numbers(text, by).values()) == sorted(shingle(text, plain, None, 0).values.tolist())


def test_few_bits_are_the_leading_ones():
    full, few = (lecture.shingle_numbers("to be or not to be", "words:2", bits=bits) for bits in (64, 10))
    assert {name: number >> 54 for name, number in full.items()} == few


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Matrix.of_bits(["10", "1"]), "rows of one length"),
        (lambda: Matrix.of_bits(["12"]), "digits 0 and 1"),
        (lambda: Matrix.of([{1}], rows=[2]), "not among the rows"),
        (lambda: Matrix.of([{1}]).permuted((1, 2)), "each of the 1 rows"),
        (lambda: Matrix.of(["ab"]).ordered("aa"), "each of the 2 rows once"),
        (lambda: Matrix.of([{1}]).similarity("C1", "C9"), "choose one of C1"),
        (lambda: Signatures.of([(1, 2)]).banded(2, 1), "at most 1 hash functions"),
        (lambda: Universal(1, 2, 8, 5), "not smaller than n"),
        (lambda: lecture.jaccard([], []), "undefined"),
        (lambda: lecture.clustered_jaccard({1}, {2}, {"A": {1}}), "element 2 belongs to no group"),
        (lambda: lecture.shingles("a", "cosine"), "unit of text"),
        (lambda: lecture.shingle_numbers("a", bits=65), "1 to 64 bits"),
        (lambda: lecture.hamming("a", "ab"), "one length"),
        (lambda: lecture.degrees([0, 0], [1, 0]), "no direction"),
        (lambda: lecture.sides([[1, 2]], [[1]]), "one length"),
        (lambda: lecture.on_line([[1]], [1], 0), "above 0"),
        (lambda: lecture.histogram([3], [lambda x: x]), "values 0 and 1"),
        (lambda: lecture.shingles(["a"]), "give one text"),
        (lambda: lecture.one_to_one([1], [1, 2]), "1 and 2 bins"),
        (lambda: lecture.pcy([{1, 2}], 1, hash, 0), "1 or more"),
        (lambda: lecture.s_curve(2, 2, [2]), "similarity 2"),
        (lambda: lecture.s_curves([(2, 2)], [-1]), "similarity -1"),
        (lambda: lecture.measured(MinHash(), [{1}]), "give 2 to 500"),
        (lambda: lecture.measured("MinHash", [{1}, {2}]), "give a family"),
        (lambda: lecture.measured(MinHash(), [{1}, {2}], steps=0), "0 steps"),
        (lambda: lecture.errors_of([2], 1, 1, 0.5), "from 0 to 1"),
        (lambda: lecture.errors_of([0.5], 1, 1, 5), "similarity 5"),
        (lambda: lecture.s_curve(0, 5), "0 bands of 5 rows: give whole numbers from 1"),
        (lambda: lecture.s_curves([(20, 2.5)]), "20 bands of 2.5 rows: give whole numbers from 1"),
        (lambda: lecture.s_curve(20, 5).column("found"), "no column 'found'; choose one of s, one band agrees"),
        (lambda: lecture.clustered_jaccard({1}, {2}, {"A": {1, 2}, "B": {2}}), "element 2 belongs to A and to B"),
        (lambda: lecture.weighted_jaccard({"a": -1}, {"a": 2}), "weight -1"),
        (lambda: lecture.a_priori([{1, 2}], 0), "a support of 0"),
        (lambda: lecture.pcy([{1, 2}], 0, hash, 1), "a support of 0"),
        (lambda: lecture.on_line([[1, 2]], [0, 0], 1), "no direction"),
        (lambda: Matrix.of([{1}]).one_pass(5), "5 is not a hash function"),
        (lambda: Universal.drawn(6, p=16), "a prime p"),
    ],
)
def test_wrong_values_are_refused(wrong, message):
    with pytest.raises(UsageError, match=message):
        wrong()


def test_tables_are_html_with_escaped_names():
    shown = Matrix.of({"<b>": "a"})._repr_html_()
    assert "&lt;b&gt;" in shown and "<td><bdi>a</bdi></td><td><bdi>1</bdi></td>" in shown
