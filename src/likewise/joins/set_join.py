"""Exact joins of ranked sets: every pair at or above a threshold, and the greedy walk, with nothing missed; and what they will cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.joins.combined import affordable, meetings, number_of_keys, prefixes
from likewise.joins.costs import COMBINE, ENTER, MARKED, SAMPLED, cost_of_keys, half_of_lists, look_up, visit
from likewise.joins.prefix import (
    ACROSS,
    COMPARED_AT_ONCE,
    HOLDING,
    Counts,
    Joined,
    Longs,
    Places,
    Rule,
    by_group,
    join_of,
    matches,
    signs_of,
    windows,
)
from likewise.kernels import join as kernels
from likewise.kernels.join import CONTAINED, JACCARD
from likewise.stages.ranking import Ranked
from likewise.stages.walk import Walk
from likewise.stages.workers import ALONE, Workers

Sides = NDArray[np.uint8]
Groups = NDArray[np.uint64]

#: The walk takes an eighth of what it has behind it at once, within these bounds: the items of one step meet each other one after the other.
LEAST_STEP, MOST_STEP = 1 << 9, 1 << 16
#: Nanoseconds of ranking an element, and of putting a set in order.
RANK, ORDER = 22, 200
#: Keys that are made to predict how often those of all sets meet.
KEYS_SAMPLED = 1 << 20
#: Keys of several elements are considered from so many sets on, and used if they are predicted to be this many times faster.
FEWEST, GAIN = 1 << 10, 2


class Ready(NamedTuple):
    """A join that can begin: the sets by size, between which places the partners of each lie, and the items in that order."""

    joined: Joined
    low: Places
    high: Places
    order: Longs


class Begun(NamedTuple):
    """Sets of one collection without groups, ranked and ready to be joined."""

    ranking: Ranked
    made: Ready


def exact_pairs(
    ranking: Ranked,
    threshold: Fraction,
    *,
    side: Sides | None = None,
    per: Groups | None = None,
    contained: bool = False,
    workers: Workers = ALONE,
    most: int = 2**62,
    counts: Counts | None = None,
    expect: Callable[[float], None] | None = None,
    made: Ready | None = None,
) -> Iterator[Longs]:
    """All pairs of sets at or above a Jaccard threshold: int64[m, 4] blocks of item, later item, overlap, out of. Each once, in no order.

    Sets with nothing in common are no pair at any threshold, nor are empty ones.
    side: uint8[n] of 1, 2 or 3 for items of A, B or both, when only pairs across them are wanted, and `ranked` was told the same. per: uint64[n]:
    only pairs of equal values.
    contained: ordered pairs instead, of an item and another that holds at least the threshold's share of it, out of the item's size; with
    sides the first is of A and the second of B.
    The work is counted in elements of sets. Ends early when more than ``most`` pairs are found.
    ``expect`` gets the predicted nanoseconds of one core before the join begins. made: by `ready` for the same join, where that was called.
    """
    side = None if side is None or not len(side) else side
    joined, low, high, order = made or ready(ranking, threshold, side, per, contained)
    if expect is not None and len(order) > SAMPLED:  # fewer do not take long
        expect(cost_of(ranking, joined, low, high))
    for block in matches(joined, low, high, (0, len(order)), workers, counts or Counts(), most):
        probe, partner = order[block[:, 0]], order[block[:, 1]]
        block[:, 0] = partner if contained else np.minimum(probe, partner)
        block[:, 1] = probe if contained else np.maximum(probe, partner)
        yield block


def ready(ranking: Ranked, threshold: Fraction, side: Sides | None = None, per: Groups | None = None, contained: bool = False) -> Ready:
    """Make the index of a join; arguments as for `exact_pairs`."""
    size = ranking.size.astype(np.int64)
    rule, entered, probed, least, greatest = lengths(size, threshold, contained)
    order, low, high = windows(size, least, greatest, per, side, HOLDING if contained else ACROSS)
    how: dict[str, Any] = {"signs": signs_of(ranking, entered - 1), "rising": True, "filled": True}
    if not contained:
        there = low < high
        partner = np.where(there, size[order][np.minimum(low, max(0, len(order) - 1))], size.max(initial=0)).min(axis=0, initial=size.max(initial=0))
        probed = probed.copy()
        probed[order] = np.where(there.any(axis=0), to_look_up(size[order], partner, threshold), 0)
    joined = join_of(ranking, order, rule, entered, probed, **how)
    if not contained and (depth := depth_of(ranking, joined, order, entered, probed, visited_of(joined, low, high))) > 1:
        joined = join_of(ranking, order, rule, entered, probed, **how, depth=depth)
    return Ready(joined, low, high, order)


def lengths(size: Longs, threshold: Fraction, contained: bool) -> tuple[Rule, Longs, Longs, Longs, Longs | None]:
    """(rule, prefix of a set that is entered, prefix of one that is looked up, least and greatest size of the partners of one that is looked up).

    An overlap of o needs a common element within the first size - o + 1 of either set, wherever the rest lies. Of two sets the larger is
    looked up, and the smaller, which is entered, is at least p/q of it: then o is at least p/q of the larger, and 2p/(p+q) of the smaller.
    Where one is to hold a share of the other, that one is entered, and all of the holder is looked up: it may be of any size from that share on.
    """
    p, q = threshold.numerator, threshold.denominator
    share = ceil(p * size, q)
    if contained:
        return (CONTAINED, p, q), size - share + 1, size, np.zeros_like(size), size * q // p
    return (JACCARD, p, q), size - ceil(2 * p * size, p + q) + 1, size - share + 1, share, None


def to_look_up(size: Longs, partner: Longs, threshold: Fraction) -> Longs:
    """The prefix of a set of which the smallest partner has ``partner`` elements: shorter where no partner is as small as the threshold allows."""
    p, q = threshold.numerator, threshold.denominator
    return size - ceil(p * (size + partner), p + q) + 1


def ceil(a: Longs, b: int) -> Longs:
    return -(-a // b)


def exact_walk(
    ranking: Ranked,
    threshold: Fraction,
    *,
    per: Groups | None = None,
    workers: Workers = ALONE,
    counts: Counts | None = None,
) -> Walk:
    """The greedy walk (stages/walk.py) over items in priority order, as if all of them, or all of equal ``per``, shared a bucket.

    Arguments as for `exact_pairs`. Only kept items are entered into the index: a crowd of like items costs each of its members one comparison.
    """
    counts, quiet = counts or Counts(), replace(workers, advance=lambda elements: workers.advance(0))
    joined, low, high, order = ready_to_walk(ranking, threshold, per)
    decided = np.full((len(order), 3), -1, np.int64)
    found = [np.empty((0, 4), np.int64)]
    begin = 0
    while begin < len(order):
        end = min(len(order), begin + min(max(begin // 8, LEAST_STEP), MOST_STEP))
        high[0, begin:end] = begin
        for block in matches(joined, low, high, (begin, end), quiet, counts):
            kernels.settle(block, decided)
            found.append(block)
        found += walk_step(joined, low[0], begin, end, decided, workers, counts)
        workers.advance(int(joined.elements[end] - joined.elements[begin]))
        begin = end
    return walked(order, decided, np.concatenate(found), counts.compared)


def ready_to_walk(ranking: Ranked, threshold: Fraction, per: Groups | None) -> tuple[Joined, Places, Places, Longs]:
    """The same for a walk: a partner may be of any size, and comes before in the group."""
    size = ranking.size.astype(np.int64)
    rule, entered, _, share, _ = lengths(size, threshold, False)
    prefix = to_look_up(size, np.maximum(share, size.min(initial=2**32)), threshold)
    order, low = by_group(per, len(ranking))
    high = np.arange(len(order), dtype=np.uint32)
    how: dict[str, Any] = {"signs": signs_of(ranking, entered - 1), "rising": False, "filled": False}
    joined = join_of(ranking, order, rule, prefix, prefix, **how)
    if (depth := depth_of(ranking, joined, order, prefix, prefix, half_of_lists(joined))) > 1:
        joined = join_of(ranking, order, rule, prefix, prefix, **how, depth=depth)
    return joined, low[None], high[None], order


def walk_step(joined: Joined, low: Places, begin: int, end: int, decided: Longs, workers: Workers, counts: Counts) -> list[Longs]:
    """Compare the items at places ``begin`` to ``end`` with those among them that stay, one after the other; the verified pairs."""
    room, out = joined.room()
    state = np.array([begin, 0, 0, begin])
    found = []
    while state[0] < end:
        arguments = joined.sets, joined.keys, joined.index, joined.probed, low, joined.rule, end, COMPARED_AT_ONCE, state, room, decided, out
        written, visited, compared = kernels.walk(*arguments)
        found.append(out[:written].copy())
        counts.visited += visited
        counts.compared += compared
        workers.advance(0)
    joined.idle.append((room, out))
    return found


def walked(order: Longs, decided: Longs, found: Longs, compared: int) -> Walk:
    """What was decided and found, from places to items."""
    state = np.empty_like(decided)
    state[order] = decided
    removed = state[:, 0] >= 0
    state[removed, 0] = order[state[removed, 0]]
    found[:, :2] = order[found[:, :2]]
    found = found[np.lexsort((found[:, 1], found[:, 0]))]
    return Walk(state[:, 0], state[:, 1], state[:, 2], found, compared)


def exact_cost(ranking: Ranked, made: Ready) -> float:
    """Nanoseconds of one core that `exact_pairs` should take, ranking included. The same on every machine.

    The frequencies say how many entries of the index are visited, which is counted for some thousand sets. What similar pairs cost to
    verify goes with that: they meet in many entries.
    """
    return cost_of(ranking, made.joined, made.low, made.high)


def cost_of(ranking: Ranked, joined: Joined, low: Places, high: Places) -> float:
    """The same of a join that is ready."""
    n, entries = len(ranking), len(joined.index[1])
    done_once = ORDER * n + RANK * len(ranking.tokens) + (COMBINE * len(joined.keys[0]) if joined.keys[4] else 0) + ENTER * entries
    return float(done_once + look_up(joined) * int(joined.probed.sum(dtype=np.int64)) + visit(joined) * visited_of(joined, low, high))


def visited_of(joined: Joined, low: Places, high: Places) -> int:
    """About how many entries of the index a join visits."""
    return int(kernels.expected(joined.keys, joined.index, joined.probed, low, high, max(1, len(joined.probed) // SAMPLED)))


def depth_of(ranking: Ranked, joined: Joined, order: Longs, entered: Longs, probed: Longs, visited: int) -> int:
    """How many elements the keys should have: 1 as in ``joined``, in which so many entries are visited; 2 or 3 where lists are long."""
    if len(order) < FEWEST:
        return 1
    costs, size = {1: float(visit(joined) * visited)}, joined.sets[3].astype(np.int64)
    for depth in (2, 3):
        prefix = prefixes(size, joined.sets[2], entered[order], probed[order], depth)
        made = number_of_keys(prefix, depth)
        cost = cost_of_keys(made)
        if cost > min(costs.values()) or not affordable(made, len(ranking.tokens), ranking.ranks, depth):
            break
        step = max(1, len(order) // SAMPLED, made // KEYS_SAMPLED)
        costs[depth] = cost + MARKED * meetings(joined.sets, prefix, depth, step)
    best = min(costs, key=lambda depth: costs[depth])
    return best if GAIN * costs[best] <= costs[1] else 1
