"""All pairs of codes that share a table key and differ in few bits. Exact for Hamming distances: by the pigeonhole principle every pair shares one.

Tables are processed several at a time: sorted, split into parts of about equal work, and joined, part by part on threads.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import UsageError
from likewise.items.sets import read_only
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, PairBlock, Stop
from likewise.kernels.codejoin import NUMBER, SIFTED, collide, distances_of, sort_table, split_rows
from likewise.stages.workers import ALONE, Workers

#: Bytes of sorted tables held at once, or one table if that is more.
SORTED_BYTES = 2**28
#: Comparisons after which the kernel returns at the latest: a tenth of a second or two.
WORK_AT_ONCE = 2**28
#: Pairs that a kernel returns at once; pairs after which parts pause until those are taken; and parts in progress for each task.
PAIRS_AT_ONCE, PAIRS_HELD, UNDER_WAY = 2**17, 2**22, 4

#: Pairs that a measure compares before the thread checks if the run is being stopped.
COMPARED_AT_ONCE = 1024

#: Nanoseconds of one core of 2026: to sort an entry of a table and load its code; for a comparison; and for each of its words, up to four.
ENTRY_COST, COMPARE_COST, WORD_COST = 35.0, 0.1, 0.04
#: Limits of the layouts considered: tables, and blocks beyond the number of differing bits; and the sample of codes they are tried on.
MOST_TABLES, MOST_BLOCKS, SAMPLE = 500, 12, 2048

#: How codes are joined, for the report.
BY_BLOCKS = "blocks of bits"

#: Returns the similar pairs among candidates, left and right int64[m], and the number of exactly computed ones.
Check = Callable[[np.ndarray, np.ndarray], tuple[PairBlock, int]]
#: The similarities of the i-th items, left and right int64[m]: float64[m].
Compare = Callable[[np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Tables:
    """Keys made of some bits of a code. pieces: int64[tables, pieces, 3], as kernels.codejoin takes them."""

    pieces: np.ndarray

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def widths(self) -> np.ndarray:
        """The number of bits of each key: int64[tables]."""
        widths: np.ndarray = self.pieces[:, :, 2].sum(axis=1)
        return widths

    @classmethod
    def of(cls, keys: Sequence[Sequence[tuple[int, int]]]) -> Tables:
        """Tables from the bits of each key, as spans (begin, end) without the end."""
        split = [[piece for span in key for piece in in_words(*span)] for key in keys]
        longest = max(map(len, split), default=0)
        padded = [key + [(0, 0, 0)] * (longest - len(key)) for key in split]
        return cls(np.array(padded, np.int64).reshape(len(keys), longest, 3))

    @classmethod
    def bands(cls, bands: int, rows: int) -> Tables:
        """Bands of ``rows`` bits each, as many in a word as fit whole. Without rows: a table in which all codes collide."""
        each, words = in_word(rows)
        begins = [band // each * words * 64 + band % each * rows for band in range(bands)]
        return cls.of([[(begin, begin + rows)] for begin in begins])

    @staticmethod
    def bits_of_bands(bands: int, rows: int) -> int:
        """The number of bits of codes with this many bands."""
        each, words = in_word(rows)
        return -(-bands // each) * words * 64

    @classmethod
    def pigeonhole(cls, bits: int, blocks: int, within: int) -> Tables:
        """Tables of all keys of blocks - within of ``blocks`` blocks, of about equal size: codes that differ in at most ``within`` bits share one."""
        ends = [bits * block // blocks for block in range(blocks + 1)]
        spans = list(itertools.pairwise(ends))
        return cls.of([list(key) for key in itertools.combinations(spans, blocks - within)])


def in_word(rows: int) -> tuple[int, int]:
    """(bands, words): this many bands fit into this many words."""
    return max(1, 64 // max(1, rows)), -(-rows // 64)


def in_words(begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield the span of bits as (word, shift, width), each of up to 63 bits of one word."""
    while begin < end:
        width = min(end - begin, 63, 64 - begin % 64)
        yield begin // 64, begin % 64, width
        begin += width


class Part(NamedTuple):
    """Rows of a sorted table."""

    table: int
    entries: np.ndarray
    begin: int
    end: int
    at: np.ndarray  # where to continue, as kernels.codejoin.collide takes it

    @property
    def done(self) -> bool:
        return bool(self.at[0] >= self.end)


@dataclass(frozen=True)
class TableJoin:
    """All pairs of items whose codes collide in a table, differ in at most ``cut`` bits, and pass ``check``.

    A table is cut into at least as many parts as there are tasks; only the order of pairs depends on their number. Progress is counted in collisions.
    """

    codes: np.ndarray  # uint64[n, words]
    tables: Tables
    cut: int
    first_cut: int
    check: Check
    live: np.ndarray | None = None  # bool[n]: items that can be similar to others; None: all
    per: np.ndarray | None = None  # uint64[n]: only pairs of equal values; None: all pairs
    workers: Workers = ALONE
    cost: float = 0.0
    recall: float | None = 1.0
    reported: dict[str, Any] = field(default_factory=dict)
    counted: str = "collisions"  # the field of Counts that counts compared pairs

    def facts(self) -> dict[str, Any]:
        return self.reported

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it."""
        items, side = among.chosen(len(self.codes), self.live)
        if items is None:
            yield from self.blocks(side, most, counts or Counts())
            return
        some, per = items, self.per

        def check(left: np.ndarray, right: np.ndarray) -> tuple[PairBlock, int]:
            return self.check(some[left], some[right])

        part = replace(self, codes=read_only(self.codes[some]), check=check, live=None, per=None if per is None else per[some])
        yield from part.blocks(side, most, counts or Counts())

    def blocks(self, side: np.ndarray | None, most: int, counts: Counts) -> Iterator[PairBlock]:
        """Yield the pairs of all items, of which some may have no side."""
        side = np.zeros(0, np.uint8) if side is None else np.ascontiguousarray(side, np.uint8)
        per = np.zeros(0, np.uint64) if self.per is None or not self.per.any() else np.ascontiguousarray(self.per, np.uint64)
        if len(self.codes) < 2:
            return
        if len(self.codes) > 2**NUMBER:
            raise UsageError(f"{len(self.codes):,} items; at most {2**NUMBER:,} can be joined at once")
        largest, tasks = max(1, SORTED_BYTES // (8 * len(self.codes))), self.workers.tasks
        begin, at_once, stop = 0, min(tasks, largest), Stop(most)
        while begin < len(self.tables) and not stop:
            tables = range(begin, min(begin + at_once, len(self.tables)))
            parts = []
            for table, (entries, places, collisions) in zip(
                tables, self.workers.run(lambda table: self.sorted(table, side, per), tables), strict=True
            ):
                self.workers.expect(collisions)
                spans = itertools.pairwise(places.tolist())
                parts += [Part(table, entries, begin, end, np.array([begin, 0, 0], np.int64)) for begin, end in spans]
            while parts and not stop:
                now, parts = parts[: UNDER_WAY * tasks], parts[UNDER_WAY * tasks :]
                room = PAIRS_HELD // len(now)
                for found, seen in self.workers.run(lambda part, room=room: self.part(part, side, per, stop, room), now):
                    counts.add(seen)
                    yield from found
                parts = [part for part in now if not part.done] + parts
            begin, at_once = tables.stop, min(2 * at_once, largest)  # few at first: the pairs wanted may be found soon

    def sorted(self, table: int, side: np.ndarray, per: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The entries of a table, the places where its parts begin and end, and the total number of comparisons."""
        entries = sort_table(self.codes, self.tables.pieces[table], side, per)
        return entries, *split_rows(entries, len(side) > 0, self.workers.tasks, WORK_AT_ONCE)

    def part(self, part: Part, side: np.ndarray, per: np.ndarray, stop: Stop, most: int) -> tuple[list[PairBlock], Counts]:
        """The checked pairs of the rows of one part, until there are more than ``most``."""
        pairs = np.empty((2, PAIRS_AT_ONCE + SIFTED), np.int64)
        found, counts, collisions = [], Counts(), np.zeros(2, np.int64)
        while not part.done and counts.found <= most and not stop:
            before = int(collisions[0])
            place = (part.table, part.entries, side, per, part.begin, part.end, part.at, self.cut, self.first_cut)
            written = collide(self.codes, self.tables.pieces, *place, pairs, collisions)
            if written:
                block, computed = self.check(pairs[0, :written].copy(), pairs[1, :written].copy())
                found.append(block)
                counts.proposed += written
                counts.computed += computed
                counts.found += len(block.left)
                stop.found += len(block.left)
            self.workers.advance(int(collisions[0]) - before)
        counts.collisions, counts.near = collisions.tolist()
        counts.compared = getattr(counts, self.counted)
        return found, counts


def code_join(codes: np.ndarray, bits: int, within: int, *, walk: bool = False, **how: Any) -> TableJoin:
    """All pairs of codes, uint64[n, words], that differ in at most ``within`` of their ``bits`` bits; the value is the distance.

    Equal codes are pairs: collapse those first, because a million of them are 5·10^11 pairs.

    walk: a greedy walk will skip most items that are similar to an earlier one, so the layout is chosen for the others. ``how``: per and workers.
    """
    codes = read_only(np.ascontiguousarray(codes))
    within = min(within, bits)

    def check(left: np.ndarray, right: np.ndarray) -> tuple[PairBlock, int]:
        return PairBlock(left, right, distances_of(codes, left, right).astype(np.float64)), len(left)

    tables, cost = cheapest(codes[sample_of(len(codes))], len(codes), bits, within, walk=walk)
    return TableJoin(codes, tables, within, within, check, cost=cost, reported=named(BY_BLOCKS, bits), **how)


def all_pairs_join(count: int, check: Check, cost: float = 0.0, dimension: int = 0, **how: Any) -> TableJoin:
    """Compares all pairs with ``check``: a table in which all items collide. ``how``: as for `code_join`."""
    codes = read_only(np.zeros((count, 1), np.uint64))
    return TableJoin(codes, Tables.bands(1, 0), 64, 64, check, cost=cost, reported=named("all pairs", dimension), **how)


def checker(compare: Compare, least: float, advance: Callable[[int], None], first: Check | None = None) -> Check:
    """A check that passes pairs of at least this similarity. first: a cheaper check before it."""

    def check(left: np.ndarray, right: np.ndarray) -> tuple[PairBlock, int]:
        if first is not None:
            (left, right, _), _ = first(left, right)
        values = np.empty(len(left))
        for at in range(0, len(left), COMPARED_AT_ONCE):
            some = slice(at, at + COMPARED_AT_ONCE)
            values[some] = compare(left[some], right[some])
            advance(0)  # raises if the run is being stopped
        good = values >= least
        return PairBlock(left[good], right[good], values[good]), len(left)

    return check


def named(by: str, dimension: int, **more: Any) -> dict[str, Any]:
    """The facts about a join for report.json."""
    return {"join": {"by": by, "dimension": dimension, **more}, "curve": []}


def sample_of(count: int) -> np.ndarray:
    """The codes, of so many, that a layout is tried on: int64[k], ascending."""
    return np.unique(np.random.default_rng(0).integers(0, max(1, count), SAMPLE)) if count else np.zeros(0, np.int64)


def cheapest(sample: np.ndarray, count: int, bits: int, within: int, *, walk: bool = False, entry: float = ENTRY_COST) -> tuple[Tables, float]:
    """The layout of minimum predicted cost, and its cost: one table in which all codes collide, or keys of some of many blocks.

    The cost is predicted from the keys of a sample of ``count`` codes. entry: nanoseconds for an entry of a table.
    """
    sample = read_only(sample)
    if walk:
        sample = dissimilar(sample, within)
    best, least = Tables.bands(1, 0), math.inf
    for blocks in range(max(within, 1), min(bits, within + MOST_BLOCKS) + 1):
        number = math.comb(blocks, within)
        if number > MOST_TABLES or number * entry * count >= least:
            break
        tables = Tables.pigeonhole(bits, blocks, within)
        if (price := cost(sample, tables, count, entry)) < least:
            best, least = tables, price
    return best, least


def dissimilar(codes: np.ndarray, within: int) -> np.ndarray:
    """The codes without those within a distance of an earlier one."""
    alone = np.ones(len(codes), bool)
    join = TableJoin(codes, Tables.bands(1, 0), within, within, lambda left, right: (PairBlock(left, right, np.empty(0)), 0))
    for block in join.pairs():
        alone[block.right] = False
    return read_only(codes[alone])


def cost(sample: np.ndarray, tables: Tables, items: int, entry: float = ENTRY_COST) -> float:
    """The predicted cost in nanoseconds of one core. A key's share of the pairs is that of the sample, but at least that of random bits."""
    each = COMPARE_COST + WORD_COST * min(4, sample.shape[1])
    none = np.zeros(0, np.uint8), np.zeros(0, np.uint64)
    total = 0.0
    for pieces, width in zip(tables.pieces, tables.widths.tolist(), strict=True):
        collisions = split_rows(sort_table(sample, pieces, *none), False, 1, WORK_AT_ONCE)[1]
        share = max(2.0**-width, collisions / max(1, len(sample) * (len(sample) - 1) / 2))
        total += entry * items + each * share * items * items / 2
    return total
