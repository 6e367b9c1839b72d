"""Curves, families and plans with values that are no probabilities; and copies and pickles of them."""

from __future__ import annotations

import copy
import math
import pickle

import numpy as np
import pytest

import likewise as lw
from likewise import families, methods
from likewise.errors import UsageError
from likewise.families import BBit, Bits, CrossPolytope, Hyperplane, Line, MinHash, Stripe, Threshold, WeightedMinHash
from likewise.messages import quoted
from likewise.planning import curves


def str_of(value: object) -> str:
    """A name for a test, for Python does not write the longest numbers."""
    return quoted(value)


FAMILIES = [
    MinHash(),
    BBit(),
    WeightedMinHash(),
    Hyperplane(),
    CrossPolytope(3),
    Line(2.0),
    Line(2.0, norm="l1"),
    Stripe(2.0),
    Threshold(0, 1, 3),
    Bits(64),
]


@pytest.mark.parametrize("family", FAMILIES, ids=repr)
def test_families_amplified_and_curves_can_be_pickled_and_copied(family):
    for thing in (family, family.all_of(2).any_of(3), family.collision):
        for again in (pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)):
            assert again == thing
    again = pickle.loads(pickle.dumps(family.collision))
    assert [again.at(value) for value in (0.25, 0.5, 1)] == [family.collision.at(value) for value in (0.25, 0.5, 1)]
    assert again.at_distance(0.25) == family.collision.at_distance(0.25)


@pytest.mark.parametrize(
    "choices",
    [{}, {"by": "l2", "within": 1}, {"by": "angle", "within": 20, "family": "CrossPolytope", "dimension": 9}, {"preset": "fineweb", "recall": 0.9}],
)
def test_plans_can_be_pickled_and_copied(choices):
    plan = lw.plan(**choices)
    for again in (pickle.loads(pickle.dumps(plan)), copy.copy(plan), copy.deepcopy(plan)):
        assert again == plan
        assert again.to_dict() == plan.to_dict()


@pytest.mark.parametrize(
    "wrong", [10**400, 10**5000, -(10**400), math.nan, None, "x", 1j, {}, b"", [[0.1], [0.1, 0.2]], [np.zeros((2, 2)), np.zeros((2, 3))]], ids=str_of
)
def test_what_is_no_similarity_is_refused(wrong):
    with pytest.raises(UsageError) as raised:
        MinHash().probability(wrong) if wrong is not None else MinHash().standard_error(wrong)
    assert len(str(raised.value)) < 200
    with pytest.raises(UsageError):
        MinHash().sensitivity(wrong, 0.5)


def test_values_of_other_types_have_their_probability():
    assert MinHash().probability(np.array(0.5)) == 0.5
    assert MinHash().probability([[0.1, 0.2], [0.3, 0.4]]).tolist() == [[0.1, 0.2], [0.3, 0.4]]
    assert MinHash(64).standard_error("0.5") == 0.0625
    assert MinHash().probability(np.float32(0.5)) == 0.5


@pytest.mark.parametrize("curve", [curves.gaussian_line, curves.cauchy_line, curves.stripe])
@pytest.mark.parametrize("width", [5e-324, 1e-300, 1.0, 1e300])
def test_no_distance_has_no_probability(curve, width):
    """The least and greatest numbers that there are."""
    of = curve(width)
    for distance in (0.0, 5e-324, 1e-300, 1.0, 1e300, 1.7e308, math.inf):
        assert 0 <= of.at(distance) <= 1 + 1e-12
    assert of.at(0) == 1


@pytest.mark.parametrize(
    "layout", [(1.0, 2), (True, True), (None, 2), ("1", 2), (0, 2), (2, -1), (np.uint32(2), np.uint32(2**31)), (10**5000, 1)], ids=str_of
)
def test_layouts_of_other_than_whole_numbers_are_refused(layout):
    family = MinHash(8)
    signatures = family.signature([[1, 2], [3]])
    with pytest.raises(UsageError):
        family.band_keys_of(signatures, *layout)
    with pytest.raises(UsageError):
        family.band_keys([[1, 2], [3]], *layout)


def test_numbers_of_numpy_are_numbers():
    family = MinHash(8)
    signatures = family.signature([[1, 2], [3]])
    assert family.band_keys_of(signatures, np.uint32(2), np.int8(4)).tolist() == family.band_keys_of(signatures, 2, 4).tolist()
    assert BBit(bits=np.uint8(8)) == BBit(bits=8)
    assert Line(np.float32(1)) == Line(1.0)
    assert lw.plan(recall=np.float32(0.5)) == lw.plan(recall=0.5)
    for bits in (8.0, True, None):
        with pytest.raises(UsageError, match="choose one of"):
            BBit(bits=bits)


def test_lines_refuse_vectors_that_leave_float64_too_few_bits():
    near, far = np.full((1, 1000), 2.0**30 - 2), np.full((1, 1000), 2.0**40 - 2)
    assert Line(1.0).signature(near).shape == (1, 128)
    with pytest.raises(UsageError, match=r"row 0: its coordinates add up to .* more than 2\^40 buckets"):
        Line(1.0).signature(far)
    for family in (Line(1e308), Line(1e308, norm="l1"), Stripe(1e308)):
        with pytest.raises(UsageError, match="row 1: its coordinates add up to inf"):
            family.signature([[0.0] * 100, [1.7e308] * 100])


def test_families_are_listed_and_say_what_they_are():
    assert set(families.__all__) <= set(dir(families))
    assert repr(MinHash().all_of(4).any_of(4)) == "<16 functions of MinHash(slots=16, mode='oph', seed=0): AND of 4, then OR of 4>"


@pytest.mark.parametrize(
    ("by", "meant"),
    [
        ("jaccard", "elements for sets, words:5 for texts"),
        ("L2", "l2"),
        ("Cosine", "cosine"),
        ("euclidean", "l2"),
        ("WORDS:3", "words:3"),
        ("L2.5", "l2.5"),
    ],
)
def test_measures_by_other_names_are_hinted_at(by, meant):
    with pytest.raises(UsageError, match=f"did you mean {meant}"):
        methods.parse(by)


@pytest.mark.parametrize("steps", [5, [5], {"nfc"}, b"nfc"])
def test_steps_that_are_no_strings_are_refused(steps):
    with pytest.raises(UsageError, match="give the steps in one string, such as 'nfc,lower', a list of such strings"):
        methods.steps(steps)
