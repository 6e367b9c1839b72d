"""Every kind of item in an index, beside brute force, `pairs` and `dedup` over the same items with the same bands."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest

import likewise as lw
from bucket_candidates import budget
from indexes import plain_index
from kind_items import MADE, SURE


def texts(n: int, seed: int = 1) -> list[str]:
    """Texts of 30 words, of which each third differs in its last words from an earlier one; one is empty, one a copy."""
    draw = random.Random(seed)
    made: list[list[str]] = []
    for place in range(n):
        if place % 3 == 2:
            cut = draw.randrange(1, 6)
            made.append([*made[draw.randrange(place)][:-cut], *(f"new{place}x{i}" for i in range(cut))])
        else:
            made.append([f"w{draw.randrange(5000)}" for _ in range(30)])
    return [*map(" ".join, made), "", " ".join(made[0]), " ".join(made[1]).upper()]


VECTORS = np.array(MADE["cosine"].values)
SPARSE = [{"indices": np.flatnonzero(row > 0.3).tolist(), "values": row[row > 0.3].tolist()} for row in VECTORS[:-2]]
FEATURES = [np.random.default_rng(place % 40).normal(size=(5, 8)) + 0.02 * (place // 40) for place in range(80)]
#: name: (items, options of pairs, further options of an index)
KINDS: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "texts": (texts(90), {"by": "words:2", "threshold": 0.6, **SURE}, {}),
    "bags": (texts(60), {"by": "chars:4/bag", "threshold": 0.7, **SURE}, {}),
    "compact": (texts(60), {"by": "words:2", "threshold": 0.6, **SURE}, {"sets": "compact"}),
    "tokens": ([[ord(c) for c in text] for text in texts(40)[:40]], {"by": "tokens:3", "threshold": 0.6, **SURE}, {}),
    "sparse": (SPARSE, {"by": "cosine", "threshold": 0.9, **SURE}, {"sparse": True}),
    "features": (FEATURES, {"by": "features", "threshold": 0.6, **SURE}, {"dimension": 8}),
    "features/one-to-many": (FEATURES, {"by": "features/one-to-many", "threshold": 0.6, **SURE}, {"dimension": 8}),
    **{name: (MADE[name].values, MADE[name].choices, {}) for name in ("elements", "weighted")},
    **{name: (MADE[name].values, MADE[name].choices, {"dimension": 24, "wide": True}) for name in ("cosine", "angle", "l1", "l2")},
    "hamming": ([bytes.fromhex(code) for code in MADE["hamming"].values], MADE["hamming"].choices, {"dimension": 96}),
}
FIELDS = {
    "elements": "elements",
    "weighted": "elements",
    "hamming": "code",
    "features": "features",
    "tokens": "text",
    "words": "text",
    "chars": "text",
}


def field_of(choices: dict[str, Any]) -> str:
    return FIELDS.get(choices["by"].partition("/")[0].partition(":")[0], "vector")


def rows(items: Any, choices: dict[str, Any], begin: int = 0) -> list[dict[str, Any]]:
    return [{"id": begin + place, field_of(choices): plain(item)} for place, item in enumerate(items)]


def plain(item: Any) -> Any:
    return item.hex() if isinstance(item, bytes) else item.tolist() if isinstance(item, np.ndarray) else item


def with_bands(name: str) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The items, the options of `pairs` with the bands of the index, and the options of the index."""
    items, choices, more = KINDS[name]
    plan = plain_index(**choices, **more).settings.plan
    layout = {**choices, "bands": plan.bands, "rows": plan.rows}
    return items, layout, {**layout, **more}


def halves(items: Any) -> tuple[list[Any], list[Any]]:
    order = random.Random(1).sample(range(len(items)), len(items))
    return [items[place] for place in order[::2]], [items[place] for place in order[1::2]]


@pytest.mark.parametrize("name", KINDS)
def test_a_query_finds_what_pairs_finds(name):
    items, choices, options = with_bands(name)
    old, new = halves(items)
    ix = plain_index(**options)
    ix.add(old, ids=list(range(len(old))))
    found = {tuple(row.values()) for row in ix.query(new)}
    value = "distance" if "within" in choices else "similarity"
    assert len(found) >= 4
    if not name.startswith("features"):  # which pairs finds without bands
        wanted = lw.pairs(rows(new, choices), against=rows(old, choices), **choices)
        assert found == {(row["id_a"], row["id_b"], row[value]) for row in wanted}
    some = [[place for place, item in enumerate(side) if len(item) and (name not in ("cosine", "angle") or any(item))] for side in (new, old)]
    places = list(itertools.product(*some))
    exact = lw.similarity([new[a] for a, _ in places], [old[b] for _, b in places], by=choices["by"]).tolist()
    limit = choices.get("within", choices.get("threshold"))
    near = {(*pair, one) for pair, one in zip(places, exact, strict=True) if (one <= limit if value == "distance" else one >= limit)}
    near = {row for row in near if name != "weighted" or any(new[row[0]].values())}
    assert found == near or (name == "hamming" and found <= near and len(found) > 0.9 * len(near))


@pytest.mark.parametrize("name", [name for name in KINDS if not name.startswith("features")])
def test_adding_what_is_new_keeps_what_dedup_keeps(name):
    items, choices, options = with_bands(name)
    result = lw.dedup(rows(items, choices), **choices)
    kept, removed = (
        set(result.kept["id"].tolist()),
        {row["id"]: (row["kept_id"], row["similarity" if "threshold" in choices else "distance"]) for row in result.removed},
    )
    one_by_one, at_once = plain_index(**options), plain_index(**options)
    told = [row for place, item in enumerate(items) for row in one_by_one.add_new([item], ids=[place])]
    assert {*one_by_one.ids()} == kept and len(removed) >= 5
    assert at_once.add_new(items, ids=list(range(len(items)))).to_dicts() == [row | {"row": place} for place, row in enumerate(told)]
    mine = {place: tuple(row.values())[2:] for place, row in enumerate(told) if not row["added"]}
    assert {place: value for place, (_, value) in mine.items()} == pytest.approx(
        {place: 1.0 if np.isnan(value or 0) else value for place, (_, value) in removed.items()}
    )
    assert {place: one for place, (one, _) in mine.items()} == {place: one for place, (one, _) in removed.items()}


@pytest.mark.parametrize("most", [2, 3, 8])
@pytest.mark.parametrize("name", ["texts", "elements", "compact"])
def test_queries_meet_crowded_buckets_as_dedup_against_does(name, most):
    """Few rows a band, so that buckets are overfull."""
    items, choices, options = with_bands(name)
    choices, options = ({**given, "bands": 3, "rows": 1} for given in (choices, options))
    old, new = halves(items)
    with budget(most):
        ix = plain_index(**options)
        ix.add(old, ids=list(range(1000, 1000 + len(old))))
        found = {row["query"]: (row["id"], row["similarity"]) for row in ix.query(new, k=1)}
        removed = lw.dedup(rows(new, choices), against=rows(old, choices, 1000), **choices).removed
        assert found == {row["id"]: (row["kept_id"], row["similarity"]) for row in removed} and len(found) >= 5
        sure = ix.query(old, k=1)  # an item is found by its own content, however full its buckets are
        assert sure["query"].tolist() == [place for place, item in enumerate(old) if len(item)] and set(sure["similarity"].tolist()) == {1.0}


@pytest.mark.parametrize("most", [2, 4])
def test_what_is_new_in_a_batch_of_crowded_buckets_is_what_is_new_one_by_one(most):
    items, _, options = with_bands("texts")
    with budget(most):
        one_by_one, at_once = (plain_index(**{**options, "bands": 2, "rows": 1}) for _ in range(2))
        told = [row for place, item in enumerate(items) for row in one_by_one.add_new([item], ids=[place])]
        assert at_once.add_new(items, ids=list(range(len(items)))).to_dicts() == [row | {"row": place} for place, row in enumerate(told)]


def test_zero_vectors_are_found_by_distance_and_by_no_direction():
    by_distance, by_direction = plain_index(by="l2", within=0.5, dimension=3), plain_index(by="cosine", dimension=3)
    for ix in (by_distance, by_direction):
        ix.add([[0, 0, 0], [1, 0, 0]], ids=["zero", "one"])
    assert [row["id"] for row in by_distance.query([[0, 0, 0], [0, 0, 0.25]])] == ["zero", "zero"]
    assert len(by_direction.query([[0, 0, 0]])) == 0 and by_direction.add_new([[0, 0, 0]])["added"].tolist() == [True]
    with pytest.raises(lw.UsageError, match="row 1 is a vector of zeros"):
        plain_index(by="l2", within=0.5, sparse=True).add([{"indices": [1], "values": [1.0]}, {"indices": [], "values": []}])
