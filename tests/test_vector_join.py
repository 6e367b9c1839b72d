"""All pairs of vectors within a limit: the exact values, the promised recall, and that nothing depends on how the work is cut."""

from __future__ import annotations

import itertools
import math
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.families import Hyperplane
from likewise.kernels import signs
from likewise.kernels.directions import directions
from likewise.kernels.signs import code_bits, rotation_size
from likewise.measures import measure as function_of
from likewise.stages import codes as code_stage
from likewise.stages import vectors as stage
from likewise.stages.codes import Counts
from likewise.stages.codings import encode, of_points
from likewise.stages.vectors import Layout, choose_layout, cut, prepare, vector_pairs

LIMITS = {"cosine": 0.8, "angle": 30.0, "l2": 3.0, "l1": 10.0}


def clustered(seed: int, count: int, dimension: int, dtype: Any = np.float32) -> np.ndarray:
    """A few centres of length around 10, and vectors at all distances from them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(0, 10 / math.sqrt(dimension), (max(1, count // 8), dimension))
    noise = rng.normal(0, 4 / math.sqrt(dimension), (count, dimension)) * rng.random((count, 1)) ** 2
    return (centres[rng.integers(0, len(centres), count)] + noise).astype(dtype)


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
    return listed(vector_pairs(prepared, Layout(prepared.codings[0], 1, 0), **how))


measured = pytest.mark.parametrize("measure", LIMITS)


# exact values


@measured
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dimension", [1, 3, 64, 300, 1030])
def test_where_all_meet_all_are_found(measure, dtype, dimension):
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
    found = listed(vector_pairs(prepared, layout))
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
    assert listed(vector_pairs(prepared, choose_layout(prepared))) == expected


@measured
@pytest.mark.parametrize("shape", [(0, 5), (1, 5), (0, 0), (2, 1)])
def test_few(measure, shape):
    prepared = prepare(np.ones(shape, np.float32), measure, LIMITS[measure])
    assert len(listed(vector_pairs(prepared, choose_layout(prepared)))) == (shape[0] == 2)


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
    assert all_meet(vectors, measure, LIMITS[measure], side=side, per=per, shares=shares) == expected


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
            prepared = prepare(vectors, measure, LIMITS[measure], run=pool.map)
            counts = Counts()
            found = listed(vector_pairs(prepared, choose_layout(prepared, 0.9), counts, run=pool.map, shares=shares))
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


# the promise


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
def test_a_pair_at_the_limit_is_found_as_often_as_promised(measure, limit, dimension, coding, bands, rows):
    """Over 12 seeds and 700 pairs each. Pairs of one seed share their hyperplanes, so the error is that of the seeds' shares."""
    shares, promises = [], []
    for seed in range(12):
        vectors = pairs_at(measure, limit, 700, dimension, seed)
        prepared = prepare(vectors, measure, limit, seed)
        layout = Layout(prepared.codings[coding], bands, rows)
        found = listed(vector_pairs(prepared, layout))
        shares.append(np.mean([(2 * k, 2 * k + 1) in found for k in range(700)]))
        promises.append(layout.recall)
    error = np.std(shares) / math.sqrt(len(shares)) + 0.5 / math.sqrt(700 * len(shares))
    assert 0.4 < np.mean(promises) < 0.99
    assert np.mean(shares) > np.mean(promises) - 3 * error
    if measure in ("cosine", "angle"):  # of the others, the promise is for the worst pair
        assert np.mean(shares) < np.mean(promises) + 3 * error + 0.01


@measured
@pytest.mark.parametrize("recall", [0.7, 0.99])
def test_a_chosen_layout_promises_what_was_asked(measure, recall):
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


def test_nearly_certain_means_that_all_meet():
    layout = choose_layout(prepare(clustered(9, 500, 32), "cosine", 0.8), 0.99999)
    assert (layout.bands, layout.rows) == (1, 0) and layout.recall > 0.9998


def test_a_larger_collection_gets_more_rows():
    """20,000 Gaussian vectors of 64 against the first 500 of them: a layout with less to compare, for bands that cost more."""
    vectors = np.random.default_rng(0).standard_normal((20_000, 64)).astype(np.float32)
    few, many = (choose_layout(prepare(part, "cosine", 0.9)) for part in (vectors[:500], vectors))
    assert few.rows < many.rows
    counts = Counts()
    prepared = prepare(vectors, "cosine", 0.9)
    assert listed(vector_pairs(prepared, many, counts)) == {}
    met = many.bands * 20_000**2 / 2 * 0.5**many.rows  # random directions agree in half of the bits, and a few alike more often
    assert met < counts.compared < 2 * met
    assert counts.near < counts.compared / 1000 and counts.proposed == 0


@pytest.mark.parametrize(("bits", "differ"), [(256, 0.1), (256, 0.5), (320, 0.0625), (64, 0.001), (256, 2.0**-16)])
def test_cut(bits, differ):
    """The binomial tail beyond the cut, in fractions, is at most `MISS`, and beyond one less it is more."""
    p = Fraction(differ)

    def beyond(places: int) -> Fraction:
        return sum((math.comb(bits, k) * p**k * (1 - p) ** (bits - k) for k in range(places + 1, bits + 1)), Fraction(0))

    places = cut(bits, differ)
    assert beyond(places) <= stage.MISS < beyond(places - 1)


def test_cut_at_the_ends():
    assert cut(256, 1.0) == 256


def test_copies_with_noise_are_counted_before_they_are_compared():
    """20,000 nearly equal vectors are 2·10^8 pairs in each band: that is said first, and the listing ends soon after ``most``."""
    rng = np.random.default_rng(0)
    vectors = (rng.standard_normal(32) + rng.normal(0, 1e-4, (20_000, 32))).astype(np.float32)
    prepared = prepare(vectors, "cosine", 0.9)
    counts, expected = Counts(), []
    blocks = vector_pairs(prepared, Layout(prepared.codings[0], 6, 10), counts, expect=expected.append, most=10_000, shares=2)
    first = next(iter(blocks))
    assert expected == [20_000 * 19_999 // 2] * 2  # as many tables at first as there are threads
    assert len(first[0]) > 10_000 and counts.found < 2 * 2 * (code_stage.PAIRS_AT_ONCE + stage.BITS * 64)
    assert sum(len(block[0]) for block in blocks) < counts.found and len(expected) == 2  # and there it ends


# sides of rotated hyperplanes, as a family


def rotated(slots: int, seed: int = 0) -> Hyperplane:
    return Hyperplane(slots, "rotated", seed)


@pytest.mark.parametrize("dimension", [1, 2, 7, 256, 300])
def test_rotated_bits_by_the_definition(dimension):
    """Signs, then the transform by a matrix of +1 and -1, four times, in float64; where the result is 0 but for rounding, either side will do."""
    size = rotation_size(dimension)
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.block([[matrix, matrix], [matrix, -matrix]])
    vectors = np.random.default_rng(1).standard_normal((5, dimension))
    slots = code_bits(dimension, 1)
    spread = slots // size
    entries = directions("signs", 3, signs.ROUNDS * size, spread).T.reshape(spread, signs.ROUNDS, size)
    turned = np.zeros((5, size, spread))
    for rotation in range(spread):
        work = np.zeros((5, size))
        work[:, :dimension] = vectors
        for turn in range(signs.ROUNDS):
            work = work * entries[rotation, turn] @ matrix
        turned[:, :, rotation] = work
    turned = turned.reshape(5, slots)
    clear = abs(turned) > 1e-4 * abs(turned).max()
    assert clear.mean() > 0.99  # of one coordinate alone all sums are whole, and some 0
    assert ((rotated(slots, 3).signature(vectors) == (turned > 0)) | ~clear).all()


def test_rotated_slots():
    """One alone as in a batch; the first slots as of fewer; x and 2x and 1e200x alike; x and -x never."""
    vectors = clustered(1, 40, 7, np.float64)
    bits = rotated(1500).signature(vectors)
    assert bits.dtype == np.uint8 and bits.shape == (40, 1500)
    assert (rotated(3).signature(vectors) == bits[:, :3]).all()
    assert all((rotated(1500).signature(vectors[i : i + 1])[0] == bits[i]).all() for i in range(40))
    for factor in (2.0, 2.0**-1000, 2.0**900):
        assert (rotated(1500).signature(vectors * factor) == bits).all()
    assert (rotated(1500).signature(vectors * 1e200) == bits).mean() > 0.9999
    assert (rotated(1500).signature(-vectors) + bits == 1).all()


SEEDS, SLOTS = 200, 1024


def at_angle(rng: np.random.Generator, dimension: int, degrees: float) -> np.ndarray:
    x, z = rng.standard_normal((2, dimension))
    x /= np.linalg.norm(x)
    z -= z @ x * x
    z /= np.linalg.norm(z)
    return np.array([3 * x, (math.cos(math.radians(degrees)) * x + math.sin(math.radians(degrees)) * z) / 100])


@cache
def agreement(dimension: int, degrees: float) -> np.ndarray:
    """bool[seeds, slots]: another pair and other rotations for each seed."""
    rng = np.random.default_rng(dimension)
    return np.array([np.equal(*rotated(SLOTS, seed).signature(at_angle(rng, dimension, degrees))) for seed in range(SEEDS)])


angles = pytest.mark.parametrize(("dimension", "degrees"), [*itertools.product((2, 3, 100, 500), (1.0, 12.0, 30.0, 90.0, 150.0))])


@angles
def test_rotated_slots_agree_as_the_curve_says(dimension, degrees):
    agree, p = agreement(dimension, degrees), 1 - degrees / 180
    assert abs(agree.mean() - p) < 4 * math.sqrt(p * (1 - p) / agree.size)
    each = (agree.mean(axis=0) - p) / math.sqrt(p * (1 - p) / SEEDS)  # no slot is favoured
    assert abs(each).max() < (5.5 if 0.05 < p < 0.95 else 12)


@angles
def test_rotated_estimates_vary_no_more_than_independent_ones(dimension, degrees):
    agree, p = agreement(dimension, degrees), 1 - degrees / 180
    ratio = agree.mean(axis=1).var() * SLOTS / (p * (1 - p))
    assert ratio < 1 + 4 * math.sqrt(2 / SEEDS)
    if dimension == 100 and degrees >= 30:
        assert ratio < 0.9  # they vary less


@pytest.mark.parametrize(("dimension", "degrees", "rows"), [(100, 30.0, 12), (256, 25.0, 12), (1000, 12.0, 24), (3, 30.0, 12)])
def test_bands_of_rotated_slots_keep_their_promise(dimension, degrees, rows):
    """An AND of slots in a row finds as much as of independent ones, within 1% or four standard errors; an OR of those, as much or more."""
    agree, p = agreement(dimension, degrees), 1 - degrees / 180
    bands = SLOTS // rows
    groups = agree[:, : bands * rows].reshape(SEEDS, bands, rows).all(axis=2)
    expected = p**rows
    error = groups.mean(axis=1).std() / math.sqrt(SEEDS)
    assert abs(groups.mean() - expected) < 4 * error + 0.01 * expected
    some = groups[:, : bands // 4 * 4].reshape(SEEDS, -1, 4).any(axis=2)
    promised = 1 - (1 - expected) ** 4
    assert some.mean() > promised - 4 * some.mean(axis=1).std() / math.sqrt(SEEDS) - 0.005


def axis(dimension: int, *places: int) -> np.ndarray:
    return np.bincount(places, minlength=dimension).astype(float)


STRUCTURES = {
    "one-hot": (axis(16, 0), axis(16, 15)),
    "one of two": (axis(16, 2), axis(16, 2, 9)),
    "constant": (np.full(16, 5.0), np.full(16, 6.0)),
    "constant but one": (np.full(16, 1.0), np.where(np.arange(16) == 4, 3.0, 1.0)),
    "alternating": (np.ones(16), np.where(np.arange(16) % 4 == 0, -1.0, 1.0)),
    "next on a grid": (np.arange(16.0), np.arange(16.0) + axis(16, 0)),
    "powers of two": (2.0 ** np.arange(16), 2.0 ** np.arange(1, 17) + axis(16, 0)),
    "counts": (np.array([9, 4, 1, 1, 1, *[0] * 11], float), np.array([7, 5, 0, 1, 2, 1, *[0] * 10], float)),
    "one degree apart, two coordinates": (axis(64, 0), axis(64, 0) + math.tan(math.radians(1)) * axis(64, 40)),
    "a row of the transform": (np.ones(256), np.where(np.arange(256) % 2, -1.0, 1.0) + 0.1 * axis(256, 3)),
}


@pytest.mark.parametrize("name", STRUCTURES)
def test_structured_vectors_under_rotations(name):
    x, y = STRUCTURES[name]
    p = 1 - math.acos(min(1, x @ y / math.sqrt(x @ x * (y @ y)))) / math.pi
    agree = np.array([np.equal(*rotated(SLOTS, seed).signature(np.array([x, y]))) for seed in range(SEEDS)])
    if p > 1 - 1e-7:
        assert agree.mean() > 1 - 1e-5
        return
    spread = max(agree.mean(axis=1).std(), math.sqrt(p * (1 - p) / SLOTS))
    assert abs(agree.mean() - p) < 4 * spread / math.sqrt(SEEDS)


# the sides of points, lifted


@pytest.mark.parametrize("lift", [0.0, 1.0, 3.0])
def test_points_differ_no_more_often_than_said(lift):
    """Points 2 apart, 5 from the centre on: by 2 asin(2/2A)/π, A² = 25 + lift² at the least; those at 5, on opposite sides of a ray, by just that."""
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
