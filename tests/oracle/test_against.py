"""Removal of what a second collection has, from texts in to records out, compared with the definition."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from bucket_candidates import budget, candidates_in
from likewise.families.minhash import MinHash
from likewise.items.documents import shingler
from likewise.methods import parse
from likewise.stages import candidates
from likewise.stages.scope import Scope

K, THRESHOLD, BANDS, ROWS = 2, Fraction(1, 2), 4, 2
CHOICES: dict[str, Any] = {"by": f"whitespace:{K}", "threshold": "0.5", "bands": BANDS, "rows": ROWS}

Removed = dict[int, tuple[int, float]]


def shingles(text: str) -> set[tuple[str, ...]]:
    words = text.split()
    return {tuple(words[i : i + K]) for i in range(max(1, len(words) - K + 1))} if words else set()


def jaccard(a: str, b: str) -> Fraction:
    left, right = shingles(a), shingles(b)
    return Fraction(len(left & right), len(left | right))


def band_keys(texts: list[str]) -> np.ndarray:
    shingled = shingler(parse(CHOICES["by"]), 0)(pa.array([text.encode() for text in texts], pa.large_binary()), np.ones(len(texts), bool))
    return MinHash(BANDS * ROWS, "oph", 0).band_keys((shingled.values, shingled.offsets), BANDS, ROWS)


def by_definition(first: list[str], second: list[str], *, inside: bool, most: int) -> tuple[Removed, Removed]:
    """Row of the first collection -> the row for which it is removed, and their similarity: of the second collection, and of the first.

    Distinct texts are compared, those of the second collection first, as the rule for overfull buckets admits them.
    """
    distinct = list(dict.fromkeys(text for text in (*second, *first) if text.split()))
    scope = Scope(len({text for text in second if text.split()}), inside)
    keys = band_keys(distinct).tolist()
    met = {pair for band in range(BANDS) for pair in candidates_in(keys, band, most, candidates.FINER, scope)}
    kept, removed = set(range(scope.fixed)), dict[int, tuple[int, Fraction]]()
    for item in range(scope.fixed, len(distinct)):
        similar = [(jaccard(distinct[item], distinct[other]), -other) for later, other in met if later == item and other in kept]
        if best := max((one for one in similar if one[0] >= THRESHOLD), default=None):
            removed[item] = -best[1], best[0]
        else:
            kept.add(item)
    of_second, of_first, seen = Removed(), Removed(), dict[int, int]()
    for row, text in enumerate(first):
        if not text.split():
            continue
        item = distinct.index(text)
        other, value = removed.get(item, (item, Fraction(1)))
        if other < scope.fixed:
            of_second[row] = second.index(distinct[other]), float(value)
        elif other != item or (inside and item in seen):
            of_first[row] = seen[other], float(value)
        seen.setdefault(item, row)
    return of_second, of_first


def check(first: list[str], second: list[str], *, inside: bool, most: int) -> dict[str, Any]:
    with budget(most):
        result = lw.dedup(first, against=second, also_inside=inside, **CHOICES)
    of_second, of_first = by_definition(first, second, inside=inside, most=most)
    rows = result.removed.to_arrow().to_pylist()
    for row in rows:
        place = (row["kept_position"], row["similarity"])
        assert (of_second if row["kept_source"] == "against/memory.arrow" else of_first)[row["position"]] == place
    assert sorted(row["position"] for row in rows) == sorted((*of_second, *of_first))
    assert result.kept.to_arrow()["text"].to_pylist() == [text for row, text in enumerate(first) if row not in of_second and row not in of_first]
    assert result.report["against"]["removed"] == len(of_second)
    return result.report


texts_of_few_words = st.lists(st.lists(st.sampled_from("abc"), max_size=6).map(" ".join), max_size=30)


@settings(max_examples=150, deadline=None)
@given(texts_of_few_words, texts_of_few_words, st.booleans(), st.sampled_from([2, 3, 128]))
def test_removal_is_that_of_the_definition(first, second, inside, most):
    check(first, second, inside=inside, most=most)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize(("first", "second"), [(20, 400), (400, 20), (300, 300)])
def test_overfull_buckets(first, second, inside):
    """Pages that share a banner and little else: many in the second collection, in the first, or in both; every tenth has a near-duplicate across."""
    draw, banner = np.random.default_rng(5), " ".join(f"b{i}" for i in range(30))
    pages = [f"{banner} {' '.join(f'w{word}' for word in draw.integers(0, 4000, 30))}" for _ in range(second)]
    others = [f"{banner} {' '.join(f'w{word}' for word in draw.integers(0, 4000, 30))}" for _ in range(first)]
    others[::10] = [f"{pages[int(draw.integers(0, second))]} more" for _ in others[::10]]
    report = check(others, pages, inside=inside, most=128)
    assert report["against"]["removed"] > 1
    assert (report["budget"]["cut"] > 100) == (inside or second > 128)  # items of the first collection are not in each other's buckets
    assert report["budget"]["recall"] <= report["method"]["plan"]["recall"]


#: b is similar to a1, a1 to a2, a2 to a3: half of the words differ from one to the one after the next.
CHAIN = [" ".join(f"w{i}" for i in range(5 * step, 5 * step + 20)) for step in range(4)]


def test_a_chain_ends_at_the_first_item():
    """Similarity of neighbors: 14 of 24 shingles. Only what is similar to the second collection itself is removed, not what is similar to that."""
    assert [jaccard(CHAIN[0], text) for text in CHAIN[1:]] == [Fraction(14, 24), Fraction(9, 29), Fraction(4, 34)]
    sure = {"by": "whitespace:2", "threshold": 0.5, "recall": 0.9999}
    assert lw.dedup(CHAIN[1:], against=CHAIN[:1], **sure).kept.to_arrow()["text"].to_pylist() == CHAIN[2:]
    inside = lw.dedup(CHAIN[1:], against=CHAIN[:1], also_inside=True, **sure)  # the second text stays, and the third is removed for it
    assert inside.kept.to_arrow()["text"].to_pylist() == CHAIN[2:3]
    assert [row["kept_position"] for row in inside.removed.to_arrow().to_pylist()] == [0, 1]


def test_copies_stay_without_also_inside():
    first, second = ["a b c", "a b c", "d e f", "D E F", "x y z", ""], ["d e f", "d e f", ""]
    alone = lw.dedup(first, against=second)
    assert [row["position"] for row in alone.removed.to_arrow().to_pylist()] == [2, 3]
    assert {(row["kept_position"], row["reason"]) for row in alone.removed.to_arrow().to_pylist()} == {(0, "exact")}
    inside = lw.dedup(first, against=second, also_inside=True)
    assert [(row["position"], row["kept_position"]) for row in inside.removed.to_arrow().to_pylist()] == [(1, 0), (2, 0), (3, 0)]
    empty = lw.dedup(first, against=second, copies="empty")
    assert [(row["position"], row["kept_position"]) for row in empty.removed.to_arrow().to_pylist()] == [(2, 0), (3, 0), (5, 2)]
    assert lw.dedup(first, against=["p q r"], copies="empty").report["counts"]["removed"] == 0


def test_short_texts_and_groups():
    """Texts of fewer words than --min-tokens are compared on neither side, and only texts of one group."""
    rows = [{"text": "a b", "lang": "en"}, {"text": "a b c", "lang": "en"}, {"text": "a b c", "lang": "de"}]
    short = lw.dedup(rows, against=["a b", "a b c"], min_tokens=3)
    assert [row["position"] for row in short.removed.to_arrow().to_pylist()] == [1, 2]
    assert short.report["counts"]["too_short_to_judge"] == short.report["against"]["too_short_to_judge"] == 1
    grouped = lw.dedup(rows, against=[{"text": "a b c", "lang": "de"}], per="lang")
    assert [row["position"] for row in grouped.removed.to_arrow().to_pylist()] == [2]


def test_the_second_collection_comes_first_whatever_is_kept():
    """The longer text would be kept in one collection; here it goes. Inside the first collection the policy decides."""
    words = " ".join(f"w{i}" for i in range(40))
    first = [f"{words} a", f"{words} a longer", f"other {words[::-1]}", f"other {words[::-1]} much longer"]
    found = lw.dedup(first, against=[words], also_inside=True, keep="longest", threshold=0.6)
    assert found.kept.to_arrow()["text"].to_pylist() == [first[3]]
    assert [(row["position"], row["kept_position"]) for row in found.removed.to_arrow().to_pylist()] == [(0, 0), (1, 0), (2, 3)]


def test_files_to_prefer_are_those_of_the_first_collection(tmp_path):
    for name, text in (("a.jsonl", "one two three"), ("b.jsonl", "One two three"), ("c.jsonl", "something else")):
        (tmp_path / name).write_text(json.dumps({"text": text}) + "\n")
    first, second = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"], tmp_path / "c.jsonl"
    found = lw.dedup(first, against=second, also_inside=True, prefer="b.jsonl")
    assert found.removed.to_arrow()["source"].to_pylist() == ["a.jsonl"]
    with pytest.raises(lw.UsageError, match=r"no input file matches; the inputs are a\.jsonl, b\.jsonl"):
        lw.dedup(first, against=second, prefer="c.jsonl")


def test_a_limit_counts_the_first_collection(tmp_path):
    """The second collection is read whole; an unreadable line beyond the limit is not read."""
    for name, number in (("a", 5), ("b", 7)):
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps({"text": f"text number {6 - i} of them"}) + "\n" for i in range(number)))
    with open(tmp_path / "a.jsonl", "a") as file:
        file.write("{\n")
    found = lw.dedup(tmp_path / "a.jsonl", against=tmp_path / "b.jsonl", limit=2)
    assert (found.counts["read"], found.counts["removed"], found.report["against"]["read"]) == (2, 2, 7)
    assert [row["position"] for row in found.removed.to_arrow().to_pylist()] == [0, 1]
    assert lw.pairs(tmp_path / "a.jsonl", against=tmp_path / "b.jsonl", limit=2).report["read"] == 9
    assert lw.dedup(tmp_path / "a.jsonl", against=tmp_path / "b.jsonl", limit=0).report["against"]["share"] is None


def test_ignored_shingles(tmp_path):
    """A notice that both texts begin with makes them similar; without it, only equal rests are."""
    notice = " ".join(f"n{i}" for i in range(80))
    first, second = [f"{notice} one two three four five six", f"{notice} a b c d e f"], [f"{notice} a b c d e f"]
    assert lw.dedup(first, against=second).counts["removed"] == 2
    assert lw.dedup(first, against=second, ignore=[notice]).removed.to_arrow()["position"].to_pylist() == [1]


@pytest.mark.parametrize("form", ["file", "data"])
@pytest.mark.parametrize("empty", ["first", "second", "both"])
def test_empty_collections(empty, form, tmp_path):
    given = {name: [] if empty in (name, "both") else ["a b c", "d e f"] for name in ("first", "second")}
    inputs: dict[str, Any] = dict(given)
    if form == "file":
        for name, texts in given.items():
            inputs[name] = tmp_path / f"{name}.jsonl"
            Path(inputs[name]).write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    for inside in (False, True):
        found = lw.dedup(inputs["first"], against=inputs["second"], also_inside=inside)
        assert (found.counts["read"], found.counts["kept"]) == (len(given["first"]),) * 2
        assert found.report["against"]["read"] == len(given["second"]) and found.report["against"]["share"] == (0 if given["first"] else None)
