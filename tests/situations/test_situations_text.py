"""Situations that broke other tools, rebuilt from scratch: which texts are similar, and which are removed.

Every expected value is recomputed here from its definition: sets of tuples, exact fractions, all pairs.
"""

from __future__ import annotations

import itertools
import json
import os
import random
import string
import struct
import subprocess
import sys
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

import numpy as np
import pytest

import likewise as lw

Tokens = Callable[[str], Sequence[str]]


def made_up(seed: int, n: int) -> list[str]:
    """n different words."""
    draw = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < n:
        found["".join(draw.choices(string.ascii_lowercase, k=7))] = None
    return list(found)


def shingles(tokens: Sequence[str], k: int) -> frozenset[tuple[str, ...]]:
    """A text shorter than k is one shingle of all its tokens; one without a token has none."""
    return frozenset(tuple(tokens[i : i + k]) for i in range(max(1, len(tokens) - k + 1))) if tokens else frozenset()


def jaccard(a: frozenset, b: frozenset) -> Fraction:
    return Fraction(len(a & b), len(a | b)) if a | b else Fraction(0)


def value(a: str, b: str, k: int, tokens: Tokens = str.split) -> Fraction:
    return jaccard(shingles(tokens(a), k), shingles(tokens(b), k))


def similar(texts: dict, k: int, threshold: Fraction, tokens: Tokens = str.split) -> dict[tuple, float]:
    """All pairs at or above the threshold, the slow way."""
    sets = {name: shingles(tokens(text), k) for name, text in texts.items()}
    values = {(a, b): jaccard(sets[a], sets[b]) for a, b in itertools.combinations(sets, 2)}
    return {pair: float(similarity) for pair, similarity in values.items() if similarity >= threshold}


def rows(texts: dict) -> list[dict]:
    return [{"id": name, "text": text} for name, text in texts.items()]


def found(given: object, **choices: object) -> dict[tuple, float]:
    return {(row["id_a"], row["id_b"]): row["similarity"] for row in lw.pairs(given, **choices).to_arrow().to_pylist()}


def ids(table: lw.Pairs, name: str = "id") -> list:
    return table.to_arrow()[name].to_pylist()


def characters(text: str) -> str:
    """The default steps of chars: NFC, lower, invisible ones out, white space to one space."""
    plain = "".join(c for c in unicodedata.normalize("NFC", text).lower() if unicodedata.category(c) != "Cf")
    return " ".join(plain.split())


# --- texts shorter than a shingle


@pytest.mark.parametrize("by", ["whitespace:5", "words:5"])
def test_short_texts_match_when_equal_and_never_otherwise(by):
    """All texts of one to six words from two, each once, and every third one a second time."""
    every = [" ".join(text) for n in range(1, 7) for text in itertools.product(("ab", "cd"), repeat=n)]
    texts = dict(enumerate(every + every[::3]))
    assert found(rows(texts), by=by) == similar(texts, 5, Fraction(4, 5))
    result = lw.dedup(rows(texts), by=by)
    different = {shingles(text.split(), 5) for text in every}
    assert len(result.kept) == len(different)
    assert {row["similarity"] for row in result.removed.to_arrow().to_pylist()} == {1.0}
    assert result.report["counts"]["empty"] == 0


@pytest.mark.parametrize("by", ["chars:6", "bytes:6", "code:6", "lines:2", "stopwords:6"])
def test_short_texts_of_other_units_have_an_identity_too(by):
    texts = ["the x", "the y", "the x", "the", "of", "of y"]
    assert found(texts, by=by) == {(0, 2): 1.0}


# --- a chain: A like B, B like C, A unlike C


def test_a_chain_in_every_order():
    """Windows of 60 words, shifted by 5: 51/61 with the next, 46/66 with the one after."""
    stream = made_up(1, 200)
    texts = {name: " ".join(stream[5 * i : 5 * i + 60]) for i, name in enumerate("ABC")} | {"D": " ".join(stream[100:160])}
    assert found(rows(texts), by="whitespace:5") == {("A", "B"): 51 / 61, ("B", "C"): 51 / 61}
    for order in itertools.permutations("ABCD"):
        result = lw.dedup([{"id": name, "text": texts[name]} for name in order], by="whitespace:5")
        b_first = order.index("B") < min(order.index("A"), order.index("C"))
        assert set(ids(result.kept)) == ({"B", "D"} if b_first else {"A", "C", "D"}), order
        assert set(ids(result.removed, "similarity")) == {51 / 61}


# --- composed and decomposed, marks that print nothing, scripts without spaces

ACCENTED = {
    "cs": "Příliš žluťoučký kůň úpěl ďábelské ódy, a nikdo se na něj už několik večerů nepřišel podívat.",
    "vi": "Trời đã sẩm tối khi chiếc thuyền nhỏ cập bến, và bà chủ quán vội thắp đèn đón những người khách ướt sũng.",
    "el": "Η μικρή βάρκα γύρισε αργά το βράδυ, όταν όλα τα φώτα του λιμανιού είχαν ήδη ανάψει.",
    "ko": "작은 배가 늦은 저녁에 항구로 돌아왔을 때 모든 불이 이미 켜져 있었다",
    "bn": "ছোট নৌকাটি সন্ধ্যায় ঘাটে ফিরে এলো, তখন পাড়ের সব বাতি জ্বলে উঠেছে এবং বুড়ো জেলেরা অপেক্ষা করছিল।",
}


def test_canonically_equal_texts_are_the_same_text(tmp_path):
    composed = {f"{name}-C": unicodedata.normalize("NFC", text) for name, text in ACCENTED.items()}
    texts = composed | {f"{name}-D": unicodedata.normalize("NFD", text) for name, text in ACCENTED.items()}
    assert all(texts[f"{name}-C"] != texts[f"{name}-D"] for name in ACCENTED)
    same = {(f"{name}-C", f"{name}-D"): 1.0 for name in ACCENTED}
    for by in ("chars:5", "words:3"):
        assert found(rows(texts), by=by) == same
    assert found(rows(texts), by="chars:5", normalize="none") == similar(texts, 5, Fraction(4, 5), list) == {}
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in reversed(rows(texts))), "utf-8")
    lw.dedup(tmp_path / "in.jsonl", by="chars:5", out=tmp_path / "out")
    kept = [json.loads(line)["text"] for line in (tmp_path / "out/kept/in.jsonl").read_text("utf-8").splitlines()]
    assert kept == [texts[f"{name}-D"] for name in reversed(ACCENTED)]  # code point by code point as they came


def test_every_character_that_decomposes():
    every = [chr(c) for c in range(0x110000) if not 0xD800 <= c < 0xE000 and unicodedata.normalize("NFD", chr(c)) != chr(c)]
    texts = [f"we {c}met {c}" for c in every]
    for form in ("NFC", "NFD"):
        assert (lw.similarity(texts, [unicodedata.normalize(form, text) for text in texts], by="chars:3") == 1.0).all()


def test_accents_that_are_really_gone_count_unless_they_are_to_be_ignored():
    text = ACCENTED["cs"]
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))
    expected = value(text, bare, 5, characters)
    assert expected < Fraction(4, 5)
    assert lw.similarity(unicodedata.normalize("NFD", text), bare, by="chars:5") == float(expected)
    assert lw.similarity(text, bare, by="chars:5", normalize="nfc,lower,accents,space") == 1.0


HEBREW = "הספינה הקטנה חזרה אל הנמל בשעת ערב מאוחרת כאשר כל האורות כבר דלקו והדייגים הזקנים המתינו לה על המזח בסבלנות רבה"
ARABIC = "عاد القارب الصغير إلى المرفأ في ساعة متأخرة من المساء حين كانت المصابيح كلها مضاءة والصيادون ينتظرونه على الرصيف"


@pytest.mark.parametrize("text", [HEBREW, ARABIC])
def test_marks_that_print_nothing_hide_no_copy(text):
    words = text.split()
    texts = {
        "plain": text,
        "embedded": "\u202b" + "\u200f ".join(words) + "\u202c",
        "isolated": "\u2067" + text + "\u2069",
        "no-break": "\u00a0".join(words),
        "hyphens": " ".join(word[:2] + "\u00ad" + word[2:] for word in words),
        "joiners": " ".join(word[:1] + "\u200d\ufeff" + word[1:] for word in words),
        "other word": " ".join([*words[:-1], words[0]]),
        "other text": " ".join(reversed(words)),
    }
    expected = similar(texts, 5, Fraction(4, 5), characters)
    assert len(expected) == 15 + 6
    assert found(rows(texts), by="chars:5") == expected
    assert found(rows(texts), by="chars:5", normalize="none") == similar(texts, 5, Fraction(4, 5), list)
    assert found(rows(texts), by="words:1")[("plain", "hyphens")] == 1.0


UNSPACED = {
    "thai": "เรือลำเล็กกลับเข้าท่าตอนค่ำเมื่อไฟทุกดวงริมฝั่งสว่างแล้วและชาวประมงเฒ่ายังนั่งรออยู่บนสะพานไม้อย่างใจเย็น",
    "lao": "ເຮືອນ້ອຍກັບມາຮອດທ່າໃນຕອນຄ່ຳເມື່ອໄຟທຸກດວງແຄມຝັ່ງແຈ້ງແລ້ວແລະຄົນຫາປາຍັງນັ່ງລໍຖ້າຢູ່ເທິງຂົວ",
    "khmer": "ទូកតូចត្រឡប់មកដល់កំពង់ផែនៅពេលល្ងាចខណៈដែលភ្លើងទាំងអស់បានបើករួចហើយ",
    "burmese": "လှေငယ်သည်ညနေစောင်းတွင်ဆိပ်ကမ်းသို့ပြန်ရောက်လာပြီးမီးအားလုံးလင်းနေပြီဖြစ်သည်",
    "chinese": "小船在傍晚回到港口的时候岸边所有的灯都已经亮了老渔夫们还坐在木桥上耐心地等着它",
    "japanese": "小さな船が夕方おそく港にもどったとき岸の明かりはもうすべてともっていて漁師たちは桟橋で待っていた",
}


def test_scripts_without_spaces_are_no_single_token():
    texts = {}
    for name, text in UNSPACED.items():
        texts |= {name: text, f"{name} changed": text[:-2] + text[0] + text[-1], f"{name} turned": text[::-1]}
    near = {(name, f"{name} changed") for name in UNSPACED}
    expected = similar(texts, 5, Fraction(4, 5), characters)
    assert set(expected) == near
    assert found(rows(texts), by="chars:5") == expected
    assert set(found(rows(texts), by="words:5")) == near
    assert set(found(rows(texts), by="words:5", threshold="0.1")) == near
    result = lw.pairs(rows(texts | {"again": UNSPACED["thai"]}), by="whitespace:5")
    assert ids(result, "id_b") == ["again"]
    assert any("fewer than 5 tokens" in said for said in result.report["warnings"])


MANY = (
    ACCENTED
    | UNSPACED
    | {
        "he": HEBREW,
        "ar": ARABIC,
        "ru": "Маленькая лодка вернулась в гавань поздно вечером, когда все огни на берегу уже горели.",
        "ka": "პატარა ნავი გვიან საღამოს დაბრუნდა ნავსადგურში, როცა ნაპირზე ყველა სინათლე უკვე ენთო.",
        "hy": "Փոքրիկ նավակը ուշ երեկոյան վերադարձավ նավահանգիստ, երբ ափին բոլոր լույսերն արդեն վառվում էին։",
        "ta": "சிறிய படகு மாலையில் துறைமுகத்திற்குத் திரும்பியபோது கரையில் எல்லா விளக்குகளும் எரிந்துகொண்டிருந்தன.",
        "am": "ትንሿ ጀልባ አመሻሽ ላይ ወደ ወደቡ ስትመለስ በዳርቻው ያሉት መብራቶች ሁሉ በርተው ነበር።",
        "en": "The little boat came back to the harbour late in the evening, when all the lights were on.",
    }
)


@pytest.mark.parametrize("by", ["chars:5", "words:1", "words:2", "whitespace:1", "bytes:8", "lines:1", "code:2"])
def test_no_script_turns_into_nothing(by):
    result = lw.dedup(list(MANY.values()), by=by)
    assert (result.report["counts"]["empty"], len(result.removed)) == (0, 0)


def test_near_copies_in_many_languages_and_no_language_like_another():
    texts = {}
    for name, text in MANY.items():
        texts |= {f"{name}1": text, f"{name}2": text[:-1] + "x"}
    expected = similar(texts, 5, Fraction(4, 5), characters)
    assert set(expected) == {(f"{name}1", f"{name}2") for name in MANY}
    assert found(rows(texts), by="chars:5") == expected


def test_nul_is_a_character_and_no_end():
    stem, one, other = (" ".join(made_up(seed, 20)) for seed in (2, 3, 4))
    texts = {
        "one": f"{stem} \0 {one}",
        "other": f"{stem} \0 {other}",
        "same": f"{stem} \0 {one}",
        "stem": stem,
        "k\0a": "\0" + one,
        "k\0b": "\0" + other,
        "k": one,
    }
    expected = similar(texts, 5, Fraction(4, 5))
    assert expected == {("one", "same"): 1.0, ("k\0a", "k"): 15 / 17}
    assert found(rows(texts), by="whitespace:5") == expected
    assert found(rows(texts), by="chars:4", normalize="none", threshold="0.1") == similar(texts, 4, Fraction(1, 10), list)


# --- thresholds


@pytest.mark.parametrize("threshold", [1, 1.0, "1", "1.0", "0.999", 0.999, Fraction(1), np.float64(1)])
def test_at_one_equal_sets_match_whatever_the_order_and_the_repeats(threshold):
    texts = {"a": "oak elm ash yew", "b": "yew ash elm oak", "c": "oak elm ash yew yew", "d": "oak elm ash", "e": "", "f": " "}
    assert found(rows(texts), by="words:1", threshold=threshold) == similar(texts, 1, Fraction(1))


@pytest.mark.parametrize("threshold", [0.75, "0.75", "3/4", Fraction(3, 4), np.float32(0.75), "7.5e-1"])
def test_a_pair_exactly_at_the_threshold_counts(threshold):
    texts = {"a": "oak elm ash yew", "b": "oak elm ash", "c": "elm ash yew", "d": "ash yew"}
    assert found(rows(texts), by="words:1", threshold=threshold) == {("a", "b"): 0.75, ("a", "c"): 0.75}


@pytest.mark.parametrize("threshold", [1.01, "1.01", "-0.1", -0.1, "nan", float("nan"), "inf", "0,8", 80, "80", "80%", 0, True])
def test_what_cannot_be_a_similarity_is_refused(threshold, tmp_path):
    with pytest.raises(lw.UsageError, match="above 0 and up to 1") as refusal:
        lw.dedup(["a", "b"], threshold=threshold, out=tmp_path / "out")
    assert str(threshold) in str(refusal.value)
    assert list(tmp_path.iterdir()) == []


# --- processes and runs

PROGRAM = """
import hashlib, sys, likewise as lw
texts = sys.argv[1:]
for by in ("words:2", "chars:4", "code:2", "stopwords:2"):
    for mode in ("oph", "classic"):
        print(by, mode, hashlib.sha256(lw.sketch(texts, by=by, slots=32, mode=mode).tobytes()).hexdigest())
print(lw.pairs(texts, by="words:2").to_arrow().to_pylist())
"""


def test_sketches_and_pairs_do_not_depend_on_the_process():
    stream = made_up(5, 120)
    texts = [" ".join(stream[30 * i : 30 * i + 30]) for i in range(4)]
    texts += [texts[0] + " more", texts[2]]
    started = [
        subprocess.Popen([sys.executable, "-P", "-c", PROGRAM, *texts], env=os.environ | {"PYTHONHASHSEED": seed}, stdout=subprocess.PIPE, text=True)
        for seed in ("1", "random")
    ]
    one, other = (process.communicate()[0] for process in started)
    assert one == other
    here = found(texts, by="words:2")
    assert here == similar(dict(enumerate(texts)), 2, Fraction(4, 5)) == {(0, 4): 29 / 30, (2, 5): 1.0}
    assert one.splitlines()[-1] == str(lw.pairs(texts, by="words:2").to_arrow().to_pylist())


def test_a_run_knows_nothing_of_the_one_before(tmp_path):
    preview = ["green hills roll down to the old mill", "green hills roll up to the old mill", "a red kite"]
    target = ["green hills roll down to the old mill pond", "a red kite circles", "no hills here at all"]
    choices = {"by": "words:1", "threshold": "0.5", "work": tmp_path / "work"}
    fresh = lw.dedup(target, by="words:1", threshold="0.5")
    before = lw.dedup(preview, out=tmp_path / "a", **choices)
    after = lw.dedup(target, out=tmp_path / "b", **choices)
    assert len(lw.pairs(preview, against=target, **choices)) == 3  # they would have met
    assert (len(before.removed), len(after.removed), len(fresh.removed)) == (1, 0, 0)
    assert after.kept.to_arrow().to_pylist() == fresh.kept.to_arrow().to_pylist()


# --- new against existing, and ids that look like markers

MARKERS = [2**32 - 1, 0, 2**64 - 1, 2**53 + 1, 2**63, 2**53]


@pytest.mark.parametrize("markers", [MARKERS, [*MARKERS[:-1], -1], [str(n) for n in MARKERS]])
def test_new_items_against_a_collection(tmp_path, markers):
    """Ids pass unchanged: as numbers where one type holds all of a collection, as text where none does (-1 beside 2^64-1), as strings."""
    texts = [made_up(10 + i, 30) for i in range(8)]
    existing = [{"id": name, "text": " ".join(text)} for name, text in zip(markers, texts, strict=False)]
    new = [
        {"id": 1, "text": " ".join([*texts[0][:-1], "zz"])},
        {"id": 2, "text": " ".join(texts[6])},
        {"id": 3, "text": " ".join(texts[3])},
        {"id": 4, "text": " ".join(["yy", *texts[2][1:]])},
        {"id": 5, "text": " ".join(texts[6])},
    ]
    for name, part in (("existing", existing), ("new", new)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in part))
    there = json.dumps if -1 in markers else lambda name: name
    expected = {(1, there(markers[0])): 25 / 27, (3, there(markers[3])): 1.0, (4, there(markers[2])): 25 / 27}
    got = found(tmp_path / "new.jsonl", against=tmp_path / "existing.jsonl", by="whitespace:5")
    assert got == expected
    turned = found(tmp_path / "existing.jsonl", against=tmp_path / "new.jsonl", by="whitespace:5")
    assert turned == {(b, a): similarity for (a, b), similarity in expected.items()}
    both = lw.dedup([tmp_path / "existing.jsonl", tmp_path / "new.jsonl"], by="whitespace:5").removed.to_arrow().to_pylist()
    out = (lambda name: name) if isinstance(markers[0], int) and -1 not in markers else str  # both are one collection here
    assert {row["id"]: row["kept_id"] for row in both} == {out(a): out(b) for a, b in ((1, markers[0]), (3, markers[3]), (4, markers[2]), (5, 2))}
    assert {row["source"] for row in both} == {"new.jsonl"}


# --- input made to collide

MASK = 2**32 - 1
C1, C2 = 0xCC9E2D51, 0x1B873593


def rotate(x: int, r: int) -> int:
    return (x << r | x >> 32 - r) & MASK


def mixed(block: int) -> int:
    return rotate(block * C1 & MASK, 15) * C2 & MASK


def unmixed(block: int) -> int:
    return rotate(block * pow(C2, -1, 2**32) & MASK, 17) * pow(C1, -1, 2**32) & MASK


def murmur3(data: bytes, seed: int) -> int:
    for (block,) in struct.iter_unpack("<I", data):
        seed = (rotate(seed ^ mixed(block), 13) * 5 + 0xE6546B64) & MASK
    seed ^= len(data)
    seed = (seed ^ seed >> 16) * 0x85EBCA6B & MASK
    seed = (seed ^ seed >> 13) * 0xC2B2AE35 & MASK
    return seed ^ seed >> 16


def one_bit_apart(draw: random.Random, bit: int) -> tuple[str, str]:
    """Two pieces of text of four bytes in UTF-8 whose mixed blocks differ in one bit."""
    while True:
        word = "".join(draw.choices(string.ascii_letters + string.digits, k=4)).encode()
        other = struct.pack("<I", unmixed(mixed(*struct.unpack("<I", word)) ^ 1 << bit)).decode(errors="replace")
        if other.isprintable() and " " not in other and "\ufffd" not in other:
            return word.decode(), other


def flood(bits: int) -> list[str]:
    """2**bits different words of one MurmurHash3 value: bit 18 of a block becomes bit 31 of the state, which bit 31 of the next block undoes."""
    draw = random.Random(6)
    pairs = [(one_bit_apart(draw, 18), one_bit_apart(draw, 31)) for _ in range(bits)]
    choices = [(first[0] + second[0], first[1] + second[1]) for first, second in pairs]
    return ["".join(pieces) for pieces in itertools.product(*choices)]


def test_words_of_one_murmur_hash_are_different_words():
    words = flood(11)
    for seed in (0, 42, 2**32 - 5):
        assert len({murmur3(word.encode(), seed) for word in words}) == 1
    random.Random(7).shuffle(words)
    half = len(words) // 2
    texts = {"a": " ".join(words[:half]), "b": " ".join(words[half:]), "c": " ".join(words[half:]), "d": " ".join(words[half:-1])}
    expected = {("b", "c"): 1.0, ("b", "d"): (half - 1) / half, ("c", "d"): (half - 1) / half}
    assert similar(texts, 1, Fraction(1, 100)) == expected
    assert found(rows(texts), by="whitespace:1") == expected
    result = lw.dedup(rows(texts), by="whitespace:1")
    assert ids(result.kept) == ["a", "b"]
    each = lw.dedup(words, by="whitespace:1")  # a flood of items, too, is not compared with itself
    assert (len(each.removed), each.compared, each.report["buckets"]["number"]) == (0, 0, 0)
    assert lw.similarity(" ".join(words), " ".join(words[:half]), by="whitespace:1") == 0.5


# --- very different sizes, templates, shards


def test_a_quote_in_a_long_text_is_not_like_it():
    stream = made_up(8, 2040)
    quote = " ".join(stream[:20])
    texts = {
        "quote": quote,
        "whole": " ".join([*stream[20:1020], *quote.split(), *stream[1020:]]),
        "half": " ".join(stream[20:] + stream[:10]),
        "none": " ".join(stream[20:]),
    }
    assert value(texts["quote"], texts["whole"], 5) == Fraction(16, 2036)
    for a, b in itertools.combinations(texts, 2):
        assert lw.similarity(texts[a], texts[b], by="whitespace:5") == float(value(texts[a], texts[b], 5))
    assert found(rows(texts), by="whitespace:5") == similar(texts, 5, Fraction(4, 5))
    assert ("quote", "whole") not in found(rows(texts), by="whitespace:5", threshold="0.05")


def template(number: object, place: str = "south") -> str:
    return f"ticket {number} admits one guest by the {place} gate at noon and ticket {number} must be shown again on leaving the old town hall"


def masked(text: str) -> list[str]:
    return ["0" if word.isdigit() else word for word in text.split()]


TEMPLATES = [
    ("whitespace:1", None, 1, str.split, {0.75: True}),
    ("whitespace:2", None, 2, str.split, {0.8: False}),
    ("whitespace:5", None, 5, str.split, {0.8: False, 0.3: True}),
    ("chars:5", None, 5, characters, {0.9: False, 0.75: True}),
    ("whitespace:5", "digits", 5, masked, {0.8: True}),
]


@pytest.mark.parametrize(("by", "normalize", "k", "tokens", "family"), TEMPLATES)
def test_pages_of_a_template_go_all_or_none(by, normalize, k, tokens, family):
    pages = {f"n{n}": template(n) for n in range(41, 49)} | {"x1": template(41, "river"), "x2": "no ticket is needed on rainy days"}
    for threshold, together in family.items():
        expected = similar(pages, k, Fraction(str(threshold)), tokens)
        assert len({pair for pair in expected if "x" not in "".join(pair)}) == (28 if together else 0)
        assert found(rows(pages), by=by, normalize=normalize, threshold=threshold) == expected
        removed = lw.dedup(rows(pages), by=by, normalize=normalize, threshold=threshold).removed.to_arrow().to_pylist()
        assert len([row for row in removed if row["id"].startswith("n")]) == (7 if together else 0)
        assert all(expected[(row["kept_id"], row["id"])] == row["similarity"] for row in removed)


def corpus() -> Iterable[dict]:
    """Sixty documents, every third near to one far from it; two ids twice, once with equal and once with different texts."""
    texts = [made_up(100 + i, 40) for i in range(60)]
    for i in range(0, 60, 3):
        texts[i] = [*texts[(i + 31) % 60][:-1], "zz"] if (i + 31) % 3 else texts[i]
    texts[58] = texts[4]
    names = [f"d{i}" for i in range(60)]
    names[58], names[47] = "d4", "d9"
    return ({"id": name, "text": " ".join(text)} for name, text in zip(names, texts, strict=True))


@pytest.mark.parametrize("cuts", [(15, 15, 30), (1, 2, 59), (20, 40, 60)])
def test_how_the_work_is_split_changes_no_answer(tmp_path, cuts):
    documents = list(corpus())
    edges = [0, *cuts, 60]
    places = {}
    for shard, (first, last) in enumerate(itertools.pairwise(edges)):
        (tmp_path / f"s{shard}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in documents[first:last]))
        places |= {(f"s{shard}.jsonl", position): documents[first + position]["text"] for position in range(last - first)}
    expected = similar(places, 5, Fraction(4, 5))
    assert len(expected) > 15
    answers = []
    for threads in (1, 2, 4):
        listed = lw.pairs(tmp_path, by="whitespace:5", threads=threads)
        assert any("2 ids name more than one item (d4, d9)" in said for said in listed.report["warnings"])
        got = {
            ((row["source_a"], row["position_a"]), (row["source_b"], row["position_b"])): row["similarity"] for row in listed.to_arrow().to_pylist()
        }
        assert got == expected
        result = lw.dedup(tmp_path, by="whitespace:5", threads=threads)
        answers.append((result.removed.to_arrow(), result.clusters.to_arrow(), result.kept.to_arrow()))
        assert len(result.kept) == 60 - len({b for _, b in expected})
    assert answers[0] == answers[1] == answers[2]
    turned = lw.pairs([tmp_path / f"s{shard}.jsonl" for shard in (2, 3, 0, 1)], by="whitespace:5").to_arrow().to_pylist()
    pairs = {frozenset({(row["source_a"], row["position_a"]), (row["source_b"], row["position_b"])}) for row in turned}
    assert pairs == set(map(frozenset, expected))


@pytest.mark.parametrize(
    ("by", "few"),
    [("code:4", "4 tokens"), ("chars:20", "20 characters"), ("words:4", "4 words"), ("stopwords:3", "4 words"), ("lines:2", "2 lines")],
)
def test_the_warning_about_short_texts_names_their_tokens(by, few):
    """A shingle of stopwords:3 is a stop word and three words more."""
    warnings = lw.pairs(["the cat sat", "the dog ran"], by=by).report["warnings"]
    assert any(said.startswith(f"2 of 2 items have fewer than {few} and match only when equal; ") for said in warnings)
