"""Vectors as one array with a vector a row. What cannot be a vector is refused, and named by its row, counted from 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import is_arrow, lists
from likewise.items.given import SINGLE, is_number, refuse_masked, rows, shown
from likewise.items.sets import read_only

Vectors = NDArray[Any]  # float32[n, d] or float64[n, d]

#: What float32 holds exactly. Every other number is read as float64, which holds whole numbers up to 2^53 exactly.
NARROW = ("float16", "float32", "int8", "uint8", "int16")

FORMS = "vectors are a 2-D array or a list of lists of numbers"
ALONE = "one vector alone is a batch of one: [vector]"
NUMBER = (int, float)


def vectors(batch: Any) -> Vectors:
    """A batch of vectors as float32[n, d] or float64[n, d] (`NARROW`), C-contiguous, read-only and finite.

    batch: a 2-D array, or a list (or Arrow array) of equally long lists or 1-D arrays of numbers. An empty list is float64[0, 0].
    Raises UsageError with the row for NaN, infinity, what is no number, or rows of different lengths.
    """
    batch = arrow_rows(batch) if is_arrow(batch) else rows(batch, FORMS, (NUMBER, ALONE))
    if isinstance(batch, np.ndarray) and batch.dtype != object:
        array = batch if batch.size or batch.ndim == 2 else batch.reshape(0, 0)
        if array.ndim != 2:
            raise UsageError(f"vectors are a 2-D array, one a row; here came the shape {batch.shape}; {ALONE}")
        array = numbers(array, 0)
    else:
        array = stacked([row_of(row, place) for place, row in enumerate(batch)])
    if len(array) and array.shape[1] == 0:
        raise UsageError("row 0 has no numbers; a vector has one dimension at least")
    refuse_not_finite(array)
    return read_only(np.ascontiguousarray(array))


def nonzero(vectors: Vectors, what: str) -> Vectors:
    """The same vectors. Raises UsageError with the row of the first zero vector; ``what`` says what needs a direction, as "its angle"."""
    empty = ~vectors.any(axis=1)
    if empty.any():
        raise UsageError(f"row {int(empty.argmax())} is the zero vector, which has no direction: {what} is undefined; take such rows out first")
    return vectors


def of_dimension(items: Vectors, dimension: int) -> Vectors:
    """The same vectors. Raises UsageError for those of another dimension than a family is made for."""
    found = items.shape[1]
    if len(items) and found != dimension:
        raise UsageError(f"row 0 has {found} numbers, and this family is for vectors of {dimension}: make one with dimension={found}")
    return items


def numbers(array: NDArray[Any], place: int) -> NDArray[Any]:
    """The array as float32 or float64. ``place``: its first row, for the message."""
    if array.dtype.kind not in "iuf":
        raise UsageError(f"row {place} is of type {array.dtype}; a vector is numbers: integers or floats of at most 64 bits")
    with np.errstate(over="ignore"):  # of a longdouble, refused as infinite later
        return array.astype(np.float32 if array.dtype.name in NARROW else np.float64, copy=False)


def row_of(row: Any, place: int) -> NDArray[Any]:
    """One vector of a list of them."""
    if isinstance(row, np.ndarray) and (row.dtype != object or row.ndim != 1):
        refuse_masked(row, f"row {place}: a vector is a 1-D array")
        if row.ndim != 1:
            hint = f"; {ALONE}" if row.ndim == 0 else ""
            raise UsageError(f"row {place} is an array of shape {row.shape}; a vector is a 1-D array{hint}")
        return numbers(row, place)
    if is_number(row):
        raise UsageError(f"row {place} is the number {shown(row)}, and a batch is a list of vectors; {ALONE}")
    if not isinstance(row, Sequence | np.ndarray) or isinstance(row, SINGLE):
        raise UsageError(f"row {place} is {shown(row)}; a vector is a list of numbers")
    for column, number in enumerate(row):
        if not is_number(number):
            raise UsageError(f"row {place}: {shown(number)} in column {column}; a vector is numbers (int or float)")
    try:
        return np.array([float(number) for number in row], np.float64)
    except OverflowError:
        raise UsageError(f"row {place}: a whole number beyond the range of float64; scale the vectors") from None


def stacked(rows: list[NDArray[Any]]) -> NDArray[Any]:
    for place, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise UsageError(f"row {place} has {len(row)} numbers, row 0 has {len(rows[0])}; all vectors of a batch have one length")
    return np.stack(rows) if rows else np.empty((0, 0))


def refuse_not_finite(array: NDArray[Any]) -> None:
    finite = np.isfinite(array)
    if not finite.all():
        row, column = divmod(int(finite.argmin()), array.shape[1])
        raise UsageError(f"row {row}: {array[row, column]} in column {column}; vectors are finite numbers: take such rows out first")


def arrow_rows(batch: Any) -> NDArray[Any] | list[NDArray[Any]]:
    """The rows of an Arrow array of lists (of one size or of any), without a Python object a number."""
    flat, begins = lists(batch, "vectors are an Arrow array of lists of numbers")
    values, sizes = numbers(flat.to_numpy(zero_copy_only=False), 0), np.diff(begins)
    if (sizes == sizes[:1]).all():
        return values.reshape(len(sizes), -1) if values.size else np.empty((len(sizes), 0))
    return np.split(values, begins[1:-1])


def alone(given: Any) -> bool:
    """Whether this is one vector and not a batch: a 1-D array or a list of numbers, not an empty one."""
    if isinstance(given, np.ndarray):
        return given.ndim == 1 and given.size > 0 and (given.dtype != object or is_number(given[0]))
    return isinstance(given, Sequence) and not isinstance(given, SINGLE) and len(given) > 0 and is_number(given[0])
