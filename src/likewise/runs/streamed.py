"""Pairs between two collections by containment: the smaller one is held in memory, and the other is read past it.

So memory depends on the smaller one, besides some bytes for each record of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from likewise.engines.local import Local
from likewise.io.collection import Collection
from likewise.io.inputs import Source
from likewise.io.part import Part, Parts
from likewise.joins.containment import Held
from likewise.joins.pairs import Stop
from likewise.records import REJECTED, TEXT, Records
from likewise.runs import pipeline
from likewise.runs.items import Items, Run, bare, note_need, words_of
from likewise.runs.sides import HELD, OF_HELD, STREAMED, note_passes, read, size_of
from likewise.stages.copies import first_of_copies
from likewise.stages.known import KEY_BYTES
from likewise.stages.listing import too_many
from likewise.stages.sketch import Columns, Stage, sketcher

#: Columns of the streamed side: its pairs with held items, and ``pairs``, their number in each row.
ITEM, COMMON, PAIRS = "pairs-item", "pairs-common", "pairs"


class Pairs(NamedTuple):
    """m pairs of rows, each a row of its side."""

    held: np.ndarray  # int64[m]
    streamed: np.ndarray  # int64[m]
    value: np.ndarray  # float64[m]: containment


class Copies:
    """The copies of held items: each stands for all in the pairs that are found, and each is listed."""

    def __init__(self, items: Items, most: int):
        """most: the maximum number of pairs."""
        self.order = np.argsort(items.first, kind="stable")  # copies are adjacent
        self.first = items.first[self.order]
        self.stop = Stop(most)

    def range(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The places in ``order`` where the copies of first rows begin, and their numbers: int64[m] both."""
        begin = np.searchsorted(self.first, rows)
        return begin, np.searchsorted(self.first, rows, side="right") - begin

    def count(self, pairs: int) -> None:
        """Count pairs. Raises UsageError if there are too many."""
        self.stop.found += pairs
        if self.stop:
            raise too_many(self.stop.most)

    def listed(self, pairs: Pairs) -> Pairs:
        """Pairs with each copy, of pairs with first rows."""
        begin, times = self.range(pairs.held)
        one = np.repeat(np.arange(len(times)), times)
        place = np.arange(len(one)) - np.repeat(np.cumsum(times) - times, times)
        return Pairs(self.order[begin[one] + place], pairs.streamed[one], pairs.value[one])


def search(sources: Sequence[Source], run: Run) -> tuple[Collection, np.ndarray, np.ndarray]:
    """All pairs of rows, the first of which is contained in the second: (the rows of both collections, int64[m, 2] rows, float64[m] containment).

    The smaller side, by bytes, is held; the result does not depend on it. Raises the errors of `pipeline.collect`, and UsageError for too many pairs.
    """
    engine = Local(run)
    pipeline.prepare(sources, run, engine)
    sides = sources[: run.first_side], sources[run.first_side :]
    contained = size_of(sides[0]) <= size_of(sides[1])
    first, second = sides if contained else sides[::-1]
    held = read(run, HELD, first, sketcher(run.job))
    items = engine.distinct(held)
    copies = Copies(items, run.job.options.max_pairs)
    found = []
    for number, (begin, end) in enumerate(passes(held, items, run)):
        member = items.member[begin:end]
        sets = Held.of(*words_of(held, run, member), held.column("per")[member], run.job.threshold, contained=contained)
        rows = read(run, STREAMED.format(number), second, streaming(run, sets, member, copies))
        found.append(copies.listed(pairs_of(rows, sets, member)))
        del sets, rows  # before the next ones are made
    streamed = Collection(second, Part(run.work, STREAMED.format(0)))
    found.append(copies.listed(bare_copies(items, streamed, run)))
    copies.count(len(found[-1].held))
    pairs = Pairs(*map(np.concatenate, zip(*found, strict=True)))
    note_need(f"{len(pairs.held):,} pairs", pipeline.PAIR_BYTES * len(pairs.held), run)
    names, border = (HELD, STREAMED.format(0)), len(held if contained else streamed)
    collection = Collection(sources, Parts(run.work, names if contained else names[::-1], run.first_side), run.first_side)
    pipeline.check_rows(collection, run)
    a, b = (pairs.held, pairs.streamed) if contained else (pairs.streamed, pairs.held)
    return collection, np.stack([a, b + border], axis=1), pairs.value


def passes(held: Collection, items: Items, run: Run) -> list[tuple[int, int]]:
    """The ranges of items that fit into memory at once: the other side is read once for each."""
    size = held.column("size")[items.member]
    ranges = cut(size, run.memory // OF_HELD // KEY_BYTES)
    largest = int(size.max(initial=0))
    note_need(f"{largest:,} elements of one item", KEY_BYTES * largest, run)
    note_passes(run, f"{int(size.sum(dtype=np.int64)):,} elements", len(ranges))
    return ranges


def cut(sizes: np.ndarray, room: int) -> list[tuple[int, int]]:
    """Ranges of sets with about ``room`` elements at most, unless a single one has more; at least one range. sizes: uint32[n]."""
    ends = np.cumsum(sizes, dtype=np.int64)
    edges = [0]
    while edges[-1] < len(sizes):
        begin = edges[-1]
        before = int(ends[begin - 1]) if begin else 0
        edges.append(max(begin + 1, int(np.searchsorted(ends, before + room, side="right"))))
    return list(pairwise(edges)) or [(0, 0)]


def streaming(run: Run, sets: Held, member: np.ndarray, copies: Copies) -> Stage:
    """The stage of the streamed side: its pairs with held sets, whose rows are ``member``; the sets of its rows are not stored."""
    sketch, least, times = sketcher(run.job), run.job.options.min_tokens, copies.range(member)[1]

    def stage(records: Records) -> Columns:
        columns = sketch(records)
        words, offsets = columns["sets"], np.concatenate(([0], np.cumsum(columns["size"], dtype=np.int64)))
        row, item, common = sets.matches(words, offsets, columns["per"])
        live = columns["tokens"] >= least
        if not live.all():
            row, item, common = (values[live[row]] for values in (row, item, common))
        copies.count(int(times[item].sum()))
        pairs = np.bincount(row, minlength=len(records)).astype("u4")
        return columns | {"sets": words[:0], PAIRS: pairs, ITEM: item, COMMON: common}

    return stage


def pairs_of(streamed: Collection, sets: Held, member: np.ndarray) -> Pairs:
    """The pairs that a `streaming` stage found."""
    pairs, item, common = (streamed.work.column(name, "u4") for name in (PAIRS, ITEM, COMMON))
    row = np.repeat(np.arange(len(streamed)), pairs)
    return Pairs(member[item], row, common / (sets.sizes[item] if sets.contained else streamed.column("size")[row]))


def bare_copies(held: Items, streamed: Collection, run: Run) -> Pairs:
    """The pairs of copies without elements to compare: those with only ignored ones, and empty items if these are copies of each other."""
    mine, others = bare_rows(held.collection, run), bare_rows(streamed, run)
    rows, copy, per = map(np.concatenate, zip(mine, others, strict=True))
    first = first_of_copies(copy, per, np.ones(len(rows), bool), np.arange(len(rows)))[len(mine[0]) :]
    some = first < len(mine[0])
    return Pairs(held.first[rows[first[some]]], others[0][some], np.ones(np.count_nonzero(some)))


def bare_rows(side: Collection, run: Run) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows that have no elements to compare but may be copies: (int64[m], what identifies copies uint64[m, 2], their groups uint64[m])."""
    kind, tokens, options = side.column("kind"), side.column("tokens"), run.job.options
    some = (kind == TEXT) & (tokens > 0) & (tokens >= options.min_tokens) & bare(side)
    if options.copies == "empty":
        some |= (kind != REJECTED) & (tokens == 0)
    rows = np.flatnonzero(some)
    return rows, np.where(tokens[rows, None] == 0, np.uint64(0), side.column("copy")[rows]), side.column("per")[rows]
