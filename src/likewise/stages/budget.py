"""What the budget of crowded buckets cut, and what that may have cost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from likewise.kernels.hashing import derive
from likewise.kernels.walk import count_alike
from likewise.stages.candidates import BUDGET, Buckets
from likewise.stages.cluster import Sets, Walk

#: The stream of constants, drawn from the seed, that the sample is drawn by.
SAMPLING = np.uint64(0xB0D6_0001)
#: Pairs that the budget cut are compared after all, drawn at random: one for so many comparisons of the walk, so many at least and at most.
SHARE, LEAST, MOST = 100, 10_000, 1_000_000


@dataclass(frozen=True)
class Cut:
    """cut: meetings of two items in a bucket that were not compared there. sampled, alike: of how many pairs of items that both stay, how many
    are at or above the threshold. missed: pairs that were missed, at most, with 95 % confidence."""

    cut: int
    sampled: int
    alike: int
    missed: float

    def recall(self, promised: float, found: int) -> float:
        """The promise, less what the budget may have missed of all there is to find."""
        return promised * found / (found + self.missed) if self.missed else promised


def what_was_cut(sets: Sets, buckets: Buckets, found: Walk, seed: int) -> Cut:
    """Compare a sample of the cut pairs. A pair of which one item was removed anyway is no loss; one of two items that stay is."""
    cut = int(found.cut_in.sum())
    if not cut:
        return Cut(0, 0, 0, 0.0)
    number = int(np.clip(found.compared // SHARE, LEAST, MOST))
    chance = derive(np.uint64(seed), SAMPLING, 3 * number).reshape(3, number) / 2.0**64
    crowded = np.flatnonzero(found.cut_in[: len(buckets.sizes)])
    chosen = np.searchsorted(np.cumsum(found.cut_in[crowded]), chance[0] * cut, side="right").clip(max=len(crowded) - 1)
    left, right = draw_pairs(*kept_in(buckets, found, crowded), chosen, chance[1:])
    if not len(left):
        return Cut(cut, 0, 0, 0.0)
    alike = int(count_alike(*sets.arguments(), left, right, sets.buffers()))
    return Cut(cut, len(left), alike, cut * min(1.0, at_most(alike) / len(left)))


def at_most(count: int) -> float:
    """Upper end of the one-sided 95 % interval of the mean of a Poisson count (square-root approximation; 3.3 for none)."""
    return float((np.sqrt(count + 1) + 1.645 / 2) ** 2)


def kept_in(buckets: Buckets, found: Walk, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The kept items of the buckets of these numbers, ascending: those of numbers[i] are items[begin[i] : begin[i + 1]], in keep order."""
    items, counts = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for band in np.unique(buckets.band[numbers]):
        mine = numbers[buckets.band[numbers] == band]
        kept = buckets.crowds(band)
        kept = kept[found.witness[kept] < 0]
        place = np.searchsorted(mine, buckets.bucket[band, kept]).clip(max=len(mine) - 1)
        there = mine[place] == buckets.bucket[band, kept]
        kept, place = kept[there], place[there]
        items.append(kept[np.argsort(place, kind="stable")])
        counts.append(np.bincount(place, minlength=len(mine)))
    return np.concatenate(items), np.concatenate(([0], np.cumsum(np.concatenate(counts))))


def draw_pairs(items: np.ndarray, begin: np.ndarray, chosen: np.ndarray, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A pair of kept items of each chosen bucket, of which the earlier was not among those that the bucket remembered; none of too small ones.

    chosen: int64[m], numbers of `kept_in`. chance: float64[2, m], below 1.
    """
    size = np.diff(begin)[chosen]
    chosen, chance, size = chosen[size > BUDGET + 1], chance[:, size > BUDGET + 1], size[size > BUDGET + 1]
    later = BUDGET + 1 + (np.sqrt(chance[0]) * (size - BUDGET - 1)).astype(np.int64)  # in proportion to how many came before
    earlier = BUDGET + (chance[1] * (later - BUDGET)).astype(np.int64)
    return items[begin[chosen] + np.minimum(later, size - 1)], items[begin[chosen] + earlier]
