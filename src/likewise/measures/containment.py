"""Containment of A in B: |A ∩ B| / |A| (Broder 1997). Asymmetric, and no distance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.codes import Codes
from likewise.items.sets import Sets
from likewise.measures.overlap import overlap, quotient


def containment(a: Sets | Codes, b: Sets | Codes) -> NDArray[np.float64]:
    """The share of the i-th set of ``a`` that the i-th of ``b`` holds. float64[n]; NaN where the set of ``a`` is empty."""
    common, _, size = overlap(a, b)
    return quotient(common, size)
