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
#: Pairs that the budget cut are compared after all, up to so many, drawn at random.
SAMPLE = 10_000


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
    chance = derive(np.uint64(seed), SAMPLING, 3 * SAMPLE).reshape(3, SAMPLE) / 2.0**64
    crowded = np.flatnonzero(found.cut_in[: len(buckets.sizes)])
    chosen = crowded[np.searchsorted(np.cumsum(found.cut_in[crowded]), chance[0] * cut, side="right").clip(max=len(crowded) - 1)]
    drawn = [draw_pairs(buckets, found, int(number), chance[1:, chosen == number]) for number in np.unique(chosen)]
    left, right = (np.concatenate(side) for side in zip(*drawn, strict=True))
    if not len(left):
        return Cut(cut, 0, 0, 0.0)
    alike = int(count_alike(*sets.arguments(), left, right, sets.buffers()))
    return Cut(cut, len(left), alike, cut * min(1.0, at_most(alike) / len(left)))


def at_most(count: int) -> float:
    """Upper end of the one-sided 95 % interval of the mean of a Poisson count (square-root approximation; 3.3 for none)."""
    return float((np.sqrt(count + 1) + 1.645 / 2) ** 2)


def draw_pairs(buckets: Buckets, found: Walk, number: int, chance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of kept items of a bucket, of which the earlier was not among those that the bucket remembered. chance: float64[2, m], below 1."""
    kept = buckets.members(number)
    kept = kept[found.witness[kept] < 0]
    if len(kept) < BUDGET + 2:
        return kept[:0], kept[:0]
    later = BUDGET + 1 + (np.sqrt(chance[0]) * (len(kept) - BUDGET - 1)).astype(np.int64)  # in proportion to how many came before
    earlier = BUDGET + (chance[1] * (later - BUDGET)).astype(np.int64)
    return kept[later.clip(max=len(kept) - 1)], kept[earlier]
