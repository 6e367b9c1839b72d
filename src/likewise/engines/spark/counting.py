"""Common shingles, counted by Spark: a row for each shingle of each distinct item, grouped by shingle."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark import rows
from likewise.engines.spark.blocks import lists
from likewise.engines.spark.session import ADAPTIVE, changed
from likewise.engines.spark.sketching import PART, ROW
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.io.inputs import Source
from likewise.records import TEXT
from likewise.runs.items import Run
from likewise.stages.counting import NAMED, Common, limit_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def common(steps: Steps, run: Run, sources: Sequence[Source], groups: list[rows.Group], share: Fraction) -> tuple[Common, int]:
    """The shingles in more than a share of the distinct items, and the number of these items (`engines.engine.Engine.common`)."""
    from pyspark.sql import functions as F  # noqa: N812 - its usual name

    of_parts = run.job.options.level is not None
    entries = rows.sketch(steps, "counted", run.job.counting, sources, groups)
    chunks, damaged = rows.chunks_of(steps, "counted", sources, run)
    ranks = rows.ranks(steps, "counted", chunks, of_parts=of_parts)

    def distinct() -> DataFrame:
        items = entries.where((entries["what"] == (PART if of_parts else ROW)) & (entries["size"] != 0))
        items = items if of_parts else items.where(entries["kind"] == TEXT)
        for chunk in damaged:
            begin, number = (chunk["rank_of_parts"], chunk["parts"]) if of_parts else (chunk["rank"], chunk["rows"])
            items = items.where((entries["rank"] < begin) | (entries["rank"] >= begin + number))
        return items.groupBy("copy_a", "copy_b").agg(F.min("rank").alias("rank")).select("rank")

    with changed(steps.session, ADAPTIVE):
        first = steps.table("distinct", distinct)
    number = steps.rows("distinct")
    limit = limit_of(share, number)

    def frequent() -> DataFrame:
        sets = entries.where(entries["sets"].isNotNull()).select("rank", "sets").join(first, "rank")
        words = mapped(sets, spoken, "word long, rank long").groupBy("word")
        return words.agg(F.count("*").alias("items"), F.min("rank").alias("first")).where(F.col("items") > limit)

    with changed(steps.session, ADAPTIVE):
        steps.table("common", frequent)
    table = steps.read("common", ["word", "items", "first"])
    word, items, rank = table["word"].to_numpy().view(np.uint64), table["items"].to_numpy(), table["first"].to_numpy()
    most = np.lexsort((word, -items))[:NAMED]
    order = np.argsort(word)
    return Common(word[order], items[order], word[most], np.searchsorted(ranks, rank[most])), number


def spoken(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Sets -> an entry for each of their words."""
    for batch in batches:
        values, offsets = lists(pa.Table.from_batches([batch])["sets"])
        rank = np.repeat(batch["rank"].to_numpy(), np.diff(offsets))
        yield pa.record_batch([pa.array(values.view(np.int64)), pa.array(rank)], names=["word", "rank"])
