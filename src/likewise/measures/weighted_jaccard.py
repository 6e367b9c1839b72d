"""Weighted Jaccard similarity: Σ min(a_i, b_i) / Σ max(a_i, b_i)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.items.weighted import Weighted
from likewise.kernels.weights import weighted_jaccards
from likewise.measures.checks import same_size


def weighted_jaccard(a: Weighted, b: Weighted) -> NDArray[np.float64]:
    """Weighted Jaccard similarity of the i-th weighted sets of two batches: float64[n]; NaN if both are empty.

    For whole-number weights it is the Jaccard similarity of the multisets, correctly rounded. Raises UsageError for different numbers of sets.
    """
    same_size(len(a[2]) - 1, len(b[2]) - 1)
    similarity: NDArray[np.float64] = weighted_jaccards(*(read_only(array) for array in (*a, *b)))
    return similarity
