"""Arguments that `similarity` and the families refuse, or read in one of several ways, and the messages."""

from __future__ import annotations

import collections

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from given_forms import INF, NAN, Column, Series, array
from likewise.families import MinHash
from likewise.items.given import shown
from likewise.items.weighted import weighted
from likewise.items.words import Hasher

#: (by, a bad batch, what the message says). Each against itself.
REFUSED = [
    ("cosine", [[1, 2], [1, NAN]], "row 1, item 2 of 2: nan is not a coordinate"),
    ("l2", array([[INF, 2]], np.float32), "row 0, item 1 of 2: inf is not a coordinate"),
    ("l1", [[1, 2], [1, -INF]], "row 1, item 2 of 2: -inf"),
    ("l2", [[1, 2], [1, 2], [1, 2, 3]], "row 2: has 3 numbers, but the first vector .row 0. has 2 numbers"),
    ("l2", pa.array([[1, 2], [3]]), "row 1: has 1 number, but the first vector .row 0. has 2 numbers"),
    ("l2", pa.array([[1, 2], None]), "row 1 is None; expected a vector"),
    ("l2", pa.array([[1, 2], [3, None]]), r"row 1 holds lists of whole numbers, such as \[3, None\]"),
    ("l2", pa.array([["a"]]), r"row 0 holds lists of strings, such as \['a'\]; expected vectors"),
    ("l2", pa.array([None, "a"]), "row 0 is None"),
    ("l2", [[]], "row 0 has no numbers"),
    ("l2", np.empty((2, 0)), "got an array of float64 of shape .2, 0."),
    ("l2", np.ones((1, 1, 1)), r"got an array of float64 of shape \(1, 1, 1\)"),
    ("l2", [np.ones((1, 1))], r"row 0 holds lists of lists of floats"),
    ("l2", [[1, 2], ["a", 2]], "row 1 holds lists of strings and whole numbers"),
    ("l2", [[1], [None]], r"row 1 holds lists of nulls"),
    ("l2", [[1], [True]], r"row 1 holds lists of booleans"),
    ("l2", [[1], [1j]], "row 1 holds a value of type complex; give vectors"),
    ("l2", [[1], 5], "row 1 is the number 5; .*one vector alone is a batch of one"),
    ("l2", [[1], "ab"], "row 1 holds strings, such as 'ab'"),
    ("l2", [[1], [10**400]], "row 1, item 1 of 1: inf is not a coordinate"),
    ("l2", array([[1j]]), "got an array of complex128"),
    ("l2", array([[True]]), "got an array of bool"),
    ("l2", "ab", "got str"),
    ("l2", {1: 2}, "got dict"),
    ("elements", [[1], [2.5]], r"row 1 holds lists of floats, such as \[2.5\]; expected sets"),
    ("elements", [[1], [True]], r"row 1 holds lists of booleans, such as \[True\]; expected sets: .*; write the numbers of the columns"),
    ("elements", [[1], [b"a"]], "row 1 holds a value of type bytes; give sets"),
    ("elements", [[1], [[2]]], "row 1 holds lists of lists of whole numbers"),
    ("elements", [[1], 5], "row 1 holds whole numbers, such as 5; expected sets"),
    ("elements", [[1], "ab"], "row 1 holds strings, such as 'ab'; .*collect the rows of a set into a list"),
    ("elements", [[1], {1: 2}], "row 1 holds records, such as .*; weights are compared by weighted"),
    ("elements", [[1], np.ones((2, 2), int)], "row 1 holds lists of lists of whole numbers"),
    ("elements", [array([1]), array([1.5])], r"row 1 holds lists of floats, such as \[1.5\]"),
    ("elements", {1: 2}, "got dict"),
    ("elements", "ab", "got str"),
    ("elements", 5, "got int"),
    ("elements", (array([1, 2]), array([0, 3])), "offsets rise from 0"),
    ("weighted", [{1: 1}, {"x": -1}], "row 1, item 1 of 1: the weight -1.0; a weight is a finite number of 0 or more"),
    ("weighted", [{1: 1}, {"x": NAN}], "row 1, item 1 of 1: the weight nan"),
    ("weighted", [{1: 1}, [("x", INF)]], "row 1, item 1 of 1: the weight inf"),
    ("weighted", [{1: True}], r"row 0 holds lists of lists of whole numbers and booleans, such as \[\[1, True\]\]"),
    ("weighted", [{1: "2"}], r"row 0 holds lists of lists of whole numbers and strings, such as \[\[1, '2'\]\]"),
    ("weighted", [{1: 10**400}], "row 0, item 1 of 1: the weight inf"),
    ("weighted", [{1: 1}, [(1, 1e308), (1, 1e308)]], "row 1: the weights of one element add up beyond"),
    ("weighted", [{1: 1}, {1.5: 1}], "row 1 holds lists of records, such as .{'element': 1.5"),
    ("weighted", [{1: 1}, [(1, 2, 3)]], r"row 1 holds lists of lists of whole numbers, such as \[\[1, 2, 3\]\]"),
    ("weighted", [[(1, 1)], [1]], r"row 1 holds lists of whole numbers, such as \[1\]; .*sets without weights are compared by elements"),
    ("weighted", [{1: 1}, 5], "row 1 holds whole numbers, such as 5"),
    ("weighted", "ab", "got str"),
    ("weighted", (array([1, 2]), array([1.0, -2]), array([0, 1, 2])), "row 1, item 1 of 1: the weight -2.0"),
    ("weighted", (array([1, 2]), array([1.0]), array([0, 2])), "offsets rise from 0"),
    ("weighted", (array([1]), array([1.0]), array([0, 2])), "offsets rise from 0"),
    ("hamming", [b"ab", b"a"], "row 1: has 8 bits, but the first code .row 0. has 16 bits"),
    ("hamming", [[1, 0], [1]], "row 1: has 1 bit, but the first code .row 0. has 2 bits"),
    ("hamming", [[1, 0], [1, 2]], "row 1, item 2 of 2: 2 is not a bit"),
    ("hamming", [1, -(2**63) - 1], "row 1 is -9223372036854775809"),
    ("hamming", [1, 2**64], "row 1 is 18446744073709551616"),
    ("hamming", [array([1], np.uint8), array([1], np.uint16)], "row 1 is of uint16, but row 0 is of uint8"),
    ("hamming", array([[1, 2]]), "row 0, item 2 of 2: 2 is not a bit"),
    ("hamming", [[]], "row 0 has no bits"),
    ("hamming", [b"a", None], "row 1 is None; expected a code"),
    ("hamming", ["a", b"a"], "row 0 holds strings, and row 1 bytes; give all codes in one form"),
    ("hamming", {1: 2}, "got dict"),
    ("edit", ["a", None], "row 1 is None; expected a string"),
    ("edit", ["a", 5], "row 1 holds whole numbers, such as 5; expected strings"),
    ("levenshtein", 5, "got int"),
    ("elements", [[1], array(["2020"], "M8[ns]")], "row 1 holds an array of datetime64"),
    ("elements", [[1], array([5], "m8[ns]")], "row 1 holds an array of timedelta64"),
    ("elements", [[1], [np.timedelta64(5)]], "row 1 holds a value of type timedelta64"),
    ("elements", [[1], (i for i in [1])], "row 1 holds a value of type generator"),
    ("elements", [[1], memoryview(b"ab")], "row 1 holds a value of type memoryview"),
    ("elements", (array(1), array(3)), "got a tuple of 2 arrays, int64 of shape .."),
    ("elements", pa.array(["a"]), "row 0 holds strings, such as 'a'"),
    ("weighted", (array(1), array(3)), "got a tuple of 2 arrays"),
    ("weighted", [{1: 1}, iter([(1, 2)])], "row 1 holds a value of type list_iterator"),
    ("weighted", [{1: 1}, [{1: 2, 3: 4}]], "row 1 holds lists of records"),
    ("weighted", [{1: 1}, [{1, 2}]], "row 1 holds a value of type set"),
    ("weighted", [{1: np.timedelta64(2)}], "row 0 holds a value of type timedelta64"),
    ("weighted", [{1: np.longdouble("1e4000")}], "row 0 holds a value of type longdouble"),
    ("weighted", [[("cat", 1e308), ("cat", 1e308)]], "row 0: the weights of one element add up beyond"),
    ("weighted", [{"dog": 1}, [("dog", 1), ("cat", 1e308), ("cat", 1e308)]], "row 1: the weights of one element add up beyond"),
    ("weighted", [("cat", 1e308), ("cat", 1e308)], "row 0: the weights of one element add up beyond"),
    ("weighted", (array([7, 7]), array([1e308, 1e308]), array([0, 2])), "row 0: the weights of one element add up beyond"),
    ("l2", [[np.timedelta64(1)]], "row 0 holds a value of type timedelta64"),
    ("l2", array([["a"]]), "got an array of <U1"),
    ("l2", pa.array([1.0, 2.0]), "got an Arrow array of double; one vector alone is a batch of one"),
    ("cosine", pa.chunked_array([[1], [2]]), "got an Arrow array of int64; one vector alone is a batch of one"),
    ("hamming", [np.timedelta64(1)], "row 0 holds a value of type timedelta64"),
    ("words:1", pa.array([1]), "an Arrow array of int64"),
    ("words:1", pa.array([["a"]]), "an Arrow array of list"),
    ("words:1", array([1, 2]), "row 0 holds whole numbers, such as np.int64.1.; expected texts"),
    ("words:1", array([["a"]]), "row 0 holds lists of strings"),
    ("words:1", ["a", NAN], "row 1 holds floats, such as nan; expected texts"),
    ("words:1", 5, "give texts: a list of str"),
    ("words:1", ["a", 5], "row 1 holds whole numbers, such as 5; expected texts"),
]


KINDS = ("words:1", "tokens:1", "elements", "weighted", "l2", "hamming", "edit")


@pytest.mark.parametrize("by", KINDS)
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda item: (item for _ in "ab"), "got generator; it can be read only once: give a list of its values"),
        (lambda item: iter([item, item]), "got list_iterator; it can be read only once"),
        (lambda item: zip([item], strict=True), "got zip; it can be read only once"),
        (lambda item: Series([item]), "got Series; give a list"),
        (lambda item: pa.table({"a": ["x"], "b": ["y"]}), "got Table, a table: give a column of it"),
        (lambda item: pa.record_batch({"a": ["x"]}), "got RecordBatch, a table: give a column of it"),
        (lambda item: Column(pa.array([{"a": "x"}])), "got Column, a table: give a column of it"),
        (lambda item: array(5), "got an array of"),
        (lambda item: array(None, object), "got an array of no dimension, None"),
        (lambda item: np.ma.array([[1, 2], [3, 4]], mask=[[0, 1], [0, 0]]), "got a masked array, whose mask would be ignored"),
        (lambda item: object(), "got object"),
        (lambda item: [item, object()], "row . holds values? of type (object|bytes)|row . holds a value of type object"),
        (lambda item: [object(), item], "row 0 holds (a value|values) of type object"),
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
        ("words:1", "give texts:"),
        ("l2", "give vectors:"),
        ("hamming", "give codes:"),
        ("edit", "give texts:"),
        ("weighted", "give weighted sets:"),
    ):
        with pytest.raises(lw.UsageError, match=f"{forms} .*got set; a set has no order; give a list, or compare sets with by='elements'"):
            lw.similarity({"a"}, {"a"}, by=by)
        if by != "weighted":
            with pytest.raises(lw.UsageError, match=f"{forms} .*got dict; give a list of its values"):
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
        ("words:1", [HUGE], "row 0 holds whole numbers, such as a whole number of 16610 bits"),
        ("words:1", [[HUGE]], r"row 0 holds lists of whole numbers, such as \[a whole number of 16610 bits\]"),
        ("elements", [{1: HUGE}], "row 0 holds a whole number with thousands of digits"),
        ("weighted", [{HUGE: -1}], "row 0 holds a whole number with thousands of digits"),
        ("weighted", [{1: -HUGE}], "row 0 holds a whole number with thousands of digits"),
        ("weighted", [{1: HUGE}], "row 0 holds a whole number with thousands of digits"),
        ("weighted", [[HUGE]], "row 0 holds a whole number with thousands of digits"),
        ("weighted", [[(HUGE, 1e308), (HUGE, 1e308)]], "row 0 holds a whole number with thousands of digits"),
        ("l2", [[HUGE]], "row 0 holds a whole number with thousands of digits"),
        ("l2", [[1], HUGE], "row 1 is the number a whole number of 16610 bits"),
        ("hamming", HUGE, "row 0 is a whole number of 16610 bits; a code"),
        ("hamming", [[HUGE]], "row 0 holds a whole number with thousands of digits"),
        ("edit", [HUGE], "row 0 holds whole numbers, such as a whole number of 16610 bits"),
        ("tokens:1", [[HUGE]], "row 0 holds a whole number with thousands of digits"),
        ("elements", [["x" * 999, 1.5]], "row 0 holds lists of strings and floats"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_messages_are_short_whatever_came(by, given, message):
    with pytest.raises(lw.UsageError, match=message) as caught:
        lw.similarity(given, given, by=by)
    assert len(str(caught.value)) < 300


def test_groups_of_huge_numbers():
    assert lw.similarity({10**4000}, {10**4000, 1}, by="elements") == 1 / 2
    assert lw.similarity({1}, {2}, by="elements", groups={1: HUGE, 2: HUGE}) == 1
    with pytest.raises(lw.UsageError, match=r"groups, pair 1: .a whole number of 16610 bits, None."):
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
    (np.zeros((2, 0), int).tolist(), [[], []]),
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
        ([1, 2], "row 0 holds whole numbers, such as 1; expected sets"),
        ([[1], 2], "row 1 holds whole numbers, such as 2"),
        ([[1], None], "row 1 is None; expected a set"),
        (range(3), "row 0 holds whole numbers, such as 0"),
        ([[[1], [2, 3]]], "row 0 holds lists of lists of whole numbers"),
        ([[1], b"abc"], "row 1 holds a value of type bytes"),
        ([[1], "abc"], "row 1 holds strings, such as 'abc'"),
        ([[1], {1: 2}], "row 1 holds records, .*weights are compared by weighted"),
        ([[1], [True]], "row 1 holds lists of booleans"),
        ([[1], [1.5]], "row 1 holds lists of floats"),
        ([[1], [np.inf]], "row 1 holds lists of floats, such as .inf."),
        ([[1], [np.timedelta64(1)]], "row 1 holds a value of type timedelta64"),
        (array([[1.5]]), "got an array of float64 of shape .1, 1."),
        (array([[[1]]]), "got an array of int64 of shape .1, 1, 1."),
        ({1: 2}, "got dict"),
        (iter([[1]]), "got list_iterator"),
        (array(5), "got an array of int64 of shape .."),
        ((array(1), array(3)), "got a tuple of 2 arrays, int64 of shape .."),
        ((array([True, False]), array([0, 2])), "got a tuple of 2 arrays, bool of shape"),
        (pa.array([1]), "row 0 holds whole numbers, such as 1"),
        ([[b"a"]], "row 0 holds a value of type bytes"),
        (pa.array([[True]]), "row 0 holds lists of booleans"),
        (pa.array([[1], None]), "row 1 is None"),
        (pa.array([[1.0], [2.5, None]]), "row 1 holds lists of floats"),
        (pa.table({"a": [1]}), "a table"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), "masked array"),
    ],
)
def test_what_cannot_be_signed(given, message):
    for call in (MinHash(4).signature, lambda batch: MinHash(4).band_keys(batch, 2, 2)):
        with pytest.raises(lw.UsageError, match=message):
            call(given)


def test_a_tuple_of_arrays_is_a_batch_where_none_stands_for_offsets():
    assert lw.similarity((array([3, 4]), array([0, 1])), (array([0, 0]), array([1, 1])), by="l2").tolist() == [5, 1]
    assert lw.similarity((array([5], np.uint8), array([0], np.uint8)), [b"\0", b"\1"], by="hamming").tolist() == [2, 1]


def test_arrays_of_bool_are_the_places_of_true():
    bits, groups = array([1, 0, 1], bool), {0: "a", 1: "a", 2: "b"}
    assert lw.similarity(bits, {0, 2, 3}, by="elements") == lw.similarity({0, 2, 3}, bits, by="elements") == 2 / 3
    assert lw.similarity(bits, {0, 2, 3}, by="elements/containment") == 1
    assert lw.similarity(bits, array([0, 1, 1], bool), by="elements", groups=groups) == 1
    assert lw.similarity([bits, {1}], array([[1, 1, 0], [1, 0, 0]], bool), by="elements", groups=groups).tolist() == [1 / 2, 1]
    with pytest.raises(lw.UsageError, match="got a tuple of 2 arrays, bool of shape"):
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
    assert lw.similarity([1, 0], [1, 6], by="hamming").tolist() == [0, 2]  # 6 is not a bit
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
        ([[1, 2]], [[1, NAN]], "l2", "on the right, row 0, item 2 of 2: nan"),
        ([[1, 2]], [[1, 2, 3]], "l2", "vectors of 2 dimensions on the left and 3 on the right"),
        (b"ab", b"abc", "hamming", "codes of 16 bits on the left and 24 on the right"),
        (array([[1]], bool), array([[1] * 9], bool), "hamming", "1 bits on the left and 9"),
        (["ab"], ["abcd"], "hamming", "codes of 8 bits on the left and 16 on the right"),
        ([1, 2], [[1, 2]], "l2", r"one vector on the left and a batch on the right; .*\[vector\] \* n"),
        ([{1}], {1}, "elements", "one set on the right and a batch on the left"),
        ("a", ["a"], "words:1", "one text on the left and a batch on the right"),
        ({1: 2}, [{1: 2}], "weighted", "one weighted set on the left"),
        ("a", 5, "edit", "on the right, give texts: a list of str, .*; got int"),
    ],
)
def test_two_sides_that_do_not_fit(a, b, by, message):
    with pytest.raises(lw.UsageError, match=message):
        lw.similarity(a, b, by=by)


@pytest.mark.parametrize(
    ("by", "item"),
    [("words:1", "a"), ("elements", {1}), ("weighted", {1: 1}), ("l2", [1]), ("cosine", [1]), ("hamming", b"a"), ("hamming", "ab"), ("edit", "a")],
)
def test_batches_of_different_lengths(by, item):
    for a, b in ((2, 3), (3, 2), (0, 1), (1, 0)):
        with pytest.raises(lw.UsageError, match=f"{a} items on the left and {b} on the right"):
            lw.similarity([item] * a, [item] * b, by=by)


def test_options_that_do_not_go_together():
    for by in ("words:5", "weighted", "l2"):
        with pytest.raises(lw.UsageError, match="by='elements'"):
            lw.similarity("a", "a", by=by, groups={1: 1})
    for groups, message in (
        ([1], "mapping"),
        ({1.5: 1}, "groups, pair 1: .1.5, 1."),
        ({1: None}, "groups, pair 1: .1, None."),
    ):
        with pytest.raises(lw.UsageError, match=message):
            lw.similarity({1}, {1}, by="elements", groups=groups)
    with pytest.raises(lw.UsageError, match="only texts and strings are normalized"):
        lw.similarity(b"a", b"a", by="hamming", normalize="nfc")


def test_weighted_sets_as_arrays():
    values, weights, offsets = weighted([{5: 0.5, -1: 1, 2: 0}, [], [(3, 1), (3, 2)]])
    assert (values.tolist(), weights.tolist(), offsets.tolist()) == ([5, 2**64 - 1, 3], [0.5, 1, 3], [0, 2, 2, 3])
    values, _, _ = weighted([{"a": 1}], 3)
    assert values.tolist() == Hasher(3).listed(["a"]).tolist()


@pytest.mark.parametrize("by", ["elements", "weighted", "cosine", "hamming", "words:1", "tokens:1", "features/chamfer"])
def test_a_list_that_contains_itself_is_refused(by):
    """Arrow would follow it until the stack ends, and the process with it."""
    own: list = [1, 2]
    own.append(own)
    deep: list = []
    for _ in range(30_000):
        deep = [deep]
    for item in (own, deep):
        with pytest.raises(lw.UsageError):
            lw.similarity([item], [item], by=by)
        with pytest.raises(lw.LikewiseError):
            lw.pairs([item, item], by=by)


def test_a_sparse_matrix_of_weights_has_its_columns():
    class Csr:
        shape, indptr, indices, data = (2, 4), np.array([0, 1, 2]), np.array([1, 9]), np.array([1.0, 2.0])

    with pytest.raises(lw.UsageError, match="row 1: index 9 is out of range; the matrix has 4 columns"):
        lw.similarity(Csr(), Csr(), by="weighted")


def test_features_are_any_sequences_of_numbers():
    given = [[range(3), range(1, 4)], [collections.deque([1, 2, 0])]]
    as_lists = [[[0, 1, 2], [1, 2, 3]], [[1, 2, 0]]]
    assert lw.similarity(given, given, by="features/chamfer").tolist() == lw.similarity(as_lists, as_lists, by="features/chamfer").tolist()
