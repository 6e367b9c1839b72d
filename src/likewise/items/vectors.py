"""Vectors as one array with a vector a row. What cannot be a vector is refused, and named by its row, counted from 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import is_arrow
from likewise.items.sets import read_only

Vectors = NDArray[Any]  # float32[n, d] or float64[n, d]

#: What float32 holds exactly. Every other number is read as float64, which holds whole numbers up to 2^53 exactly.
NARROW = ("float16", "float32", "int8", "uint8", "int16")


def vectors(batch: Any) -> Vectors:
    """A batch of vectors as float32[n, d] or float64[n, d] (`NARROW`), C-contiguous, read-only and finite.

    batch: a 2-D array, or a list (or Arrow array) of equally long lists or 1-D arrays of numbers. An empty list is float64[0, 0].
    Raises UsageError with the row for NaN, infinity, what is no number, or rows of different lengths.
    """
    if is_arrow(batch):
        batch = arrow_rows(batch)
    if isinstance(batch, np.ndarray) and batch.dtype != object:
        array = batch if batch.size or batch.ndim == 2 else batch.reshape(0, 0)
        if array.ndim != 2:
            raise UsageError(f"vectors are a 2-D array, one a row; here came the shape {batch.shape}; one vector alone is a batch of one: [vector]")
        array = numbers(array, 0)
    elif isinstance(batch, Sequence | np.ndarray) and not isinstance(batch, str | bytes):
        array = stacked([row_of(row, place) for place, row in enumerate(batch)])
    else:
        raise UsageError(f"vectors are a 2-D array or a list of lists of numbers; here came {type(batch).__name__}")
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


def numbers(array: NDArray[Any], place: int) -> NDArray[Any]:
    """The array as float32 or float64. ``place``: its first row, for the message."""
    if array.dtype.kind not in "iuf":
        raise UsageError(f"row {place} is of type {array.dtype}; a vector is numbers: integers or floats of at most 64 bits")
    with np.errstate(over="ignore"):  # of a longdouble, refused as infinite later
        return array.astype(np.float32 if array.dtype.name in NARROW else np.float64, copy=False)


def row_of(row: Any, place: int) -> NDArray[Any]:
    """One vector of a list of them."""
    if isinstance(row, np.ndarray) and row.dtype != object:
        if row.ndim != 1:
            hint = "; one vector alone is a batch of one: [vector]" if row.ndim == 0 else ""
            raise UsageError(f"row {place} is an array of shape {row.shape}; a vector is a 1-D array{hint}")
        return numbers(row, place)
    if isinstance(row, int | float | np.number):
        raise UsageError(f"row {place} is the number {row!r}, and a batch is a list of vectors; one vector alone is a batch of one: [vector]")
    if not isinstance(row, Sequence | np.ndarray) or isinstance(row, str | bytes):
        raise UsageError(f"row {place} is {row!r}; a vector is a list of numbers")
    for column, number in enumerate(row):
        if isinstance(number, bool) or not isinstance(number, int | float | np.integer | np.floating):
            raise UsageError(f"row {place}: {number!r} in column {column}; a vector is numbers (int or float)")
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
    import pyarrow as pa

    array = pa.chunked_array([batch] if isinstance(batch, pa.Array) else batch).combine_chunks()
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type)):
        raise UsageError(f"vectors are an Arrow array of lists of numbers; here came {array.type}; one vector alone is a batch of one")
    if array.null_count:
        raise UsageError(f"row {array.is_null().to_numpy(zero_copy_only=False).argmax()} is null; fill or drop it first")
    flat = array.flatten()
    ends = np.cumsum(array.value_lengths().to_numpy(zero_copy_only=False), dtype=np.int64)
    if flat.null_count:
        at = flat.is_null().to_numpy(zero_copy_only=False).argmax()
        raise UsageError(f"row {np.searchsorted(ends, at, side='right')} holds a null; fill or drop it first")
    values = numbers(flat.to_numpy(zero_copy_only=False), 0)
    if len(ends) and values.size == len(ends) * ends[0] and (np.diff(ends) == ends[0]).all():
        return values.reshape(len(ends), -1) if values.size else np.empty((len(ends), 0))
    return np.split(values, ends[:-1]) if len(ends) else []


def alone(given: Any) -> bool:
    """Whether this is one vector and not a batch: a 1-D array or a list of numbers, not an empty one."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given.ndim == 1 and given.size > 0
    return (
        isinstance(given, Sequence | np.ndarray)
        and not isinstance(given, str | bytes)
        and len(given) > 0
        and isinstance(given[0], int | float | np.number)
    )
