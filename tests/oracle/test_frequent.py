"""Frequent pairs of baskets: worked by hand, beside brute force, and each pass counted by a slow reference implementation."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise.errors import UsageError
from likewise.kernels.hashing import derive, mix64
from likewise.runs.frequent_pairs import PURPOSE

#: Eight baskets of a lecture: milk, cola, beer, pepsi, juice.
LECTURE = [list(basket) for basket in ("mcb", "mpj", "mb", "cj", "mpb", "mcbj", "cbj", "bc")]


def rows(found: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in found.to_arrow().to_pylist()]


def brute_force(baskets: list[Any], support: int) -> dict[frozenset, int]:
    counts = Counter(frozenset(pair) for basket in baskets for pair in combinations(set(basket), 2))
    return {pair: count for pair, count in counts.items() if count >= support}


def test_the_lecture_by_hand():
    """m is in 5 baskets, c in 5, b in 6, j in 4, p in 2: of the pairs without p, mb, bc and cj are in 3 baskets or more; mc, mj and bj in 2."""
    found = lw.frequent(LECTURE, support=3)
    assert rows(found) == [("b", "c", 4), ("b", "m", 4), ("c", "j", 3)]
    assert rows(found.items) == [("b", 6), ("c", 5), ("j", 4), ("m", 5)]
    first, second = found.report["passes"]
    assert (found.report["baskets"], first["items"], first["frequent_items"]) == (8, 5, 4)
    assert (second["candidates"], second["frequent_pairs"]) == (6, 3)
    assert rows(found.above(4)) == [("b", "c", 4), ("b", "m", 4)]
    assert rows(found.above(5)) == []
    assert rows(found.above(5).items) == [("b", 6), ("c", 5), ("m", 5)]


def test_pcy_counts_fewer_pairs():
    """With a bucket for each pair, only the three frequent ones are counted; with one bucket for all, as many as without buckets."""
    many, one = (lw.frequent(LECTURE, support=3, method="pcy", buckets=buckets) for buckets in (2**20, 1))
    assert rows(many) == rows(one) == rows(lw.frequent(LECTURE, support=3))
    assert (many.report["passes"][0]["frequent_buckets"], many.report["passes"][1]["candidates"]) == (3, 3)
    assert (one.report["passes"][0]["frequent_buckets"], one.report["passes"][1]["candidates"]) == (1, 6)


def test_counters_by_a_slow_reference():
    """Buckets of a random collection, and the pairs that the second pass counts, one by one."""
    draw = np.random.default_rng(4)
    baskets = [np.unique(draw.integers(0, 40, draw.integers(0, 9))).tolist() for _ in range(300)]
    support, buckets, seed = 4, 997, 12
    key = int(derive(np.uint64(seed), PURPOSE, 1)[0])
    codes = {item: code for code, item in enumerate(sorted({item for basket in baskets for item in basket}))}

    def bucket_of(pair: tuple[int, int]) -> int:
        low, high = sorted(codes[item] for item in pair)
        return int(mix64.py_func(np.uint64((low << 32 | high) ^ key))) % buckets

    with np.errstate(over="ignore"):
        in_bucket = Counter(bucket_of(pair) for basket in baskets for pair in combinations(basket, 2))
        frequent = {item for item, count in Counter(item for basket in baskets for item in basket).items() if count >= support}
        kept = {pair for basket in baskets for pair in combinations(sorted(frequent & set(basket)), 2)}
        candidates = {pair for pair in kept if in_bucket[bucket_of(pair)] >= support}
    found = lw.frequent(baskets, support=support, method="pcy", buckets=buckets, seed=seed)
    first, second = found.report["passes"]
    assert 0 < len(candidates) < len(kept)
    assert first["frequent_buckets"] == sum(count >= support for count in in_bucket.values())
    assert second["candidates"] == len(candidates)
    assert lw.frequent(baskets, support=support).report["passes"][1]["candidates"] == len(kept)
    assert {frozenset(row[:2]): row[2] for row in rows(found)} == brute_force(baskets, support)


ITEMS = st.one_of(st.integers(2, 8), st.sampled_from(["a", "b", "7", "é"]), st.sampled_from([2**64, -(2**70), 2**63]))


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(ITEMS, max_size=7), max_size=12), st.integers(1, 4), st.sampled_from([None, 1, 3, 1000]), st.integers(0, 3))
def test_as_brute_force(baskets, support, buckets, seed):
    choice = {} if buckets is None else {"method": "pcy", "buckets": buckets, "seed": seed}
    found = lw.frequent(baskets, support=support, **choice)
    expected = brute_force(baskets, support)
    kinds = {type(item) for basket in baskets for item in basket}
    if len(kinds) > 1 or any(not -(2**63) <= item < 2**64 for basket in baskets for item in basket if isinstance(item, int)):
        assert sorted(row[2] for row in rows(found)) == sorted(expected.values())  # items are texts then
    else:
        assert {frozenset(row[:2]): row[2] for row in rows(found)} == expected
    assert [row[2] for row in rows(found)] == sorted(expected.values(), reverse=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(-5, -1) | st.integers(2, 6), max_size=6), max_size=10), st.integers(1, 3))
def test_all_forms_of_baskets_are_one(baskets, support):
    flat, ends = np.array([item for basket in baskets for item in basket], np.int64), np.cumsum([0, *map(len, baskets)])
    forms = [
        [set(basket) for basket in baskets],
        [np.array(basket, np.int64) for basket in baskets],
        (flat, ends),
        (np.concatenate([[9, 9], flat, [9]]), ends + 2),  # what lies outside of the offsets is in no basket
        pa.array(baskets, pa.list_(pa.int64())),
        pa.chunked_array([pa.array(baskets, pa.large_list(pa.int8()))]),
    ]
    expected = rows(lw.frequent(baskets, support=support))
    for form in forms:
        for choice in ({}, {"method": "pcy", "buckets": 5}):
            assert rows(lw.frequent(form, support=support, **choice)) == expected
    named = pa.array([[f"{item:+d}" for item in basket] for basket in baskets], pa.list_(pa.string()))
    assert sorted(row[2] for row in rows(lw.frequent(named, support=support))) == sorted(row[2] for row in expected)


def test_the_table_of_candidates_grows():
    """More pairs than the table has room for at first, in one basket and in many."""
    baskets = [list(range(60)), *([i, j] for i in range(60) for j in range(i))]
    found = lw.frequent(baskets, support=2)
    assert len(found) == 60 * 59 // 2 == found.report["passes"][1]["candidates"]
    assert set(found.to_arrow()["count"].to_pylist()) == {2}
    assert rows(found)[:3] == [(0, 1, 2), (0, 2, 2), (0, 3, 2)]  # ties in the order of the items


def test_types_of_items_stay():
    assert rows(lw.frequent([[2**64 - 1, 5]] * 2, support=2)) == [(5, 2**64 - 1, 2)]
    assert rows(lw.frequent([[7, "7"]] * 2, support=2)) == [('"7"', "7", 2)]
    assert rows(lw.frequent([["\ud800", "a"]] * 2, support=2)) == [("\\ud800", "a", 2)]
    assert lw.frequent(np.array([[1, 2], [2, 1]], np.uint16), support=2).to_arrow().schema.types == [pa.uint16(), pa.uint16(), pa.int64()]


@pytest.mark.parametrize("nothing", [[], [[]], [[], []], pa.array([], pa.list_(pa.string())), (np.empty(0, np.int64), np.array([0]))])
@pytest.mark.parametrize("method", ["apriori", "pcy"])
def test_baskets_without_items_have_no_pairs(nothing, method):
    found = lw.frequent(nothing, support=1, method=method)
    assert rows(found) == rows(found.items) == []
    assert found.report["passes"][1]["candidates"] == 0


def test_one_item_and_repeats_make_no_pair():
    found = lw.frequent([["a"], ["a", "a", "a"], ["b", "a", "b"]], support=1)
    assert rows(found) == [("a", "b", 1)]
    assert rows(found.items) == [("a", 3), ("b", 1)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"support": 0}, "support=0: give a whole number of baskets"),
        ({"support": 0.5}, "support=0.5"),
        ({"support": True}, "support=True"),
        ({"support": 1, "method": "fp"}, "choose one of apriori, pcy"),
        ({"support": 1, "buckets": 8}, "buckets= applies only to method='pcy'"),
        ({"support": 1, "method": "pcy", "buckets": 0}, "buckets=0"),
        ({"support": 1, "seed": -1}, "seed=-1"),
    ],
)
def test_refused_choices(arguments, said):
    with pytest.raises(UsageError, match=said):
        lw.frequent(LECTURE, **arguments)


@pytest.mark.parametrize(
    ("baskets", "said"),
    [
        ([["a"], ["b", 1.5]], "row 1 holds lists of strings and floats"),
        ([["a"], "bc"], "row 1 holds strings, such as 'bc'"),
        ([["a"], None], "row 1 is None"),
        ([["a", True]], "row 0 holds lists of strings and booleans"),
        (pa.array([[1], None]), "row 1 is None"),
        (pa.array([[1.0], [1.5]]), "row 1 holds lists of floats"),
        ((np.array([1, 2]), np.array([0, 3])), "offset 1 is 3"),
        ({"a": 1}, "give a list of its values|list of sets"),
    ],
)
def test_refused_baskets(baskets, said):
    with pytest.raises(UsageError, match=said):
        lw.frequent(baskets, support=1)


def test_missing_items_are_left_out_and_one_is_one_however_it_is_written():
    for baskets in (pa.array([[1.0, 2.0, None], [2.0, 1.0]]), [[1, 2, None], [2.0, 1.0]], [{1.0, 2}, {2, 1, math.nan}]):
        assert lw.frequent(baskets, support=2).to_arrow().to_pylist() == [{"item_a": 1, "item_b": 2, "count": 2}]


def test_a_lower_support_needs_a_new_count():
    with pytest.raises(UsageError, match="counted with support 3"):
        lw.frequent(LECTURE, support=3).above(2)
