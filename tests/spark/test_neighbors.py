"""Nearest neighbors on a Spark cluster are those of the local engine, in the same order."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_jobs import halved, lines, sets, strings, texts, weighted

import likewise as lw
from likewise.engines.spark import nearest
from likewise.engines.spark.engine import Spark

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def vectors(folder: Path) -> dict[str, Any]:
    """Vectors of 40 numbers, of which each occurs twice, so that equal distances abound; some of length 0, some that overflow as squares."""
    rng = np.random.default_rng(3)
    rows = rng.integers(-2, 3, (300, 40)).astype(float)
    rows[7], rows[11] = 0, 1e200
    both = np.concatenate([rows, rows])[rng.permutation(600)]
    lines(folder / "a.jsonl", [{"id": i, "vector": row, "lang": "ab"[i // 2 % 2]} for i, row in enumerate(both.tolist())])
    return {"by": "cosine", "exact": True}


def sparse(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(4)
    rows = [{"indices": np.unique(rng.integers(0, 500, 12)).tolist()} for _ in range(500)]
    rows = [row | {"values": rng.integers(1, 4, len(row["indices"])).tolist()} for row in rows]
    lines(folder / "a.jsonl", [{"id": i, "vector": row} for i, row in enumerate(rows)])
    return {"by": "cosine"}


def codes(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    lines(folder / "a.jsonl", [{"id": i, "code": row.tobytes().hex()} for i, row in enumerate(rng.integers(0, 256, (700, 9), np.uint8))])
    return {"by": "hamming", "within": 25}


def features(folder: Path) -> dict[str, Any]:
    rng = np.random.default_rng(6)
    rows = [rng.normal(size=(int(rng.integers(1, 5)), 4)).round(1).tolist() for _ in range(300)]
    lines(folder / "a.jsonl", [{"id": i, "features": row} for i, row in enumerate(rows)])
    return {"by": "features/chamfer", "exact": True}


#: Jobs, the first ones in the gate. query: the inputs are cut into two collections.
JOBS: list[tuple[Any, dict[str, Any]]] = [
    (texts, {"query": True, "per": "lang", "threshold": 0.2}),
    (vectors, {}),
    (texts, {"ignore_common": "1%"}),
    (vectors, {"by": "l2", "query": True, "per": "lang"}),
    (vectors, {"by": "l1", "exact": None, "within": 60}),
    (vectors, {"by": "angle", "query": True}),
    (sparse, {}),
    (codes, {}),
    (codes, {"query": True}),
    (sets, {"query": True}),
    (weighted, {"query": True}),
    (strings, {"within": None}),
    (features, {"query": True}),
]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "more" in metafunc.fixturenames:
        metafunc.parametrize(("make", "more"), JOBS if metafunc.config.getoption("--all") else JOBS[:2])


def test_neighbors_are_those_of_one_machine(tmp_path, spark, monkeypatch, make, more):
    """Queries are cut into slices of 20, items into slices of a few batches and groups of sections, and several tasks merge the neighbors."""
    for name, value in (("SLICE_BYTES", 1 << 14), ("FOUND_AT_ONCE", 150), ("MERGED_AT_ONCE", 2000), ("TASKS", 20), ("FEWEST_ROWS", 50)):
        monkeypatch.setattr(nearest, name, value)
    (tmp_path / "in").mkdir()
    choices, given = {**make(tmp_path / "in"), "k": 7, "threshold": None, **more}, tmp_path / "in"
    if "query" in more:
        given, choices["query"] = halved(given)
    local = lw.neighbors(given, **choices)
    assert len(local) > 150
    monkeypatch.setattr("likewise.verbs.neighbors.chosen", lambda sources, run: nullcontext(Spark(run, spark, task_bytes=8_000)))
    found = lw.neighbors(given, **choices)
    assert found.report == local.report
    assert found.to_arrow().equals(local.to_arrow())


def test_without_queries_there_are_no_neighbors(tmp_path, spark, monkeypatch):
    lines(tmp_path / "a.jsonl", [{"text": "a b c d"}, {"text": "a b c x"}])
    lines(tmp_path / "b.jsonl", [{"text": ""}])
    monkeypatch.setattr("likewise.verbs.neighbors.chosen", lambda sources, run: nullcontext(Spark(run, spark)))
    for given, query in (("a", "b"), ("b", "a")):
        assert len(lw.neighbors(tmp_path / f"{given}.jsonl", query=tmp_path / f"{query}.jsonl", by="words:2")) == 0
    pair = lw.neighbors(tmp_path / "a.jsonl", by="words:2", k=3).to_arrow().to_pylist()
    assert pair == [{"id_a": 0, "id_b": 1, "similarity": 0.5}, {"id_a": 1, "id_b": 0, "similarity": 0.5}]


def test_data_frames(tmp_path, spark):
    frame = spark.createDataFrame([(3, "a b c x"), (1, "a b c d"), (2, "p q r s")], "n int, text string")
    asked = spark.createDataFrame([(9, "a b c d e")], "n int, text string")
    found = lw.neighbors(frame, query=asked, order="n", by="words:2", k=2, work=tmp_path / "work")
    assert [tuple(row) for row in found.to_native().collect()] == [(9, 1, 0.75), (9, 3, 0.4)]
    lines(tmp_path / "items.jsonl", [{"n": 5, "text": "a b c d"}])
    found = lw.neighbors(tmp_path / "items.jsonl", query=asked, order="n", by="words:2", work=tmp_path / "work")
    assert found.to_native().select("id_a", "id_b", "similarity").collect() == [(9, 5, 0.75)]
