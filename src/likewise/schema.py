"""Every table's columns and types, once: the columns of the work folder and the tables that users get."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

#: One entry a row of the input, whatever became of it. The names are the files in the work folder.
ROW_COLUMNS: dict[str, np.dtype] = {
    "kind": np.dtype("u1"),  # records: TEXT, NO_TEXT, REJECTED
    "start": np.dtype("i8"),  # where the row's bytes begin in the (decompressed) stream; row number in columnar formats
    "length": np.dtype("i8"),
    "tokens": np.dtype("u4"),
    "chars": np.dtype("u4"),
    "size": np.dtype("u4"),  # elements of the item's set: distinct shingles, or slots where estimates are compared
    "copy": np.dtype(("u8", 2)),  # 128-bit identity of the normalised text
    "per": np.dtype("u8"),  # hash of the grouping value; 0 without --per
    "score": np.dtype("f8"),  # the value that --keep max:F or min:F orders by
}

#: What became of each row, one entry a row, and the pairs that say why: the arrays of results.Decision.
DECISION_COLUMNS: dict[str, np.dtype] = {
    "kept_row": np.dtype("i8"),
    "similarity": np.dtype("f8"),
    "exact": np.dtype("?"),
    "component": np.dtype("i8"),
    "matches": np.dtype(("i8", 2)),
    "match_similarity": np.dtype("f8"),
}


#: The column that says how alike two items are. Positions and edits are counted, so that these distances are whole numbers.
SIMILARITY, DISTANCE, WHOLE_DISTANCE = pa.field("similarity", pa.float64()), pa.field("distance", pa.float64()), pa.field("distance", pa.int64())


def removed(id_type: pa.DataType, cluster: pa.DataType, value: pa.Field) -> pa.Schema:
    """``cluster``: the type of the names of clusters. ``value``: the column of similarities, or of distances."""
    return pa.schema(
        [
            ("id", id_type),
            ("source", pa.string()),
            ("position", pa.int64()),
            ("kept_id", id_type),
            ("kept_source", pa.string()),
            ("kept_position", pa.int64()),
            value,
            ("reason", pa.string()),
            ("cluster", cluster),
        ]
    )


def clusters(id_type: pa.DataType, cluster: pa.DataType) -> pa.Schema:
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
    """``value``: the column of similarities, or of distances. ``places`` adds source and position, which tell apart items of equal ids."""
    where = [("source_a", pa.string()), ("position_a", pa.int64()), ("source_b", pa.string()), ("position_b", pa.int64())]
    columns = [("id_a", id_a), ("id_b", id_b), value]
    return pa.schema(columns + where if places else columns)


#: Which rows are kept, of all rows.
MASK = pa.schema([("source", pa.string()), ("position", pa.int64()), ("kept", pa.bool_())])


def placed(id_type: pa.DataType) -> pa.Schema:
    """Kept rows by id and place."""
    return pa.schema([("id", id_type), ("source", pa.string()), ("position", pa.int64())])
