"""The sides of rotated hyperplanes, as a family: by the definition, and how often they agree, measured."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np
import pytest

from likewise.families import Hyperplane
from likewise.kernels import signs
from likewise.kernels.directions import directions
from likewise.kernels.signs import code_bits, rotation_size
from near_vectors import clustered


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
    """A single vector as in a batch; the first slots as with fewer; x, 2x and 1e200x agree; x and -x never do."""
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
    each = (agree.mean(axis=0) - p) / math.sqrt(p * (1 - p) / SEEDS)  # no slot is favored
    assert abs(each).max() < (5.5 if 0.05 < p < 0.95 else 12)


@angles
def test_rotated_estimates_vary_no_more_than_independent_ones(dimension, degrees):
    agree, p = agreement(dimension, degrees), 1 - degrees / 180
    ratio = agree.mean(axis=1).var() * SLOTS / (p * (1 - p))
    assert ratio < 1 + 4 * math.sqrt(2 / SEEDS)
    if dimension == 100 and degrees >= 30:
        assert ratio < 0.9  # they vary less


@pytest.mark.parametrize(("dimension", "degrees", "rows"), [(100, 30.0, 12), (256, 25.0, 12), (1000, 12.0, 24), (3, 30.0, 12)])
def test_bands_of_rotated_slots_have_the_expected_recall(dimension, degrees, rows):
    """An AND of slots in a row finds as much as of independent ones, within 1% or four standard errors; an OR of those, as much or more."""
    agree, p = agreement(dimension, degrees), 1 - degrees / 180
    bands = SLOTS // rows
    groups = agree[:, : bands * rows].reshape(SEEDS, bands, rows).all(axis=2)
    expected = p**rows
    error = groups.mean(axis=1).std() / math.sqrt(SEEDS)
    assert abs(groups.mean() - expected) < 4 * error + 0.01 * expected
    some = groups[:, : bands // 4 * 4].reshape(SEEDS, -1, 4).any(axis=2)
    expected_recall = 1 - (1 - expected) ** 4
    assert some.mean() > expected_recall - 4 * some.mean(axis=1).std() / math.sqrt(SEEDS) - 0.005


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
