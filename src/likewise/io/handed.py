"""Tables of other libraries, converted to Arrow with their schema, without importing the library or creating Python objects per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa

from likewise.errors import UsageError

#: Rows requested from a Hugging Face dataset at once.
BATCH_ROWS = 1 << 16
#: A table with more than MANY chunks of fewer than FEW_ROWS rows on average is joined.
MANY, FEW_ROWS = 64, 256
STREAM = "__arrow_c_stream__"
#: Methods of Arrow's protocols, and of the older one in pandas before 2.2.
PROTOCOLS = (STREAM, "__arrow_c_array__", "__dataframe__")


def table(given: Any, name: str) -> pa.Table | None:
    """Return the rows of a table of another library; None for other objects. A bare array or series becomes a column of this name.

    An object is identified by its methods: those of Arrow's protocols (frames of polars and pandas, relations of DuckDB, readers of record
    batches), or else those of `TAKES`. Raises UsageError if Arrow cannot hold the values.
    """
    if isinstance(given, pa.Table):
        return compact(given)
    take = None if hasattr(given, STREAM) else _taken(given)
    if take is None:
        return compact(_handed_over(given, name)) if any(hasattr(given, protocol) for protocol in PROTOCOLS) else None
    try:
        return compact(take(given))
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise _refused(given, error) from error


def is_table(given: Any) -> bool:
    """Return True for objects with several columns, such as frames and datasets; False for a series."""
    return hasattr(given, "columns") or _taken(given) is not None


def is_frame(given: Any) -> bool:
    """Return True for a Spark DataFrame."""
    return hasattr(type(given), "mapInArrow") and hasattr(type(given), "sparkSession")


def of_pandas_on_spark(given: Any) -> bool:
    """Return True for a pandas-on-Spark frame, which has a Spark DataFrame."""
    return hasattr(type(given), "to_spark")


def compact(table: pa.Table) -> pa.Table:
    """Return the table, joining chunks that are many and small: reading a chunk costs as much as reading hundreds of rows."""
    chunks = max((column.num_chunks for column in table.columns), default=0)
    if chunks <= MANY or len(table) >= FEW_ROWS * chunks:
        return table
    try:
        return table.combine_chunks()
    except pa.ArrowException:  # pyarrow cannot join arrays of this type
        return table


def _taken(given: Any) -> Callable[[Any], pa.Table] | None:
    if isinstance(given, Mapping):  # a dict of datasets has many of their methods
        return None
    return next((take for methods, take in TAKES.items() if all(callable(getattr(given, method, None)) for method in methods)), None)


def _handed_over(given: Any, name: str) -> pa.Table:
    try:
        return pa.table(given)
    except (pa.ArrowException, TypeError, ValueError) as error:
        try:
            values = pa.chunked_array(given) if hasattr(given, STREAM) else pa.chunked_array([pa.array(given)])
        except (pa.ArrowException, TypeError, ValueError):
            raise _refused(given, error) from error
        return pa.table({name: values})


def _refused(given: Any, error: Exception) -> UsageError:
    return UsageError(f"an input of type {type(given).__name__} cannot be converted to an Arrow table: {error}")


def _of_data_set(given: Any) -> pa.Table:
    """Return a Hugging Face dataset in its own order, shuffled or filtered. The schema keeps the metadata from which its features are restored."""
    batches = [compact(batch) for batch in given.with_format("arrow").iter(batch_size=BATCH_ROWS)]  # in a shuffled one each row is a chunk
    if batches:
        return pa.concat_tables(batches, promote_options="default")
    features = given.features
    return (features.arrow_schema if features is not None else pa.schema([])).empty_table()


#: The methods that identify an object -> function that returns its rows.
TAKES: dict[tuple[str, ...], Callable[[Any], pa.Table]] = {
    ("collect", "collect_schema"): lambda given: pa.table(given.collect()),  # lazy frames of polars
    ("to_reader", "to_batches"): lambda given: given.to_reader().read_all(),  # scanners of pyarrow
    ("scanner", "to_batches"): lambda given: given.scanner().to_reader().read_all(),  # datasets of pyarrow
    ("with_format", "iter"): _of_data_set,  # datasets of Hugging Face, including streamed ones
}
