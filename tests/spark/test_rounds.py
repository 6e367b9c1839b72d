"""Removal and components in rounds on Spark, compared with the results of one process."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from likewise.engines.spark import components, settling
from likewise.engines.spark.steps import Steps
from likewise.stages.components import components as in_one_place
from likewise.stages.settle import settled

pytestmark = pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")


def check(spark, folder, later, earlier, n: int, many: np.ndarray) -> list[str]:
    """Settle pairs with random ratios on Spark; returns what was logged. many: items whose pairs are in all partitions."""
    rng, said = np.random.default_rng(1), []
    overlap, out_of = rng.integers(1, 4, len(later)), rng.integers(4, 7, len(later))
    wanted = settled(later, earlier, overlap, out_of, n)
    steps = Steps(spark, folder)
    similar = steps.put("similar", pa.table({"later": later, "earlier": earlier, "overlap": overlap, "out_of": out_of}))
    matches = settling.settled(steps, similar, len(later), n, 3, said.append, many)
    found = sorted(map(tuple, matches.select("later", "earlier", "overlap", "out_of", "best").collect()))
    removed = np.flatnonzero(wanted.representative >= 0)
    best = [(item, *(int(each[item]) for each in wanted)) for item in removed.tolist()]
    assert [pair[:4] for pair in found if pair[4]] == best
    kept = wanted.representative[earlier] < 0
    pairs = [pair[:2] for pair in found]
    assert pairs == sorted(zip(later[kept].tolist(), earlier[kept].tolist(), strict=True))
    first, followed = np.arange(n), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(settling, "ALONE", 300)  # fewer links than that are contracted in one task
        linked = components.components(steps, "matches", n, followed.append)
    links = matches.where("previous is not null").count()
    assert any("step" in each for each in followed) == (links > 300) and (linked is None) == (links == 0)
    joined = np.array([] if linked is None else linked.collect(), np.int64).reshape(-1, 2)
    assert len(np.unique(joined[:, 0])) == len(joined)
    first[joined[:, 0]] = joined[:, 1]
    assert first.tolist() == in_one_place(n, np.array(pairs)).tolist()
    return said


def test_blocks_decide_in_rounds_what_one_task_decides(spark, tmp_path, monkeypatch):
    """2,489 pairs of 1,000 items in blocks of some 400 pairs, until one task may decide those that are left."""
    monkeypatch.setattr(settling, "ALONE", 1500)
    rng = np.random.default_rng(2)
    ends = np.unique(np.sort(rng.integers(0, 1000, (2500, 2)), axis=1), axis=0)
    ends = ends[ends[:, 0] < ends[:, 1]]
    assert check(spark, tmp_path, ends[:, 1], ends[:, 0], 1000, np.arange(0, 1000, 3)) == [
        "settling, round 1: 372 of 2,489 pairs decided; blocks: 7",
        "settling, round 2: 1,859 of 2,117 pairs decided; blocks: 7",
        "settling, round 3: 258 of 258 pairs decided; blocks: 1",
    ]


def test_a_chain_crosses_each_block_once(spark, tmp_path, monkeypatch):
    """9,999 pairs of versions, each similar to the next. The first of five blocks is decided in the first round; one task may decide the others."""
    monkeypatch.setattr(settling, "ALONE", 8_000)
    chain = np.arange(1, 10_000)
    said = check(spark, tmp_path, chain, chain - 1, 10_000, np.zeros(0, np.int64))
    assert said == [
        "settling, round 1: 1,999 of 9,999 pairs decided; blocks: 5",
        "settling, round 2: 8,000 of 8,000 pairs decided; blocks: 1",
    ]
