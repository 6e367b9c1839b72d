"""Exact joins of strings by edit distance: every pair within D edits.

The count filter (Gravano and others, Approximate String Joins in a Database (Almost) for Free, VLDB 2001). Let s be the longer of two strings, and
take an alignment of both with at most D edits. Of the |s| - q + 1 runs of q code points of s an edit spoils at most q: those with the code point it
deletes or replaces, or the q - 1 into which it inserts. The other runs, |s| - q + 1 - qD at least, occur in the other string too, each at its own
place. So the bags of q-grams share at least that many, whether a replacement counts as one edit (Levenshtein) or two. An exact join finds all pairs
that do; RapidFuzz measures those.

The bound is useful if it is at least 1: for q up to |s| / (D + 1). So pairs are split by the length of the longer string into *layers*, each with
its own q. Strings of at most D code points have no such q: all pairs of those are measured, and most are within D, being so short.
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

from likewise.joins.combined import FEW_KEYS, KEYS_OF_AN_ELEMENT
from likewise.joins.costs import cost_of_keys, half_of_lists, visit
from likewise.joins.deletions import MOST_DELETIONS, joined_by_rests, number_of_rests
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Groups, Longs, PairBlock, Sides
from likewise.joins.prefix import Joined, Places, Rule, join_of, matches, windows
from likewise.joins.strings import MEASURED_AT_ONCE, Strings, strings_of
from likewise.kernels.grams import grams
from likewise.kernels.join import GRAMS
from likewise.stages.ranking import ranked
from likewise.stages.workers import ALONE, Workers

#: The maximum length of a q-gram.
LONGEST_GRAM = 12
#: An upper bound for all distances; larger numbers could overflow.
MOST_EDITS = 2**40
#: Rests are considered from this many strings, and used if they are predicted to be this many times faster.
FEWEST, GAIN = 1 << 10, 2


def edits(limit: Fraction) -> int:
    """The limit as an integer number of edits."""
    return min(int(limit), MOST_EDITS)


class Layer(NamedTuple):
    """Pairs whose longer string has ``shortest`` to ``longest`` code points, found by common q-grams; all pairs if q is 0."""

    q: int
    shortest: int
    longest: int

    def members(self, length: Longs, within: int) -> Longs:
        """The places of the strings that such pairs may have, int64[m], with shorter ones down to one gram."""
        return np.flatnonzero((length >= max(self.shortest - within, self.q)) & (length <= self.longest))

    def joined(self, strings: Strings, items: Longs, order: Longs, probes: NDArray[np.bool_], side: Sides | None, workers: Workers) -> Joined:
        """The grams of the items, in this order, and an index over them.

        A string shares all but q * within of its grams, so one of the first q * within + 1 is shared. An edit makes the code points of two strings
        differ by one more, or by two if it replaces one.
        """
        chosen = strings.points, strings.begin[items], strings.length[items]
        ranking = ranked(*grams(*chosen, self.q), side=side, workers=workers)
        spoiled, differing = self.q * strings.within, (2 if strings.levenshtein else 1) * strings.within
        rule: Rule = (GRAMS, spoiled, differing)
        prefix = np.full(len(items), spoiled + 1)
        joined = join_of(ranking, order, rule, prefix, prefix * probes, strings.signs[items])
        return joined_by_rests(strings, items, order, probes) if rests_are_cheaper(strings, items, joined) else joined


def rests_are_cheaper(strings: Strings, items: Longs, joined: Joined) -> bool:
    """True if strings should be joined by their rests, because q-grams are common and so produce many false-positive candidates."""
    if strings.within > MOST_DELETIONS or len(items) < FEWEST:
        return False
    number = int(number_of_rests(strings.length[items], strings.within).sum())
    cost = visit(joined) * half_of_lists(joined)
    return GAIN * cost_of_keys(number) < cost and number <= max(FEW_KEYS, KEYS_OF_AN_ELEMENT * len(joined.sets[0]))


def layers(strings: Strings) -> list[Layer]:
    """The nonempty layers.

    A longer gram is rarer, but a string must look up more of them. It need not be longer than it takes for the possible grams to outnumber all code
    points: log2 of their number, divided by the entropy of a code point here, in bits.
    """
    if not len(strings.texts):
        return []
    most = 2
    if len(strings.points):
        share = np.unique(strings.points, return_counts=True)[1] / len(strings.points)
        bits = max(0.5, -float((share * np.log2(share)).sum()))
        most = min(LONGEST_GRAM, max(most, math.ceil(math.log2(len(strings.points)) / bits)))
    lengths = np.unique(strings.length)
    q = np.minimum(lengths // (strings.within + 1), most)
    return [Layer(one, int(lengths[q == one][0]), int(lengths[q == one][-1])) for one in np.unique(q).tolist()]


class EditJoin:
    """All pairs of strings within a number of edits. The value is the distance.

    levenshtein: a replacement counts as one edit, not two. Equal strings are pairs at distance 0: callers collapse copies first. An empty string is a
    valid string: callers leave empty items out. per: uint64[n], only pairs of equal values. Progress is counted in strings.
    """

    cost, recall = 0.0, 1.0

    def __init__(self, texts: Sequence[str] | pa.Array, within: int, *, levenshtein: bool, per: Groups | None = None, workers: Workers = ALONE):
        self.strings = strings_of(texts, within, levenshtein, workers.tasks)
        self.layers = layers(self.strings)
        self.per = per if per is not None and per.any() else None
        self.workers = workers

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it. ``counts.compared`` counts the computed distances."""
        strings, counts, total = self.strings, counts or Counts(), 0
        items, side = among.chosen(len(strings.length))
        items = np.arange(len(strings.length)) if items is None else items
        length = strings.length[items]
        for layer in self.layers:
            for block in self.candidates(layer, items, side, counts):
                counts.compared += len(block)
                found = strings.near(np.minimum(*block.T), np.maximum(*block.T))
                total, counts.found = total + len(found.left), counts.found + len(found.left)
                yield found
                if total > most:
                    return
            self.workers.advance(int(((length >= layer.shortest) & (length <= layer.longest)).sum()))

    def candidates(self, layer: Layer, items: Longs, side: Sides | None, counts: Counts) -> Iterator[Longs]:
        """Yield candidate pairs of a layer: int64[m, 2] blocks of items."""
        strings, per = self.strings, self.per
        there = layer.members(strings.length[items], strings.within)
        items = items[there]
        side, per = None if side is None else side[there], None if per is None else per[items]
        grams_of = (strings.length[items] - layer.q + 1) if layer.q else np.zeros(len(items), np.int64)
        order, low, high = windows(grams_of, (grams_of - strings.within).clip(0), None, per, side)
        if layer.q:
            quiet = replace(self.workers, advance=lambda elements: self.workers.advance(0))
            joined = layer.joined(strings, items, order, strings.length[items] >= layer.shortest, side, quiet)
            work = Counts()
            for block in matches(joined, low, high, (0, len(order)), quiet, work):
                yield items[order[block[:, :2]]]
            counts.visited += work.visited
        else:
            for block in all_in(low, high):
                yield items[order[block]]

    def facts(self) -> dict[str, Any]:
        return {}


def all_in(low: Places, high: Places) -> Iterator[Longs]:
    """Yield each place with all places from its ``low`` to before its ``high``: int64[m, 2] blocks."""
    for begin, end in zip(low.astype(np.int64), high.astype(np.int64), strict=True):
        number = (end - begin).clip(0)
        total = np.cumsum(number)
        cuts = np.searchsorted(total, np.arange(MEASURED_AT_ONCE, int(total[-1]) if len(total) else 0, MEASURED_AT_ONCE), side="right")
        for places in np.split(np.arange(len(number)), np.unique(cuts)):
            here = number[places]
            partner = np.arange(int(here.sum())) - np.repeat(np.cumsum(here) - here - begin[places], here)
            yield np.column_stack([np.repeat(places, here), partner])
