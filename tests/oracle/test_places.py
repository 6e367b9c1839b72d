"""Tokens with their places in the source, against slow references in plain Python."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from cut_texts import LETTERS
from likewise import methods
from likewise.items.documents import shingler
from likewise.items.places import WITHOUT, characters, placer
from likewise.items.tokens import token_texts
from placed import token_places

UNITS = [unit for unit in methods.UNITS if unit not in (*WITHOUT, "tokens")]
#: Characters whose places are tested: marks and their order, jamo, ligatures, case, what is removed or replaced, line ends.
NASTY = (
    "aA1٣_ .,'\"\t\n\r\u2028\0éßİΣςΑ\u0301\u0323\u0345\u034f\u200d\u00ad\ufe0f\u202eש\u05b8\u05bc\u0640\u064b\u0651กำ\u0e48漢\u304b\u3099\uff76\uff9e"
    "가\u1100\u1161\u11a8\u09c7\u09be\u0928\u093c❤👍🏽\ud800\udc00½①ﬁ…Å\u212bⱥȺ\u0378\u0f71\u0f73\ufdfa"
)
VALUES = [
    "10.0.0.1",
    "2024-05-01",
    "7f3a9c",
    "3.5GB ",
    "id=7",
    "# header\n",
    "/* x */",
    "the quick",
    "é" * 70,
    "word " * 20,
    "  \n ",
    "e\u0323\u0301",
]
TEXTS = st.lists(st.one_of(LETTERS, st.sampled_from(NASTY), st.sampled_from(VALUES)), max_size=12).map("".join)
PATTERNS = [[], ["re:id=[0-9]+"], ["re:[aé]+x?", "re:0."]]


@st.composite
def steps(draw: st.DrawFn) -> list[str]:
    names = draw(st.lists(st.sampled_from(list(methods.STEPS)), unique=True))
    names = [name for name in names if (name, "nfkc") not in [("nfc", other) for other in names] and not (name == "lower" and "fold" in names)]
    return [*names, *draw(st.sampled_from(PATTERNS))] or ["none"]


def array(texts: list[str]) -> pa.LargeBinaryArray:
    return pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())


def places(texts: list[str], method: methods.Text) -> list[list[tuple[int, int]]]:
    """The places of the tokens of each text, in characters."""
    raw = array(texts)
    found = placer(method, 3)(raw, np.ones(len(texts), bool))
    rows = np.repeat(np.arange(len(texts)), np.diff(found.offsets))
    begin, end = characters(raw, rows, found.begin), characters(raw, rows, found.end)
    pairs = list(zip(begin.tolist(), end.tolist(), strict=True))
    return [pairs[low:high] for low, high in zip(found.offsets[:-1], found.offsets[1:], strict=True)]


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=150, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), names=steps())
def test_places(unit, texts, names):
    method = methods.parse(f"{unit}:1", names)
    want = [[(begin, end) for _, begin, end in token_places(text, method)] for text in texts]
    assert places(texts, method) == want
    assert [places([text], method)[0] for text in texts] == want


@pytest.mark.parametrize("names", ["nfc", "nfkc", "accents", "nfkc,fold,accents,digits", "nfc,lower,invisible,space"])
def test_places_beside_each_nasty_character(names, scaled):
    for unit in ("chars", "words"):
        method = methods.parse(f"{unit}:1", names)
        texts = [f"{one}{two}b" for one in NASTY for two in NASTY][:: scaled(1, 5)]
        assert places(texts, method) == [[(begin, end) for _, begin, end in token_places(text, method)] for text in texts]


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=60, deadline=None)
@given(texts=st.lists(TEXTS, min_size=1, max_size=4), names=steps())
def test_tokens_are_those_that_are_shingled(unit, texts, names):
    method = methods.parse(f"{unit}:1", names)
    raw, live = array(texts), np.arange(len(texts)) != 1
    placed, shingled = placer(method, 3)(raw, live), shingler(method, 3)(raw, live)
    assert np.diff(placed.offsets).tolist() == shingled.tokens.tolist()
    each = [token_texts(text, method) if i != 1 else [] for i, text in enumerate(texts)]
    assert np.diff(placed.offsets).tolist() == [*map(len, each)]
    tokens = [token for some in each for token in some]
    assert len({*zip(tokens, placed.hashes.tolist(), strict=True)}) == len({*tokens}) == len({*placed.hashes.tolist()})
    alone = [token for token in {*tokens} if unit == "words"]  # a token by itself has the same hash
    again = placer(methods.parse("words:1", "none"), 3)(array(alone), np.ones(len(alone), bool))
    assert {*again.hashes.tolist()} == {*placed.hashes.tolist()} or not alone


@pytest.mark.parametrize("unit", ["words", "whitespace", "chars", "lines", "code"])
@settings(max_examples=100, deadline=None)
@given(text=TEXTS, names=st.sampled_from(["none", "nfc,lower,invisible,space", "nfkc,fold,accents,marks,invisible,punct,space"]))
def test_a_slice_of_the_source_normalizes_to_its_token(unit, text, names):
    method = methods.parse(f"{unit}:1", names)
    for (begin, end), token in zip(places([text], method)[0], token_texts(text, method), strict=True):
        alone = token_texts(text[begin:end], method)
        assert begin < end and (token.replace("ς", "σ") in [one.replace("ς", "σ") for one in alone] or token == " ")


def test_places_by_hand():
    text = "Le cafe\u0301 du bro\u00adkeur, ﬁn"
    assert [text[begin:end] for begin, end in places([text], methods.parse("words"))[0]] == ["Le", "cafe\u0301", "du", "bro\u00adkeur", "ﬁn"]
    text = "# a header\nfrom 10.0.0.1 at  2024-05-01 12:00,  id=77"
    method = methods.parse("whitespace", "header,ip,dates,re:id=[0-9]+")
    assert [text[begin:end] for begin, end in places([text], method)[0]] == ["from", "10.0.0.1", "at", "2024-05-01 12:00,", "id=77"]
    assert places(["a \ud800\n\n 漢 字", "", "x"], methods.parse("lines"))[:2] == [[(0, 3), (6, 9)], []]
    assert places(["1,234½"], methods.parse("chars", "nfkc,punct,digits"))[0] == [(0, 6), (5, 6), (5, 6)]  # ½ is 1, a stroke, and 2
    long = "x" * 100 + " " * 100 + "É" * 100 + "\r\n" + "y"
    assert places([long], methods.parse("words", "nfc,lower,space"))[0] == [(0, 100), (200, 300), (302, 303)]


def test_token_ids_are_placed_by_index():
    ids = pa.array([np.array([7, 7, -1], "<i8").tobytes(), b"", np.array([5], "<i8").tobytes()], pa.large_binary())
    found = placer(methods.parse("tokens"), 0)(ids, np.ones(3, bool))
    assert (found.offsets.tolist(), found.begin.tolist(), found.end.tolist()) == ([0, 3, 3, 4], [0, 1, 2, 0], [1, 2, 3, 1])
    assert found.hashes[0] == found.hashes[1] != found.hashes[2]


def test_bytes_of_a_text_in_characters():
    """In any order, of any rows; bytes within a character are no places, but surrogates and NUL are characters."""
    raw = array(["aé漢", "", "\ud800\0😀b"])
    rows, at = np.array([2, 0, 0, 2, 1, 0, 2]), np.array([8, 6, 0, 3, 0, 1, 9])
    assert characters(raw, rows, at).tolist() == [3, 3, 0, 1, 0, 1, 4]
    assert characters(raw, rows[:0], at[:0]).tolist() == []
    assert characters(raw.slice(1), rows[3:4] - 1, at[3:4]).tolist() == [1]


@pytest.mark.parametrize(("unit", "instead"), WITHOUT.items())
def test_units_without_places(unit, instead):
    with pytest.raises(lw.UsageError, match=f"no places in the text; use {instead}"):
        placer(methods.parse(unit), 0)
    with pytest.raises(lw.UsageError, match="token ids cannot be normalized"):
        placer(methods.parse("tokens", "lower"), 0)
