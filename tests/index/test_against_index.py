"""Removal of what an index has, and pairs with its items: the same as with files that hold the same items."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from bucket_candidates import budget
from index_stores import STORES
from indexes import index_in, opened, sentences, variants
from likewise.index.opened import shown
from likewise.report.indexed import name_of


def records(texts: list[str]) -> list[dict[str, Any]]:
    """The texts with the ids that `opened` gives them."""
    return [{"id": i, "text": text} for i, text in enumerate(texts)]


def removed(result: lw.Removal) -> list[dict[str, Any]]:
    """The table of what was removed, without the name of the second collection."""
    rows = result.removed.to_arrow().to_pylist()
    names = {"memory.index": "second", "against/memory.arrow": "second"}
    return [{name: names.get(str(value).partition(":")[0], value) for name, value in row.items()} for row in rows]


def facts(report: dict[str, Any]) -> dict[str, Any]:
    """The report without the names of sources, and without how the options were given."""
    beside = {name: value for name, value in report["against"].items() if name != "sources"}
    same = ("counts", "threshold", "value", "curve", "items", "buckets", "matched", "spread", "removals")
    return {"against": beside, "cut": report["budget"]["cut"], **{name: report[name] for name in same}}


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("sets", ["full", "compact"])
def test_texts_are_removed_as_against_files(sets, inside):
    rng = np.random.default_rng(1)
    old = [*sentences(rng, 200), "", "w1 w2", "w1 w2"]
    new = [*variants(rng, old[:200], 150), "", "w1 w2", "w7"]
    choices = {"by": "words:3", "threshold": 0.8, "seed": 5}
    found = lw.dedup(new, against=opened(old, sets=sets, **choices), also_inside=inside)
    wanted = lw.dedup(new, against=records(old), also_inside=inside, **choices)
    assert removed(found) == removed(wanted) and found.counts["removed"] > 90
    assert facts(found.report) == facts(wanted.report)
    assert found.kept.to_arrow() == wanted.kept.to_arrow()
    pairs = [
        lw.pairs(new, against=second, **given).to_arrow() for second, given in ((opened(old, sets=sets, **choices), {}), (records(old), choices))
    ]
    assert pairs[0] == pairs[1] and len(pairs[0]) > 90


def test_overfull_buckets_are_cut_as_against_files():
    """Pages that share a banner and little else."""
    rng, banner = np.random.default_rng(2), " ".join(f"b{i}" for i in range(30))
    old = [f"{banner} {text}" for text in sentences(rng, 60, 12)]
    new = [f"{banner} {text}" for text in variants(rng, sentences(rng, 30, 12), 40)] + [f"{text} more" for text in old[::3]]
    choices = {"by": "words:1", "threshold": 0.8}
    for inside in (False, True):
        with budget(3):
            found = lw.dedup(new, against=opened(old, **choices), also_inside=inside)
            wanted = lw.dedup(new, against=records(old), also_inside=inside, **choices)
        assert found.report["budget"]["cut"] > 0 and found.counts["removed"] > 15
        assert all(bucket["shared"] == [] for bucket in found.report["budget"]["buckets"])  # texts of an index cannot be read
        assert removed(found) == removed(wanted) and facts(found.report) == facts(wanted.report)


def test_removed_items_are_in_no_result():
    rng = np.random.default_rng(3)
    old = sentences(rng, 80)
    index = opened(old, [f"old {i}" for i in range(80)], by="words:3")
    index.remove([f"old {i}" for i in range(0, 80, 2)])
    index.add(["one two three four"], ["last"])
    result = lw.dedup(old, against=index)
    assert result.removed.to_arrow()["position"].to_pylist() == [*range(1, 80, 2)]
    assert result.removed.to_arrow()["kept_id"].to_pylist() == [f"old {i}" for i in range(1, 80, 2)]
    assert (result.report["against"]["read"], result.report["against"]["matched"]) == (41, 40)


def test_ids_keep_their_types():
    index = opened(["a b c", "d e f", "g h i"], [7, "7", "x"], by="words:2")
    rows = lw.pairs(["G h i", "D e f", "a b c"], against=index)
    assert [(row["id_a"], row["id_b"]) for row in rows.to_dicts()] == [(0, "x"), (1, "7"), (2, 7)]


def test_groups_meet_only_themselves():
    old, languages = ["a b c", "a b c", "d e f"], ["en", "de", "en"]
    index = opened(old, [10, 11, 12], languages, by="words:2", per="lang")
    new = pa.table({"text": ["a b c", "A b c", "d e f", "d e f"], "lang": ["de", "fr", "de", "en"]})
    result = lw.dedup(new, against=index)
    assert [(row["position"], row["kept_id"]) for row in result.removed.to_arrow().to_pylist()] == [(0, 11), (3, 12)]
    with pytest.raises(lw.DataError, match="no row has the field 'lang', by which the items of the index are compared; fields seen: text"):
        lw.dedup(pa.table({"text": ["a b c"]}), against=index)


def numbers(length: int, most: int) -> Any:
    return lambda rng, n: [row.tolist() for row in rng.integers(0, most, (n, length))]


def weights(rng: np.random.Generator, n: int) -> list[dict[str, float]]:
    return [{f"e{x}": float(x % 5 + 1) for x in row} for row in rng.integers(0, 30, (n, 8))]


def vectors(dimension: int) -> Any:
    """The last one is zero."""
    return lambda rng, n: [*rng.normal(size=(n - 1, dimension)).astype("f4").tolist(), [0.0] * dimension]


def codes(rng: np.random.Generator, n: int) -> list[int]:
    """One bit of a few numbers is changed in each."""
    return [int(base) ^ (1 << int(bit)) for base, bit in zip(rng.choice([5, 2**60 + 3, 7**20], n), rng.integers(0, 60, n), strict=True)]


def sparse(rng: np.random.Generator, n: int) -> list[dict[str, list[float]]]:
    return [{"indices": np.sort(rng.choice(12, 3, replace=False)).tolist(), "values": rng.normal(size=3).tolist()} for _ in range(n)]


def features(rng: np.random.Generator, n: int) -> list[list[list[float]]]:
    """Sets of four vectors."""
    return rng.normal(size=(n, 4, 6)).astype("f4").tolist()


#: Kind -> options, the field, and the function that draws items.
KINDS: dict[str, tuple[dict[str, Any], str, Any]] = {
    "token ids": ({"by": "tokens:2", "threshold": 0.7}, "tokens", numbers(12, 9)),
    "bags": ({"by": "chars:3/bag", "threshold": 0.7}, "text", lambda rng, n: sentences(rng, n, 6, 20)),
    "sets": ({"by": "elements", "threshold": 0.6}, "elements", numbers(10, 40)),
    "weighted sets": ({"by": "weighted", "threshold": 0.6}, "elements", weights),
    "vectors by cosine": ({"by": "cosine", "threshold": 0.8, "dimension": 4}, "vector", vectors(4)),
    "vectors by distance": ({"by": "l2", "within": 0.5, "dimension": 3}, "vector", vectors(3)),
    "sparse vectors": ({"by": "cosine", "threshold": 0.8, "sparse": True}, "vector", sparse),
    "sets of features": ({"by": "features", "threshold": 0.5, "dimension": 6}, "features", features),
    "codes": ({"by": "hamming", "within": 6, "dimension": 64}, "code", codes),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_with_bands_is_compared_as_with_files(kind):
    """The index has the same layout as the run with files, which makes its bands if the user sets them."""
    choices, field, draw = KINDS[kind]
    rng = np.random.default_rng(4)
    old, new = draw(rng, 60), draw(rng, 60)
    new[::4] = old[::4]
    index = opened(np.array(old, "f4") if kind.startswith("vectors") else old, **choices)
    layout = {"bands": index.settings.plan.bands, "rows": index.settings.plan.rows}
    plain = {name: value for name, value in choices.items() if name not in ("dimension", "sparse")} | layout
    tables = [[{field: value} for value in side] for side in (new, old)]
    named = {"field": field} if field in ("tokens", "code") else {}
    found, wanted = lw.dedup(tables[0], against=index, **named), lw.dedup(tables[0], against=tables[1], **plain, **named)
    assert removed(found) == removed(wanted) and found.counts["removed"] >= 14
    assert found.counts == wanted.counts


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"threshold": 0.9}, r"threshold=0.9: memory.index was made with threshold=0.8; leave this option out"),
        ({"within": 0.3}, r"within=0.3: memory.index was made with threshold=0.8"),
        ({"by": "chars:9"}, r"by='chars:9': memory.index was made with by='words:3'"),
        ({"normalize": "none"}, r"normalize='none': memory.index was made with normalize="),
        ({"seed": 1}, r"seed=1: memory.index was made with seed=0"),
        ({"bands": 3}, r"bands=3: memory.index was made with bands=16"),
        ({"per": "lang"}, r"per='lang': memory.index was made with no per="),
        ({"exact": True}, r"exact=True: an index finds items by its bands"),
        ({"verify": "estimate"}, r"verify='estimate': the index keeps whole sets"),
        ({"ignore": ["a b c"]}, r"ignore=: the sets in the index have all their shingles"),
        ({"level": "line"}, r"level='line': the index has whole documents"),
        ({"groups": {1: 2}}, r"groups=\{1: 2\}: memory.index was made with no groups"),
    ],
)
def test_options_that_contradict_the_index_are_errors(options, said):
    with pytest.raises(lw.UsageError, match=said):
        lw.dedup(["a b c"], against=opened(["a b c"], by="words:3"), **options)


def test_options_that_agree_with_the_index_are_taken():
    index = opened(["a b c d", "x y z"], by="words:3")
    same = {"by": "words:3", "threshold": "0.80", "recall": 0.99, "seed": 0, "bands": 16, "rows": 6, "exact": False, "verify": "exact"}
    assert lw.dedup(["A b c d", "p q r"], against=index, **same).counts["removed"] == 1


def test_an_index_without_sets_cannot_be_compared_with():
    index = opened(["a b c"], by="words:3", sets="none")
    for verb in (lw.dedup, lw.pairs):
        with pytest.raises(lw.DataError, match=r"memory.index.*this index has no sets.*query it for estimates, or build it with sets"):
            verb(["a b c"], against=index)


def test_items_of_another_dimension_are_refused():
    index = opened(np.eye(4, dtype="f4"), by="cosine", dimension=4)
    with pytest.raises(lw.DataError, match="the inputs hold vectors of 3 numbers, and the index vectors of 4 numbers; they cannot be compared"):
        lw.dedup(np.eye(3, dtype="f4"), against=index)


def test_content_of_the_index_is_said_to_be_missing():
    result = lw.dedup(["a b c d", "A b c d"], against=opened(["a b c d"], ["one"], by="words:3"))
    assert result.removed.with_text().to_arrow()["kept_text"].to_pylist() == ["(not kept in the index)"] * 2
    assert result.removed.with_text().to_arrow()["text"].to_pylist() == ["a b c d", "A b c d"]


def test_an_empty_index_removes_nothing():
    for verb in (lw.dedup, lw.pairs):
        assert verb(["a b c d"], against=opened([], by="words:3")).report["warnings"] == []
    assert lw.dedup(["a b c d"], against=opened([], by="words:3")).counts["kept"] == 1


def test_queries_find_what_the_pairs_with_the_index_are():
    """No bucket is overfull: a query of an item finds its pairs."""
    rng = np.random.default_rng(6)
    old = [*sentences(rng, 120), "w1 w2", ""]
    new = [*variants(rng, old[:120], 90), "", "w1 w2"]
    index = opened(old, [f"old {i}" for i in range(122)], by="words:3")
    pairs = [(row["id_a"], row["id_b"], row["similarity"]) for row in lw.pairs(new, against=index).to_dicts()]
    found = [(row["query"], row["id"], row["similarity"]) for row in index.query(new).to_dicts()]
    assert sorted(found) == sorted(pairs) and len(pairs) > 55
    removed = {row["id"]: (row["kept_id"], row["similarity"]) for row in lw.dedup(new, against=index).removed.to_dicts()}
    assert {row["query"]: (row["id"], row["similarity"]) for row in index.query(new, k=1).to_dicts()} == removed


def test_a_crowded_bucket_is_queried_as_it_is_removed_against():
    """Each text alone, taken as the last member, meets what the removal of it meets."""
    rng, banner = np.random.default_rng(7), " ".join(f"b{i}" for i in range(30))
    old = [f"{banner} {text}" for text in sentences(rng, 60, 8)]
    new = [f"{banner} {text}" for text in sentences(rng, 20, 8)] + [f"{text} more" for text in old[::3]]
    index = opened(old, by="words:1", threshold=0.7)
    with budget(4):
        found = {row["query"]: (row["id"], row["similarity"]) for row in index.query(new, k=1).to_dicts()}
        alone = [lw.dedup([text], against=index).removed.to_dicts() for text in new]
    assert {place: (row["kept_id"], row["similarity"]) for place, rows in enumerate(alone) for row in rows} == found and len(found) >= 20


def test_short_texts_are_those_of_the_first_collection():
    """An index does not keep how many tokens its items have."""
    result = lw.dedup(["a b c", "a b"], against=opened(["a b", "a b c"], by="words:2"), min_tokens=3)
    assert result.removed.to_arrow()["position"].to_pylist() == [0]
    assert (result.counts["too_short_to_judge"], result.report["against"]["too_short_to_judge"]) == (1, 0)


def test_addresses_are_shown_without_logins():
    """The name of an index in a database is that of its source."""
    address = "postgresql://user:secret@host:5432/base?sslmode=require&index=seen"
    assert shown(address) == "postgresql://host:5432/base?index=seen" and name_of(shown(address)) == "seen"
    assert name_of("/somewhere/seen.lw") == "seen.lw" and name_of("") == "memory.index"


@pytest.mark.parametrize("store", STORES)
def test_an_index_in_every_store_is_compared_with(store, tmp_path):
    """Items were written at several times, some were removed, and some lie in a segment. The open index stays open."""
    rng = np.random.default_rng(8)
    old = sentences(rng, 60)
    with index_in(store, tmp_path, by="words:3", sets="compact") as index:
        index.add(old[:40], range(40))
        index.flush()
        index.add(old[40:], range(40, 60))
        index.remove([3, 44])
        new = [*variants(rng, old, 45), old[3], old[44]]
        rows = [row for row in records(old) if row["id"] not in (3, 44)]
        found, wanted = lw.dedup(new, against=index), lw.dedup(new, against=rows, by="words:3")
        same = [[(row["id"], row["kept_id"], row["similarity"], row["reason"]) for row in result.removed.to_dicts()] for result in (found, wanted)]
        assert same[0] == same[1] and len(same[0]) > 25
        assert found.report["against"]["read"] == 58 and len(index) == 58
