"""The rules by which items of the work folder are compared, against the exact measures, at thresholds that some pairs meet exactly."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from likewise.items.codes import codes
from likewise.items.weighted import weighted
from likewise.kernels.compare import EXACT, CodeRule, DirectionRule, NormRule, SetRule, WeightedRule, values
from likewise.kernels.sets import odd_sketches
from likewise.kernels.walk import bucket_pairs
from likewise.measures import measure


def matched(words: list[np.ndarray], rule) -> dict[tuple[int, int], tuple[int, int]]:
    """All pairs of items that are similar by the rule, with the returned overlaps: all items are in one bucket."""
    n = len(words)
    size = np.array([len(item) for item in words], np.uint32)
    values, begin = np.concatenate(words).astype(np.uint64), np.cumsum(size, dtype=np.int64) - size
    stored = (-1, values, begin, size, odd_sketches(values, np.append(begin, len(values))), np.arange(n))
    matches = np.empty((n * n, 4), np.int64)
    buffers = np.empty((2, int(size.max())), np.uint64)
    order = np.arange(n)
    place, written, _ = bucket_pairs(stored, rule, np.zeros(0, np.uint8), np.zeros((1, n), np.int32), 0, order, 0, n, 2**40, buffers, matches)
    assert place == n
    return {(a, b): (common, out_of) for a, b, common, out_of in matches[:written].tolist()}


def all_pairs(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.triu_indices(n, 1)


def expect(words, rule, value: np.ndarray, similar: np.ndarray, *, distances: bool) -> None:
    """The similar pairs, each with its exact value; scores and values have the same order."""
    found = matched(words, rule)
    left, right = all_pairs(len(words))
    assert set(found) == set(zip(left[similar].tolist(), right[similar].tolist(), strict=True))
    assert 0 < len(found) < len(left)
    scores = np.array([found[a, b][0] for a, b in zip(left[similar].tolist(), right[similar].tolist(), strict=True)])
    assert (scores >= 0).all()
    assert {out_of for _, out_of in found.values()} == {1}
    assert values(scores, distances=distances).tolist() == value[similar].tolist()
    assert (np.argsort(scores, kind="stable") == np.argsort(-value[similar] if distances else value[similar], kind="stable")).all()


def padded(row: np.ndarray) -> np.ndarray:
    raw = row.tobytes()
    return np.frombuffer(raw + bytes(-len(raw) % 8), np.uint64)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("name", ["cosine", "angle", "l1", "l2", "linf", "l3"])
def test_vectors_are_compared_by_the_measure(name, wide):
    rng = np.random.default_rng(5)
    vectors = rng.integers(-4, 5, (40, 7)).astype(np.float64 if wide else np.float32) + 5
    left, right = all_pairs(40)
    value = measure("lr")(vectors[left], vectors[right], 3.0) if name == "l3" else measure(name)(vectors[left], vectors[right])
    limit = float(np.sort(value)[len(value) // 2])  # the value of some pair
    words = [padded(row) for row in vectors]
    if name in ("cosine", "angle"):
        rule = DirectionRule(limit, name == "angle", 7, wide, EXACT)
        expect(words, rule, value, value <= limit if name == "angle" else value >= limit, distances=name == "angle")
    else:
        order = {"l1": 1.0, "l2": 2.0, "linf": np.inf, "l3": 3.0}[name]
        expect(words, NormRule(limit, order, 7, wide, EXACT), value, value <= limit, distances=True)


def test_codes_are_compared_by_the_measure():
    rng = np.random.default_rng(6)
    data = codes(rng.integers(0, 2**64, (30, 2), np.uint64) & rng.integers(0, 2**64, (30, 2), np.uint64))
    left, right = all_pairs(30)
    value = measure("hamming")((data[0][left], 128), (data[0][right], 128)).astype(float)
    within = int(np.median(value))
    expect(list(data[0]), CodeRule(within, EXACT), value, value <= within, distances=True)


def test_weighted_sets_are_compared_by_the_measure():
    rng = np.random.default_rng(7)
    batch = [{int(e): float(w) for e, w in zip(rng.permutation(12)[:6], rng.integers(1, 4, 6), strict=True)} for _ in range(30)]
    elements, weights, offsets = weighted(batch)
    left, right = all_pairs(30)
    value = measure("weighted")(weighted([batch[i] for i in left]), weighted([batch[i] for i in right]))
    words = [np.concatenate([elements[a:b], weights[a:b].view(np.uint64)]) for a, b in itertools.pairwise(offsets)]
    least = float(np.sort(value)[len(value) // 2])
    expect(words, WeightedRule(least, EXACT), value, value >= least, distances=False)


def test_sets_stay_whole_numbers():
    sets = [np.arange(10, dtype=np.uint64), np.arange(2, 10, dtype=np.uint64), np.arange(5, 30, dtype=np.uint64)]
    assert matched(sets, SetRule(4, 5, EXACT)) == {(0, 1): (8, 10)}


def test_scores_of_distances():
    from likewise.kernels.compare import FARTHEST

    exact = np.array([0.0, 1.5, 1e300])
    assert values(np.int64(FARTHEST) - exact.view(np.int64), distances=True).tolist() == exact.tolist()
