"""Chamfer and assignment of sets of features: beside all pairings, beside plain numpy, and what both must be whatever the sets."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from compiled import alone
from likewise.errors import UsageError
from likewise.items.features import features
from likewise.kernels.assignment import pair_up
from likewise.measures.assignment import assignment
from likewise.measures.chamfer import BY, chamfer, valued

pair_up_alone = alone(pair_up)

chamfer_module = import_module("likewise.measures.chamfer")
by_all = pytest.mark.parametrize("by", BY)


def some_sets(count: int, seed: int, dimension: int = 5, most: int = 90) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    return [draw.normal(size=(draw.integers(1, most), dimension)).astype(np.float32) for _ in range(count)]


def values_of(x: np.ndarray, y: np.ndarray, by: str) -> np.ndarray:
    """The value of each pair of features, in float64."""
    x, y = x.astype(float), y.astype(float)
    if by == "l2":
        return np.sqrt(((x[:, None] - y) ** 2).sum(axis=2))
    if by == "cosine":
        x, y = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (x, y))
    return x @ y.T


def best(values: np.ndarray, by: str, axis: int) -> float:
    return float((values.min(axis=axis) if by == "l2" else values.max(axis=axis)).mean())


@by_all
@pytest.mark.parametrize("dimension", [1, 2, 5, 16, 33])
def test_chamfer_by_numpy(by, dimension):
    """Sets of 1 to 89 features, so of whole and broken tiles on both sides."""
    a, b = some_sets(30, 1, dimension), some_sets(30, 2, dimension)
    tables = [values_of(x, y, by) for x, y in zip(a, b, strict=True)]
    one_way = [best(table, by, 1) for table in tables]
    back = [best(table, by, 0) for table in tables]
    np.testing.assert_allclose(chamfer(features(a), features(b), by=by), one_way, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(chamfer(features(a), features(b), by=by, both=True), np.add(one_way, back), rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(chamfer(features(b), features(a), by=by), back, rtol=2e-6, atol=2e-6)


@by_all
def test_pairs_inside_a_collection_are_compared_once(by, monkeypatch):
    """Both ways added, a value has no direction: the same bits as for two collections, and no pair is looked at twice."""
    a = features(some_sets(12, 5))
    left, right = (side.ravel() for side in np.meshgrid(np.arange(12), np.arange(12)))
    seen = []

    def counting(kernel, a, b, left, right, *more):
        seen.append(len(left))
        return valued(kernel, a, b, left, right, *more)

    monkeypatch.setattr(chamfer_module, "valued", counting)
    apart = chamfer(a, (a[0], a[1].copy()), left, right, by=by, both=True)
    assert (chamfer(a, a, left, right, by=by, both=True) == apart).all()
    assert seen == [144, 12 * 13 // 2]
    assert len(chamfer(a, a, [], [], by=by, both=True)) == 0


@pytest.mark.parametrize("sizes", [(1, 1), (3, 4), (4, 32), (5, 33), (8, 64), (31, 95)])
def test_chamfer_at_the_edges_of_tiles(sizes):
    draw = np.random.default_rng(3)
    a, b = (draw.normal(size=(size, 4)).astype(np.float32) for size in sizes)
    table = values_of(a, b, "l2")
    assert chamfer(features([a]), features([b]), both=True)[0] == pytest.approx(best(table, "l2", 0) + best(table, "l2", 1), rel=2e-6)


@by_all
def test_a_set_and_itself(by):
    """A distance of 0 exactly, by pairing too; a cosine of 1."""
    sets = features(some_sets(12, 4))
    for value in (chamfer(sets, sets, by=by), assignment(sets, sets, by=by)):
        if by == "l2":
            assert (value == 0).all()
        elif by == "cosine":
            np.testing.assert_allclose(value, 1, rtol=1e-6)


@by_all
def test_pairs_of_sets_that_are_named(by):
    """left and right choose sets, and threads change nothing; a value is that of its pair alone."""
    a, b = features(some_sets(20, 5)), features(some_sets(15, 6))
    draw = np.random.default_rng(7)
    left, right = draw.integers(0, 20, 300), draw.integers(0, 15, 300)
    values = {}
    for function in (chamfer, assignment):
        values[function] = function(a, b, left, right, by=by)
        with ThreadPoolExecutor(3) as pool:
            assert (function(a, b, left, right, by=by, run=pool.map) == values[function]).all()
    for k in range(0, 300, 29):
        x, y = (features([part]) for part in (some_sets(20, 5)[left[k]], some_sets(15, 6)[right[k]]))
        assert chamfer(x, y, by=by)[0] == values[chamfer][k]
        assert assignment(x, y, by=by)[0] == values[assignment][k]


@st.composite
def small_costs(draw):
    columns = draw(st.integers(1, 6))
    return draw(arrays(np.int8, (draw(st.integers(1, columns)), columns), elements=st.integers(0, 9)))


def assign(costs):
    column_of = np.empty(len(costs), np.int64)
    pair_up_alone(costs, column_of)
    return column_of


@settings(max_examples=300, deadline=None)
@given(small_costs())
def test_the_best_assignment_of_all(costs):
    columns = assign(costs.astype(float))
    rows = np.arange(len(costs))
    assert len(set(columns.tolist())) == len(costs)
    least = min(sum(int(costs[row, column]) for row, column in enumerate(chosen)) for chosen in permutations(range(costs.shape[1]), len(costs)))
    assert costs[rows, columns].sum() == least


def test_large_assignments_by_their_prices():
    """Against scipy where it is installed; and each pairing is at most what any exchange of two pairs would leave."""
    draw = np.random.default_rng(8)
    for rows, columns in ((60, 60), (40, 90), (1, 30)):
        costs = draw.normal(size=(rows, columns))
        chosen = assign(costs)
        total = costs[np.arange(rows), chosen].sum()
        for i in range(rows):
            for j in range(i):
                kept = costs[i, chosen[i]] + costs[j, chosen[j]]
                assert kept <= costs[i, chosen[j]] + costs[j, chosen[i]] + 1e-12
        try:
            from scipy.optimize import linear_sum_assignment
        except ImportError:
            continue
        assert total == pytest.approx(costs[linear_sum_assignment(costs)].sum(), abs=1e-9)


@by_all
def test_assignment_by_all_pairings(by):
    a, b = some_sets(25, 9, 3, most=6), some_sets(25, 10, 3, most=6)
    for x, y, value, other in zip(a, b, assignment(features(a), features(b), by=by), assignment(features(b), features(a), by=by), strict=True):
        table = values_of(x, y, by)
        table = table if len(x) <= len(y) else table.T
        means = [table[np.arange(len(table)), list(chosen)].mean() for chosen in permutations(range(table.shape[1]), len(table))]
        assert value == pytest.approx(min(means) if by == "l2" else max(means), rel=2e-6, abs=2e-6)
        assert value == pytest.approx(other, rel=1e-12)


def test_chamfer_is_the_least_that_a_pairing_can_be():
    """A pairing of sets of one size cannot take a nearer feature than the nearest."""
    draw = np.random.default_rng(11)
    a, b = (features(draw.normal(size=(20, 30, 4))) for _ in range(2))
    assert (chamfer(a, b) <= assignment(a, b) + 1e-6).all()
    assert (chamfer(a, b, by="cosine") >= assignment(a, b, by="cosine") - 1e-6).all()


def test_copies_are_nearest_by_both():
    """Of forty sets, each with a noisy copy of most of its features among strangers', the copy is the nearest."""
    draw = np.random.default_rng(12)
    a = draw.normal(size=(40, 30, 8))
    b = a + draw.normal(0, 0.2, a.shape)
    b[:, 20:] = draw.normal(size=(40, 10, 8))
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(40), np.arange(40), indexing="ij"))
    for function, more in ((chamfer, {}), (chamfer, {"both": True}), (assignment, {})):
        table = function(features(a), features(b), left, right, **more).reshape(40, 40)
        assert (table.argmin(axis=1) == np.arange(40)).all()


def test_sets_of_features_that_cannot_be_compared_are_refused():
    a, b = features(some_sets(3, 1)), features(some_sets(2, 2))
    zero = features([np.ones((2, 5)), np.array([[1.0] * 5, [0.0] * 5])])
    for function in (chamfer, assignment):
        with pytest.raises(UsageError, match="3 items on the left and 2 on the right"):
            function(a, b)
        with pytest.raises(UsageError, match="by='l1': choose one of l2, cosine, product"):
            function(a, a, by="l1")
        with pytest.raises(UsageError, match="5 dimensions on the left and 3 on the right"):
            function(a, features(some_sets(3, 1, 3)))
        with pytest.raises(UsageError, match="item 1, feature 1 on the right is the zero vector"):
            function(b, zero, by="cosine")
        with pytest.raises(UsageError, match="item 1, feature 1 on the left is the zero vector"):
            function(zero, a, [1], [2], by="cosine")
        assert function(zero, a, [0], [2], by="cosine").shape == (1,)  # the other set is in no pair
        with pytest.raises(UsageError, match="right= holds 0 to 2, but there are 2 sets"):
            function(a, b, [0, 1], [0, 2])
        with pytest.raises(UsageError, match="2 sets on the left and 1 on the right"):
            function(a, b, [0, 1], [0])
        with pytest.raises(UsageError, match="left= must be numbers of sets"):
            function(a, b, [0.5], [0])
        assert function(a, b, [], []).shape == (0,)
        assert function(features([]), features([])).shape == (0,)
