"""Arguments that families of vectors and codes refuse, and the messages."""

from __future__ import annotations

import math
from dataclasses import fields, replace

import numpy as np
import pytest

from likewise.errors import UsageError
from likewise.families import Amplified, BBit, Bits, CrossPolytope, Hyperplane, Line, MinHash, Stripe, Threshold
from likewise.planning import curves
from vector_families import ALL, OF_DIRECTIONS, OF_VECTORS, batch_for, named, of_directions, of_vectors

BAD = {
    "nan": ([[1, 2], [3, math.nan]], "row 1"),
    "infinity": ([[1, 2], [-math.inf, 2]], "row 1"),
    "mixed dimensions": ([[1, 2], [1, 2], [1, 2, 3]], "row 2"),
    "one vector": (np.array([1.0, 2.0]), "batch of one"),
    "words": ([["a", "b"]], "row 0"),
    "objects": (3, "int"),
}
#: The same for vectors of 2.
OF_TWO = {name: replace(family, dimension=2) if hasattr(family, "dimension") else family for name, family in OF_VECTORS.items()}


@of_vectors
@pytest.mark.parametrize("bad", BAD)
def test_bad_vectors(name, bad):
    batch, message = BAD[bad]
    with pytest.raises(UsageError, match=message):
        OF_TWO[name].signature(batch)


@of_directions
def test_a_zero_vector_has_no_direction(name):
    with pytest.raises(UsageError, match="row 1 is the zero vector"):
        OF_TWO[name].signature([[1, 2], [0, 0], [0, 0]])
    for other in ("line l2", "line l1", "stripe", "threshold"):
        assert OF_TWO[other].signature([[0.0, 0.0]]).shape == (1, 50)


@pytest.mark.parametrize(
    ("family", "batch", "message"),
    [
        (CrossPolytope(3), [[1.0, 2.0]], "row 0 has 2 numbers, but this family is for vectors of 3 numbers"),
        (Threshold(0, 1, 3), [[0.0, 1.0]], "row 0 has 2 numbers, but this family is for vectors of 3 numbers"),
        (Threshold(0, 1, 2), [[0, 1], [0.5, 1.5]], r"row 1: 1.5 in column 1 is not between 0 and 1"),
        (Threshold(0, 1, 2), [[0, 1], [-1e-9, 1.5]], r"row 1: -1e-09 in column 0"),
        (Bits(3), [[True, False]], "row 0 has 2 bits, but this family is for codes of 3 bits"),
        (Bits(3), [[1, 0, 1], [1, 0, 2]], "row 1"),
        (Bits(3), [[1.0, 0.0, 1.0]], "row 0"),
    ],
)
def test_items_that_do_not_fit(family, batch, message):
    with pytest.raises(UsageError, match=message):
        family.signature(batch)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hyperplane(0), "Hyperplane slots 0"),
        (lambda: Hyperplane(mode="gauss"), "gaussian, signs, orthogonal"),
        (lambda: Hyperplane(seed=-1), "Hyperplane seed -1"),
        (lambda: Hyperplane(spread=0), "Hyperplane spread 0"),
        (lambda: CrossPolytope(0), "CrossPolytope dimension 0"),
        (lambda: CrossPolytope(3.0), "CrossPolytope dimension 3.0"),
        (lambda: Line(0), "Line width 0"),
        (lambda: Line(math.inf), "Line width inf"),
        (lambda: Line(math.nan), "Line width nan"),
        (lambda: Line(1, norm="l3"), "choose one of l2, l1"),
        (lambda: Stripe(-1), "Stripe width -1"),
        (lambda: Threshold(1, 1, 2), "the smaller one first"),
        (lambda: Threshold(1, 0, 2), "the smaller one first"),
        (lambda: Threshold(0, math.inf, 2), "finite"),
        (lambda: Threshold(-1e308, 1e308, 2), "finite"),
        (lambda: Threshold("0", 1, 2), "Threshold low '0'"),
        (lambda: Threshold(0, 1, 0), "Threshold dimension 0"),
        (lambda: Bits(0), "Bits dimension 0"),
        (lambda: Bits(True), "Bits dimension True"),
        (lambda: Bits(np.float64(8)), "Bits dimension"),
        (lambda: Bits(8, np.int64(0)), "Bits slots"),
        (lambda: Line(True), "Line width True"),
        (lambda: Line("4"), "Line width '4': give a number above 0"),
        (lambda: Threshold(0, math.nan, 2), "the smaller one first"),
        (lambda: Amplified(Bits(8), ()), "no step; amplify a family with all_of"),
        (lambda: Amplified(Bits(8), (("some", 3),)), r"step 'some': give \('all', r\)"),
        (lambda: Amplified(Bits(8), ("all",)), "step 'all': give"),
        (lambda: Amplified(Bits(8), (("all", 2.0),)), r"all_of\(2.0\): give a whole number of 1 or more"),
        (lambda: Amplified("Bits", (("all", 2),)), "'Bits' is not a family"),
        (lambda: Bits(8).all_of(0), r"all_of\(0\)"),
        (lambda: Bits(8).any_of(True), r"any_of\(True\)"),
        (lambda: curves.amplified(0.5, [("some", 3)]), "step 'some'"),
        (lambda: curves.amplified(1.5, [("all", 3)]), "a probability of 1.5: give a number from 0 to 1"),
        (lambda: curves.amplified(math.nan, []), "a probability of nan"),
    ],
)
def test_fields_that_cannot_be_meant(make, message):
    with pytest.raises(UsageError, match=message):
        make()


def test_numbers_of_numpy_are_numbers():
    """Fields become Python values, so equal families compare equal."""
    for made, same in (
        (MinHash(np.int64(64), seed=np.uint64(2**64 - 1)), MinHash(64, seed=2**64 - 1)),
        (BBit(np.int32(64), np.int8(4)), BBit(64, 4)),
        (Line(np.float32(0.5), np.int64(9)), Line(0.5, 9)),
        (Stripe(np.int64(3)), Stripe(3)),
        (Threshold(np.float32(0), np.int64(2), np.int64(7)), Threshold(0, 2, 7)),
        (CrossPolytope(np.int64(5)), CrossPolytope(5)),
        (Hyperplane(spread=np.int16(4)), Hyperplane(spread=4)),
        (Bits(np.int64(5)).all_of(np.int64(3)).any_of(np.uint8(2)), Bits(5).all_of(3).any_of(2)),
    ):
        assert made == same and hash(made) == hash(same)
        assert all(isinstance(value, int | float | str | tuple | Bits) and not isinstance(value, np.generic) for value in vars_of(made))


def vars_of(made) -> list:
    return [getattr(made, each.name) for each in fields(made)]


@pytest.mark.parametrize(
    ("values", "where"),
    [([0.5, 1.01], "at index 1: cosine 1.01"), (np.array([[0, 0.5], [2, 0]]), "at index 1, 0: cosine"), (["near", 0], "at index 0: cosine 'near'")],
)
def test_a_bad_value_of_many_is_named_by_its_place(values, where):
    for family in (Hyperplane(), Hyperplane().all_of(3)):
        with pytest.raises(UsageError, match=where):
            family.probability(values)
    with pytest.raises(UsageError, match="at index 2: distance 181: give a number from 0 to 180 degrees"):
        Hyperplane().probability(distance=[0, 90, 181])
    assert Hyperplane().probability([[1, 0], [0.5, -1]]).tolist() == [[1, 0.5], [pytest.approx(2 / 3), 0]]
    assert Hyperplane().probability([]).shape == (0,)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("gaussian", 1.01, "cosine 1.01: give a number from -1 to 1"),
        ("gaussian", -2, "from -1 to 1"),
        ("gaussian", math.nan, "from -1 to 1"),
        ("gaussian", "near", "from -1 to 1"),
        ("line l2", -1, "0 or more"),
        ("stripe", math.nan, "0 or more"),
        ("threshold", 1401, "from 0 to 1400"),
        ("bits", 8, "from 0 to 7"),
    ],
)
def test_values_that_cannot_be(name, value, message):
    for ask in (ALL[name].probability, ALL[name].standard_error):
        with pytest.raises(UsageError, match=message):
            ask(value)
    if name in OF_DIRECTIONS:
        with pytest.raises(UsageError, match="from 0 to 180 degrees"):
            ALL[name].probability(distance=181)


@named
def test_signatures_of_another_kind(name):
    family = ALL[name]
    signatures = family.signature(batch_for(name))
    for wrong, message in ((signatures.astype(np.int64), "an array of u?int"), (signatures[:, :49], "50 slots"), (signatures.tolist(), "list")):
        for a, b in ((wrong, signatures), (signatures, wrong)):
            with pytest.raises(UsageError, match=message):
                family.estimate(a, b)
    with pytest.raises(UsageError, match="40 signatures cannot be compared with 3"):
        family.estimate(signatures, signatures[:3])
    assert family.agreement(signatures[:1], signatures).shape == (40,)
