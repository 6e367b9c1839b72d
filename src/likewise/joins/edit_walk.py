"""The greedy walk over strings, by the count filter of `joins.edit_join`: each is measured against kept ones alone."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.joins.edit_join import Layer, Strings, all_in, layers, strings_of
from likewise.joins.prefix import Counts, Longs, Places, by_group, matches
from likewise.joins.set_join import walked
from likewise.kernels import join as kernels
from likewise.stages.walk import Walk
from likewise.stages.workers import ALONE, Workers

#: The walk takes an eighth of what it has behind it at once, within these bounds: strings of one step are filtered against all that may stay.
LEAST_STEP, MOST_STEP = 1 << 8, 1 << 12


def edit_walk(
    texts: Sequence[str] | pa.Array,
    within: int,
    *,
    levenshtein: bool,
    per: NDArray[np.uint64] | None = None,
    workers: Workers = ALONE,
    counts: Counts | None = None,
) -> Walk:
    """The greedy walk (stages/walk.py) over strings in priority order, as if all of them, or all of equal ``per``, shared a bucket.

    The witness is the nearest. Arguments as for `edit_pairs`. In the result ``overlap`` is the distance, and ``out_of`` 1.
    """
    order, first = by_group(per, len(texts))
    strings, counts = strings_of(texts, within, levenshtein, workers.tasks, order), counts or Counts()
    quiet = replace(workers, advance=lambda items: workers.advance(0))
    standing = [Standing(strings, layer, first, quiet, counts) for layer in layers(strings)]
    decided = np.full((len(order), 3), -1, np.int64)
    found = [np.empty((0, 4), np.int64)]

    def note(measured: Longs) -> None:
        """Take note of pairs and distances: the nearer, the better."""
        rows = np.column_stack([measured[:, :2], within - measured[:, 2], np.ones(len(measured), np.int64)])
        kernels.settle(rows, decided)
        found.append(rows)

    begin = 0
    while begin < len(order):
        end = min(len(order), begin + min(max(begin // 8, LEAST_STEP), MOST_STEP))
        for one in standing:
            for pairs in one.with_kept(begin, end):
                note(strings.near(pairs))
        staying = begin + np.flatnonzero(decided[begin:end, 0] < 0)
        note(one_by_one(strings, np.concatenate([one.with_each_other(begin, end, staying) for one in standing]), staying))
        for one in standing:
            one.change(staying[decided[staying, 0] < 0], True)
        workers.advance(end - begin)
        begin = end
    counts.compared = strings.measured
    walk = walked(order, decided, np.concatenate(found), counts.compared)
    walk.overlap = np.where(walk.witness >= 0, within - walk.overlap, -1)
    walk.matches[:, 2] = within - walk.matches[:, 2]
    return walk


def one_by_one(strings: Strings, meetings: Longs, staying: Longs) -> Longs:
    """Measure strings against those before them of ``staying``, each of which leaves these when it is near one that is still among them."""
    stay = set(staying.tolist())
    near = []
    items, others = meetings[np.lexsort((meetings[:, 1], meetings[:, 0]))].T.tolist()
    for item, other in zip(items, others, strict=True):
        if other in stay and (distance := strings.distance(item, other)) <= strings.within:
            near.append((item, other, distance))
            stay.discard(item)
    return np.array(near, np.int64).reshape(-1, 3)


class Standing:
    """A layer during the walk: its strings, which go by places of their own, and an index of those that are kept so far."""

    def __init__(self, strings: Strings, layer: Layer, first: Places, workers: Workers, counts: Counts):
        """first: uint32[n], the first string of each one's group."""
        self.strings, self.layer, self.workers, self.counts = strings, layer, workers, counts
        self.items = layer.members(strings)
        self.first = np.searchsorted(self.items, first[self.items]).astype(np.uint32)
        self.low, self.high = np.zeros((2, 1, len(self.items)), np.uint32)
        self.kept = np.zeros(len(self.items), np.bool_)
        if layer.q:
            everyone = np.ones(len(self.items), np.bool_)
            self.joined = layer.joined(strings, self.items, np.arange(len(self.items)), everyone, None, workers, filled=False)

    def with_kept(self, begin: int, end: int) -> Iterator[Longs]:
        """Strings ``begin`` to ``end`` with those that were kept before: pairs that may be within reach."""
        start, stop = np.searchsorted(self.items, (begin, end)).tolist()
        self.low[0, start:stop], self.high[0, start:stop] = self.first[start:stop], start
        return self.met(start, stop)

    def with_each_other(self, begin: int, end: int, staying: Longs) -> Longs:
        """The same strings with those before them of ``staying``."""
        start, stop = np.searchsorted(self.items, (begin, end)).tolist()
        self.low[0, start:stop], self.high[0, start:stop] = np.maximum(self.first[start:stop], start), np.arange(start, stop)
        self.change(staying, True)
        pairs = list(self.met(start, stop))
        self.change(staying, False)
        return np.concatenate([np.empty((0, 2), np.int64), *pairs])

    def change(self, strings: Longs, entering: bool) -> None:
        """Enter those of these strings that are in the layer, or take them out again, which were the latest."""
        places = np.searchsorted(self.items, strings[np.isin(strings, self.items, assume_unique=True)])
        self.kept[places] = entering
        if self.layer.q:
            kernels.change(places, self.joined.sets, self.joined.keys, self.joined.probed, self.joined.index, entering)

    def met(self, start: int, stop: int) -> Iterator[Longs]:
        """The strings at these places with those in their windows that are in the index."""
        if self.layer.q:
            found = matches(self.joined, self.low, self.high, (start, stop), self.workers, self.counts)
        else:
            found = all_in(self.low[:, start:stop], self.high[:, start:stop], start)
        for block in found:
            pairs = self.items[block[self.kept[block[:, 1]], :2]]
            shorter, longer = np.sort(self.strings.length[pairs], axis=1).T
            yield pairs[(longer >= self.layer.shortest) & (longer - shorter <= self.strings.within)]
