"""`dedup --level passage --against`: test data is removed from training data as the published recipes say."""

from __future__ import annotations

import random

import pytest

import decontamination_reference as reference
import likewise as lw
from likewise.errors import UsageError
from likewise.planning.recipes import RECIPES

VOCABULARY = [f"word{number}" for number in range(400)]


def text(numbers: random.Random, count: int) -> str:
    return " ".join(numbers.choices(VOCABULARY, k=count))


def clean(training: list[str], tests: list[str], **options):
    return lw.dedup(training, against=tests, level="passage", progress=False, **options)


def left(training: list[str], found) -> list[str | None]:
    """The rest of each document."""
    gone, rest = set(found.dropped["position"]), iter(found.kept.to_arrow()["text"].to_pylist())
    return [None if row in gone else next(rest) for row in range(len(training))]


def leaked(numbers: random.Random, tests: list[str]) -> str:
    """A document with passages of test items, some changed, at random places."""
    parts = [text(numbers, numbers.randrange(5, 120))]
    for _ in range(numbers.choice([0, 1, 2, 3, 25])):
        words = numbers.choice(tests).split()
        begin = numbers.randrange(len(words))
        some = words[begin : begin + numbers.randrange(3, 40)]
        if numbers.random() < 0.5:
            some = [word.upper() + "," for word in some]
        parts += [numbers.choice(["\n", " ", " — "]).join(some), text(numbers, numbers.randrange(1, 150))]
    return " ".join(parts)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("n", [4, 13])
def test_gpt3_is_what_the_paper_says(seed, n):
    numbers = random.Random(seed)
    tests = [text(numbers, numbers.randrange(1, 50)) for _ in range(6)]
    training = [leaked(numbers, tests) for _ in range(30)]
    found = clean(training, tests, preset="gpt3", min_run=n)
    wanted = reference.gpt3(training, tests, n)
    assert left(training, found) == wanted
    if seed == 0:  # the recipe is put to the test
        assert None in wanted and any(one and one != whole for one, whole in zip(wanted, training, strict=True))
    characters = found.report["units"]["characters"]
    assert characters["kept"] == sum(len(one or "") for one in wanted)
    assert characters["read"] == sum(map(len, training)) == characters["kept"] + characters["removed"] + characters["dropped"]


@pytest.mark.parametrize("seed", range(6))
def test_each_removed_passage_is_in_its_test_item(seed):
    numbers = random.Random(seed)
    tests = [text(numbers, numbers.randrange(1, 50)) for _ in range(6)]
    training = [leaked(numbers, tests) for _ in range(30)]
    found = clean(training, tests, min_run=5)
    rows = found.removed.to_dicts()
    assert rows
    for row in rows:
        here = training[row["position"]][row["start"] : row["end"]]
        there = tests[row["kept_position"]][row["kept_start"] : row["kept_end"]]
        tokens = [token for token, _, _ in reference.words(here)]
        begins = [token for token, _, _ in reference.words(there)]
        assert len(begins) >= 5 and tokens[: len(begins)] == begins  # a passage may go on with another item


@pytest.mark.parametrize("seed", range(6))
def test_how_much_of_each_item_was_seen(seed):
    numbers = random.Random(seed)
    tests = [text(numbers, numbers.randrange(1, 50)) for _ in range(12)]
    training = [leaked(numbers, tests[:8]) for _ in range(20)]
    found = clean(training, tests, preset="palm").seen.to_dicts()
    for row, test in zip(found, tests, strict=True):
        wanted = reference.seen(training, test, 8)
        assert {name: row[name] for name in wanted} == wanted
        assert row["share"] == (wanted["tokens_seen"] / wanted["tokens"] if wanted["tokens"] else 0)
        short = wanted["tokens"] < 8
        assert row["contaminated"] == (None if short else 0 < wanted["ngrams_seen"] >= 0.7 * wanted["ngrams"])
        if wanted["documents"]:
            first = next(at for at, one in enumerate(training) if reference.seen([one], test, 8)["documents"])
            assert row["document_position"] == first
            tokens = [token for token, _, _ in reference.words(training[first][row["document_start"] : row["document_end"]])]
            assert len(tokens) >= 8 and " ".join(tokens) in " ".join(test.split())
        else:
            assert row["document"] is None and row["document_source"] is None and row["document_start"] is None


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("preset", "n"), [("deepseek-math", 10), ("datatrove", 12)])
def test_recipes_that_remove_documents(seed, preset, n):
    numbers = random.Random(seed)
    tests = [text(numbers, 30) for _ in range(4)]
    training = [leaked(numbers, tests) for _ in range(20)]
    wanted = {gram for test in tests for gram in reference.grams(reference.words(test), n)}
    dirty = [bool(wanted & set(reference.grams(reference.words(one), n))) for one in training]
    found = clean(training, tests, preset=preset)
    assert found.kept.to_arrow()["text"].to_pylist() == [one for one, bad in zip(training, dirty, strict=True) if not bad]
    assert [*found.dropped["position"]] == [row for row, bad in enumerate(dirty) if bad]


@pytest.mark.parametrize("preset", ["palm", "llama2", "lm-eval"])
def test_recipes_that_judge_items_remove_nothing(preset):
    numbers = random.Random(0)
    tests = [text(numbers, 40) for _ in range(4)]
    training = [text(numbers, 50) + " " + tests[0], text(numbers, 20) + " " + " ".join(tests[1].split()[:20])]
    found = clean(training, tests, preset=preset)
    assert found.kept.to_arrow()["text"].to_pylist() == training
    assert len(found.removed) == len(found.dropped) == 0
    any_ngram = preset == "lm-eval"
    assert [*found.seen["contaminated"]] == [True, any_ngram, False, False]


QUESTION = "Which of the early navigators first sailed around the whole globe, and in what year did the last of his ships come home? Élan naïve."


@pytest.mark.parametrize(
    "change",
    [
        lambda one: one.replace(" ", "\n", 9),
        lambda one: one.replace(" ", "\r\n    "),
        str.upper,
        lambda one: one.replace(",", " -- ").replace("?", "!"),
        lambda one: __import__("unicodedata").normalize("NFD", one),
        lambda one: one.replace("navigators", "navi\u00adgators"),
    ],
    ids=["wrapped", "indented", "case", "punctuation", "decomposed", "soft hyphen"],
)
@pytest.mark.parametrize("preset", [None, "gpt3", "deepseek-math"])
def test_changed_layout_hides_nothing(change, preset):
    """marin-community/marin#6852: recall fell to 0 when lines were wrapped again."""
    padding = " ".join(f"{number}th" for number in range(300))
    found = clean([f"{padding} {change(QUESTION)} {padding}"], [QUESTION], preset=preset)
    assert [*found.seen["share"]] == [1.0]
    assert [*found.seen["tokens_seen"]] == [*found.seen["tokens"]]
    assert "globe" not in "".join(found.kept.to_arrow()["text"].to_pylist()).lower()


def test_item_that_is_nowhere_and_items_too_short_to_judge():
    found = clean(["a b c d e f g h i j k l m n o p q"], [{"id": "far", "text": QUESTION}, {"id": "tiny", "text": "yes"}, {"id": "none", "text": ""}])
    assert [(row["id"], row["contaminated"], row["share"]) for row in found.seen.to_dicts()] == [
        ("far", False, 0),
        ("tiny", None, 0),
        ("none", None, 0),
    ]
    assert found.report["leaks"]["too_short"] == 2
    assert any("too short" in said and "'tiny'" in said for said in found.report["warnings"])


def test_twelve_collisions_remove_the_document():
    numbers = random.Random(3)
    tests = [" ".join(f"item{item}x{at}" for at in range(13)) for item in range(12)]
    far = " ".join(VOCABULARY[:100])
    fewer, more = (f" {far} ".join(["", *tests[:count], ""]) for count in (9, 10))
    found = clean([fewer, more, text(numbers, 50)], tests, preset="gpt3")
    assert [*found.dropped["position"]] == [1]  # 11 pieces
    assert found.report["counts"]["shortened"] == 1


def test_common_ngrams_of_gpt3_are_left_out():
    license = " ".join(f"license{at}" for at in range(13))
    padding = " ".join(VOCABULARY)
    training = [f"{padding} {number} {license} {padding}" for number in range(11)]
    assert clean(training, [license], preset="gpt3").kept.to_arrow()["text"].to_pylist() == training
    assert len(clean(training[:10], [license], preset="gpt3").removed) == 10


@pytest.mark.parametrize("preset", [None, *RECIPES])
def test_nothing_to_read(preset):
    assert clean([], ["a test"], preset=preset).counts["read"] == 0
    assert clean(["a text"], [], preset=preset).kept.to_arrow()["text"].to_pylist() == ["a text"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"preset": "gpt33"}, "did you mean gpt3"),
        ({"preset": "fineweb"}, "choose one of gpt3"),
        ({"threshold": 0.8}, "threshold=0.8"),
        ({"keep": "last"}, "keep='last'"),
        ({"by": "words:13"}, "give their unit"),
        ({"by": "cosine"}, "give their unit"),
        ({"min_run": 0}, "min_run=0"),
        ({"output": "annotate"}, "annotate"),
    ],
)
def test_options_that_do_not_fit(options, said):
    with pytest.raises(UsageError, match=said):
        clean(["a"], ["b"], **options)


def test_recipes_need_the_level():
    with pytest.raises(UsageError, match="level='passage'"):
        lw.dedup(["a"], against=["b"], preset="gpt3")


def test_recipes_name_their_sources():
    assert all(recipe.source and recipe.differs for recipe in RECIPES.values())
