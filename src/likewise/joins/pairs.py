"""Pairs of similar items: blocks of them, which ones are wanted, and the protocol of every join.

Items are numbered from 0 in keep order. A join finds all pairs of its items within a limit, whatever the kind of item; `joins.greedy` decides over
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

    left: Longs  # int64[m]: the item that is earlier in keep order; by containment the one that is contained
    right: Longs  # int64[m]
    value: NDArray[np.float64]  # float64[m]: exact similarity or distance; a ratio is correctly rounded, so equal ratios are equal


class Among(NamedTuple):
    """The items whose pairs are wanted."""

    items: Longs | None = None  # int64[k], ascending; None: all
    side: Sides | None = None  # uint8[k]: 1 of A, 2 of B, 3 of both, 0 of none; only pairs across are wanted. None: all pairs

    def chosen(self, n: int, live: NDArray[np.bool_] | None = None) -> tuple[Longs | None, Sides | None]:
        """The items and sides without those that are in no pair: of no side, or not ``live``, bool[n]. None as above."""
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
    """The work of a join, whatever the number of threads; added to as it goes on."""

    visited: int = 0  # entries of an index that were looked at
    met: int = 0  # codes that met in a table, each time
    near: int = 0  # of those, the ones that differed in few enough bits
    proposed: int = 0  # different pairs among these
    computed: int = 0  # pairs of vectors whose measure was computed exactly
    compared: int = 0  # pairs of items that were compared: what a report says
    found: int = 0  # similar pairs

    def add(self, more: Counts) -> None:
        for name, number in vars(more).items():
            setattr(self, name, getattr(self, name) + number)


@dataclass
class Stop:
    """True once more is found than is wanted. Threads add to it at once; what is lost thereby only makes it late, and never stops what is to end."""

    most: int
    found: int = 0

    def __bool__(self) -> bool:
        return self.found > self.most


class Join(Protocol):
    """All pairs of some items within a limit. Only items of the same group are paired, where the join was made with groups (``per``)."""

    @property
    def cost(self) -> float:
        """Predicted nanoseconds of one core for all pairs, the same on every machine; 0 where nothing is predicted."""

    @property
    def recall(self) -> float | None:
        """The probability that a pair exactly at the limit is found: 1.0 where none is missed, None where nothing is promised."""

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """The similar pairs, each once, in no particular order. Ends early once more than ``most`` are found. ``counts`` is added to."""

    def facts(self) -> dict[str, Any]:
        """For report.json: ``join``, how pairs are found, and ``curve``, the probability that a pair is found by its value."""
