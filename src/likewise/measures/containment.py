"""Containment of A in B: |A ∩ B| / |A| (Broder 1997). It is asymmetric, so 1 - containment is not a distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.codes import Codes
from likewise.items.sets import Sets
from likewise.measures.overlap import overlap, quotient


def containment(a: Sets | Codes, b: Sets | Codes) -> NDArray[np.float64]:
    """The fraction of the i-th set of ``a`` that the i-th of ``b`` contains: float64[n]; NaN if the set of ``a`` is empty."""
    common, _, size = overlap(a, b)
    return quotient(common, size)
