"""Columns and types of all tables: those of the work folder and those that users get."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

#: Columns with one entry per row of the input, whatever its outcome. The names are the files in the work folder.
ROW_COLUMNS: dict[str, np.dtype] = {
    "kind": np.dtype("u1"),  # records: TEXT, NO_TEXT, REJECTED
    "start": np.dtype("i8"),  # offset of the row in the (decompressed) stream; row number in columnar formats
    "length": np.dtype("i8"),
    "tokens": np.dtype("u4"),
    "chars": np.dtype("u4"),
    "size": np.dtype("u4"),  # elements of the item's set: distinct shingles, or slots if estimates are compared
    "copy": np.dtype(("u8", 2)),  # 128-bit identity of the normalized text
    "per": np.dtype("u8"),  # hash of the grouping value; 0 without --per
    "score": np.dtype("f8"),  # the value that --keep max:F or min:F orders by
}

#: Shingles, or elements, of each row in a run that ignores some: all, and those that are ignored. Repeats of a shingle count.
IGNORED = np.dtype(("u4", 2))

#: Bins of the distribution of similarities in report.json.
BINS = 10

#: The outcome of each row, and the pairs behind it: the arrays of results.Decision.
DECISION_COLUMNS: dict[str, np.dtype] = {
    "kept_row": np.dtype("i8"),
    "similarity": np.dtype("f8"),
    "exact": np.dtype("?"),
    "component": np.dtype("i8"),
    "matches": np.dtype(("i8", 2)),
    "match_similarity": np.dtype("f8"),
}


#: The value column: similarity or distance. Positions and edits are counted, so these distances are integers.
SIMILARITY, DISTANCE, WHOLE_DISTANCE = pa.field("similarity", pa.float64()), pa.field("distance", pa.float64()), pa.field("distance", pa.int64())


def removed(id_type: pa.DataType, kept: pa.DataType, cluster: pa.DataType, value: pa.Field) -> pa.Schema:
    """Return the schema of removed.parquet. ``kept``: the type of kept ids. ``cluster``: that of cluster names. ``value``: the value column."""
    return pa.schema(
        [
            ("id", id_type),
            ("source", pa.string()),
            ("position", pa.int64()),
            ("kept_id", kept),
            ("kept_source", pa.string()),
            ("kept_position", pa.int64()),
            value,
            ("reason", pa.string()),
            ("cluster", cluster),
        ]
    )


def clusters(id_type: pa.DataType, cluster: pa.DataType) -> pa.Schema:
    """Return the schema of clusters.parquet. ``cluster``: the type of cluster names."""
    return pa.schema(
        [
            ("id", id_type),
            ("source", pa.string()),
            ("position", pa.int64()),
            ("cluster", cluster),
            ("component", cluster),
            ("representative", pa.bool_()),
        ]
    )


def pairs(id_a: pa.DataType, id_b: pa.DataType, value: pa.Field, *, places: bool) -> pa.Schema:
    """Return the schema of pairs. ``value``: the value column. ``places`` adds source and position, which distinguish items with equal ids."""
    where = [("source_a", pa.string()), ("position_a", pa.int64()), ("source_b", pa.string()), ("position_b", pa.int64())]
    columns = [("id_a", id_a), ("id_b", id_b), value]
    return pa.schema(columns + where if places else columns)


#: The schema of mask.parquet: for each row, whether it is kept.
MASK = pa.schema([("source", pa.string()), ("position", pa.int64()), ("kept", pa.bool_())])


def placed(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of a table of rows by id and place."""
    return pa.schema([("id", id_type), ("source", pa.string()), ("position", pa.int64())])
