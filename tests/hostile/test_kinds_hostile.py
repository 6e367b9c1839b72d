"""Unintended items: the messages, and results that are right nevertheless."""

from __future__ import annotations

import array
import collections
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import likewise as lw

HALF: dict[str, Any] = {"by": "elements", "threshold": 0.5}


def found(given: Any, **choices: Any) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in lw.pairs(given, **choices).to_arrow().to_pylist()]


@pytest.mark.parametrize(
    "rows",
    [np.ma.array([[1, 2.0], [3, 4]], mask=[[0, 1], [0, 0]]), [np.ma.array([1.0, 2], mask=[0, 1]), [1, 2]]],
    ids=["array", "row"],
)
def test_what_is_masked_is_not_compared_as_if_it_were_there(rows: Any) -> None:
    with pytest.raises(lw.UsageError, match="masked array, whose mask would be ignored"):
        lw.pairs(rows, by="l2", within=3)


def test_lone_surrogates_are_elements_like_any_other() -> None:
    assert found([{"\ud800", "a"}, {"\ud800", "b"}], by="elements", threshold=0.3) == [(0, 1, 1 / 3)]
    assert found([{"\ud800": 2}, {"\ud800": 1}], by="weighted", threshold=0.5) == [(0, 1, 0.5)]


@pytest.mark.parametrize(
    "rows",
    [
        [np.array([True, False, True]), [0, 2]],
        np.array([["a", "b"], ["b", "a"]]),
        [collections.deque([1, 2]), array.array("i", [2, 1])],
        [range(3), frozenset({0, 1, 2})],
    ],
    ids=["places", "array of strings", "sequences", "range"],
)
def test_sets_are_given_as_similarity_takes_them(rows: Any) -> None:
    assert found(rows, **HALF) == [(0, 1, 1.0)]


def test_what_is_no_element_is_named_by_its_type() -> None:
    with pytest.raises(lw.UsageError, match="row 0 holds a value of type bytes; give sets"):
        lw.pairs([[b"a"], [b"a"]], **HALF)


def test_a_dict_is_read_as_columns_and_says_so() -> None:
    assert found({"id": ["p", "q"], "elements": [{1}, [1]]}, **HALF) == [("p", "q", 1.0)]
    named = r"none of 'a', 'b' is 'elements'; name one with field=F. "
    with pytest.raises(lw.UsageError, match=named + r'.*\{"id": key, "elements": value\} for key, value in given.items'):
        lw.pairs({"a": {1, 2}, "b": {1, 2}}, **HALF)
    with pytest.raises(lw.UsageError, match=r"columns of 2 lengths: 'id' has 1, 'elements' has 2"):
        lw.pairs({"id": ["p"], "elements": [[1], [1]]}, **HALF)


@pytest.mark.parametrize(("weights", "total"), [([1e308, 1e308], "inf"), ([1e31], r"1e\+31"), ([5e-324], "4.94e-324")])
def test_weights_that_cannot_be_signed_are_reported_with_their_place(tmp_path: Path, weights: list[float], total: str) -> None:
    path = tmp_path / "a.jsonl"
    good = {"elements": {"a": 1.0}}
    path.write_text("".join(json.dumps(row) + "\n" for row in [good, good, {"elements": {f"e{n}": each for n, each in enumerate(weights)}}]))
    with pytest.raises(lw.DataError, match=rf"a\.jsonl.*3.*its weights add up to {total}; signatures need.*, or use exact=True;"):
        lw.pairs(path, by="weighted", threshold=0.5)
    assert found(path, by="weighted", threshold=0.5, on_error="skip") == [(0, 1, 1.0)]
    assert found([{"a": 0.0}, {"b": 1}, {"b": 1}], by="weighted", threshold=0.5) == [(1, 2, 1.0)]


#: Similarities: 0 and 1 have 1/2, as do 2 and 3, and 4 shares b with 0. Totals are infinite, or a few of the smallest float64.
EXTREME = [{"a": 1.7e308, "b": 1.7e308}, {"a": 1.7e308}, {"c": 5e-324}, {"c": 1e-323}, {"b": 1.7e308}]


def test_exact_comparisons_need_no_signatures_and_take_any_finite_weights() -> None:
    exactly: Any = {"by": "weighted", "threshold": "1/2", "exact": True}
    assert found(EXTREME, **exactly) == [(0, 1, 0.5), (0, 4, 0.5), (2, 3, 0.5)]
    assert lw.pairs(EXTREME[1:2], against=EXTREME, **exactly)["similarity"].tolist() == [0.5, 1.0]
    assert lw.dedup(EXTREME, **exactly).removed["id"].tolist() == [1, 3, 4]
    audit = lw.audit(EXTREME, **exactly)
    assert (audit.pairs, audit.found) == (3, 3)
    nearest = lw.neighbors(EXTREME, by="weighted", k=1)
    assert nearest.to_pandas()[["id_a", "id_b"]].values.tolist() == [[0, 1], [1, 0], [2, 3], [3, 2], [4, 0]]
    assert nearest["similarity"].tolist() == [0.5] * 5


def test_an_id_need_tell_apart_the_items_of_its_own_side_only() -> None:
    points = np.eye(3)
    assert lw.pairs(points, against=points, by="l2", within=0).to_arrow().column_names == ["id_a", "id_b", "distance"]
    one = [{"id": "a", "vector": [1, 2]}]
    near = lw.neighbors(one, query=one, by="l2", k=1)
    assert near.to_arrow().to_pylist() == [{"id_a": "a", "id_b": "a", "distance": 0.0}]
    assert not near.report["warnings"]
    assert "position_a" in lw.neighbors(one, query=one * 2, by="l2", k=1).to_arrow().column_names


@pytest.mark.parametrize("by", ["l1", "l2"])
def test_the_greatest_numbers_there_are_lie_where_they_lie(by: str) -> None:
    draw = np.random.default_rng(3)
    points = draw.choice([-1.7e308, 1e308, 1.7e308], size=(60, 3))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pairs = {(a, b) for a, b, _ in found(points, by=by, within=1)}
    assert pairs == {(a, b) for b in range(60) for a in range(b) if (points[a] == points[b]).all()}


def test_an_audit_goes_by_the_groups_that_a_folder_was_made_by(tmp_path: Path) -> None:
    rows = [{"elements": [2 * n, 100 + n]} for n in range(20)] + [{"elements": [2 * n + 1, 100 + n]} for n in range(20)]
    path, groups = tmp_path / "a.jsonl", tmp_path / "groups.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    groups.write_text(json.dumps({str(n): f"g{n // 2}" for n in range(40)}))
    lw.dedup(path, **HALF | {"threshold": 0.9}, groups=groups, out=tmp_path / "clean")
    assert lw.audit(tmp_path / "clean").items == 20  # each is a copy of another by its groups
