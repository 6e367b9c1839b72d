"""Priority order: of similar items, the first in it is kept."""

from __future__ import annotations

import numpy as np

#: The sort key of a row without a score: after all others.
LAST = np.iinfo(np.int64).max


def priority_order(policy: str, chars: np.ndarray, score: np.ndarray, preference: np.ndarray) -> np.ndarray:
    """Row numbers in priority order: preferred sources first, then by policy; ties in input order. int64[n]

    preference: int[n], smaller comes first. The other arguments are those of `sort_key`.
    """
    rows = np.arange(len(chars))
    if policy == "first" and not preference.any():
        return rows
    return np.lexsort((rows, sort_key(policy, rows, chars, score), preference))


def sort_key(policy: str, rows: np.ndarray, chars: np.ndarray, score: np.ndarray) -> np.ndarray:
    """The number by which a policy sorts each row, the smallest first: int64[n].

    rows: int64[n]. chars: characters of each row, for ``longest`` and ``shortest``. score: float64[n], NaN for none, for ``max`` and ``min``.
    """
    name = policy.partition(":")[0]
    if name in ("max", "min"):
        return ordered_bits(score if name == "min" else -score)
    key = {"first": lambda: np.zeros(len(rows), np.int64), "last": lambda: -rows, "longest": lambda: -chars.astype(np.int64)}
    return key.get(name, lambda: chars.astype(np.int64))()


def ordered_bits(values: np.ndarray) -> np.ndarray:
    """Integers in the order of floats, int64[n]; NaN comes last."""
    bits = (values + 0.0).view(np.int64)  # + 0.0: -0.0 equals 0.0
    return np.where(np.isnan(values), LAST, np.where(bits < 0, bits ^ np.int64(LAST), bits))
