"""Exact joins on a Spark cluster write the same bytes as the local engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_jobs import halved, lines, texts

import likewise as lw
from likewise.engines.spark import keyed, lazily
from spark_runs import agree, agree_on_pairs, on_spark

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def adversarial(folder: Path) -> dict[str, Any]:
    """Sets of ten elements, one of which all have; 500 of them differ in one element each, and 90 share nothing but that one; empty sets; copies."""
    rng = np.random.default_rng(1)
    close = [[0, 1, 2, 3, 4, 5, 6, 7, 8, 100 + i] for i in range(500)]
    apart = [[0, *range(1000 + 9 * i, 1009 + 9 * i)] for i in range(90)]
    small = [[0], [1], [0, 1], [0, 2], [], [], [0, 1]]
    rows = close + apart + small + [list(reversed(each)) for each in apart[:9]]
    lines(folder / "a.jsonl", [{"id": i, "elements": rows[i], "lang": "ab"[i % 2]} for i in rng.permutation(len(rows)).tolist()])
    return {"by": "elements", "threshold": 0.8, "exact": True}


def codes(folder: Path) -> dict[str, Any]:
    """Codes of 72 bits: 300 within a few bits of others, 60 of which differ from one code in a bit each, and copies."""
    rng = np.random.default_rng(2)
    flags = (rng.random((40, 72)) < 0.5)[rng.integers(0, 40, 300)] ^ (rng.random((300, 72)) < 0.04)
    flags = np.concatenate([flags, flags[:1] ^ np.eye(60, 72, dtype=bool), flags[:5]])
    rows = [{"id": i, "code": np.packbits(each).tobytes().hex(), "lang": "ab"[i // 2 % 2]} for i, each in enumerate(flags)]
    lines(folder / "a.jsonl", rows[:200])
    lines(folder / "b.jsonl", rows[200:])
    return {"by": "hamming", "within": 4}


#: Removals and lists of pairs; the first ones are in the gate.
REMOVALS = [
    (adversarial, {"threshold": 1, "per": "lang"}),
    (texts, {"exact": True, "per": "lang", "against": True}),
    (codes, {}),
    (texts, {"exact": True, "against": True, "also_inside": True, "keep": "longest"}),
    (codes, {"per": "lang", "against": True}),
    (adversarial, {}),
]
PAIRS = [(texts, {"exact": True, "against": True}), (codes, {}), (codes, {"per": "lang", "against": True})]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    every, (removals, pairs) = metafunc.config.getoption("--all"), (REMOVALS, PAIRS)
    cases = (removals if every else removals[:3]) if metafunc.function is test_removals else (pairs if every else pairs[:1])
    metafunc.parametrize(("make", "more"), cases)


def test_removals(tmp_path, spark, monkeypatch, make, more):
    """Elements of many sets are found in a sample. Where 500 sets are similar to all others of them, their pairs are compared in rounds."""
    for module, name, value in ((lazily, "MANY", 10_000), (lazily, "FOR_EACH", 0), (keyed, "SLICE", 64), (keyed, "SEEN", 32)):
        monkeypatch.setattr(module, name, value)
    (tmp_path / "in").mkdir()
    choices, given = make(tmp_path / "in") | more | {"pairs": True, "removed_records": True}, tmp_path / "in"
    if "against" in more:
        given, choices["against"] = halved(given)
    local = lw.dedup(given, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near" if choices.get("threshold") != 1 else "removed_exact"] > 0
    assert local.report["budget"]["recall"] == 1 and ("join" in local.report) == (make == codes)
    found = on_spark(spark, given, tmp_path / "spark", 3, **choices)
    agree(local, found)
    if make == adversarial and not more:
        assert local.report["counts"]["removed_near"] == 499 and found.compared < 500 * 499 / 4
        assert any("comparing, round 2:" in note for note in json.loads((found.out / "run.json").read_bytes())["notes"])


def test_pairs(tmp_path, spark, monkeypatch, make, more):
    (tmp_path / "in").mkdir()
    choices, given = make(tmp_path / "in") | more, [tmp_path / "in"]
    if "against" in more:
        given, choices["against"] = [[path] for path in halved(tmp_path / "in")]
    local = lw.pairs(given, **choices)
    assert len(local) > 50
    agree_on_pairs(monkeypatch, spark, local, given, **choices)
