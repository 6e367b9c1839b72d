"""The filter before the exact comparison of pairs, and the comparison, with Python's sets as the reference."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.kernels.compare import EXACT, UNCHECKED, CodeRule, SetRule, values
from likewise.kernels.sets import ODD_WORDS, odd_sketches
from likewise.stages.near import near
from likewise.stages.verify import in_memory, similar, verified

Sets = list[set[int]]


def words(sets: Sets) -> tuple[np.ndarray, np.ndarray]:
    """The sets as words: values uint64[k], offsets int64[n + 1]."""
    return np.array([value for each in sets for value in sorted(each)], np.uint64), np.cumsum([0, *map(len, sets)])


def sizes(sets: Sets) -> np.ndarray:
    return np.array(list(map(len, sets)), np.uint32)


@st.composite
def pairs_of_sets(draw: st.DrawFn) -> tuple[Sets, Sets, Fraction]:
    """Up to 20 pairs of sets, most of them close, with a threshold. Elements share bins of the odd sketch: they are equal modulo 512 now and then."""
    elements = st.integers(0, 12).map(lambda x: x if x % 3 else x + 512)
    left = draw(st.lists(st.sets(elements, min_size=1), max_size=20))
    right = [(each ^ draw(st.sets(elements, max_size=2))) or {1} for each in left]
    return left, right, draw(st.sampled_from([Fraction(1, 2), Fraction(3, 5), Fraction(4, 5), Fraction(1)]))


def similarity(a: set[int], b: set[int]) -> Fraction:
    return Fraction(len(a & b), len(a | b))


@settings(max_examples=200, deadline=None)
@given(pairs_of_sets())
def test_pairs_of_sets_are_compared_exactly_and_the_filter_loses_none(drawn):
    left, right, threshold = drawn
    rule = SetRule(threshold.numerator, threshold.denominator, EXACT)
    good = [similarity(a, b) >= threshold for a, b in zip(left, right, strict=True)]
    overlap, out_of = similar(words(left), words(right), rule)
    want = [(len(a & b), len(a | b)) if passing else (-1, 0) for a, b, passing in zip(left, right, good, strict=True)]
    assert list(zip(overlap.tolist(), out_of.tolist(), strict=True)) == want
    passed = near(sizes(left), odd_sketches(*words(left)), sizes(right), odd_sketches(*words(right)), rule)
    assert (passed | ~np.array(good, bool)).all()
    assert passed.tolist() == [may_be(a, b, threshold) for a, b in zip(left, right, strict=True)]


def may_be(a: set[int], b: set[int], threshold: Fraction) -> bool:
    """The bound by the definition of odd sketches: bins with an odd number of elements that differ, each for a different element at least."""
    odd = [{x % 512 for x in each if sum(y % 512 == x % 512 for y in each) % 2} for each in (a, b)]
    common = Fraction(len(a) + len(b) - len(odd[0] ^ odd[1]), 2)
    need = -(-threshold * (len(a) + len(b)) // (1 + threshold))  # i / (a + b - i) >= t
    return min(len(a), len(b)) >= need and common >= need


def test_a_pair_by_hand():
    """{1..5} and {1..4, 6}: 4 of 6, less than 4/5. By the odd sketches they differ in two elements or more, so at most 4 are common; i / (10 - i) is
    4/5 or more from 5 on. Of {1..5} and {1..4} 4 are common, of 5."""
    one, two, three = {1, 2, 3, 4, 5}, {1, 2, 3, 4, 6}, {1, 2, 3, 4}
    rule, left, right = SetRule(4, 5, EXACT), [one, one], [two, three]
    assert near(sizes(left), odd_sketches(*words(left)), sizes(right), odd_sketches(*words(right)), rule).tolist() == [False, True]
    assert [each.tolist() for each in similar(words(left), words(right), rule)] == [[-1, 4], [0, 5]]


def test_without_odd_sketches_sizes_decide():
    none = np.empty((0, ODD_WORDS), np.uint64)
    left, right = [{1, 2, 3}, {1, 2, 3}], [{7, 8, 9}, {1, 2, 3, 4, 5, 6, 7}]
    assert near(sizes(left), none, sizes(right), none, SetRule(1, 2, EXACT)).tolist() == [True, False]


def test_other_items_all_pass_the_filter_and_unchecked_pairs_too():
    none = np.empty((0, ODD_WORDS), np.uint64)
    size = np.ones(2, np.uint32)
    assert near(size, none, size, none, CodeRule(0, EXACT)).all()
    assert near(size, none, 9 * size, none, SetRule(1, 2, UNCHECKED)).all()


def test_codes_are_compared_by_their_bits():
    """0b1011 differs from 0b0010 in two bits, from 0b0100 in four."""
    left = np.array([0b1011, 0b1011], np.uint64), np.arange(3)
    right = np.array([0b0010, 0b0100], np.uint64), np.arange(3)
    overlap, out_of = similar(left, right, CodeRule(2, EXACT))
    assert out_of.tolist() == [1, 0] and overlap[1] == -1
    assert values(overlap[:1], distances=True).tolist() == [2.0]


def test_pairs_of_one_store_may_repeat_and_be_cut_into_parts(monkeypatch):
    monkeypatch.setattr("likewise.stages.verify.COMPARED_AT_ONCE", 2)
    rng = np.random.default_rng(3)
    sets = [set(rng.choice(30, 12, replace=False).tolist()) for _ in range(40)]
    left, right = rng.integers(0, 40, (2, 301))
    found = verified(in_memory(words(sets), SetRule(1, 3, EXACT)), left, right)
    want = [similarity(sets[a], sets[b]) for a, b in zip(left, right, strict=True)]
    assert [Fraction(int(i), int(u)) if u else None for i, u in zip(*found, strict=True)] == [s if s >= Fraction(1, 3) else None for s in want]


def test_no_pairs():
    assert [each.tolist() for each in similar(words([]), words([]), SetRule(1, 2, EXACT))] == [[], []]
