"""The class `Index`, over the store by definition: what calls return, and what they refuse."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import likewise as lw
from indexes import plain_index
from likewise.errors import IdError, UsageError


@pytest.fixture
def ix() -> lw.Index:
    found = plain_index(by="words:2")
    assert found.add(["a b c d e", "p q r", ""], ids=["x", "y", 3]) == (3, 0, ["x", "y", 3], [True] * 3)
    return found


def test_a_query_lists_similar_items_with_exact_similarities(ix):
    """Four of the shingles ab bc cd de ef are in x: 4/5."""
    found = ix.query(["a b c d e f", "p q r", "", "a b c d e", "k l"])
    assert found.to_dicts() == [
        {"query": 0, "id": "x", "similarity": 0.8},
        {"query": 1, "id": "y", "similarity": 1.0},
        {"query": 3, "id": "x", "similarity": 1.0},
    ]
    assert found.report == {"threshold": 0.8, "value": "similarity", "recall": pytest.approx(0.9923, abs=1e-4), "warnings": []}
    assert ix.query("a b c d e f").to_dicts() == found.to_dicts()[:1]  # one text alone
    assert ix.query(pa.array(["a b c d e f"])).to_dicts() == found.to_dicts()[:1]
    assert ix.query(["a b c d e f", "p q r"], ids=[7, "seven"]).to_dicts() == [
        {"query": 7, "id": "x", "similarity": 0.8},
        {"query": "seven", "id": "y", "similarity": 1.0},
    ]


def test_the_most_similar_come_first_and_then_those_that_came_first(ix):
    ix.add(["a b c d e f", "A b c d e", "a b c d e f g"], ids=["z", "copy", "far"])
    everything = [(row["id"], row["similarity"]) for row in ix.query("a b c d e")]
    assert everything == [("x", 1.0), ("copy", 1.0), ("z", 0.8)]  # far has 4 of 6
    assert [row["id"] for row in ix.query("a b c d e", k=2)] == ["x", "copy"]
    assert [row["id"] for row in ix.query(["a b c d e", "a b c d e f"], k=1)] == ["x", "z"]
    assert [row["id"] for row in ix.query("a b c d e", threshold=0.9)] == ["x", "copy"]
    assert [row["id"] for row in ix.query("a b c d e f g", threshold="4/6")][:2] == ["far", "z"]


def test_a_looser_limit_states_its_recall_and_is_refused_where_most_pairs_would_be_missed(ix):
    found = ix.query("a b c d e f", threshold=0.7)
    assert found.report["recall"] == pytest.approx(1 - (1 - 0.7**6) ** 16) and "probability of only 86.5%" in found.report["warnings"][0]
    assert "86.5%" in repr(found)
    with pytest.raises(UsageError, match=r"only 22.3%.*force=True"):
        ix.query("a b c d e f", threshold=0.5)
    assert ix.query("a b c d e f", threshold=0.5, force=True).report["recall"] == pytest.approx(1 - (1 - 0.5**6) ** 16)
    assert ix.query("a b c d e f", threshold=0.9).report["warnings"] == []


def test_ids_that_are_there_are_refused_skipped_or_replaced(ix):
    with pytest.raises(IdError, match=r"'x' .row 1. is already in the index, and so is 1 more.*nothing was written") as error:
        ix.add(["new", "k l m", "n o"], ids=["w", "x", 3])
    assert (error.value.ids, error.value.rows) == (["x", 3], [1, 2])
    with pytest.raises(IdError, match="'w' is given twice, in the rows 0 and 1"):
        ix.add(["k l m", "n o"], ids=["w", "w"])
    assert len(ix) == 3 and "w" not in ix and 3 in ix and "3" not in ix
    assert ix.add(["k l m", "n o p"], ids=["x", "w"], existing="skip") == (1, 1, ["x", "w"], [False, True])
    assert [row["id"] for row in ix.query(["a b c d e", "k l m"])] == ["x"]
    assert repr(ix.add(["k l m"], ids=["x"], existing="skip")) == "<Added: 0 added, 1 skipped>"
    assert ix.add(["k l m"], ids=["x"], existing="replace") == (1, 0, ["x"], [True])
    assert [(row["query"], row["id"]) for row in ix.query(["a b c d e", "k l m"])] == [(1, "x")] and len(ix) == 4


def test_update_needs_ids_that_are_there_and_remove_may(ix):
    assert ix.update(["k l m"], ["x"]).added == 1 and list(ix.ids()) == ["y", 3, "x"]
    with pytest.raises(IdError, match=r"'w' .row 1. is not in the index; add it"):
        ix.update(["a b", "c d"], ["y", "w"])
    assert [row["id"] for row in ix.query("p q r")] == ["y"]
    assert ix.remove(["x", "w"]) == 1 and list(ix.ids()) == ["y", 3] and len(ix.query("k l m")) == 0
    with pytest.raises(IdError, match=r"'w' .row 1. is not in the index; nothing was removed"):
        ix.remove(["y", "w"], missing="refuse")
    assert ix.remove([3], missing="refuse") == 1 and len(ix) == 1


def test_items_without_ids_get_numbers_that_no_item_has(ix):
    assert len({*ix.add(["k l m", "n o p"]).ids} - {3}) == 2
    assert ix.add(["k l m"]).ids[0] not in [3, 4, 5] and len({*ix.ids()}) == len(ix) == 6


def test_add_new_adds_what_is_new_and_names_what_is_similar(ix):
    found = ix.add_new(["a b c d e f", "k l m", "K L M", "", "k l m n o p q"], ids=["a", "b", "c", "d", "e"])
    assert found.columns == ["row", "added", "id", "similarity"]
    assert [tuple(row.values()) for row in found] == [
        (0, False, "x", 0.8),
        (1, True, "b", None),
        (2, False, "b", 1.0),
        (3, True, "d", None),
        (4, True, "e", None),
    ]
    assert list(ix.ids()) == ["x", "y", 3, "b", "d", "e"]
    again = ix.add_new(["k l m", "a b c d e"], ids=["b", "y"])  # sent again: nothing new, so ids do not matter
    assert [tuple(row.values()) for row in again] == [(0, False, "b", 1.0), (1, False, "x", 1.0)]
    with pytest.raises(IdError, match=r"'x' .row 1. is already in the index; give such items other ids.*nothing was written"):
        ix.add_new(["t u v", "w x y z"], ids=["t", "x"])
    with pytest.raises(IdError, match="twice"):
        ix.add_new(["t u v", "w x y z"], ids=["t", "t"])
    assert "t" not in ix
    made = ix.add_new(["t u v", "a b c d e f", "t u v"]).to_dicts()
    assert [row["added"] for row in made] == [True, False, False] and made[0]["id"] in ix and made[2]["id"] == made[0]["id"]


def test_a_layout_that_misses_most_pairs_is_told_with_each_answer():
    """Two bands of 30 rows find a pair at 0.8 with a probability of 1 - (1 - .8^30)^2 = 0.25%."""
    ix = plain_index(bands=2, rows=30)
    assert any("found with a probability of only 0.25%" in said for said in ix.query("a b c").report["warnings"])
    assert [value in ix for value in ([1], None, 1.5, float("nan"), b"a")] == [False] * 5


def test_facts_are_those_that_apply():
    shown = {"bits", "dimension", "wide", "sparse"}
    for choices, facts in (
        ({}, {}),
        ({"sets": "compact"}, {"bits": 48}),
        ({"by": "cosine", "threshold": 0.9, "dimension": 3}, {"dimension": 3, "wide": False, "sparse": False}),
        ({"by": "cosine", "threshold": 0.9, "sparse": True}, {"wide": False, "sparse": True}),
        ({"by": "hamming", "within": 2, "dimension": 64}, {"dimension": 64}),
    ):
        info = lw.Index.create(**choices).info()
        assert {name: value for name, value in info.items() if name in shown} == facts


def test_facts_say_how_far_estimates_spread():
    """Slots agree with p = s + (1 - s)/256: sqrt(p (1 - p) / slots) / (255/256)."""
    facts = lw.Index.create(by="words:2", sets="none").info()
    slots, agree = facts["bands"] * facts["rows"], 0.8 + 0.2 / 256
    assert facts["standard_error"] == pytest.approx((agree * (1 - agree) / slots) ** 0.5 * 256 / 255)
    assert facts["standard_error"] == pytest.approx(0.0409, abs=1e-4)
    assert "standard_error" not in lw.Index.create(by="words:2", sets="compact").info()


def test_a_measure_without_bands_is_refused_whatever_else_is_given():
    for make in (lambda **more: lw.Index.create(**more), lambda **more: lw.Index.build(None, ["a", "b"], **more)):
        for more in ({}, {"within": 2}, {"threshold": 0.9}):
            with pytest.raises(UsageError, match=r"'edit'.*found by their bands.*has no hash family; compare the strings as sets of characters"):
                make(by="edit", **more)


def test_add_new_leaves_out_items_whose_ids_are_there(ix):
    texts = ["t u v", "w x y z", "T U V", "a b c d e f", "g h i", "g h i j k l m", "p q", "a b c d e"]
    ids = ["t", "x", "u", "x", "g", "g", "n", "m"]
    found = ix.add_new(texts, ids=ids, existing="skip")
    assert [tuple(row.values()) for row in found] == [
        (0, True, "t", None),
        (1, False, "x", None),  # another text than that of x
        (2, False, "t", 1.0),
        (3, False, "x", None),
        (4, True, "g", None),
        (5, False, "g", None),  # it is there since the row before
        (6, True, "n", None),
        (7, False, "x", 1.0),
    ]
    assert list(ix.ids()) == ["x", "y", 3, "t", "g", "n"]
    assert len(ix.query(["w x y z", "g h i j k l m"])) == 0
    assert ix.add_new(texts, ids=ids, existing="skip")["added"].tolist() == [False] * 8
    assert [row["added"] for row in ix.add_new(["o p q r", "o p q r"], existing="skip")] == [True, False]  # without ids
    with pytest.raises(UsageError, match="'replace': choose refuse or skip; update replaces items"):
        ix.add_new(["a b"], ids=["x"], existing="replace")


def test_add_new_lists_up_to_k_similar_items(ix):
    ix.add(["a b c d e", "a b c d e f"], ids=["x2", "z"])
    found = ix.add_new(["a b c d e", "k l"], ids=[1, 2], k=2).to_dicts()
    assert [(row["row"], row["id"]) for row in found] == [(0, "x"), (0, "x2"), (1, 2)]
    assert [row["id"] for row in ix.add_new(["a b c d e"], k=5)] == ["x", "x2", "z"]


def test_an_index_without_sets_estimates_and_says_how_well():
    """10 of 11 shingles: an estimate of 96 slots of 8 bits is within four standard errors of it."""
    ix = plain_index(by="words:1", sets="none")
    ix.add(["a b c d e f g h i j k", "a b c"], ids=[1, 2])
    row = ix.query("a b c d e f g h i j").to_dicts()[0]
    assert list(row) == ["query", "id", "estimate", "standard_error"]
    assert abs(row["estimate"] - 10 / 11) < 4 * row["standard_error"] and 0.02 < row["standard_error"] < 0.05
    assert ix.query("a b c").to_dicts() == [{"query": 0, "id": 2, "estimate": 1.0, "standard_error": 0.0}]
    with pytest.raises(UsageError, match="keeps no sets"):
        ix.add_new(["a b"])


def test_groups_are_apart():
    ix = plain_index(by="words:2", per="site")
    ix.add(["a b c"] * 3, ids=[1, 2, 3], per=["x", "y", "x"])
    assert [row["id"] for row in ix.query("a b c", per="x")] == [1, 3] and [row["id"] for row in ix.query(["a b c"], per=["y"])] == [2]
    assert [row["added"] for row in ix.add_new(["a b c"] * 3, per=["z", "y", "z"])] == [True, False, False]
    for call in (lambda: ix.query("a b c"), lambda: ix.add(["a"])):
        with pytest.raises(UsageError, match="one 'site' only; give that of each item with per="):
            call()
    with pytest.raises(UsageError, match="2 values for 1 items"):
        ix.query("a b c", per=["x", "y"])
    with pytest.raises(UsageError, match="has no groups"):
        plain_index().query("a b c", per="x")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda ix: ix.query([1, 2]), "row 0 holds whole numbers"),
        (lambda ix: ix.add([{"id": 1, "text": "a b"}]), "row 0 holds records.*give the values of one field"),
        (lambda ix: ix.add(pa.table({"text": ["a b"]})), "one column; got Table"),
        (lambda ix: ix.add(one for one in ["a b"]), "read only once"),
        (lambda ix: ix.query(["a b", None]), "row 1 is None; expected a text"),
        (lambda ix: ix.query(["a b"], k=0), "k=0"),
        (lambda ix: ix.query(["a b"], threshold=2), "threshold=2"),
        (lambda ix: ix.query(["a b"], within=2), "within=2"),
        (lambda ix: ix.query(["a b"], ids=[1, 2]), "2 ids for 1 items"),
        (lambda ix: ix.add(["a b"], ids=[None]), "row 0 has none"),
        (lambda ix: ix.add(["a b"], ids=["a", 2]), "2 ids for 1 items"),
        (lambda ix: ix.add(["a b"], existing="keep"), "refuse, skip, replace"),
        (lambda ix: ix.update(["a b"], None), "0 ids for 1 items"),
        (lambda ix: ix.remove("x"), "give a list"),
        (lambda ix: ix.remove(["x"], missing="no"), "ignore or refuse"),
    ],
)
def test_a_call_says_what_is_wrong_and_changes_nothing(ix, call, said):
    with pytest.raises(UsageError, match=said):
        call(ix)
    assert list(ix.ids()) == ["x", "y", 3]


def test_an_item_of_another_length_is_refused_by_both_lengths_and_nothing_is_half_done():
    """A sketch of 64 numbers beside 128 (h20): neither is cut or padded, and one odd item refuses its batch."""
    rows = np.random.default_rng(2).normal(size=(4, 128))
    ix = plain_index(by="cosine", dimension=128, bands=16, rows=4)
    ix.add(rows[:2], ids=["a", "b"])
    for call in (
        lambda: ix.query(rows[:1, :64]),
        lambda: ix.add([rows[2].tolist(), rows[3, :64].tolist()], ids=["c", "d"]),
        lambda: ix.add_new(rows[2:, :64]),
        lambda: ix.update(rows[:1, :64], ["a"]),
    ):
        with pytest.raises(UsageError, match=r"64 numbers.*128 numbers"):
            call()
    assert list(ix.ids()) == ["a", "b"] and [row["id"] for row in ix.query(rows[:1])] == ["a"]


def test_info_about_an_index_in_memory_counts_items_that_are_no_segment_yet():
    """Each item takes at least 8 bytes for each of its 16 keys and 4 shingles."""
    memory = lw.Index.create(by="words:2", bands=16, rows=6)
    memory.add(["a b c d e", "p q r s t"])
    facts = memory.info()
    assert (facts["items"], facts["segments"]) == (2, 0) and 2 * 8 * (16 + 4) <= facts["bytes"] < 1000
    assert facts["durability"] == "none: the index ends with its process"
    memory.flush()
    assert memory.info()["segments"] == 1


def test_the_class_takes_no_path():
    with pytest.raises(UsageError, match=r"lw.Index\('seen.lw'\): lw.Index.open opens an index, lw.Index.create makes one"):
        lw.Index("seen.lw")  # type: ignore[arg-type]
