"""Python values as Arrow columns. Arrays are not copied."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import UsageError
from likewise.items.arrow import PAIR, is_list
from likewise.items.given import SINGLE, borders, refuse_masked, shown
from likewise.items.sparse_names import SPARSE

#: Errors that Arrow raises for values without a common type; the last for lone surrogates.
UNFIT = (pa.ArrowException, OverflowError, UnicodeEncodeError)


def of_numbers(array: np.ndarray) -> pa.Array:
    """A column of numbers, or of lists, one for each row: a view of the array if it is contiguous and in native byte order."""
    if array.ndim == 3:
        return pa.FixedSizeListArray.from_arrays(of_numbers(array.reshape(-1, array.shape[2])), array.shape[1])
    flat = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1)
    memory = pa.py_buffer(np.packbits(flat, bitorder="little") if flat.dtype == bool else flat)
    values = pa.Array.from_buffers(pa.from_numpy_dtype(flat.dtype), len(flat), [None, memory])
    return values if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(values, array.shape[1])


def of_lists(offsets: np.ndarray, values: pa.Array, gone: Sequence[bool] | None = None) -> pa.LargeListArray:
    """A column of lists of ``values``. gone: the rows that are null."""
    mask = pa.array(gone) if gone is not None and any(gone) else None
    return pa.LargeListArray.from_arrays(pa.array(np.ascontiguousarray(offsets, np.int64)), values, mask=mask)


def of_csr(given: Any, made: Callable[[np.ndarray, pa.Array, pa.Array, int], pa.Array], forms: str) -> pa.Array:
    """The rows of a CSR matrix (scipy's, or any object with its parts), by `as_vectors` or `as_pairs`. Raises UsageError for unsuitable arrays."""
    offsets, indices, data = (np.asarray(part) for part in (given.indptr, given.indices, given.data))
    if len(given.shape) != 2 or data.dtype.kind not in "iufb" or data.dtype.itemsize > 8:
        raise UsageError(f"give {forms}; got a sparse matrix of {data.dtype} of shape {tuple(given.shape)}")
    offsets = borders(offsets, min(len(indices), len(data)))
    if len(offsets) - 1 != given.shape[0]:
        raise UsageError(f"got a sparse matrix of shape {tuple(given.shape)} whose indptr is for {len(offsets) - 1} rows")
    if indices.dtype.kind not in "iu":
        raise UsageError(f"got a sparse matrix with indices of {indices.dtype}; indices must be whole numbers")
    return made(offsets, of_numbers(indices), of_numbers(data.view(np.uint8) if data.dtype == bool else data), given.shape[1])


def as_pairs(offsets: np.ndarray, index: pa.Array, value: pa.Array, columns: int) -> pa.Array:
    """The rows of a CSR matrix as lists of pairs (column, value). Raises UsageError for an index that is no column."""
    place = index.to_numpy()
    if (bad := np.flatnonzero((place < 0) | (place >= columns))).size:
        row = int(np.searchsorted(offsets, bad[0], side="right")) - 1
        raise UsageError(f"row {row}: index {place[bad[0]]} is out of range; the matrix has {columns:,} columns")
    return of_lists(offsets, pa.StructArray.from_arrays([index, value], PAIR))


def as_vectors(offsets: np.ndarray, index: pa.Array, value: pa.Array, columns: int) -> pa.Array:
    """The rows of a CSR matrix as sparse vectors, whose dimension is the number of its columns."""
    size = np.full(len(offsets) - 1, columns, np.int64)
    return pa.StructArray.from_arrays([of_lists(offsets, index), of_lists(offsets, value), pa.array(size)], SPARSE)


def typed(rows: list[Any], good: Callable[[pa.DataType], bool]) -> pa.Array:
    """A column of lists if their items have one type that is ``good``, else of JSON texts, in which each value keeps its own type."""
    rows = [as_list(row, place) for place, row in enumerate(rows)]
    try:
        made = pa.array(rows)
    except UNFIT:
        return as_json(rows)
    return made if pa.types.is_null(made.type) or (is_list(made.type) and good(made.type.value_type)) else as_json(rows)


def as_list(row: Any, place: int) -> Any:
    """A sequence or array in a form that Arrow accepts. Raises UsageError for sets and masked arrays, and TypeError for unsupported types."""
    refuse_masked(row, f"row {place} is an array")
    if hasattr(row, "__array__"):
        return of_known_type(np.asarray(row), place)
    if isinstance(row, AbstractSet):  # Arrow would store it as a list
        raise UsageError(f"row {place} is {shown(row)}; a set has no order; give a list")
    if not isinstance(row, Sequence) or isinstance(row, SINGLE):
        return row
    if len(row) and isinstance(row[0], np.timedelta64):  # Arrow would store it as an integer among others
        raise TypeError(f"row {place} holds a value of type timedelta64")
    return list(row)


def of_known_type(array: np.ndarray, place: int) -> np.ndarray:
    """Return the array of a row. Raises TypeError for times, and for numbers without an Arrow type."""
    if array.dtype.kind not in "biufUTO" or (array.dtype.kind == "f" and array.dtype.itemsize > 8):
        raise TypeError(f"row {place} holds an array of {array.dtype}")
    return array


def as_json(values: Sequence[Any]) -> pa.ExtensionArray:
    """Values without a common Arrow type as JSON texts, in a column of the Arrow type ``arrow.json``.

    Raises TypeError for values that JSON cannot hold.
    """
    texts = []
    for row, value in enumerate(values):
        try:
            texts.append(None if value is None else json.dumps(value, default=plain))
        except TypeError as error:
            raise TypeError(f"row {row} holds {error}") from error
        except ValueError as error:  # Python does not write out whole numbers of more than 4,300 digits
            raise TypeError(f"row {row} holds a whole number with thousands of digits, or a list that contains itself") from error
    return pa.ExtensionArray.from_storage(pa.json_(pa.large_string()), pa.array(texts, pa.large_string()))


def plain(value: Any) -> Any:
    """An array or number of numpy, or any sequence, as JSON values. Raises TypeError for others, such as a time, which numpy makes a number."""
    if isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufUO" and (value.dtype.kind != "f" or value.dtype.itemsize <= 8):
        return value.tolist()
    if isinstance(value, np.ndarray):
        raise TypeError(f"an array of {value.dtype}")
    if isinstance(value, Sequence) and not isinstance(value, SINGLE):
        return list(value)
    raise TypeError(f"a value of type {type(value).__name__}")
