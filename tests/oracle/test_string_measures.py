"""Similarities of strings and their nearest neighbors, against definitions in fractions, all pairs one by one, and RapidFuzz."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Indel, JaroWinkler, Levenshtein

import likewise as lw
from likewise.items.strings import strings_of
from likewise.joins import string_join
from likewise.joins.pairs import Among
from likewise.joins.string_join import StringJoin, coarse
from likewise.kernels.strings import PREFIX
from likewise.measures import jaro_winkler as measure
from likewise.measures.jaro_winkler import jaro_winkler, similarities
from likewise.measures.strings import MEASURES
from likewise.nearest import by_strings
from likewise.nearest.by_strings import strings_near

SIMILARITIES = ("levenshtein/ratio", "edit/ratio", "jaro-winkler")
THRESHOLDS = [Fraction(text) for text in ("1/100", "1/3", "1/2", "2/3", "7/10", "3/4", "4/5", "5/6", "9/10", "19/20", "1")]


def slow_jaro_winkler(a: str, b: str) -> Fraction:
    """The definition: each code point takes the first free equal one within the window."""
    if not a and not b:
        return Fraction(1)
    window, free, mine = max(max(len(a), len(b)) // 2 - 1, 0), list(b), []
    for i, x in enumerate(a):
        for j in range(max(0, i - window), min(len(b), i + window + 1)):
            if free[j] == x:
                free[j] = ""
                mine.append(x)
                break
    if not (c := len(mine)):
        return Fraction(0)
    theirs = [y for y, left in zip(b, free, strict=True) if not left]
    t = sum(x != y for x, y in zip(mine, theirs, strict=True)) // 2
    jaro = (Fraction(c, len(a)) + Fraction(c, len(b)) + Fraction(c - t, c)) / 3
    prefix = next((i for i in range(PREFIX) if a[i : i + 1] != b[i : i + 1] or i >= len(a)), PREFIX)
    return jaro + Fraction(prefix, 10) * (1 - jaro) if jaro >= Fraction(7, 10) else jaro


def slow(name: str, a: str, b: str) -> Fraction:
    if name == "jaro-winkler":
        return slow_jaro_winkler(a, b)
    module, span = (Levenshtein, max(len(a), len(b))) if name.startswith("lev") else (Indel, len(a) + len(b))
    distance = module.distance(a, b)
    return Fraction(distance) if name in ("edit", "levenshtein") else 1 - Fraction(distance, span) if span else Fraction(1)


@st.composite
def names(draw, most: int = 6) -> list[str]:
    """Strings over few letters, and others made from them by an edit or an exchange of neighbors; some empty, some longer than a word of flags."""
    letters = draw(st.sampled_from(["a", "ab", "abcd", "aé\ud800\U0001f600"]))
    texts = draw(st.lists(st.text(letters, max_size=draw(st.sampled_from([1, 5, 5, 12, 12, 90]))), min_size=1, max_size=most))
    for text in draw(st.lists(st.sampled_from(texts), max_size=most)):
        at, letter, kind = draw(st.tuples(st.integers(0, len(text)), st.sampled_from(letters), st.integers(0, 3)))
        change = (letter, "", letter + text[at : at + 1], text[at + 1 : at + 2] + text[at : at + 1])[kind]
        texts.append(text[:at] + change + text[at + (1, 1, 1, 2)[kind] :])
    return texts


@settings(max_examples=150, deadline=None)
@given(names(), names())
def test_values_are_the_definition_correctly_rounded(some, others):
    pairs = list(itertools.product(some, others))
    for name in SIMILARITIES:
        found = lw.similarity([a for a, _ in pairs], [b for _, b in pairs], by=name)
        assert found.tolist() == [float(slow(name, a, b)) for a, b in pairs]
        assert found.tolist() == lw.similarity([b for _, b in pairs], [a for a, _ in pairs], by=name).tolist()


@settings(max_examples=120, deadline=None)
@given(names(), names())
def test_values_are_those_of_rapidfuzz_up_to_rounding(some, others):
    """Where the Jaro similarity is 7/10 itself, rounding decides in RapidFuzz if a prefix counts."""
    for a, b in itertools.product(some, others):
        assert lw.similarity(a, b, by="levenshtein/ratio") == pytest.approx(Levenshtein.normalized_similarity(a, b), abs=1e-12)
        assert lw.similarity(a, b, by="edit/ratio") == pytest.approx(Indel.normalized_similarity(a, b), abs=1e-12)
        if slow_jaro_winkler(a, b) < Fraction(7, 10) or JaroWinkler.similarity(a, b) > 0.7001:
            assert lw.similarity(a, b, by="jaro-winkler") == pytest.approx(JaroWinkler.similarity(a, b), abs=1e-12)


def test_values_by_hand():
    """Winkler's own examples, and the two ends."""
    assert jaro_winkler(["MARTHA", "DWAYNE", "DIXON"], ["MARHTA", "DUANE", "DICKSONX"]) == pytest.approx([0.9611, 0.84, 0.8133], abs=1e-4)
    assert lw.similarity("kitten", "sitting", by="levenshtein/ratio") == 4 / 7  # 3 edits of 7
    assert lw.similarity("kitten", "sitting", by="edit/ratio") == 8 / 13  # 5 of 13
    for name in SIMILARITIES:
        assert lw.similarity(["", "", "a", "a"], ["", "a", "", "a"], by=name).tolist() == [1, 0, 0, 1]
        assert lw.similarity([], [], by=name).tolist() == []


def test_long_strings_have_exact_values_too():
    """Beyond 60,000 code points numerators do not fit into float64, and values are computed with whole numbers of any size."""
    a, b = "a" * 70_001 + "b", "c" + "a" * 70_000
    jaro = (Fraction(70_000, 70_002) + Fraction(70_000, 70_001) + 1) / 3
    assert lw.similarity(a, b, by="jaro-winkler") == float(jaro)
    assert len(lw.pairs([a, b], by="jaro-winkler", threshold="0.9999")) == 1
    assert lw.similarity(a, b, by="levenshtein/ratio") == 1 - 2 / 70_002


def pairs_of(texts: list[str], name: str, limit: Fraction, side: list[int] | None = None, **choices) -> list[tuple[int, int, float]]:
    among = Among(None, None if side is None else np.array(side, np.uint8))
    blocks = StringJoin(texts, name, limit, **choices).pairs(among)
    return sorted(row for block in blocks for row in zip(*(part.tolist() for part in block), strict=True))


@settings(max_examples=250, deadline=None)
@given(names(), st.sampled_from(SIMILARITIES), st.sampled_from(THRESHOLDS), st.sampled_from(["scan", "grams", "either"]), st.data())
def test_pairs_equal_brute_force(texts, name, threshold, way, data):
    """Also at the threshold itself: thresholds are fractions that values often equal."""
    side = data.draw(st.none() | st.lists(st.integers(1, 3), min_size=len(texts), max_size=len(texts)))
    per = data.draw(st.lists(st.integers(0, 1), min_size=len(texts), max_size=len(texts)))
    want = [
        (a, b, float(value))
        for a, b in itertools.combinations(range(len(texts)), 2)
        if per[a] == per[b] and (side is None or side[a] != side[b] or side[a] == 3) and (value := slow(name, texts[a], texts[b])) >= threshold
    ]
    with pytest.MonkeyPatch.context() as patch:
        if way != "either":
            patch.setattr(string_join, "GRAM", 1e9 if way == "scan" else 0.0)
            patch.setattr(string_join, "SIGNS", 0.0 if way == "scan" else 1e12)
            patch.setattr(string_join, "HELD", 5)
            patch.setattr(string_join, "SCANNED_AT_ONCE", 7)
        assert pairs_of(texts, name, threshold, side, per=np.array(per, np.uint64)) == want


@settings(max_examples=120, deadline=None)
@given(names(), st.sampled_from([*MEASURES]), st.sampled_from(THRESHOLDS))
def test_bounds_exclude_no_similar_pair(texts, name, threshold):
    """`least` and `room`, on which all joins rest, and `best`, on which neighbors rest."""
    how, limit, strings = MEASURES[name], threshold if MEASURES[name].relative else 20 * threshold, strings_of(texts)
    for a, b in itertools.permutations(range(len(texts)), 2):
        value, length = slow(name, texts[a], texts[b]), strings.length[[a]]
        bits = np.bitwise_count(strings.signs[[a]] ^ strings.signs[[b]]).sum(axis=1, dtype=np.int64)
        prefix = np.array([next((i for i in range(PREFIX) if strings.heads[a, i] != strings.heads[b, i]), PREFIX)])
        best = how.best(bits, prefix, length, strings.length[[b]])[0]
        assert best >= float(value) if how.relative else best <= value
        if len(texts[a]) >= len(texts[b]) and (value >= limit if how.relative else value <= limit):
            assert how.least(length, limit)[0] <= len(texts[b])
            assert bits[0] + how.slope * (len(texts[a]) - len(texts[b])) <= how.room(length, limit)[prefix[0], 0]


@settings(max_examples=150, deadline=None)
@given(names(), names(), st.booleans(), st.sampled_from([*MEASURES]), st.integers(1, 5), st.none() | st.sampled_from(THRESHOLDS), st.data())
def test_neighbors_equal_brute_force(base, queries, same, name, k, limit, data):
    """Nearest first, ties by the earlier string; of a similarity, only strings that have one."""
    relative = MEASURES[name].relative
    limit = limit if limit is None or relative else int(10 * limit)
    want = []
    for query, text in enumerate(base if same else queries):
        values = [(slow(name, text, other), item) for item, other in enumerate(base) if not (same and item == query)]
        good = [
            (value, item)
            for value, item in values
            if (value > 0 or not relative) and (limit is None or (value >= limit if relative else value <= limit))
        ]
        good.sort(key=lambda pair: (-pair[0] if relative else pair[0], pair[1]))
        want += [(query, item, float(value)) for value, item in good[:k]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(by_strings, "FEWEST", data.draw(st.sampled_from([1, 2, 32])))
        patch.setattr(by_strings, "FIRST", 1)
        patch.setattr(by_strings, "GROWTH", 2)
        found = strings_near(base, [] if same else queries, name, k, limit=limit if limit is None else Fraction(limit), same=same)
    assert list(zip(found.query.tolist(), found.item.tolist(), found.value.tolist(), strict=True)) == want
    assert found.exact


def test_a_threshold_between_two_neighboring_floats_is_exact():
    """6/7 in float64 is below 6/7: with a limit of 10^-9 above and below, and at 6/7 itself, written as a fraction."""
    texts = ["abcdefg", "abcdefx"]
    for limit, number in ((Fraction(6, 7), 1), (Fraction(6, 7) + Fraction(1, 10**9), 0), (Fraction(6, 7) - Fraction(1, 10**9), 1)):
        assert len(pairs_of(texts, "levenshtein/ratio", limit)) == number
    assert len(lw.pairs(["Martin", "Mertin"], by="jaro-winkler", threshold=0.9)) == 1  # 8/9 + 1/10 of 1/9
    assert len(lw.pairs(["Martin", "Mertin"], by="jaro-winkler", threshold="0.900000001")) == 0


def test_the_exact_value_decides_if_rounding_hides_which_is_greater():
    """A pair just below 1/2 whose float64 is 1/2."""
    a, counts = np.array([2**40]), np.array([[2**39 - 1, 0, 0]])
    length, limit = np.array([2**40]), Fraction(1, 2)
    values, good = similarities(a, length, counts, limit)
    exact = measure.ratio_of(a, length, counts, 0)
    assert values[0] == float(exact) and good[0] == (exact >= limit)


def test_distances_are_rounded_up_to_those_of_their_layer():
    assert coarse(np.array([0, 0, 1, 2, 8, 9, 9, 16, 17, 18, 19])).tolist() == [0, 0, 1, 2, 9, 9, 9, 18, 18, 18, 19]
    assert coarse(np.empty(0, np.int64)).tolist() == []


def test_strings_are_normalized_before_they_are_compared(tmp_path):
    """Steps as for texts, in memory and in files; equal ones are exact copies, and ones that become empty are not compared."""
    rows = ["José  Müller", "JOSE MULLER", "jose muller.", "?!", "Ana"]
    steps = "nfc,lower,accents,punct,space"
    pairs = lw.pairs(rows, by="levenshtein/ratio", threshold=1, normalize=steps).to_arrow().to_pylist()
    assert [(pair["id_a"], pair["id_b"], pair["similarity"]) for pair in pairs] == [(0, 1, 1.0), (0, 2, 1.0), (1, 2, 1.0)]
    assert lw.similarity(rows[0], rows[2], by="levenshtein", normalize=steps) == 0
    assert lw.similarity(rows[0], rows[2], by="levenshtein") == 6  # J, é, a space, M, ü and the period
    removal = lw.dedup(rows, by="jaro-winkler", normalize=steps)
    assert removal.removed.to_arrow()["reason"].to_pylist() == ["exact", "exact"]
    assert removal.report["counts"]["empty"] == 1 and removal.report["method"]["normalize"] == steps.split(",")
    near = lw.neighbors(rows, query=["jose mueller"], by="levenshtein", k=1, normalize=steps).to_arrow().to_pylist()
    assert near == [{"id_a": 0, "id_b": 0, "distance": 1}]


def test_neighbors_of_names_in_another_list():
    master, new = ["Acme Inc", "Globex Ltd", "Initech"], ["ACME Inc.", "Globex", "Umbrella", "Inittech", "", None]
    found = lw.neighbors(master, query=new, by="levenshtein/ratio", k=1, normalize="lower,punct")
    assert [tuple(row.values()) for row in found.to_arrow().to_pylist()] == [(0, 0, 1.0), (1, 1, 0.6), (2, 1, 0.2), (3, 2, 0.875)]
    assert (found.report["queries"], found.report["with_fewer"], found.report["recall"]) == (6, 2, 1.0)
    by_edits = lw.neighbors(master, query=new, by="levenshtein", k=1, within=4).to_arrow()
    assert str(by_edits.schema.field("distance").type) == "int64"
    assert [tuple(row.values()) for row in by_edits.to_pylist()] == [(0, 0, 4), (1, 1, 4), (3, 2, 1)]


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"by": "levenshtein", "threshold": 0.8}, "for a similarity use by='levenshtein/ratio' with threshold=S"),
        ({"by": "edit", "threshold": 0.8}, "for a similarity use by='edit/ratio' with threshold=S"),
        ({"by": "jaro_winkler"}, "did you mean jaro-winkler"),
        ({"by": "fuzz.ratio"}, "did you mean edit/ratio"),
        ({"by": "levenshtein/rate"}, "valid: /ratio"),
        ({"by": "levenshtein/ratio", "threshold": 1.5}, "give a similarity above 0 and up to 1"),
        ({"by": "levenshtein/ratio", "normalize": "upper"}, "unknown step 'upper'"),
        ({"by": "jaro-winkler", "bands": 5}, "joins strings exactly"),
    ],
)
def test_other_choices_are_refused_with_what_to_give(choices, message):
    with pytest.raises(lw.UsageError, match=message):
        lw.pairs(["a", "b"], **choices)
