"""All pairs, inside one collection and across two."""

from __future__ import annotations

import itertools
import json
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import likewise as lw
from likewise import options
from likewise.lecture import jaccard

BY = "whitespace:2"
texts_of_few_words = st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=6).map(" ".join), max_size=20)


def value(a: str, b: str) -> Fraction:
    left, right = ({tuple(t.split()[i : i + 2]) for i in range(max(1, len(t.split()) - 1))} for t in (a, b))
    return jaccard(left, right)


def listed(found: lw.Pairs) -> list[tuple]:
    return [(row["id_a"], row["id_b"], row["similarity"]) for row in found.to_arrow().to_pylist()]


@settings(max_examples=60, deadline=None)
@given(texts_of_few_words)
def test_every_pair_once_in_order_with_its_exact_value(texts):
    """With bands of one row, a pair at one half is missed with a chance of 2^-50."""
    found = lw.pairs(texts, by=BY, threshold="1/2", bands=50, rows=1)
    values = {(a, b): value(texts[a], texts[b]) for a, b in itertools.combinations(range(len(texts)), 2)}
    assert listed(found) == [(a, b, float(value)) for (a, b), value in values.items() if value >= Fraction(1, 2)]


@settings(max_examples=60, deadline=None)
@given(texts_of_few_words, texts_of_few_words)
def test_against_lists_pairs_across_only(left, right):
    found = lw.pairs(left, against=right, by=BY, threshold="1/2", bands=50, rows=1).to_arrow().to_pylist()
    got = {(row["id_a"], row["id_b"]): row["similarity"] for row in found}
    values = {(a, b): value(x, y) for a, x in enumerate(left) for b, y in enumerate(right)}
    assert got == {places: float(value) for places, value in values.items() if value >= Fraction(1, 2)}


def test_a_collection_against_itself_on_the_other_side_is_the_same_swapped():
    draw = random.Random(1)
    left = [" ".join(draw.choices("abcdef", k=12)) for _ in range(30)]
    right = [" ".join(draw.choices("abcdef", k=12)) for _ in range(30)] + left[:3]
    there = lw.pairs(left, against=right, by=BY, threshold=0.3).to_arrow().to_pylist()
    back = lw.pairs(right, against=left, by=BY, threshold=0.3).to_arrow().to_pylist()
    assert {(r["id_a"], r["id_b"]) for r in there} == {(r["id_b"], r["id_a"]) for r in back}
    assert len(there) >= 3


def test_star_lists_members_against_their_leader():
    texts = ["a b c d e f g", "a b c d e f g h", "x y z", "a b c d e f g"]
    assert listed(lw.pairs(texts, by=BY, threshold=0.8, star=True)) == [(0, 1, 6 / 7), (0, 3, 1.0)]
    assert listed(lw.pairs(texts, by=BY, threshold=0.8)) == [(0, 1, 6 / 7), (0, 3, 1.0), (1, 3, 6 / 7)]
    with pytest.raises(lw.UsageError, match="leave it out with against="):
        lw.pairs(texts, against=texts, star=True)


def test_more_pairs_than_allowed_are_refused():
    texts = ["the same text"] * 2000 + ["the same text too"] * 3
    with pytest.raises(lw.UsageError, match="more than 1,000,000 pairs"):
        lw.pairs(texts, max_pairs=1_000_000)
    assert len(lw.pairs(texts, max_pairs=2_000_000)) == 2000 * 1999 // 2 + 3
    assert len(lw.pairs(texts, star=True, max_pairs=0)) == 2001


def test_a_large_group_of_near_copies_is_refused_before_it_is_all_compared():
    texts = [f"one long text that stays the same but for its last word {i}" for i in range(20_000)]
    with pytest.raises(lw.UsageError, match="more than 1,000 pairs"):
        lw.pairs(texts, by=BY, threshold=0.5, max_pairs=1000)  # 200 million pairs in all


def test_copies_on_one_side_are_not_spelled_out():
    assert len(lw.pairs(["the same text"] * 30_000, against=["another one"])) == 0
    assert len(lw.pairs(["the same text"] * 300, against=["the same text"] * 200 + ["THE same, text"])) == 300 * 201


def test_pairs_above_a_higher_threshold_need_no_new_search():
    found = lw.pairs(["a b c d", "a b c d e", "a b c d"], by=BY, threshold=0.5)
    assert len(found.above(0.9)) == 1
    with pytest.raises(lw.UsageError, match=r"search again with threshold=0\.4"):
        found.above(0.4)


@pytest.mark.parametrize("suffix", ["parquet", "jsonl", "csv", "tsv"])
def test_pairs_are_written_by_the_name_of_the_file(tmp_path, suffix):
    import pyarrow.csv
    import pyarrow.parquet as pq

    path = tmp_path / f"pairs.{suffix}"
    lw.pairs([{"id": "x", "text": "one two"}, {"id": "y", "text": "one two"}]).write(path)
    read = {
        "parquet": lambda: pq.read_table(path).to_pylist(),
        "jsonl": lambda: [json.loads(line) for line in path.read_text().splitlines()],
        "csv": lambda: pyarrow.csv.read_csv(path).to_pylist(),
        "tsv": lambda: pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter="\t")).to_pylist(),
    }
    assert read[suffix]() == [{"id_a": "x", "id_b": "y", "similarity": 1.0}]
    with pytest.raises(lw.UsageError, match="name the file"):
        lw.pairs(["a"]).write(tmp_path / "pairs.xlsx")


def test_any_memory_gives_the_same_pairs_and_removals(tmp_path, monkeypatch):
    monkeypatch.setattr(options, "LEAST_MEMORY", 1)
    draw = random.Random(2)
    texts = [" ".join(draw.choices("abcdefgh", k=20)) for _ in range(500)]
    texts += [text + " h" for text in texts[:100]]
    for name, memory in (("much", None), ("little", 1000)):
        lw.dedup(texts, by=BY, threshold=0.6, out=tmp_path / name, memory=memory)
    files = ("removed.parquet", "clusters.parquet", "report.json", "manifest.json")
    assert [(tmp_path / "much" / name).read_bytes() for name in files] == [(tmp_path / "little" / name).read_bytes() for name in files]
    assert listed(lw.pairs(texts, by=BY, threshold=0.6)) == listed(lw.pairs(texts, by=BY, threshold=0.6, memory=1000, threads=1))


def test_similarity_of_one_and_of_many():
    assert lw.similarity("abcab", "bcab", by="chars:2") == 1.0
    assert lw.similarity("a b c", "a b d", by="words:1") == 0.5
    many = lw.similarity(["a b c", "", "x"], ["a b d", "", "y"], by="words:1")
    assert many[0] == 0.5
    assert many[1] != many[1]
    assert many[2] == 0.0
    with pytest.raises(lw.UsageError, match="2 items on the left and 1 on the right"):
        lw.similarity(["a", "b"], ["c"])


def test_sketches_of_equal_sets_are_equal_and_estimate():
    a, b, c = lw.sketch(["one two three", "ONE two, three!", None], by="words:1", slots=64)
    assert (a == b).all()
    assert (c == 2**32 - 1).all()


def test_a_limit_counts_the_first_collection():
    texts, same = ["one two three", "four five six"], {"by": "words:1", "limit": 1}
    assert lw.pairs(texts, against=texts[::-1], **same).to_dicts() == [{"id_a": 0, "id_b": 1, "similarity": 1.0}]
    assert [(row["id_a"], row["id_b"]) for row in lw.neighbors(texts, query=texts, k=2, **same).to_dicts()] == [(0, 0)]
    assert len(lw.pairs([*texts, *texts], by="words:1", limit=2)) == 0


def test_a_side_that_lacks_the_field_is_refused_and_not_taken_for_one_without_pairs(tmp_path):
    """A single odd record is an empty item; a whole collection of them is a name that was mistaken."""
    (tmp_path / "a.jsonl").write_text('{"text": "a b", "lang": "en"}\n{"body": "a b"}\n')
    (tmp_path / "b.jsonl").write_text('{"body": "a b"}\n')
    (tmp_path / "none.jsonl").write_text("")
    (tmp_path / "sparse.jsonl").write_text('{"indices": [1], "values": [2]}\n')
    (tmp_path / "dense.jsonl").write_text('{"vector": [1, 2]}\n')
    for a, b, choices, said in [
        ("a", "b", {"by": "words:1"}, "no row of b.jsonl has the field 'text'; fields seen: body"),
        ("b", "a", {"by": "words:1"}, "no row of b.jsonl has the field 'text'; fields seen: body"),
        ("a", "b", {"by": "words:1", "field": "text+body", "per": "lang"}, "no row of b.jsonl has a value in the field 'lang'"),
        ("sparse", "dense", {"by": "cosine"}, "no row of dense.jsonl has the field 'indices"),
        ("dense", "sparse", {"by": "cosine"}, "no row of sparse.jsonl has the field 'vector'"),
    ]:
        with pytest.raises(lw.DataError, match=said):
            lw.pairs(tmp_path / f"{a}.jsonl", against=tmp_path / f"{b}.jsonl", **choices)
    with pytest.raises(lw.DataError, match=r"no row of b\.jsonl has the field 'text'"):
        lw.neighbors(tmp_path / "a.jsonl", query=tmp_path / "b.jsonl", by="words:1")
    assert len(lw.pairs(tmp_path / "a.jsonl", against=tmp_path / "none.jsonl", by="words:1")) == 0
    assert len(lw.pairs(tmp_path / "a.jsonl", against=tmp_path / "b.jsonl", by="words:1", field="text+body")) == 2  # there is something to compare
    assert len(lw.pairs([tmp_path / "a.jsonl", tmp_path / "b.jsonl"], by="words:1", field="text|body")) == 3
