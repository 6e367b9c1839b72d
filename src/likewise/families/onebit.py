"""Families whose functions give one bit of a feature, a row of numbers. `Histograms` combines such bits to the numbers of bins."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.family import Family, Signature
from likewise.items.vectors import of_dimension, vectors


class OneBit(Family):
    """A family that gives bits of features."""

    __slots__ = ()

    def bits_of(self, features: Any) -> Signature:
        """The bits of features, uint8[n, slots], 0 or 1. Raises UsageError with the row of an invalid feature."""
        return self.signature(features)

    @abstractmethod
    def between(self, left: NDArray[np.float64], right: NDArray[np.float64]) -> NDArray[np.float64]:
        """The value that `collision` is a function of, for each feature of ``left`` and each of ``right``: float64[n, m]."""


def flags(features: Any, dimension: int | None = None) -> NDArray[np.bool_]:
    """Features of 0 and 1 as bool[n, d]. Raises UsageError with the row of another number, or for another dimension."""
    rows = vectors(features) if dimension is None else of_dimension(vectors(features), dimension)
    other = (rows != 0) & (rows != 1)
    if other.any():
        row, column = divmod(int(other.argmax()), rows.shape[1])
        raise UsageError(f"row {row}: {rows[row, column]:g} in column {column}; the features of this family have the numbers 0 and 1")
    return rows == 1
