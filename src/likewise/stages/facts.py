"""Facts about rows and their outcomes, for the report. Facts of blocks can be merged, so an engine may partition rows in any way.

Each row has a *rank*, a number that ascends in input order: the number of the row, or, if the number of rows before it is unknown, the number of its
range of the input and its place in that range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from likewise.records import NO_TEXT, REJECTED, TEXT
from likewise.schema import REASONS
from likewise.stages.bins import Scales

#: Maximum number of rows that a warning names.
NAMED = 5


class Block(NamedTuple):
    """Some rows of one collection, in input order, of several sources."""

    source: np.ndarray  # int64[s]: the numbers of the sources, ascending
    ends: np.ndarray  # int64[s]: where the rows of each source end in the block
    rank: Sequence[int] | np.ndarray  # of each row, ascending


class Limits(NamedTuple):
    """The numbers of tokens by which items are counted, and whether groups and scores are counted."""

    few: int  # items with fewer match only when equal
    short: int  # items with fewer are not compared
    judged: int  # items with fewer are not judged by containment
    grouped: bool  # whether rows with a group are counted
    scored: bool  # whether rows with a score are counted


class Facts(NamedTuple):
    """Facts about some rows of one collection, for the report."""

    source: np.ndarray  # int64[s]: the numbers of the sources, ascending
    counts: dict[str, np.ndarray]  # name -> int64[s], numbers of rows
    first: dict[str, list[int]]  # name -> ranks of the first `NAMED` rows that are counted under it
    sums: dict[str, np.ndarray]  # name -> int64[k], other counts than those of rows

    def total(self, name: str) -> int:
        """The number of rows counted under a name."""
        return int(self.counts[name].sum()) if name in self.counts else 0

    @property
    def readable(self) -> int:
        """The number of rows that were not rejected."""
        return self.total("read") - self.total("rejected")

    @property
    def have_ids(self) -> bool:
        """True if a readable row has an id."""
        return self.readable > self.total("without_id")

    def by_source(self, name: str, numbers: range) -> list[int]:
        """The number of rows counted under a name, of each of these sources."""
        count = np.zeros(len(numbers), np.int64)
        count[self.source - numbers.start] = self.counts[name]
        return count.tolist()


def facts(block: Block, masks: Iterable[tuple[str, np.ndarray]], sums: dict[str, np.ndarray]) -> Facts:
    """Facts about the rows of a block. masks: yields names with the rows to count, bool[n], one at a time, because a block may be large."""
    parts = list(pairwise([0, *block.ends.tolist()]))
    counts = {"read": np.array([end - begin for begin, end in parts], np.int64)}
    first = {}
    for name, mask in masks:
        counts[name] = np.array([np.count_nonzero(mask[begin:end]) for begin, end in parts], np.int64)
        first[name] = [int(block.rank[row]) for row in first_true(mask, NAMED).tolist()]
    return Facts(block.source, counts, first, sums)


def merged(parts: Sequence[Facts]) -> Facts:
    """The facts about all rows of several blocks of one collection, in input order."""
    source = np.unique(np.concatenate([np.zeros(0, np.int64), *(part.source for part in parts)]))
    counts: dict[str, np.ndarray] = {}
    sums: dict[str, np.ndarray] = {}
    for part in parts:
        place = np.searchsorted(source, part.source)
        for name, count in part.counts.items():
            counts.setdefault(name, np.zeros(len(source), np.int64))[place] += count
        for name, values in part.sums.items():
            sums[name] = sums[name] + values if name in sums else values
    first = {name: list(chain.from_iterable(part.first.get(name, ()) for part in parts))[:NAMED] for part in parts for name in part.first}
    return Facts(source, counts, first, sums)


def row_facts(block: Block, column: Callable[[str], np.ndarray], ids: np.ndarray, ignored: np.ndarray, limits: Limits) -> Facts:
    """Facts about rows as they were read.

    column: gives a column of schema.ROW_COLUMNS. ids: bool[n], rows with an id. ignored: schema.IGNORED, or no rows if nothing is ignored.
    """
    kind, tokens = column("kind"), column("tokens")

    def masks() -> Iterable[tuple[str, np.ndarray]]:
        yield "rejected", kind == REJECTED
        yield "without_text", kind == NO_TEXT
        yield "without_id", (kind != REJECTED) & ~ids
        yield "empty", (kind != REJECTED) & (tokens == 0)
        yield "zero", (kind == TEXT) & (tokens == 0)
        yield "few", (kind != REJECTED) & (tokens > 0) & (tokens < limits.few)
        yield "short", (kind == TEXT) & (tokens > 0) & (tokens < limits.short)
        yield "not_judged", (kind == TEXT) & (tokens < limits.judged)
        if len(ignored) == len(kind):
            yield "bare", (ignored[:, 0] > 0) & (ignored[:, 0] == ignored[:, 1])
        if limits.grouped:
            yield "grouped", column("per") != 0
        if limits.scored:
            yield "scored", ~np.isnan(column("score"))

    return facts(block, masks(), {"shingles": ignored.sum(axis=0, dtype=np.int64)})


def outcome_facts(block: Block, removed: np.ndarray, reason: np.ndarray, value: np.ndarray, second: np.ndarray, scales: Scales) -> Facts:
    """Facts about the outcomes of rows.

    removed: bool[n]. reason: int8[n], a place in schema.REASONS. value: float64[n], similarity or distance to the kept row; NaN if it is not known.
    second: bool[n], removed for a row of the second collection. scales: the bins in which the values of near-duplicates are counted.
    """
    measured = removed & (reason == REASONS.index("near")) & ~np.isnan(value)

    def masks() -> Iterable[tuple[str, np.ndarray]]:
        yield "removed", removed
        yield from ((f"removed_{name}", removed & (reason == number)) for number, name in enumerate(REASONS))
        yield "measured", measured
        yield "for_second", second

    known = value[measured]
    return facts(block, masks(), {name: bins.count(known) for name, bins in scales._asdict().items()})


def first_true(mask: np.ndarray, count: int) -> np.ndarray:
    """The first ``count`` places where ``mask`` (bool[n]) is true, int64[count], or all if there are fewer."""
    size = 4 * count + 1024
    while size < len(mask) and np.count_nonzero(mask[:size]) < count:
        size *= 4
    return np.flatnonzero(mask[:size])[:count]
