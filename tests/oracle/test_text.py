"""The compiled normalization and tokenizers against their reference implementations in plain Python."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise import methods
from likewise.items import tables, unicode
from likewise.items.documents import shingler, token_texts
from likewise.items.normalize import normalize
from likewise.items.normalized import buffers
from likewise.kernels import text as kernel

#: Characters that have given trouble: case, marks and their order, composition, Hangul, joiners, line ends, what is not assigned.
NASTY = (
    "aAzZ09_ .,;'\"`\\$+<=>^|~\t\n\r\x0b\x1c\x85\u00a0\u2028\u3000\0éÉßẞİıΣσςΑΔ\u0301\u0323\u0307\u0308\u0345\u034f\u20dd"
    "\u200d\u200c\u00ad\ufe0f\u202e"
    "\u0640\u064b\u0651\u0653\u0627ש\u05b8\u05bc\u05c1กำ\u0e48\u0e36เ漢字ひら\u304b\u3099カー가각\u1100\u1161\u11a8\u09c7\u09be\u0928\u093c\u094d"
    "❤😀👍🏽🇩\ud800\udc00²½①٣๓Ａ１ﬁ…Å\u212b\u2126\u1f71ⱥȺ\U0001d6ba\U0001e900\u0378\U0001faff\U00031350\ue000\uffff\U0010ffff\u0f0b\u17d2\u1780\u1000"
)
TEXTS = st.one_of(
    st.text(st.sampled_from(NASTY), max_size=40),
    st.text(st.sampled_from("aB \n\r\t.1"), max_size=150),
    st.text(st.sampled_from("the quick Brown fox é"), max_size=150),
    st.text(st.one_of(st.characters(), st.characters(max_codepoint=0x3000), st.sampled_from(NASTY)), max_size=60),
)
STEPS = [
    "none",
    "nfc,lower,invisible",
    "nfc,lower,invisible,space",
    "nfkc,fold,accents,marks,invisible,punct,digits,space",
    "nfc,accents,space",
    "nfkc",
    "lower",
    "fold",
    "accents",
    "digits",
    "punct,space",
    "space",
    "marks,digits,space",
]
UNITS = [unit for unit in methods.UNITS if unit != "tokens"]


def array(texts: list[str]) -> pa.LargeBinaryArray:
    return pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())


def normalized(texts: list[str], steps: tuple[str, ...], in_lines: bool = False) -> list[str | None]:
    """The result of the kernel for each text; None if it hands the text back."""
    data, start, length = buffers(array(texts), np.ones(len(texts), bool))
    table, manner = tables.normalization(steps, in_lines)
    out, start, length, chars, hard, _ = kernel.normalize(
        data, start, length, table, unicode.values("combining"), manner, np.empty(0, np.uint8), None
    )
    assert chars[~hard].tolist() == [len(text) for text, back in zip(texts, hard, strict=True) if not back]
    each = zip(start.tolist(), length.tolist(), hard, strict=True)
    return [None if back else out[at : at + size].tobytes().decode("utf-8", "surrogatepass") for at, size, back in each]


@pytest.mark.parametrize("in_lines", [False, True])
@pytest.mark.parametrize("names", STEPS)
@settings(max_examples=12, deadline=None)
@given(texts=st.lists(TEXTS, max_size=8))
def test_normalization(names, in_lines, texts):
    steps = methods.steps(names)
    for text, got in zip(texts, normalized(texts, steps, in_lines), strict=True):
        assert got is None or got == normalize(text, steps, in_lines=in_lines)


@pytest.mark.parametrize("names", STEPS)
def test_normalization_of_each_character(names, scaled):
    """All, or one of five. Alone, and after a letter: what a table says of a character that stands among others."""
    steps = methods.steps(names)
    texts = [
        before + chr(code)
        for code in [*range(0x3400), *range(0xA000, 0x12000), *range(0x1D000, 0x1FB00), *range(0xE0000, 0xE0200)][:: scaled(1, 5)]
        for before in ("", "a")
    ]
    got = normalized(texts, steps)
    assert [(text, kept) for text, kept in zip(texts, got, strict=True) if kept is not None and kept != normalize(text, steps)] == []


@pytest.mark.parametrize("names", ["lower", "nfc,lower,invisible", "lower,accents,punct,space"])
def test_sigma_beside_each_character(names):
    steps = methods.steps(names)
    codes = [*range(0x3000), *range(0xA000, 0xB000), *range(0xF900, 0x10500), *range(0x1D400, 0x1D800), *range(0x1F100, 0x1F200)]
    texts = [text for char in map(chr, codes) for text in (f"{char}Σ", f"a{char}Σ", f"aΣ{char}b")]
    assert [(text, got) for text, got in zip(texts, normalized(texts, steps), strict=True) if got not in (None, normalize(text, steps))] == []
    words = ["ΟΔΟΣ ΣΟΦΟΣ", "Σ", "ΑΣ' Σ", "ΑΣ'Α", "İSTANBUL İ"]
    assert normalized(words, steps) == [normalize(word, steps) for word in words]


@pytest.mark.parametrize("names", STEPS)
def test_normalization_of_each_pair(names):
    """Of characters that have given trouble: every way in which one can depend on the one before it."""
    steps = methods.steps(names)
    texts = [f"{one}{two}b" for one in NASTY for two in NASTY]
    assert [(text, got) for text, got in zip(texts, normalized(texts, steps), strict=True) if got not in (None, normalize(text, steps))] == []


def test_ascii_in_blocks():
    """White space in every place of a block, at the ends of texts and of the buffer."""
    rng = random.Random(1)
    texts = ["".join(rng.choices("aB \n\r\t", [20, 5, spaces, 1, 1, 1], k=size)) for spaces in (1, 5, 30) for size in range(150)]
    for names in ("lower", "lower,space"):
        for in_lines in (False, True):
            steps = methods.steps(names)
            expected = [normalize(text, steps, in_lines=in_lines) for text in texts]
            assert normalized(texts, steps, in_lines) == expected
            assert [normalized([text], steps, in_lines)[0] for text in texts[::7]] == expected[::7]


EVERYDAY = [
    "The Reading Room stays closed on Monday — “because” of £5 repairs…",
    "Après l'été, la bibliothèque a prêté ses œuvres.",
    "Die Straße ist für Fußgänger gesperrt.",
    "Hôm qua chúng tôi đi chợ nổi từ sáng sớm",
    "Читальный зал закрыт в понедельник, ещё й",
    "Το ΑΝΑΓΝΩΣΤΉΡΙΟ της Σάμου μένει ΚΛΕΙΣΤΟΣ Τη Δευτέρα",
    "İSTANBUL'da Okuma Salonu Pazartesi günü kapalı, ısıtma",
    "מוּזמן לסיור מודרך בקומה",
    "المكتبة مغلقة يوم الاثنين لأن التدفئة قيد الإصلاح",
    "वाचनालय सोमवार को बंद रहेगा क्योंकि मरम्मत हो रही है ज़रूर",
    "পাঠাগার সোমবার বন্ধ থাকবে কারণ",
    "நூலகம் திங்கட்கிழமை மூடப்படும்",
    "วันนี้อากาศดีมากเราจึงไปเดินเล่น",
    "阅览室星期一关闭，因为暖气正在维修",
    "図書館は月曜日に閉まっています。ガス",
    "열람실은 난방 수리 때문에 월요일에",
    "👍🏽 ❤️ 👩‍👩‍👧 🇩🇪",
]


@pytest.mark.parametrize("text", EVERYDAY)
def test_everyday_text_is_not_handed_back(text):
    """The slow way is for rare characters: whole languages must not need it."""
    assert normalized([text], methods.steps("nfc,lower,invisible")) == [normalize(text, methods.steps("nfc,lower,invisible"))]


@pytest.mark.parametrize("unit", UNITS)
@settings(max_examples=30, deadline=None)
@given(texts=st.lists(TEXTS, max_size=6), names=st.sampled_from(STEPS))
def test_tokens(unit, texts, names):
    method = methods.parse(f"{unit}:1", names)
    shingled = shingler(method, 0)(array(texts), np.ones(len(texts), bool))
    expected = [token_texts(text, method) for text in texts]
    assert shingled.tokens.tolist() == [len(tokens) for tokens in expected]
    assert shingled.chars.tolist() == [len(text) for text in texts]
    if unit != "stopwords":
        assert np.diff(shingled.offsets).tolist() == [len(set(tokens)) for tokens in expected]


#: unit, text, tokens: each can be checked by eye. Default steps.
CUT = [
    ("words", "Don't stop: it's 3.14 a_b", ["don", "t", "stop", "it", "s", "3", "14", "a_b"]),
    ("words", "日本語のtext", ["日", "本", "語", "の", "text"]),
    ("words", "น้ำดี", ["น้", "ำ", "ดี"]),
    ("words", "한국어 문장", ["한국어", "문장"]),
    ("words", "मरम्मत हो", ["मरम्मत", "हो"]),
    ("words", "5€+x=y 👍🏽❤\ufe0f→", ["5", "€", "+", "x", "=", "y", "👍", "🏽", "❤", "→"]),
    ("words", "so\u00adfa\u200bs \u202bx\u202c", ["sofas", "x"]),
    ("words", "a\0b \ud800c", ["a", "b", "\ud800", "c"]),
    ("words", "x\u0378y \U00031350\U0001faff", ["x\u0378y", "\U00031350", "\U0001faff"]),
    ("whitespace", " Don't\u00a0stop\x1fnow\u200b ", ["Don't", "stop", "now\u200b"]),
    ("chars", "Ab  c ", ["a", "b", " ", "c"]),
    ("bytes", "aé", ["61", "c3", "a9"]),
    ("lines", " A  b \r\n\r\n \rc\u2028d", ["a b", "c d"]),
    ("paragraphs", "A\nb\r\n \t\r\nc\r\rd\n", ["a\nb", "c", "d"]),
    ("stopwords", "The end", ["the", "end"]),
    ("code", "x1 += 'it\\'s' // 3.14e5; don't", ["x1", "+", "=", "'it\\'s'", "/", "/", "3.14e5", ";", "don", "'", "t"]),
    ("code", 'f("a b" + `c`)[0]..n', ["f", "(", '"a b"', "+", "`c`", ")", "[", "0", "]", ".", ".", "n"]),
    ("code", "Foo\u200bBar 'open\n'", ["FooBar", "'", "open", "'"]),
]


@pytest.mark.parametrize(("unit", "text", "tokens"), CUT)
def test_worked_tokens(unit, text, tokens):
    method = methods.parse(unit)
    assert token_texts(text, method) == tokens
    assert shingler(method, 0)(array([text]), np.ones(1, bool)).tokens.tolist() == [len(tokens)]


def test_tokens_without_signs():
    text, method = "5€+x=y ❤ $é `z` ≤ ==== ~日", replace(methods.parse("words:1"), signs=False)
    assert token_texts(text, method) == ["5", "x", "y", "❤", "é", "z", "日"]
    long = "a" * 70 + text
    assert shingler(method, 0)(array([text, "=+<>|~^`$" * 30, long]), np.ones(3, bool)).tokens.tolist() == [7, 0, 7]


@pytest.mark.parametrize(
    ("unit", "text", "tokens"), [("lines", " a  b \n\r\n c", [" a  b ", " c"]), ("paragraphs", "a \r\n b\r\nc\n \nd", ["a \r\n b\r\nc", "d"])]
)
def test_white_space_of_tokens_stays_without_the_step(unit, text, tokens):
    method = methods.parse(f"{unit}:1", "none")
    assert token_texts(text, method) == tokens
    one, two = (shingler(method, 0)(array([each]), np.ones(1, bool)).values.tolist() for each in (text, "\n\n".join(tokens)))
    assert one == two and len(one) == len(tokens)


def test_quotes_that_never_close_cost_no_more():
    """Each quote looks for its end: looking again and again through a long line would take hours."""
    text = "\"'" + "\\\"\\'" * 200_000
    assert shingler(methods.parse("code:1"), 0)(array([text]), np.ones(1, bool)).tokens.tolist() == [2 + 4 * 200_000]


def test_invisible_characters_never_split_words():
    method = methods.parse("words:1", "lower")  # without the step
    plain, hidden, apart = (shingler(method, 0)(array([text]), np.ones(1, bool)) for text in ("Sofa bed", "So\u00adfa\u200d bed\ufeff", "so fa bed"))
    assert plain.values.tolist() == hidden.values.tolist() != apart.values.tolist()
    assert plain.copy.tolist() != hidden.copy.tolist()  # the normalized texts do differ


def test_the_table_of_some_steps_is_made_once():
    table, _ = tables.normalization(("nfc", "lower"))
    assert tables.normalization(("nfc", "lower"))[0] is table
    assert tables.normalization(("nfc", "lower"), True)[0] is not table
