"""Sizes of intersections and unions, whole numbers, of which Jaccard similarity and containment are quotients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.codes import Codes
from likewise.items.sets import Sets, read_only
from likewise.kernels import bits, sets
from likewise.measures.checks import same_bits, same_size

Counts = NDArray[np.int64]


def overlap(a: Sets | Codes, b: Sets | Codes) -> tuple[Counts, Counts, Counts]:
    """|A ∩ B|, |A ∪ B| and |A| of the i-th sets of two batches: int64[n] each. Raises UsageError for different numbers of sets.

    a, b: `Sets`, or codes with a bit for each possible element.
    """
    if not isinstance(a[1], np.ndarray):
        left, right = same_bits(a, b)  # type: ignore[arg-type]
        common, union = bits.shared(left, right)
        return common, union, bits.shared(left, left)[0]
    values, offsets, others, other_offsets = (read_only(array) for array in (*a, *b))  # type: ignore[arg-type]
    same_size(len(offsets) - 1, len(other_offsets) - 1)
    common = sets.overlaps(values, offsets, others, other_offsets)
    size = np.diff(offsets)
    return common, size + np.diff(other_offsets) - common, size


def quotient(part: Counts, whole: Counts) -> NDArray[np.float64]:
    """part / whole, correctly rounded: float64[n]; NaN if the whole is 0."""
    return np.divide(part, whole, out=np.full(len(part), np.nan), where=whole > 0)
