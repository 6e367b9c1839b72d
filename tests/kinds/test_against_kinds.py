"""Removal of what a second collection has, for every kind of items, compared with brute force."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import likewise as lw
from kind_items import EACH, MADE, SURE, Items, number, same, write
from pictures_made import scene

Removed = dict[int, tuple[int, float]]


def by_definition(items: Items, first: list[int], second: list[int], *, inside: bool) -> Removed:
    """Item of the first collection -> the most similar item that stays, the earliest of several, for which it is removed; and their value."""
    near = items.similar()
    pairs = {**near, **{(b, a): value for (a, b), value in near.items()}}
    stay, removed = list(second), {}
    for item in first:
        met = [(pairs[item, other] * (1 if items.distance else -1), place, other) for place, other in enumerate(stay) if (item, other) in pairs]
        if met:
            value, _, other = min(met)
            removed[item] = other, abs(value)
        elif inside:
            stay.append(item)
    return removed


def removed_of(table: Any) -> Removed:
    return {number(row["id"]): (number(row["kept_id"]), row.get("similarity", row.get("distance"))) for row in table.to_pylist()}


def halves(items: Items) -> tuple[list[int], list[int]]:
    """Places of the first and of the second collection, which has a third of the items. Item 60 + i is a variant of item i in most of them."""
    second = [place for place in range(len(items.values)) if (place + place // 60) % 3 == 1]
    return sorted({*range(len(items.values))} - {*second}), second


def some(items: Items, places: list[int], path: Path) -> Path:
    rows = items.rows()
    path.write_text("".join(json.dumps(rows[place], ensure_ascii=False) + "\n" for place in places))
    return path


def check(removed: Removed, want: Removed) -> None:
    assert {item: other for item, (other, _) in removed.items()} == {item: other for item, (other, _) in want.items()}
    same({item: value for item, (_, value) in removed.items()}, {item: value for item, (_, value) in want.items()})


@pytest.mark.parametrize("inside", [False, True])
@EACH
def test_what_a_second_collection_has_is_removed(items, inside, tmp_path):
    first, second = halves(items)
    a, b = some(items, first, tmp_path / "a.jsonl"), some(items, second, tmp_path / "b.jsonl")
    before = b.read_bytes()
    result = lw.dedup(a, against=b, also_inside=inside, out=tmp_path / "out", removed_records=True, **items.choices)
    want = by_definition(items, first, second, inside=inside)
    assert len(want) > 5
    check(removed_of(result.removed.to_arrow()), want)
    lines = dict(zip(first, a.read_bytes().splitlines(), strict=True))
    assert (tmp_path / "out/kept/a.jsonl").read_bytes().splitlines() == [lines[place] for place in first if place not in want]
    assert (tmp_path / "out/removed/a.jsonl").read_bytes().splitlines() == [lines[place] for place in first if place in want]
    assert b.read_bytes() == before and not list((tmp_path / "out").rglob("b.jsonl"))
    counts, beside = result.report["counts"], result.report["against"]
    assert (counts["read"], counts["kept"], counts["removed"]) == (len(first), len(first) - len(want), len(want))
    for_it = [other for other, _ in want.values() if other in second]
    assert (beside["read"], beside["removed"], beside["matched"]) == (len(second), len(for_it), len(set(for_it)))
    assert beside["share"] == len(for_it) / len(first) and (len(for_it) < len(want)) <= inside


@EACH
def test_pairs_across_are_those_of_the_removal(items, tmp_path):
    """`pairs` lists each pair of the two collections. An item is removed if it is in one, and for the most similar of its partners."""
    first, second = halves(items)
    a, b = some(items, first, tmp_path / "a.jsonl"), some(items, second, tmp_path / "b.jsonl")
    listed = lw.pairs(a, against=b, **items.choices).to_arrow().to_pylist()
    partners: dict[int, dict[int, float]] = {}
    for row in listed:
        partners.setdefault(number(row["id_a"]), {})[number(row["id_b"])] = row.get("similarity", row.get("distance"))
    best = min if items.distance else max
    removed = removed_of(lw.dedup(a, against=b, **items.choices).removed.to_arrow())
    assert removed.keys() == partners.keys()
    assert all(value == partners[item][other] == best(partners[item].values()) for item, (other, value) in removed.items())


@pytest.mark.parametrize("form", ["parquet", "memory"])
@pytest.mark.parametrize("name", ["elements", "cosine", "hamming", "levenshtein"])
def test_forms_of_the_two_collections_may_differ(name, form, tmp_path):
    """A file of JSON lines against Parquet, or against data in memory: the whole collection against itself, so only empty items stay."""
    items = MADE[name]
    a = write(items, tmp_path / "a.jsonl")
    b = write(items, tmp_path / "b.parquet") if form == "parquet" and name != "elements" else items.rows()
    result = lw.dedup(a, against=b, **items.choices)
    empty = [place for place, value in enumerate(items.values) if not value or (name == "cosine" and not any(value))]
    assert [number(row["id"]) for row in result.kept.to_arrow().to_pylist()] == empty
    assert {row["reason"] for row in result.removed.to_arrow().to_pylist()} == {"exact"}


def test_sparse_vectors(tmp_path):
    """Vectors as indices and values against dense ones: by hand, (3, 4, 0) and (6, 8, 0) have one direction."""
    sparse = [
        {"id": "a", "vector": {"indices": [0, 1], "values": [3.0, 4.0], "dim": 3}},
        {"id": "b", "vector": {"indices": [2], "values": [1.0], "dim": 3}},
    ]
    other = [{"id": "c", "vector": {"indices": [0, 1], "values": [6.0, 8.0], "dim": 3}}]
    for more in ({}, {"exact": True}, {"bands": 20, "rows": 2}):
        result = lw.dedup(sparse, against=other, by="cosine", threshold=0.99, **more)
        assert [(row["id"], row["kept_id"]) for row in result.removed.to_arrow().to_pylist()] == [("a", "c")]


@pytest.mark.parametrize("by", ["features", "features/one-to-many", "features/chamfer", "features/assignment"])
def test_sets_of_features(by):
    """A set of features against one that is nearly equal, and one that is far from it."""
    draw = np.random.default_rng(0)
    one, other = draw.normal(size=(2, 12, 8))
    near = one + draw.normal(0, 1e-3, one.shape)
    facts = lw.similarity([one.tolist()], [near.tolist()], by=by)[0], lw.similarity([one.tolist()], [other.tolist()], by=by)[0]
    limit = {"within": float(np.mean(facts))} if facts[0] < facts[1] else {"threshold": float(np.mean(facts))}
    rows = [{"id": name, "features": value.tolist()} for name, value in (("one", one), ("other", other))]
    result = lw.dedup(rows, against=[{"id": "near", "features": near.tolist()}], by=by, **limit)
    assert [(row["id"], row["kept_id"]) for row in result.removed.to_arrow().to_pylist()] == [("one", "near")]


@pytest.mark.parametrize("name", ["elements", "l2", "hamming", "levenshtein"])
def test_also_inside_is_removal_from_both_if_the_second_has_no_duplicates(name, tmp_path):
    items = MADE[name]
    first, second = halves(items)
    b = tmp_path / "clean"
    lw.dedup(some(items, second, tmp_path / "b.jsonl"), out=b, **items.choices)
    a = some(items, first, tmp_path / "a.jsonl")
    both = lw.dedup([b / "kept/b.jsonl", a], out=tmp_path / "both", **items.choices)
    beside = lw.dedup(a, against=b / "kept/b.jsonl", also_inside=True, out=tmp_path / "beside", **items.choices)
    assert removed_of(beside.removed.to_arrow()) == removed_of(both.removed.to_arrow()) and len(beside.removed) > 5
    assert (tmp_path / "beside/kept/a.jsonl").read_bytes() == next((tmp_path / "both").rglob("a.jsonl")).read_bytes()
    assert SURE and pq.read_table(tmp_path / "beside/removed.parquet").num_rows == len(beside.removed)


@pytest.mark.parametrize("by", ["image", "image/region"])
def test_images(by, tmp_path):
    """A smaller copy of an image of the second folder goes; two equal images that it does not have stay."""
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    scene(1).save(second / "one.png")
    scene(2).save(second / "two.png")
    scene(1).resize((240, 180)).save(first / "small.png")
    for name in ("x.png", "y.png"):
        scene(3).save(first / name)
    alone = lw.dedup(first, against=second, by=by, out=tmp_path / "out")
    assert [(row["id"], row["kept_id"]) for row in alone.removed.to_arrow().to_pylist()] == [("small.png", "one.png")]
    assert sorted(path.name for path in (tmp_path / "out/kept").iterdir()) == ["x.png", "y.png"]
    inside = lw.dedup(first, against=second, by=by, also_inside=True)
    assert [(row["id"], row["kept_id"]) for row in inside.removed.to_arrow().to_pylist()] == [("small.png", "one.png"), ("y.png", "x.png")]
