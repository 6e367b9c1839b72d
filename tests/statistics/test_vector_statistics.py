"""Theory of the families of vectors and codes, measured: mean, variance, AND-OR constructions, independence, recall, structured input.

Functions are drawn by seed, with a new pair for each, so trials are independent. Seeds are fixed, so a test passes or fails for
good; bounds are four standard errors of what theory predicts unless they say otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from likewise.families import Bits, CrossPolytope, Hyperplane, Line, Stripe, Threshold

SEEDS, SLOTS = 250, 96
AND, OR = 3, 4
GROUPS = SLOTS // (AND * OR)
DIMENSIONS = (2, 16, 128)


def unit(rng: np.random.Generator, d: int) -> np.ndarray:
    v = rng.standard_normal(d)
    return v / np.linalg.norm(v)


def at_angle(rng, d, degrees):
    """Two vectors at an angle, in a random plane, 3 and 0.01 long."""
    x, z = unit(rng, d), unit(rng, d)
    z -= z @ x * x
    z /= np.linalg.norm(z)
    theta = math.radians(degrees)
    return 3 * x, (math.cos(theta) * x + math.sin(theta) * z) / 100


def at_l2(rng, d, distance):
    x = rng.normal(0, 20, d)
    return x, x + distance * unit(rng, d)


def at_l1(rng, d, distance):
    x, step = rng.normal(0, 20, d), rng.standard_normal(d)
    return x, x + distance * step / abs(step).sum()


def within_bounds(rng, d, distance):
    """Coordinates from -1 to 3, large gaps and small ones in turn."""
    gap = distance / d
    gaps = gap * (1 + rng.uniform(0, min(1, 4 / gap - 1)) * (-1) ** np.arange(d))
    x = -1 + rng.uniform(0, 1, d) * (4 - gaps)
    y = np.minimum(x + gaps, 3)
    swap = rng.random(d) < 0.5
    return np.where(swap, y, x), np.where(swap, x, y)


def at_hamming(rng, d, distance):
    x = rng.random(d) < 0.5
    y = x.copy()
    y[rng.permutation(d)[: int(distance)]] ^= True
    return x, y


@dataclass(frozen=True)
class Case:
    make: Callable[[int, int, int], object]  # of dimension, slots and seed
    pair: Callable[[np.random.Generator, int, float], tuple]
    distances: Callable[[int], list[float]]  # of a dimension
    slack: float = 0.0  # how far a curve may be off
    variance: float = 0.0  # of an estimate, as a share of that of independent functions, at least


DEGREES = [1.0, 10.0, 30.0, 60.0, 90.0, 150.0]
LENGTHS = [0.1, 1.0, 2.0, 4.0, 10.0, 40.0]
GAPS = [0.01, 0.5, 1.0, 2.0, 3.2, 4.0]
CASES = {
    "gaussian": Case(lambda d, k, seed: Hyperplane(k, seed=seed), at_angle, lambda d: DEGREES, variance=1.0),
    "orthogonal": Case(lambda d, k, seed: Hyperplane(k, "orthogonal", seed), at_angle, lambda d: DEGREES),
    "cross-polytope": Case(lambda d, k, seed: CrossPolytope(d, k, seed), at_angle, lambda d: [1.0, 5.0, 15.0, 30.0, 45.0, 70.0], 0.0005, 1.0),
    "line l2": Case(lambda d, k, seed: Line(4.0, k, "l2", seed), at_l2, lambda d: LENGTHS, variance=1.0),
    "line l1": Case(lambda d, k, seed: Line(4.0, k, "l1", seed), at_l1, lambda d: LENGTHS, variance=1.0),
    "stripe": Case(lambda d, k, seed: Stripe(4.0, k, seed), at_l2, lambda d: LENGTHS, variance=1.0),
    "threshold": Case(lambda d, k, seed: Threshold(-1, 3, d, k, seed), within_bounds, lambda d: [d * gap for gap in GAPS], variance=1.0),
    "bits": Case(lambda d, k, seed: Bits(d, k, seed), at_hamming, lambda d: sorted({0, 1, d // 8, d // 4, d // 2, d - 1, d}), variance=1.0),
}
cells = pytest.mark.parametrize(("name", "dimension"), [(name, d) for name in CASES for d in DIMENSIONS])


@cache
def agreement(name: str, dimension: int) -> np.ndarray:
    """Which slots agree, bool[seeds, distances, slots]."""
    case = CASES[name]
    rng = np.random.default_rng([len(name), dimension])
    out = []
    for seed in range(SEEDS):
        pairs = [case.pair(rng, dimension, distance) for distance in case.distances(dimension)]
        signatures = case.make(dimension, SLOTS, seed).signature(np.array([side for pair in pairs for side in pair]))
        out.append(signatures[::2] == signatures[1::2])
    return np.array(out)


def probabilities(name: str, dimension: int) -> list[float]:
    case = CASES[name]
    return [case.make(dimension, SLOTS, 0).probability(distance=distance) for distance in case.distances(dimension)]


def error(p: float, trials: int) -> float:
    """Four standard errors of a share."""
    return 4 * math.sqrt(p * (1 - p) / trials)


# F 9, and F 1 to 3


@cells
def test_mean(name, dimension):
    shares = agreement(name, dimension).mean(axis=(0, 2))
    for share, p in zip(shares, probabilities(name, dimension), strict=True):
        if p in (0, 1):
            assert share == p
        else:
            assert abs(share - p) < error(p, SEEDS * SLOTS) + CASES[name].slack


@cells
def test_variance(name, dimension):
    """p(1 - p)/slots where functions are independent, and at most that in any case."""
    for at, p in enumerate(probabilities(name, dimension)):
        if not 0.002 < p < 0.998:
            continue
        ratio = agreement(name, dimension)[:, at].mean(axis=1).var() * SLOTS / (p * (1 - p))
        kurtosis = (1 - 6 * p * (1 - p)) / (SLOTS * p * (1 - p))
        noise = 4 * math.sqrt((2 + kurtosis) / SEEDS)
        assert CASES[name].variance - noise < ratio < 1 + noise


@cells
def test_and_then_or(name, dimension):
    """Four groups of three functions that all agree: as often as all_of(3).any_of(4) says. The other way round as well.

    Of orthogonal normals too: twelve slots in a row are fewer than ``spread``, so they lie in twelve blocks and are independent.
    """
    assert Hyperplane(mode="orthogonal").spread >= AND * OR
    case = CASES[name]
    agree = agreement(name, dimension)
    family = case.make(dimension, SLOTS, 0)
    both = {
        family.all_of(AND).any_of(OR): agree.reshape(SEEDS, -1, GROUPS, OR, AND).all(axis=-1).any(axis=-1),
        family.any_of(OR).all_of(AND): agree.reshape(SEEDS, -1, GROUPS, AND, OR).any(axis=-1).all(axis=-1),
    }
    for amplified, pairs_by_probability in both.items():
        for distance, share in zip(case.distances(dimension), pairs_by_probability.mean(axis=(0, 2)), strict=True):
            q = amplified.probability(distance=distance)
            low, high = wilson(share * SEEDS * GROUPS, SEEDS * GROUPS)
            slack = case.slack * AND * OR + 1e-12
            assert low - slack <= q <= high + slack


@cells
def test_amplified_functions_are_those_of_the_slots(name, dimension):
    """`agree` is what the slots say, whichever way they are folded."""
    case, rng = CASES[name], np.random.default_rng(3)
    pairs = [case.pair(rng, dimension, distance) for distance in case.distances(dimension)[1:4] for _ in range(20)]
    family = case.make(dimension, AND * OR, 7)
    left, right = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    agree = family.signature(left) == family.signature(right)
    cascade = family.all_of(AND).any_of(OR)
    assert (cascade.agree(cascade.signature(left), cascade.signature(right)) == agree.reshape(-1, OR, AND).all(axis=2).any(axis=1)).all()
    cascade = family.any_of(OR).all_of(AND)
    assert (cascade.agree(cascade.signature(left), cascade.signature(right)) == agree.reshape(-1, AND, OR).any(axis=2).all(axis=1)).all()


def wilson(count: float, trials: int, z: float = 4.0) -> tuple[float, float]:
    """Bounds of a chance by what was counted (Wilson 1927)."""
    share = count / trials
    center = share + z * z / (2 * trials)
    half = z * math.sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    return (center - half) / (1 + z * z / trials), (center + half) / (1 + z * z / trials)


@cells
def test_sensitivity(name, dimension):
    """(d1, d2, p1, p2): within d1 the chance is p1 or more, from d2 on p2 or less; and neither promise is too small by more than is measured."""
    case = CASES[name]
    distances, agree = case.distances(dimension), agreement(name, dimension)
    near, far = 1, len(distances) - 2
    d1, d2, p1, p2 = case.make(dimension, SLOTS, 0).sensitivity(distances[near], distances[far]) if far > near else (*distances[:2], 1, 0.5)
    assert p1 > p2
    bounds = [wilson(agree[:, at].sum(), SEEDS * SLOTS) for at in range(len(distances))]
    for at, distance in enumerate(distances):
        if distance <= d1:
            assert bounds[at][1] + case.slack >= p1
        if distance >= d2:
            assert bounds[at][0] - case.slack <= p2
    if far > near:
        assert bounds[near][0] - case.slack <= p1
        assert bounds[far][1] + case.slack >= p2


@cells
def test_estimates(name, dimension, scaled):
    """Without bias that can be seen beside the standard error, and of that error, where enough slots agree and not all."""
    case = CASES[name]
    seeds, slots = scaled(60, 15), 600
    noise = math.sqrt(60 / seeds)
    rng = np.random.default_rng(11)
    for distance, p in zip(case.distances(dimension), probabilities(name, dimension), strict=True):
        family = case.make(dimension, slots, 0)
        value = family.collision.of_distance(distance)
        if min(p, 1 - p) * slots < 30 or (name == "stripe" and p < 0.6):
            continue
        estimates = []
        for seed in range(seeds):
            a, b = case.make(dimension, slots, 1000 + seed).signature(np.array(case.pair(rng, dimension, distance)))
            estimates.append(family.estimate(a, b))
        standard = family.standard_error(value)
        bias = 0.25 * standard  # a curve that bends gives an estimate that leans, the less the more slots
        assert abs(np.mean(estimates) - value) < 4 * standard / math.sqrt(seeds) + bias
        assert np.std(estimates) < (1 + 0.45 * noise) * standard
        if case.variance:
            assert np.std(estimates) > (1 - 0.35 * noise) * standard


# F 5


@pytest.mark.parametrize("name", [name for name in CASES if name != "orthogonal"])
def test_functions_do_not_move_together(name):
    """Correlations of the agreement of any two of 48 slots, over 2,000 seeds: the largest of 1,128 is within what independence gives."""
    case, d, slots, seeds = CASES[name], 16, 48, 2000
    rng = np.random.default_rng(5)
    distance = case.distances(d)[3 if name != "cross-polytope" else 2]
    agree = np.empty((seeds, slots))
    for seed in range(seeds):
        a, b = case.make(d, slots, seed).signature(np.array(case.pair(rng, d, distance)))
        agree[seed] = a == b
    p = case.make(d, slots, 0).probability(distance=distance)
    z = (agree.mean(axis=0) - p) / math.sqrt(p * (1 - p) / seeds)
    assert abs(z).max() < 4.5
    assert (z**2).sum() < slots + 4 * math.sqrt(2 * slots)
    correlation = np.corrcoef(agree.T)[np.triu_indices(slots, 1)] * math.sqrt(seeds)
    assert abs(correlation).max() < 4.8
    assert abs(correlation.std() - 1) < 0.1


# orthogonal normals


def meets(dimension: int, degrees: float, spread: int, rows: int, seeds: int = 900, slots: int = 96) -> float:
    """How often ``rows`` slots in a row all agree."""
    rng = np.random.default_rng([dimension, spread])
    total = 0.0
    for seed in range(seeds):
        a, b = Hyperplane(slots, "orthogonal", seed, spread).signature(np.array(at_angle(rng, dimension, degrees)))
        total += (a == b).reshape(-1, rows).all(axis=1).mean()
    return total / seeds


def test_two_normals_at_right_angles_in_the_plane():
    """At most one comes between two vectors 30 degrees apart: both agree with chance 1 - 2·30/180, less than the promised (1 - 30/180)²."""
    trials = 900 * 48
    assert abs(meets(2, 30, spread=1, rows=2) - 2 / 3) < error(2 / 3, trials)
    assert abs(meets(2, 30, spread=32, rows=2) - 25 / 36) < error(25 / 36, trials)


@pytest.mark.parametrize(("dimension", "rows"), [(4, 4), (8, 8), (16, 12)])
def test_and_over_one_block_finds_less_than_expected(dimension, rows):
    """Rows of one block agree less often together than independent ones; in the order of ``spread`` they agree as promised."""
    expected_recall = (1 - 30 / 180) ** rows
    slack = error(expected_recall, 900 * 96 // rows)
    assert meets(dimension, 30, spread=1, rows=rows) < expected_recall - slack
    assert abs(meets(dimension, 30, spread=32, rows=rows) - expected_recall) < slack


@pytest.mark.parametrize(("dimension", "spread", "ceiling"), [(2, 32, 0.8), (8, 8, 0.8), (16, 8, 0.85), (16, 1, 0.85)])
def test_orthogonal_estimates_vary_less(dimension, spread, ceiling):
    """At 60 degrees, against the variance of independent Gaussian normals."""
    rng, shares = np.random.default_rng(4), []
    for seed in range(800):
        a, b = Hyperplane(96, "orthogonal", seed, spread).signature(np.array(at_angle(rng, dimension, 60)))
        shares.append((a == b).mean())
    assert np.var(shares) * 96 / (2 / 9) < ceiling
    assert abs(np.mean(shares) - 2 / 3) < error(2 / 3, 800 * 96)


# F 4: input with structure. The functions change with the seed, the items do not.


def axis(d: int, i: int) -> np.ndarray:
    return np.eye(1, d, i)[0]


#: name -> a pair of vectors of 16.
STRUCTURES = {
    "one-hot": (axis(16, 0), axis(16, 15)),
    "one-hot of two lengths": (axis(16, 3), axis(16, 3) * 2),
    "one of two": (axis(16, 2), axis(16, 2) + axis(16, 9)),
    "constant": (np.full(16, 5.0), np.full(16, 6.0)),
    "constant but one": (np.full(16, 1.0), np.where(np.arange(16) == 4, 3.0, 1.0)),
    "alternating": (np.ones(16), np.where(np.arange(16) % 4 == 0, -1.0, 1.0)),
    "grid": (np.arange(16.0), np.arange(16.0)[::-1].copy()),
    "next on a grid": (np.arange(16.0), np.arange(16.0) + axis(16, 0)),
    "positive, not centered": (10 + np.sin(np.arange(16)), 10 + np.cos(np.arange(16))),
    "powers of two": (2.0 ** np.arange(16), 2.0 ** np.arange(1, 17)),
    "counts": (np.array([9, 4, 1, 1, 1, *[0] * 11], float), np.array([7, 5, 0, 1, 2, 1, *[0] * 10], float)),
}


def true_distance(family, x: np.ndarray, y: np.ndarray) -> float:
    if family.collision.unit == "degrees":
        return math.degrees(math.acos(max(-1.0, min(1.0, x @ y / math.sqrt(x @ x * (y @ y))))))
    return float(abs(x - y).sum() if family.collision.measure == "L1 distance" else np.linalg.norm(x - y))


@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("name", ["gaussian", "orthogonal", "cross-polytope", "line l2", "line l1", "stripe", "threshold"])
def test_structured_vectors(name, structure):
    x, y = STRUCTURES[structure]
    low, high = min(x.min(), y.min()), max(x.max(), y.max())

    def make(seed):
        return Threshold(float(low), float(high), 16, SLOTS, seed) if name == "threshold" else CASES[name].make(16, SLOTS, seed)

    pair = np.array([x, y])
    agree = np.array([np.equal(*make(seed).signature(pair)) for seed in range(SEEDS)])
    p = make(0).probability(distance=true_distance(make(0), x, y))
    share = agree.mean()
    if p < 1e-9 or p > 1 - 1e-9:
        assert share == round(p)
        return
    assert abs(share - p) < error(p, SEEDS * SLOTS) + CASES[name].slack
    if min(p, 1 - p) * SLOTS > 1:
        noise = 4 * math.sqrt((2 + (1 - 6 * p * (1 - p)) / (SLOTS * p * (1 - p))) / SEEDS)
        assert CASES[name].variance - noise < agree.mean(axis=1).var() * SLOTS / (p * (1 - p)) < 1 + noise
        pairs_by_probability = agree.reshape(SEEDS, GROUPS, OR, AND).all(axis=-1).any(axis=-1).mean()
        q = make(0).all_of(AND).any_of(OR).probability(distance=true_distance(make(0), x, y))
        assert abs(pairs_by_probability - q) < error(q, SEEDS * GROUPS) + 2 * CASES[name].slack + (0.02 if name == "orthogonal" else 0)


@pytest.mark.parametrize(("i", "j"), [(0, 1), (0, 255), (1, 2), (127, 128), (170, 85), (3, 4)])
def test_codes_that_count(i, j):
    """0, 1, 2, ... as codes of 8 and of 64 bits, most of them 0."""
    for bits in (8, 64):
        codes = [[number >> place & 1 for place in range(bits)] for number in (i, j)]
        p = 1 - (i ^ j).bit_count() / bits
        agree = np.array([np.equal(*Bits(bits, SLOTS, seed).signature(codes)) for seed in range(SEEDS)])
        assert abs(agree.mean() - p) <= error(p, SEEDS * SLOTS)
        pairs_by_probability = agree.reshape(SEEDS, GROUPS, OR, AND).all(axis=-1).any(axis=-1).mean()
        q = 1 - (1 - p**AND) ** OR
        assert abs(pairs_by_probability - q) <= error(q, SEEDS * GROUPS)


def test_all_numbers_of_eight_bits_at_once():
    """65,536 pairs of a batch under one family after another: the mean over all is that of the curve."""
    codes = (np.arange(256)[:, None] >> np.arange(8) & 1).astype(bool)
    distance = (codes[:, None] != codes[None]).sum(axis=2)
    agree = np.zeros((256, 256))
    for seed in range(60):
        bits = Bits(8, 256, seed).signature(codes)
        agree += (bits[:, None] == bits[None]).mean(axis=2) / 60
    assert abs(agree - (1 - distance / 8)).max() < 4.8 * 0.5 / math.sqrt(60 * 256)


# the line in the plane


@pytest.mark.parametrize("a", [1.0, 7.0])
def test_a_line_in_the_plane(a):
    """Points projected on a line at a uniform angle, cut into buckets of width a from a uniform place on: (a/2, 2a, 1/2, 1/3)-sensitive."""
    rng, n = np.random.default_rng(1), 400_000
    angle, shift = rng.uniform(0, math.pi, n), rng.uniform(0, a, n)

    def share(distance):
        x = np.array([3.0, -2.0])
        y = x + distance * unit(rng, 2)
        along = np.cos(angle), np.sin(angle)
        first, second = (np.floor((p[0] * along[0] + p[1] * along[1] + shift) / a) for p in (x, y))
        return float((first == second).mean())

    for distance in (0.05 * a, 0.25 * a, 0.5 * a):
        assert share(distance) >= 0.5
        # projected length t = d·|cos|, shared with 1 - t/a, whose mean is 1 - 2d/(πa)
        assert abs(share(distance) - (1 - 2 * distance / (math.pi * a))) < error(0.5, n)
    for distance in (2 * a, 3 * a, 20 * a):
        assert share(distance) <= 1 / 3
    # d = 2a: only at 60 degrees or more to the line, a third of all angles, is t below a: 2/π · the integral of 1 - 2·cos from 60 to 90 degrees
    exact = 1 / 3 - 2 * 2 / math.pi * (1 - math.sin(math.pi / 3))
    assert abs(share(2 * a) - exact) < error(exact, n)
