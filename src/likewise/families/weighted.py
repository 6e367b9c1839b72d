"""Weighted MinHash: two weighted sets agree in a slot with probability equal to their weighted Jaccard similarity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import check_layout
from likewise.families.similarity import SimilarityFamily
from likewise.items.payloads import BEYOND, LEAST, MOST
from likewise.items.weighted import weighted
from likewise.kernels import darts
from likewise.planning.curves import Curve, jaccard

Slots = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class WeightedMinHash(SimilarityFamily):
    """Signatures of ``slots`` independent slots, which agree with probability Σ min / Σ max of the weights.

    Time grows with k log k for k slots and with the number of elements, and is the same at any scale of the weights. Scaling all sets by one factor
    changes no similarity, but it changes signatures: they are comparable if weights have one unit, and slots and seed are equal. Signatures cannot be
    merged: they lack the ranks that the signature of a union would need.

    >>> family = WeightedMinHash(256)
    >>> a, b = family.signature([{1: 0.5, 2: 2.0}, {1: 1.5, 2: 1.0}])
    >>> abs(family.estimate(a, b) - 1.5 / 3.5) < 4 * family.standard_error(1.5 / 3.5)
    True
    """

    slots: int = 128
    seed: int = 0

    @property
    def collision(self) -> Curve:
        return jaccard("WeightedMinHash", "weighted Jaccard similarity")

    @property
    def scheme(self) -> str:
        """Identifies the computation of slots; signatures of different schemes are not comparable."""
        return f"{darts.SCHEME}/{self.slots}"

    def signature(self, batch: Any) -> Slots:
        """Signatures, uint32[n, slots], one row per set; ``batch`` is what `likewise.items.weighted` reads. All slots of an empty set are 2^32 - 1.

        Elements are those of `MinHash`. Raises UsageError with the row for invalid weights, and for a set whose weights sum to less than 1e-30 or
        more than 1e30.
        """
        values, weights, offsets = weighted(batch, seed=self.seed)
        check_totals(weights, offsets)
        signatures: Slots = darts.sketch(values, weights, offsets, self.slots, np.uint64(self.seed))
        return signatures

    def band_keys(self, batch: Any, bands: int, rows: int) -> NDArray[np.uint64]:
        """The keys of the first ``bands * rows`` slots in bands of ``rows`` rows: uint64[bands, n]. All empty sets have the same keys."""
        bands, rows = check_layout(bands, rows, self.slots)
        return self.band_keys_of(self.signature(batch), bands, rows)


def check_totals(weights: NDArray[np.float64], offsets: NDArray[np.int64]) -> None:
    """Check the totals of weights. Raises UsageError with the row of a set whose weights sum to less than `LEAST` or more than `MOST`."""
    sizes = np.diff(offsets)
    totals = np.bincount(np.repeat(np.arange(sizes.size), sizes), weights, sizes.size)
    wrong = (sizes > 0) & ~((totals >= LEAST) & (totals <= MOST))
    if wrong.any():
        row = int(wrong.argmax())
        raise UsageError(f"row {row}: its weights add up to {totals[row]:.3g}; {BEYOND}")
