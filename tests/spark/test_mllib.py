"""The page for users of MLlib: its code finds the pairs that likewise finds."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Any

import pytest

import likewise as lw
from applied_pages import blocks
from likewise.engines.spark.session import changed

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "docs/applications/data/advisories.jsonl.xz"


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_mllib_finds_the_same_pairs(spark: Any) -> None:
    with lzma.open(DATA, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    names = {"frame": spark.createDataFrame([(number, row["id"], row["text"]) for number, row in enumerate(rows)], "n long, id string, text string")}
    [(_, _, code)] = blocks((ROOT / "docs/how-to/from-mllib.md").read_text())
    with changed(spark, {"spark.sql.shuffle.partitions": "1"}):
        exec(code, names)
    wanted = lw.pairs(DATA, by="words:5", threshold=0.7).to_arrow()
    assert {(row["id_a"], row["id_b"]) for row in names["found"]} == {*zip(*(wanted[name].to_pylist() for name in ("id_a", "id_b")), strict=True)}
    assert len(wanted) == 8
