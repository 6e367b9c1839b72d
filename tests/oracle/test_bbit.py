"""b-bit MinHash: packing against a slow reference implementation, and bias and variance as Li and König (2010) give them.

Seeds are fixed; bounds are four standard errors of what theory predicts.
"""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import UsageError
from likewise.families import BBit, MinHash
from likewise.kernels.bbit import BITS
from reference import WORD, mix
from sensitivity import SIMILARITIES, assert_sensitive

SIZES = (1, 2, 4, 8, 16)
MODES = ("oph", "classic")


def reference(slots: list[int], bits: int, seed: int) -> bytes:
    """One signature as one large number, the first slot lowest."""
    groups = [mix((slot << 32 | value) ^ mix(seed ^ BITS)) >> 64 - bits for slot, value in enumerate(slots)]
    whole = sum(group << slot * bits for slot, group in enumerate(groups))
    return whole.to_bytes(-(-len(slots) * bits // 8), "little")


@settings(max_examples=60, deadline=None)
@given(st.data(), st.sampled_from(SIZES), st.integers(1, 70), st.integers(0, 3), st.integers(0, WORD))
def test_packing_against_the_reference(data, bits, slots, rows, seed):
    values = data.draw(st.lists(st.lists(st.integers(0, 2**32 - 1), min_size=slots, max_size=slots), min_size=rows, max_size=rows))
    family, signatures = BBit(slots, bits, seed=seed), np.array(values, np.uint32).reshape(rows, slots)
    packed = family.of(signatures)
    assert packed.shape == (rows, family.width)
    assert [row.tobytes() for row in packed] == [reference(row, bits, seed) for row in values]
    groups = [[int.from_bytes(row.tobytes(), "little") >> slot * bits & 2**bits - 1 for slot in range(slots)] for row in packed]
    assert family.unpacked(packed).tolist() == groups
    for row, alone in zip(packed, signatures, strict=True):
        assert (family.of(alone) == row).all()
        assert family.unpacked(row).shape == (slots,)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(SIZES), st.integers(1, 300), st.integers(0, 4), st.integers(0, 2**32))
def test_agreement_is_counted_exactly(bits, slots, rows, seed):
    rng, family = np.random.default_rng(seed), BBit(slots, bits)
    groups = rng.integers(0, 2**bits, (2, rows, slots))
    groups[1] = np.where(rng.random((rows, slots)) < 0.5, groups[0], groups[1])
    groups[1, :, ::3] = groups[0, :, ::3] ^ 1  # differ in the lowest bit alone
    a, b = (np.array([pack(row, bits) for row in side], np.uint8).reshape(rows, family.width) for side in groups)
    share = (groups[0] == groups[1]).mean(axis=1)
    assert family.agreement(a, b) == pytest.approx(share, abs=0)
    if rows:
        assert family.agreement(a[0], b[0]) == share[0]
        assert isinstance(family.agreement(a[0], b[0]), float)
        for against in (family.agreement(a[0], b), family.agreement(b, a[0])):
            assert against == pytest.approx((groups[0, 0] == groups[1]).mean(axis=1), abs=0)
    assert (family.agreement(a, a) == 1).all()


def pack(groups: np.ndarray, bits: int) -> list[int]:
    whole = sum(int(group) << slot * bits for slot, group in enumerate(groups))
    return list(whole.to_bytes(-(-len(groups) * bits // 8), "little"))


# mean and variance


def random_pairs(trials: int, union: int, shared: int, seed: int):
    """Pairs of sets of random elements with ``union`` elements in all, ``shared`` in both, as two batches."""
    elements = np.random.default_rng([seed, union, shared]).integers(0, 2**64, (trials, union), np.uint64)
    left = shared + (union - shared) // 2
    a, b = elements[:, :left], np.concatenate([elements[:, :shared], elements[:, left:]], axis=1)
    return tuple((side.ravel(), np.arange(trials + 1) * side.shape[1]) for side in (a, b))


def cells() -> list[tuple[int, int]]:
    """Sizes of union and intersection: as near to J = 0, .1, .5, .8, 1 as whole numbers allow, neither set empty."""
    every = {(union, round(j * union)) for union in (1, 2, 16, 200, 2000) for j in (0, 0.1, 0.5, 0.8, 1)}
    return sorted(every - {(1, 0)})


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("union", "shared"), cells())
def test_mean_and_variance(union, shared, mode):
    slots, j = 128, shared / union
    trials = max(300, min(6000, 400_000 // union))
    a, b = (MinHash(slots, mode).signature(side) for side in random_pairs(trials, union, shared, 1))
    for bits in SIZES:
        family = BBit(slots, bits, mode)
        estimates = family.estimate(family.of(a), family.of(b))
        if j == 1:
            assert (estimates == 1).all()
            continue
        p = 2.0**-bits + (1 - 2.0**-bits) * j
        theory = p * (1 - p) / (slots * (1 - 2.0**-bits) ** 2)
        assert family.standard_error(j) == pytest.approx(sqrt(theory), rel=1e-6)
        assert abs(estimates.mean() - j) < 4 * sqrt(theory / trials)
        noise = 4 * sqrt((2 + (1 - 6 * p * (1 - p)) / (slots * p * (1 - p))) / trials)
        assert estimates.var() < theory * (1 + noise)
        if mode == "classic":
            assert estimates.var() > theory * (1 - noise)


@pytest.mark.parametrize("mode", MODES)
def test_raw_bits_would_not_do(mode):
    """The reason for mixing: the lowest bits of two elements' values agree in all slots or in none, so their share tells nothing."""
    slots, trials = 128, 4000
    a, b = (MinHash(slots, mode).signature(side) for side in random_pairs(trials, 2, 0, 2))
    lowest = 0 if mode == "classic" else 1  # a filled slot has lost bit 0
    raw = (a >> np.uint32(lowest) & 1) == (b >> np.uint32(lowest) & 1)
    family = BBit(slots, 1, mode)
    assert raw.mean(axis=1).var() > 5 * 0.25 / slots
    assert abs(family.agreement(family.of(a), family.of(b)).var() / (0.25 / slots) - 1) < 4 * sqrt(2 / trials)


def test_what_few_bits_cost():
    """At J = .8: 8 bits add half a per cent to the variance of whole slots, and 1 bit needs 2.25 times the slots."""
    whole = MinHash(128).standard_error(0.8)
    assert (BBit(128, 8).standard_error(0.8) / whole) ** 2 == pytest.approx(1.0049, abs=5e-5)
    assert (BBit(128, 1).standard_error(0.8) / whole) ** 2 == pytest.approx(2.25, rel=1e-6)
    assert BBit(288, 1).standard_error(0.8) == pytest.approx(whole, rel=1e-6)
    assert (BBit(128, 8).width, BBit(288, 1).width, BBit(3, 4).width, BBit(3, 16).width) == (128, 36, 2, 6)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bits", SIZES)
def test_sensitivity(bits, mode):
    trials, slots = 1500, 128
    family = BBit(slots, bits, mode, 3)
    shares = {}
    for j in SIMILARITIES:
        a, b = (family.signature(side) for side in random_pairs(trials, 100, round(100 * j), 8))
        shares[j] = float(family.agreement(a, b).mean())
    assert_sensitive(family, shares, trials * slots)


#: name -> so many different elements
STRUCTURES = {
    "consecutive": lambda n: np.arange(n, dtype=np.uint64),
    "high half": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(32),
    "highest byte": lambda n: np.arange(n, dtype=np.uint64) << np.uint64(56),
    "negative": lambda n: (-np.arange(n)).view(np.uint64),
    "4-grams of a rising text": lambda n: np.arange(n, dtype=np.uint64) * np.uint64(0x0001000100010001) + np.uint64(0x0003000200010000),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bits", [1, 2, 8])
@pytest.mark.parametrize("structure", STRUCTURES)
def test_structured_elements(structure, bits, mode):
    """The functions change with the seed, the sets do not: mean, variance, and bands."""
    seeds, slots, union, j = 400, 128, 200, 3 / 5
    elements = STRUCTURES[structure](union)
    assert len(np.unique(elements)) == union
    pair = [elements[: union * 4 // 5], elements[union // 5 :]]
    families = [BBit(slots, bits, mode, seed) for seed in range(seeds)]
    agree = np.array([np.equal(*family.unpacked(family.signature(pair))) for family in families])
    p = 2.0**-bits + (1 - 2.0**-bits) * j
    assert abs(agree.mean() - p) < 4 * sqrt(p * (1 - p) / slots / seeds)
    ratio = agree.mean(axis=1).var() / (p * (1 - p) / slots)
    assert ratio < 1 + 4 * sqrt(2 / seeds)
    if mode == "classic":
        assert ratio > 1 - 4 * sqrt(2 / seeds)
    matched = agree.reshape(seeds, 16, 8).all(axis=2).any(axis=1).mean()
    probability = 1 - (1 - p**8) ** 16
    assert abs(matched - probability) < 4 * sqrt(probability * (1 - probability) / seeds) + (
        0.02 if mode == "oph" else 0
    )  # slots of oph are slightly dependent


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bits", [1, 2, 8])
def test_slots_do_not_move_together(bits, mode):
    """Each slot agrees as often as any other; correlations of any two of 64 are within what independence gives, a little below 0 for oph."""
    slots, trials = 64, 5000
    family = BBit(slots, bits, mode)
    a, b = (family.unpacked(family.signature(side)) for side in random_pairs(trials, 10, 5, 3))
    agree = a == b
    p = 2.0**-bits + (1 - 2.0**-bits) / 2
    z = (agree.mean(axis=0) - p) / sqrt(p * (1 - p) / trials)
    assert abs(z).max() < 4.5
    assert (z**2).sum() < slots + 4 * sqrt(2 * slots)
    correlation = np.corrcoef(agree.T.astype(float))[np.triu_indices(slots, 1)] * sqrt(trials)
    assert correlation.max() < 5
    assert correlation.min() > (-5 if mode == "classic" else -7)
    assert abs(correlation.std() - 1) < 0.06


# the family around it


@pytest.mark.parametrize("mode", MODES)
def test_signatures_are_packed_minhash(mode):
    sets = [range(50), range(25, 75), [7]]
    family = BBit(100, 4, mode, 9)
    assert (family.signature(sets) == family.of(MinHash(100, mode, 9).signature(sets))).all()
    a, b, _ = family.signature(sets)
    assert family.estimate(a, b) == pytest.approx(1 / 3, abs=4 * family.standard_error(1 / 3))
    assert family.signature([]).shape == (0, 50)


def test_the_estimate_may_be_below_0_and_is_not_cut():
    family = BBit(64, 1)
    a, b = random_pairs(2000, 20, 0, 4)
    estimates = family.estimate(family.signature(a), family.signature(b))
    assert estimates.min() < -0.2
    assert abs(estimates.mean()) < 4 * family.standard_error(0) / sqrt(2000)


def test_empty_sets_look_equal():
    family = BBit(128, 8)
    full, empty = family.signature([range(9), []])
    assert family.estimate(empty, empty) == 1
    assert family.estimate(full, empty) < 0.05


def test_bands_collide_as_the_curve_says():
    """An AND of 4 and an OR of 8 of 2-bit functions: bands are made of the unpacked groups."""
    family, trials = BBit(32, 2, "classic"), 8000
    cascade = family.all_of(4).any_of(8)
    a, b = random_pairs(trials, 10, 5, 5)
    matched = cascade.agree(cascade.signature(a), cascade.signature(b))
    probability = cascade.probability(0.5)
    assert probability == pytest.approx(1 - (1 - 0.625**4) ** 8)
    assert abs(matched.mean() - probability) < 4 * sqrt(probability * (1 - probability) / trials)
    same = (family.band_keys_of(family.signature(a), 8, 4) == family.band_keys_of(family.signature(b), 8, 4)).any(axis=0)
    assert (same == matched).all()


def test_the_probability_of_two_bits():
    family = BBit(bits=2)
    assert family.probability(0.5) == 0.625
    assert family.sensitivity(0.2, 0.8) == pytest.approx((0.2, 0.8, 0.85, 0.4))
    assert not hasattr(family, "merge")


def test_what_is_refused():
    family = BBit(100, 4)
    packed = family.signature([range(9), range(5), range(3)])
    for call in (family.estimate, family.agreement):
        with pytest.raises(UsageError, match=r"has 50 bytes, got the shape \(3, 100\)"):
            call(packed, BBit(100, 8).signature([range(9)] * 3))
    with pytest.raises(UsageError, match=r"array of uint8, got an array of uint32; of\(signatures\) packs those of MinHash"):
        family.estimate(packed, MinHash(100).signature([range(9)]))
    with pytest.raises(UsageError, match="got list"):
        family.unpacked([1, 2])
    with pytest.raises(UsageError, match="3 signatures cannot be compared with 2"):
        family.agreement(packed, packed[:2])
    with pytest.raises(UsageError, match="array of uint32, got an array of uint8"):
        family.of(packed)
    with pytest.raises(UsageError, match="26 bands of 4 rows do not fit a signature of 100 slots"):
        family.band_keys_of(packed, 26, 4)
    with pytest.raises(UsageError, match=r"row 0 holds lists of floats, such as .0.5.; expected sets"):
        family.signature([[0.5]])


@pytest.mark.parametrize(
    "wrong", [{"bits": 3}, {"bits": 32}, {"bits": True}, {"bits": "8"}, {"bits": 8.0}, {"slots": 0}, {"mode": "fast"}, {"seed": -1}]
)
def test_what_is_no_family(wrong):
    with pytest.raises(UsageError, match=f"BBit {next(iter(wrong))}"):
        BBit(**wrong)


def test_golden_signatures():
    """Stored sketches hold these: a change of any value needs another SCHEME."""
    sets = [range(1000), [1], []]
    assert {bits: BBit(6, bits).signature(sets).tolist() for bits in SIZES} == GOLDEN
    assert BBit(6, 4).scheme == "bits-1/4/oph-fill-1/oph/6"


GOLDEN: dict[int, list[list[int]]] = {
    1: [[37], [38], [54]],
    2: [[39, 12], [125, 9], [40, 14]],
    4: [[108, 25, 192], [198, 125, 135], [128, 11, 232]],
    8: [[194, 108, 151, 25, 4, 203], [103, 200, 214, 116, 118, 139], [3, 136, 189, 10, 133, 239]],
    16: [
        [213, 194, 19, 108, 55, 151, 213, 25, 85, 4, 157, 203],
        [94, 103, 33, 200, 109, 214, 217, 116, 220, 118, 69, 139],
        [238, 3, 128, 136, 75, 189, 43, 10, 132, 133, 109, 239],
    ],
}
