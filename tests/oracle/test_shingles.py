"""Texts as sets of fingerprints: the same equalities as Python's sets of tuples of token texts, and nothing else."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from compiled import distinct, repeats
from likewise import methods
from likewise.errors import UsageError
from likewise.items.documents import UNITS, Shingled, shingler, token_texts
from likewise.items.stopwords import STOP_WORDS
from likewise.lecture import jaccard


def array(texts: list[str]) -> pa.LargeBinaryArray:
    return pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())


def shingled(texts: list[str], by: str, normalize: str | None = None, seed: int = 0) -> Shingled:
    return shingler(methods.parse(by, normalize), seed)(array(texts), np.ones(len(texts), bool))


def sets(found: Shingled) -> list[set[int]]:
    """The sets, which must be ascending and distinct."""
    each = [found.values[low:high].tolist() for low, high in zip(found.offsets[:-1], found.offsets[1:], strict=True)]
    assert all(values == sorted(set(values)) for values in each)
    return [set(values) for values in each]


def expected(text: str, method: methods.Text) -> set:
    """The reference implementation: shingles as tuples of token texts; the i-th occurrence apart from the others in a bag."""
    tokens, k = token_texts(text, method), method.k
    if method.unit == "stopwords":
        stops = set(STOP_WORDS.split())
        runs = [tuple(tokens[i : i + k + 1]) for i in range(len(tokens) - k) if tokens[i] in stops]
        runs = runs or [("all", *tokens)] * bool(tokens)
    else:
        runs = [tuple(tokens[i : i + k]) for i in range(len(tokens) - k + 1)] or [tuple(tokens)] * bool(tokens)
    return {(run, i) for run, times in Counter(runs).items() for i in range(times)} if method.bag else set(runs)


def value(a: str, b: str, by: str, normalize: str | None = None) -> Fraction:
    return jaccard(*sets(shingled([a, b], by, normalize)))


WORDY = st.lists(st.sampled_from(["the", "a", "of", "rose", "is", "red", "é", "漢", "x,", "\n", "\n\n", "It's", "12", "👍"]), max_size=30).map(
    " ".join
)


@pytest.mark.parametrize("unit", [unit for unit in UNITS if unit != "tokens"])
@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.one_of(WORDY, st.text(st.sampled_from("ab c\n"), max_size=30)), min_size=2, max_size=5), k=st.integers(1, 6), bag=st.booleans()
)
def test_same_equalities_as_tuples_of_tokens(unit, texts, k, bag):
    method = methods.parse(f"{unit}:{k}" + "/bag" * bag)
    got = sets(shingler(method, 7)(array(texts), np.ones(len(texts), bool)))
    want = [expected(text, method) for text in texts]
    assert [len(values) for values in got] == [len(values) for values in want]
    for i, j in combinations(range(len(texts)), 2):
        assert len(got[i] & got[j]) == len(want[i] & want[j])


def test_worked_values_of_the_specification():
    assert [len(s) for s in sets(shingled(["abcab", "abcdabd", "a rose is a rose is a rose"], "chars:2"))][:2] == [3, 5]
    assert len(sets(shingled(["abcab"], "chars:2/bag"))[0]) == 4  # ab twice
    assert value("abcab", "bcabc", "chars:2") == 1
    assert value("abcab", "abcdabd", "chars:2") == Fraction(2, 6)
    assert value("abcab", "abc", "chars:2/bag") == Fraction(2, 4)
    assert len(sets(shingled(["a rose is a rose is a rose"], "words:4"))[0]) == 3


@pytest.mark.parametrize("unit", ["words", "whitespace", "chars", "bytes", "lines", "code"])
def test_fewer_tokens_than_k_are_one_shingle_like_no_other(unit):
    glue = {"lines": "\n", "chars": "", "bytes": ""}.get(unit, " ")
    texts = ["", *(glue.join("pqrst"[:n]) for n in range(1, 6)), glue.join("qp")]
    found = sets(shingled(texts, f"{unit}:4"))
    assert [len(s) for s in found] == [0, 1, 1, 1, 1, 2, 1]
    assert len(set.union(*found)) == 6  # the shingle of pqrs is in pqrst too
    assert found[4] < found[5]


def test_stop_words_anchor():
    a, b = "Menu Home Login | The cat sat on a mat with friends", "The cat sat on a mat with friends | Imprint 2024"
    one, two = sets(shingled([a, b], "stopwords:2"))
    assert len(one) == 3  # the cat sat, on a mat, a mat with; after `with` there is one word only
    assert one < two
    assert len(two) == 4  # with friends |
    assert len(sets(shingled(["Red Fox Runs"], "stopwords"))[0]) == 1
    assert value("Red Fox Runs", "red fox runs", "stopwords") == 1
    assert value("red fox runs", "red fox", "stopwords:1") == 0
    assert value("Das Haus steht leer", "das Haus", "stopwords:1", "fold,accents") == Fraction(1)


def test_token_ids():
    ids = [[1, 2, 3], [1, 2, 3, 4], [-1, 2**63 - 1, 0], [], [3, 2, 1]]
    texts = pa.array([np.array(row, "<i8").tobytes() for row in ids], pa.large_binary())
    found = shingler(methods.parse("tokens:2"), 0)(texts, np.ones(5, bool))
    assert found.tokens.tolist() == found.chars.tolist() == [3, 4, 3, 0, 3]
    one, two, three, four, five = sets(found)
    assert one < two and not one & three and not four and not one & five
    with pytest.raises(UsageError, match="token ids"):
        shingler(methods.parse("tokens", "lower"), 0)


def test_copies_are_equal_normalized_texts():
    texts = ["Été", "e\u0301TE\u0301", "été ", "ete", "", "\u200b", "été\0", "x" * 100, "x" * 101, "x" * 16, "x" * 8 + "\0" * 8, "x" * 8]
    copy = [tuple(row) for row in shingled(texts, "words").copy.tolist()]
    keys = ["été", "été", "été ", "ete", "", "", *texts[6:]]
    assert [[a == b for b in copy] for a in copy] == [[a == b for b in keys] for a in keys]
    assert len({half for row in copy for half in row}) == 2 * len(set(keys))  # two lanes that have nothing in common


def test_seeds_share_nothing():
    texts = ["a rose is a rose is a rose", "x", "日本語"]
    zero, one, again = (shingled(texts, "words:2", seed=seed) for seed in (0, 1, 0))
    assert not set(zero.values.tolist()) & set(one.values.tolist())
    assert not set(zero.copy.ravel().tolist()) & set(one.copy.ravel().tolist())
    assert zero.values.tolist() == again.values.tolist()


def test_no_collisions_where_collisions_are_cheap():
    """All strings of two of 300 characters, of words of NULs, of permutations: any structural collision would show here."""
    pairs = [chr(a) + chr(b) for a in range(0x100, 0x22C) for b in range(0x100, 0x22C)]
    nuls = ["\0" * n for n in range(200)]
    orders = [" ".join(f"{digit:b}" for digit in digits) for digits in product(range(9), repeat=4)]
    assert len(set(shingled(pairs, "chars:2", "none").values.tolist())) == len(pairs)
    assert len(set(shingled(nuls, "whitespace:1").values.tolist())) == 199
    assert len(set(shingled(orders, "words:4").values.tolist())) == 9**4


@pytest.mark.parametrize("k", [2, 5, 9, 16])
def test_order_counts_at_every_place(k):
    letters = "abcdefghijklmnop"[:k]
    swapped = [letters] + [letters[:i] + letters[j] + letters[i + 1 : j] + letters[i] + letters[j + 1 :] for i, j in combinations(range(k), 2)]
    assert len(set(shingled(swapped, f"chars:{k}").values.tolist())) == len(swapped)


def test_order_counts_inside_a_token():
    """Blocks of zeros that trade places collide under every seed where a hash multiplies by what it reads."""
    blocks = ["\0" * 8 + letter * 8 for letter in "abc"]
    texts = ["".join(blocks[i] for i in order) + "end" for order in permutations(range(3))]
    found = shingled(texts, "whitespace:1")
    assert len(set(found.values.tolist())) == len({tuple(row) for row in found.copy.tolist()}) == 6


def test_fingerprints_look_uniform():
    values = np.concatenate([shingled([f"{i:x}" * 3 for i in range(20000)], by).values for by in ("words:1", "chars:9", "bytes:16")])
    bits = (values[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    spread = np.abs(bits.mean(0) - 0.5) / (0.5 / np.sqrt(len(values)))
    assert spread.max() < 5


MANY = ["", "x", "Été 漢字 rose", "ΟΔΟΣ", "e\u0301", "İ" * 50, "a rose is a rose " * 40, "\ud800\0", "word " * 3] * 30


@pytest.mark.parametrize("by", ["words:2", "chars:3/bag", "lines", "stopwords"])
def test_batches_threads_and_order_do_not_matter(by):
    whole = shingled(MANY, by)
    shingle = shingler(methods.parse(by), 0)
    texts, live = array(MANY), np.ones(len(MANY), bool)
    cuts = [(0, 1), (1, 2), (2, 77), (77, 78), (78, 200), (200, len(MANY))]
    with ThreadPoolExecutor(4) as pool:
        parts = list(pool.map(lambda cut: shingle(texts[cut[0] : cut[1]], live[cut[0] : cut[1]]), cuts * 5))
    for low in range(0, len(parts), len(cuts)):
        some = parts[low : low + len(cuts)]
        for name in ("tokens", "chars", "copy", "values"):
            assert np.array_equal(np.concatenate([getattr(part, name) for part in some]), getattr(whole, name))
    assert sets(shingled(MANY[::-1], by)) == sets(whole)[::-1]


def test_what_is_not_read_is_empty():
    texts = pa.array([b"one two", None, b"one two", b""], pa.large_binary())
    found = shingler(methods.parse("words:1"), 0)(texts, np.array([True, True, False, True]))
    assert found.tokens.tolist() == [2, 0, 0, 0]
    assert found.chars.tolist() == [7, 0, 0, 0]
    assert found.offsets.tolist() == [0, 2, 2, 2, 2]
    assert len({tuple(row) for row in found.copy[1:].tolist()}) == 1
    nothing = shingler(methods.parse("words:1"), 0)(pa.array([], pa.large_binary()), np.ones(0, bool))
    assert nothing.offsets.tolist() == [0] and nothing.copy.shape == (0, 2) and nothing.values.dtype == np.uint64


def test_results_outlive_the_next_call():
    """A thread uses its scratch arrays again: what was returned must not change under the caller."""
    shingle = shingler(methods.parse("words:2"), 0)
    first = shingle(array(["a b c d e"]), np.ones(1, bool))
    kept = first.values.tolist()
    shingle(array(["v w x y z"]), np.ones(1, bool))
    assert first.values.tolist() == kept


@pytest.mark.parametrize("size", [1, 2, 3, 10, 1000, 5000])
@pytest.mark.parametrize("top", [2**64 - 1, 2**40, 3])
def test_sortdistinct(size, top):
    """Also where values are anything but uniform: all in one bucket, most of them repeated."""
    rng = np.random.default_rng(size)
    for offset in (0, 2**64 - 1 - top):
        values = rng.integers(0, top, size, np.uint64, endpoint=True) + np.uint64(offset)
        out = np.empty(size, np.uint64)
        found = distinct(values, size, np.empty(size, np.uint32), out)
        assert out[:found].tolist() == np.unique(values).tolist()


def test_numberrepeats():
    values = np.array([5, 9, 5, 5, 9, 2**64 - 1, 0], np.uint64)
    again = np.array([9, 5, 5], np.uint64)
    for each in (values, again):
        repeats(each, len(each), np.empty(2 * len(each), np.uint64), np.empty(2 * len(each), np.uint32))
    assert len(set(values.tolist())) == 7
    assert set(again.tolist()) == {values[1], values[0], values[2]}  # 9 once, 5 once, 5 twice


BANNER = " ".join(f"banner{i}" for i in range(60))
PAGES = [f"{BANNER} " + " ".join(f"d{page}w{i}" for i in range(140)) for page in range(2)]
BUS = "bus line {} leaves platform {} of the {} station and line {} returns to it every hour"
ROOM = [
    "the reading room stays closed on monday because the heating is being repaired and all loans are extended by one week",
    "阅览室星期一关闭，因为暖气正在维修，所有借出的图书自动延长一个星期，请读者留意门口的通知",
    "열람실은 난방 수리 때문에 월요일에 문을 닫으며 모든 대출 기한은 일주일씩 자동으로 연장됩니다",
]
FRENCH = "Après l'été, la bibliothèque près du château a prêté où elle pouvait ses œuvres les plus fragiles, protégées dans des boîtes numérotées."
PLAIN = "Apres l'ete, la bibliotheque pres du château a prete ou elle pouvait ses ouvres les plus fragiles, protegees dans des boites numerotees."
THAI = "วันนี้อากาศดีมากเราจึงไปเดินเล่นที่สวนสาธารณะใกล้บ้านกับเพื่อน{}และซื้อผลไม้จากตลาดริมน้ำกลับมาทำอาหารเย็นด้วยกัน"
HEBREW = "הספרייה העירונית נפתחת מחדש אחרי שיפוץ ארוך והציבור מוזמן לסיור מודרך בקומה החדשה"

#: by, steps, a, b, Jaccard. Counted by hand or by a brute-force oracle.
SITUATIONS = [
    ("whitespace:5", None, "cat", "cat", 1),
    ("whitespace:5", None, "red fox", "fox red", 0),
    ("whitespace:5", None, "one two three four", "one two three four five", 0),
    ("whitespace:5", None, "one two three four five", "one two three four five six", Fraction(1, 2)),
    ("whitespace:5", None, PAGES[0], PAGES[1], Fraction(1, 6)),
    ("whitespace:5", None, PAGES[0], PAGES[0].replace("d0w70 ", "changed "), Fraction(191, 201)),
    ("words:5", None, PAGES[0], PAGES[0].replace("d0w70 ", "changed "), Fraction(191, 201)),
    ("chars:5", None, FRENCH, FRENCH.replace("é", "e\u0301").replace("è", "e\u0300").replace("ê", "e\u0302"), 1),
    ("chars:5", None, FRENCH, PLAIN, Fraction(76, 185)),
    ("chars:5", "accents", "prêté", "prete", 1),
    ("chars:5", None, THAI.format("เก่า"), THAI.format("ใหม่"), Fraction(103, 119)),
    ("chars:5", None, HEBREW, "\u202b" + HEBREW.replace(" ", "\u200f\u00a0"), 1),
    ("chars:5", "none", HEBREW, HEBREW.replace(" ", "\u00a0"), Fraction(17, 135)),
    ("whitespace:5", None, "key \0 jemer canus zopu a", "key \0 helozes zotidir zocusis a", 0),
    ("whitespace:1", None, "key\0a", "key\0b", 0),
    ("whitespace:1", None, BUS.format(31, 31, "central", 31), BUS.format(32, 32, "central", 32), Fraction(7, 8)),
    ("whitespace:2", None, BUS.format(31, 31, "central", 31), BUS.format(32, 32, "central", 32), Fraction(11, 21)),
    ("whitespace:2", None, BUS.format(31, 31, "central", 31), BUS.format(31, 31, "harbour", 31), Fraction(7, 9)),
    ("whitespace:5", None, BUS.format(31, 31, "central", 31), BUS.format(32, 32, "central", 32), Fraction(3, 25)),
    ("whitespace:5", "digits", BUS.format(31, 31, "central", 31), BUS.format(7, 123, "central", 9), 1),
    ("chars:5", None, ROOM[0], ROOM[0] + "x", Fraction(111, 112)),
    ("chars:5", None, ROOM[1], ROOM[1][:-1] + "示", Fraction(39, 41)),
    ("chars:5", None, ROOM[2], ROOM[2][:-1] + "까", Fraction(47, 49)),
    ("chars:5", None, ROOM[0], ROOM[1], 0),
]


@pytest.mark.parametrize(("by", "normalize", "a", "b", "jaccard_"), SITUATIONS)
def test_situations(by, normalize, a, b, jaccard_):
    assert value(a, b, by, normalize) == jaccard_
