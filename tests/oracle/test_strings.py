"""Exact joins of strings by edit distance against all pairs measured one by one, and the bound of the count filter itself."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.engines.threads import Threads
from likewise.items.strings import strings_of
from likewise.joins import greedy, prefix
from likewise.joins import string_join as strings
from likewise.joins.deletions import NO_BOUND
from likewise.joins.greedy import removals
from likewise.joins.pairs import Among, Counts
from likewise.joins.string_join import Layer, StringJoin, layers
from likewise.kernels import deletions as kernels
from likewise.kernels.deletions import BASE
from likewise.kernels.grams import grams
from likewise.measures.strings import MEASURES
from likewise.stages.settle import Removals
from likewise.stages.workers import ALONE, Workers

Rows = list[tuple[int, int, int]]
#: The measure by whether a replacement counts as one edit.
NAMES = {True: "levenshtein", False: "edit"}


def slow_distance(a: str, b: str, levenshtein: bool) -> int:
    """The textbook's table, a row at a time."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            replaced = before + (0 if x == y else 1 if levenshtein else 2)
            before, row[j] = row[j], min(replaced, row[j] + 1, row[j - 1] + 1)
    return row[-1]


def pairs_of(texts: Sequence[str], within: int, levenshtein: bool, **choices) -> Rows:
    counts, among = choices.pop("counts", Counts()), Among(choices.pop("items", None), choices.pop("side", None))
    blocks = StringJoin(texts, NAMES[levenshtein], within, **choices).pairs(among, counts=counts)
    return sorted(row for block in blocks for row in zip(*(part.tolist() for part in block), strict=True))


def walk_of(texts: Sequence[str], within: int, levenshtein: bool, counts: Counts | None = None, **choices) -> Removals:
    return removals(StringJoin(texts, NAMES[levenshtein], within, **choices), len(texts), counts or Counts(), distances=True)


@contextmanager
def held(first: int, most: int) -> Iterator[None]:
    """Removal that holds so few pairs at once, and begins with so few strings."""
    with pytest.MonkeyPatch.context() as patch:
        for name, number in (("EACH", 0), ("FEWEST", most), ("MOST", most), ("FIRST", first), ("SAMPLE", 4), ("REMEMBERED", 10**6)):
            patch.setattr(greedy, name, number)
        yield


def removed(found: Removals) -> tuple[list[int], list[float], list[tuple[float, ...]]]:
    """Representatives, their distances (-1 for kept strings), and all pairs that were near, as `slow_walk` gives them."""
    matched = [(*pair, value) for pair, value in zip(found.matches.tolist(), found.values.tolist(), strict=True)]
    return found.representative.tolist(), np.nan_to_num(found.value, nan=-1).tolist(), matched


def slow_pairs(texts: Sequence[str], within: int, levenshtein: bool, side: Sequence[int] | None = None, per: Sequence[int] | None = None) -> Rows:
    out = []
    for a, b in itertools.combinations(range(len(texts)), 2):
        apart = side is None or side[a] != side[b] or side[a] == 3
        if apart and (per is None or per[a] == per[b]) and (distance := slow_distance(texts[a], texts[b], levenshtein)) <= within:
            out.append((a, b, distance))
    return out


def slow_walk(texts: Sequence[str], within: int, levenshtein: bool, per: Sequence[int]) -> tuple[list[int], list[int], Rows]:
    """The greedy walk word by word: the representatives, their distances (-1 for kept strings), and all pairs that were near."""
    representative: list[int] = []
    distances: list[int] = []
    matched = []
    for item, text in enumerate(texts):
        near = [
            (distance, kept)
            for kept in range(item)
            if representative[kept] < 0 and per[kept] == per[item] and (distance := slow_distance(text, texts[kept], levenshtein)) <= within
        ]
        matched += sorted((item, kept, distance) for distance, kept in near)
        distance, kept = min(near, default=(-1, -1))
        representative.append(kept)
        distances.append(distance)
    return representative, distances, matched


@contextmanager
def found_by(way: str) -> Iterator[None]:
    """Joins that scan all pairs, or that use q-grams wherever those exist: else predicted costs decide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "GRAM", 1e9 if way == "scan" else 0.0)
        patch.setattr(strings, "SIGNS", 0.0 if way == "scan" else 1e12)
        patch.setattr(strings, "HELD", 5)
        patch.setattr(strings, "SCANNED_AT_ONCE", 7)
        yield


WAYS = st.sampled_from(["scan", "grams"])


@st.composite
def families(draw) -> list[str]:
    """Strings over few letters, and strings made from others by a few edits."""
    letters = draw(st.sampled_from(["a", "ab", "abc", "aé\ud800\U0001f600"]))
    texts = draw(st.lists(st.text(letters, max_size=draw(st.integers(0, 20))), max_size=14))
    for text in draw(st.lists(st.sampled_from(texts), max_size=8)) if texts else []:
        for place, letter, kind in draw(st.lists(st.tuples(st.integers(0, 20), st.sampled_from(letters), st.integers(0, 2)), max_size=4)):
            text = text[:place] + (letter if kind else "") + text[place + (kind != 2) :]
        texts.append(text)
    return texts


@settings(max_examples=400, deadline=None)
@given(families(), st.integers(0, 5), st.booleans(), WAYS)
def test_pairs_equal_brute_force(texts, within, levenshtein, way):
    with found_by(way):
        assert pairs_of(texts, within, levenshtein) == slow_pairs(texts, within, levenshtein)


@settings(max_examples=150, deadline=None)
@given(families(), st.integers(0, 4), st.booleans(), st.data())
def test_pairs_across_sides_and_inside_groups_equal_brute_force(texts, within, levenshtein, data):
    side = data.draw(st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    per = data.draw(st.lists(st.integers(0, 1), min_size=len(texts), max_size=len(texts)))
    choices = {"side": np.array(side, np.uint8), "per": np.array(per, np.uint64)}
    with found_by(data.draw(WAYS)):
        assert pairs_of(texts, within, levenshtein, **choices) == slow_pairs(texts, within, levenshtein, side, per)


@settings(max_examples=200, deadline=None)
@given(families(), st.integers(0, 5), st.booleans(), st.integers(1, 9), st.data())
def test_removal_is_that_of_the_definition(texts, within, levenshtein, step, data):
    per = data.draw(st.lists(st.integers(0, 1), min_size=len(texts), max_size=len(texts)))
    with found_by(data.draw(WAYS)), held(step, data.draw(st.sampled_from([1, 4, 20, 10**6]))):
        found = walk_of(texts, within, levenshtein, per=np.array(per, np.uint64))
    assert removed(found) == slow_walk(texts, within, levenshtein, per)


@settings(max_examples=150, deadline=None)
@given(families(), st.integers(0, 4), st.booleans(), st.data())
def test_pairs_among_some_strings_equal_brute_force(texts, within, levenshtein, data):
    items = data.draw(st.lists(st.integers(0, max(0, len(texts) - 1)), unique=True, max_size=len(texts)).map(sorted))
    side = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=len(items), max_size=len(items)))
    with found_by(data.draw(WAYS)):
        found = pairs_of(texts, within, levenshtein, items=np.array(items, np.int64), side=None if side is None else np.array(side, np.uint8))
    want = slow_pairs([texts[item] for item in items], within, levenshtein, side)
    assert found == [(items[a], items[b], distance) for a, b, distance in want]


@settings(max_examples=300, deadline=None)
@given(families(), st.integers(1, 4))
def test_the_bound_on_common_grams_holds(texts, q):
    """|s| - q + 1 - qD for the longer string, the grams taken as a bag; and the code points that one of two strings lacks."""
    bags = [Counter(text[i : i + q] for i in range(len(text) - q + 1)) for text in texts]
    for a, b in itertools.combinations(range(len(texts)), 2):
        longer = max(len(texts[a]), len(texts[b]))
        for levenshtein in (True, False):
            distance = slow_distance(texts[a], texts[b], levenshtein)
            assert (bags[a] & bags[b]).total() >= longer - q + 1 - q * distance
            left, right = Counter(texts[a]), Counter(texts[b])
            assert ((left - right) + (right - left)).total() <= distance * (2 if levenshtein else 1)


def test_grams_are_a_bag():
    """abab has ab twice and ba once, and its second ab is an element of its own; aba has one ab and one ba of these; a has no gram of 2."""
    points = np.frombuffer("abababaa".encode("utf-32-le"), np.uint32)
    values, offsets = grams(points, np.array([0, 4, 7]), np.array([4, 3, 1]), 2)
    first, second = values[:3].tolist(), values[3:].tolist()
    assert offsets.tolist() == [0, 3, 5, 5]
    assert len(set(first)) == 3
    assert set(second) < set(first)


def test_equal_strings_are_pairs_at_distance_0_and_an_empty_string_is_a_string():
    assert pairs_of(["ab", "ab", "", "a"], 1, True) == [(0, 1, 0), (0, 3, 1), (1, 3, 1), (2, 3, 1)]
    assert pairs_of(["ab", "ab", "abc"], 0, True) == [(0, 1, 0)]
    assert pairs_of(["", ""], 0, False) == [(0, 1, 0)]
    assert pairs_of([], 2, True) == []
    assert walk_of([], 2, True).representative.tolist() == []


def test_replacing_is_one_edit_or_two():
    assert pairs_of(["kitten", "sitting"], 3, True) == [(0, 1, 3)]
    assert pairs_of(["kitten", "sitting"], 4, False) == []
    assert pairs_of(["kitten", "sitting"], 5, False) == [(0, 1, 5)]


def test_arrow_strings_and_bytes_are_compared_by_code_points():
    texts = ["naïve café", "naive café", "\ud800x", "\ud800y"]
    coded = pa.array([text.encode("utf-8", "surrogatepass") for text in texts], pa.large_binary())
    want = [(0, 1, 1), (2, 3, 1)]
    assert pairs_of(texts, 1, True) == pairs_of(coded, 1, True) == want
    assert pairs_of(pa.array(texts[:2], pa.large_string()), 1, True) == want[:1]


def test_layers_take_grams_as_long_as_the_bound_allows():
    """q (2 + 1) letters for q, and 3 at most: 828 letters of 3.3 bits each are fewer than there are 3-grams."""
    texts = ["abcdef"[:n] for n in range(7)] + ["abcdefghij" * 4] * 20 + ["a" * 7]
    found = layers(strings_of(texts), MEASURES["levenshtein"], Fraction(2))
    assert found == [Layer(0, 2, 0, 2), Layer(1, 2, 3, 5), Layer(2, 2, 6, 7), Layer(3, 2, 40, 40)]


def names(n: int) -> list[str]:
    """Names of three syllables, of which a third are others with an edit or two."""
    draw = np.random.default_rng(11)
    syllables = np.array(["an", "bel", "cor", "dun", "el", "fra", "gor", "hil", "is", "jo", "ka", "lin", "mar", "nor", "os", "pe", "quin", "ro"])
    out: list[str] = []
    for _ in range(n):
        if out and draw.random() < 0.35:
            text, place = out[draw.integers(len(out))], draw.integers(0, 6)
            out.append(text[:place] + "xyz"[draw.integers(3)] + text[place + draw.integers(2) :])
        else:
            out.append("".join(syllables[draw.integers(0, len(syllables), draw.integers(2, 5))]))
    return out


#: Visited entries, pairs measured, and pairs measured by a walk; more is a filter that got worse.
COUNTERS = {"grams": (34901, 4647, 2299), "scan": (0, 4305, 2137)}


@pytest.mark.parametrize("way", COUNTERS)
@pytest.mark.parametrize("threads", [1, 3])
def test_results_and_counters_do_not_depend_on_threads(threads, way, monkeypatch):
    monkeypatch.setattr(prefix, "MATCHES_AT_ONCE", 100)
    monkeypatch.setattr("likewise.measures.edit.MEASURED_AT_ONCE", 70)
    texts, engine = names(700), Threads(threads)
    done: list[int] = []
    try:
        counts, walked = Counts(), Counts()
        choices = {"workers": Workers(engine.run, threads, done.append)}
        with found_by(way):
            assert pairs_of(texts, 2, True, counts=counts, **choices) == slow_pairs_of_names()
        assert sum(done) == len(texts)
        done.clear()
        with found_by(way), held(40, 100):
            found = walk_of(texts, 2, True, walked, **choices)
    finally:
        engine.close()
        monkeypatch.undo()
    assert removed(found) == removed(walk_of(texts, 2, True))
    assert (counts.visited, counts.compared, walked.compared) == COUNTERS[way]


def slow_pairs_of_names() -> Rows:
    from likewise.measures.edit import library

    texts = names(700)
    distances = library().process.cdist(texts, texts, scorer=library().distance.Levenshtein.distance)
    return [(a, b, int(distances[a, b])) for a, b in np.argwhere(distances <= 2).tolist() if a < b]


def test_near_equal_strings_cost_the_walk_what_is_kept():
    """Ten thousand numbers of which a hundred are kept at most: each is measured against those, and not against all."""
    texts = [f"product {i:04d}" for i in range(10_000)]
    found = walk_of(texts, 2, True)
    kept = int((found.representative < 0).sum())
    assert kept <= 400
    assert found.compared < 10_000 * kept / 2


def test_thousands_of_tiny_strings_are_not_compared_with_all_others():
    draw = np.random.default_rng(2)
    texts = ["".join(letters) for letters in np.array(list("abcdefghijklmnopqrstuvwxyz"))[draw.integers(0, 26, (4000, 3))]]
    counts = Counts()
    found = pairs_of(texts, 1, True, counts=counts)
    assert len(found) > 10_000
    assert counts.compared < 8 * len(found) < 4000 * 3999 // 20


def test_stops_when_there_are_too_many_pairs():
    rows = sum(len(block.left) for block in StringJoin(["abcdefgh"] * 2000, "levenshtein", 1).pairs(most=5000))
    assert 5000 < rows < 2000 * 1999 // 2


@contextmanager
def rests(wanted: bool) -> Iterator[None]:
    """Joins by rests after deletions, or by q-grams alone: else the number of strings and cost decide."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(strings, "rests_are_cheaper", lambda one, within, *_: wanted and within <= 2)
        yield


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text("ab", max_size=9) | st.text("aabcé😀", max_size=7), max_size=20), st.integers(0, 2), st.booleans(), st.data())
def test_joins_by_rests_equal_brute_force(texts, within, levenshtein, data):
    side = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    per = data.draw(st.lists(st.integers(0, 1), min_size=len(texts), max_size=len(texts)))
    choices = {"side": None if side is None else np.array(side, np.uint8), "per": np.array(per, np.uint64)}
    with found_by("grams"), rests(True):
        with held(2, 4):
            found = walk_of(texts, within, levenshtein, per=np.array(per, np.uint64))
        assert pairs_of(texts, within, levenshtein, **choices) == slow_pairs(texts, within, levenshtein, side, per)
    assert removed(found) == slow_walk(texts, within, levenshtein, per)


def test_the_rests_of_a_string_are_those_of_all_deletions():
    """Of "aab" after two deletions: aab, ab, aa, a, b. Equal rests have equal hashes, whichever string they come from."""
    texts = ["aab", "ab", "aa", "a", "b"]
    words = [np.array([ord(x) for x in text], np.uint32) for text in texts]
    length = np.array([len(text) for text in texts])
    begin = np.cumsum(length) - length
    at = np.arange(len(texts)) * 10
    powers = np.array([1, int(BASE), int(BASE) ** 2 % 2**64, int(BASE) ** 3 % 2**64], np.uint64)
    out = np.zeros(50, np.uint64)
    counts = kernels.rests(np.concatenate(words), begin, length, 2, powers, at, out)
    left = [set(out[start : start + count].tolist()) for start, count in zip(at, counts, strict=True)]
    whole = [int(out[start]) for start in at]
    assert left[0] == set(whole) and counts[0] == 5
    assert left[1] == {whole[1], whole[3], whole[4], *left[3] & left[4]}
    assert len(left[3] & left[4]) == 1, "the empty rest"


def numbered(n: int) -> list[str]:
    draw = np.random.default_rng(2)
    return [f"unknown{number}" for number in dict.fromkeys(draw.integers(0, 10**6, n).tolist())]


#: Distances that removal from numbered(3000) computes.
MEASURED = {(1, True): 1321, (1, False): 19_931, (2, True): 60_151, (2, False): 803_976}


@pytest.mark.parametrize(("within", "by_rests"), MEASURED)
def test_strings_with_a_common_beginning_are_distinguished_by_their_rests(within, by_rests):
    """The q-grams of "unknown" are in all of them: the count filter lets many pairs through that are not near."""
    texts, counts = numbered(3000), Counts()
    with found_by("grams"), rests(by_rests):
        found = walk_of(texts, within, True, counts)
    assert counts.compared == MEASURED[within, by_rests]
    kept = [text for text, representative in zip(texts, found.representative.tolist(), strict=True) if representative < 0]
    assert pairs_of(kept, within, True) == []
    assert all(slow_distance(texts[a], texts[b], True) == distance <= within for a, b, distance in removed(found)[2][:300])


def test_rests_are_taken_where_they_cost_less():
    """For many strings with a common beginning; not for few or dissimilar ones, or where more deletions would be needed."""

    def taken(texts: list[str], within: int) -> bool:
        made = StringJoin(texts, "levenshtein", within)
        (layer,) = made.layers
        items = layer.members(made.strings.length)
        everyone = np.ones(len(items), np.bool_)
        joined = made.joined(layer, items, np.arange(len(items)), everyone, None, ALONE)
        return joined.rule[1] == NO_BOUND

    same_length = [text for text in numbered(20_000) if len(text) == 13]
    draw = np.random.default_rng(5)
    dissimilar = ["".join(map(chr, draw.integers(0x4E00, 0x9000, 13))) for _ in range(20_000)]
    assert [taken(same_length, within) for within in (2, 3)] == [True, False]
    assert not taken(same_length[:1000], 2)
    assert not taken(dissimilar, 2)
