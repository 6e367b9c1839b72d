"""Sparse vectors have the measures, signatures and refusals of the same vectors written out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from compiled import alone
from likewise.families import CrossPolytope, Hyperplane, Line, Stripe
from likewise.items.sparse import of_words, sparse, words_of
from likewise.kernels import directions as constants
from sparse_rows import csr, mapping

streams_alone = alone(constants.streams)
fill_alone = alone(constants.fill)
room_alone = alone(constants.room)
address_alone = alone(constants.address)
entry_alone = alone(constants.entry)

numbers = st.sampled_from([0.0, 1.0, -1.5, 0.1, 3e-200, 2e150]) | st.floats(-100, 100, allow_nan=False, width=32)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=40), st.sampled_from(["cosine", "angle", "l1", "l2", "linf"]))
def test_measures_are_those_of_dense_vectors_to_the_last_bit(both, by):
    dense = np.array(both).T
    if by in ("cosine", "angle") and not dense.any(axis=1).all():
        return
    a, b = ({place: float(number) for place, number in enumerate(row) if number} for row in dense)
    want = lw.similarity(dense[:1], dense[1:], by=by)
    if by == "l2" and not 1e-70 < want < 1e70 and want:
        assert lw.similarity(mapping(a), mapping(b), by=by) == pytest.approx(float(want[0]), rel=1e-14)  # not summed in lanes
    else:
        assert lw.similarity(mapping(a), mapping(b), by=by) == want[0]
    assert lw.similarity(csr([a], len(both)), csr([b], len(both)), by=by)[0] == lw.similarity(mapping(b), mapping(a), by=by)


def test_values_of_a_measure_by_hand():
    a, b = mapping({5: 3.0, 999_999: 4.0}), mapping({999_999: 3.0, 5: 4.0})
    assert lw.similarity(a, b, by="cosine") == pytest.approx(24 / 25, abs=1e-15)
    assert lw.similarity(a, b, by="l1") == 2 and lw.similarity(a, b, by="l2") == math.sqrt(2) and lw.similarity(a, b, by="linf") == 1
    assert lw.similarity(a, mapping({2**64 - 1: 7.0}), by="angle") == 90 and lw.similarity(a, mapping({}), by="l2") == 5
    assert lw.similarity(a, b, by="l3") == pytest.approx(2 ** (1 / 3))
    assert lw.similarity([a, b], [b, b], by="l1").tolist() == [2, 0]
    assert lw.similarity(mapping({}), mapping({}), by="l1") == 0


def test_what_is_no_sparse_vector_is_refused_by_row():
    one = [mapping({1: 1.0})]
    for given_, said in [
        ([mapping({}), mapping({})], "on the left, row 0 is the zero vector|row 0 is the zero vector"),
        ([*one, {"indices": [1]}], r"row 1 holds records, such as \{'indices': \[1\]"),
        ([*one, {"indices": [1, 2], "values": [1]}], "row 1: 2 indices and 1 values"),
        ([*one, {"indices": [-1], "values": [1]}], "row 1, item 1 of 1: index -1 is out of range"),
        ([*one, {"indices": [4], "values": [1], "dim": 4}], "row 1, item 1 of 1: index 4 is out of range: the dimension is 4"),
        ([*one, {"indices": [1], "values": [math.nan]}], "row 1, item 1 of 1: nan is not a coordinate"),
        ([*one, {"indices": [1], "values": ["x"]}], "row 1 holds records"),
        ([*one, {"indices": [1], "values": [10**400]}], "row 1, item 1 of 1: inf is not a coordinate"),
        ([*one, {"indices": [1, 1], "values": [1e308, 1e308]}], "row 1: the values at index 1 add up beyond"),
        (csr([{1: 1.0}, {7: 1.0}], 5), "row 1, item 1 of 1: index 7 is out of range: the dimension is 5"),
        (csr([{1: 1.0}, {2: 1.0}], indices=np.array([1, -2])), "row 1, item 1 of 1: index -2 is out of range: it counts from 0"),
        (csr([{1: 1.0}, {2: 1.0}], data=np.array([1, 1j])), "complex128"),
        (csr([{1: 1.0}, {2: 1.0}], indptr=np.array([0, 3, 2])), "offsets rise"),
        (np.eye(2), "sparse vectors on the right and dense ones on the other side"),
    ]:
        with pytest.raises(lw.UsageError, match=said):
            lw.similarity(given_, one * 2, by="cosine")


@pytest.mark.parametrize("family", [Hyperplane(300), Hyperplane(70, "signs"), Line(3.0, 300), Line(2.0, 70, "l1"), Stripe(2.0, 70)], ids=str)
def test_signatures_are_those_of_dense_vectors_to_the_last_bit(family):
    draw = np.random.default_rng(1)
    dense = draw.normal(size=(50, 200)) * (draw.random((50, 200)) < 0.1)
    dense[:, 7] += 1e-3
    made = [{place: float(number) for place, number in enumerate(row) if number} for row in dense]
    assert (family.signature(csr(made, 200)) == family.signature(dense)).all()
    assert (family.signature([mapping(row) for row in made[9:10]]) == family.signature(dense[9:10])).all()  # whatever stands beside it


def test_families_that_must_turn_all_coordinates_say_so():
    for family in (Hyperplane(mode="orthogonal"), Hyperplane(mode="rotated"), CrossPolytope(7)):
        with pytest.raises(lw.UsageError, match=r"sparse vectors are not expanded|dense vectors"):
            family.signature(csr([{1: 1.0}], 7))
    with pytest.raises(lw.UsageError, match="row 1 is the zero vector"):
        Hyperplane().signature(csr([{1: 1.0}, {}]))
    with pytest.raises(lw.UsageError, match=r"row 1: its coordinates add up to 2e\+300"):
        Line(1.0).signature(csr([{}, {1: 1e300, 2: -1e300}]))


@pytest.mark.parametrize("kind", constants.KINDS)
def test_directions_made_many_at_once_are_those_of_their_addresses(kind):
    """Any coordinate, and of normals the ones in all three ranges of the inverse."""
    number, seed = constants.KINDS[kind], np.uint64(5)
    columns = streams_alone(number, seed, 3, 500)
    for coordinate in (0, 77, 2**63, 2**64 - 1):
        out = np.empty(500)
        fill_alone(number, columns, np.uint64(coordinate), room_alone(500), out)
        words = [address_alone(column, np.uint64(coordinate)) for column in columns]
        assert out.tolist() == [entry_alone(number, np.uint64(word)) for word in words]
        if coordinate < 100:
            assert out.tolist() == constants.directions(kind, 5, 78, 503)[coordinate, 3:].tolist()


def test_words_are_read_back():
    vectors = sparse([mapping({3: 1.0, 1: 2.0}), mapping({}), mapping({2**64 - 1: -1.0})])
    words, offsets = words_of(vectors), 2 * vectors.offsets
    assert words[:2].tolist() == [1, 3] and words[2:4].view(np.float64).tolist() == [2.0, 1.0]
    again = of_words(np.concatenate([[np.uint64(9)], words]), offsets + 1)
    assert all((a == b).all() for a, b in zip(again.arrays, vectors.arrays, strict=True))
    assert [part.tolist() for part in vectors[np.array([2, 0])].arrays] == [[2**64 - 1, 1, 3], [-1.0, 2.0, 1.0], [0, 1, 3]]
