"""Shares of the fingerprints of one side, so that the table in which those of the other are looked up fits into memory."""

from __future__ import annotations

import numpy as np


def share(keys: np.ndarray, number: int, of: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The keys in one of several equal ranges: (distinct and ascending uint64[n], their places in ``keys`` int64[m], which each is int64[m])."""
    places = np.flatnonzero((keys >> np.uint64(32)) * np.uint64(of) >> np.uint64(32) == np.uint64(number)) if of > 1 else np.arange(len(keys))
    distinct, which = np.unique(keys[places], return_inverse=True)
    return distinct, places, which
