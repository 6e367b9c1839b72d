"""Exact joins of ranked sets: every pair at or above a threshold, and the predicted cost."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple, cast

import numpy as np

from likewise.joins.combined import affordable, expected_collisions, number_of_keys, prefixes
from likewise.joins.costs import COMBINE, ENTER, MARKED, SAMPLED, cost_of_keys, look_up, visit
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Groups, Longs, PairBlock, Sides
from likewise.joins.prefix import Joined, Places, Rule, join_of, matches, signs_of, windows
from likewise.kernels import join as kernels
from likewise.kernels.join import CONTAINED, JACCARD
from likewise.stages.ranking import Ranked
from likewise.stages.workers import ALONE, Workers

#: Nanoseconds to rank an element, and to sort a set into its place.
RANK, ORDER = 22, 200
#: Size of the sample of keys that predicts the collisions of all.
KEYS_SAMPLED = 1 << 20
#: Keys of several elements are considered from this many sets, and used if they are predicted to be this many times faster.
FEWEST, GAIN = 1 << 10, 2


class Ready(NamedTuple):
    """A join that is ready to start: the sets by size, the range of places of each set's partners, and the items in that order."""

    joined: Joined
    low: Places
    high: Places
    order: Longs
    keys: float  # predicted cost of keys of several elements; 0 for keys of one


class SetJoin:
    """All pairs of ranked sets at or above a Jaccard threshold, by an index over their prefixes.

    Disjoint sets and empty ones are no pair at any threshold. The value is the similarity, a ratio of counts.
    """

    recall = 1.0

    def __init__(
        self,
        ranking: Ranked,
        threshold: Fraction,
        *,
        among: Among = ALL,
        per: Groups | None = None,
        contained: bool = False,
        workers: Workers = ALONE,
    ):
        """Progress is counted in elements of sets.

        among: the pairs that will be requested first, and that the cost refers to; if it has sides, `ranked` must have had them too. per: uint64[n],
        only pairs of equal values. contained: ordered pairs instead, of an item and another that contains at least the threshold's share of it; the
        value is that share; without sides (see `joins.containment`).
        """
        self.ranking, self.threshold, self.contained, self.workers = ranking, threshold, contained, workers
        self.per = per if per is not None and per.any() else None
        self.among, self.waiting = among, cast("Ready | None", None)

    @property
    def cost(self) -> float:
        """The predicted cost, from the visited entries of the index, which are counted for a sample of sets. The cost of verifying similar pairs is
        proportional to it, because they share many entries.
        """
        if self.waiting is None:
            self.waiting = self.ready(self.among)
        return cost_of(self.ranking, *self.waiting[:3])

    def ready(self, among: Among) -> Ready:
        """Build the index for these pairs."""
        items, side = among.chosen(len(self.ranking))
        return ready(self.ranking.of(items), self.threshold, side, self.per if items is None or self.per is None else self.per[items], self.contained)

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it."""
        made = self.waiting if among is self.among else None
        self.waiting = None
        joined, low, high, order, _ = made or self.ready(among)
        if (items := among.chosen(len(self.ranking))[0]) is not None:
            order = items[order]
        for block in matches(joined, low, high, (0, len(order)), self.workers, counts or Counts(), most):
            probe, partner, overlap, out_of = block[:, 0], block[:, 1], block[:, 2], block[:, 3]
            probe, partner = order[probe], order[partner]
            left, right = (partner, probe) if self.contained else (np.minimum(probe, partner), np.maximum(probe, partner))
            yield PairBlock(left, right, overlap / out_of)

    def facts(self) -> dict[str, Any]:
        return {}


def ready(
    ranking: Ranked, threshold: Fraction, side: Sides | None = None, per: Groups | None = None, contained: bool = False, times: float = 1.0
) -> Ready:
    """Build the index of a join. Arguments as for `SetJoin`, and ``times`` as for `cost_at`."""
    size = ranking.size.astype(np.int64)
    rule, entered, probed, least, greatest = lengths(size, threshold, contained)
    order, low, high = windows(size, least, greatest, per, side)
    signs = signs_of(ranking, entered - 1)
    if not contained:
        there = low < high
        partner = np.where(there, size[order][np.minimum(low, max(0, len(order) - 1))], size.max(initial=0)).min(axis=0, initial=size.max(initial=0))
        probed = probed.copy()
        probed[order] = np.where(there.any(axis=0), to_look_up(size[order], partner, threshold), 0)
    joined = join_of(ranking, order, rule, entered, probed, signs)
    depth, cost = (1, 0.0) if contained else depth_of(ranking, joined, order, entered, probed, visited_of(joined, low, high), times)
    if depth > 1:
        joined = join_of(ranking, order, rule, entered, probed, signs, depth)
    return Ready(joined, low, high, order, cost if depth > 1 else 0.0)


def lengths(size: Longs, threshold: Fraction, contained: bool) -> tuple[Rule, Longs, Longs, Longs, Longs | None]:
    """(rule, prefix of an entered set, prefix of a looked-up set, minimum and maximum size of a looked-up set's partners).

    An overlap of o needs a common element within the first size - o + 1 of either set. Of two sets the larger is looked up, and the smaller, which is
    entered, has at least p/q of its size: then o is at least p/q of the larger, and 2p/(p+q) of the smaller. For containment the contained set is
    entered, and all elements of the container are looked up: it may have any size from that share.
    """
    p, q = threshold.numerator, threshold.denominator
    share = ceil(p * size, q)
    if contained:
        return (CONTAINED, p, q), size - share + 1, size, np.zeros_like(size), size * q // p
    return (JACCARD, p, q), size - ceil(2 * p * size, p + q) + 1, size - share + 1, share, None


def to_look_up(size: Longs, partner: Longs, threshold: Fraction) -> Longs:
    """The prefixes of sets whose smallest partner has ``partner`` elements: shorter if no partner is as small as the threshold allows. int64[n]"""
    p, q = threshold.numerator, threshold.denominator
    return size - ceil(p * (size + partner), p + q) + 1


def ceil(a: Longs, b: int) -> Longs:
    """a / b, rounded up."""
    return -(-a // b)


def cost_at(ranking: Ranked, threshold: Fraction, times: float) -> float:
    """Nanoseconds of one core for joining ``times`` as many sets as this sample, ranking included; equal on every machine.

    The visited entries of the index are counted for some thousand sets; their number grows with the square of the number of sets. The cost of
    verifying similar pairs is proportional to it, because they share many entries.
    """
    joined, low, high, _, keys = ready(ranking, threshold, times=times)
    ranks = (ORDER * len(ranking) + RANK * len(ranking.tokens)) * times
    if keys:  # a sample shares few keys of several elements, but the whole collection shares most
        return ranks + keys
    looked = ENTER * len(joined.index[1]) + look_up(joined, times) * int(joined.probed.sum(dtype=np.int64))
    return ranks + looked * times + visit(joined, times) * visited_of(joined, low, high) * times**2


def cost_of(ranking: Ranked, joined: Joined, low: Places, high: Places) -> float:
    """Nanoseconds of one core for a join that is ready, ranking included."""
    n, entries = len(ranking), len(joined.index[1])
    done_once = ORDER * n + RANK * len(ranking.tokens) + (COMBINE * len(joined.keys[0]) if joined.keys[4] else 0) + ENTER * entries
    return float(done_once + look_up(joined) * int(joined.probed.sum(dtype=np.int64)) + visit(joined) * visited_of(joined, low, high))


def visited_of(joined: Joined, low: Places, high: Places) -> int:
    """The approximate number of entries of the index that a join visits."""
    return int(kernels.expected(joined.keys, joined.index, joined.probed, low, high, max(1, len(joined.probed) // SAMPLED)))


def depth_of(ranking: Ranked, joined: Joined, order: Longs, entered: Longs, probed: Longs, visited: int, times: float = 1.0) -> tuple[int, float]:
    """(depth, cost): the best number of elements of a key, and the predicted cost of keys and visits with ``times`` as many sets.

    It is 1, as in ``joined``, in which ``visited`` entries are visited, or 2 or 3 if lists are long.
    """
    if len(order) * times < FEWEST:
        return 1, 0.0
    costs, size = {1: visit(joined, times) * visited * times**2}, joined.sets[3].astype(np.int64)
    for depth in (2, 3):
        prefix = prefixes(size, joined.sets[2], entered[order], probed[order], depth)
        made = number_of_keys(prefix, depth)
        all_keys = round(made * times)
        cost = cost_of_keys(all_keys)
        if cost > min(costs.values()) or not affordable(all_keys, round(len(ranking.tokens) * times), ranking.ranks, depth):
            break
        step = max(1, len(order) // SAMPLED, made // KEYS_SAMPLED)
        costs[depth] = cost + MARKED * expected_collisions(joined.sets, prefix, depth, step) * times**2
    best = min(costs, key=lambda depth: costs[depth])
    return (best, costs[best]) if GAIN * costs[best] <= costs[1] else (1, costs[1])
