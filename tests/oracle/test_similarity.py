"""`similarity` on everything that a caller may give: one item or a batch, in every form, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from given_forms import NAN, Column, array, values_and_offsets
from likewise.families import MinHash
from likewise.items.codes import codes
from likewise.items.vectors import nonzero, vectors
from likewise.verbs.similarity import shingle

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


FORMS["series"] = tuple(Column(pa.array(side)) for side in SETS)
FORMS["offsets above 0"] = ((array([9, 3, 1, 1, 7]), array([1, 4, 5])), SETS[1])
FORMS["strings and offsets"] = ((array(["c", "a", "a", "g"]), array([0, 3, 4], np.uint8)), [["a", "b"], ["g"]])
FORMS["bits beside sets"] = ([array([1, 0, 1], bool), array([0, 1], bool)], [{2, 5}, {1}])
FORMS["bit rows beside sets"] = (array([[0, 1, 0], [1, 0, 0]], bool)[:, [0, 1, 1]], [[2, 7], [0]])


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


def test_elements_of_one_group_are_equal():
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
        (["f0", "0xFF"], ["0f", "ff"], [8, 0]),
        (["17"], ["11"], [2]),
        (["101110"], ["100110"], [1]),
        (array(["f0"]), ["0f"], [8]),
        ([b"\xf0"], ["0f"], [8]),
        (array([[1, 0, 1], [0, 1, 1]]), [[1, 1, 0], [0, 1, 1]], [2, 0]),
    ],
)
def test_hamming_in_every_form(a, b, expected):
    found = lw.similarity(a, b, by="hamming")
    assert found.dtype == np.int64
    assert found.tolist() == expected


def test_one_code_with_one():
    for a, b in ((5, 6), (b"\5", b"\6"), ("05", "06"), (array([1, 0, 1], bool), array([1, 1, 0], bool)), ([True, False, True], [True, True, False])):
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


def test_similarity_of_texts():
    assert lw.similarity("a b c", "a b d e", by="words:1/containment") == 2 / 3
    assert lw.similarity("a a b", "a b", by="words:1/bag") == 2 / 3
    assert lw.similarity("a a b", "a b", by="words:1/bag/containment") == 2 / 3
    assert lw.similarity("a b", "a a b", by="words:1/bag/containment") == 1
    assert lw.similarity(b"A b", "a B", by=lw.Words(1)) == 1
    assert lw.similarity(["a", None], [None, None], by="words:1/containment").tolist() == pytest.approx([0, NAN], nan_ok=True)


SURROGATE = "\ud800"


@pytest.mark.parametrize(
    "texts",
    [
        ["a b", SURROGATE, None],
        ("a b", SURROGATE, None),
        [b"a b", SURROGATE.encode("utf-8", "surrogatepass"), None],
        np.array(["a b", SURROGATE, None], object),
        pa.array([b"a b", b"\xed\xa0\x80", None]),
        pa.array([b"\xff", b"a b", b"\xed\xa0\x80", None], pa.large_binary()).slice(1),
        pa.chunked_array([[b"a b"], [b"\xed\xa0\x80", None]]),
    ],
)
def test_texts_in_every_form(texts):
    expected = pytest.approx([1, 1, NAN], nan_ok=True)
    assert lw.similarity(texts, ["A B", SURROGATE, "a"[:0]], by="words:1").tolist() == expected
    assert lw.similarity(["A B", SURROGATE, None], texts, by="words:1").tolist() == expected


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int8(), pa.string()), pa.binary_view()])
def test_texts_as_arrow_stores_them(kind):
    raw = pa.array(["a", "b", None, "a"], pa.string()).cast(pa.binary() if kind == pa.binary_view() else pa.string()).cast(kind)
    assert lw.similarity(raw, ["a", "a", "b", "A"], by="words:1").tolist() == [1, 0, 0, 1]
    assert lw.similarity(Column(raw), ["a", "a", "b", "A"], by="words:1").tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("wrap", [list, pa.array, lambda raw: pa.array(raw).view(pa.string()), lambda raw: pa.chunked_array([[raw[0]], raw[1:]])])
@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ([b"ok", b"e\xcc"], "row 1: the text is not UTF-8 at byte 1 .0xcc."),  # what kernels would read beyond the last text
        ([b"x\xc3", b"\xa9"], "row 0: the text is not UTF-8 at byte 1 .0xc3."),  # together they would be one letter
        ([b"a"] * 4 + [b"\xf0"] * 9, "row 4: the text is not UTF-8 at byte 0 .0xf0."),
        ([b"a", b"ab\xc0\x80"], "row 1: the text is not UTF-8 at byte 2 .0xc0."),
        ([b"a", b"\xf4\x90\x80\x80"], "row 1: the text is not UTF-8 at byte 0 .0xf4."),
    ],
)
def test_bytes_that_are_not_utf8_never_reach_a_kernel(raw, message, wrap):
    texts = wrap(raw)
    for by in ("words:1", "whitespace:1", "chars:2", "lines", "paragraphs", "stopwords", "bytes:1", "code:1/bag", "words:1/containment"):
        with pytest.raises(lw.DataError, match=f"on the right, {message}"):
            lw.similarity(["a"] * len(raw), texts, by=by)
        with pytest.raises(lw.DataError, match=f"^{message}"):
            lw.sketch(texts, by=by.removesuffix("/containment"))
    with pytest.raises(lw.DataError, match=r"on the left, row 0: .*byte 1"):
        lw.similarity(b"e\xcc", "e", by="words:1")


def test_damaged_arrow_strings_are_refused():
    raw = pa.array([b"ok", b"\xff"]).view(pa.string())
    for by in ("elements", "weighted", "hamming"):
        with pytest.raises(lw.DataError, match="on the left, an Arrow array of string is damaged"):
            lw.similarity(raw, raw, by=by)
    with pytest.raises(lw.DataError, match="on the left, row 1: the text is not UTF-8 at byte 0"):
        lw.similarity(raw, raw, by="edit")
    wild = pa.Array.from_buffers(pa.list_(pa.int64()), 2, [None, pa.py_buffer(np.array([0, 9, 2], np.int32))], children=[pa.array([1, 2])])
    far = pa.Array.from_buffers(pa.binary(), 2, [None, pa.py_buffer(np.array([0, 2**20, 1], np.int32)), pa.py_buffer(b"a")])
    for by, given in (("elements", wild), ("l2", wild), ("words:1", far), ("tokens:1", wild)):
        with pytest.raises(lw.LikewiseError, match=r"damaged|cannot be read"):
            lw.similarity(given, given, by=by)
    with pytest.raises(lw.DataError, match="damaged"):
        MinHash(4).signature(wild)


IDS = [[17, 4, 256, 9], [5], []]


@pytest.mark.parametrize(
    "batch",
    [IDS, [tuple(one) for one in IDS], [array(one, np.uint16) for one in IDS], pa.array(IDS), (array([17, 4, 256, 9, 5]), array([0, 4, 5, 5]))],
)
def test_token_ids(batch):
    others = [[17, 4, 256], range(5, 6), [1]]
    assert lw.similarity(batch, others, by="tokens:2").tolist() == [2 / 3, 1, 0]
    assert lw.similarity(others, batch, by="tokens:2/containment").tolist() == [1, 1, 0]
    assert (lw.sketch(batch, by="tokens:2") == lw.sketch(IDS, by="tokens:2")).all()


def test_token_ids_have_an_order_and_repeats():
    assert lw.similarity([1, 2, 3], [3, 2, 1], by="tokens:2") == 0
    assert lw.similarity([1, 1, 2], [1, 2], by="tokens:1/bag") == 2 / 3
    assert lw.similarity(array([[1, 2]], np.uint8), [[1, 2]], by="tokens:2").tolist() == [1]
    assert lw.similarity([], [1], by="tokens:1") == 0
    assert lw.similarity([2**64 - 1], [-1], by="tokens:1") == 1  # one word, as in a file
    ids, offsets = array([9, 1, 2]), array([1, 3])
    assert shingle((ids, offsets), "tokens:2", None, 0).values.tolist() == shingle([[1, 2]], "tokens:2", None, 0).values.tolist()
    kept = lw.dedup([[1, 2, 3], [1, 2, 3], [3, 2, 1]], by="tokens:2").kept.to_arrow()
    assert len(kept) == 2


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a b", "row 0 holds strings, such as 'a b'; expected token ids"),
        (b"a b", "row 0 holds a value of type bytes; give token ids"),
        (["a b"], r"row 0 holds lists of strings, such as \['a b'\]; expected token ids"),
        ([[1], ["a"]], r"row 1 holds lists of strings, such as \['a'\]"),
        ([[1], None], "row 1 is None; expected a list of token ids"),
        ([[1], {1}], "row 1 is .1.; a set has no order"),
        ([iter([1])], "row 0 holds a value of type list_iterator"),
        ([[1.0]], "row 0 holds lists of floats"),
        ([[True]], "row 0 holds lists of booleans"),
        (array([[True]]), "give token ids: .*; got an array of bool of shape .1, 1."),
        (pa.array(["a"]), "row 0 holds strings, such as 'a'"),
        (array(5), "got an array of int64 of shape .."),
        (iter([[1]]), "got list_iterator; it can be read only once"),
    ],
)
def test_what_is_no_list_of_token_ids(given, message):
    with pytest.raises(lw.UsageError, match=f"on the left, .*{message}"):
        lw.similarity(given, given, by="tokens:1")


def test_sketches_of_one_text_and_of_no_text():
    assert (lw.sketch(b"a b") == lw.sketch("a b")).all()
    assert lw.sketch("a b", slots=16).shape == (1, 16)
    for by in ("cosine", "elements"):
        with pytest.raises(lw.UsageError, match=r"likewise\.families"):
            lw.sketch(["a"], by=by)
    for given in (None, 5, {"a": 1}, iter(["a"])):
        with pytest.raises(lw.UsageError, match="give texts: a list"):
            lw.sketch(given)
    for call in (lw.sketch, lambda text, **choices: lw.similarity(text, text, **choices)):
        with pytest.raises(lw.UsageError, match="normalize=5: give the steps"):
            call("a", normalize=5)


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
    """Rows of embeddings: tiny vectors are valid, zeros of any sign have no angle, and all other values are refused."""
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
