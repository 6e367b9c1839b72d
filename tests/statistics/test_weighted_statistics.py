"""Weighted MinHash: what theory says of it, measured.

Seeds are fixed; bounds are four standard errors of what theory predicts unless they say otherwise.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from likewise.families import MinHash, WeightedMinHash
from likewise.items.sets import ragged
from likewise.items.weighted import weighted
from likewise.kernels.minhash import EMPTY, GOLDEN
from likewise.planning.curves import amplified
from sensitivity import SIMILARITIES, assert_sensitive

# mean and variance


Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


def batch(elements: np.ndarray, weights: np.ndarray) -> Batch:
    """Sets as rows."""
    return elements.ravel(), weights.ravel(), np.arange(len(elements) + 1) * elements.shape[1]


def drawn(trials: int, size: int, scale: float | None, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Random elements, and weights of one scale or (None) of all from 1e-9 to 1e9."""
    rng = np.random.default_rng([seed, size])
    elements = rng.integers(0, 2**64, (trials, size), np.uint64)
    weights = rng.exponential(size=(trials, size)) * scale if scale else 10 ** rng.uniform(-9, 9, (trials, size))
    return elements, weights


def random_pairs(trials: int, size: int, j: float, scale: float | None, seed: int) -> tuple[Batch, Batch]:
    """Pairs with weighted Jaccard j: in every element one of the two weights is j times the other."""
    elements, weights = drawn(trials, size, scale, seed)
    lighter = np.random.default_rng(seed).random((trials, size)) < 0.5
    a, b = (np.where(side, weights * j, weights) for side in (lighter, ~lighter))
    return batch(elements, a), batch(elements, b)


def agreement(family: WeightedMinHash | MinHash, a, b=None) -> np.ndarray:
    """Which slots agree, bool[pairs, slots]; of the first two sets of ``a`` where that is all."""
    first = family.signature(a)
    return first[0] == first[1] if b is None else first == family.signature(b)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9, None])
@pytest.mark.parametrize("size", [1, 2, 10, 100, 1000])
@pytest.mark.parametrize("j", [0.1, 0.5, 0.8, 0.97])
def test_mean_and_variance(j, size, scale, scaled):
    slots, trials = 64, max(150, min(scaled(2000, 200), 20_000 // size))
    estimates = agreement(WeightedMinHash(slots, size), *random_pairs(trials, size, j, scale, 1)).mean(axis=1)
    theory = j * (1 - j) / slots
    assert abs(estimates.mean() - j) < 4 * sqrt(theory / trials)
    excess = (1 - 6 * j * (1 - j)) / (slots * j * (1 - j))  # kurtosis of a binomial
    assert abs(estimates.var() / theory - 1) < 4 * sqrt((2 + excess) / trials)
    assert WeightedMinHash(slots).standard_error(j) == pytest.approx(sqrt(theory), rel=1e-12)


@pytest.mark.parametrize("scale", [1.0, None])
@pytest.mark.parametrize("size", [3, 50])
def test_elements_that_one_set_lacks(size, scale):
    """Each element is in both sets, with other weights, or in one: J differs from pair to pair."""
    slots, trials = 64, 3000
    elements, a = drawn(trials, size, scale, 2)
    rng = np.random.default_rng(3)
    b = a * np.exp(rng.normal(size=a.shape))
    kind = rng.integers(0, 4, a.shape)
    a, b = np.where(kind == 1, 0.0, a), np.where(kind == 2, 0.0, b)
    j = np.minimum(a, b).sum(axis=1) / np.maximum(a, b).sum(axis=1)
    usable = (a.sum(axis=1) > 0) & (b.sum(axis=1) > 0) & (j > 0) & (j < 1)
    estimates = agreement(WeightedMinHash(slots), batch(elements, a), batch(elements, b)).mean(axis=1)
    z = ((estimates - j) / np.sqrt(np.maximum(j * (1 - j), 1e-30) / slots))[usable & (j * (1 - j) * slots > 1)]
    assert len(z) > 1000
    assert abs(z.mean()) < 4 / sqrt(len(z))
    assert abs(z.var() - 1) < 4 * sqrt(3 / len(z))


@pytest.mark.parametrize("power", [-40, -3, 1, 40])
def test_scaling_both_sets_keeps_the_similarity(power):
    (elements, a, offsets), (_, b, _) = random_pairs(2000, 12, 0.6, 1.0, 4)
    scaled = agreement(WeightedMinHash(64), (elements, a * 2.0**power, offsets), (elements, b * 2.0**power, offsets)).mean(axis=1)
    assert abs(scaled.mean() - 0.6) < 4 * sqrt(0.24 / 64 / 2000)


def test_equal_and_disjoint_sets():
    elements, weights = drawn(300, 20, None, 5)
    family = WeightedMinHash(64)
    same = batch(elements, weights)
    assert agreement(family, same, same).all()
    others = batch(elements ^ np.uint64(1), weights)
    assert not agreement(family, same, others).any()


def test_whole_weights_are_repeats():
    """The multiset expansion: an element of weight 3 is three elements, and MinHash of those estimates the same."""
    rng = np.random.default_rng(6)
    a = {int(x): float(w) for x, w in zip(range(60), rng.integers(1, 6, 60), strict=True)}
    b = {int(x): float(w) for x, w in zip(range(15, 75), rng.integers(1, 6, 60), strict=True)}
    everything = a.keys() | b.keys()
    j = sum(min(a.get(x, 0), b.get(x, 0)) for x in everything) / sum(max(a.get(x, 0), b.get(x, 0)) for x in everything)
    expanded = [[x * 1000 + i for x, w in one.items() for i in range(int(w))] for one in (a, b)]
    seeds, pair, sets = range(300), weighted([a, b]), ragged(expanded)
    by_weight = [float(agreement(WeightedMinHash(128, seed), pair).mean()) for seed in seeds]
    by_repeats = [float(agreement(MinHash(128, "classic", seed), sets).mean()) for seed in seeds]
    error = sqrt(j * (1 - j) / 128)
    for estimates in (by_weight, by_repeats):
        assert abs(np.mean(estimates) - j) < 4 * error / sqrt(len(seeds))
        assert abs(np.std(estimates) / error - 1) < 4 * sqrt(0.5 / len(seeds))


@pytest.mark.parametrize("scale", [1.0, None])
@pytest.mark.parametrize("size", [2, 50])
def test_sensitivity(size, scale, scaled):
    trials, cascades, family = scaled(1000, 100), scaled(4000, 400), WeightedMinHash(64, 3)
    shares = {j: float(agreement(family, *random_pairs(trials, size, j, scale, 10)).mean()) for j in SIMILARITIES}
    assert_sensitive(family, shares, trials * 64)
    cascade = WeightedMinHash(16, 4).all_of(4).any_of(4)
    pairs_by_probability = {}
    for j in SIMILARITIES:
        a, b = (cascade.signature(side) for side in random_pairs(cascades, size, j, scale, 11))
        pairs_by_probability[j] = float(cascade.agree(a, b).mean())
    assert_sensitive(cascade, pairs_by_probability, cascades)


STRUCTURES = {
    "consecutive": lambda n: np.arange(n, dtype=np.uint64),
    "high half": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(32),
    "highest byte": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(56),
    "multiples of the golden ratio": lambda n: np.arange(n, dtype=np.uint64) * np.uint64(GOLDEN),
}


@pytest.mark.parametrize("size", [5, 200])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structured_elements(structure, size):
    """The functions change with the seed, the sets do not."""
    seeds, elements, weights = 500, STRUCTURES[structure](size), np.resize([1.0, 0.5, 2.0, 1.0, 3.0], size)
    rows = np.stack([elements, elements])
    pair = batch(rows, np.stack([weights, weights[::-1] / 2]))
    j = float(np.minimum(weights, weights[::-1] / 2).sum() / np.maximum(weights, weights[::-1] / 2).sum())
    signatures = np.array([WeightedMinHash(64, seed).signature(pair) for seed in range(seeds)])
    agree = signatures[:, 0] == signatures[:, 1]
    assert abs(agree.mean() - j) < 4 * sqrt(j * (1 - j) / 64 / seeds)
    assert abs(agree.mean(axis=1).var() / (j * (1 - j) / 64) - 1) < 4 * sqrt(2 / seeds)
    assert len(np.unique(signatures)) > 0.9 * size  # every element wins a slot under some seed


# slots, bands, seeds


def test_bands_agree_as_independent_slots_do():
    for j in (0.4, 0.6, 0.8):
        a, b = random_pairs(4000, 8, j, None, 7)
        family = WeightedMinHash(80)
        keys = family.band_keys(a, 16, 5)
        assert (keys == family.band_keys_of(family.signature(a), 16, 5)).all()
        pairs_by_probability = keys == family.band_keys(b, 16, 5)
        for share, probability in (
            (pairs_by_probability.mean(), j**5),
            (pairs_by_probability.any(axis=0).mean(), amplified(j, [("all", 5), ("any", 16)])),
        ):
            trials = pairs_by_probability.size if probability == j**5 else 4000
            assert abs(share - probability) < 4 * sqrt(probability * (1 - probability) / trials)


@pytest.mark.parametrize("size", [1, 6, 100])
def test_slots_are_identically_distributed_and_uncorrelated(size, scaled):
    slots, trials = 100, scaled(5000, 500)
    agree = agreement(WeightedMinHash(slots), *random_pairs(trials, size, 0.5, 1.0, 8))
    z = (agree.mean(axis=0) - 0.5) / sqrt(0.25 / trials)
    assert abs(z).max() < 4.5
    assert (z**2).sum() < slots + 4 * sqrt(2 * slots)
    correlation = np.corrcoef(agree.T.astype(float))[np.triu_indices(slots, 1)] * sqrt(trials)
    assert abs(correlation).max() < 5
    assert abs(correlation.std() - 1) < 0.05


def test_seeds_are_independent():
    """Signatures of one set under two seeds share no dart, and estimates of one pair do not move together."""
    a, b = random_pairs(4000, 10, 0.5, 1.0, 9)
    first, second = WeightedMinHash(64, 1), WeightedMinHash(64, 2)
    assert not (first.signature(a) == second.signature(a)).any()
    together = np.corrcoef(agreement(first, a, b).mean(axis=1), agreement(second, a, b).mean(axis=1))[0, 1]
    assert abs(together) < 4 / sqrt(4000)


def test_values_are_spread_over_32_bits():
    values = WeightedMinHash(128).signature(batch(*drawn(500, 3, 1.0, 10))).ravel()
    bits = (values[:, np.newaxis] >> np.arange(32, dtype=np.uint32) & 1).mean(axis=0)
    assert abs(bits - 0.5).max() < 4.5 * sqrt(0.25 / 500 / 4)  # a set repeats the few darts that win many slots
    assert values.max() < EMPTY
