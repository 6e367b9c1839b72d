"""The pairs that the rule for overfull buckets left out, and an estimate of the similar pairs among them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from likewise.kernels.hashing import derive
from likewise.kernels.heads import count_candidates
from likewise.stages.buckets import Buckets
from likewise.stages.verify import Compared

#: The stream of constants, derived from the seed, that draws the sample.
SAMPLING = np.uint64(0xB0D6_0001)
#: Size of the sample: a pair for each ``SHARE`` that were candidates in overfull buckets, from ``LEAST`` to ``MOST``.
SHARE, LEAST, MOST = 30, 10_000, 1_000_000
#: How many buckets with the most pairs left out a report names.
HOTTEST = 5


@dataclass(frozen=True)
class Cut:
    """The pairs left out by the rule for overfull buckets, and the result of comparing a sample of them.

    cut: pairs of kept items in an overfull bucket that were not compared there. sampled: pairs in the sample; similar: those of the sample at or
    above the threshold. missed: upper bound for missed pairs, with 95% confidence.
    """

    cut: int
    sampled: int
    similar: int
    missed: float

    def recall(self, expected: float, found: int) -> float:
        """The expected recall, reduced by the pairs that may have been missed. found: the number of similar pairs that were found."""
        return expected * found / (found + self.missed) if self.missed else expected


class Overfull(NamedTuple):
    """The overfull buckets with their kept members, by band and first member. Nothing here depends on how buckets are numbered."""

    number: np.ndarray  # int64[k]: the bucket's number in stages.buckets.Buckets
    candidates: np.ndarray  # int64[k]: pairs of kept members that were candidates in the bucket
    places: np.ndarray  # int64[m]: kept members as places in Buckets.splits, in priority order; bucket i has places[begin[i] : begin[i + 1]]
    begin: np.ndarray  # int64[k + 1]
    fixed: np.ndarray  # int64[k]: so many members, the first, are not compared with each other
    inside: bool  # the others are

    @property
    def pairs(self) -> np.ndarray:
        """Pairs of kept members of each bucket that are wanted: int64[k]."""
        others = np.diff(self.begin) - self.fixed
        return others * self.fixed + self.inside * (others * (others - 1) // 2)

    @property
    def cut(self) -> np.ndarray:
        """Pairs of kept members of each bucket that were no candidates there: int64[k]."""
        return self.pairs - self.candidates

    def pair_of(self, bucket: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pair (later, earlier) with this number in its bucket, as numbers of members: int64[n] each."""
        fixed = self.fixed[bucket]
        if self.inside:
            return pair_of(index + fixed * (fixed - 1) // 2)
        return fixed + index // fixed, index % fixed


def overfull(buckets: Buckets, kept: np.ndarray) -> Overfull:
    """The overfull buckets with their kept members. kept: bool[n]."""
    scope, found = buckets.scope, [(np.zeros(0, np.int64),) * 5]
    for band, first in enumerate(buckets.splits.begin[:-1].tolist()):
        items, levels, listed = buckets.overfull(band)
        if not len(items):
            continue
        names, own = np.unique(levels, return_inverse=True)  # numbered from 0 in this band; -1 stays apart
        levels = own.reshape(levels.shape) - int(names[0] < 0)
        candidates, members = np.zeros((2, levels.max() + 1), np.int64)
        staying = kept[items]
        count_candidates(levels, listed, scope.of(items), staying, candidates, members)
        homes, begun, home = np.unique(levels[0], return_index=True, return_inverse=True)
        order = np.argsort(begun)  # by first member
        rank = np.empty(len(homes), np.int64)
        rank[order] = np.arange(len(homes))
        places = np.flatnonzero(staying)
        places = places[np.argsort(rank[home[places]], kind="stable")]
        number = names[homes[order] + int(names[0] < 0)]
        fixed = np.bincount(home[: scope.of(items).fixed], minlength=len(homes))
        found.append((number, candidates[homes[order]], first + places, members[homes[order]], fixed[order]))
    number, candidates, places, members, fixed = (np.concatenate(part).astype(np.int64) for part in zip(*found, strict=True))
    return Overfull(number, candidates, places, np.concatenate(([0], np.cumsum(members))), fixed, scope.inside)


def hottest(buckets: Buckets, full: Overfull, most: int = HOTTEST) -> list[tuple[int, int, int]]:
    """(first item, items, pairs) of the overfull buckets that left out the most pairs of kept items, in descending order."""
    found = [at for at in np.argsort(-full.cut, kind="stable")[:most] if full.cut[at] > 0]
    return [(int(buckets.members(full.number[at])[0]), int(buckets.sizes[full.number[at]]), int(full.cut[at])) for at in found]


def sampled_cut(compare: Callable[[np.ndarray, np.ndarray], Compared], buckets: Buckets, full: Overfull, seed: int) -> Cut:
    """Compare a sample of the pairs of kept items that were left out. A left-out pair with a removed item costs nothing.

    compare: compares items left, int64[m], with items right, int64[m], as `stages.verify` does.
    """
    cut = int(full.cut.sum())
    if not cut:
        return Cut(0, 0, 0, 0.0)
    left, right = drawn(buckets, full, seed)
    similar = int(np.count_nonzero(compare(left, right).overlap >= 0))
    return Cut(cut, len(left), similar, cut * min(1.0, at_most(similar) / len(left)) if len(left) else float(cut))


def at_most(count: int) -> float:
    """Upper end of the one-sided 95% interval for the mean of a Poisson count, by the square-root approximation; 3.3 for a count of 0."""
    return float((np.sqrt(count + 1) + 1.645 / 2) ** 2)


def drawn(buckets: Buckets, full: Overfull, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A uniform sample of the left-out pairs of kept items, int64[m] each: a sample of all pairs, without the candidates."""
    pairs = full.pairs
    total, cut = int(pairs.sum()), int(full.cut.sum())
    wanted = min(max(int(full.candidates.sum()) // SHARE, LEAST), MOST)
    number = min(-(-wanted * total // cut), MOST)
    draw = (derive(np.uint64(seed), SAMPLING, number) / 2.0**64 * total).astype(np.int64).clip(max=total - 1)
    ends = np.cumsum(pairs)
    bucket = np.searchsorted(ends, draw, side="right")
    later, earlier = full.pair_of(bucket, draw - (ends - pairs)[bucket])
    later, earlier = (full.places[full.begin[bucket] + each] for each in (later, earlier))
    apart = ~are_candidates(buckets, later, earlier)
    return buckets.splits.items[earlier[apart]].astype(np.int64), buckets.splits.items[later[apart]].astype(np.int64)


def pair_of(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair (later, earlier) with this number, in the order (1, 0), (2, 0), (2, 1), (3, 0), ...: int64[n] each."""
    later = ((1 + np.sqrt(1 + 8.0 * index)) / 2).astype(np.int64)
    later -= later * (later - 1) // 2 > index  # the square root was rounded
    later += later * (later + 1) // 2 <= index
    return later, index - later * (later - 1) // 2


def are_candidates(buckets: Buckets, later: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """True where two members of a bucket are candidates at any level: bool[n]. later, earlier: places in Buckets.splits."""
    _, _, finer, listed = buckets.splits
    candidates = listed[0, earlier]
    for level, part in enumerate(finer, 1):
        candidates |= listed[level, earlier] & (part[later] >= 0) & (part[later] == part[earlier])
    return candidates
