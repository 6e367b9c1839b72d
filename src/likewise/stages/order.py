"""The keep order: which item comes first, and so stays."""

from __future__ import annotations

import numpy as np


def keep_order(policy: str, chars: np.ndarray, score: np.ndarray, preference: np.ndarray) -> np.ndarray:
    """Row numbers in keep order: preferred sources first, then the policy, ties by input order. int64[n]

    preference: int[n], smaller comes first. ``longest`` and ``shortest`` count characters; a row without a score comes after all that have one.
    """
    rows = np.arange(len(chars))
    name = policy.partition(":")[0]
    key = {
        "first": lambda: rows,
        "last": lambda: -rows,
        "longest": lambda: -chars.astype(np.int64),
        "shortest": lambda: chars.astype(np.int64),
        "max": lambda: -score,  # NaN sorts last either way
        "min": lambda: score,
    }[name]()
    if name == "first" and not preference.any():
        return rows
    return np.lexsort((rows, key, preference))
