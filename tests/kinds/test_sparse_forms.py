"""Sparse vectors however they are stored, and what has no meaning; a collection of every oddity through the commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run
from likewise.io.fields import sparse as field_of
from likewise.io.inputs import resolve
from likewise.items.sparse import Sparse, sparse
from likewise.records import Want
from sparse_rows import SURE, csr, mapping, pairs_of, rows

# however they are stored


def test_one_collection_in_all_forms(tmp_path):
    made = [{index % 997: number for index, number in row.items()} for row in rows()]
    scrambled = [dict(reversed(row.items())) for row in made]
    parts = [{"id": place, **mapping(row, dim=997)} for place, row in enumerate(scrambled)]
    nested = [{"id": place, "vector": mapping(row, dim=997)} for place, row in enumerate(scrambled)]
    (tmp_path / "parts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in parts))
    (tmp_path / "nested.jsonl").write_text("".join(json.dumps(row) + "\n" for row in nested))
    (tmp_path / "array.json").write_text(json.dumps(parts))
    pq.write_table(pa.Table.from_pylist(parts), tmp_path / "parts.parquet", row_group_size=50)
    pq.write_table(pa.Table.from_pylist(nested), tmp_path / "nested.parquet")
    with pa.ipc.new_file(tmp_path / "nested.arrow", pa.Table.from_pylist(nested).schema) as file:
        file.write_table(pa.Table.from_pylist(nested))
    inputs: list[Any] = [tmp_path / name for name in ("parts.jsonl", "nested.jsonl", "array.json", "parts.parquet", "nested.parquet", "nested.arrow")]
    inputs += [csr(made, 997), parts, nested, [mapping(row) for row in made], pa.Table.from_pylist(nested)]
    for exact in (True, False):
        want = pairs_of(lw.pairs(inputs[0], by="cosine", **{**SURE, "exact": exact}).to_arrow())
        assert len(want) > 30
        for given_ in inputs[1:]:
            assert pairs_of(lw.pairs(given_, by="cosine", **{**SURE, "exact": exact}).to_arrow()) == want


def test_what_is_stored_is_not_what_counts():
    """Order, zeros, repeats that add up, and types of numbers: all the same matrix."""
    plain = csr([{1: 2.0, 3: 1.0}, {1: 4.0, 3: 2.0}], 4)
    odd = csr([], 4, indptr=np.array([0, 4, 6]), indices=np.array([3, 1, 1, 0, 3, 1]), data=np.array([1, 1, 1, 0, 2, 4], np.int8), shape=(2, 4))
    longer = csr([{1: 2.0, 3: 1.0}, {1: 4.0, 3: 2.0}], 4, data=np.array([2.0, 1, 4, 2, 99]))
    for matrix in (plain, odd, longer, SimpleNamespace(tocsr=lambda: plain)):
        assert pairs_of(lw.pairs(matrix, by="cosine").to_arrow()) == {(0, 1): 1.0}
    rows_ = [mapping({2**64 - 1: 1.0, 3: 2.0}), mapping({3: 4.0, 2**64 - 1: 2.0})]
    assert pairs_of(lw.pairs(rows_, by="cosine").to_arrow()) == {(0, 1): 1.0}
    assert pairs_of(lw.pairs([{"id": place, "vector": row} for place, row in enumerate(rows_)], by="cosine").to_arrow()) == {(0, 1): 1.0}


def test_zero_vectors():
    """Empty by direction; to a distance the origin is a point like any other. A missing vector is neither."""
    made = [
        {"id": 0, "vector": mapping({})},
        {"id": 1, "vector": mapping({5: 0.0})},
        {"id": 2, "vector": None},
        {"id": 3, "vector": mapping({5: 1.0})},
    ]
    by_cosine = lw.pairs(made, by="cosine")
    assert len(by_cosine) == 0 and any("2 of 4 items are zero vectors" in said for said in by_cosine.report["warnings"])
    assert pairs_of(lw.pairs(made, by="l2", within=1, **SURE).to_arrow()) == {(0, 1): 0.0, (0, 3): 1.0, (1, 3): 1.0}
    counts = lw.dedup(made, by="l2", within=0.5).report["counts"]
    assert (counts["removed_exact"], counts["empty"], counts["without_text"]) == (1, 1, 1)
    assert len(lw.dedup(made, by="cosine", copies="empty").removed) == 2


BAD: dict[str, tuple[list[Any], str]] = {
    "dimension": (
        [mapping({1: 1.0}, dim=5), mapping({7: 1.0}), mapping({1: 1.0}, dim=6)],
        r"in\.jsonl, line 3, .*has dimension 6, but the first vector that has one \(in\.jsonl, item 1\) has dimension 5",
    ),
    "beyond": ([mapping({5: 1.0}, dim=5)], r"in\.jsonl, line 1, column \d+, field 'vector'.*index 5 is out of range: the dimension is 5"),
    "negative": ([mapping({-1: 1.0})], r"line 1,.* index -1 is out of range"),
    "ragged": ([mapping({1: 1.0}), {"indices": [1, 2], "values": [1]}], r"line 2,.* 2 indices and 1 values"),
    "list": ([mapping({1: 1.0}), [1, 2]], r"line 2,.* a list of numbers among sparse vectors; give all vectors in one form"),
    "list first": ([[1, 2], mapping({1: 1.0})], r"line 1,.* a list of numbers among sparse vectors"),
    "late": ([*[[1, number] for number in range(30)], mapping({1: 1.0})], r"line 31,.* a sparse vector among lists of numbers"),
}


@pytest.mark.parametrize("name", BAD)
def test_what_has_no_meaning_is_refused_by_place(tmp_path, name):
    given_, said = BAD[name]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps({"vector": row}) + "\n" for row in given_))
    with pytest.raises(lw.DataError, match=said):
        lw.pairs(tmp_path / "in.jsonl", by="cosine")
    if name == "dimension":
        pq.write_table(pa.Table.from_pylist([{"vector": row} for row in given_[:1]]), tmp_path / "a.parquet")
        pq.write_table(pa.Table.from_pylist([{"vector": row} for row in given_[2:]]), tmp_path / "b.parquet")
        with pytest.raises(lw.DataError, match=r"b\.parquet, position 0 .*has dimension 6, but .* \(a\.parquet, item 1\) has dimension 5"):
            lw.pairs([tmp_path / "a.parquet", tmp_path / "b.parquet"], by="cosine")


def test_two_forms_in_two_files_are_refused_whichever_comes_first(tmp_path):
    paths = [tmp_path / "dense.parquet", tmp_path / "sparse.parquet"]
    pq.write_table(pa.table({"vector": [[1.0, 2.0]]}), paths[0])
    pq.write_table(pa.table({"vector": [mapping({1: 1.0})]}), paths[1])
    for order in (paths, paths[::-1]):
        with pytest.raises(lw.DataError, match=rf"{order[1].name}, position 0 .*among"):
            lw.pairs(order, by="cosine")
    with pytest.raises(lw.DataError, match=r"against/memory\.arrow, position 0"):
        lw.pairs(csr([{1: 1.0}], 2), against=np.eye(2), by="cosine")


def test_parts_of_a_record_are_no_vector_where_there_is_one(tmp_path):
    """Columns that happen to be called indices and values; and a field that was named is the one that counts."""
    rows_ = [{"vector": [1, 2], "indices": [1], "values": [2]}, {"vector": [2, 4], "indices": [3], "values": [2]}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows_))
    pq.write_table(pa.Table.from_pylist(rows_), tmp_path / "in.parquet")
    for given_ in (tmp_path / "in.jsonl", tmp_path / "in.parquet", rows_):
        assert pairs_of(lw.pairs(given_, by="cosine").to_arrow()) == {(0, 1): 1.0}
        said = "the data has no column 'other'; its columns: vector, indices, values; " if given_ is rows_ else "has the field 'other'"
        with pytest.raises(lw.DataError, match=said):
            lw.pairs(given_, by="cosine", field="other")
        assert len(lw.pairs(given_, by="cosine", field="indices+values")) == 0
    (tmp_path / "cut.jsonl").write_text('{"vector": null}\n{"vector": [1, 2]}\n{"vector": [1,\n')
    (tmp_path / "none.jsonl").write_text('{"vector": null}\n')
    for name in ("cut.jsonl", "none.jsonl"):
        assert field_of(resolve([tmp_path / name]), Want("vector", kind="vector")) is None


# the case


def test_one_hot_and_weighted_vectors_in_every_form(tmp_path):
    """Rows of dimension 1,000,000: unsorted, repeated, stored zeros, none at all, and an index out of range."""
    lines = [
        '{"id": "a", "dim": 1000000, "indices": [999999, 10, 5], "values": [3, 2, 1]}',
        '{"id": "b", "dim": 1000000, "indices": [999999, 10, 5], "values": [6, 4, 2]}',
        '{"id": "c", "dim": 1000000, "indices": [10, 5, 999999], "values": [2, 1, 0]}',
        '{"id": "d", "dim": 1000000, "indices": [7], "values": [1]}',
        '{"id": "e", "dim": 1000000, "indices": [], "values": []}',
        '{"id": "f", "dim": 1000000, "indices": [], "values": []}',
        '{"id": "g", "dim": 1000000, "indices": [10, 5, 999999, 10], "values": [1, 1, 3, 1]}',
        '{"id": "bad", "dim": 1000000, "indices": [1000000], "values": [1]}',
    ]
    path = tmp_path / "sparse.jsonl"
    path.write_text("\n".join(lines) + "\n")
    refused = run("pairs", path, "--by", "cosine", "--threshold", "0.9")
    assert refused.exit_code == 2 and refused.stdout == ""
    assert re.search(r"sparse\.jsonl, line 8, .*id \"bad\".*index 1000000 is out of range: the dimension is 1000000", refused.stderr)
    for extra in ([], ["--exact"], ["--bands", 40, "--rows", 4]):
        result = run("pairs", path, "--by", "cosine", "--threshold", "0.9", "--on-error", "skip", *extra)
        found = [json.loads(line) for line in result.stdout.splitlines()]
        assert [(row["id_a"], row["id_b"], row["similarity"]) for row in found] == [("a", "b", 1.0), ("a", "g", 1.0), ("b", "g", 1.0)]
        assert "2 of 7 items are zero vectors" in result.stderr and 'id "bad"' in result.stderr
    result = run("pairs", path, "--by", "elements", "--threshold", "0.6", "--field", "indices+values+dim", "--on-error", "skip")
    found = [json.loads(line) for line in result.stdout.splitlines()]
    want = {("a", "b"): 1, ("a", "c"): 2 / 3, ("a", "g"): 1, ("b", "c"): 2 / 3, ("b", "g"): 1, ("c", "g"): 2 / 3}
    assert {(row["id_a"], row["id_b"]): row["similarity"] for row in found} == want
    out = tmp_path / "out"
    made = run("dedup", path, "-o", out, "--by", "cosine", "--threshold", "0.9", "--on-error", "skip")
    assert made.exit_code == 0, made.stderr
    assert [row["id"] for row in pq.read_table(out / "removed.parquet").to_pylist()] == ["b", "g"]
    assert (out / "kept/sparse.jsonl").read_text().splitlines() == [lines[0], *lines[2:6]]
    assert 'id \\"bad\\"' in (out / "rejected.jsonl").read_text()


def test_a_dimension_takes_no_memory(tmp_path):
    """Written out, a hundred rows of 2^62 numbers would fit nowhere."""
    made = [mapping({place * 2**55: 1.0, 2**61: 0.5}, dim=2**62) for place in range(1, 51)] * 2
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in made))
    for exact in (True, False):
        found = lw.pairs(Path(tmp_path / "in.jsonl"), by="cosine", threshold=0.9, exact=exact)
        assert len(found) == 50
    assert isinstance(sparse(made), Sparse)
