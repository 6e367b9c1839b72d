"""Quotations in worked cases: places, edits, templates, texts without passages, and records on both sides."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pytest

import likewise as lw

WORDS = [f"word{number}" for number in range(400)]
ALICE = "Alice was beginning to get very tired of sitting by her sister on the bank and of having nothing to do"
OTHER = "the quick brown fox jumps over a lazy dog while seven green turtles sleep under an old wooden bridge at noon"


def text(*numbers: range | str) -> str:
    """Words by number, and others as they are."""
    return " ".join(one if isinstance(one, str) else " ".join(WORDS[number] for number in one) for one in numbers)


def places(found: lw.Quotes) -> list[tuple[int, int, int, int, int]]:
    """(first word of the suspect, end, first word of the corpus, end, agreed words) of texts of WORDS: all are 5 to 7 characters long."""
    return [(row["suspect_start"], row["suspect_end"], row["corpus_start"], row["corpus_end"], row["agreed"]) for row in found]


def passages(suspect: str, corpus: str, **options: Any) -> list[tuple[str, str, int, float]]:
    """The passages of two texts: in the suspect, in the corpus, agreed words, similarity."""
    found = lw.quotes([corpus], [suspect], **options)
    shown = [(suspect[row["suspect_start"] : row["suspect_end"]], corpus[row["corpus_start"] : row["corpus_end"]]) for row in found]
    return [(*both, row["agreed"], row["similarity"]) for both, row in zip(shown, found, strict=True)]


def test_a_run_of_the_least_length_is_found_and_a_shorter_one_is_not() -> None:
    corpus = text(range(100, 112), range(12), range(112, 124))
    assert passages(text(range(200, 230), range(12), range(230, 260)), corpus) == [(text(range(12)),) * 2 + (12, 1.0)]
    assert passages(text(range(200, 230), range(11), range(230, 260)), corpus) == []
    assert passages(text(range(200, 230), range(11), range(230, 260)), corpus, min_run=11) == [(text(range(11)),) * 2 + (11, 1.0)]


def test_a_passage_goes_on_after_a_gap_where_three_words_agree() -> None:
    """12 equal words, then 12 others for 3, then 3 equal ones: 15 agree of 27 and 18."""
    corpus = text(range(12), range(50, 53), range(12, 15))
    suspect = text(range(12), range(300, 312), range(12, 15))
    assert passages(suspect, corpus) == [(suspect, corpus, 15, 2 * 15 / (27 + 18))]
    assert passages(suspect, corpus, gap=11) == [(text(range(12)),) * 2 + (12, 1.0)]
    two = text(range(12), range(50, 53), range(12, 14), "end")
    assert passages(suspect, two) == [(text(range(12)),) * 2 + (12, 1.0)], "two words that agree are not enough"


def test_the_similarity_is_twice_the_agreed_words_over_those_of_both_sides() -> None:
    corpus, suspect = text(range(12), "old", range(12, 15)), text(range(12), "new", range(12, 15))
    assert passages(suspect, corpus) == [(suspect, corpus, 15, 0.9375)]


def test_the_nearest_place_by_both_sides_is_chosen() -> None:
    """After the difference "x", three words agree at once (one word on either side), and again after nine more words of the corpus."""
    corpus = text(range(12), "y", range(20, 23), range(40, 46), range(20, 24))
    suspect = text(range(12), "x", range(20, 23))
    assert passages(suspect, corpus)[0] == (suspect, text(range(12), "y", range(20, 23)), 15, 2 * 15 / 32)


def test_a_passage_stops_where_its_similarity_would_fall_below_the_threshold() -> None:
    corpus = text(range(12), range(50, 62), range(12, 15))
    suspect = text(range(12), range(70, 82), range(12, 15))
    assert passages(suspect, corpus, threshold="15/27") == [(suspect, corpus, 15, 2 * 15 / 54)], "equal to the threshold counts"
    assert passages(suspect, corpus, threshold=0.56) == [(text(range(12)),) * 2 + (12, 1.0)]


def test_moved_and_reordered_passages_have_a_row_each() -> None:
    corpus = text(range(40), range(200, 260), range(40, 80))
    suspect = text(range(300, 330), range(40, 80), range(330, 380), range(40))
    assert [(one, agreed) for one, _, agreed, _ in passages(suspect, corpus)] == [(text(range(40, 80)), 40), (text(range(40)), 40)]


def test_passages_near_each_other_on_both_sides_are_one() -> None:
    """Two pieces in another order: all 40 words agree."""
    corpus, suspect = text(range(40)), text(range(20, 40), range(20))
    assert passages(suspect, corpus) == [(suspect, corpus, 40, 1.0)]


@pytest.mark.parametrize(("apart", "rows"), [(24, 1), (25, 2)])
def test_near_is_twice_the_gap(apart: int, rows: int) -> None:
    """Two passages of 40 equal words that follow each other in the suspect, and have other words between them in the corpus."""
    found = passages(text(range(80)), text(range(40), range(200, 200 + apart), range(40, 80)))
    assert len(found) == rows
    assert sum(agreed for *_, agreed, _ in found) == 80


def test_line_breaks_case_and_punctuation_do_not_matter() -> None:
    suspect = f"He wrote:\n\n  «{ALICE.upper().replace(' ', chr(10) + '   ', 7)}!»"
    ((found, of_corpus, agreed, similarity),) = passages(suspect, f"{ALICE}.")
    assert (found, of_corpus) == (suspect[suspect.index("ALICE") : -2], ALICE)
    assert (agreed, similarity) == (21, 1.0)


def test_edited_passages_are_found() -> None:
    words = ALICE.split()
    edited = " ".join([*words[:4], "be", *words[5:17], *words[18:]])
    ((found, of_corpus, agreed, similarity),) = passages(f"{OTHER} {edited} {OTHER}", ALICE)
    assert (found, of_corpus, agreed) == (edited, ALICE, 19)
    assert similarity == 2 * 19 / (20 + 21)


def test_quotes_inside_long_works() -> None:
    rng = np.random.default_rng(3)
    long = " ".join(f"filler{number}" for number in rng.integers(0, 20_000, 60_000))
    corpus = f"{long[:200_003]} {ALICE} {long[200_003:]}"
    suspect = f"{long[300_000:300_000]}{OTHER} {ALICE} {OTHER}"
    (row,) = lw.quotes([OTHER[:20], corpus], [suspect])
    assert row["corpus"] == 1 and corpus[row["corpus_start"] : row["corpus_end"]] == ALICE == suspect[row["suspect_start"] : row["suspect_end"]]


COMBINING = "Où l'été a été, j'ai mangé une pêche très mûre près du château où naît la rivière"
SURROGATES = "a\udc80b one\udfff two three four five six seven eight nine ten eleven twelve"
SYMBOLS = "👩‍🚀 🏳️‍🌈 ✈ → € ± 👍🏽 ☃ ★ ♥ ♪ ⚡ ☂ ✓"
HAN = "東京都は日本の首都であり世界でも有数の大都市である"


@pytest.mark.parametrize("form", ["NFC", "NFD"])
@pytest.mark.parametrize("passage", [COMBINING, HAN, SURROGATES, SYMBOLS])
def test_places_cut_from_the_source_are_the_passage(form: Any, passage: str) -> None:
    """In characters: before the passage stand some of several bytes, lone surrogates, and some that normalization removes or joins."""
    before = "\ud83d é e\u0301 \u200b\u00ad ﬁ İ ß 語 "
    suspect, corpus = f"{before}{unicodedata.normalize(form, passage)} \ud83d \U0001f600 ende", f"zz 漢 \u200b Ω {passage} \udfff"
    (row,) = lw.quotes([corpus], [suspect], min_run=8)
    cut = suspect[row["suspect_start"] : row["suspect_end"]], corpus[row["corpus_start"] : row["corpus_end"]]
    assert cut == (unicodedata.normalize(form, passage), passage)
    assert row["similarity"] == 1.0
    assert lw.quotes([corpus], [suspect], min_run=8).with_text(None)["corpus_text"][0] == cut[1].encode("utf-8", "backslashreplace").decode()


@pytest.mark.parametrize(
    ("by", "suspect", "corpus", "passage"),
    [
        ("chars", f"{OTHER} {ALICE[:69]} {OTHER}", f"{ALICE} tea", ALICE[:69]),
        ("whitespace", f"x {ALICE} {OTHER}", f"{ALICE}. {OTHER.upper()}", ALICE[: ALICE.rindex(" ")]),
        (
            "code",
            "def f(x, y):\n    return [x[0] + y, x[1] * y]\n",
            "z = 1\ndef f(x, y):\n  return [x[0] + y, x[1] * y]",
            "def f(x, y):\n    return [x[0] + y, x[1] * y]",
        ),
        ("lines", "p\na b\nc d\n\ne f\ng", "1\n2\nA B\n\nC  D\nE F\n3", "a b\nc d\n\ne f"),
        ("paragraphs", "p\n\na b\nc\n\nd\n\ne\n\nf", "x\n\na b\nc\n\n\nd\n\ne\n\ny", "a b\nc\n\nd\n\ne"),
    ],
)
def test_units(by: str, suspect: str, corpus: str, passage: str) -> None:
    found = [one for one, *_ in passages(suspect, corpus, by=by)]
    assert [one.strip() for one in found] == [passage]


def test_token_ids_have_places_in_ids() -> None:
    corpus, suspect = [*range(100, 130), *range(12)], [*range(200, 205), *range(12), 7]
    (row,) = lw.quotes([corpus], [suspect], by="tokens").with_text(None)
    assert (row["suspect_start"], row["suspect_end"], row["corpus_start"], row["corpus_end"], row["agreed"]) == (5, 17, 30, 42, 12)
    assert row["suspect_text"] == "0 1 2 3 4 5 6 7 8 9 10 11"


def test_a_template_is_followed_to_the_first_places_and_reported() -> None:
    license = text(range(60))
    corpus = [text(range(number, number + 3), "start", range(60), "end", str(number)) for number in range(100, 200)]
    found = lw.quotes(corpus, [f"{license} and then {ALICE}", ALICE])
    assert found["corpus"].tolist() == list(range(64))
    assert set(found["suspect"].tolist()) == {0} and set(found["agreed"].tolist()) == {60}
    common = found.report["common"]
    (example,) = common["examples"]
    assert common["followed"] == 64 and common["passages"] == 1 and common["repeats_not_followed"] == 0
    assert common["places_not_followed"] % 36 == 0, "each of its fingerprints has 36 places more"
    assert example["places"] == 100 and example["text"] in license
    assert "1 passage of suspects with more than 64 places in the corpus" in found.report["warnings"][0]


def test_common_and_ignored_text_agrees_with_nothing() -> None:
    license = text(range(60))
    corpus = [f"{license} {text(range(100 + 20 * number, 120 + 20 * number))}" for number in range(10)]
    suspect = f"{license} {text(range(100, 120))}"
    everything = lw.quotes(corpus, [suspect])
    assert len(everything) == 10 and everything["agreed"].tolist() == [80, *[60] * 9]
    for options in ({"ignore": [license]}, {"ignore_common": "1/2"}):
        left = lw.quotes(corpus, [suspect], **options)
        assert places(left) == [(len(license) + 1, len(suspect), len(license) + 1, len(corpus[0]), 20)], options
        assert left.report["ignored"]["shingles"] >= 56


def test_a_few_ignored_words_in_a_row_still_agree() -> None:
    """Only stretches of the least length or more are ignored."""
    assert [agreed for *_, agreed, _ in passages(ALICE, ALICE, ignore=[" ".join(ALICE.split()[4:12])])] == [21]
    assert [agreed for *_, agreed, _ in passages(ALICE, ALICE, ignore=[" ".join(ALICE.split()[4:12])], min_run=8)] == [13]


def test_a_record_is_not_compared_with_itself(tmp_path: Any) -> None:
    texts = [ALICE, OTHER, f"{OTHER} {ALICE}"]
    file = tmp_path / "a.jsonl"
    file.write_text("".join(f'{{"id": "{number}", "text": "{one}"}}\n' for number, one in enumerate(texts)))
    (tmp_path / "link.jsonl").symlink_to(file)
    for corpus, suspects in ((texts, texts), (file, file), (file, tmp_path / "link.jsonl")):
        found = lw.quotes(corpus, suspects)
        pairs = sorted((int(row["suspect"]), int(row["corpus"])) for row in found)
        assert pairs == [(0, 2), (1, 2), (2, 0), (2, 1)]
        assert found.report["warnings"] == ["3 of 3 suspects are also texts of the corpus; no text is compared with itself, only with the others"]
    (tmp_path / "copy.jsonl").write_text(file.read_text())
    assert len(lw.quotes(file, tmp_path / "copy.jsonl")) == len(lw.quotes(texts, list(texts))) == 7, "other data with the same content"


def test_suspects_that_equal_the_corpus_are_covered() -> None:
    found = lw.quotes([ALICE, OTHER], [ALICE, OTHER])
    assert [(row["suspect"], row["corpus"], row["similarity"]) for row in found] == [(0, 0, 1.0), (1, 1, 1.0)]
    assert found.coverage["share"].tolist() == [1.0, 1.0]


@pytest.mark.parametrize(("corpus", "suspects"), [([ALICE], []), ([], [ALICE]), ([], [])])
def test_an_empty_side_is_no_error(corpus: list[str], suspects: list[str]) -> None:
    found = lw.quotes(corpus, suspects)
    assert len(found) == 0 and len(found.coverage) == len(suspects)
    assert any("so no passage can be found" in said for said in found.report["warnings"])


def test_short_and_missing_texts_are_counted() -> None:
    found = lw.quotes([ALICE, "a b"], [{"text": ALICE}, {"text": None}, {"text": "too short"}, {"text": ""}])
    assert found.report["warnings"] == [
        "2 of 4 suspects have fewer than 12 words; no passage of such a text is found",
        "1 of 4 suspects has no text in the field 'text' (null, missing or not a text)",
        "1 of 2 texts of the corpus has fewer than 12 words; no passage of such a text is found",
    ]


def test_coverage_counts_each_character_once() -> None:
    """Two texts of the corpus have overlapping parts of the suspect: words 0 to 29 and 20 to 49 of 100."""
    suspect = text(range(100, 200))
    found = lw.quotes([text(range(100, 130)), text(range(120, 150))], [suspect])
    assert len(found) == 2
    assert found.coverage.to_dicts() == [
        {"suspect": 0, "source": "memory.arrow", "position": 0, "characters": 799, "covered": 399, "share": 399 / 799}
    ]


def test_one_word_over_and_over() -> None:
    """Followed at its first repeats: quadratic otherwise."""
    many = "spam " * 30_000
    found = lw.quotes([many], [f"{ALICE} {many}"])
    assert len(found) == 1 and found.report["common"]["repeats_not_followed"] > 0


WRONG = [
    ({"by": "words:3"}, "by='words:3': passages are counted in tokens; give their unit: words, whitespace, code, tokens, chars, lines, paragraphs"),
    ({"by": "cosine"}, "give their unit"),
    ({"by": "bytes"}, "give their unit"),
    ({"min_run": 0}, "min_run=0: give a whole number from 1"),
    ({"min_run": "many"}, "min_run='many': give a whole number"),
    ({"gap": -1}, "gap=-1: give a whole number from 0"),
    ({"gap": 2**62}, "gap=4611686018427387904: give 10,000 or fewer"),
    ({"threshold": 0}, "threshold=0"),
    ({"limit": 3}, "quotes has no option 'limit'"),
    ({"within": 0.5}, "quotes has no option 'within'"),
]


@pytest.mark.parametrize(("options", "message"), WRONG)
def test_invalid_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(lw.UsageError) as raised:
        lw.quotes([ALICE], [ALICE], **options)
    assert message in str(raised.value)


def test_rules_and_frames_of_tables_are_no_text() -> None:
    """Words agree across the signs between them, and signs alone are no passage."""
    rule, frame = "=" * 40, "|" + "---+" * 20 + "|"
    assert passages(f"{rule} one {frame} {rule}", f"{rule} two {frame} {rule}") == []
    words = [WORDS[number] for number in range(12)]
    suspect, corpus = f"{rule} {' | '.join(words)} {rule}", f"{frame} {' = '.join(words)} end"
    assert passages(suspect, corpus) == [(" | ".join(words), " = ".join(words), 12, 1.0)]
    assert len(passages(rule, rule, by="code")) == 1, "operators of code are tokens"
