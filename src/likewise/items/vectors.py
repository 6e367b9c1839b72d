"""Vectors as one array with a vector a row. Invalid values are rejected with their row, counted from 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import all_refused, filled, listed, numbers_of
from likewise.items.given import SINGLE, is_number
from likewise.items.json_values import Texts, decoded, floats, lists_of, rows_of
from likewise.items.payloads import Fault, Rows, item
from likewise.items.python_values import as_vectors, typed
from likewise.items.reader import Reader, column_of, read_column
from likewise.items.sets import read_only
from likewise.items.sparse_names import SPARSE, SPARSE_AMONG_LISTS, looks_sparse
from likewise.items.unusable import held
from likewise.records import Want

Vectors = NDArray[Any]  # float32[n, d] or float64[n, d]

#: Types that float32 represents exactly. Other numbers are read as float64, which is exact for integers up to 2^53.
NARROW = (pa.float16(), pa.float32(), pa.int8(), pa.uint8(), pa.int16())


def vectors(batch: Any) -> Vectors:
    """A batch of vectors as float32[n, d] or float64[n, d] (`NARROW`), C-contiguous, read-only and finite.

    batch: a 2-D array, or a list (or Arrow array) of equally long lists or 1-D arrays of numbers. An empty list is float64[0, 0].
    Raises UsageError with the row for NaN, infinity, values that are not numbers, or rows of different lengths.
    """
    column = column_of(batch, READER)
    if pa.types.is_struct(column.type):
        raise UsageError("give dense vectors; got sparse vectors")
    wide = is_wide(column.type) or pa.types.is_null(column.type)
    rows = read_column(column, READER, Want(kind=READER.kind, wide=wide))
    if not len(rows):
        return read_only(np.empty((0, getattr(column.type, "list_size", 0)), np.float64 if wide else np.float32))
    if not rows.sizes.all():
        raise UsageError(f"row {int(rows.sizes.argmin())} has no numbers; a vector needs at least one")
    return read_only(np.ascontiguousarray(rows.used.reshape(len(rows), -1)))


def is_wide(kind: pa.DataType | None) -> bool:
    """True if a column of this type has numbers that float32 cannot represent, or JSON texts."""
    while kind is not None and not isinstance(kind, pa.JsonType):
        if isinstance(kind, pa.BaseExtensionType):
            kind = kind.storage_type
        elif hasattr(kind, "value_type"):  # lists, dictionaries and runs
            kind = kind.value_type
        else:
            break
    numbers = kind is not None and (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
    return isinstance(kind, pa.JsonType) or (numbers and kind not in NARROW)


def nonzero(vectors: Vectors, what: str) -> Vectors:
    """Return the vectors. Raises UsageError with the row of the first zero vector; ``what`` names what needs a direction, as "its angle"."""
    empty = ~vectors.any(axis=1)
    if empty.any():
        raise UsageError(f"row {int(empty.argmax())} is the zero vector, which has no direction: {what} is undefined; remove such rows first")
    return vectors


def of_dimension(items: Vectors, dimension: int) -> Vectors:
    """Return the vectors. Raises UsageError if their dimension is not that of the family."""
    found = items.shape[1]
    if len(items) and found != dimension:
        raise UsageError(f"row 0 has {found} numbers, but this family is for vectors of {dimension} numbers; make a family with dimension={found}")
    return items


def from_python(rows: list[Any]) -> pa.Array:
    """A column of lists of numbers, or of JSON texts."""
    return typed(rows, lambda kind: pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Vectors from lists of numbers, or parts of vectors from numbers; None for other types."""
    if pa.types.is_struct(values.type) and set(SPARSE[:2]) <= set(values.type.names):
        return all_refused(values, want, SPARSE_AMONG_LISTS)
    lists = listed(values) or (Rows(np.zeros(len(values), bool), np.arange(len(values) + 1), np.zeros(0)), values)
    numbers = numbers_of(lists[1], item(want))
    return None if numbers is None else filled(lists[0], numbers, lists[1])


def from_json(texts: Texts, want: Want) -> Rows:
    """Vectors from lists of numbers, or parts of vectors from numbers."""

    def other(value: Any) -> Any:
        return Fault(SPARSE_AMONG_LISTS) if looks_sparse(value) else floats(value if isinstance(value, list) else [value])

    values = [[value] if isinstance(value, float) else value for value in decoded(texts, list[float] | float, other)]
    with np.errstate(over="ignore"):
        return rows_of(values, lists_of(values), lambda flat: np.fromiter(flat, np.float64, len(flat)).astype(item(want), copy=False))


def from_cells(cells: pa.LargeBinaryArray, width: int, want: Want, decimal: bool) -> Rows:
    """Cells of a CSV file as vectors of ``width`` numbers. A vector is missing if one of its cells is empty or not a number."""
    try:
        numbers = pc.cast(pc.cast(cells, pa.large_string()), pa.float64())
    except pa.ArrowInvalid:
        numbers = pa.array([None if text is None else _number(text) for text in cells.to_pylist()], pa.float64())
    gone = numbers.is_null().to_numpy(zero_copy_only=False).reshape(-1, width).any(axis=1)
    with np.errstate(over="ignore"):
        array = np.asarray(numbers.fill_null(0).to_numpy(), item(want))
    other = ""
    if gone.any():
        suspects = cells.take(pa.array(np.flatnonzero(np.repeat(gone, width)))).to_pylist()
        other = next((held(text.decode("utf-8", "replace")) for text in suspects if text and _number(text) is None), "")
    return Rows(gone, np.arange(len(gone) + 1) * width, array, other=other)


def _number(text: bytes) -> float | None:
    try:
        return None if b"_" in text else float(text)
    except ValueError:
        return None


def checked(rows: Rows, want: Want) -> Rows:
    """Return rows of numbers with their widths. Numbers that are not finite are faults."""
    if not np.isfinite(rows.values).all():
        rows.refuse(~np.isfinite(rows.values), lambda at: f"{rows.values[at]} is not a coordinate of a vector; give a finite number")
    rows.width = rows.sizes
    return rows


def alone(given: Any) -> bool:
    """True for a single vector: a 1-D array or a list of numbers, not an empty one."""
    if isinstance(given, np.ndarray):
        return given.ndim == 1 and given.size > 0 and (given.dtype != object or is_number(given[0]))
    return isinstance(given, Sequence) and not isinstance(given, SINGLE) and len(given) > 0 and is_number(given[0])


#: A payload is finite numbers, float64 if ``Want.wide``, else float32.
READER = Reader(
    "vector",
    "vector",
    "vectors: a 2-D array of numbers, a list of lists or 1-D arrays, or a CSR matrix",
    from_python,
    from_arrow,
    from_json,
    single=(int, float),
    dimensions="2",
    numbers="iuf",
    from_csr=as_vectors,
    from_cells=from_cells,
    checked=checked,
    whole=True,
)
