"""The components of kept items that match a common item: in one task if it can hold their links, otherwise in rounds over blocks of items."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from likewise.engines.spark import settling
from likewise.engines.spark.blocks import flat, places, whole
from likewise.engines.spark.settling import OPEN, Log, batch, blocks_for, equal_blocks, undecided
from likewise.engines.spark.steps import Steps
from likewise.engines.spark.tasks import mapped
from likewise.engines.spark.told import Columns, said, schema, sent, with_told
from likewise.stages.components import contracted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

#: An item and the first item of its component that is known so far; and 1 if that has changed, so that another round is needed, or null.
FIRST = "later long, earlier long, moved long"


def components(steps: Steps, name: str, number: int, log: Log = lambda _: None) -> DataFrame | None:
    """The kept items that are not the first of their components, each with the first one: item, first; None without any.

    name: the step of matches. number: of items.

    Links are contracted block by block until each item has one link. Then they are followed to the first item, twice as far in each step.
    """
    many, rounds = steps.filled(name, "previous"), 0
    if not many:
        return None
    links, moved = steps.frame(name).where("previous is not null").selectExpr("earlier as later", "previous as earlier"), many
    borders = equal_blocks(links, number, blocks_for(many)) if many > settling.ALONE else np.zeros(0, np.int64)
    while moved:
        links = steps.table(f"contract-{rounds}", partial(contract_links, links, borders))
        rounds, moved = rounds + 1, steps.filled(f"contract-{rounds}", "moved")
        if len(borders):
            log(f"components, round {rounds}: {moved:,} links to other blocks")
    moved, rounds = len(borders), 0
    while moved:
        links = steps.table(f"follow-{rounds}", partial(follow, links, 1 + len(borders)))
        rounds, moved = rounds + 1, steps.filled(f"follow-{rounds}", "moved")
        log(f"components, step {rounds}: {moved:,} items moved")
    return links.selectExpr("later as item", "earlier as first")


def contract_links(links: DataFrame, borders: np.ndarray) -> DataFrame:
    at = places(1 + len(borders))
    blocks = mapped(links.select("later", "earlier"), partial(undecided, borders=borders, at=at), schema(OPEN))
    return mapped(blocks.repartition(len(at), "place"), partial(contract, borders=borders), FIRST)


def contract(batches: Iterator[pa.RecordBatch], borders: np.ndarray) -> Iterator[pa.RecordBatch]:
    """The links of a block -> `FIRST`."""
    table = whole(batches)
    if table is None:
        return
    later, earlier = flat(table["later"], np.int64), flat(table["earlier"], np.int64)
    item, first = contracted(later, earlier)
    yield batch(FIRST, item, first, ones(np.searchsorted(borders, item, side="right") != np.searchsorted(borders, later[:1], side="right")))


def follow(links: DataFrame, parts: int) -> DataFrame:
    """Each item with the item that its own one points to."""
    ends = ["later", "earlier"]
    return with_told(sent(links, ends, "earlier", parts), ends, "earlier", said(links, "later", "earlier", parts), -1, moved_on, FIRST, parts)


def moved_on(links: Columns, onward: np.ndarray) -> Iterator[pa.RecordBatch]:
    yield batch(FIRST, links["later"], np.where(onward >= 0, onward, links["earlier"]), ones(onward >= 0))


def ones(some: np.ndarray) -> pa.Array:
    return pa.array(np.ones(len(some), np.int64), mask=~some)
