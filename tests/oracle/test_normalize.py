"""The normalization steps, in plain Python, and the pinned Unicode data under them."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest

from likewise.items import normalize as module
from likewise.items import scripts, tables, unicode
from likewise.items.normalize import normalize
from likewise.items.unicode_data import CATEGORIES, UNICODE_VERSION
from likewise.methods import HEADER, MASKS, STEPS

#: step, before, after: each can be checked by eye.
WORKED = [
    ("nfc", "e\u0301", "é"),
    ("nfc", "\u1112\u1161\u11ab", "한"),
    ("nfc", "é\u0323", "ẹ\u0301"),
    ("nfkc", "ﬁ Ａ１ ½ …", "fi A1 1⁄2 ..."),
    ("lower", "ΟΔΟΣ ΣΟΦΟΣ Σ İ", "οδος σοφος σ i\u0307"),
    ("fold", "Straße ΟΔΟΣ", "strasse οδοσ"),
    ("accents", "Après l'été, Việt Nam, ά й ё", "Apres l'ete, Viet Nam, α и е"),
    ("accents", "e\u0301\u0323 ł ø", "e ł ø"),
    ("accents", "क़ गाँव น้ำ が", "क\u093c गाँव น้ำ が"),  # signs of Devanagari, Thai and Kana stay
    ("marks", "مُحَمَّد كتـــاب שָׁלוֹם", "محمد كتاب שלום"),
    ("marks", "ก่ é\u0301 \u0730", "ก่ é\u0301 \u0730"),  # not of Thai, Latin, Syriac
    ("invisible", "so\u00adfa \u200b\u200d\u2066x\ufeff ❤\ufe0f", "sofa x ❤"),
    ("punct", "don't (stop) — «no» a_b 5$", "dont stop  no ab 5$"),
    ("digits", "bus 31, 1999-12-31 ٣٤ ²", "bus 0, 0-0-0 0 ²"),
    ("space", " a\u00a0\t b\r\n\u3000\x1cc ", "a b c"),
]


@pytest.mark.parametrize(("step", "before", "after"), WORKED)
def test_each_step_of_normalization_by_hand(step, before, after):
    assert normalize(before, (step,)) == after


def test_steps_have_a_fixed_order():
    assert normalize("1\u200b2 ,3", ("space", "digits", "punct", "invisible")) == "0 0"
    assert {*module.CHANGES, *MASKS, HEADER} == {*STEPS}


def test_space_within_lines():
    assert normalize(" a  b\t\r\n\r\n c\rd \u2028e\n", ("space",), in_lines=True) == "a b\n\nc\nd e\n"


@pytest.mark.parametrize("step", [step for step in STEPS if step != "space"])
def test_lone_surrogates_and_nul_survive(step):
    assert normalize("a\0\ud800b\udc00", (step,)) == "a\0\ud800b\udc00"


def test_another_unicode_version_changes_nothing(monkeypatch):
    texts = ["ΟΔΟΣ\u0378 e\u0301\u0378\u0301", "\u0378", "plain", "a\u0323\u0301 \U0001fadd Σ"]  # U+0378 is assigned in no version yet
    steps = ("nfc", "lower", "accents")
    before = [normalize(text, steps) for text in texts]
    monkeypatch.setattr(module, "UNICODE_VERSION", "0.0")
    assert [normalize(text, steps) for text in texts] == before
    seen = []
    assert module._pinned(lambda part: seen.append(part) or part.upper(), "ab\u0378\u0379é") == "AB\u0378\u0379É"
    assert seen == ["ab", "é"]  # what our version does not know is never shown to Python's tables


CHARACTERS = [chr(code) for code in range(0x110000)]
CATEGORY = np.array([unicodedata.category(char) for char in CHARACTERS])


def test_data_agree_with_python():
    """Under the version that was packed everywhere; else nearly everywhere that the packed version knows: a few categories were corrected since."""
    names = np.array(CATEGORIES.split())
    ours = np.full(unicode.SIZE, "??")
    for name in names:
        ours[unicode.of_category(name)] = name
    known = ~unicode.unassigned()
    share = (ours == CATEGORY)[known].mean()
    assert share == 1 if unicodedata.unidata_version == UNICODE_VERSION else share > 0.999
    assert (unicode.white_space() == [char.isspace() for char in CHARACTERS]).all()
    lower = unicode.mapping("lower").tolist()
    assert [CHARACTERS[code] for code in np.flatnonzero(known) if lower[code] >= 0 and CHARACTERS[code].lower() != chr(lower[code])] == []
    assert [char for char, target in zip(CHARACTERS, lower, strict=True) if target < 0] == ["İ", "Σ"]


def test_only_touched_characters_are_ever_changed():
    untouched = np.ones(unicode.SIZE, bool)
    untouched[tables.TOUCHED] = False
    for name in ("nfc", "nfkc", "lower", "fold", "accents"):
        assert not (unicode.mapping(name) != np.arange(unicode.SIZE))[untouched].any()
    for members in (unicode.vowel_marks, unicode.invisible, unicode.punctuation, unicode.digits, unicode.white_space):
        assert not members()[untouched].any()
    assert not unicode.values("combining")[untouched].any()
    assert not unicode.values("composition")[untouched].any()


def test_ranges_are_in_order():
    for ranges in (scripts.ACCENTS, scripts.VOWEL_MARKS, scripts.VARIATION_SELECTORS, scripts.CONTROL_SPACES, scripts.PICTOGRAPHS):
        flat = [bound for pair in ranges for bound in pair]
        assert flat == sorted(flat)
    assert all(CATEGORY[code][0] == "M" for low, high in scripts.ACCENTS for code in range(low, high + 1) if CATEGORY[code] != "Cn")
