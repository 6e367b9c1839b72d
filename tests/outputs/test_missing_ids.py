"""Rows without an id, and ids of several types, in the tables and documents that leave likewise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likewise as lw
from command_line import run

TEXT = "the quick brown fox jumps over the lazy dog near the river bank today"
CHOICES: dict[str, Any] = {"by": "words:2", "threshold": 0.7}
LIKE = ("--by", "words:2", "--threshold", "0.7")


def table(ids: pa.Array, texts: list[str]) -> pa.Table:
    return pa.table({"id": ids, "text": texts})


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.uint8(), pa.string()])
def test_a_missing_id_is_null_and_never_the_id_of_another_row(kind: pa.DataType) -> None:
    """The row without an id is at position 2, and another has the id 2: pandas makes floats of whole numbers beside a missing one."""
    given = table(pa.array([1, 2, None, 4]).cast(kind), [TEXT, TEXT + " again", TEXT, "other words"])
    found = lw.pairs(given, **CHOICES)
    name = str if kind == pa.string() else int
    assert found.to_arrow().schema.field("id_a").type == (pa.string() if kind == pa.string() else pa.int64())
    rows = {(row["id_a"], row["id_b"], row["position_a"], row["position_b"]) for row in found.to_arrow().to_pylist()}
    assert rows == {(name(1), name(2), 0, 1), (name(1), None, 0, 2), (name(2), None, 1, 2)}
    assert found.report["warnings"] == ["1 of 4 items has no id (null in the output): memory.arrow item 3"]


def test_clusters_whose_representatives_have_no_id_are_named_by_place(tmp_path: Path) -> None:
    rows = [{"text": TEXT}, {"text": "a b c d e f"}, {"id": 5, "text": TEXT}, {"id": 6, "text": "a b c d e f"}, {"id": 7, "text": "x"}]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = lw.dedup(tmp_path / "in.jsonl", out=tmp_path / "out", output="annotate", **CHOICES)
    removed = pq.read_table(tmp_path / "out/removed.parquet")
    assert removed["id"].to_pylist() == [5, 6]
    assert removed.schema.field("kept_id").type == pa.int64()
    assert removed["kept_id"].to_pylist() == [None, None]
    assert removed["kept_position"].to_pylist() == [0, 1]
    assert removed["cluster"].to_pylist() == ["in.jsonl:0", "in.jsonl:1"]
    clusters = result.clusters.to_arrow()
    assert clusters["id"].to_pylist() == [None, 5, None, 6]
    assert clusters["cluster"].to_pylist() == clusters["component"].to_pylist() == ["in.jsonl:0"] * 2 + ["in.jsonl:1"] * 2
    annotated = [json.loads(line) for line in (tmp_path / "out/annotated/in.jsonl").read_text().splitlines()]
    assert [row["likewise_kept_id"] for row in annotated] == [None, None, "in.jsonl:0", "in.jsonl:1", None]
    assert [row["likewise_cluster"] for row in annotated] == ["in.jsonl:0", "in.jsonl:1", "in.jsonl:0", "in.jsonl:1", None]
    assert result.report["ids"] == {"missing": 2, "repeated": 0}
    assert [(c["representative"], c["position"]) for c in result.report["clusters"]["largest"]] == [(None, 0), (None, 1)]


def test_clusters_keep_their_ids_where_only_removed_rows_lack_one() -> None:
    result = lw.dedup(table(pa.array([1, None, 3]), [TEXT, TEXT, "x y"]), **CHOICES)
    assert result.removed.to_arrow().select(["id", "kept_id", "cluster"]).to_pylist() == [{"id": None, "kept_id": 1, "cluster": 1}]


def test_clusters_whose_representatives_share_an_id_are_named_by_place() -> None:
    result = lw.dedup(table(pa.array([1, 1, 2, 3]), [TEXT, "a b c d", TEXT, "a b c d"]), **CHOICES)
    assert result.removed.to_arrow()["kept_id"].to_pylist() == [1, 1]
    assert result.removed.to_arrow()["cluster"].to_pylist() == ["memory.arrow:0", "memory.arrow:1"]
    assert any(said.startswith("1 id names more than one item (1)") for said in result.report["warnings"])


def test_the_count_of_repeated_ids_is_of_ids() -> None:
    """Three rows have the id 1: one id names several items, not two."""
    found = lw.pairs(table(pa.array([1, 1, 1, 2]), ["a b", "c d", "e f", "g h"]), **CHOICES)
    assert found.report["warnings"] == ["1 id names more than one item (1); source and position distinguish these items"]


MIXED = [{"id": "deb-92", "text": TEXT}, {"id": 1, "text": TEXT}, {"id": 2**64 - 1, "text": "a b c"}, {"id": "b\ud800", "text": "a b c"}]


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in MIXED))
    return Path("in.jsonl")


def test_ids_of_several_types_are_text_in_tables_and_themselves_in_json(mixed: Path) -> None:
    found = lw.pairs(mixed, **CHOICES)
    assert [(row["id_a"], row["id_b"]) for row in found.to_arrow().to_pylist()] == [("deb-92", "1"), (str(2**64 - 1), r"b\ud800")]
    expected = [("deb-92", 1), (2**64 - 1, "b\ud800")]
    assert [(row["id_a"], row["id_b"]) for row in map(json.loads, run("pairs", mixed, *LIKE).stdout.splitlines())] == expected
    document = json.loads(run("pairs", mixed, *LIKE, "--json").stdout)
    assert [(row["id_a"], row["id_b"]) for row in document["pairs"]] == expected
    assert run("pairs", mixed, *LIKE, "-o", "pairs.jsonl").exit_code == 0
    assert [(row["id_a"], row["id_b"]) for row in map(json.loads, Path("pairs.jsonl").read_text().splitlines())] == expected
    nearest = json.loads(run("neighbors", mixed, "--by", "words:2", "-k", "1", "--json").stdout)["pairs"]
    assert [(row["id_a"], row["id_b"]) for row in nearest] == [("deb-92", 1), (1, "deb-92"), (2**64 - 1, "b\ud800"), ("b\ud800", 2**64 - 1)]
    assert [(row["id_a"], row["id_b"]) for row in found.above(0.9).to_dicts()] == expected


def test_ids_of_several_types_in_an_output_folder(mixed: Path) -> None:
    assert run("dedup", mixed, *LIKE, "-o", "out").exit_code == 0
    removed = pq.read_table("out/removed.parquet")
    assert removed.schema.metadata == {b"likewise.ids": b"text, because the ids have several types"}
    assert removed.select(["id", "kept_id"]).to_pylist() == [{"id": "1", "kept_id": "deb-92"}, {"id": r"b\ud800", "kept_id": str(2**64 - 1)}]
    largest = json.loads(Path("out/report.json").read_text())["clusters"]["largest"]
    assert [cluster["representative"] for cluster in largest] == ["deb-92", 2**64 - 1]
    shown = json.loads(run("show", "out", "1", "--json").stdout)
    assert (shown["removed"]["id"], shown["kept"]["id"]) == (1, "deb-92")
    shown = json.loads(run("show", "out", str(2**64 - 1), "--json").stdout)
    assert (shown["id"], [row["id"] for row in shown["removed_for_it"]]) == (2**64 - 1, ["b\ud800"])


def test_show_finds_items_without_ids_by_place_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Positions are names only where no row of the output has an id."""
    monkeypatch.chdir(tmp_path)
    pq.write_table(table(pa.array([1.0, None, 7.0, None]), [TEXT, TEXT, "a b c", "d e f"]), "in.parquet")
    assert run("dedup", "in.parquet", *LIKE, "-o", "out").exit_code == 0
    assert run("show", "out", "in.parquet:1").stdout.splitlines()[:2] == [
        "removed  in.parquet:1 (rows count from 0)",
        "kept     1  at in.parquet:0 (rows count from 0)",
    ]
    assert run("show", "out", "7").stdout.startswith("7  at in.parquet:2 (rows count from 0) was kept: ")
    assert run("show", "out", "in.parquet:3").stdout.startswith("in.parquet:3 (rows count from 0) was kept: ")
    assert "no item of out has the id '3'; use a location such as in.parquet:1" in run("show", "out", "3").stderr
