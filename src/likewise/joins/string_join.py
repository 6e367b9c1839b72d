"""Exact joins of strings: every pair within D edits, or with a similarity of at least S.

The signs of two strings (items.strings) differ in at most as many bits as code points that one of them lacks. All measures bound that number, and the
length of the shorter string, by the length of the longer one (`room` and `least` of measures.strings). So a scan of all pairs of suitable lengths
excludes most of them in a nanosecond or two each.

For edits, q-grams exclude more, if strings are many. The count filter (Gravano and others, Approximate String Joins in a Database (Almost) for Free,
VLDB 2001): let s be the longer of two strings, and take an alignment of both with at most D edits. Of the |s| - q + 1 runs of q code points of s an
edit spoils at most q: those with the code point it deletes or replaces, or the q - 1 into which it inserts. The other runs, at least |s| - q + 1 - qD
of them, occur in the other string too, each at its own place. So the bags of q-grams share at least that many, whether a replacement counts as one
edit (Levenshtein) or two. An exact join finds all pairs that do.

The bound is useful if it is at least 1: for q up to |s| / (D + 1). So pairs are split by the length of the longer string into *layers*, each with
its own q and D. Each layer is scanned if that is predicted to cost less.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.items.strings import Strings, strings_of
from likewise.joins.combined import FEW_KEYS, KEYS_OF_AN_ELEMENT
from likewise.joins.costs import cost_of_keys, half_of_lists, visit
from likewise.joins.deletions import MOST_DELETIONS, joined_by_rests, number_of_rests
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Groups, Longs, PairBlock, Sides
from likewise.joins.prefix import TASKS, Joined, Places, Rule, join_of, matches, split, windows
from likewise.kernels.grams import grams
from likewise.kernels.join import GRAMS
from likewise.kernels.strings import PREFIX, scan
from likewise.measures.edit import Edits
from likewise.measures.strings import MEASURES, StringMeasure
from likewise.stages.ranking import ranked
from likewise.stages.workers import ALONE, Workers

#: The maximum length of a q-gram.
LONGEST_GRAM = 12
#: A layer has the distances from D to D + D / NARROW.
NARROW = 8
#: Rests are considered from this many strings, and used if they are predicted to be this many times faster.
FEWEST, GAIN = 1 << 10, 2
#: Nanoseconds of one core of 2026 to compare the signs of a pair, to measure a pair, and to make, enter and look up a gram.
SIGNS, MEASURED, GRAM = 1.5, 100.0, 150.0
#: Pairs in the sample that shows how many the signs exclude; pairs scanned, and candidates held, before a task returns.
SAMPLED, SCANNED_AT_ONCE, HELD = 1 << 12, 1 << 26, 1 << 16


class Layer(NamedTuple):
    """Pairs whose longer string has ``shortest`` to ``longest`` code points, within some edits, found by common q-grams; only by a scan if q is 0."""

    q: int
    within: int
    shortest: int
    longest: int

    def members(self, length: Longs) -> Longs:
        """The places of the strings that such pairs may have, int64[m], with shorter ones down to one gram."""
        return np.flatnonzero((length >= max(self.shortest - self.within, self.q)) & (length <= self.longest))


def layers(strings: Strings, measure: StringMeasure, limit: Fraction) -> list[Layer]:
    """The nonempty layers.

    A longer gram is rarer, but a string must look up more of them. It need not be longer than it takes for the possible grams to outnumber all code
    points: log2 of their number, divided by the entropy of a code point here, in bits.
    """
    lengths = np.unique(strings.length)
    if not isinstance(measure, Edits):
        return [Layer(0, int(lengths[-1]), 0, int(lengths[-1]))] if len(lengths) else []
    most = 2
    if len(strings.points):
        share = np.unique(strings.points, return_counts=True)[1] / len(strings.points)
        bits = max(0.5, -float((share * np.log2(share)).sum()))
        most = min(LONGEST_GRAM, max(most, math.ceil(math.log2(len(strings.points)) / bits)))
    within = coarse(measure.edits(lengths, limit))
    q = np.minimum(lengths // (within + 1), most)
    runs = np.split(np.arange(len(q)), np.flatnonzero((np.diff(q) != 0) | (np.diff(within) != 0)) + 1)
    return [Layer(int(q[at[0]]), int(within[at[0]]), int(lengths[at[0]]), int(lengths[at[-1]])) for at in runs if len(at)]


def coarse(within: Longs) -> Longs:
    """Ascending distances, int64[n], rounded up to the largest of their layer."""
    ends: list[int] = []
    first = -1
    for distance in np.unique(within).tolist():
        if first >= 0 and distance <= first + first // NARROW:
            ends[-1] = distance
        else:
            first = distance
            ends.append(distance)
    return np.array(ends, np.int64)[np.searchsorted(ends, within)]


class StringJoin:
    """All pairs of strings within a number of edits, or with a minimum similarity. The value is that of the measure.

    measure: a name in `measures.strings`. Equal strings are pairs: callers collapse copies first. An empty string is a valid string: callers leave
    empty items out. per: uint64[n], only pairs of equal values. Progress is counted in strings.
    """

    recall = 1.0

    def __init__(self, texts: Sequence[str] | pa.Array, measure: str, limit: Fraction | int, *, per: Groups | None = None, workers: Workers = ALONE):
        self.strings, self.measure, self.limit = strings_of(texts), MEASURES[measure], Fraction(limit)
        self.layers = layers(self.strings, self.measure, self.limit)
        self.room = self.measure.room(self.strings.length, self.limit)
        self.least = self.measure.least(self.strings.length, self.limit)
        self.per = per if per is not None and per.any() else None
        self.workers = workers

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it. ``counts.compared`` counts the pairs that were measured."""
        strings, counts, total = self.strings, counts or Counts(), 0
        items, side = among.chosen(len(strings.length))
        items = np.arange(len(strings.length)) if items is None else items
        length = strings.length[items]
        for layer in self.layers:
            for block in self.candidates(layer, items, side, counts):
                counts.compared += len(block)
                found = self.near(np.minimum(*block.T), np.maximum(*block.T))
                total, counts.found = total + len(found.left), counts.found + len(found.left)
                yield found
                if total > most:
                    return
            self.workers.advance(int(((length >= layer.shortest) & (length <= layer.longest)).sum()))

    def near(self, left: Longs, right: Longs) -> PairBlock:
        """The pairs left[i] < right[i] within the limit, with their values."""
        values, good = self.measure.compare(self.strings, left, right, self.limit, run=self.workers.run, tasks=self.workers.tasks)
        return PairBlock(left[good], right[good], values[good])

    def candidates(self, layer: Layer, items: Longs, side: Sides | None, counts: Counts) -> Iterator[Longs]:
        """Yield candidate pairs of a layer: int64[m, 2] blocks of items."""
        strings = self.strings
        there = layer.members(strings.length[items])
        items = items[there]
        side, per = None if side is None else side[there], None if self.per is None else self.per[items]
        length, probes = strings.length[items], strings.length[items] >= layer.shortest
        order, low, high = windows(length, self.least[items], None, per, side)
        high = np.where(probes[order], high, low)
        cost = self.cost_of(items[order], low, high)
        quiet = replace(self.workers, advance=lambda elements: self.workers.advance(0))
        if layer.q and GRAM * (length - layer.q + 1).sum() < cost:
            size = length - layer.q + 1
            of_grams = windows(size, (size - layer.within).clip(0), None, per, side)
            joined = self.joined(layer, items, of_grams[0], probes, side, quiet)
            if visit(joined) * half_of_lists(joined) < cost:
                work = Counts()
                for block in matches(joined, *of_grams[1:], (0, len(items)), quiet, work):
                    yield items[of_grams[0][block[:, :2]]]
                counts.visited += work.visited
                return
        for block in self.scanned(items[order], read_only(low), read_only(high), quiet):
            yield items[order[block]]

    def joined(self, layer: Layer, items: Longs, order: Longs, probes: NDArray[np.bool_], side: Sides | None, workers: Workers) -> Joined:
        """The grams of the items, in this order, and an index over them.

        A string shares all but q * within of its grams, so one of the first q * within + 1 is shared. An edit makes the code points of two strings
        differ by one more, or by two if it replaces one.
        """
        strings, measure = self.strings, self.measure
        assert isinstance(measure, Edits)
        ranking = ranked(*grams(strings.points, strings.begin[items], strings.length[items], layer.q), side=side, workers=workers)
        spoiled, differing = layer.q * layer.within, measure.differing * layer.within
        rule: Rule = (GRAMS, spoiled, differing)
        prefix = np.full(len(items), spoiled + 1)
        joined = join_of(ranking, order, rule, prefix, prefix * probes, strings.signs[items])
        if rests_are_cheaper(strings, layer.within, items, joined):
            return joined_by_rests(strings, layer.within, differing, items[order], probes[order])
        return joined

    def scanned(self, items: Longs, low: Places, high: Places, workers: Workers) -> Iterator[Longs]:
        """Yield the pairs of a place and its partners that the signs do not exclude: int64[m, 2] blocks of places."""
        strings, measure = self.strings, self.measure
        points, ordered, begin, length = strings.held
        begin, length = read_only(begin[items]), read_only(length[items])
        signs, heads, room = (read_only(np.ascontiguousarray(array)) for array in (strings.signs[items], strings.heads[items], self.room[:, items]))
        given = signs, heads, length, room, measure.slope, read_only(measure.floor(self.limit)), (points, ordered, begin, length), low, high

        def task(part: tuple[Longs, int]) -> Longs:
            out = np.empty((2, HELD), np.uint32)
            written = scan(*given, *part, SCANNED_AT_ONCE, out)
            workers.advance(0)
            return out[:, :written].T.astype(np.int64)

        work = np.cumsum((high.astype(np.int64) - low).sum(axis=0) + 1)
        parts = [(np.array([begin, 0, 0]), end) for begin, end in split([(0, len(items))], work, workers.tasks * TASKS)]
        while parts:
            yield from workers.run(task, parts)
            parts = [part for part in parts if part[0][0] < part[1]]

    def cost_of(self, items: Longs, low: NDArray[Any], high: NDArray[Any]) -> float:
        """The predicted cost of a scan, in nanoseconds of one core: the share of pairs that signs do not exclude is that of a sample."""
        begin, number = low.astype(np.int64).ravel(), (high.astype(np.int64) - low).ravel()
        ends = np.cumsum(number)
        total = int(ends[-1]) if len(ends) else 0
        pair = np.random.default_rng(0).integers(0, max(1, total), min(SAMPLED, total))
        window = np.searchsorted(ends, pair, side="right")
        place, partner = window % len(items) if len(items) else window, begin[window] + pair - (ends - number)[window]
        one, other = items[place], items[partner]
        bits = np.bitwise_count(self.strings.signs[one] ^ self.strings.signs[other]).sum(axis=1, dtype=np.int64)
        bits += self.measure.slope * (self.strings.length[one] - self.strings.length[other])
        share = float((bits <= self.room[PREFIX, one]).mean()) if total else 0.0
        return total * (SIGNS + MEASURED * share)

    @property
    def cost(self) -> float:
        """The predicted cost of the layers without grams, or with grams of one code point, which are common; other layers cost far less."""
        order = np.argsort(self.strings.length, kind="stable")
        length, place, total = self.strings.length[order], np.arange(len(order)), 0.0
        low = np.searchsorted(length, self.least[order])
        for layer in self.layers:
            if layer.q <= 1:
                high = np.where((length >= layer.shortest) & (length <= layer.longest), place, low)
                total += self.cost_of(order, low[None], np.maximum(low, high)[None])
        return total

    def facts(self) -> dict[str, Any]:
        return {}


def rests_are_cheaper(strings: Strings, within: int, items: Longs, joined: Joined) -> bool:
    """True if strings should be joined by their rests, because q-grams are common and so produce many false-positive candidates."""
    if within > MOST_DELETIONS or len(items) < FEWEST:
        return False
    number = int(number_of_rests(strings.length[items], within).sum())
    cost = visit(joined) * half_of_lists(joined)
    return GAIN * cost_of_keys(number) < cost and number <= max(FEW_KEYS, KEYS_OF_AN_ELEMENT * len(joined.sets[0]))
