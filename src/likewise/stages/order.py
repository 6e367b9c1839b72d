"""Priority order: of similar items, the first in it is kept."""

from __future__ import annotations

import numpy as np


def priority_order(policy: str, chars: np.ndarray, score: np.ndarray, preference: np.ndarray) -> np.ndarray:
    """Row numbers in priority order: preferred sources first, then by policy; ties in input order. int64[n]

    chars: characters of each row, for ``longest`` and ``shortest``. score: float64[n], NaN for none; rows without a score come last. preference:
    int[n], smaller comes first.
    """
    rows = np.arange(len(chars))
    name = policy.partition(":")[0]
    key = {
        "first": lambda: rows,
        "last": lambda: -rows,
        "longest": lambda: -chars.astype(np.int64),
        "shortest": lambda: chars.astype(np.int64),
        "max": lambda: -score,  # NaN sorts last in both directions
        "min": lambda: score,
    }[name]()
    if name == "first" and not preference.any():
        return rows
    return np.lexsort((rows, key, preference))
