"""Sets with an index over their prefixes, joined task by task: the common part of all exact joins. kernels.join explains the algorithm."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from likewise.joins.combined import Keys, keys_of, prefixes
from likewise.joins.pairs import Counts, Stop
from likewise.kernels import join as kernels
from likewise.stages.ranking import Ranked
from likewise.stages.workers import Workers

Longs = NDArray[np.int64]
#: Places of items in the order in which an index enters and looks them up.
Places = NDArray[np.uint32]
Rule = tuple[int, int, int]

#: Comparisons after which a kernel returns, so that progress is shown and Ctrl-C works.
COMPARED_AT_ONCE = 1 << 16
#: Pairs that a kernel returns at once, and that a task collects before it pauses.
MATCHES_AT_ONCE, MATCHES_OF_A_TASK = 1 << 14, 1 << 17
#: Tasks of a round for each task that runs at once, so that no thread waits long for the slowest.
TASKS = 8
#: Bits by which dissimilar sets should differ, as a multiple of the maximum for similar ones.
CLEARLY = 1.25
#: The sides of a probe's partners, by its own side.
ACROSS: dict[int, tuple[int, ...]] = {1: (2, 3), 2: (1, 3), 3: (1, 2, 3)}


@dataclass
class Joined:
    """Sets in the order of places, with an index over them."""

    sets: tuple  # as kernels.join takes them
    ranks: int
    rule: Rule
    keys: tuple  # keys by which sets are entered and looked up
    probed: Places  # uint32[n]: the number of keys of each set that are looked up
    index: tuple
    elements: Longs  # int64[n + 1]: elements of all sets before each place, the unit of progress
    idle: list = field(default_factory=list)  # scratch that no task is using

    def room(self) -> tuple:
        """Scratch for one task: (room, matches) of the kernel. Return it to ``idle`` afterwards."""
        try:
            return self.idle.pop()
        except IndexError:
            n = len(self.probed)
            room = np.full(n, -1, np.int32), np.empty((3, n), np.uint32), np.zeros(self.ranks // 64 + 1, np.uint64)
            return room, np.empty((MATCHES_AT_ONCE, 4), np.int64)


def join_of(ranking: Ranked, order: Longs, rule: Rule, entered: Longs, probed: Longs, signs: NDArray[np.uint64], depth: int = 1) -> Joined:
    """The sets in this order, and an index over the first ``entered`` elements of each.

    signs: uint64[n, words], of the items, by which kernels.join rejects partners. depth: 2 or 3 for keys of that many elements.
    """
    sets = ranking.tokens, ranking.first[order], ranking.shared[order], ranking.size[order], signs[order]
    prefix = prefixes(sets[3].astype(np.int64), sets[2], entered[order], probed[order], depth)
    plain = Keys((sets[0], sets[1], np.empty(0, np.uint32), 0, 0), ranking.ranks, prefix.entered, prefix.probed)
    made = plain if depth == 1 else keys_of(sets, prefix, depth)
    index = kernels.build(sets, made.keys, made.entered, made.number)
    elements = np.concatenate(([0], np.cumsum(sets[3], dtype=np.int64)))
    return Joined(sets, ranking.ranks, rule, made.keys, made.probed, index, elements)


def signs_of(ranking: Ranked, lacking: Longs) -> NDArray[np.uint64]:
    """The fewest words of signs that distinguish most dissimilar sets from similar ones, uint64[n, words]; no words if even eight do not.

    lacking: the number of elements of a set that a similar set of its size may lack. Two disjoint sets of s ranks differ in b/2 (1 - exp(-4s/b)) of b
    bits on average, and two similar ones in at most twice the number they may lack.
    """
    alone = ranking.size.astype(np.int64) - ranking.shared
    some = lacking >= alone
    size, most = float(ranking.shared[some].mean()) if some.any() else 0.0, float((lacking - alone)[some].mean()) if some.any() else 0.0
    return np.asarray(kernels.sign(ranking.tokens, ranking.first, ranking.shared, enough_words(size, most)))


def enough_words(size: float, most: float) -> int:
    """The fewest words of signs (`signs_of`) for sets of ``size`` elements, of which similar ones lack at most ``most``; 0 if even eight do not."""
    enough = [words for words in (1, 2, 4, 8) if 32 * words * -math.expm1(-size / (16 * words)) >= CLEARLY * 2 * (most + 1)]
    return enough[0] if enough else 0


def groups(per: NDArray[np.uint64] | None, n: int) -> Longs:
    """A number from 0 for each distinct value of ``per``, int64[n]; 0 for all without groups."""
    return np.zeros(n, np.int64) if per is None or not per.any() else np.unique(per, return_inverse=True)[1].astype(np.int64)


def windows(
    size: Longs,
    least: Longs,
    greatest: Longs | None,
    per: NDArray[np.uint64] | None,
    side: NDArray[np.uint8] | None,
) -> tuple[Longs, Places, Places]:
    """(items by group and size, low and high uint32[windows, n]): the range of places of each set's partners.

    Partners are of the set's group and have ``least`` to ``greatest`` elements; if ``greatest`` is None, at least ``least`` elements and an earlier
    place, so that each pair is found once.
    """
    group, span = groups(per, len(size)), int(size.max(initial=0)) + 1
    key = group * span
    order = np.lexsort((size, group))
    keys = (key + size)[order]
    low = np.searchsorted(keys, (key + least)[order])
    if greatest is None:
        high = np.arange(len(order))
    else:
        high = np.searchsorted(keys, (key + np.minimum(greatest, span - 1))[order], side="right")
    if side is not None:
        return across(order, low, high, side)
    return order, low[None].astype(np.uint32), high[None].astype(np.uint32)


def across(order: Longs, low: Longs, high: Longs, side: NDArray[np.uint8]) -> tuple[Longs, Places, Places]:
    """The windows of `windows` for pairs across, with the items of each side together: a window into each side.

    A list of the index then holds the possible partners of a side in one run.
    """
    sides = side[order]
    place = np.argsort(sides, kind="stable")  # the former place of each set
    lows, highs = np.zeros((2, 3, len(order)), np.uint32)
    for one in (1, 2, 3):
        begin, end = np.searchsorted(sides[place], (one, one + 1))
        former = place[begin:end]
        wanted = np.isin(sides[place], [mine for mine, others in ACROSS.items() if one in others])
        lows[one - 1, wanted] = begin + np.searchsorted(former, low[place[wanted]])
        highs[one - 1, wanted] = begin + np.searchsorted(former, high[place[wanted]])
    return order[place], lows, highs


def matches(
    joined: Joined, low: Places, high: Places, places: tuple[int, int], workers: Workers, counts: Counts, most: int = 2**62
) -> Iterator[Longs]:
    """Yield the matches of the sets at these places within their windows: int64[m, 4] blocks of probe, partner, overlap, out of, in places.

    Ends early once more than ``most`` are found.
    """
    work, elements = np.cumsum(joined.sets[3] + np.int64(1)), joined.elements
    limit, stop = min(most, MATCHES_OF_A_TASK), Stop(most)

    def task(begin_end: tuple[int, int]) -> tuple[Longs, tuple[int, int], int, int]:
        begin, end = begin_end
        room, out = joined.room()
        state = np.array([begin, 0, 0])
        found = [np.empty((0, 4), np.int64)]
        visited = compared = rows = 0
        while state[0] < end and (rows <= limit or state[2]) and not stop:
            before = int(state[0])
            until = end if rows <= limit else before + 1  # a probe must be finished once begun
            index = joined.keys, joined.index, joined.probed
            more_of_it = low, high, joined.rule, until, COMPARED_AT_ONCE, state, room, out
            written, steps, more = kernels.join(joined.sets, *index, *more_of_it)
            found.append(out[:written].copy())
            rows, visited, compared = rows + written, visited + steps, compared + more
            stop.found += written
            workers.advance(int(elements[state[0]] - elements[before]))
        joined.idle.append((room, out))
        return np.concatenate(found), (int(state[0]), end), visited, compared

    ranges, total = [places], 0
    while ranges:
        done = list(workers.run(task, split(ranges, work, workers.tasks * TASKS)))
        ranges = [rest for _, rest, _, _ in done if rest[0] < rest[1]]
        for block, _, visited, compared in done:
            counts.visited += visited
            counts.compared += compared
            counts.found += len(block)
            total += len(block)
            yield block
            if total > most:
                return


def split(ranges: list[tuple[int, int]], work: Longs, tasks: int) -> list[tuple[int, int]]:
    """Cut ranges of places into about ``tasks`` of equal work, those of larger sets first."""
    parts = -(-tasks // len(ranges))
    out = []
    for begin, end in ranges:
        if begin < end:
            at = work[begin:end]
            edges = np.unique(np.concatenate(([begin], begin + np.searchsorted(at, np.linspace(at[0], at[-1], parts + 1)[1:-1]), [end])))
            out += list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
    return out[::-1]
