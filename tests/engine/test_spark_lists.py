"""Candidates listed in rounds by the steps of Spark, which run here in one process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from frames_here import Frame, Steps

from likewise.engines.spark import hot, lazily
from likewise.engines.spark.blocks import flat
from likewise.engines.spark.lazily import rows
from likewise.stages.candidates import collisions
from likewise.stages.settle import settled

N, PARTS = 3_000, 5


def similar(later: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """A third of all pairs, at random."""
    return (later * 2_654_435_761 + earlier * 40_503) % 65_537 < 22_000


@pytest.mark.parametrize("with_many", [False, True])
def test_items_with_very_many_pairs_do_not_change_the_outcome(monkeypatch: pytest.MonkeyPatch, with_many: bool) -> None:
    """Removals and matches are those of all candidate pairs. Half of all items share a bucket, and the first of its parts have very many pairs."""
    monkeypatch.setattr(lazily, "MANY", 0)
    monkeypatch.setattr(lazily, "FOR_EACH", 0)
    rng = np.random.default_rng(1)
    lists = []
    for _ in range(3):
        keys, finer = rng.integers(0, N, N).astype(np.uint64), rng.integers(0, 700, (2, N)).astype(np.uint64)
        keys[rng.random(N) < 0.5] = 7
        lists.append(collisions(keys, finer, np.arange(N)).lists)
    steps, seen = Steps(), []
    if with_many:
        heads = np.unique(np.concatenate([each.item[each.listed & ~each.reads] for each in lists]))[:200]
        steps.put(hot.HEADS, pa.table({"item": heads}))

    def compare(name: str, pairs: Frame) -> Frame:
        """As `comparing.similar_pairs`: pairs of one partition are compared once."""
        later, earlier = (np.concatenate([flat(table[each], np.int64) for table in pairs.partitions]) for each in ("later", "earlier"))
        pair = np.unique(later * N + earlier)
        seen.append(pair)
        pair = pair[similar(pair // N, pair % N)]
        ones = np.ones(len(pair), np.int64)
        return steps.table(name, lambda: Frame([pa.table({"later": pair // N, "earlier": pair % N, "overlap": ones, "out_of": 2 * ones})]))

    frame = Frame(
        [pa.Table.from_batches([with_place(rows(each, number * 10**6 + np.arange(len(each.begin) - 1)))]) for number, each in enumerate(lists)]
    )
    as_frame: Any = frame
    found = lazily.similar_pairs(steps, as_frame, 10**9, N, 0, PARTS, compare)  # type: ignore[arg-type]
    table = pa.concat_tables(found.partitions)  # type: ignore[attr-defined]
    every = np.unique(np.concatenate([np.dot(np.array([N, 1]), each.item[each.places()]) for each in lists]))
    every = every[similar(every // N, every % N)]
    later, earlier, listed = every // N, every % N, table["later"].to_numpy() * N + table["earlier"].to_numpy()
    ones = np.ones(len(every), np.int64)
    wanted = settled(later, earlier, ones, 2 * ones, N)
    here = settled(listed // N, listed % N, np.ones(len(listed), np.int64), np.full(len(listed), 2), N)
    assert np.array_equal(here.representative, wanted.representative) and np.count_nonzero(wanted.representative >= 0) > 1_000
    with_kept = (wanted.representative[later] >= 0) & (wanted.representative[earlier] < 0)
    assert np.isin(every[with_kept], listed).all() and np.isin(listed, every).all()
    assert sum(map(len, seen)) < 0.9 * len(every) * 3


def with_place(batch: pa.RecordBatch) -> pa.RecordBatch:
    return pa.record_batch([pa.array(np.zeros(len(batch), np.int64)), *batch.columns], names=["place", *batch.schema.names])
