"""The outcome of items from their similar pairs, in one task."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark.blocks import whole
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.stages import settle

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

SETTLED = "item long, representative long, overlap long, out_of long"


def settled(steps: Steps, similar: DataFrame, number: int) -> DataFrame:
    """The step of removed items, each with its representative and the similarity to it. number: of items."""
    return steps.table("settled", lambda: mapped(similar.repartition(1), partial(decide, number=number), SETTLED))


def decide(batches: Iterator[pa.RecordBatch], number: int) -> Iterator[pa.RecordBatch]:
    """All similar pairs -> the removed items."""
    table = whole(batches)
    if table is None:
        return
    later, earlier, overlap, out_of = (table[name].to_numpy() for name in ("later", "earlier", "overlap", "out_of"))
    found = settle.settled(later, earlier, overlap, out_of, number)
    item = np.flatnonzero(found.representative >= 0)
    columns = item, *(each[item] for each in found)
    yield pa.record_batch([pa.array(each) for each in columns], names=["item", "representative", "overlap", "out_of"])
