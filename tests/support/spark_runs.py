"""Removals and pairs on Spark, and their comparison with those of the local engine."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest
from engine_jobs import same_output

import likewise as lw
from likewise.engines.spark.engine import Spark
from likewise.report.made import compared_with
from likewise.runs.removal import remove
from likewise.runs.session import resolved, started


def on_spark(session: Any, given: Any, out: Path, parts: int, task: int = 8_000, **choices: Any) -> lw.Removal:
    """`lw.dedup` by Spark, in ``parts`` partitions; each task reads ``task`` bytes."""
    against, choices = compared_with(choices.pop("against", None), choices)
    with started(given, resolved([given, against], choices), "dedup", out, None, against) as (sources, run):
        return remove(sources, run, Spark(run, session, partitions=parts, task_bytes=task), out)


def agree(local: lw.Removal, found: lw.Removal) -> None:
    assert found.report == local.report
    assert found.compared >= found.report["matched"]
    same_output(found.out, local.out)


def agree_on_pairs(monkeypatch: pytest.MonkeyPatch, session: Any, local: lw.Pairs, given: Any, **choices: Any) -> None:
    """Spark lists the pairs that the local engine lists, and makes the same report."""
    monkeypatch.setattr("likewise.verbs.pairs.chosen", lambda sources, run: nullcontext(Spark(run, session, partitions=3, task_bytes=8_000)))
    found = lw.pairs(given, **choices)
    assert found.report == local.report
    assert found.to_arrow().equals(local.to_arrow())
