"""Removal from similar pairs, compared with the definition and with the rounds in which several machines would decide."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.kernels.compare import scores
from likewise.stages.settle import settled

Pairs = list[tuple[int, int, int, int]]


def definition(pairs: Pairs, n: int) -> dict[int, tuple[int, Fraction]]:
    """The removed items, each with its representative: the most similar earlier kept item, the first of several."""
    removed: dict[int, tuple[int, Fraction]] = {}
    for item in range(n):
        similar = [(Fraction(overlap, out_of), -a) for b, a, overlap, out_of in pairs if b == item and a not in removed]
        if similar:
            best, place = max(similar)
            removed[item] = (-place, best)
    return removed


def in_rounds(pairs: Pairs, n: int) -> set[int]:
    """The removed items, decided in rounds: an item is decided once no similar earlier item is undecided."""
    kept: set[int] = set()
    removed: set[int] = set()
    while len(kept) + len(removed) < n:
        undecided = set(range(n)) - kept - removed
        ready = undecided - {b for b, a, _, _ in pairs if a in undecided}
        gone = {b for b, a, _, _ in pairs if b in ready and a in kept}
        kept |= ready - gone
        removed |= gone
    return removed


@st.composite
def similar_pairs(draw: st.DrawFn) -> tuple[Pairs, int]:
    """Pairs of a few items in any order, some repeated, with few distinct ratios: ties, and equal ratios of different terms."""
    n = draw(st.integers(0, 30))
    if n < 2:
        return [], n
    made = {}
    for b, a, overlap, times in draw(st.lists(st.tuples(*[st.integers(0, n - 1)] * 2, st.integers(1, 4), st.integers(1, 3)), max_size=90)):
        if a != b:
            made[max(a, b), min(a, b)] = (overlap * times, 4 * times)
    once = [(*pair, *ratio) for pair, ratio in made.items()]
    return draw(st.permutations(once + once[: draw(st.integers(0, len(once)))])), n


def columns(pairs: Pairs) -> list[np.ndarray]:
    return list(np.array(pairs, np.int64).reshape(-1, 4).T)


@settings(max_examples=300, deadline=None)
@given(similar_pairs())
def test_settled_is_the_definition_and_equals_the_rounds(drawn):
    pairs, n = drawn
    found = settled(*columns(pairs), n)
    removed = np.flatnonzero(found.representative >= 0).tolist()
    assert {i: (int(found.representative[i]), Fraction(int(found.overlap[i]), int(found.out_of[i]))) for i in removed} == definition(pairs, n)
    assert set(removed) == in_rounds(pairs, n)
    kept = found.representative < 0
    assert (found.overlap[kept] == -1).all() and (found.out_of[kept] == 0).all()


def test_a_chain_removes_every_second_item():
    """0 - 1 - 2 - 3: 1 is a duplicate of 0, so 2 is kept, and 3 is a duplicate of 2."""
    assert settled(*columns([(3, 2, 9, 10), (2, 1, 9, 10), (1, 0, 9, 10)]), 4).representative.tolist() == [-1, 0, -1, 2]


def test_a_representative_is_the_most_similar_and_of_equals_the_earliest():
    """Item 3 is similar to 0 at 4/6, equally to 1 at 2/3, and less to 2 at 5/8. Item 4 is similar to 1 at 3/4, and less to 0 at 2/3; its pair with 3
    has no effect, because 3 is removed."""
    pairs = [(3, 1, 2, 3), (3, 2, 5, 8), (3, 0, 4, 6), (4, 0, 2, 3), (4, 1, 3, 4), (4, 3, 1, 1)]
    found = settled(*columns(pairs), 5)
    assert found.representative.tolist() == [-1, -1, -1, 0, 1]
    assert found.overlap.tolist() == [-1, -1, -1, 4, 3]
    assert found.out_of.tolist() == [0, 0, 0, 6, 4]


def test_ratios_are_compared_exactly():
    """(k - 1) / k is less than k / (k + 1) by 2^-60 for k = 2^30; as floats the two are equal."""
    k = 2**30
    assert (k - 1) / k == k / (k + 1)
    assert settled(*columns([(2, 0, k - 1, k), (2, 1, k, k + 1)]), 3).representative.tolist() == [-1, -1, 1]


def test_scores_of_distances_are_ratios_out_of_one():
    nearness = scores(np.array([0.5, 0.25, 0.25]), distances=True)
    found = settled(np.array([3, 3, 3]), np.array([0, 1, 2]), nearness, np.ones(3, np.int64), 4)
    assert found.representative.tolist() == [-1, -1, -1, 1]


def test_no_pair_and_no_item():
    assert settled(*columns([]), 3).representative.tolist() == [-1, -1, -1]
    assert settled(*columns([]), 0).representative.tolist() == []
