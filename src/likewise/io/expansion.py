"""Size of column values once decoded: a value that is stored once may be shared by any number of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Longs = NDArray[np.int64]

VIEWS = (pa.types.is_string_view, pa.types.is_binary_view)
LIST_VIEWS = (pa.types.is_list_view, pa.types.is_large_list_view)
BYTES = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)


def of_rows(column: pa.Array) -> Longs | None:
    """Return the decoded bytes of each value, int64[rows], if rows may share values; None if each row stores its own."""
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return of_rows(column.storage)
    if pa.types.is_dictionary(kind):
        sizes = np.append(of_values(column.dictionary), 0)  # the last entry is for nulls and indices out of bounds
        return sizes[column.indices.cast(pa.int64(), safe=False).fill_null(-1).to_numpy().clip(-1, len(sizes) - 1)]
    if pa.types.is_run_end_encoded(kind):
        first, count = column.find_physical_offset(), column.find_physical_length()
        ends = column.run_ends.slice(first, count).to_numpy().astype(np.int64) - column.offset
        sizes = np.repeat(of_values(column.values.slice(first, count)), np.diff(ends.clip(0, len(column)), prepend=0).clip(0))
        return sizes if len(sizes) == len(column) else np.zeros(len(column), np.int64)  # damaged: decoding will report it
    return of_values(column) if any(test(kind) for test in (*VIEWS, *LIST_VIEWS)) else None


def of_values(values: pa.Array) -> Longs:
    """Return the approximate bytes of each value, int64[n]."""
    kind = values.type
    if (sizes := None if any(test(kind) for test in (*VIEWS, *LIST_VIEWS)) else of_rows(values)) is not None:
        return sizes
    if any(test(kind) for test in BYTES):
        return pc.binary_length(values).cast(pa.int64()).fill_null(0).to_numpy()
    if any(test(kind) for test in VIEWS):  # 16 bytes each, the first four of which are the length
        views = np.frombuffer(values.buffers()[1] or b"", np.int32)[: 4 * (values.offset + len(values)) : 4]
        return np.where(values.is_valid().to_numpy(zero_copy_only=False), views[values.offset :], 0).astype(np.int64)
    if any(test(kind) for test in LIST_VIEWS):
        each = values.values.nbytes // max(1, len(values.values))
        return pc.list_value_length(values).cast(pa.int64()).fill_null(0).to_numpy() * max(1, each)
    return np.full(len(values), values.nbytes // max(1, len(values)), np.int64)
