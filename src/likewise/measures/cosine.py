"""Cosine similarity, x·y / (‖x‖‖y‖), and the angle. Both depend on directions only: x and 2x are equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.sparse import Sparse
from likewise.items.vectors import Vectors
from likewise.kernels.distances import angles, cosines
from likewise.measures import sparse
from likewise.measures.checks import same_shape


def cosine(a: Vectors | Sparse, b: Vectors | Sparse) -> NDArray[np.float64]:
    """The cosine of the angle between the i-th vectors of two batches: float64[n], from -1 to 1. 1 - cosine is not a distance.

    Exact for vectors of any length, 1e-200 or 1e200. Raises UsageError with the row of a zero vector.
    """
    if isinstance(a, Sparse) or isinstance(b, Sparse):
        return sparse.cosines(a, b)
    values: NDArray[np.float64] = cosines(*same_shape(a, b, direction="its cosine"))
    return values


def angle(a: Vectors | Sparse, b: Vectors | Sparse) -> NDArray[np.float64]:
    """The angle between the i-th vectors of two batches: float64[n], in degrees from 0 to 180, precise for the smallest angles too.

    Raises UsageError with the row of a zero vector.
    """
    if isinstance(a, Sparse) or isinstance(b, Sparse):
        return sparse.angles(a, b)
    values: NDArray[np.float64] = angles(*same_shape(a, b, direction="its angle"))
    return values
