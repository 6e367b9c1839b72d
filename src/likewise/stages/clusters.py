"""Facts about clusters, for the report: their number and sizes, the largest, and those that look like pages of one template.

Pages of one template share a header, a menu and a license. Where that is most of their text, pages about different things pass the threshold, and
only one of them is kept. Their similarities show it: each page differs from the kept one by its own text, so they lie close above the threshold.
Copies that were edited lie close to 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

#: Minimum near-duplicates removed for one item in a cluster of template pages: revisions of a text are fewer, and a smaller cluster does little
#: harm.
LARGE = 30
#: Minimum share of them that is less similar than half-way from the threshold to 1: most edited copies lie in the upper half. The share is
#: below 1 because a template has its own near-duplicates, which lie higher.
MOSTLY, HALF_WAY = 0.75, 0.5
#: Clusters listed in the report.
LISTED = 10


class Block(NamedTuple):
    """Some clusters, one entry each, in any order."""

    head: np.ndarray  # int64[n]: the rank (stages.facts) of the representative
    first: np.ndarray  # bool[n]: the first cluster of its component
    members: np.ndarray  # int64[n]: items removed for the representative
    near: np.ndarray  # int64[n]: near-duplicates of known similarity among them; 0 for kinds without templates
    low: np.ndarray  # int64[n]: near-duplicates less similar than half-way to 1
    source: np.ndarray  # int64[m]: the sources of representatives in the second collection, one for each document


class Clusters(NamedTuple):
    """Facts about some clusters, for the report."""

    components: int
    sizes: np.ndarray  # int64[k]: distinct numbers of items of a cluster, ascending
    times: np.ndarray  # int64[k]: clusters of that size
    largest: np.ndarray  # int64[m, 2]: rank of the representative and number of items of the `LISTED` largest, the largest first
    templates: int
    templated: int  # near-duplicates in them
    listed: np.ndarray  # int64[m, 3]: rank, near and low of the `LISTED` largest templates
    source: np.ndarray  # int64[s]: sources of the second collection with representatives, ascending
    matched: np.ndarray  # int64[s]: the number of these representatives

    @property
    def number(self) -> int:
        """The number of clusters."""
        return int(self.times.sum())


def clusters(block: Block) -> Clusters:
    """Facts about the clusters of a block."""
    size, near, low = block.members + 1, block.near, block.low
    chosen = np.flatnonzero((near >= LARGE) & (low >= MOSTLY * near))
    return Clusters(
        int(np.count_nonzero(block.first)),
        *np.unique(size, return_counts=True),
        first(block.head, size),
        len(chosen),
        int(near[chosen].sum()),
        first(block.head[chosen], near[chosen], low[chosen]),
        *np.unique(block.source, return_counts=True),
    )


def merged(parts: Sequence[Clusters]) -> Clusters:
    """The facts about the clusters of several blocks, in any order."""
    parts = [NOTHING, *parts]
    return Clusters(
        sum(part.components for part in parts),
        *added([(part.sizes, part.times) for part in parts]),
        first(*np.concatenate([part.largest for part in parts]).T),
        sum(part.templates for part in parts),
        sum(part.templated for part in parts),
        first(*np.concatenate([part.listed for part in parts]).T),
        *added([(part.source, part.matched) for part in parts]),
    )


def first(rank: np.ndarray, size: np.ndarray, *others: np.ndarray) -> np.ndarray:
    """The `LISTED` largest clusters, the first ones of equal size: int64[m, k] of the given columns, int64[n] each."""
    rows = np.arange(len(size)) if len(size) <= LISTED else np.flatnonzero(size >= np.partition(size, -LISTED)[-LISTED])
    rows = rows[np.lexsort((rank[rows], -size[rows]))[:LISTED]]
    return np.stack([column[rows] for column in (rank, size, *others)], axis=1)


def added(counts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Add up counts of values, int64[k] both: the distinct values, ascending, and the total count of each."""
    values, place = np.unique(np.concatenate([each for each, _ in counts]), return_inverse=True)
    total = np.zeros(len(values), np.int64)
    np.add.at(total, place, np.concatenate([each for _, each in counts]))
    return values, total


_NONE = np.zeros(0, np.int64)
#: No clusters.
NOTHING = clusters(Block(*[_NONE] * 6))
