"""Arrow arrays, and what hands itself over as one (polars, pandas), as lists."""

from __future__ import annotations

from typing import Any


def is_arrow(batch: Any) -> bool:
    return hasattr(batch, "__arrow_c_array__") or hasattr(batch, "__arrow_c_stream__")


def unpacked(batch: Any) -> Any:
    """An Arrow array as a list; anything else as it is."""
    if not is_arrow(batch):
        return batch
    import pyarrow as pa

    return (batch if isinstance(batch, pa.Array) else pa.chunked_array(batch)).to_pylist()
