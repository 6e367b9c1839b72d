"""Pairs of similar items: blocks of pairs, the selection of items, and the protocol of every join.

Items are numbered from 0 in priority order. A join finds all pairs of its items within a limit, for any kind of item; `joins.greedy` decides over
any join which items are removed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Sides = NDArray[np.uint8]
Groups = NDArray[np.uint64]

#: No bound on the number of pairs.
UNBOUNDED = 2**62


class PairBlock(NamedTuple):
    """m similar pairs."""

    left: Longs  # int64[m]: the earlier item in priority order; by containment the contained one
    right: Longs  # int64[m]
    value: NDArray[np.float64]  # float64[m]: exact similarity or distance; a ratio is correctly rounded, so equal ratios are equal


class Among(NamedTuple):
    """A selection of items whose pairs are requested."""

    items: Longs | None = None  # int64[k], ascending; None: all
    side: Sides | None = None  # uint8[k]: 1 of A, 2 of B, 3 of both, 0 of neither; only pairs across are requested. None: all pairs

    def chosen(self, n: int, live: NDArray[np.bool_] | None = None) -> tuple[Longs | None, Sides | None]:
        """The items and sides without those that can be in no pair: without a side, or not ``live``, bool[n]. None as above."""
        items, side = self.items, self.side
        there = None if live is None or live.all() else live if items is None else live[items]
        if side is not None and not side.all():
            there = side > 0 if there is None else there & (side > 0)
        if there is None:
            return items, side
        items = np.arange(n) if items is None else items
        return items[there], None if side is None else side[there]


ALL = Among()


@dataclass
class Counts:
    """Counters of the work of a join, independent of the number of threads."""

    visited: int = 0  # visited entries of an index
    collisions: int = 0  # pairs of codes that collided, once for each table
    near: int = 0  # collisions with few enough differing bits
    proposed: int = 0  # distinct pairs among those
    computed: int = 0  # pairs of vectors compared exactly
    compared: int = 0  # compared pairs of items, for the report
    found: int = 0  # similar pairs

    def add(self, more: Counts) -> None:
        """Add the counts of another."""
        for name, number in vars(more).items():
            setattr(self, name, getattr(self, name) + number)


@dataclass
class Stop:
    """True once more is found than wanted. Threads may lose each other's additions, which only delays the stop and never causes one."""

    most: int
    found: int = 0

    def __bool__(self) -> bool:
        return self.found > self.most


class Join(Protocol):
    """All pairs of some items within a limit. If the join was made with groups (``per``), only items of one group are paired."""

    @property
    def cost(self) -> float:
        """The predicted cost of all pairs in nanoseconds of one core, equal on every machine; 0 without a prediction."""

    @property
    def recall(self) -> float | None:
        """The probability of finding a pair exactly at the limit: 1.0 for exact joins, None if unknown."""

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """Yield the similar pairs, each once, in no particular order. Ends early once more than ``most`` are found. ``counts`` is added to."""

    def facts(self) -> dict[str, Any]:
        """The facts for report.json: ``join``, the method, and ``curve``, the probability of finding a pair by its value."""
