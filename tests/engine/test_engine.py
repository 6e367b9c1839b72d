"""An engine of other processes, without shared memory, writes the same bytes as the local engine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from engine_jobs import JOBS, halved, lines, same_output
from processes import Partitioned, Processes

import likewise as lw
from indexes import opened, sentences, variants
from likewise.report.made import compared_with
from likewise.runs.removal import remove
from likewise.runs.session import resolved, started


@pytest.fixture(scope="module")
def pool() -> Iterator[Processes]:
    made = Processes(2)
    yield made
    made.close()


def partitioned(given: Any, out: Path, pool: Processes, parts: int, **choices: Any) -> lw.Removal:
    """`lw.dedup` by an engine of ``parts`` partitions."""
    against, choices = compared_with(choices.pop("against", None), choices)
    with started(given, resolved([given, against], choices), "dedup", out, None, against) as (sources, run):
        return remove(sources, run, Partitioned(run, pool, parts, out.with_suffix(".tables")), out)


@pytest.mark.parametrize("job", JOBS)
def test_partitions_in_other_processes_give_the_same_bytes(tmp_path, pool, job):
    make, more, numbers = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more
    local = lw.dedup(tmp_path / "in", out=tmp_path / "local", **choices)
    assert local.report.get("units", local.report["counts"])["removed_near"] > 30
    assert (local.report["budget"]["cut"] > 0) == (job == "banners") == any(bucket["shared"] for bucket in local.report["budget"]["buckets"])
    for parts in numbers:
        out = tmp_path / f"{parts}"
        found = partitioned(tmp_path / "in", out, pool, parts, **choices)
        assert found.report == local.report
        assert len(list((tmp_path / f"{parts}.tables" / "rows").iterdir())) > 2  # ranges
        same_output(out, tmp_path / "local")


@pytest.mark.parametrize("also_inside", [False, True])
@pytest.mark.parametrize("job", ["texts", "texts by group", "texts unchecked", "banners", "sets", "sets, none missed", "strings", "weighted sets"])
def test_partitions_compare_with_a_second_collection(tmp_path, pool, job, also_inside):
    make, more, _ = JOBS[job]
    (tmp_path / "in").mkdir()
    choices = make(tmp_path / "in") | more | {"also_inside": also_inside}
    first, second = halved(tmp_path / "in")
    local = lw.dedup(first, against=second, out=tmp_path / "local", **choices)
    assert local.report["counts"]["removed_near"] > 15 and local.report["against"]["read"] > 100
    assert (local.report["budget"]["cut"] > 0) == (job == "banners")
    assert partitioned(first, tmp_path / "parts", pool, 3, against=second, **choices).report == local.report
    same_output(tmp_path / "parts", tmp_path / "local")


@pytest.mark.parametrize("also_inside", [False, True])
def test_partitions_compare_with_an_index(tmp_path, pool, also_inside):
    rng = np.random.default_rng(7)
    old = sentences(rng, 200)
    lines(tmp_path / "new.jsonl", [{"id": i, "text": text} for i, text in enumerate([*variants(rng, old, 150), ""])])
    index = opened([*old, "", old[0]], by="words:3", sets="compact")
    local = lw.dedup(tmp_path / "new.jsonl", against=index, out=tmp_path / "local", also_inside=also_inside)
    assert local.counts["removed_near"] == 50 and local.report["against"]["empty"] == 1
    found = partitioned(tmp_path / "new.jsonl", tmp_path / "parts", pool, 3, against=index, also_inside=also_inside)
    assert found.report == local.report
    same_output(tmp_path / "parts", tmp_path / "local")
