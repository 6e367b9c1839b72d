"""Theory of MinHash, measured: mean, variance, S-curve and recall, at every set size and on structured input.

Seeds are fixed, so a test passes or fails for good; bounds are four standard errors of what theory predicts unless they say otherwise.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest

from likewise.families import MinHash
from likewise.planning import choose, probability
from sensitivity import SIMILARITIES, assert_sensitive

MODES = ["oph", "classic"]
SLOTS = 128


def random_pairs(trials: int, union: int, shared: int, seed: int):
    """Pairs of sets of random elements with ``union`` elements in all, ``shared`` in both, as two batches."""
    elements = np.random.default_rng([seed, union, shared]).integers(0, 2**64, (trials, union), np.uint64)
    left = shared + (union - shared) // 2
    a, b = elements[:, :left], np.concatenate([elements[:, :shared], elements[:, left:]], axis=1)
    return tuple((side.ravel(), np.arange(trials + 1) * side.shape[1]) for side in (a, b))


def agreement(family: MinHash, a, b) -> np.ndarray:
    """Which slots agree, bool[pairs, slots]."""
    return family.signature(a) == family.signature(b)


# F 1 and 2: mean and variance


def cells() -> list[tuple[int, int]]:
    """Sizes of union and intersection: as near to J = 0, .1, .5, .8, 1 as whole numbers allow."""
    return sorted({(union, round(j * union)) for union in (1, 2, 4, 16, 100, 10_000) for j in (0, 0.1, 0.5, 0.8, 1)})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("union", "shared"), cells())
def test_mean_and_variance(union, shared, mode, scaled):
    trials, j = min(20_000, 8_000_000 // union) // scaled(1, 10), shared / union
    estimates = np.concatenate(
        [agreement(MinHash(SLOTS, mode, seed), *random_pairs(trials // 4, union, shared, seed)).mean(axis=1) for seed in range(4)]
    )
    if j in (0, 1):
        assert (estimates == j).all()
        return
    theory = j * (1 - j) / SLOTS
    assert abs(estimates.mean() - j) < 4 * sqrt(theory / trials)
    ratio = estimates.var() / theory
    noise = 4 * sqrt(2 / trials)  # the relative error of a variance of nearly normal values
    assert ratio < 1 + noise + (0.02 if mode == "oph" else 0)
    if mode == "classic":
        assert ratio > 1 - noise


@pytest.mark.parametrize(("union", "ceiling"), [(20, 0.95), (50, 0.85), (100, 0.75), (200, 0.75), (400, 0.90)])
def test_oph_is_better_than_independent_slots(union, ceiling):
    """notes A: .97 of the classic variance at 4 elements, .73 at 40, .61 at 100, .63 at 200, .77 at 400."""
    a, b = random_pairs(10_000, union, union // 2, 1)
    assert agreement(MinHash(SLOTS), a, b).mean(axis=1).var() < ceiling * 0.25 / SLOTS


# F 3: the S-curve


def found(family: MinHash, a, b, bands: int, rows: int) -> float:
    """The share of pairs that share a band key."""
    return float((family.band_keys(a, bands, rows) == family.band_keys(b, bands, rows)).any(axis=0).mean())


@pytest.mark.parametrize("union", [10, 100, 1000])
@pytest.mark.parametrize("tenths", [2, 4, 5, 6, 7, 8, 9])
@pytest.mark.parametrize("mode", MODES)
def test_the_curve_of_16_bands_of_8_rows(mode, tenths, union, scaled):
    trials = min(10_000, 2_000_000 // union) // scaled(1, 10)
    a, b = random_pairs(trials, union, union * tenths // 10, 2)
    expected = probability(tenths / 10, 16, 8)
    slack = 4 * sqrt(expected * (1 - expected) / trials) + (0.02 if mode == "oph" else 0)  # oph: slightly dependent slots, a steeper curve
    assert abs(found(MinHash(SLOTS, mode), a, b, 16, 8) - expected) < slack + 1 / trials


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("union", [5, 10, 50, 200])
def test_a_band_agrees_no_more_often_than_chance(union, mode):
    """P(band) <= s^r: where slots depend on each other, as under rotation, bands agree by far too often and unlike items meet."""
    a, b = random_pairs(20_000, union, union * 2 // 5, 3)
    same = (MinHash(SLOTS, mode).band_keys(a, 16, 8) == MinHash(SLOTS, mode).band_keys(b, 16, 8)).mean()
    assert same < 1.03 * 0.4**8 + 4 * sqrt(0.4**8 / (20_000 * 16))


GUARANTEES = [(0.3, 0.99), (0.5, 0.5), (0.5, 0.99), (0.7, 0.9), (0.8, 0.6), (0.8, 0.99), (0.8, 0.999), (0.9, 0.9), (0.9, 0.99)]


@pytest.mark.parametrize("union", [10, 20, 40, 100, 200, 1000])
@pytest.mark.parametrize(("threshold", "recall"), GUARANTEES)
def test_the_recall_at_the_threshold(threshold, recall, union, scaled):
    """The sets of a plan that are exactly at its threshold, small ones too (plan.OPH_BANDS)."""
    plan = choose(threshold, recall)
    trials = min(5_000, 1_000_000 // union) // scaled(1, 10)
    a, b = random_pairs(trials, union, round(union * threshold), 4)
    assert found(MinHash(plan.slots, plan.sketch), a, b, plan.bands, plan.rows) > recall - 4 * sqrt(recall * (1 - recall) / trials)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("union", [10, 200])
def test_sensitivity(union, mode, scaled):
    trials, cascades, family = scaled(1500, 150), scaled(8000, 800), MinHash(SLOTS, mode, 3)
    shares = {j: float(agreement(family, *random_pairs(trials, union, round(union * j), 8)).mean()) for j in SIMILARITIES}
    assert_sensitive(family, shares, trials * SLOTS)
    cascade = MinHash(16, mode, 4).all_of(4).any_of(4)
    pairs_by_probability = {}
    for j in SIMILARITIES:
        a, b = (cascade.signature(side) for side in random_pairs(cascades, 200, round(200 * j), 9))
        pairs_by_probability[j] = float(cascade.agree(a, b).mean())
    assert_sensitive(cascade, pairs_by_probability, cascades)


# F 4: input with structure. The functions change with the seed, the sets do not.


#: name -> so many different elements. The last are tokens i, i+1, i+2, i+3 of 16 bits each.
STRUCTURES = {
    "consecutive": lambda n: np.arange(n, dtype=np.uint64),
    "shifted": lambda n: np.arange(n, dtype=np.uint64) + np.uint64(2**40 + 12345),
    "high half": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(32),
    "multiples of 2^16": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(16),
    "highest byte": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(52),
    "negative": lambda n: (-np.arange(n)).view(np.uint64),
    "squares": lambda n: np.arange(n, dtype=np.uint64) ** np.uint64(2),
    "counters as text": lambda n: np.array([int.from_bytes(f"{i:08d}".encode(), "little") for i in range(n)], np.uint64),
    "4-grams of a rising text": lambda n: np.arange(n, dtype=np.uint64) * np.uint64(0x0001000100010001) + np.uint64(0x0003000200010000),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("union", [40, 1000])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structured_elements(structure, union, mode, scaled):
    seeds, j = scaled(400, 40), 3 / 5
    elements = STRUCTURES[structure](union)
    assert len(np.unique(elements)) == union
    a, b = elements[: union * 4 // 5], elements[union // 5 :]
    families = [MinHash(SLOTS, mode, seed) for seed in range(seeds)]
    agree = np.array([family.signature([a, b]) for family in families])
    estimates = (agree[:, 0] == agree[:, 1]).mean(axis=1)
    theory = j * (1 - j) / SLOTS
    assert abs(estimates.mean() - j) < 4 * sqrt(theory / seeds)
    assert estimates.var() < theory * (1 + 4 * sqrt(2 / seeds))
    if mode == "classic":
        assert estimates.var() > theory * (1 - 4 * sqrt(2 / seeds))
    keys = np.array([family.band_keys_of(pair, 16, 8) for family, pair in zip(families, agree, strict=True)])
    expected = probability(j, 16, 8)
    assert abs((keys[:, :, 0] == keys[:, :, 1]).any(axis=1).mean() - expected) < 4 * sqrt(expected * (1 - expected) / seeds) + 0.02


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [20, 2000, 200_000])
def test_two_runs_of_consecutive_integers(size, mode):
    """A third in common, 256 slots, seeds 1 to 20; a weak family had up to 2.7 times the variance and a shifted mean."""
    family = [MinHash(256, mode, seed) for seed in range(1, 21)]
    a, b = np.arange(size), np.arange(size // 2, size // 2 + size)
    estimates = np.array([one.estimate(*one.signature([a, b])) for one in family])
    error = family[0].standard_error(1 / 3)
    assert error == pytest.approx(0.02946, abs=5e-6)
    assert (abs(estimates - 1 / 3) < 4 * error).all()
    assert abs(estimates.mean() - 1 / 3) < 4 * error / sqrt(20)
    assert 0.5 * error < estimates.std(ddof=1) < 1.7 * error


# F 5: slots


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("slots", [96, 100, 128])
@pytest.mark.parametrize("union", [4, 50, 1000])
def test_no_slot_is_favored(union, slots, mode):
    """Each slot agrees as often as any other: chi-square over the slots, and the furthest of them."""
    trials = min(10_000, 2_000_000 // union)
    agree = agreement(MinHash(slots, mode), *random_pairs(trials, union, union // 2, 5)).mean(axis=0)
    z = (agree - 0.5) / sqrt(0.25 / trials)
    assert abs(z).max() < 4.5
    assert (z**2).sum() < slots + 4 * sqrt(2 * slots)


@pytest.mark.parametrize("slots", [96, 100, 127])
def test_one_element_falls_into_any_slot(slots):
    """The slot that a single element hits is the one without the high bit. Any number of slots, none more often than another."""
    singles = MinHash(slots).signature((np.arange(50_000, dtype=np.uint64), np.arange(50_001)))
    hits = singles < 2**31
    assert (hits.sum(axis=1) == 1).all()
    counts, expected = hits.sum(axis=0), 50_000 / slots
    assert ((counts - expected) ** 2 / expected).sum() < slots + 4 * sqrt(2 * slots)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("union", [6, 60])
def test_slots_do_not_move_together(union, mode, scaled):
    """Correlations of the agreement of any two of 128 slots: the largest of 8,128 is within what independence gives, a little below 0 for oph."""
    trials = scaled(20_000, 2000)
    agree = agreement(MinHash(SLOTS, mode), *random_pairs(trials, union, union // 2, 6))
    correlation = np.corrcoef(agree.T.astype(float))[np.triu_indices(SLOTS, 1)] * sqrt(trials)
    assert correlation.max() < 5
    assert correlation.min() > (-5 if mode == "classic" else -7)
    assert abs(correlation.std() - 1) < 0.05


@pytest.mark.parametrize(
    ("common", "each", "amplify", "oph"),
    [
        (1, 1, lambda family: family.all_of(2), 0.027),
        (1, 1, lambda family: family.any_of(4), 0.897),
        (4, 1, lambda family: family.all_of(3), 0.209),
    ],
)
def test_small_sets_follow_the_formula_in_classic_mode_and_are_as_documented_in_oph(common, each, amplify, oph):
    count = 20_000
    numbers = np.arange(count * (common + 2 * each), dtype=np.uint64).reshape(count, -1)
    left, right = numbers[:, : common + each], np.hstack([numbers[:, :common], numbers[:, common + each :]])
    for mode, expected in (("classic", None), ("oph", oph)):
        family = amplify(MinHash(mode=mode, seed=7))
        agreed = family.agree(family.signature([*left]), family.signature([*right])).mean()
        expected = family.probability(common / (common + 2 * each)) if expected is None else expected
        assert abs(agreed - expected) < 4 * (expected * (1 - expected) / count) ** 0.5 + 0.001, (mode, agreed)
