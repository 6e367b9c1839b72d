"""Measures of sparse vectors: equal to the last bit to those of the same dense vectors, except for L_r where r is neither 1 nor 2."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.sparse import Sparse, nonempty
from likewise.kernels.sparse import ANGLE, COSINE, NORM, measures
from likewise.kinds.kind import MeasureFacts
from likewise.measures.checks import same_size


def kernel_of(facts: MeasureFacts, power: float = 0.0) -> tuple[int, float]:
    """The number of a measure in kernels.sparse, and the r of L_r. power: that r, or 0."""
    return (NORM, power) if not facts.directed else (ANGLE if facts.distance else COSINE, 0.0)


def cosines(a: Any, b: Any) -> NDArray[np.float64]:
    """The cosines of the i-th vectors: float64[n]. Raises UsageError with the row of a zero vector."""
    return values(a, b, COSINE, direction="its cosine")


def angles(a: Any, b: Any) -> NDArray[np.float64]:
    """The angles between the i-th vectors: float64[n], in degrees. Raises UsageError with the row of a zero vector."""
    return values(a, b, ANGLE, direction="its angle")


def distances(a: Any, b: Any, order: float) -> NDArray[np.float64]:
    """The L_order distances of the i-th vectors: float64[n]."""
    return values(a, b, NORM, order)


def values(a: Any, b: Any, measure: int, order: float = 0.0, direction: str = "") -> NDArray[np.float64]:
    """A measure of the i-th vectors of two batches, one of which is sparse: float64[n].

    direction: what needs one, for the message; with it zero vectors raise UsageError. Raises UsageError too if the other batch is not sparse.
    """
    if not isinstance(a, Sparse) or not isinstance(b, Sparse):
        raise UsageError(
            f"sparse vectors on the {'left' if isinstance(a, Sparse) else 'right'} and dense ones on the other side; give both in the same form"
        )
    same_size(len(a), len(b))
    if direction:
        nonempty(a, f"{direction} on the left")
        nonempty(b, f"{direction} on the right")
    rows = np.arange(len(a))
    found: NDArray[np.float64] = measures(a.arrays, b.arrays, rows, rows, measure, order)
    return found
