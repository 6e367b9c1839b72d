"""Hamming distance: the number of positions in which two codes, or two equally long strings, differ (Hamming 1950)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.codes import Codes
from likewise.kernels.bits import differing
from likewise.measures.checks import same_bits, same_size


def hamming(a: Codes | list[str], b: Codes | list[str]) -> NDArray[np.int64]:
    """The number of bits in which the i-th codes of two batches differ, or of code points for the i-th strings: int64[n].

    Raises UsageError for codes of different lengths, and with the row for strings of different lengths.
    """
    same_size(*(len(side) if isinstance(side, list) else len(side[0]) for side in (a, b)))
    if isinstance(a, list) and isinstance(b, list):
        return of_strings(a, b)
    if isinstance(a, list) or isinstance(b, list):
        raise UsageError("strings on one side and codes on the other; give the same on both")
    counts: NDArray[np.int64] = differing(*same_bits(a, b))
    return counts


def of_strings(a: list[str], b: list[str]) -> NDArray[np.int64]:
    """The number of code points in which the i-th strings differ. Raises UsageError with the row for strings of different lengths."""
    for row, (left, right) in enumerate(zip(a, b, strict=True)):
        if len(left) != len(right):
            raise UsageError(f"row {row}: a string of {len(left)} characters and one of {len(right)}; strings of different lengths are for by='edit'")
    points, others = (np.frombuffer("".join(side).encode("utf-32-le", "surrogatepass"), "<u4") for side in (a, b))
    before = np.concatenate([[0], np.cumsum(points != others)])  # position -> how many differ before it
    ends = np.cumsum([0, *map(len, a)])
    return np.diff(before[ends])
