"""numpy arrays as Arrow arrays over the same memory.

``pa.array`` does this as well, but first imports numpy.ma and, where it is installed, pandas, to see whether the values are one of theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def wrapped(values: NDArray[Any] | pa.Array, gone: NDArray[np.bool_] | None = None) -> pa.Array:
    """Numbers or booleans (n) as an Arrow array of that type; null where ``gone`` (bool[n]). An Arrow array is returned as it is."""
    if isinstance(values, pa.Array):
        return values
    valid = None if gone is None else bits(~gone)
    data = bits(values) if values.dtype == np.bool_ else pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, data])


def bits(flags: NDArray[np.bool_]) -> pa.Buffer:
    """Booleans as Arrow stores them: one bit each, the lowest first."""
    return pa.py_buffer(np.packbits(flags, bitorder="little"))
