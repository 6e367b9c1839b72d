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

#: Columns with one entry per unit of a document, if parts of documents are compared (``level``); "unit-" precedes their names in the work folder.
#: ROW_COLUMNS then describe the documents, and the column "units" has the number of units of each.
UNIT_COLUMNS: dict[str, np.dtype] = {
    "bytes": np.dtype("i8"),  # of the unit in its text; units follow each other without gaps
    "chars": np.dtype("u4"),  # code points of the unit
    "tokens": np.dtype("u4"),
    "size": np.dtype("u4"),
    "copy": np.dtype(("u8", 2)),
}
UNITS = np.dtype("u4")

#: Shingles, or elements, of each row in a run that ignores some: all, and those that are ignored. Repeats of a shingle count.
IGNORED = np.dtype(("u4", 2))

#: Bins of the distribution of similarities in report.json.
BINS = 10

#: Reasons for a removal: similar to the kept row; equal shingles; an exact copy; a passage that the kept row has too; a short rest beside such one.
REASONS = ("near", "equal", "exact", "passage", "rest")

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


def place(before: str = "", after: str = "", *, parts: bool = False) -> list[pa.Field]:
    """Return the columns of a place. ``parts``: with the beginning and the end of a part of a text, in characters (code points)."""
    names = {"source": pa.string(), "position": pa.int64()} | (dict.fromkeys(("start", "end"), pa.int64()) if parts else {})
    return [pa.field(f"{before}{name}{after}", kind) for name, kind in names.items()]


def removed(id_type: pa.DataType, kept_type: pa.DataType, cluster: pa.DataType, value: pa.Field, *, parts: bool) -> pa.Schema:
    """Return the schema of removed.parquet. ``kept_type``: the type of kept ids. ``cluster``: that of cluster names. ``value``: the value column.

    parts: as `place`.
    """
    item = [pa.field("id", id_type), *place(parts=parts)]
    kept = [pa.field("kept_id", kept_type), *place("kept_", parts=parts)]
    return pa.schema([*item, *kept, value, ("reason", pa.string()), ("cluster", cluster)])


def clusters(id_type: pa.DataType, cluster: pa.DataType, *, parts: bool) -> pa.Schema:
    """Return the schema of clusters.parquet. ``cluster``: the type of cluster names. ``parts``: as `place`."""
    item = [pa.field("id", id_type), *place(parts=parts)]
    return pa.schema([*item, ("cluster", cluster), ("component", cluster), ("representative", pa.bool_())])


def dropped(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of dropped.parquet: documents that lost parts and kept too few tokens."""
    return pa.schema([pa.field("id", id_type), *place(), ("tokens", pa.int64()), ("tokens_left", pa.int64())])


def seen(id_type: pa.DataType, document: pa.DataType) -> pa.Schema:
    """Return the schema of seen.parquet: how much of each test item stands in documents. ``document``: the type of their ids."""
    counts = ("tokens", "ngrams", "ngrams_seen", "tokens_seen", "longest")
    share = [("share", pa.float64()), ("contaminated", pa.bool_()), ("documents", pa.int64())]
    first = [pa.field("document", document), *place("document_", parts=True)]
    return pa.schema([pa.field("id", id_type), *place(), *((name, pa.int64()) for name in counts), *share, *first])


def pairs(id_a: pa.DataType, id_b: pa.DataType, value: pa.Field, *, places: bool, parts: bool = False) -> pa.Schema:
    """Return the schema of pairs. ``value``: the value column. ``places`` adds source and position, which distinguish items with equal ids.

    parts: as `place`.
    """
    where = [*place(after="_a", parts=parts), *place(after="_b", parts=parts)]
    columns = [pa.field("id_a", id_a), pa.field("id_b", id_b), value]
    return pa.schema(columns + where if places else columns)


def quotes(suspect: pa.DataType, corpus: pa.DataType) -> pa.Schema:
    """Return the schema of passages. ``suspect``, ``corpus``: the types of ids. Places are characters of the text, from ``start`` up to ``end``."""

    def side(name: str, id_type: pa.DataType) -> list[tuple[str, pa.DataType]]:
        whole = [f"{name}_{what}" for what in ("position", "start", "end")]
        return [(name, id_type), (f"{name}_source", pa.string()), *((one, pa.int64()) for one in whole)]

    return pa.schema([*side("suspect", suspect), *side("corpus", corpus), ("agreed", pa.int64()), SIMILARITY])


#: Columns of the places of repeated passages, and of the passages, after those of `placed`. Starts and ends are characters of the text.
REPEATS = [(name, pa.int64()) for name in ("start", "end", "tokens", "passage", "times", "documents")] + [("first", pa.bool_())]
REPEATED = [(name, pa.int64()) for name in ("start", "end", "tokens", "characters", "passage", "times", "documents")]

#: The schema of mask.parquet: for each row, whether it is kept.
MASK = pa.schema([("source", pa.string()), ("position", pa.int64()), ("kept", pa.bool_())])


#: The schema of places.parquet: where some rows begin in sources of bytes, in the decompressed file.
PLACES = pa.schema([*place(), ("start", pa.int64())])


def sketches(bands: int, *, grouped: bool) -> pa.Schema:
    """Return the schema of the files in sketches/. ``grouped``: with hashes of the values of ``per``."""
    word = pa.field("item", pa.uint64(), nullable=False)
    more = [("per", pa.uint64())] if grouped else []
    what = [("size", pa.uint32()), ("copy", pa.binary(16)), *more, ("keys", pa.list_(word, bands)), ("set", pa.large_list(word))]
    return pa.schema([("id", pa.large_binary()), *place(), *what])


def placed(id_type: pa.DataType) -> pa.Schema:
    """Return the schema of a table of rows by id and place."""
    return pa.schema([pa.field("id", id_type), *place()])
