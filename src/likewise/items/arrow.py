"""Arrow arrays, objects that export one (a Series of polars or pandas), and lists in them as rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import DataError, UsageError
from likewise.items import binary
from likewise.items.payloads import Fault, Rows, ends, item, nothing
from likewise.records import Want

LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)
STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BYTES = (*STRINGS, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
PAIR = ("element", "weight")
#: Tests for types of lists of any length, with the functions that make such a type from that of the values.
MAKERS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def is_arrow(batch: Any) -> bool:
    """True for objects that export Arrow arrays through the C data interface."""
    return hasattr(batch, "__arrow_c_array__") or hasattr(batch, "__arrow_c_stream__")


def chunked(batch: Any, names: Sequence[str] = ()) -> pa.ChunkedArray:
    """The batch as a chunked Arrow array. Raises UsageError for a table, unless each of its rows is one item with these ``names``, and for values of
    a type that Arrow lacks, such as polars' whole numbers of 128 bits."""
    try:
        array = pa.chunked_array([batch] if isinstance(batch, pa.Array) else batch)
    except pa.ArrowException as error:
        raise UsageError(f"a batch of type {type(batch).__name__} cannot be converted to an Arrow array: {error}") from error
    if pa.types.is_struct(array.type) and not (names and set(names) <= set(array.type.names)):
        raise UsageError(f"a batch is a list or one column; got {type(batch).__name__}, a table: give a column of it")
    return array


def valid(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the array. Raises DataError if its buffers contradict its type, such as a string that is not UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(f"an Arrow array of {array.type} is damaged: {error}") from None
    return array


def unpacked(batch: Any) -> Any:
    """An Arrow array as a list; anything else unchanged."""
    return valid(chunked(batch)).to_pylist() if is_arrow(batch) else batch


def as_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with bytes in place of strings, at any depth; UTF-8 is checked elsewhere."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(as_bytes(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(as_bytes(kind.key_type), kind.item_field.with_type(as_bytes(kind.item_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(as_bytes(kind.value_type)), kind.list_size)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, as_bytes(kind.value_type), kind.ordered)
    for test, make in MAKERS:
        if test(kind):
            return make(kind.value_field.with_type(as_bytes(kind.value_type)))
    return {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}.get(kind, kind)


def plain(values: pa.Array) -> pa.Array:
    """The values without encodings: strings and bytes of any type as large_binary; dictionaries, runs and extension types resolved."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return plain(values.dictionary).take(values.indices)  # widened first, so that the decoded values cannot exceed 32-bit offsets
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(values))
    if isinstance(kind, pa.UuidType):
        return binary.from_list(None if value is None else str(value).encode() for value in values.to_pylist())
    if isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, pa.JsonType):
        return plain(values.storage)
    if any(test(kind) for test in BYTES):
        values = values.cast(binary.TYPE)
        values.validate(full=True)  # a damaged Arrow file may have offsets beyond its buffers
    return values


def is_string(kind: pa.DataType) -> bool:
    """True if values of this type are strings, not bytes."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_string(kind.value_type)
    return any(test(kind) for test in STRINGS)


def is_list(kind: pa.DataType) -> bool:
    """True for any type of lists."""
    return any(test(kind) for test in LISTS)


def listed(values: pa.Array) -> tuple[Rows, pa.Array] | None:
    """Rows without values yet, and the flat values as an Arrow array; None if ``values`` are not lists."""
    if pa.types.is_map(values.type):
        key, value = pa.field(PAIR[0], values.type.key_type), pa.field(PAIR[1], values.type.item_type)
        values = values.cast(pa.list_(pa.struct([key, value])))
    if not is_list(values.type):
        return None
    if (kind := as_bytes(values.type)) != values.type:
        values = values.view(kind)
    values.validate(full=True)
    gone = values.is_null().to_numpy(zero_copy_only=False)
    offsets = ends(pc.list_value_length(values).fill_null(0).to_numpy())
    return Rows(gone, offsets, np.zeros(0)), values.flatten()


def filled(found: Rows, values: NDArray[Any], *of: pa.Array) -> Rows:
    """``found`` with these values. A row becomes gone if one of the arrays ``of``, which the values come from, has a null in it."""
    for array in of:
        if array.null_count:
            holes = ends(array.is_null().to_numpy(zero_copy_only=False))
            found.gone = found.gone | (np.diff(holes[found.offsets]) > 0)
    found.values = values
    return found


def numbers_of(values: pa.Array, dtype: Any) -> NDArray[Any] | None:
    """The numbers as numpy, with zeros in place of nulls; None if the values are not numbers."""
    values = plain(values)
    if pa.types.is_null(values.type):  # all lists are empty
        return np.zeros(len(values), dtype or np.int64)
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64(), safe=False)
    if not pa.types.is_integer(values.type) and not pa.types.is_floating(values.type):
        return None
    array = values.to_numpy(zero_copy_only=False)
    if values.null_count:
        array = np.zeros(len(values), values.type.to_pandas_dtype())
        there = values.is_valid().to_numpy(zero_copy_only=False)
        array[there] = values.drop_null().to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        return array.astype(dtype, copy=False) if dtype else array


def integers_of(values: pa.Array) -> NDArray[np.integer] | None:
    """The integers as numpy, with zeros in place of nulls; None if the values are not integers."""
    return numbers_of(values, None) if pa.types.is_integer(values.type) or pa.types.is_null(values.type) else None


def all_refused(values: pa.Array, want: Want, why: str) -> Rows:
    """Rows that reject all values but nulls, for the reason ``why``."""
    found = nothing(len(values), item(want))
    found.gone = values.is_null().to_numpy(zero_copy_only=False)
    found.faults = dict.fromkeys(np.flatnonzero(~found.gone).tolist(), Fault(why))
    return found
