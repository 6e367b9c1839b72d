"""Distances that are norms of the difference: L1, L2, L∞ and every L_r with r >= 1, (Σ |x_i - y_i|^r)^(1/r)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.sparse import Sparse
from likewise.items.vectors import Vectors
from likewise.kernels.distances import distances
from likewise.measures import sparse
from likewise.measures.checks import same_shape


def lr(a: Vectors | Sparse, b: Vectors | Sparse, order: float) -> NDArray[np.float64]:
    """The L_r distance between the i-th vectors of two batches: float64[n]. order: r, which may be infinite.

    A distance beyond the range of float64 is infinite; intermediate results do not overflow. Raises UsageError for r < 1, which is not a distance.
    """
    if not order >= 1:
        raise UsageError(f"L_r with r = {order!r}: r must be at least 1")
    if isinstance(a, Sparse) or isinstance(b, Sparse):
        return sparse.distances(a, b, float(order))
    values: NDArray[np.float64] = distances(*same_shape(a, b), float(order))
    return values


def l1(a: Vectors | Sparse, b: Vectors | Sparse) -> NDArray[np.float64]:
    """The L1 distance, Σ |x_i - y_i|: float64[n]."""
    return lr(a, b, 1)


def l2(a: Vectors | Sparse, b: Vectors | Sparse) -> NDArray[np.float64]:
    """The L2 distance, sqrt(Σ (x_i - y_i)²): float64[n]."""
    return lr(a, b, 2)


def linf(a: Vectors | Sparse, b: Vectors | Sparse) -> NDArray[np.float64]:
    """The L∞ distance, max |x_i - y_i|: float64[n]."""
    return lr(a, b, math.inf)
