"""A random coordinate compared with a random threshold: one bit, for L1 distances of bounded coordinates (Gionis, Indyk and Motwani 1999)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import real, whole
from likewise.families.family import Signature
from likewise.families.onebit import OneBit
from likewise.items.vectors import of_dimension, vectors
from likewise.kernels.directions import directions
from likewise.kernels.sampling import reaches
from likewise.planning.curves import Curve, threshold_bit


@dataclass(frozen=True, slots=True)
class Threshold(OneBit):
    """Signatures of ``slots`` bits, uint8: 1 if a coordinate reaches a threshold between ``low`` and ``high``. Values are L1 distances.

    The collision probability is linear in the distance, so the estimate of the distance is unbiased, without the heavy tails of Cauchy lines.

    >>> family = Threshold(0, 255, 4, 1000)
    >>> a, b = family.signature([[10, 0, 255, 40], [10, 100, 200, 40]])
    >>> abs(family.estimate(a, b) - 155) < 4 * family.standard_error(155)
    True
    """

    low: float
    high: float
    dimension: int
    slots: int = 256
    seed: int = 0

    dtype: ClassVar[type] = np.uint8

    def __post_init__(self) -> None:
        OneBit.__post_init__(self)
        whole(self, "dimension", 1, 2**31 - 1)
        low, high = real(self, "low"), real(self, "high")
        if not 0 < high - low < math.inf or math.isinf(self.dimension * (high - low)):
            raise UsageError(f"Threshold low {self.low!r}, high {self.high!r}: give two finite numbers, the smaller one first, and not too far apart")

    @property
    def collision(self) -> Curve:
        return threshold_bit(self.low, self.high, self.dimension)

    def signature(self, batch: Any) -> Signature:
        """Signatures, uint8[n, slots], 0 or 1, one row per vector. Raises UsageError with the row of a coordinate below ``low`` or above ``high``."""
        items = of_dimension(vectors(batch), self.dimension)
        outside = (items < np.float64(self.low)) | (items > np.float64(self.high))
        if outside.any():
            row, column = divmod(int(outside.argmax()), self.dimension)
            raise UsageError(f"row {row}: {items[row, column]} in column {column} is not between {self.low} and {self.high}; give wider bounds")
        places, heights = directions("uniform", self.seed, 2, self.slots)[:2]
        thresholds = self.low + (self.high - self.low) * heights
        bits: Signature = reaches(items, (places * self.dimension).astype(np.int64), thresholds)
        return bits

    def between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """L1 distances."""
        return np.abs(left[:, None] - right).sum(axis=2)
