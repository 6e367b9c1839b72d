"""All pairs of vectors within a limit: the exact values, the expected recall, and that nothing depends on how the work is divided."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.joins import hamming_join as code_stage
from likewise.joins import vector_join as stage
from likewise.joins.pairs import Among, Counts
from likewise.joins.sign_codes import encode, of_points
from likewise.joins.vector_join import Layout, choose_layout, cut, prepare, vector_join
from likewise.measures import measure as function_of
from likewise.stages.workers import Workers
from near_vectors import clustered

LIMITS = {"cosine": 0.8, "angle": 30.0, "l2": 3.0, "l1": 10.0}


def values(vectors: np.ndarray, measure: str) -> np.ndarray:
    """The measure of each pair i < j, in the order of itertools."""
    left, right = np.triu_indices(len(vectors), 1)
    return function_of(measure)(vectors[left], vectors[right])


def brute(vectors: np.ndarray, measure: str, limit: float) -> dict[tuple[int, int], float]:
    live = vectors.any(axis=1) | (measure in ("l2", "l1"))
    rows = np.flatnonzero(live)
    within = {}
    for (i, j), value in zip(itertools.combinations(rows.tolist(), 2), values(vectors[rows], measure).tolist(), strict=True):
        if value >= limit if measure == "cosine" else value <= limit:
            within[i, j] = value
    return within


def listed(blocks: Any) -> dict[tuple[int, int], float]:
    triples = [triple for block in blocks for triple in zip(*(part.tolist() for part in block), strict=True)]
    found = {(i, j): value for i, j, value in triples}
    assert len(found) == len(triples)  # each once
    return found


def all_meet(vectors: np.ndarray, measure: str, limit: float, **how: Any) -> dict[tuple[int, int], float]:
    prepared = prepare(vectors, measure, limit)
    among = Among(side=how.pop("side", None))
    return listed(vector_join(prepared, Layout(prepared.codings[0], 1, 0), **how).pairs(among))


measured = pytest.mark.parametrize("measure", LIMITS)


# exact values


@measured
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dimension", [1, 3, 64, 300, 1030])
def test_where_all_collide_all_are_found(measure, dtype, dimension):
    """The same pairs as by the measures, and the same values to the last bit."""
    vectors = clustered(dimension, 150, dimension, dtype)
    sample = np.sort(values(vectors, measure))
    for limit in (LIMITS[measure], float(sample[50]), float(sample[-50])):  # these are the values of some pairs
        assert all_meet(vectors, measure, limit) == brute(vectors, measure, limit)


@measured
def test_chosen_layouts_find_pairs_well_within_the_limit(measure):
    vectors = clustered(5, 600, 48)
    far = LIMITS[measure] * (0.5 if measure == "cosine" else 2)
    prepared = prepare(vectors, measure, far)
    layout = choose_layout(prepared, 0.99)
    found = listed(vector_join(prepared, layout).pairs())
    expected = brute(vectors, measure, far)
    assert found.items() <= expected.items()
    close = brute(vectors, measure, LIMITS[measure])
    assert len(close) > 400
    assert len(close.keys() & found.keys()) / len(close) > 0.999


@pytest.mark.parametrize("measure", ["l2", "l1"])
@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_scales_at_which_squares_leave_float32(measure, scale):
    vectors = clustered(3, 80, 20) * np.float32(scale)
    limit = LIMITS[measure] * scale
    assert all_meet(vectors, measure, limit) == brute(vectors, measure, limit)


@pytest.mark.parametrize("measure", ["cosine", "angle"])
def test_directions_of_any_length(measure):
    """From 1e-300 to 1e300, each vector another."""
    vectors = clustered(4, 100, 20, np.float64) * 10.0 ** np.random.default_rng(0).integers(-300, 300, (100, 1))
    assert all_meet(vectors, measure, LIMITS[measure]) == brute(vectors, measure, LIMITS[measure])


@measured
def test_equal_and_opposite_and_zero(measure):
    x = np.array([[3.0, 4.0], [3.0, 4.0], [6.0, 8.0], [-3.0, -4.0], [0.0, 0.0], [0.0, 0.0], [-0.0, 0.0]])
    for limit in (1.0, -1.0) if measure == "cosine" else (0.0, 180.0, 1e-300):
        assert all_meet(x, measure, limit) == brute(x, measure, limit)
    parallel = {(0, 1): 1.0, (0, 2): 1.0, (1, 2): 1.0}
    copies = {(0, 1): 0.0, (4, 5): 0.0, (4, 6): 0.0, (5, 6): 0.0}
    prepared = prepare(x, measure, 1.0 if measure == "cosine" else 0.0)
    expected = {"cosine": parallel, "angle": dict.fromkeys(parallel, 0.0)}.get(measure, copies)
    assert listed(vector_join(prepared, choose_layout(prepared)).pairs()) == expected


@measured
@pytest.mark.parametrize("shape", [(0, 5), (1, 5), (0, 0), (2, 1)])
def test_two_equal_vectors_or_fewer(measure, shape):
    prepared = prepare(np.ones(shape, np.float32), measure, LIMITS[measure])
    assert len(listed(vector_join(prepared, choose_layout(prepared)).pairs())) == (shape[0] == 2)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(sorted(LIMITS)), st.booleans(), st.booleans(), st.integers(1, 4))
def test_across_collections_and_inside_of_groups(seed, measure, sides, groups, shares):
    rng = np.random.default_rng(seed)
    vectors = clustered(seed, 60, 8)
    vectors[rng.integers(0, 60, 3)] = 0
    side = rng.integers(0, 4, 60).astype(np.uint8) if sides else None
    per = rng.integers(0, 3, 60).astype(np.uint64) if groups else None

    def wanted(i: int, j: int) -> bool:
        across = side is None or (side[i] | side[j] == 3 and side[i] > 0 and side[j] > 0)
        return across and (per is None or per[i] == per[j])

    expected = {pair: value for pair, value in brute(vectors, measure, LIMITS[measure]).items() if wanted(*pair)}
    assert all_meet(vectors, measure, LIMITS[measure], side=side, per=per, workers=Workers(tasks=shares)) == expected


# what nothing depends on


@measured
def test_nothing_depends_on_parts_and_blocks(measure, monkeypatch):
    vectors = clustered(1, 3000, 24)
    seen = []
    for shares, room, sorted_bytes in ((1, 2**17, 2**28), (2, 100, 1), (3, 2**17, 2**17), (4, 7, 2**28)):
        monkeypatch.setattr(code_stage, "PAIRS_AT_ONCE", room)
        monkeypatch.setattr(code_stage, "SORTED_BYTES", sorted_bytes)
        monkeypatch.setattr(code_stage, "PAIRS_HELD", 8 * room)
        with ThreadPoolExecutor(shares) as pool:
            prepared = prepare(vectors, measure, LIMITS[measure], workers=Workers(pool.map))
            counts = Counts()
            found = listed(vector_join(prepared, choose_layout(prepared, 0.9), workers=Workers(pool.map, shares)).pairs(counts=counts))
        assert counts.found == len(found) > 1000
        seen.append((sorted(found.items()), counts))
    assert all(one == seen[0] for one in seen)


@pytest.mark.parametrize("measure", ["cosine", "l2", "l1"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_codes_do_not_depend_on_the_batch(measure, dtype):
    """Alone, in other company and in another order, a vector has the same bits."""
    vectors = clustered(2, 100, 30, dtype)
    coding = prepare(vectors, measure, LIMITS[measure]).codings[2 if measure == "l2" else 0]
    codes = encode(coding, vectors)
    order = np.random.default_rng(0).permutation(100)
    for rows in (order, order[:17], order[:1], order[5:38]):
        assert (encode(coding.of(rows), vectors[rows]) == codes[rows]).all()
    more = coding.with_bits(coding.bits + 1)
    assert more.bits == 2 * coding.bits
    assert (encode(more, vectors)[:, : codes.shape[1]] == codes).all()


# the expected recall


def pairs_at(measure: str, limit: float, count: int, dimension: int, seed: int) -> np.ndarray:
    """2 count vectors, 2 k and 2 k + 1 within the limit by a hair."""
    rng = np.random.default_rng(seed)
    x, z = rng.standard_normal((2, count, dimension))
    if measure in ("cosine", "angle"):
        angle = math.acos(limit) if measure == "cosine" else math.radians(limit)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        z -= (z * x).sum(axis=1, keepdims=True) * x
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        y = math.cos(angle * (1 - 1e-6)) * x + math.sin(angle * (1 - 1e-6)) * z
    elif measure == "l2":
        y = x + z / np.linalg.norm(z, axis=1, keepdims=True) * limit * (1 - 1e-6)
    else:
        y = x + z / abs(z).sum(axis=1, keepdims=True) * limit * (1 - 1e-6)
    return np.stack([x, y], axis=1).reshape(-1, dimension)


@pytest.mark.parametrize(
    ("measure", "limit", "dimension", "coding", "bands", "rows"),
    [
        ("cosine", 0.9, 64, 0, 13, 10),
        ("cosine", 0.95, 300, 0, 13, 14),
        ("cosine", 0.3, 48, 0, 16, 4),
        ("angle", 2.0, 3, 0, 4, 60),
        ("angle", 2.0, 3, 0, 5, 100),
        ("l2", 2.0, 40, 0, 9, 10),
        ("l2", 2.0, 40, 3, 9, 14),
        ("l1", 5.0, 24, 0, 9, 50),
    ],
)
def test_a_pair_at_the_limit_is_found_as_often_as_expected(measure, limit, dimension, coding, bands, rows):
    """Over 12 seeds and 700 pairs each. Pairs of one seed share their hyperplanes, so the error is that of the seeds' shares."""
    shares, expected_recalls = [], []
    for seed in range(12):
        vectors = pairs_at(measure, limit, 700, dimension, seed)
        prepared = prepare(vectors, measure, limit, seed)
        layout = Layout(prepared.codings[coding], bands, rows)
        found = listed(vector_join(prepared, layout).pairs())
        shares.append(np.mean([(2 * k, 2 * k + 1) in found for k in range(700)]))
        expected_recalls.append(layout.recall)
    error = np.std(shares) / math.sqrt(len(shares)) + 0.5 / math.sqrt(700 * len(shares))
    assert 0.4 < np.mean(expected_recalls) < 0.99
    assert np.mean(shares) > np.mean(expected_recalls) - 3 * error
    if measure in ("cosine", "angle"):  # of the others, the promise is for the worst pair
        assert np.mean(shares) < np.mean(expected_recalls) + 3 * error + 0.01


@measured
@pytest.mark.parametrize("recall", [0.7, 0.99])
def test_a_chosen_layout_has_the_requested_recall(measure, recall):
    prepared = prepare(clustered(9, 2000, 32), measure, LIMITS[measure])
    layout = choose_layout(prepared, recall)
    assert layout.recall >= recall
    if layout.rows:  # no more bands than that takes
        assert layout.bands == 1 or Layout(layout.coding, layout.bands - 1, layout.rows).recall < recall


@measured
def test_bands_and_rows_by_hand(measure):
    prepared = prepare(clustered(9, 500, 32), measure, LIMITS[measure])
    layout = choose_layout(prepared, bands=3, rows=7)
    assert (layout.bands, layout.rows) == (3, 7) and any(layout.coding is coding for coding in prepared.codings)


def test_nearly_certain_means_that_all_collide():
    layout = choose_layout(prepare(clustered(9, 500, 32), "cosine", 0.8), 0.99999)
    assert (layout.bands, layout.rows) == (1, 0) and layout.recall > 0.9998


def test_a_larger_collection_gets_more_rows():
    """20,000 Gaussian vectors of 64 against the first 500 of them: a layout with less to compare, for bands that cost more."""
    vectors = np.random.default_rng(0).standard_normal((20_000, 64)).astype(np.float32)
    few, many = (choose_layout(prepare(part, "cosine", 0.9)) for part in (vectors[:500], vectors))
    assert few.rows < many.rows
    counts = Counts()
    prepared = prepare(vectors, "cosine", 0.9)
    assert listed(vector_join(prepared, many).pairs(counts=counts)) == {}
    collisions = many.bands * 20_000**2 / 2 * 0.5**many.rows  # random directions agree in half of the bits, and a few in more
    assert collisions < counts.collisions < 2 * collisions
    assert counts.near < counts.collisions / 1000 and counts.proposed == 0


@pytest.mark.parametrize(("bits", "differ"), [(256, 0.1), (256, 0.5), (320, 0.0625), (64, 0.001), (256, 2.0**-16)])
def test_the_cut_of_differing_bits_is_the_least_that_misses_few(bits, differ):
    """The binomial tail beyond the cut, in fractions, is at most `MISS`, and beyond one less it is more."""
    p = Fraction(differ)

    def beyond(places: int) -> Fraction:
        return sum((math.comb(bits, k) * p**k * (1 - p) ** (bits - k) for k in range(places + 1, bits + 1)), Fraction(0))

    places = cut(bits, differ)
    assert beyond(places) <= stage.MISS < beyond(places - 1)


def test_cut_at_the_ends():
    assert cut(256, 1.0) == 256


def test_copies_with_noise_are_counted_before_they_are_compared():
    """20,000 nearly equal vectors are 2·10^8 pairs in each band: a warning comes first, and the listing ends soon after ``most``."""
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal(32) + rng.normal(0, 1e-4, (20_000, 32))).astype(np.float32)
    prepared = prepare(vectors, "cosine", 0.9)
    counts, expected = Counts(), []
    join = vector_join(prepared, Layout(prepared.codings[0], 6, 10), workers=Workers(tasks=2, expect=expected.append))
    blocks = join.pairs(most=10_000, counts=counts)
    first = next(iter(blocks))
    assert expected == [20_000 * 19_999 // 2] * 2  # as many tables at first as there are threads
    assert len(first[0]) > 10_000 and counts.found < 2 * 2 * (code_stage.PAIRS_AT_ONCE + stage.BITS * 64)
    assert sum(len(block[0]) for block in blocks) < counts.found and len(expected) == 2  # and there it ends


# the sides of points, lifted


@pytest.mark.parametrize("lift", [0.0, 1.0, 3.0])
def test_points_differ_no_more_often_than_said(lift):
    """Points 2 apart, 5 from the center on: by 2 asin(2/2A)/π, A² = 25 + lift² at the least; those at 5, on opposite sides of a ray, by just that."""
    prepared = prepare(pairs_at("l2", 2.0, 400, 30, 0), "l2", 2.0)
    rng = np.random.default_rng(1)
    shares = []
    for seed in range(40):
        x, z = np.linalg.qr(rng.standard_normal((30, 2)))[0].T
        half = math.asin(1 / 5)
        pair = np.stack([5 * (math.cos(half) * x + math.sin(half) * z), 5 * (math.cos(half) * x - math.sin(half) * z)])
        coding = of_points(np.full(2, 5.0), np.zeros(30), 2.0, lift, seed)
        a, b = encode(coding, pair)
        shares.append(np.bitwise_count(a ^ b).sum() / coding.bits)
    assert coding.differ == pytest.approx(2 * math.asin(1 / math.hypot(5, lift)) / math.pi, abs=1e-4)
    assert abs(np.mean(shares) - coding.differ) < 4 * np.std(shares) / math.sqrt(40)
    assert prepared.codings[0].differ > prepared.codings[3].differ  # a lift brings points closer


def test_levels_differ_as_often_as_said():
    """L1: the share of bits that differ is the distance over the sum of ranges, for all pairs."""
    vectors = np.random.default_rng(0).uniform(-3, [1.0, 5.0, 30.0, -2.9], (60, 4))
    prepared = prepare(vectors, "l1", 1.0)
    total = (vectors.max(axis=0) - vectors.min(axis=0)).sum()
    assert prepared.codings[0].differ == pytest.approx(1 / total, abs=1e-4)
    left, right = np.triu_indices(60, 1)
    expected = values(vectors, "l1") / total
    shares = np.zeros(len(left))
    for seed in range(30):
        codes = encode(prepare(vectors, "l1", 1.0, seed).codings[0], vectors)
        shares += np.bitwise_count(codes[left] ^ codes[right]).sum(axis=1) / 1024 / 30
    assert (abs(shares - expected) < 5 * np.sqrt(expected * (1 - expected) / 30 / 1024) + 1e-4).all()


def test_vectors_that_are_mapped_from_a_file(tmp_path):
    vectors = clustered(6, 300, 20)
    np.save(tmp_path / "vectors.npy", vectors)
    mapped = np.load(tmp_path / "vectors.npy", mmap_mode="r")
    assert all_meet(mapped, "cosine", 0.8) == brute(vectors, "cosine", 0.8)
