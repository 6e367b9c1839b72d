"""Data that are no table (numpy arrays, CSR matrices, lists) as one Arrow column of the items that are wanted. Arrays are not copied."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import UsageError
from likewise.items.arrow_items import BYTES, PAIR, is_list, is_string
from likewise.items.elements import is_missing
from likewise.items.given import SINGLE, borders, refuse_masked, shown
from likewise.items.payloads import ends
from likewise.items.sets import is_flags, refuse_flags, refuse_matrix
from likewise.items.sparse import csr_of
from likewise.items.sparse_names import SPARSE
from likewise.items.words import is_word
from likewise.records import Want

#: What each kind of item may be given as, beside a table.
FORMS = {
    "tokens": "token ids: a list of lists of whole numbers, or a 2-D array",
    "elements": "sets: a list of sets or lists of whole numbers and strings, a 2-D array of whole numbers or of bool, or a CSR matrix",
    "weighted": "weighted sets: a list of mappings element -> weight, or of lists of pairs (element, weight)",
    "vector": "vectors: a 2-D array of numbers, a list of lists or 1-D arrays, or a CSR matrix",
    "sparse": "sparse vectors: a CSR matrix",
    "features": "sets of features: a list of 2-D arrays, a feature a row; a 3-D array; or a 2-D array of all features and where each set begins",
    "code": "codes: an array of bool or of whole numbers (packed words), or a list of bytes, of whole numbers or of lists of 0 and 1",
}
#: What an array of items may be: its dimensions, and the kinds of its numbers (numpy's letters).
SHAPES = {"vector": ("2", "iuf"), "code": ("12", "iub"), "elements": ("2", "iub"), "tokens": ("2", "iu"), "features": ("3", "iuf")}
#: What Arrow raises for values that no column of one type holds; the last for lone surrogates.
UNFIT = (pa.ArrowException, OverflowError, UnicodeEncodeError)


def is_one(kind: str, array: Any) -> bool:
    """True if a rejected array, or its header, is a single item: it has numbers of the kind, and one dimension too few."""
    return len(array.shape) == 1 and array.dtype.kind in SHAPES.get(kind, ("", ""))[1]


def fits(kind: str, shape: tuple[int, ...], dtype: np.dtype) -> bool:
    """Whether an array of this shape and type holds items of the kind, a row each."""
    dimensions, numbers = SHAPES.get(kind, ("", ""))
    whole = dtype.itemsize <= 8 and 0 not in shape[1:] and (len(shape) > 1 or dtype.kind != "b")
    return str(len(shape)) in dimensions and dtype.kind in numbers and whole


def column(given: Any, want: Want) -> pa.Array | None:
    """The items of an array, of a matrix, or of the parts of one; None where ``given`` is something else, or texts are wanted."""
    if want.kind not in FORMS:
        return None
    if (matrix := csr_of(given)) is not None:
        return of_csr(matrix, want.kind)
    if isinstance(given, tuple) and given and all(isinstance(part, np.ndarray) for part in given):
        return of_parts(given, want.kind)
    refuse_masked(given, f"an input is an array of {FORMS[want.kind].partition(':')[0]}")
    if hasattr(given, "__array__") and (array := np.asarray(given)).dtype != object:
        if want.kind == "elements" and array.ndim == 2 and array.dtype.kind == "U":
            return items(array.tolist(), want.kind)
        if not fits(want.kind, array.shape, array.dtype):
            alone = "; one item alone is a batch of one: [item]" if is_one(want.kind, array) else ""
            raise UsageError(f"an input is an array of {array.dtype} of shape {array.shape}; give {FORMS[want.kind]}{alone}")
        if want.kind == "elements" and array.dtype != bool:
            refuse_flags(array)
        return of_matrix(array, want.kind)
    return None


def of_matrix(array: np.ndarray, kind: str) -> pa.Array:
    """The rows of an array as items. As a set, a row of booleans is the numbers of its true columns."""
    if kind != "elements" or array.dtype != bool:
        return of_numbers(array)
    return of_lists(np.concatenate(([0], np.cumsum(array.sum(axis=1)))), pa.array(np.nonzero(array)[1]))


def listed(rows: list[Any], want: Want) -> pa.Array | None:
    """The items of a list as a column; None where it is a list of records, or texts are wanted."""
    if want.kind not in FORMS or any(isinstance(row, Mapping) and (want.kind != "weighted" or want.text in row) for row in rows):
        return None
    return items(rows, want.kind)


def items(rows: list[Any], kind: str) -> pa.Array:
    """A column of these items, None being none."""
    try:
        return _LISTED[kind](rows)
    except TypeError as error:
        raise UsageError(f"an input holds {error}; give {FORMS[kind]}") from error


def of_numbers(array: np.ndarray) -> pa.Array:
    """A 1-D array, or a list for each row: the array's own memory where it is contiguous and of this machine's byte order."""
    if array.ndim == 3:
        return pa.FixedSizeListArray.from_arrays(of_numbers(array.reshape(-1, array.shape[2])), array.shape[1])
    flat = np.ascontiguousarray(array, array.dtype.newbyteorder("=")).reshape(-1)
    memory = pa.py_buffer(np.packbits(flat, bitorder="little") if flat.dtype == bool else flat)
    values = pa.Array.from_buffers(pa.from_numpy_dtype(flat.dtype), len(flat), [None, memory])
    return values if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(values, array.shape[1])


def of_lists(offsets: np.ndarray, values: pa.Array, gone: Sequence[bool] | None = None) -> pa.LargeListArray:
    mask = pa.array(gone) if gone is not None and any(gone) else None
    return pa.LargeListArray.from_arrays(pa.array(np.ascontiguousarray(offsets, np.int64)), values, mask=mask)


def of_csr(given: Any, kind: str) -> pa.Array:
    """A CSR matrix (scipy's, or whatever has its parts), an item a row."""
    offsets, indices, data = (np.asarray(part) for part in (given.indptr, given.indices, given.data))
    if kind not in ("sparse", "vector", "elements", "weighted") or len(given.shape) != 2 or data.dtype.kind not in "iufb" or data.dtype.itemsize > 8:
        raise UsageError(f"an input is a sparse matrix of {data.dtype} of shape {tuple(given.shape)}; give {FORMS[kind]}")
    offsets = borders(offsets, min(len(indices), len(data)))
    if len(offsets) - 1 != given.shape[0]:
        raise UsageError(f"an input is a sparse matrix of shape {tuple(given.shape)} whose indptr is for {len(offsets) - 1} rows")
    if indices.dtype.kind not in "iu":
        raise UsageError(f"an input is a sparse matrix with indices of {indices.dtype}; they are whole numbers")
    index, value = of_numbers(indices), of_numbers(data.view(np.uint8) if data.dtype == bool else data)
    if kind == "weighted":
        return of_lists(offsets, pa.StructArray.from_arrays([index, value], PAIR))
    size = np.full(len(offsets) - 1, given.shape[1], np.int64)
    return pa.StructArray.from_arrays([of_lists(offsets, index), of_lists(offsets, value), pa.array(size)], SPARSE)


def of_parts(given: tuple[np.ndarray, ...], kind: str) -> pa.Array:
    """(values, offsets), of sets of features with a feature a row; or of weighted sets (values, weights, offsets)."""
    *parts, offsets = given
    if kind == "features" and len(parts) == 1 and parts[0].ndim == 2 and parts[0].shape[1] and parts[0].dtype.kind in "iuf":
        return of_lists(borders(offsets, len(parts[0])), of_numbers(parts[0]))
    right = len(given) == {"elements": 2, "tokens": 2, "weighted": 3}.get(kind) and all(part.ndim == 1 and part.dtype.kind in "iuf" for part in parts)
    if not right:
        raise UsageError(f"an input is a tuple of {len(given)} arrays; give {FORMS[kind]}")
    offsets = borders(offsets, min(map(len, parts)))
    values = [of_numbers(part) for part in parts]
    return of_lists(offsets, values[0] if len(values) == 1 else pa.StructArray.from_arrays(values, PAIR))


def _sets(rows: list[Any]) -> pa.Array:
    def plain(row: Any, place: int) -> Any:
        if isinstance(row, AbstractSet):
            return _ordered(row, place)
        return np.flatnonzero(row) if is_flags(row) else row

    made = _typed([plain(row, place) for place, row in enumerate(rows)], _is_element)
    if is_list(made.type) and pa.types.is_integer(made.type.value_type) and not any(is_flags(row) for row in rows):
        there = made.drop_null()
        refuse_matrix(there.flatten().fill_null(2).to_numpy(zero_copy_only=False), ends(pc.list_value_length(there)))
    return made


def _ordered(given: AbstractSet, row: int) -> list[Any]:
    """In an order of the elements' own, missing ones last: that of a set of strings is another in each process."""
    if set(map(type, given)) in ({int}, {str}):
        return sorted(given)
    try:
        return sorted(given, key=lambda element: (2, 0) if is_missing(element) else (isinstance(element, str), element))
    except TypeError:
        raise UsageError(f"row {row} of an input is {shown(given)}; elements are whole numbers and strings") from None


def _is_element(kind: pa.DataType) -> bool:
    return pa.types.is_integer(kind) or is_string(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)


def _vectors(rows: list[Any]) -> pa.Array:
    return _typed(rows, lambda kind: pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind))


def _features(rows: list[Any]) -> pa.Array:
    """Arrays of one type and width as they are; else JSON texts, of which each tells what is wrong with it."""
    rows = [np.asarray(row) if hasattr(row, "__array__") else row for row in rows]
    there = [row for row in rows if row is not None and len(row)]
    if not all(isinstance(row, np.ndarray) and row.ndim == 2 and row.dtype.kind in "iuf" and row.dtype.itemsize <= 8 for row in there):
        return as_json(rows)
    if len({(row.shape[1], row.dtype) for row in there}) != 1 or not there[0].shape[1]:
        return as_json(rows)
    offsets = np.cumsum([0, *(0 if row is None else len(row) for row in rows)])
    return of_lists(offsets, of_numbers(np.concatenate(there)), [row is None for row in rows])


def _weighted(rows: list[Any]) -> pa.Array:
    pairs = [list(map(list, row.items())) if isinstance(row, Mapping) else row for row in rows]
    listed = [[] if row is None else row for row in pairs]
    try:
        elements, weights = (pa.array([pair[side] for row in listed for pair in row]) for side in (0, 1))
        good = all(len(pair) == 2 for row in listed for pair in row) and _is_element(elements.type) and not elements.null_count
    except (TypeError, IndexError, KeyError, *UNFIT):
        return as_json(pairs)
    if not good or not (pa.types.is_floating(weights.type) or pa.types.is_integer(weights.type) or pa.types.is_null(weights.type)):
        return as_json(pairs)
    offsets = np.cumsum([0, *map(len, listed)])
    return of_lists(offsets, pa.StructArray.from_arrays([elements, weights], PAIR), [row is None for row in pairs])


def _codes(rows: list[Any]) -> pa.Array:
    if all(isinstance(row, int | np.integer | None) and not isinstance(row, bool) for row in rows):
        for place, row in enumerate(rows):
            if row is not None and not is_word(row):
                raise UsageError(f"row {place} of an input is {shown(row)}; a code as a number is from -2^63 to 2^64 - 1; give longer ones as bytes")
        return pa.array([row if row is None else int(row) % 2**64 for row in rows], pa.uint64())
    if any(isinstance(row, str) for row in rows) and any(isinstance(row, bytes | bytearray | memoryview) for row in rows):
        raise TypeError("bytes, and str, which are bytes in hexadecimal: give all codes in one form")  # Arrow would take digits for bytes
    try:
        made = pa.array(rows)
    except UNFIT:
        return as_json(rows)
    return made if _is_code(made.type) else as_json(rows)


def _is_code(kind: pa.DataType) -> bool:
    """Whether values of this type are codes. One 1.0 among many makes a column of float64, in which none is one."""
    if is_list(kind):
        return pa.types.is_boolean(kind.value_type) or pa.types.is_integer(kind.value_type) or pa.types.is_null(kind.value_type)
    return pa.types.is_null(kind) or any(test(kind) for test in BYTES)


def holds_none(kind: pa.DataType) -> bool:
    """Whether these structs are meant as sparse vectors, and none is one for its type: one index of 1.0 makes all of them float64."""
    if not pa.types.is_struct(kind) or not set(SPARSE[:2]) <= set(kind.names):
        return False
    indices, values, *dim = (kind.field(name).type for name in SPARSE if name in kind.names)
    lists = is_list(indices) and is_list(values)
    return not lists or not all(pa.types.is_integer(each) or pa.types.is_null(each) for each in (indices.value_type, *dim))


def _typed(rows: list[Any], good: Callable[[pa.DataType], bool]) -> pa.Array:
    """A column of lists where the items have one type that is ``good``, else one of JSON texts, in which each keeps its own."""
    rows = [_listed(row, place) for place, row in enumerate(rows)]
    try:
        made = pa.array(rows)
    except UNFIT:
        return as_json(rows)
    return made if pa.types.is_null(made.type) or (is_list(made.type) and good(made.type.value_type)) else as_json(rows)


def _listed(row: Any, place: int) -> Any:
    """An array, or any sequence, as Arrow takes it."""
    refuse_masked(row, f"row {place} of an input is an array")
    if hasattr(row, "__array__"):
        return np.asarray(row)
    return list(row) if isinstance(row, Sequence) and not isinstance(row, SINGLE) else row


def as_json(values: Sequence[Any]) -> pa.ExtensionArray:
    """Values without a common Arrow type as JSON texts, marked by the Arrow type ``arrow.json``. Raises TypeError where JSON has no such value."""
    try:
        texts = [None if value is None else json.dumps(value, default=_plain) for value in values]
    except ValueError as error:  # Python does not write out whole numbers of more than 4,300 digits
        raise TypeError("a whole number of thousands of digits, or a list that holds itself") from error
    return pa.ExtensionArray.from_storage(pa.json_(pa.large_string()), pa.array(texts, pa.large_string()))


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"a value of type {type(value).__name__}")


_LISTED: dict[str, Callable[[list[Any]], pa.Array]] = {
    "tokens": lambda rows: _typed(rows, pa.types.is_integer),
    "elements": _sets,
    "weighted": _weighted,
    "vector": _vectors,
    "sparse": as_json,
    "features": _features,
    "code": _codes,
}
