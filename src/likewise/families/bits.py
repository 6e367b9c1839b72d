"""Bit sampling: two codes agree at a random position with probability 1 - Hamming distance / length (Indyk and Motwani 1998)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import whole
from likewise.families.family import Signature
from likewise.families.onebit import OneBit, flags
from likewise.items.codes import codes
from likewise.kernels.directions import directions
from likewise.kernels.sampling import bits_at
from likewise.planning.curves import Curve, bit_sampling


@dataclass(frozen=True, slots=True)
class Bits(OneBit):
    """Signatures of ``slots`` bits, uint8, each at a random position of codes of ``dimension`` bits, with repetition. Values are Hamming distances.

    >>> family = Bits(8, 1000)
    >>> a, b = family.signature([[1, 0, 1, 1, 1, 0, 0, 1], [1, 0, 0, 1, 1, 0, 1, 1]])
    >>> abs(family.estimate(a, b) - 2) < 4 * family.standard_error(2)
    True
    """

    dimension: int
    slots: int = 256
    seed: int = 0

    dtype: ClassVar[type] = np.uint8

    def __post_init__(self) -> None:
        OneBit.__post_init__(self)
        whole(self, "dimension", 1, 2**31 - 1)

    @property
    def collision(self) -> Curve:
        return bit_sampling(self.dimension)

    def signature(self, batch: Any) -> Signature:
        """Signatures, uint8[n, slots], 0 or 1, one row per code. Raises UsageError for codes of another length."""
        words, bits = codes(batch)
        if len(words) and bits != self.dimension:
            raise UsageError(f"row 0 has {bits} bits, but this family is for codes of {self.dimension} bits; make one with dimension={bits}")
        positions = (directions("uniform", self.seed, 1, self.slots)[0] * self.dimension).astype(np.int64)
        sampled: Signature = bits_at(words, positions)
        return sampled

    def bits_of(self, features: Any) -> Signature:
        """The bits of features of 0 and 1, one number for each bit of a code."""
        return self.signature(flags(features, self.dimension))

    def between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """Hamming distances."""
        return np.abs(left[:, None] - right).sum(axis=2)
