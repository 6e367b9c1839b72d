"""Facts about clusters, for the report: their number and sizes, the largest, and those that people should look at.

A cluster is suspicious if it has very many items, or items of many sources, or looks like pages of one template. Such pages share a header, a menu
and a license. Where that is most of their text, pages about different things pass the threshold, and only one of them is kept. Their similarities
show it: each page differs from the kept one by its own text, so they lie close above the threshold. Copies that were edited lie close to 1.
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
#: Minimum items of a cluster that is listed for its size, and minimum sources of the items of one that is listed for these.
MANY_ITEMS, MANY_SOURCES = 100, 10
#: Clusters listed in the report: the largest, and suspicious ones.
LARGEST, SUSPICIOUS = 10, 20
#: The members listed of such a cluster.
MEMBERS = 5


class Block(NamedTuple):
    """Some clusters, one entry each, in any order."""

    head: np.ndarray  # int64[n]: the rank (stages.facts) of the representative
    first: np.ndarray  # bool[n]: the first cluster of its component
    members: np.ndarray  # int64[n]: items removed for the representative
    near: np.ndarray  # int64[n]: near-duplicates of known value among them
    low: np.ndarray  # int64[n]: near-duplicates less similar than half-way to 1; 0 for kinds without templates
    sources: np.ndarray  # int64[n]: the number of sources of all these items and the representative
    source: np.ndarray  # int64[m]: the sources of representatives in the second collection, one for each document


class Listed(NamedTuple):
    """Clusters in the report, int64[m] each."""

    head: np.ndarray  # as in `Block`
    items: np.ndarray  # members and the representative
    near: np.ndarray
    low: np.ndarray
    sources: np.ndarray

    def at(self, places: np.ndarray) -> Listed:
        """The clusters at some places, int64[k] or bool[m]."""
        return Listed(*(column[places] for column in self))

    @property
    def reasons(self) -> dict[str, np.ndarray]:
        """Reasons to look at a cluster, bool[m] each: many pages of a template, many items, items from many sources."""
        template = (self.near >= LARGE) & (self.low >= MOSTLY * self.near)
        return {"template": template, "large": self.items >= MANY_ITEMS, "sources": self.sources >= MANY_SOURCES}


class Clusters(NamedTuple):
    """Facts about some clusters, for the report."""

    components: int
    sizes: np.ndarray  # int64[k]: distinct numbers of items of a cluster, ascending
    times: np.ndarray  # int64[k]: clusters of that size
    largest: Listed  # the `LARGEST` largest
    templates: int
    templated: int  # near-duplicates in them
    suspicious: Listed  # at most `SUSPICIOUS` of those with a reason to look at them: templates first, then the largest
    source: np.ndarray  # int64[s]: sources of the second collection with representatives, ascending
    matched: np.ndarray  # int64[s]: the number of these representatives

    @property
    def number(self) -> int:
        """The number of clusters."""
        return int(self.times.sum())


def clusters(block: Block) -> Clusters:
    """Facts about the clusters of a block."""
    every = Listed(block.head, block.members + 1, block.near, block.low, block.sources)
    template = every.reasons["template"]
    return Clusters(
        int(np.count_nonzero(block.first)),
        *np.unique(every.items, return_counts=True),
        largest(every),
        int(np.count_nonzero(template)),
        int(block.near[template].sum()),
        suspicious(every),
        *np.unique(block.source, return_counts=True),
    )


def merged(parts: Sequence[Clusters]) -> Clusters:
    """The facts about the clusters of several blocks, in any order."""
    parts = [NOTHING, *parts]
    return Clusters(
        sum(part.components for part in parts),
        *added([(part.sizes, part.times) for part in parts]),
        largest(together([part.largest for part in parts])),
        sum(part.templates for part in parts),
        sum(part.templated for part in parts),
        suspicious(together([part.suspicious for part in parts])),
        *added([(part.source, part.matched) for part in parts]),
    )


def together(parts: Sequence[Listed]) -> Listed:
    """The clusters of several lists."""
    return Listed(*map(np.concatenate, zip(*parts, strict=True)))


def largest(found: Listed) -> Listed:
    """The `LARGEST` largest clusters, the first ones of equal size."""
    if len(found.items) > LARGEST:
        found = found.at(found.items >= np.partition(found.items, -LARGEST)[-LARGEST])
    return found.at(np.lexsort((found.head, -found.items))[:LARGEST])


def suspicious(found: Listed) -> Listed:
    """At most `SUSPICIOUS` clusters with a reason to look at them: templates first, then the largest, the first ones of equal size."""
    found = found.at(np.logical_or.reduce(list(found.reasons.values())))
    return found.at(np.lexsort((found.head, -found.items, ~found.reasons["template"]))[:SUSPICIOUS])


def added(counts: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Add up counts of values, int64[k] both: the distinct values, ascending, and the total count of each."""
    values, place = np.unique(np.concatenate([each for each, _ in counts]), return_inverse=True)
    total = np.zeros(len(values), np.int64)
    np.add.at(total, place, np.concatenate([each for _, each in counts]))
    return values, total


_NONE = np.zeros(0, np.int64)
#: No clusters.
NOTHING = clusters(Block(*[_NONE] * 7))
