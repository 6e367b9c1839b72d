"""Jaccard similarity (resemblance): |A ∩ B| / |A ∪ B| (SPEC 1; Broder 1997)."""

from __future__ import annotations

import numpy as np

from likewise.kernels.sets import overlaps

Sets = tuple[np.ndarray, np.ndarray]  # values uint64[m], each set ascending and distinct; offsets int64[n+1]


def jaccard(a: Sets, b: Sets) -> np.ndarray:
    """Jaccard similarity of the i-th sets of two batches. float64[n]; NaN where both sets are empty, which SPEC 1 leaves undefined."""
    (left, left_offsets), (right, right_offsets) = a, b
    common = overlaps(left, left_offsets, right, right_offsets)
    union = np.diff(left_offsets) + np.diff(right_offsets) - common
    return np.divide(common, union, out=np.full(len(common), np.nan), where=union > 0)
