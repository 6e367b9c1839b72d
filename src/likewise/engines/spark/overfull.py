"""The overfull buckets of all partitions, and the estimate of the pairs that the rule skipped in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import pyarrow.compute as pc

from likewise.engines.spark.blocks import flat
from likewise.engines.spark.steps import Steps
from likewise.stages.buckets import Splits
from likewise.stages.budget import Counts, Cut, Overfull, drawn, estimated, merged, overfull, skipped
from likewise.stages.candidates import FINER
from likewise.stages.scope import Scope
from likewise.stages.verify import Compared


def sizes(steps: Steps, name: str) -> np.ndarray:
    """The sizes of all buckets, from the step that lists their pairs: int64[buckets], in any order."""
    table = steps.read(name, ["size", "number"], pc.is_valid(pc.field("size")))
    return np.repeat(flat(table["size"], np.int64), flat(table["number"], np.int64))


def in_partitions(steps: Steps, bands: int, kept: np.ndarray, scope: Scope) -> Iterator[tuple[Splits, Overfull]]:
    """The overfull buckets of each partition that has some. kept: bool[items]"""
    levels = 1 + min(FINER, bands - 1)
    table = steps.read("collided", ["band", "partition", "member", "levels", "listed"], pc.is_valid(pc.field("member")))
    band, partition, item = (flat(table[name], np.int64) for name in ("band", "partition", "member"))
    level, listed = flat(table["levels"], (np.int32, (levels,))), flat(table["listed"], (np.uint8, (levels,)))
    order = np.lexsort((item, band, partition))
    ends = np.append(np.flatnonzero(np.diff(partition[order])) + 1, len(order)) if len(order) else np.zeros(0, np.int64)
    for mine in np.split(order, ends[:-1]) if len(order) else ():
        begin = np.searchsorted(band[mine], np.arange(bands + 1))
        here, own, is_listed = item[mine], level[mine].T, listed[mine].T.astype(bool)
        members = ((here[a:b], own[:, a:b], is_listed[:, a:b]) for a, b in pairwise(begin.tolist()))
        yield Splits(here, begin, own[1:], is_listed), overfull(members, lambda items: kept[items], scope)


def estimate(
    steps: Steps, bands: int, kept: np.ndarray, scope: Scope, seed: int, compare: Callable[[np.ndarray, np.ndarray], Compared]
) -> tuple[Counts, Cut]:
    """The overfull buckets, and what they left out.

    compare: compares items left, int64[m], with items right, int64[m], as `stages.verify` does.
    """
    found = list(in_partitions(steps, bands, kept, scope))
    counts = merged([overfull((), lambda items: kept[items], scope).counts, *(full.counts for _, full in found)])
    bucket, number = drawn(counts, seed)
    names, pairs = counts.name[bucket], [np.zeros((2, 0), np.int64)]
    for splits, full in found:
        here = np.flatnonzero(np.isin(names, full.counts.name))
        pairs.append(np.array(skipped(splits, full, np.searchsorted(full.counts.name, names[here]), number[here])))
    left, right = np.concatenate(pairs, axis=1)
    similar = np.count_nonzero(compare(left, right).overlap >= 0) if len(left) else 0
    return counts, estimated(counts, len(left), int(similar))
