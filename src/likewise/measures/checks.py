"""Checks of two batches before they are compared, item by item."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.codes import Codes
from likewise.items.sets import read_only
from likewise.items.vectors import Vectors, nonzero


def same_size(left: int, right: int) -> None:
    """Check that two batches have the same number of items. Raises UsageError."""
    if left != right:
        raise UsageError(f"{left} items on the left and {right} on the right; give the same number on both sides")


def same_shape(a: Vectors, b: Vectors, *, direction: str = "") -> tuple[Vectors, Vectors]:
    """Vectors of one shape, type and layout. Raises UsageError for different shapes.

    direction: what needs one, for the message; with it zero vectors raise UsageError too.
    """
    same_size(len(a), len(b))
    if len(a) and a.shape[1] != b.shape[1]:
        raise UsageError(f"vectors of {a.shape[1]} dimensions on the left and {b.shape[1]} on the right; both sides must have the same number")
    if direction:
        nonzero(a, f"{direction} on the left")
        nonzero(b, f"{direction} on the right")
    kind = np.result_type(a, b)
    return read_only(np.ascontiguousarray(a, kind)), read_only(np.ascontiguousarray(b, kind))


def same_bits(a: Codes, b: Codes) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """The words of codes with the same number of bits, uint64[n, words] each. Raises UsageError for different numbers of codes or bits."""
    (left, bits), (right, others) = a, b
    same_size(len(left), len(right))
    if len(left) and bits != others:
        raise UsageError(f"codes of {bits} bits on the left and {others} on the right; both sides must have the same number")
    return read_only(left), read_only(right)
