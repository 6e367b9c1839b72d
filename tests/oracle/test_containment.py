"""Pairs by containment: a in b, ordered, none missed; against brute force over fractions."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from command_line import run

ELEMENTS = st.sampled_from([1, 2, 3, 4, "1", "b", -1, 2**64 - 1])
SETS = st.lists(st.lists(ELEMENTS, max_size=6), max_size=14)
TEXTS = st.lists(st.lists(st.sampled_from("abc"), max_size=7).map(" ".join), max_size=14)
#: All but the last are met exactly by sets of up to six elements.
THRESHOLDS = st.sampled_from(["1", "5/6", "0.8", "3/4", "2/3", "0.6", "1/2", "2/5", "1/3", "0.25", "1/6", "0.51"])


def share(a: Any, b: Any) -> Fraction:
    """Of bags the lesser counts; of sets each is 1."""
    one, other = Counter(a), Counter(b)
    return Fraction(sum((one & other).values()), sum(one.values()))


def brute(left: list, right: list | None, threshold: str, per: list | None = None) -> dict[tuple[int, int], float]:
    """(a, b) -> how much of a is in b, both ways inside one collection; an empty item is in none and holds none."""
    pairs = itertools.permutations(range(len(left)), 2) if right is None else itertools.product(range(len(left)), range(len(right)))
    others = left if right is None else right
    some = [(a, b) for a, b in pairs if left[a] and others[b] and (per is None or per[a] == per[b])]
    return {(a, b): float(share(left[a], others[b])) for a, b in some if share(left[a], others[b]) >= Fraction(threshold)}


def listed(found: lw.Pairs) -> dict[tuple[int, int], float]:
    """The rows, by position where ids do not tell items apart; each once and in order."""
    rows = found.to_arrow().to_pylist()
    keys = [(row.get("position_a", row["id_a"]), row.get("position_b", row["id_b"])) for row in rows]
    assert keys == sorted(set(keys))
    return dict(zip(keys, [row["similarity"] for row in rows], strict=True))


def shingles(text: str, bag: bool = False) -> Any:
    words = text.split()
    made = [tuple(words[at : at + 2]) for at in range(max(1, len(words) - 1))] if words else []
    return made if bag else set(made)


@settings(max_examples=60, deadline=None)
@given(SETS, THRESHOLDS)
def test_sets_are_brute_force(sets, threshold):
    found = lw.pairs(sets, by="elements/containment", threshold=threshold)
    assert listed(found) == brute([set(one) for one in sets], None, threshold)


@settings(max_examples=60, deadline=None)
@given(SETS, SETS, THRESHOLDS)
def test_sets_against_others_are_brute_force(left, right, threshold):
    """a is of the first collection; a copy of it in the other holds all of it."""
    right = right + left[:2]
    found = lw.pairs(left, against=right, by="elements/containment", threshold=threshold)
    assert listed(found) == brute([set(one) for one in left], [set(one) for one in right], threshold)


@settings(max_examples=30, deadline=None)
@given(SETS.filter(bool), THRESHOLDS)
def test_inside_groups(sets, threshold):
    shops = [place % 3 for place in range(len(sets))]
    rows = [{"elements": one, "shop": shop} for one, shop in zip(sets, shops, strict=True)]
    found = lw.pairs(rows, by="elements/containment", threshold=threshold, per="shop")
    assert listed(found) == brute([set(one) for one in sets], None, threshold, shops)


@settings(max_examples=40, deadline=None)
@given(TEXTS, THRESHOLDS, st.booleans())
def test_texts_are_brute_force(texts, threshold, bag):
    """In a bag the second "a b" of a text is held only by a text that has two."""
    found = lw.pairs(texts, by="whitespace:2" + "/bag" * bag + "/containment", threshold=threshold)
    assert listed(found) == brute([shingles(text, bag) for text in texts], None, threshold)


@settings(max_examples=30, deadline=None)
@given(TEXTS, TEXTS, THRESHOLDS)
def test_texts_against_others_are_brute_force(left, right, threshold):
    found = lw.pairs(left, against=right, by="whitespace:2/containment", threshold=threshold)
    assert listed(found) == brute([shingles(text) for text in left], [shingles(text) for text in right], threshold)


def test_a_row_for_each_direction_that_holds():
    rows = lw.pairs([[1, 2], [1, 2, 3], [9]], by="elements/containment", threshold=0.9).to_arrow().to_pylist()
    assert rows == [{"id_a": 0, "id_b": 1, "similarity": 1.0}]
    rows = lw.pairs([[1, 2, 3], [1, 2], [9]], by="elements/containment", threshold="2/3").to_arrow().to_pylist()
    assert rows == [{"id_a": 0, "id_b": 1, "similarity": 2 / 3}, {"id_a": 1, "id_b": 0, "similarity": 1.0}]


def test_copies_hold_each_other_on_both_sides():
    copies = [[1, 2], [2, 1], [1, 2, 2], [3]]
    assert listed(lw.pairs(copies, by="elements/containment", threshold=1)) == dict.fromkeys(itertools.permutations(range(3), 2), 1.0)
    across = listed(lw.pairs(copies, against=[[1, 2], [1, 2, 3]], by="elements/containment", threshold=1))
    assert across == dict.fromkeys([(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1), (3, 1)], 1.0)
    back = listed(lw.pairs([[1, 2], [1, 2, 3]], against=copies, by="elements/containment", threshold=1))
    assert back == dict.fromkeys([(0, 0), (0, 1), (0, 2)], 1.0)  # and no copy is listed for holding what is on its own side
    assert listed(lw.pairs([[], [], [1]], by="elements/containment", threshold="0.01")) == {}


def test_a_small_set_in_a_large_one_which_no_signature_would_find():
    """Of 3 and 3,000 elements Jaccard is 1/1000; a part is found in a whole in any threads."""
    sets = [[5, 6, 7], list(range(3000)), [5, 6, -7], *([place] for place in range(4000, 4400))]
    found = [listed(lw.pairs(sets, by="elements/containment", threshold="2/3", threads=threads)) for threads in (1, 2)]
    assert found[0] == found[1] == {(0, 1): 1.0, (0, 2): 2 / 3, (2, 0): 2 / 3, (2, 1): 2 / 3}


def test_groups_of_elements():
    """Sets of groups: milk is dairy, and so is all of the second."""
    sets, groups = [["milk", "nails"], ["cheese", "hammer", "nails"]], {"milk": "dairy", "cheese": "dairy"}
    assert listed(lw.pairs(sets, by="elements/containment", threshold=1, groups=groups)) == {(0, 1): 1.0}
    assert listed(lw.pairs(sets, by="elements/containment", threshold="1/2")) == {(0, 1): 0.5}
    assert lw.similarity(*sets, by="elements/containment", groups=groups) == 1
    assert lw.similarity(*sets[::-1], by="elements/containment", groups=groups) == 2 / 3


def test_it_is_said_that_none_is_missed():
    found = lw.pairs([[1, 2], [1, 2, 3]], by="elements/containment", threshold="0.5")
    printed = {name: found.report["method"][name] for name in ("by", "exact", "plan", "verify")}
    assert printed == {"by": "elements/containment", "exact": True, "plan": None, "verify": "exact"}
    assert (found.report["recall"], found.report["threshold"], found.report["value"]) == (1, 0.5, "similarity")
    assert len(found.above(1.0)) == 1
    assert len(lw.pairs([[1, 2], [1, 2, 3]], by="elements/containment", threshold="0.5", recall=1)) == 2


def test_more_than_max_pairs_are_refused_before_they_are_listed():
    chain = [list(range(size)) for size in range(1, 60)]  # each is held by all that are longer
    assert len(lw.pairs(chain, by="elements/containment", threshold=1, max_pairs=59 * 58 // 2)) == 59 * 58 // 2
    for sets, most in ((chain, 59 * 58 // 2 - 1), ([[1]] * 100, 9899)):
        with pytest.raises(lw.UsageError, match=rf"more than {most:,} pairs are at or above the threshold; raise max_pairs="):
            lw.pairs(sets, by="elements/containment", threshold=1, max_pairs=most)
    assert len(lw.pairs([[1]] * 100, by="elements/containment", threshold=1, max_pairs=9900)) == 9900
    with pytest.raises(lw.UsageError, match="threshold; raise max_pairs="):  # --star has no meaning there
        lw.pairs([[1]] * 10, against=[[1]] * 10, by="elements", max_pairs=9)


REFUSED = "containment is not symmetric; use it with lw.pairs or lw.similarity"


@pytest.mark.parametrize("by", ["elements/containment", "words:5/containment"])
def test_what_else_is_refused(by):
    items: Any = [[1], [2]] if by.startswith("elements") else ["a", "b"]
    for verb in (lw.dedup, lw.neighbors, lw.audit):
        with pytest.raises(lw.UsageError, match=REFUSED):
            verb(items, by=by)
    for choices, message in (
        ({"star": True}, "star=True: containment is not symmetric"),
        ({"verify": "none"}, "by containment .* are always compared exactly"),
        ({"within": 0.2}, r"within=0\.2: containment is a similarity; use threshold=S, the minimum share"),
        ({"bands": 5, "rows": 2}, "bands=5 and rows=2: by=.* joins (texts|sets) exactly, without bands"),
        ({"slots": 64}, "slots=64: by="),
        ({"preset": "fineweb"}, "and preset= if it is given"),
        ({"recall": 7}, "recall=7"),
        ({"threshold": 0}, "threshold=.* give a similarity above 0"),
    ):
        with pytest.raises(lw.UsageError, match=message):
            lw.pairs(items, by=by, **choices)


def test_strings_have_no_bands_either():
    with pytest.raises(lw.UsageError, match="bands=5: by='edit' joins strings exactly, without bands"):
        lw.pairs(["ab", "ac"], by="edit", within=1, bands=5)


# the command line


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    made = {"orders.customer": [101, 102, 105], "customers.number": [101, 102, 103, 104, 105, 106], "orders.amount": [19, 25, 102]}
    path = tmp_path / "columns.jsonl"
    path.write_text("".join(json.dumps({"id": name, "elements": values}) + "\n" for name, values in made.items()))
    return path


def test_the_command_line(columns):
    result = run("pairs", columns, "--by", "elements/containment", "--threshold", "0.9")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {"id_a": "orders.customer", "id_b": "customers.number", "similarity": 1.0})
    assert "1 pair at or above 0.9, a contained in b; 3 items read" in result.stderr and "recall: 100%" in result.stderr
    document = json.loads(run("pairs", columns, "--by", "elements/containment", "--threshold", "0.5", "--json").stdout)
    assert (document["recall"], document["method"]["exact"], document["count"]) == (1, True, 2)
    assert "exact similarity join; recall: 100%" in run("pairs", columns, "--by", "elements/containment", "--dry-run").stdout


@pytest.mark.parametrize("verb", [("dedup", "-o", "out"), ("dedup", "--dry-run"), ("neighbors",), ("audit",)])
def test_other_verbs_say_what_is_for_it(columns, verb):
    result = run(*verb, columns, "--by", "elements/containment")
    assert result.exit_code == 2 and "containment is not symmetric; use it with likewise pairs, or leave out" in result.stderr
    assert run("pairs", columns, "--by", "elements/containment", "--star", "--dry-run").exit_code == 2


QUOTES = ["one two three four five six", "three four", "", "five", "two three four five", None, "three four"]


@pytest.mark.parametrize(
    ("by", "options", "count", "says"),
    [
        ("words:3", {}, 4, "4 of 7 items have fewer than 3 words, so it is not judged whether other items contain them: "),
        ("words:2", {}, 2, "2 of 7 items have fewer than 2 words, so it is not judged"),
        ("words:1", {}, 1, "1 of 7 items has no words, so it is not judged whether other items contain it: memory.arrow item 3"),
        ("words:2", {"min_tokens": 5}, 5, "5 of 7 items have fewer than 5 words"),
        ("stopwords:1", {}, 2, "2 of 7 items have fewer than 2 words"),
    ],
)
def test_texts_shorter_than_a_shingle_are_named_as_not_judged(by, options, count, says):
    found = lw.pairs(QUOTES, by=f"{by}/containment", threshold=0.5, **options)
    assert found.report["not_judged"] == count
    assert next(said for said in found.report["warnings"] if "not judged" in said).startswith(says)
    against = lw.pairs(QUOTES[:1], against=QUOTES, by=f"{by}/containment", threshold=0.5, **options)
    assert against.report["not_judged"] == 0 and not [said for said in against.report["warnings"] if "not judged" in said]


def test_short_texts_are_in_equal_ones_only():
    """Which is why they are not judged: "three four" is part of the first text."""
    assert listed(lw.pairs(QUOTES, by="words:3/containment", threshold=0.5)).keys() == {(1, 6), (6, 1), (4, 0), (0, 4)}


def test_empty_sets_are_not_judged():
    found = lw.pairs([[], [1, 2], [1, 2, 3]], by="elements/containment", threshold=1)
    assert found.report["not_judged"] == 1 and "1 of 3 items has no elements, so it is not judged" in found.report["warnings"][0]
    assert lw.pairs([["a", "b"], ["b"]], by="elements", threshold=0.5).report["not_judged"] == 0
