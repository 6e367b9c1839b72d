"""The pairs that the rule for overfull buckets left out, and an estimate of the similar pairs among them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from likewise.kernels.hashing import derive
from likewise.kernels.heads import count_candidates
from likewise.stages.buckets import Buckets, Splits
from likewise.stages.scope import Scope
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
        return expected * found / (found + self.whole) if self.whole else expected

    @property
    def whole(self) -> int:
        """The upper bound in whole pairs."""
        return int(self.missed)


class Counts(NamedTuple):
    """Counts of k overfull buckets, by band and first member. They do not depend on the numbers of buckets, or on the process that holds them."""

    inside: bool  # members that are not fixed are compared with each other
    band: np.ndarray  # int64[k]
    first: np.ndarray  # int64[k]: the first member
    size: np.ndarray  # int64[k]: the size by the rule for overfull buckets (`Scope.sizes`)
    kept: np.ndarray  # int64[k]: the number of kept members
    fixed: np.ndarray  # int64[k]: the number of first kept members that are not compared with each other
    candidates: np.ndarray  # int64[k]: pairs of kept members that were candidates in the bucket

    @property
    def columns(self) -> tuple[np.ndarray, ...]:
        return self[1:]

    @property
    def name(self) -> np.ndarray:
        """The band and the first member as one number, ascending: int64[k]."""
        return self.band << 44 | self.first

    @property
    def pairs(self) -> np.ndarray:
        """Pairs of kept members of each bucket that a search without the rule would compare: int64[k]."""
        others = self.kept - self.fixed
        return others * self.fixed + self.inside * (others * (others - 1) // 2)

    @property
    def cut(self) -> np.ndarray:
        """Pairs of kept members of each bucket that were no candidates there: int64[k]."""
        return self.pairs - self.candidates


class Hot(NamedTuple):
    """An overfull bucket that left out pairs."""

    band: int
    first: int  # the first member
    size: int  # by the rule for overfull buckets
    cut: int  # pairs of kept members that were left out


class Overfull(NamedTuple):
    """The overfull buckets of some bands, or some of them, with their kept members."""

    counts: Counts
    places: np.ndarray  # int64[m]: kept members as places in stages.buckets.Splits, in priority order
    begin: np.ndarray  # int64[k + 1]: bucket i has places[begin[i] : begin[i + 1]]


def overfull(members: Iterable[tuple[np.ndarray, np.ndarray, np.ndarray]], kept: Callable[[np.ndarray], np.ndarray], scope: Scope) -> Overfull:
    """The overfull buckets with their kept members.

    members: for each band those of its overfull buckets, in priority order, with the numbers of their buckets and parts in that band
    (`Buckets.overfull`). kept: takes items, and returns which are kept, bool[m].
    """
    found = [(np.zeros(0, np.int64),) * 8]
    first = 0
    for band, (items, levels, listed) in enumerate(members):
        if not len(items):
            continue
        names, own = np.unique(levels, return_inverse=True)  # numbered from 0 in this band; -1 stays apart
        levels = own.reshape(levels.shape) - int(names[0] < 0)
        candidates, number = np.zeros((2, levels.max() + 1), np.int64)
        staying, own_scope = kept(items), scope.of(items)
        count_candidates(levels, listed, own_scope, staying, candidates, number)
        homes, begun, home = np.unique(levels[0], return_index=True, return_inverse=True)
        order = np.argsort(begun)  # by first member
        rank = np.empty(len(homes), np.int64)
        rank[order] = np.arange(len(homes))
        places = np.flatnonzero(staying)
        places = places[np.argsort(rank[home[places]], kind="stable")]
        fixed = np.bincount(home[: own_scope.fixed], minlength=len(homes))
        size = np.bincount(home) if scope.inside else fixed + 1
        facts = (items[begun], size, number[homes], fixed, candidates[homes])
        found.append((np.full(len(homes), band), *(each[order] for each in facts), first + places, number[homes[order]]))
        first += len(items)
    *counts, places, sizes = (np.concatenate(part).astype(np.int64) for part in zip(*found, strict=True))
    return Overfull(Counts(scope.inside, *counts), places, np.concatenate(([0], np.cumsum(sizes))))


def of_buckets(buckets: Buckets, kept: np.ndarray) -> Overfull:
    """The overfull buckets of all bands. kept: bool[n]."""
    return overfull(map(buckets.overfull, range(len(buckets.bucket))), lambda items: kept[items], buckets.scope)


def merged(found: Sequence[Counts]) -> Counts:
    """The overfull buckets of one or more processes, each bucket from one of them."""
    band, first, *more = (np.concatenate(each) for each in zip(*(each.columns for each in found), strict=True))
    order = np.lexsort((first, band))
    size, kept, fixed, candidates = (each[order] for each in more)
    return Counts(found[0].inside, band[order], first[order], size, kept, fixed, candidates)


def hottest(counts: Counts, most: int = HOTTEST) -> list[Hot]:
    """The overfull buckets that left out the most pairs of kept items, in descending order."""
    cut = counts.cut
    found = [at for at in np.argsort(-cut, kind="stable")[:most] if cut[at] > 0]
    return [Hot(*(int(each[at]) for each in (counts.band, counts.first, counts.size, cut))) for at in found]


def sampled_cut(compare: Callable[[np.ndarray, np.ndarray], Compared], buckets: Buckets, full: Overfull, seed: int) -> Cut:
    """Compare a sample of the pairs of kept items that were left out. A left-out pair with a removed item loses nothing.

    compare: compares items left, int64[m], with items right, int64[m], as `stages.verify` does.
    """
    left, right = skipped(buckets.splits, full, *drawn(full.counts, seed))
    similar = np.count_nonzero(compare(left, right).overlap >= 0) if len(left) else 0
    return left_out(int(full.counts.cut.sum()), len(left), int(similar))


def left_out(cut: int, sampled: int, similar: int) -> Cut:
    """The estimate for ``cut`` pairs that were left out, from a sample of them."""
    return Cut(cut, sampled, similar, cut * min(1.0, at_most(similar) / sampled) if sampled else float(cut))


def at_most(count: int) -> float:
    """Upper end of the one-sided 95% interval for the mean of a Poisson count, by the square-root approximation; 3.3 for a count of 0."""
    return float((np.sqrt(count + 1) + 1.645 / 2) ** 2)


def drawn(counts: Counts, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A uniform sample of the pairs of kept items of all overfull buckets: the bucket of each, int64[m], and the number of the pair in it, int64[m].

    The left-out pairs among them are a uniform sample of all left-out pairs.
    """
    pairs = counts.pairs
    total, cut = int(pairs.sum()), int(counts.cut.sum())
    if not cut:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    wanted = min(max(int(counts.candidates.sum()) // SHARE, LEAST), MOST)
    number = min(-(-wanted * total // cut), MOST)
    draw = (derive(np.uint64(seed), SAMPLING, number) / 2.0**64 * total).astype(np.int64).clip(max=total - 1)
    ends = np.cumsum(pairs)
    bucket = np.searchsorted(ends, draw, side="right")
    return bucket, draw - (ends - pairs)[bucket]


def skipped(splits: Splits, full: Overfull, bucket: np.ndarray, number: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The items (earlier, later) of the pairs that were left out, int64[k] each, among those with these numbers in these buckets of ``full``."""
    later, earlier = (full.places[full.begin[bucket] + each] for each in pair_in(full.counts, bucket, number))
    apart = ~are_candidates(splits, later, earlier)
    return splits.items[earlier[apart]].astype(np.int64), splits.items[later[apart]].astype(np.int64)


def pair_in(counts: Counts, bucket: np.ndarray, index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair (later, earlier) with this number in its bucket, as numbers of kept members: int64[n] each."""
    fixed = counts.fixed[bucket]
    if counts.inside:
        return pair_of(index + fixed * (fixed - 1) // 2)
    return fixed + index // fixed, index % fixed


def pair_of(index: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pair (later, earlier) with this number, in the order (1, 0), (2, 0), (2, 1), (3, 0), ...: int64[n] each."""
    later = ((1 + np.sqrt(1 + 8.0 * index)) / 2).astype(np.int64)
    later -= later * (later - 1) // 2 > index  # the square root was rounded
    later += later * (later + 1) // 2 <= index
    return later, index - later * (later - 1) // 2


def are_candidates(splits: Splits, later: np.ndarray, earlier: np.ndarray) -> np.ndarray:
    """True where two members of a bucket are candidates at any level: bool[n]. later, earlier: places in ``splits``."""
    candidates = splits.listed[0, earlier]
    for level, part in enumerate(splits.bucket, 1):
        candidates |= splits.listed[level, earlier] & (part[later] >= 0) & (part[later] == part[earlier])
    return candidates
