"""Hamming distance: the number of bits in which two codes differ (Hamming 1950)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.codes import Codes
from likewise.kernels.bits import differing
from likewise.measures.checks import same_bits, same_size


def hamming(a: Codes, b: Codes) -> NDArray[np.int64]:
    """The number of bits in which the i-th codes of two batches differ: int64[n]. Raises UsageError for codes of different lengths."""
    same_size(len(a[0]), len(b[0]))
    counts: NDArray[np.int64] = differing(*same_bits(a, b))
    return counts
