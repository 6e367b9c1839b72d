"""`similarity` on everything that a caller may give: one item or a batch, in every form, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from likewise.items.codes import codes
from likewise.items.vectors import nonzero, vectors
from likewise.items.weighted import weighted

NAN, INF = math.nan, math.inf


def array(rows, kind=None):
    return np.array(rows, kind)


def values_and_offsets(kind):
    return array([3, 1, 1, 7], kind), array([0, 3, 4])


SETS = [[3, 1, 1], [7]], [[1, 2], [7]]  # Jaccard 1/3 and 1
FORMS = {
    "lists": SETS,
    "sets": ([{3, 1}, {7}], [frozenset({1, 2}), {7}]),
    "arrays": tuple([array(one) for one in side] for side in SETS),
    "small arrays": tuple([array(one, np.uint8) for one in side] for side in SETS),
    "offsets": (values_and_offsets(np.int64), SETS[1]),
    "unsigned offsets": (values_and_offsets(np.uint64), (array([1, 2, 7], np.uint32), array([0, 2, 3]))),
    "arrow": tuple(pa.array(side) for side in SETS),
    "strings": ([["c", "a"], ["g"]], [["a", "b"], ["g"]]),
    "mixed": ([["3", 1], {2**99}], [[1, "1"], {2**99}]),
    "bits": ([array([1, 0, 1], bool), array([0, 1, 0], bool)], [array([0, 1, 1], bool), array([0, 1, 0], bool)]),
    "bit rows": (array([[1, 0, 1], [0, 1, 0]], bool), array([[0, 1, 1], [0, 1, 0]], bool)),
}


@pytest.mark.parametrize("form", FORMS)
def test_sets_in_every_form(form):
    a, b = FORMS[form]
    assert lw.similarity(a, b, by="elements").tolist() == [1 / 3, 1]
    assert lw.similarity(b, a, by="elements").tolist() == [1 / 3, 1]
    assert lw.similarity(a, b, by="elements/containment").tolist() == [1 / 2, 1]
    if isinstance(a, list):
        assert lw.similarity(a[0], b[0], by="elements") == 1 / 3


def test_elements_are_what_they_are():
    assert lw.similarity([1, -5, 2**64], ["1", -5, 2**64], by="elements") == 2 / 4
    for a, b in (([-1], [2**64 - 1]), ([0], [2**64]), ([1], ["1"])):
        assert lw.similarity(a, b, by="elements") == 0
    assert lw.similarity(array([-1]), array([2**64 - 1], np.uint64), by="elements") == 0  # one word of 64 bits, two numbers
    assert lw.similarity(array([5]), array([5], np.uint8), by="elements") == 1
    assert lw.similarity(range(10), range(5, 15), by="elements") == 5 / 15


def test_groups():
    groups = {0: "C1", 1: "C1", 2: "C1", 3: "C2", 4: "C2", 5: "C3", 6: "C3", 7: "C4", 8: "C4", 9: "C4"}
    a, b = {0, 1, 2, 5, 6}, {0, 2, 3, 5, 7, 9}
    assert lw.similarity(a, b, by="elements", groups=groups) == 0.5
    assert lw.similarity([a, [1]], [b, ["1"]], by="elements", groups=groups).tolist() == [0.5, 0]
    assert lw.similarity({1, "x"}, {1, "y"}, by="elements", groups={1: 1}) == 1 / 3  # without a group: each its own
    assert lw.similarity({"x"}, {"y"}, by="elements", groups={"x": "1", "y": 1}) == 0
    assert lw.similarity({"x"}, {"y"}, by="elements", groups={"x": 1, "y": np.int8(1)}) == 1


def test_weighted_sets_in_every_form():
    a, b = {"x": 2, "y": 1}, {"x": 1, 3: 3}
    assert lw.similarity(a, b, by="weighted") == 1 / 6
    assert lw.similarity(list(a.items()), b, by="weighted") == 1 / 6
    assert lw.similarity([a, {}, {}], [list(b.items()), [], {"x": 1}], by="weighted").tolist() == pytest.approx([1 / 6, NAN, 0], nan_ok=True)
    assert lw.similarity([("x", 1), ("x", 1), ("z", 0)], {"x": 2}, by="weighted") == 1
    assert lw.similarity([], {"x": 2}, by="weighted") == 0
    three = array([2, 1, -1]), array([1, 2, 0.5]), array([0, 2, 3])
    words = three[0].astype(np.uint64), *three[1:]
    for other, expected in ((three, [1, 1]), ([{1: 2, 2: 1}, {-1: 0.5}], [1, 1]), (words, [1, 0]), ([{1: 2, 2: 1}, {2**64 - 1: 0.5}], [1, 0])):
        assert lw.similarity(three, other, by="weighted").tolist() == expected
        assert lw.similarity(other, three, by="weighted").tolist() == expected
    assert lw.similarity(words, words, by="weighted").tolist() == [1, 1]


@pytest.mark.parametrize(
    "rows",
    [
        [[1, 2], [0, 3]],
        [(1.0, 2), array([0, 3])],
        array([[1, 2], [0, 3]]),
        array([[1, 0], [2, 3]], np.float32).T,
        array([[1, 2], [0, 3]], ">f4"),
        array([[1, 2], [0, 3]], object),
        pa.array([[1, 2], [0, 3]]),
        pa.array([[9, 9], [1, 2], [0, 3]], pa.list_(pa.float32(), 2)).slice(1),
        pa.chunked_array([pa.array([[1.0, 2.0]]), pa.array([[0.0, 3.0]])]),
    ],
)
def test_vectors_in_every_form(rows):
    assert lw.similarity(rows, [[1, 2], [3, 7]], by="l2").tolist() == [0, 5]
    assert lw.similarity(rows, [[2, 4], [5, 0]], by="cosine").tolist() == [1, 0]


@pytest.mark.parametrize(("by", "value"), [("l1", 7), ("l2", 5), ("linf", 4), ("l3", 91 ** (1 / 3)), ("l1.0", 7), ("angle", 90), ("cosine", 0)])
def test_one_vector_with_one(by, value):
    a, b = ([3, 0], [0, 4])
    found = lw.similarity(a, b, by=by)
    assert type(found) is float
    assert found == pytest.approx(value, rel=1e-15)
    assert lw.similarity(array(a), b, by=by) == found


def test_which_numbers_stay_short():
    for kind, width in (("f2", 4), ("f4", 4), ("i1", 4), ("u1", 4), ("i2", 4), ("i4", 8), ("u4", 8), ("i8", 8), ("f8", 8)):
        read = vectors(array([[1, 2]], kind))
        assert (read.dtype.kind, read.dtype.itemsize, read.flags.c_contiguous, read.flags.writeable) == ("f", width, True, False)
    assert vectors([array([1], np.float32), array([1], np.int8)]).dtype == np.float32
    assert vectors([array([1], np.float32), [1]]).dtype == np.float64
    assert vectors([]).shape == (0, 0)
    assert vectors(np.empty((0, 3), np.float32)).shape == (0, 3)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (array([[1, 0, 1], [1, 1, 1]], bool), array([[1, 1, 0], [1, 1, 1]], bool), [2, 0]),
        ([[1, 0, 1], [True, True, True]], [[1, 1, 0], [1, 1, 1]], [2, 0]),
        ([0b101, 2**64 - 1], [0b110, 0], [2, 64]),
        (array([0b101, 7], np.uint8), array([0b110, 7], np.uint8), [2, 0]),
        (array([[0, 5], [1, 1]], np.uint32), array([[0, 6], [1, 1]], np.uint32), [2, 0]),
        (array([[1] * 70], np.uint16), array([[2] * 70], np.uint16), [140]),
        ([b"ab", b"\0\0"], [b"aa", b"\0\xff"], [2, 8]),
        (pa.array([b"ab"]), [b"aa"], [2]),
        (["abc", ""], ["abd", ""], [1, 0]),
        (["\ud800\0"], ["\ud801\0"], [1]),
    ],
)
def test_hamming_in_every_form(a, b, expected):
    found = lw.similarity(a, b, by="hamming")
    assert found.dtype == np.int64
    assert found.tolist() == expected


def test_one_code_with_one():
    for a, b in ((5, 6), (b"\5", b"\6"), ("ab", "ba"), (array([1, 0, 1], bool), array([1, 1, 0], bool)), ([True, False, True], [True, True, False])):
        found = lw.similarity(a, b, by="hamming")
        assert type(found) is int
        assert found == 2


def test_how_codes_are_packed():
    words, bits = codes(array([[1, 0, 1, 1, 1], [0] * 5], bool))
    assert (words.tolist(), bits) == ([[0b11101], [0]], 5)
    assert codes(array([[1, 2]], np.uint8))[0].tolist() == [[0x0201]]
    assert codes([b"\1" + b"\0" * 7 + b"\2"])[0].tolist() == [[1, 2]]
    wide, bits = codes(np.ones((1, 65), bool))
    assert (wide.tolist(), bits) == ([[2**64 - 1, 1]], 65)
    assert codes([1])[1] == codes(array([1], np.uint64))[1] == 64
    assert codes([])[0].shape == (0, 0)


def test_strings_one_and_many():
    assert lw.similarity("abcde", "acfdeg", by="edit") == 3
    assert type(lw.similarity("a", "b", by="levenshtein")) is int
    assert lw.similarity(["a\0b", "\ud800", ""], ["ab", "\udfff", ""], by="edit").tolist() == [1, 2, 0]
    assert lw.similarity(pa.array(["kitten"]), ["sitting"], by="levenshtein").tolist() == [3]


def test_texts():
    assert lw.similarity("a b c", "a b d e", by="words:1/containment") == 2 / 3
    assert lw.similarity("a a b", "a b", by="words:1/bag") == 2 / 3
    assert lw.similarity("a a b", "a b", by="words:1/bag/containment") == 2 / 3
    assert lw.similarity("a b", "a a b", by="words:1/bag/containment") == 1
    assert lw.similarity(b"A b", "a B", by=lw.Words(1)) == 1
    assert lw.similarity(["a", None], [None, None], by="words:1/containment").tolist() == pytest.approx([0, NAN], nan_ok=True)


@pytest.mark.parametrize("by", ["words:5", "elements", "elements/containment", "weighted", "cosine", "angle", "l1", "l2.5", "hamming", "edit"])
def test_empty_batches(by):
    assert lw.similarity([], [], by=by).shape == (0,)


def test_empty_sets():
    for a, b in ((set(), set()), ([], set()), (set(), [])):
        assert math.isnan(lw.similarity(a, b, by="elements"))
    assert math.isnan(lw.similarity([], [1], by="elements/containment"))
    assert lw.similarity([1], [], by="elements/containment") == lw.similarity([1], [], by="elements") == 0
    assert np.isnan(lw.similarity([[], set()], [set(), []], by="elements")).all()


def test_tiny_and_undefined_rows():
    """Rows of embeddings as they come: a tiny one is a vector like any other; zeros have no angle, whatever their sign; the rest is no vector."""
    v0, t0 = array([1, 2, 3, 4], np.float32), array([1e-30, 2e-30, 3e-30, 4e-30], np.float32)
    assert lw.similarity(v0, t0, by="cosine") == pytest.approx(1, abs=1e-15)
    assert lw.similarity([v0, v0], [2 * v0, v0[::-1]], by="cosine").tolist() == pytest.approx([1, 20 / 30], rel=1e-15)
    for zero in ([0.0] * 4, [-0.0, 0, 0, 0]):
        with pytest.raises(lw.UsageError, match="row 1 is the zero vector, which has no direction: its cosine on the right is undefined"):
            lw.similarity([v0, v0], [v0, zero], by="cosine")
        with pytest.raises(lw.UsageError, match="row 0 is the zero vector, which has no direction: its angle on the left"):
            lw.similarity([zero, zero], [v0, v0], by="angle")
        assert lw.similarity(zero, [0, 3, 4, 0], by="l2") == 5
    with pytest.raises(lw.UsageError, match="row 2 is the zero vector"):
        nonzero(vectors([[1], [2], [0]]), "its angle")


#: (by, a bad batch, what the message says). Each against itself.
REFUSED = [
    ("cosine", [[1, 2], [1, NAN]], "row 1: nan in column 1"),
    ("l2", array([[INF, 2]], np.float32), "row 0: inf in column 0"),
    ("l1", [[1, 2], [1, -INF]], "row 1: -inf"),
    ("l2", [[1, 2], [1, 2], [1, 2, 3]], "row 2 has 3 numbers, row 0 has 2"),
    ("l2", pa.array([[1, 2], [3]]), "row 1 has 1 numbers, row 0 has 2"),
    ("l2", pa.array([[1, 2], None]), "row 1 is null"),
    ("l2", pa.array([[1, 2], [3, None]]), "row 1 holds a null"),
    ("l2", pa.array([["a"]]), "row 0 is of type object"),
    ("l2", pa.array([1.0]), "Arrow array of lists"),
    ("l2", [[]], "row 0 has no numbers"),
    ("l2", np.empty((2, 0)), "row 0 has no numbers"),
    ("l2", np.ones((1, 1, 1)), r"the shape \(1, 1, 1\)"),
    ("l2", [np.ones((1, 1))], r"row 0 is an array of shape \(1, 1\)"),
    ("l2", [[1, 2], ["a", 2]], "row 1: 'a' in column 0"),
    ("l2", [[1], [None]], "row 1: None in column 0"),
    ("l2", [[1], [True]], "row 1: True in column 0"),
    ("l2", [[1], [1j]], "row 1: 1j in column 0"),
    ("l2", [[1], 5], "row 1 is the number 5"),
    ("l2", [[1], "ab"], "row 1 is 'ab'"),
    ("l2", [[1], [10**400]], "row 1: a whole number beyond"),
    ("l2", array([[1j]]), "row 0 is of type complex128"),
    ("l2", array([[True]]), "row 0 is of type bool"),
    ("l2", "ab", "here came str"),
    ("l2", {1: 2}, "here came dict"),
    ("elements", [[1], [2.0]], "row 1: 2.0"),
    ("elements", [[1], [True]], "row 1: True"),
    ("elements", [[1], [None]], "row 1: None"),
    ("elements", [[1], [[2]]], r"row 1: \[2\]"),
    ("elements", [[1], 5], "row 1 is 5"),
    ("elements", [[1], "ab"], "row 1 is 'ab'"),
    ("elements", [[1], {1: 2}], "row 1 is .*by='weighted'"),
    ("elements", [[1], np.ones((2, 2), int)], "row 1 is array"),
    ("elements", [array([1]), array([1.5])], "row 1: 1.5"),
    ("elements", {1: 2}, "here came dict; .*by='weighted'"),
    ("elements", "ab", "here came str"),
    ("elements", 5, "here came int"),
    ("elements", (array([1, 2]), array([0, 3])), "offsets rise from 0"),
    ("weighted", [{1: 1}, {"x": -1}], "row 1: the weight of 'x' is -1"),
    ("weighted", [{1: 1}, {"x": NAN}], "row 1: the weight of 'x' is nan"),
    ("weighted", [{1: 1}, [("x", INF)]], "row 1: the weight of 'x' is inf"),
    ("weighted", [{1: True}], "row 0: the weight of 1 is True"),
    ("weighted", [{1: "2"}], "row 0: the weight of 1 is '2'"),
    ("weighted", [{1: 10**400}], "row 0: the weight of 1 is beyond"),
    ("weighted", [{1: 1}, [(1, 1e308), (1, 1e308)]], "row 1: the weights .* add up beyond"),
    ("weighted", [{1: 1}, {1.5: 1}], "row 1: 1.5"),
    ("weighted", [{1: 1}, [(1, 2, 3)]], r"row 1: \(1, 2, 3\) is no pair"),
    ("weighted", [[1], [2]], r"row 0: \[1\] is no pair .*by='elements'"),
    ("weighted", [{1: 1}, 5], "row 1 is 5"),
    ("weighted", "ab", "here came str"),
    ("weighted", (array([1, 2]), array([1.0, -2]), array([0, 1, 2])), "row 1: the weight of 2 is -2.0"),
    ("weighted", (array([1, 2]), array([1.0]), array([0, 1])), "as many of them"),
    ("weighted", (array([1]), array([1.0]), array([0, 2])), "offsets rise from 0"),
    ("hamming", [b"ab", b"a"], "row 1 has 1 bytes, row 0 has 2"),
    ("hamming", [[1, 0], [1]], "row 1 has 1 bits, row 0 has 2"),
    ("hamming", [[1, 0], [1, 2]], "row 1: 2 in column 1"),
    ("hamming", [1, -1], "row 1 is -1"),
    ("hamming", [1, 2**64], "row 1 is 18446744073709551616"),
    ("hamming", [array([1], np.uint8), array([1], np.uint16)], "row 1 is of uint16, row 0 of uint8"),
    ("hamming", array([[1, 2]]), "int64 of shape"),
    ("hamming", [[]], "row 0 has no bits"),
    ("hamming", [b"a", None], "row 1 is None"),
    ("hamming", ["a", b"a"], "row 1 is b'a'"),
    ("hamming", {1: 2}, "here came dict"),
    ("edit", ["a", None], "row 1 is None"),
    ("edit", ["a", b"a"], "row 1 is b'a'; .*decode"),
    ("levenshtein", b"a", "here came bytes"),
    ("words:1", ["a", 5], "a list of texts"),
]


@pytest.mark.parametrize(("by", "batch", "message"), REFUSED)
def test_what_cannot_be_an_item_is_refused_by_its_row(by, batch, message):
    with pytest.raises(lw.UsageError, match=message) as caught:
        lw.similarity(batch, batch, by=by)
    assert "on the left" in str(caught.value)


@pytest.mark.parametrize(
    ("a", "b", "by", "message"),
    [
        ([[1, 2]], [[1, NAN]], "l2", "on the right, row 0: nan"),
        ([[1, 2]], [[1, 2, 3]], "l2", "vectors of 2 numbers on the left and of 3 on the right"),
        (b"ab", b"abc", "hamming", "codes of 16 bits on the left and of 24 on the right"),
        (array([[1]], bool), array([[1] * 9], bool), "hamming", "1 bits on the left and of 9"),
        (["ab", "a"], ["ab", "abc"], "hamming", "row 1: a string of 1 characters and one of 3; .*by='edit'"),
        ("a", b"a", "hamming", "strings on one side and codes"),
        ([1, 2], [[1, 2]], "l2", r"one vector on the left and a batch on the right; .*\[vector\] \* n"),
        ([{1}], {1}, "elements", "one set on the right and a batch on the left"),
        ("a", ["a"], "words:1", "one text on the left and a batch on the right"),
        ({1: 2}, [{1: 2}], "weighted", "one weighted set on the left"),
        ("a", 5, "edit", "on the right, strings are a list of str; here came int"),
    ],
)
def test_two_sides_that_do_not_fit(a, b, by, message):
    with pytest.raises(lw.UsageError, match=message):
        lw.similarity(a, b, by=by)


@pytest.mark.parametrize(
    ("by", "item"),
    [("words:1", "a"), ("elements", {1}), ("weighted", {1: 1}), ("l2", [1]), ("cosine", [1]), ("hamming", b"a"), ("hamming", "a"), ("edit", "a")],
)
def test_batches_of_different_lengths(by, item):
    for a, b in ((2, 3), (3, 2), (0, 1), (1, 0)):
        with pytest.raises(lw.UsageError, match=f"{a} items on the left and {b} on the right"):
            lw.similarity([item] * a, [item] * b, by=by)


def test_options_that_do_not_go_together():
    for by in ("words:5", "weighted", "elements/containment", "l2"):
        with pytest.raises(lw.UsageError, match="by='elements'"):
            lw.similarity("a", "a", by=by, groups={1: 1})
    for groups, message in (([1], "mapping"), ({1.5: 1}, "groups: 1.5"), ({1: None}, "groups, of 1: None")):
        with pytest.raises(lw.UsageError, match=message):
            lw.similarity({1}, {1}, by="elements", groups=groups)
    with pytest.raises(lw.UsageError, match="only text is normalised"):
        lw.similarity("a", "a", by="edit", normalize="nfc")


def test_weighted_sets_as_arrays():
    values, weights, offsets = weighted([{5: 0.5, -1: 1, 2: 0}, [], [(3, 1), (3, 2)]])
    assert (values.tolist(), weights.tolist(), offsets.tolist()) == ([5, 2**64 - 1, 3], [0.5, 1, 3], [0, 2, 2, 3])
    with pytest.raises(lw.UsageError, match="row 0: 'a' is no element"):
        weighted([{"a": 1}])
