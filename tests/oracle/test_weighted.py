"""Weighted MinHash: its darts against a slow reference implementation in plain Python, bit for bit; edges, and what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import count
from math import exp, factorial, inf, isnan, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import UsageError
from likewise.families import WeightedMinHash
from likewise.items.words import Hasher
from likewise.kernels.darts import DARTS, FALL, FEWER
from likewise.kernels.minhash import EMPTY, GOLDEN
from reference import WORD, mix

# the reference implementation: the same cells in exact fractions, all up to a rank that is high enough


def cells(weight: float, highest: Fraction) -> Iterator[tuple[int, int, Fraction, Fraction, Fraction, Fraction]]:
    """The cells that begin left of the weight and below the highest rank: (row, number in it, left, right, bottom, top).

    ``right`` and ``bottom`` cut a corner's cell; a cell's darts fall 2^-e to the right of ``left`` and from ``top`` - 2^e to ``top``.
    """
    two = Fraction(2)
    for e in range(-124, 125, 4):
        reach = e & -e if e else 128
        left = two ** -(e + reach) if e + reach < 128 else Fraction(0)
        bottom = two ** (e - reach) if e - reach > -128 else Fraction(0)
        if left < weight and bottom < highest:
            yield 2 * e, 0, left, two**-e, bottom, two**e
    e = -128
    while two**e < highest:
        stair = e // 4 * 4 + 4
        left = two**-stair if stair < 128 else Fraction(0)
        for number in count():
            if left + number * two**-e >= weight:
                break
            yield 2 * e + 1, number, left + number * two**-e, Fraction(2**2000), two**e, two ** (e + 1)
        e += 1


def thrown(element: int, weight: float, seed: int, highest: Fraction) -> Iterator[tuple[Fraction, Fraction, int, int]]:
    """The darts of an element in those cells: (weight, rank, name, the 32 bits that choose the slot)."""
    key = mix(seed ^ DARTS)
    for row, number, left, right, bottom, top in cells(weight, highest):
        high = Fraction(2) ** (row // 2)
        label = mix(key + GOLDEN * row & WORD)
        word = mix((mix(element ^ key) ^ label) + GOLDEN * number & WORD)
        for dart in range(sum(word >= fewer for fewer in FEWER.tolist())):
            spot = word + GOLDEN * (dart + 1) & WORD
            name, fall = mix(spot), mix(spot ^ FALL)
            across, rank = left + Fraction(name, 2**64) / high, top - high + Fraction(fall >> 32, 2**32) * high
            if across < min(weight, right) and rank >= bottom:
                yield across, rank, name, fall & 0xFFFFFFFF


def reference(weights: dict[int, float], slots: int, seed: int) -> list[int]:
    """A signature: of all darts in a slot the first."""
    if not weights:
        return [EMPTY] * slots
    highest = Fraction(2) ** (int(log((slots + 3) * (log(slots) + 6) / sum(weights.values()), 2)) + 1)
    first: dict[int, tuple[Fraction, int]] = {}
    for element, weight in weights.items():
        for _, rank, name, choice in thrown(element, weight, seed, highest):
            slot = choice * slots >> 32
            first[slot] = min(first.get(slot, (Fraction(2**2000), 0)), (rank, name))
    assert all(first[slot][0] < highest for slot in range(slots))
    return [min(mix(first[slot][1]) >> 32, EMPTY - 1) for slot in range(slots)]


ELEMENTS = st.integers(0, 50) | st.integers(0, WORD)
WEIGHTS = st.sampled_from([0.25, 1.0, 3.0, 2.0**-20, 1e9]) | st.floats(1e-9, 1e9) | st.floats(0.5, 2.0)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.dictionaries(ELEMENTS, WEIGHTS, max_size=6), max_size=3), st.integers(1, 20), st.integers(0, WORD))
def test_signatures_against_the_reference(sets, slots, seed):
    signatures = WeightedMinHash(slots, seed).signature(sets)
    assert signatures.shape == (len(sets), slots)
    assert signatures.dtype == np.uint32
    assert signatures.tolist() == [reference(one, slots, seed) for one in sets]


@pytest.mark.parametrize("total", [1.01e-30, 1e-12, 1.0, 1e12, 0.99e30])
@pytest.mark.parametrize("size", [1, 7])
def test_totals_of_any_scale_against_the_reference(total, size):
    weights = dict(zip(range(size), np.full(size, total / size).tolist(), strict=True))
    assert WeightedMinHash(16).signature([weights])[0].tolist() == reference(weights, 16, 0)


@pytest.mark.parametrize("size", [1, 255, 256, 257])
def test_sizes_around_the_cells_that_are_visited_at_a_time(size):
    weights = dict(zip(range(size), np.random.default_rng(size).exponential(size=size).tolist(), strict=True))
    assert WeightedMinHash(70).signature([weights])[0].tolist() == reference(weights, 70, 0)


def test_a_dart_beyond_the_bound_is_not_yet_the_first():
    """Corners reach to higher ranks than the octaves visited so far, and half of such a weight lies within the staircase."""
    sets = [{i: weight} for i, weight in enumerate(np.random.default_rng(12).uniform(1 / 16, 1 / 8, 300).tolist())]
    assert WeightedMinHash(1).signature(sets).tolist() == [reference(one, 1, 0) for one in sets]


def test_no_dart_is_missing_or_thrown_twice():
    """Areas of the plane have Poisson(area) darts, whatever octaves and corners they lie across: boxes of octaves of weight and rank."""
    elements, low = 150, -9
    found = np.zeros((13, 13))
    pairs = []
    for element in range(elements):
        darts = [(float(across), float(rank)) for across, rank, *_ in thrown(element, 16.0, 0, Fraction(16))]
        boxes = np.clip(np.floor(np.log2(np.array(darts))) - low, 0, None).astype(int)  # what is lower is in the lowest
        inside = boxes[boxes[:, 1] < 13]
        np.add.at(found, tuple(inside.T), 1)
        pairs.append(len(inside))
    edges = np.array([0, *2.0 ** np.arange(low + 1, 5)])
    expected = elements * np.outer(np.diff(edges), np.diff(edges))
    large = expected > 5
    z = (found - expected)[large] / np.sqrt(expected[large])
    assert abs(z).max() < 4
    assert (z**2).sum() < large.sum() + 4 * sqrt(2 * large.sum())
    assert abs(found[~large].sum() - expected[~large].sum()) < 4 * sqrt(expected[~large].sum())
    assert abs(np.var(pairs) / 256 - 1) < 4 * sqrt(2 / elements)


def test_counts_of_darts():
    probabilities = np.diff([0, *(int(fewer) / 2**64 for fewer in FEWER), 1])
    assert probabilities == pytest.approx([exp(-1) / factorial(i) for i in range(20)] + [0], abs=1e-15)


@pytest.mark.parametrize("slots", [1, 64])
def test_scale_costs_nothing(slots):
    """An element whose share of the total is the same visits about as many cells at any scale. Plain DartMinHash visits 100 more at 2^100."""
    visited = [sum(1 for _ in cells(1.3 * 2.0**scale / 100, Fraction(4 * slots) / Fraction(2) ** scale)) for scale in range(-90, 91)]
    assert max(visited) < 4 * slots * 1.3 / 100 + 16


# what a signature does not depend on, and edges


@settings(max_examples=40, deadline=None)
@given(st.dictionaries(ELEMENTS, WEIGHTS, min_size=1, max_size=20), st.randoms(use_true_random=False))
def test_order_and_repeats_do_not_matter(weights, random):
    family = WeightedMinHash(32)
    halves = [(x, w / 2) for x, w in weights.items()] * 2
    random.shuffle(halves)
    first, second = family.signature([weights, halves])
    assert (first == second).all()


def test_a_row_is_the_same_alone_and_in_a_batch():
    rng = np.random.default_rng(11)
    sets = [{int(x): float(w) for x, w in zip(rng.integers(0, 99, n), rng.exponential(size=n), strict=True)} for n in (3, 0, 400, 1, 30)]
    family = WeightedMinHash(50)
    together = family.signature(sets)
    assert (together == np.concatenate([family.signature([one]) for one in sets])).all()
    assert (together == family.signature(sets[::-1])[::-1]).all()
    assert (together[1] == EMPTY).all()


def test_estimates():
    family = WeightedMinHash(400)
    a, b, empty = family.signature([{1: 2.0, 2: 1.0}, {1: 1.0, 3: 1.0}, {}])
    assert family.estimate(a, a) == 1
    assert family.estimate(a, b) == pytest.approx(1 / 4, abs=4 * family.standard_error(1 / 4))
    assert family.estimate(a, empty) == 0
    assert isnan(family.estimate(empty, empty))
    assert np.isnan(family.estimate(empty, np.stack([a, empty]))).tolist() == [False, True]
    assert family.signature([]).shape == (0, 400)
    assert not hasattr(family, "merge")


def test_the_probability_is_the_weighted_jaccard():
    family = WeightedMinHash()
    assert family.probability(0.3) == 0.3
    assert family.sensitivity(0.2, 0.8) == pytest.approx((0.2, 0.8, 0.8, 0.2))
    assert (family.collision.family, family.collision.measure) == ("WeightedMinHash", "weighted Jaccard similarity")
    cascade = family.all_of(4).any_of(4)
    assert cascade.probability(0.8) == pytest.approx(0.8785, abs=5e-5)
    a, b = cascade.signature([{1: 1.0}, {1: 1.0}])
    assert cascade.agree(a, b)


def test_strings_and_large_numbers_are_hashed_by_the_seed():
    """A set of them has the slots of its words; 7 is the word 7, and "7" is not."""
    weights = {"a": 1.5, 7: 2.0, "7": 0.25, 2**70: 3.0}
    words = Hasher(4).listed(["a", "7", 2**70]).tolist()
    expected = reference(dict(zip([words[0], 7, words[1], words[2]], weights.values(), strict=True)), 20, 4)
    assert WeightedMinHash(20, 4).signature([weights, [*weights.items()]]).tolist() == [expected] * 2
    assert not (WeightedMinHash(20, 5).signature([{"a": 1.0}]) == WeightedMinHash(20, 4).signature([{"a": 1.0}])).any()


@pytest.mark.parametrize(
    ("sets", "message"),
    [
        ([{1: 1.0}, {1: 1e31}], r"row 1: its weights add up to 1e\+31; signatures need a total from 1e-30 to 1e\+30; multiply the weights of all"),
        ([{}, {1: 1e-40, 2: 1e-40}], "row 1: its weights add up to 2e-40"),
        ([{1: 1e308, 2: 1e308}], "row 0: its weights add up to inf"),
        ([{1: 1.0}, {}, {7: -1.0}], "row 2, item 1 of 1: the weight -1.0"),
        ([{7: float("nan")}], "row 0, item 1 of 1: the weight nan"),
        ([{1: 1.0}, {7: inf}], "row 1, item 1 of 1: the weight inf"),
        ([{b"a": 1.0}], "row 0 holds a value of type bytes"),
        ([{"a": 1.7e308, "b": 1}, {"b": 1.7e308}, [("b", 1.7e308), ("b", 1.7e308)]], "row 2: the weights of one element add up beyond"),
        ({1: 1.0}, "a batch of one"),
    ],
)
def test_what_is_refused(sets, message):
    for call in (WeightedMinHash().signature, lambda sets: WeightedMinHash().band_keys(sets, 2, 3)):
        with pytest.raises(UsageError, match=message):
            call(sets)


def test_layouts_and_fields_are_refused():
    with pytest.raises(UsageError, match="5 bands of 26 rows do not fit a signature of 128 slots"):
        WeightedMinHash().band_keys([{1: 1.0}], 5, 26)
    with pytest.raises(UsageError, match="WeightedMinHash slots 0"):
        WeightedMinHash(0)
    with pytest.raises(UsageError, match="has 128 slots, got the shape"):
        WeightedMinHash().estimate(*WeightedMinHash(64).signature([{1: 1.0}, {1: 1.0}]))


def test_golden_signatures():
    """Stored sketches hold these: a change of any value needs another SCHEME."""
    sets = [dict.fromkeys(range(1000), 0.5), {1: 1e-9}, {-1: 1.0, 5: 2.5}]
    assert WeightedMinHash(6).signature(sets).tolist() == GOLDEN_SLOTS
    assert WeightedMinHash(6).scheme == "darts-1/6"


GOLDEN_SLOTS: list[list[int]] = [
    [629594508, 589684866, 1132125250, 1966792303, 23695947, 2240219075],
    [2900930027, 4283827212, 2757356048, 2266414574, 3269044888, 2585653126],
    [1918285507, 3325709764, 1737844600, 2397763662, 1776792402, 1178661802],
]
