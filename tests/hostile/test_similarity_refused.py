"""What `similarity` and the families refuse, or read in one way of several, and what the message says."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from given_forms import INF, NAN, Column, Series, array
from likewise.families import MinHash
from likewise.items.given import shown
from likewise.items.weighted import weighted

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
    ("elements", [[1], [2.5]], "row 1: 2.5"),
    ("elements", [[1], [True]], "row 1: True"),
    ("elements", [[1], [b"a"]], "row 1: b'a'"),
    ("elements", [[1], [[2]]], r"row 1: \[2\]"),
    ("elements", [[1], 5], "row 1 is 5"),
    ("elements", [[1], "ab"], "row 1 is 'ab'"),
    ("elements", [[1], {1: 2}], "row 1 is .*by='weighted'"),
    ("elements", [[1], np.ones((2, 2), int)], "row 1 is an array of int64 of shape"),
    ("elements", [array([1]), array([1.5])], "row 1: 1.5; an element"),
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
    ("hamming", [1, -(2**63) - 1], "row 1 is -9223372036854775809"),
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
    ("elements", [[1], array(["2020"], "M8[ns]")], "row 1: np.datetime64"),
    ("elements", [[1], array([5], "m8[ns]")], "row 1: np.timedelta64"),
    ("elements", [[1], [np.timedelta64(5)]], "row 1: np.timedelta64"),
    ("elements", [[1], (i for i in [1])], "row 1 is <generator"),
    ("elements", [[1], memoryview(b"ab")], "row 1 is <memory"),
    ("elements", (array(1), array(3)), "1-D array|of shape .."),
    ("elements", pa.array(["a"]), "row 0 is 'a'"),
    ("weighted", (array(1), array(3)), "row 0 is an array of int64 of shape .."),
    ("weighted", [{1: 1}, iter([(1, 2)])], "row 1 is <list_iterator"),
    ("weighted", [{1: 1}, [{1: 2, 3: 4}]], "row 1: {1: 2, 3: 4} is no pair"),
    ("weighted", [{1: 1}, [{1, 2}]], "row 1: {1, 2} is no pair"),
    ("weighted", [{1: np.timedelta64(2)}], "the weight of 1 is np.timedelta64"),
    ("weighted", [{1: np.longdouble("1e4000")}], "the weight of 1 is beyond"),
    ("weighted", [[("cat", 1e308), ("cat", 1e308)]], "row 0: the weights of 'cat' add up beyond"),
    ("weighted", [{"dog": 1}, [("dog", 1), ("cat", 1e308), ("cat", 1e308)]], "row 1: the weights of 'cat' add up beyond"),
    ("weighted", [("cat", 1e308), ("cat", 1e308)], "row 0: the weights of 'cat' add up beyond"),
    ("weighted", (array([7, 7]), array([1e308, 1e308]), array([0, 2])), "row 0: the weights of 7 add up beyond"),
    ("l2", [[np.timedelta64(1)]], "row 0: np.timedelta64"),
    ("l2", array([["a"]]), "row 0 is of type <U1"),
    ("hamming", [np.timedelta64(1)], "row 0 is np.timedelta64"),
    ("words:1", pa.array([1]), "an Arrow array of int64"),
    ("words:1", pa.array([["a"]]), "an Arrow array of list"),
    ("words:1", array([1, 2]), "row 0 is np.int64.1.; a text"),
    ("words:1", array([["a"]]), "row 0 is an array of <U1"),
    ("words:1", ["a", NAN], "row 1 is nan; a text"),
    ("words:1", 5, "texts are a list of str"),
    ("words:1", ["a", 5], "row 1 is 5; a text is a str, bytes or None"),
]


KINDS = ("words:1", "tokens:1", "elements", "weighted", "l2", "hamming", "edit")


@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda item: (item for _ in "ab"), "here came generator; it can be read once only: give a list of it"),
        (lambda item: iter([item, item]), "here came list_iterator; it can be read once only"),
        (lambda item: zip([item], strict=True), "here came zip; it can be read once only"),
        (lambda item: Series([item]), "here came Series; give a list"),
        (lambda item: pa.table({"a": ["x"], "b": ["y"]}), "here came Table, a table: give a column of it"),
        (lambda item: pa.record_batch({"a": ["x"]}), "here came RecordBatch, a table: give a column of it"),
        (lambda item: Column(pa.array([{"a": "x"}])), "here came Column, a table: give a column of it"),
        (lambda item: array(5), "here came an array of no dimension, 5"),
        (lambda item: array(None, object), "here came an array of no dimension, None"),
        (lambda item: np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), "here came a masked array, whose mask would be ignored"),
        (lambda item: object(), "here came object"),
        (lambda item: [item, object()], "row 1 is <object object"),
        (lambda item: [object(), item], "row 0(:.*| is) <object object"),
    ],
)
def test_what_is_no_batch(by, make, message):
    item = {"words:1": "a", "tokens:1": [1], "elements": {1}, "weighted": {1: 1}, "l2": [1], "hamming": b"a", "edit": "a"}[by]
    given = make(item)
    for _ in range(2):
        with pytest.raises(lw.UsageError, match=message) as caught:
            lw.similarity(given, given, by=by)
        assert "on the left, " in str(caught.value)


def test_sets_and_mappings_are_no_batch():
    for by, forms in (
        ("words:1", "texts are"),
        ("l2", "vectors are"),
        ("hamming", "codes are"),
        ("edit", "strings are"),
        ("weighted", "weighted sets are"),
    ):
        with pytest.raises(lw.UsageError, match=f"{forms} .*here came set; a set has no order: give a list, or compare sets with by='elements'"):
            lw.similarity({"a"}, {"a"}, by=by)
        if by != "weighted":
            with pytest.raises(lw.UsageError, match=f"{forms} .*here came dict; give a list of its values"):
                lw.similarity({"a": 1}, {"a": 1}, by=by)


MASKED = np.ma.array([1, 2], mask=[0, 1])


@pytest.mark.parametrize(
    ("by", "given"),
    [
        ("elements", [MASKED, MASKED]),
        ("elements", [MASKED.astype(object)]),
        ("elements", (MASKED, array([0, 2]))),
        ("elements", (array([1, 2]), np.ma.array([0, 2], mask=[0, 1]))),
        ("elements", [MASKED.astype(bool)]),
        ("elements", MASKED.astype(bool)),
        ("weighted", [np.ma.array([[1, 2]], mask=[[0, 1]])]),
        ("weighted", (MASKED, array([1, 2]), array([0, 2]))),
        ("weighted", (array([1, 2]), MASKED, array([0, 2]))),
        ("weighted", (array([1, 2]), array([1, 2]), np.ma.array([0, 2], mask=[0, 1]))),
        ("l2", [MASKED]),
        ("hamming", [MASKED.astype(bool)]),
        ("hamming", [MASKED.astype(np.uint8)]),
        ("tokens:1", [MASKED]),
    ],
)
def test_masked_arrays_are_refused_wherever_they_stand(by, given):
    with pytest.raises(lw.UsageError, match=r"on the left, .*masked array"):
        lw.similarity(given, given, by=by)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [
        ([0.0, 2.0], "an array of float64"),
        ([0, NAN], "an array of float64"),
        (["0", "2"], "an array of <U1"),
        ([False, True], "an array of bool"),
        ([[0, 2]], "of shape .1, 2."),
        ([], "of shape .0,."),
        (2, "of shape .."),
        ([0, 3], "offset 1 is 3"),
        ([-1, 2], "offset 0 is -1"),
        ([0, 2, 1], "offset 2 is 1, after 2"),
        ([0, 2**63 - 1, -(2**63), -1, 2], "offset 1 is 9223372036854775807"),  # their differences wrap to small ones
        (array([0, 2**64 - 1, 2], np.uint64), "offset 1 is 18446744073709551615"),
        (array([0, 2, 1], np.uint64), "offset 2 is 1, after 2"),
    ],
)
def test_offsets_that_are_none(offsets, message):
    values, weights, offsets = array([1, 2]), array([1.0, 2.0]), np.asarray(offsets)
    rule = f"offsets rise from 0 to the number of values, 2, one more of them than items; .*{message}"
    for by, given in (("elements", (values, offsets)), ("elements", (array(["a", "b"]), offsets)), ("weighted", (values, weights, offsets))):
        with pytest.raises(lw.UsageError, match=rule):
            lw.similarity(given, given, by=by)
    with pytest.raises(lw.UsageError, match=rule):
        lw.similarity([[1]], (values, offsets), by="tokens:1")
    with pytest.raises(lw.UsageError, match=rule):
        MinHash(4).signature((values, offsets))


def test_offsets_may_begin_above_0_and_end_early():
    values, offsets = array([9, 1, 2, 9]), array([1, 1, 3])
    assert lw.similarity((values, offsets), [[1], [1]], by="elements").tolist() == [0, 1 / 2]
    assert lw.similarity((values, array([9.0, 1, 3, 9]), offsets), [{1: 1}, {1: 1}], by="weighted").tolist() == [0, 1 / 4]


HUGE = 10**5000  # Python refuses to write it out


@pytest.mark.parametrize(
    ("by", "given", "message"),
    [
        ("words:1", [HUGE], "row 0 is a whole number of 16610 bits"),
        ("words:1", [[HUGE]], r"row 0 is \[a whole number of 16610 bits\]"),
        ("elements", [{1: HUGE}], "row 0 is {1: a whole number of 16610 bits}"),
        ("weighted", [{HUGE: -1}], "the weight of a whole number of 16610 bits is -1"),
        ("weighted", [{1: -HUGE}], "the weight of 1 is a whole number of 16610 bits"),
        ("weighted", [{1: HUGE}], "the weight of 1 is beyond the range"),
        ("weighted", [[HUGE]], r"row 0: .a whole number of 16610 bits. is no pair"),
        ("weighted", [[(HUGE, 1e308), (HUGE, 1e308)]], "the weights of a whole number of 16610 bits add up"),
        ("l2", [[HUGE]], "row 0: a whole number beyond"),
        ("l2", [[1], HUGE], "row 1 is the number a whole number of 16610 bits"),
        ("hamming", HUGE, "row 0 is a whole number of 16610 bits; a code"),
        ("hamming", [[HUGE]], "row 0: a whole number of 16610 bits in column 0"),
        ("edit", [HUGE], "row 0 is a whole number of 16610 bits"),
        ("tokens:1", [[HUGE]], "a whole number of 16610 bits is none"),
        ("elements", [["x" * 999, 1.5]], "row 0: 1.5"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_are_short_whatever_came(by, given, message):
    with pytest.raises(lw.UsageError, match=message) as caught:
        lw.similarity(given, given, by=by)
    assert len(str(caught.value)) < 300


def test_groups_of_huge_numbers():
    assert lw.similarity({HUGE}, {HUGE, 1}, by="elements") == 1 / 2
    assert lw.similarity({1}, {2}, by="elements", groups={1: HUGE, 2: HUGE}) == 1
    with pytest.raises(lw.UsageError, match="groups, of a whole number of 16610 bits: None"):
        lw.similarity({1}, {1}, by="elements", groups={HUGE: None})


def test_values_in_messages():
    assert shown(2**64) == "18446744073709551616"
    assert (shown(1.5), shown("a"), shown(None), shown({"a": [1]})) == ("1.5", "'a'", "None", "{'a': [1]}")
    for long in ("x" * 10**6, b"x" * 10**6, list(range(10**5)), set(range(10**5)), {HUGE}, [[HUGE] * 9] * 9, np.zeros(10**6), bytearray(10**6)):
        assert len(shown(long)) < 2000
        assert "\n" not in shown(long)


SIGNATURES = [
    (np.array([[1, 2], [3, 4]]), [[1, 2], [3, 4]]),
    (np.array([[1, 2], [3, 4]], np.uint8).T, [[1, 3], [2, 4]]),
    (np.array([[1, 2], [3, 4]], object), [[1, 2], [3, 4]]),
    (np.zeros((2, 0), int), [[], []]),
    (pa.array([[1, 2], [], [-3]]), [[1, 2], [], [-3]]),
    (pa.array([[9], [1, 2], [3]]).slice(1), [[1, 2], [3]]),
    (pa.array([[1, 2], [3, 4]], pa.list_(pa.uint16(), 2)), [[1, 2], [3, 4]]),
    (pa.chunked_array([pa.array([[1]]), pa.array([[2, 3]])]), [[1], [2, 3]]),
    (Column(pa.array([[1], [2]])), [[1], [2]]),
    (pa.array([[]]), [[]]),
    ([pa.array([1, 2])], [[1, 2]]),
    (np.array([[True, False], [True, True]]), [[0], [0, 1]]),
    ([range(3), {5}], [[0, 1, 2], [5]]),
    ([[2**64 - 1, -1, -(2**63)]], [[-1, 2**63]]),
]


@pytest.mark.parametrize(("given", "same"), SIGNATURES)
def test_sets_to_sign_come_as_sets_to_compare(given, same):
    family = MinHash(16)
    assert (family.signature(given) == family.signature(same)).all()
    assert (family.band_keys(given, 4, 4) == family.band_keys(same, 4, 4)).all()
    if -1 not in same[-1]:
        assert lw.similarity(given, same, by="elements").tolist() == pytest.approx([1 if one else NAN for one in same], nan_ok=True)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1, 2], "set 0 is 1; .*one set alone is a batch of one"),
        ([[1], 2], "set 1 is 2; "),
        ([[1], None], "set 1 is None; a set is a list"),
        (range(3), "here came range.0, 3.; one set alone is a batch of one"),
        ([[[1], [2, 3]]], r"set 0: \[1\]; an element is"),
        ([[1], b"abc"], "set 1 is b'abc'"),
        ([[1], "abc"], "set 1 is 'abc'"),
        ([[1], {1: 2}], "set 1 is {1: 2}; .*by='weighted'"),
        ([[1], [True]], "set 1: True; an element is"),
        ([[1], [1.5]], "set 1: 1.5; an element is"),
        ([[1], [np.inf]], "set 1: inf; an element is"),
        ([[1], [np.timedelta64(1)]], "set 1: .*timedelta64.1.; an element is"),
        (array([[1.5]]), "set 0: .*float64"),
        (array([[[1]]]), "set 0: .*shape .1, 1."),
        ({1: 2}, "here came dict"),
        (iter([[1]]), "here came list_iterator"),
        (array(5), "an array of no dimension, 5"),
        ((array(1), array(3)), "values: .* of shape .."),
        ((array([True, False]), array([0, 2])), "values: .*bool"),
        (pa.array([1]), "here came int64"),
        (pa.array([[b"a"]]), "values: b'a'; an element is"),
        (pa.array([[True]]), "here came bool"),
        (pa.array([[1], None]), "row 1 is null"),
        (pa.array([[1.0], [2.5, None]]), "row 1: 2.5; an element is"),
        (pa.table({"a": [1]}), "a table"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), "masked array"),
    ],
)
def test_what_cannot_be_signed(given, message):
    for call in (MinHash(4).signature, lambda batch: MinHash(4).band_keys(batch, 2, 2)):
        with pytest.raises(lw.UsageError, match=message):
            call(given)


def test_arrays_of_bool_are_the_places_of_true():
    bits, groups = array([1, 0, 1], bool), {0: "a", 1: "a", 2: "b"}
    assert lw.similarity(bits, {0, 2, 3}, by="elements") == lw.similarity({0, 2, 3}, bits, by="elements") == 2 / 3
    assert lw.similarity(bits, {0, 2, 3}, by="elements/containment") == 1
    assert lw.similarity(bits, array([0, 1, 1], bool), by="elements", groups=groups) == 1
    assert lw.similarity([bits, {1}], array([[1, 1, 0], [1, 0, 0]], bool), by="elements", groups=groups).tolist() == [1 / 2, 1]
    with pytest.raises(lw.UsageError, match="here came an array of bool"):
        lw.similarity((bits, array([0, 3])), [[0]], by="elements")


def test_a_list_of_0_and_1_may_be_one_code_or_many():
    a, b = [1, 0, 1, 0, 1], [1, 1, 1, 1, 0]
    for left, right in ((a, b), (tuple(a), b), ([np.int64(bit) for bit in a], b)):
        with pytest.raises(lw.UsageError, match=r"5 whole numbers, all 0 or 1, .* one code or 5 codes .*bit == 1 for bit in bits.*np.uint64"):
            lw.similarity(left, right, by="hamming")
    bits = [[bit == 1 for bit in side] for side in (a, b)]
    assert lw.similarity(*bits, by="hamming") == 3
    assert lw.similarity([a], [b], by="hamming").tolist() == [3]
    assert lw.similarity(array(a, np.uint64), array(b, np.uint64), by="hamming").tolist() == [0, 1, 0, 1, 1]
    assert lw.similarity([1, 0], [1, 6], by="hamming").tolist() == [0, 2]  # 6 is no bit
    assert lw.similarity([0], [1], by="hamming").tolist() == [1]


def test_bytes_of_any_type_are_codes():
    for a, b in ((b"ab", bytearray(b"aa")), (memoryview(b"ab"), b"aa")):
        assert lw.similarity(a, b, by="hamming") == 2
        assert lw.similarity([a], [b], by="hamming").tolist() == [2]


def test_whole_numbers_beyond_2_to_the_53_are_rounded():
    assert lw.similarity([2**53], [2**53 + 1], by="l1") == 0
    assert lw.similarity(array([2**53]), array([2**53 + 2]), by="l1") == 2


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
    for by in ("words:5", "weighted", "l2"):
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
