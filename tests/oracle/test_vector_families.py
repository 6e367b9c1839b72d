"""Families of vectors and codes, slot by slot: slow reference implementations, addresses, batches, scales, and what is refused."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import alone
from likewise.errors import UsageError
from likewise.families import FAMILIES, Bits, CrossPolytope, Hyperplane, Line, Stripe, Threshold
from likewise.kernels import directions as constants
from likewise.kernels.directions import directions
from vector_families import ALL, DIMENSION, OF_DIRECTIONS, OF_VECTORS, batch_for, items, named, of_directions, of_vectors

# the constants


def test_normals_are_the_inverse_of_the_normal_distribution():
    """Against the standard library's, to 2·10^-7 of the value, from one end of the 52 bits to the other."""
    places = np.concatenate([np.linspace(1e-6, 1 - 1e-6, 2000), 10.0 ** -np.arange(1, 16), 1 - 10.0 ** -np.arange(1, 16), [2.0**-53, 1 - 2.0**-53]])
    normal = alone(constants.normal)
    for p in map(float, places):
        assert normal(p) == pytest.approx(NormalDist().inv_cdf(p), rel=2e-7)
        assert constants.logarithm.py_func(p) == pytest.approx(math.log(p), rel=1e-12, abs=1e-15)
    assert normal(0.975) == pytest.approx(1.959964, abs=1e-6)


def test_constants_are_distributed_as_their_kind():
    """600,000 of each: quartiles and moments within four standard errors."""
    many = {kind: directions(kind, 5, 600, 1000).ravel() for kind in constants.KINDS}
    n = 600_000
    for kind, quartile in (("gaussian", 0.67449), ("cauchy", 1.0)):
        assert abs((many[kind] < 0).mean() - 0.5) < 2 / math.sqrt(n)
        assert abs((abs(many[kind]) < quartile).mean() - 0.5) < 2 / math.sqrt(n)
    assert abs((abs(many["cauchy"]) < math.tan(math.pi / 2 * 0.99)).mean() - 0.99) < 4 * math.sqrt(0.0099 / n)
    assert abs(many["gaussian"].var() - 1) < 4 * math.sqrt(2 / n)
    assert abs((many["gaussian"] ** 4).mean() - 3) < 4 * math.sqrt(96 / n)
    assert set(many["signs"]) == {-1.0, 1.0}
    assert abs(many["signs"].mean()) < 4 / math.sqrt(n)
    assert 0 < many["uniform"].min() < 1e-5
    assert 1 > many["uniform"].max() > 1 - 1e-5
    assert abs(many["uniform"].mean() - 0.5) < 4 * math.sqrt(1 / 12 / n)


@pytest.mark.parametrize("kind", constants.KINDS)
def test_constants_do_not_move_together(kind):
    """Neither along rows, nor along columns, nor from seed to seed: correlations of signs are within four and a half standard errors."""
    seeds = [np.sign(directions(kind, seed, 400, 400) - (0.5 if kind == "uniform" else 0)) for seed in (0, 1, 2**64 - 1)]
    for a, b in ((seeds[0], seeds[1]), (seeds[0], seeds[2])):
        assert abs((a * b).mean()) < 4.5 / 400
    table = seeds[0]
    for lag in (1, 2, 3, 4, 16, 64):
        assert abs((table[lag:] * table[:-lag]).mean()) < 4.5 / math.sqrt(table[lag:].size)
        assert abs((table[:, lag:] * table[:, :-lag]).mean()) < 4.5 / math.sqrt(table[lag:].size)
        assert abs((table[lag:, lag:] * table[:-lag, :-lag]).mean()) < 4.5 / math.sqrt(table[lag:, lag:].size)


@pytest.mark.parametrize("kind", constants.KINDS)
def test_an_entry_is_a_function_of_its_address(kind):
    whole = directions(kind, 9, 23, 17)
    assert whole.shape == (24, 17)
    assert (whole[23] == 0).all()
    assert (directions(kind, 9, 8, 5) == whole[:8, :5]).all()
    assert (directions(kind, 9, 23, 17, narrow=True) == whole.astype(np.float32)).all()


@pytest.mark.parametrize("dimension", [3, 8, 20])
def test_orthogonal_blocks(dimension):
    """Columns of equal number modulo spread are at right angles, ``dimension`` of them; a block is as it would be with fewer slots."""
    spread, slots = 4, 38
    table = directions("gaussian", 2, dimension, slots, spread=spread)
    for first in range(spread):
        block = table[:, first : first + dimension * spread : spread]
        assert np.allclose(block.T @ block, np.eye(block.shape[1]), atol=1e-12)
    assert (directions("gaussian", 2, dimension, 21, spread=spread) == table[:, :21]).all()
    if dimension == 3:
        assert abs(table[:, 12] @ table[:, 0]) > 1e-3  # a block is full with three


# slow reference implementations


def test_hyperplanes_by_hand():
    """Multiplied and then added, coordinate by coordinate in float32: no fused or regrouped sums."""
    family, batch = Hyperplane(200, seed=3), items(30, 10)
    normals = directions("gaussian", 3, 10, 200, narrow=True)[:10]
    sums = np.zeros((30, 200), np.float32)
    unit = batch / np.float32(2) ** np.ceil(np.log2(abs(batch).max(axis=1, keepdims=True)))  # a power of two
    for i in range(10):
        sums += unit[:, i : i + 1] * normals[i]
    assert (family.signature(batch) == (sums >= 0)).all()
    # the sums themselves, where a fused one would differ in one place of four
    from likewise.kernels.projections import project

    tile, out = np.zeros((30, 12), np.float32), np.empty((30, 200), np.float32)
    tile[:, :10] = unit
    alone(project)(tile, directions("gaussian", 3, 10, 200, narrow=True), out)
    assert (out == sums).all()


def test_a_vector_on_the_plane_counts_as_above():
    """(1, -1) is on the plane of the normals (1, 1) and (-1, -1)."""
    family = Hyperplane(400, "signs")
    normals = directions("signs", 0, 2, 400)[:2]
    bits = family.signature([[1, -1]])[0]
    assert (bits[normals[0] == normals[1]] == 1).all()
    assert (bits == (normals[0] >= normals[1])).all()


@pytest.mark.parametrize("norm", ["l2", "l1"])
def test_lines_by_hand(norm):
    family = Line(2.5, 60, norm, seed=4)
    lines = directions("gaussian" if norm == "l2" else "cauchy", 4, DIMENSION, 60)
    shifts = directions("uniform", 4, 1, 60)[0] * 2.5
    batch = items()
    for row, vector in zip(family.signature(batch), batch.astype(float), strict=True):
        for j in range(60):
            total = 0.0
            for i in range(DIMENSION):
                total += float(vector[i]) * float(lines[i, j])
            assert int(row[j]) == math.floor((total + float(shifts[j])) / 2.5) % 2**32


def test_a_stripe_is_the_parity_of_the_line():
    assert (Stripe(2.5, 60, 4).signature(items()) == Line(2.5, 60, "l2", 4).signature(items()) % 2).all()


def test_cross_polytopes_by_hand():
    """Four times signs and the Hadamard matrix, in whole numbers; then the axis of the largest magnitude."""
    family = CrossPolytope(5, 6, seed=8)
    size = 128
    hadamard = np.array([[(-1) ** (i & j).bit_count() for j in range(size)] for i in range(size)])
    signs = directions("signs", 8, 4 * size, 6).astype(int)
    batch = np.random.default_rng(0).integers(-8, 9, (20, 5))
    batch[:, 0] = 8
    for vector, row in zip(batch, family.signature(batch), strict=True):
        for slot in range(6):
            turned = np.zeros(size, int)
            turned[:5] = vector
            for turn in range(4):
                turned = hadamard @ (turned * signs[turn * size : (turn + 1) * size, slot])
            axis, negative = int(row[slot]) % size, int(row[slot]) // size
            assert abs(turned[axis]) == abs(turned).max()
            assert negative == (turned[axis] < 0)


def test_thresholds_and_positions_by_hand():
    places, heights = directions("uniform", 6, 2, 50)[:2]
    bits = Threshold(-100, 100, DIMENSION, 50, 6).signature(items())
    codes = items() > 0
    sampled = Bits(DIMENSION, 50, 6).signature(codes)
    for i in range(40):
        for j in range(50):
            place = math.floor(places[j] * DIMENSION)
            assert bits[i, j] == (float(items()[i, place]) >= -100 + 200 * heights[j])
            assert sampled[i, j] == codes[i, place]


def test_bits_of_packed_codes():
    """Bit j of a code is bit j % 64 of its word j // 64."""
    dense = np.random.default_rng(0).random((10, 128)) < 0.5
    words = np.array([[sum(1 << j for j in range(64) if row[64 * word + j]) for word in range(2)] for row in dense], np.uint64)
    assert (Bits(128).signature(words) == Bits(128).signature(dense)).all()


# batches, types, slots, seeds


@named
def test_slots_depend_on_nothing_but_the_item(name):
    """One row alone, any part of a batch, any order: bit for bit the same."""
    family, batch = ALL[name], batch_for(name)
    together = family.signature(batch)
    assert together.shape == (40, 50)
    assert together.dtype == family.dtype
    for i in (0, 1, 15, 16, 17, 39):
        assert (family.signature(batch[i : i + 1])[0] == together[i]).all()
    order = np.random.default_rng(2).permutation(40)
    assert (family.signature(batch[order]) == together[order]).all()
    assert (family.signature(batch[3:30]) == together[3:30]).all()
    assert (family.signature(np.asfortranarray(batch)) == together).all()
    assert (family.signature(np.repeat(batch, 2, axis=1)[:, ::2]) == together).all()


@of_vectors
def test_float32_and_float64_of_the_same_values(name):
    family = OF_VECTORS[name]
    assert (family.signature(items()) == family.signature(items().astype(float))).all()
    assert (family.signature(np.rint(items())) == family.signature(np.rint(items()).astype(np.int64).tolist())).all()


@of_vectors
@given(row=st.lists(st.floats(-100, 100), min_size=DIMENSION, max_size=DIMENSION).filter(any), before=st.integers(0, 20))
@settings(max_examples=25, deadline=None)
def test_any_row_in_any_place(name, row, before):
    family = OF_VECTORS[name]
    alone = family.signature([row])
    assert (family.signature([*items(before).tolist(), row, *items(3).tolist()])[before] == alone[0]).all()


@named
@pytest.mark.parametrize("slots", [1, 3, 49, 64, 97])
def test_the_first_slots_are_the_same_however_many(name, slots):
    family, batch = ALL[name], batch_for(name)
    common = min(slots, 50)
    assert (family.with_slots(slots).signature(batch)[:, :common] == family.signature(batch)[:, :common]).all()


@named
def test_another_seed_is_another_family(name):
    family, batch = ALL[name], batch_for(name)
    for seed in (1, 2**64 - 1):
        assert (replace(family, seed=seed).signature(batch) != family.signature(batch)).any(axis=1).mean() > 0.9  # a code of ones has ones everywhere


@named
def test_no_items_give_signatures_of_shape_zero(name):
    family = ALL[name]
    empty = family.signature([])
    assert empty.shape == (0, 50)
    assert empty.dtype == family.dtype
    assert family.estimate(empty, empty).shape == (0,)
    assert family.band_keys_of(empty, 10, 5).shape == (10, 0)


@named
def test_registry_and_frozen(name):
    family = ALL[name]
    assert type(family).__name__ in FAMILIES
    assert family.collision.family == type(family).__name__
    assert (family.slots, family.seed) == (50, 0)
    assert hash(family) == hash(replace(family))
    with pytest.raises(AttributeError):
        family.slots = 3


@named
def test_equal_items_agree_and_keys_follow_slots(name):
    """Two items share a band's key exactly where they agree in all its slots."""
    family = ALL[name]
    batch = batch_for(name).copy()
    batch[1] = batch[0]
    batch[2, 1:] = batch[0, 1:]
    signatures = family.signature(batch)
    keys = family.band_keys_of(signatures, 10, 5)
    assert family.agreement(signatures[0], signatures[1]) == 1
    assert family.estimate(signatures[0], signatures[1]) == (1 if name in OF_DIRECTIONS else 0)
    equal = (signatures[:, None] == signatures[None]).reshape(40, 40, 10, 5).all(axis=-1)
    assert (equal == (keys.T[:, None] == keys.T[None])).all()


# scales


@of_directions
def test_only_the_direction_counts(name):
    """Over 460 orders of magnitude; powers of two change nothing at all."""
    family, batch = OF_DIRECTIONS[name], items().astype(float)
    signatures = family.signature(batch)
    for power in (-900, -149, -1, 1, 2, 100, 1000):
        assert (family.signature(batch * 2.0**power) == signatures).all()
    for factor in (3.0, 1e-30, 1e200, 1e-290):
        assert (family.signature(batch * factor) == signatures).mean() > 0.9999
    assert (family.signature(items() * np.float32(2)) == signatures).all()
    axis = np.eye(1, DIMENSION)
    for length in (5e-324, 1e-310, 1.7e308):
        assert (family.signature(axis * length) == family.signature(axis)).all()
        assert (family.signature((axis + axis[:, ::-1] * 2) / 3 * length) == family.signature(axis + axis[:, ::-1] * 2)).all() or length < 1e-320


@pytest.mark.parametrize("mode", ["gaussian", "orthogonal"])
def test_opposite_vectors_never_agree(mode):
    family = Hyperplane(300, mode)
    a, b = family.signature(items()), family.signature(-items())
    assert (a + b == 1).all()
    assert (family.estimate(a, b) == -1).all()
    axes = CrossPolytope(DIMENSION, 300)
    assert ((axes.signature(items()).astype(int) - axes.signature(-items())) % 256 == 128).all()


def test_sign_vectors_take_two_directions_for_one():
    """(1, 0) and (2, 1), 26.6 degrees apart: no normal of +1 and -1 comes between them, though the curve says that one in seven does."""
    family = Hyperplane(5000, "signs")
    a, b = family.signature([[1, 0], [2, 1]])
    assert family.agreement(a, b) == 1
    assert family.probability(2 / 5**0.5) == pytest.approx(0.8524, abs=1e-4)
    a, b = Hyperplane(5000).signature([[1, 0], [2, 1]])
    assert abs(Hyperplane(5000).agreement(a, b) - 0.8524) < 4 * (0.8524 * 0.1476 / 5000) ** 0.5


def test_buckets_far_out():
    """Bucket numbers wrap at 2^32, downwards as well; beyond 2^40 widths in all a row is refused."""
    family = Line(1e-6, 40)
    batch = [[3e5, -2e5]]
    lines, shifts = directions("gaussian", 0, 2, 40), directions("uniform", 0, 1, 40)[0] * 1e-6
    expected = [math.floor((3e5 * lines[0, j] + -2e5 * lines[1, j] + shifts[j]) / 1e-6) % 2**32 for j in range(40)]
    assert family.signature(batch)[0].tolist() == expected
    with pytest.raises(UsageError, match=r"row 1: its coordinates add up to 2e\+06, more than 2\^40 buckets of width 1e-06"):
        family.signature([[1.0, 1.0], [1.0, -2e6]])
