"""Arrow arrays, and what hands itself over as one (a Series of polars or pandas)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.errors import DataError, UsageError

#: Lists of any length, and what makes the type of one from that of its values.
LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def is_arrow(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_array__") or hasattr(batch, "__arrow_c_stream__")


def chunked(batch: Any) -> pa.ChunkedArray:
    """As an Arrow array in pieces. Raises UsageError for a table, whose rows are no items."""
    array = pa.chunked_array([batch] if isinstance(batch, pa.Array) else batch)
    if pa.types.is_struct(array.type):
        raise UsageError(f"a batch is a list or one column; here came {type(batch).__name__}, a table: give a column of it")
    return array


def valid(array: pa.ChunkedArray) -> pa.ChunkedArray:
    """The same array. Raises DataError for one whose buffers are not what its type says, such as a string that is not UTF-8."""
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        raise DataError(f"an Arrow array of {array.type} is damaged: {error}") from None
    return array


def unpacked(batch: Any) -> Any:
    """An Arrow array as a list; anything else as it is."""
    return valid(chunked(batch)).to_pylist() if is_arrow(batch) else batch


def lists(batch: Any, forms: str, *, nulls: bool = False) -> tuple[pa.Array, NDArray[np.int64]]:
    """An Arrow array of lists (of one size or of any) as its values end to end, and where each list begins, int64[n + 1].

    ``forms`` says what is wanted, for the message. Raises UsageError for another type, and with the row for a null; inside lists, unless ``nulls``
    allows them.
    """
    array = valid(chunked(batch)).combine_chunks()
    if not (pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type)):
        raise UsageError(f"{forms}; here came {array.type}; one item alone is a batch of one")
    if array.null_count:
        raise UsageError(f"row {array.is_null().to_numpy(zero_copy_only=False).argmax()} is null; fill or drop it first")
    flat = array.flatten()
    begins = np.concatenate([[0], np.cumsum(array.value_lengths().to_numpy(zero_copy_only=False), dtype=np.int64)])
    if flat.null_count and not nulls:
        at = flat.is_null().to_numpy(zero_copy_only=False).argmax()
        raise UsageError(f"row {np.searchsorted(begins, at, side='right') - 1} holds a null; fill or drop it first")
    return flat, begins


def as_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with bytes in place of strings, however deep in others: what of them is UTF-8 is looked at elsewhere."""
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(as_bytes(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(as_bytes(kind.key_type), kind.item_field.with_type(as_bytes(kind.item_type)))
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(as_bytes(kind.value_type)), kind.list_size)
    if pa.types.is_dictionary(kind):
        return pa.dictionary(kind.index_type, as_bytes(kind.value_type), kind.ordered)
    for test, make in LISTS:
        if test(kind):
            return make(kind.value_field.with_type(as_bytes(kind.value_type)))
    return {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}.get(kind, kind)
