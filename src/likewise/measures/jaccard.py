"""Jaccard similarity (resemblance): |A ∩ B| / |A ∪ B| (Broder 1997)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.codes import Codes
from likewise.items.sets import Sets
from likewise.measures.overlap import overlap, quotient


def jaccard(a: Sets | Codes, b: Sets | Codes) -> NDArray[np.float64]:
    """Jaccard similarity of the i-th sets of two batches: float64[n]; NaN if both sets are empty."""
    common, union, _ = overlap(a, b)
    return quotient(common, union)
