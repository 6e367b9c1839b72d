"""Containment between two collections, of which one is held in memory and the other read past it: against brute force, whichever is held."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from command_line import run
from likewise.engines.local import Local
from likewise.joins import containment
from likewise.joins.containment import Held
from likewise.runs import streamed

THRESHOLDS = st.sampled_from(["1", "5/6", "0.8", "2/3", "1/2", "1/3", "0.1"])
Rows = list[dict[str, Any]]
#: Changes of what is held: the queries, the corpus, or a few sets at a time.
Held_as = Callable[[pytest.MonkeyPatch], None]


def queries_held(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(streamed, "size_of", lambda sources: 0)


def corpus_held(patch: pytest.MonkeyPatch) -> None:
    sizes = itertools.cycle((1, 0))  # of the queries, then of the corpus
    patch.setattr(streamed, "size_of", lambda sources: next(sizes))


def in_passes(patch: pytest.MonkeyPatch) -> None:
    """Room for 8 elements in the least --memory that is allowed."""
    queries_held(patch)
    patch.setattr(streamed, "KEY_BYTES", 2**60)


WAYS = pytest.mark.parametrize("way", [queries_held, corpus_held, in_passes])


def found(way: Held_as, left: Any, right: Any, **options: Any) -> Rows:
    with pytest.MonkeyPatch.context() as patch:
        way(patch)
        return lw.pairs(left, against=right, **options).to_dicts()


# sets in arrays


def arrays(sets: list[set[int]]) -> tuple[np.ndarray, np.ndarray]:
    """Words of 64 bits that look random, ascending in each set, and where the sets begin."""
    words = [sorted((element * 0x9E3779B97F4A7C15 + 1) % 2**64 for element in one) for one in sets]
    return np.array([*itertools.chain(*words)], np.uint64), np.cumsum([0, *map(len, words)])


def skewed(rng: np.random.Generator, count: int, different: int, longest: int) -> list[set[int]]:
    """Sets in which a few elements are common, and parts of each other."""
    made = [{*(different * rng.random(rng.integers(1, longest)) ** 3).astype(int).tolist()} for _ in range(count)]
    return [one | made[rng.integers(count)] if rng.random() < 0.3 else one for one in made]


@pytest.mark.parametrize("different", [12, 80, 2000])
@pytest.mark.parametrize("contained", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
def test_skewed_sets_are_brute_force(different, contained, grouped, monkeypatch):
    """Few different elements make long lists, many make short ones. Blocks of matches are full again and again."""
    monkeypatch.setattr(containment, "MATCHES_AT_ONCE", 1)
    rng = np.random.default_rng(different)
    held, rows = skewed(rng, 150, different, 60), [*skewed(rng, 120, different, 90), set[int]()]
    group, other = (rng.integers(0, 1 + 2 * grouped, len(some)).astype(np.uint64) for some in (held, rows))
    for threshold in map(Fraction, ("1/20", "1/3", "1/2", "4/5", "1")):
        sets = Held.of(*arrays(held), group, threshold, contained=contained)
        for _ in range(2):  # scratch is left clean
            matches = {(row, item): common for row, item, common in zip(*map(list, sets.matches(*arrays(rows), other)), strict=True)}
        assert matches == {
            (row, item): len(one & two)
            for (row, one), (item, two) in itertools.product(enumerate(rows), enumerate(held))
            if one & two and group[item] == other[row] and len(one & two) >= threshold * len(two if contained else one)
        }


def test_a_crowd_of_sets_with_equal_elements():
    """2,000 sets that differ in one element each: all their other elements stand in 2,000 lists."""
    held = [{*range(100), 1000 + number} for number in range(2000)]
    sets = Held.of(*arrays(held), np.zeros(2000, np.uint64), Fraction(1), contained=True)
    row, item, common = sets.matches(*arrays([{*range(100)}, {*range(90), *range(1000, 2000)}, {*range(100), 1007, 2999}]), np.zeros(3, np.uint64))
    assert (row.tolist(), item.tolist(), common.tolist()) == ([2, 2], [7, 1999], [101, 101])
    sets = Held.of(*arrays(held), np.zeros(2000, np.uint64), Fraction(1), contained=False)
    row, item, common = sets.matches(*arrays([{5, 1003}, {*range(100)}]), np.zeros(2, np.uint64))
    assert (row[0], item[0], common[0]) == (0, 3, 2)
    assert (row[1:].tolist(), sorted(item[1:].tolist()), {*common[1:].tolist()}) == ([1] * 2000, [*range(2000)], {100})


def test_ranges_of_sets():
    """About as many elements as there is room for; a set that is larger stands alone; no sets are one range."""
    assert streamed.cut(np.array([3, 3, 3, 9, 1, 1], np.uint32), 6) == [(0, 2), (2, 3), (3, 4), (4, 6)]
    assert streamed.cut(np.array([3, 3], np.uint32), 0) == [(0, 1), (1, 2)]
    assert streamed.cut(np.zeros(0, np.uint32), 5) == [(0, 0)]


# collections

TEXTS = st.lists(st.lists(st.sampled_from(["a", "b", "c", "Ä", "7", "\n"]), max_size=8).map(" ".join) | st.none(), max_size=10)
UNITS = ["words:2", "whitespace:1", "chars:3", "bytes:2", "lines:1", "paragraphs:1", "code:2", "stopwords:1", "words:2/bag"]


@settings(max_examples=15, deadline=None)
@given(TEXTS, TEXTS, THRESHOLDS, st.sampled_from(UNITS))
def test_every_unit_equals_the_measure(left, right, threshold, by):
    right += left[:2]
    by += "/containment"
    values = {
        (a, b): lw.similarity([one], [two], by=by)[0] for (a, one), (b, two) in itertools.product(enumerate(left), enumerate(right)) if one and two
    }
    expected = [{"id_a": a, "id_b": b, "similarity": value} for (a, b), value in values.items() if value >= float(Fraction(threshold)) and value > 0]
    for way in (queries_held, corpus_held, in_passes):
        assert found(way, left, right, by=by, threshold=threshold) == expected


@settings(max_examples=15, deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=8), max_size=10), st.lists(st.lists(st.integers(0, 9), max_size=8), max_size=10), THRESHOLDS)
def test_sets_and_token_ids(left, right, threshold):
    right += left[:2]
    for by, parts in (("elements", lambda one: {*one}), ("tokens:1", lambda one: {*one})):
        pairs = [
            (a, b, Fraction(len(parts(one) & parts(two)), len(parts(one))))
            for a, one in enumerate(left)
            for b, two in enumerate(right)
            if one and two
        ]
        expected = [{"id_a": a, "id_b": b, "similarity": float(value)} for a, b, value in pairs if value >= Fraction(threshold)]
        for way in (queries_held, corpus_held, in_passes):
            assert found(way, left, right, by=f"{by}/containment", threshold=threshold) == expected


WHOLE = [(0, 1), (0, 3), (1, 1), (1, 3), (2, 1), (2, 2), (2, 3)]


@WAYS
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, WHOLE),
        ({"per": "site"}, [(0, 1), (1, 3), (2, 1), (2, 2)]),
        ({"min_tokens": 3}, WHOLE[:4]),
        ({"ignore": ["b c"]}, [(0, 0), (0, 1), (0, 3), (1, 0), (1, 1), (1, 3), (2, 2)]),
        ({"ignore_common": "1/2"}, [(0, 1), (1, 1), (2, 2)]),  # a b and b c are each in 3 of 5 distinct texts; copies are left
        ({"copies": "empty"}, [*WHOLE, (4, 4)]),
        ({"exact": True, "recall": 1}, WHOLE),
    ],
)
def test_options(way, options, expected):
    """Queries 0 and 1 are copies, query 2 has the single shingle "b c", and query 4 is empty. Document 2 of the corpus is a copy of query 2."""
    left = [("a b c", 1), ("A b c", 2), ("b c", 1), ("p q r s", 1), ("", 1)]
    right = [("a b x", 2), ("a b c", 1), ("B C", 1), ("a b c d", 2), ("", 1)]
    rows = [[{"text": text, "site": site} for text, site in side] for side in (left, right)]
    pairs = found(way, *rows, by="words:2/containment", threshold="2/3", **options)
    assert [(pair["id_a"], pair["id_b"]) for pair in pairs] == expected and {pair["similarity"] for pair in pairs} == {1.0}


@WAYS
def test_max_pairs_counts_copies(way):
    left, right = [[1, 2]] * 6 + [[3]], [[1, 2, 9]] * 5 + [[3]] * 2
    assert len(found(way, left, right, by="elements/containment", threshold=1, max_pairs=32)) == 32
    with pytest.raises(lw.UsageError, match=r"^more than 31 pairs are at or above the threshold; raise max_pairs="):
        found(way, left, right, by="elements/containment", threshold=1, max_pairs=31)


@WAYS
@pytest.mark.parametrize(("left", "right"), [([], ["a b"]), (["a b"], []), ([], []), ([""], ["a b"]), (["a b"], [None]), (["a"], ["a b c"])])
def test_nothing_on_a_side(way, left, right):
    assert found(way, left, right, by="words:2/containment") == []


# files


def write(path: Path, texts: list[str]) -> Path:
    path.write_text("".join(json.dumps({"id": f"{path.stem}{number}", "text": text}) + "\n" for number, text in enumerate(texts)))
    return path


@pytest.fixture
def sides(tmp_path: Path) -> tuple[Path, Path]:
    """Queries cut from texts of a corpus, which has several chunks, and some changed."""
    rng = np.random.default_rng(5)
    corpus = [" ".join(f"w{word}" for word in (3000 * rng.random(rng.integers(20, 3000)) ** 2).astype(int)) for _ in range(400)]
    queries = [" ".join(text.split()[2 : 40 + number]) + " and more" * (number % 7) for number, text in enumerate(corpus[::5])]
    return write(tmp_path / "q.jsonl", [*queries, queries[0], queries[7]]), write(tmp_path / "c.jsonl", [*corpus, *corpus[:9], ""])


def small_passes(patch: pytest.MonkeyPatch) -> None:
    cut = streamed.cut
    queries_held(patch)
    patch.setattr(streamed, "cut", lambda sizes, room: cut(sizes, 3000))


def test_bytes_do_not_depend_on_threads_or_on_what_is_held(sides, tmp_path):
    results = set()
    for number, (way, threads) in enumerate([*itertools.product((queries_held, corpus_held), (1, 2, 7)), (small_passes, 2)]):
        out = tmp_path / f"{number}.jsonl"
        with pytest.MonkeyPatch.context() as patch:
            way(patch)
            result = run(
                "pairs", sides[0], "--against", sides[1], "--by", "words:2/containment", "--threshold", "0.6", "--threads", threads, "-o", out
            )
        assert result.exit_code == 0, result.output
        results.add(out.read_bytes())
        assert ("more than fit into memory at once: the other one is read 3 times" in result.stderr) == (way is small_passes)
    pairs = [json.loads(line) for line in results.pop().splitlines()]
    assert not results and len(pairs) > 80 and pairs[-3] == {"id_a": "q80", "id_b": "c0", "similarity": 1.0}


def test_the_same_file_on_both_sides(sides):
    """Each text is in itself, and in its copy."""
    found = lw.pairs(sides[0], against=sides[0], by="words:2/containment", threshold=1)
    rows = [(row["id_a"], row["id_b"]) for row in found]
    assert {(f"q{number}", f"q{number}") for number in range(82)} | {("q0", "q80"), ("q80", "q0"), ("q7", "q81"), ("q81", "q7")} == {*rows}
    assert found.with_text().to_dicts()[0]["text_a"] == found.with_text().to_dicts()[0]["text_b"]


@pytest.mark.parametrize("way", [queries_held, corpus_held])
def test_what_is_stored_does_not_grow_with_the_streamed_side(way, sides, tmp_path, monkeypatch):
    """Sets are stored of the held side only, and of the other one some bytes a record."""
    stored: dict[str, int] = {}
    read = Local.read

    def counted(self, sources, job, part, stage=None):
        read(self, sources, job, part, stage)
        stored.update({f"{part.prefix}{name}": size for name, size in part.lengths.items()})

    monkeypatch.setattr(Local, "read", counted)
    way(monkeypatch)
    lw.pairs(sides[0], against=sides[1], by="words:2/containment", threshold=0.6)
    assert stored["held-sets"] > 8000 and stored.get("streamed-0-sets", 0) == 0
    rows = 82 if way is corpus_held else 410
    assert sum(size for name, size in stored.items() if name.startswith("streamed")) < 150 * rows


def test_a_text_of_megabytes(tmp_path):
    """One item of the corpus holds all queries, and takes the memory of a text, not of the pairs."""
    words = np.random.default_rng(3).integers(0, 10**6, 400_000)
    whole = " ".join(f"x{word}" for word in words)
    queries = [" ".join(f"x{word}" for word in words[at : at + 60]) for at in range(0, 300_000, 30_000)]
    found = lw.pairs([*queries, "x1 y2 x3 y4 y5 y6"], against=[whole, "x1 y2"], by="words:5/containment", threshold=1)
    assert [(row["id_a"], row["id_b"], row["similarity"]) for row in found] == [(number, 0, 1.0) for number in range(10)]


def test_warnings_name_rows_of_either_side(sides):
    found = lw.pairs(["one two", "", "three four five"], against=["one two", None, "three four five six"], by="words:3/containment", threshold=1)
    assert found.to_dicts() == [{"id_a": 0, "id_b": 0, "similarity": 1.0}, {"id_a": 2, "id_b": 2, "similarity": 1.0}]
    said = found.report["warnings"]
    assert said[0].startswith("2 of 6 items have fewer than 3 words, so it is not judged whether other items contain them: ")
    assert "memory.arrow item 1" in said[0] and "1 of 6 items has no text" in said[1] and "against/memory.arrow item 2" in said[1]
    assert (found.report["read"], found.report["not_judged"], found.report["recall"]) == (6, 2, 1)
