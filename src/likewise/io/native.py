"""Rows of an object of the caller, such as a frame of pandas, as that type: the object itself makes the selection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from likewise.errors import UsageError


def rows_of(given: Any, rows: np.ndarray) -> Any:
    """Return the rows (int64[n], ascending) of an object. Raises UsageError for one that cannot be read by row, such as a generator."""
    if isinstance(given, Mapping):
        return {name: rows_of(column, rows) for name, column in given.items()}
    if isinstance(given, list) or (isinstance(given, tuple) and isinstance(given[0], str | Mapping)):  # other tuples are (values, offsets)
        chosen = [given[row] for row in rows.tolist()]
        return chosen if isinstance(given, list) else tuple(chosen)
    if hasattr(given, "iloc"):  # pandas and its relatives
        return given.iloc[rows]
    if hasattr(given, "collect_schema") and hasattr(given, "collect"):  # lazy frames of Polars
        return given.collect()[rows]
    if isinstance(given, np.ndarray) or hasattr(given, "gather") or hasattr(given, "collect_schema"):  # series and frames of Polars
        return given[rows]
    if hasattr(given, "with_format") and hasattr(given, "select"):  # datasets of Hugging Face, but not streamed ones, whose take(n) differs
        return given.select(rows)
    if hasattr(given, "take") and not hasattr(given, "with_format"):  # tables, arrays and datasets of pyarrow
        return given.take(rows)
    if hasattr(given, "tocsr"):  # sparse matrices of scipy
        return given.tocsr()[rows]
    name = type(given).__name__
    raise UsageError(f"to_native: rows of an object of type {name} cannot be selected by number; use to_arrow(), to_pandas() or to_polars()")
