"""Rows of Arrow columns as Records: the one parser behind Parquet, Arrow files and tables in memory."""

from __future__ import annotations

import json
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.io import binary
from likewise.io.batches import reading
from likewise.io.ids import to_json
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Records, Rejected, Want

PARAGRAPH = pa.scalar(b"\n\n", binary.TYPE)


def wanted(want: Want) -> list[str]:
    """The names of the columns (or paths) that must be read."""
    return [name for name in (*want.text.split("+"), want.id, want.per, want.score) if name is not None]


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """A chunk made by ``batches.gather``: ``data`` is a pa.Table, ``state`` the names of all columns of the file."""
    table: pa.Table = chunk.data
    rows = len(table)
    with reading(where, "a table"):
        columns = {name: _find(table, name) for name in wanted(want)}
        fields = [columns[name] for name in want.text.split("+")]
        rejected: list[Rejected] = []
        if want.tokens:
            kind, text = _tokens(fields[0], rows)
        else:
            texts = [_text(columns[name], name, rejected, chunk.start) for name in want.text.split("+") if columns[name] is not None]
            kind, text = _joined(texts, rows, rejected)
        return Records(
            kind=kind,
            start=np.arange(chunk.start, chunk.start + rows),
            length=np.zeros(rows, np.int64),
            text=text,
            id=_json(columns.get(want.id or ""), rows) if want.id else None,
            per=_json(columns.get(want.per or ""), rows) if want.per else None,
            score=_score(columns.get(want.score or ""), rows) if want.score else None,
            rejected=rejected,
            fields=chunk.state,
            found=all(column is not None for column in fields),
        )


def _find(table: pa.Table, name: str) -> pa.Array | None:
    """The column of that name, else what the path with dots leads to through struct columns."""
    top, *path = [name] if name in table.schema.names else name.split(".")
    if not (found := table.schema.get_all_field_indices(top)):
        return None
    values = _whole(table.column(found[0]))
    for label in path:
        if not pa.types.is_struct(values.type) or not (found := values.type.get_all_field_indices(label)):
            return None
        values = _plain(pc.struct_field(values, found[:1]))
    return values


def _whole(column: pa.ChunkedArray) -> pa.Array:
    chunks = [_plain(chunk) for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else _plain(pa.array([], column.type))


def _plain(values: pa.Array) -> pa.Array:
    """Without the ways of storing a value: strings and bytes of any kind as large_binary; dictionaries, runs and extension types undone."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return _plain(values.dictionary).take(values.indices)  # widened first, so that what is decoded cannot outgrow 32-bit offsets
    if pa.types.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(values))
    if isinstance(kind, pa.UuidType):
        return binary.from_list(None if value is None else str(value).encode() for value in values.to_pylist())
    if isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, pa.JsonType):
        return _plain(values.storage)
    if any(test(kind) for test in _BYTES):
        values = values.cast(binary.TYPE)
        values.validate(full=True)  # a damaged Arrow file can hold offsets that lead anywhere
    return values


_BYTES = (
    *(pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view),
    *(pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary),
)


def _text(values: pa.Array, name: str, rejected: list[Rejected], start: int) -> pa.LargeBinaryArray:
    """Null where the value is not a text; what is not UTF-8 goes to ``rejected``."""
    if isinstance(values.type, pa.JsonType):
        loaded = (json.loads(text or "null") for text in values.storage.to_pylist())
        return binary.from_list(value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None for value in loaded)
    if not pa.types.is_large_binary(values.type):
        return pa.nulls(len(values), binary.TYPE)
    if not binary.is_utf8(values):
        for row, raw in enumerate(values.to_pylist()):
            if raw is not None and (at := binary.utf8_fault(raw)) is not None:
                reason = f"position {start + row} (rows count from 0): column {name!r} is not UTF-8 at its byte {at} (0x{raw[at]:02x})"
                rejected.append(Rejected(row, reason, raw))
    return values


def _joined(texts: list[pa.LargeBinaryArray], rows: int, rejected: list[Rejected]) -> tuple[np.ndarray, pa.LargeBinaryArray]:
    """(kind, text) of rows that have their text in several columns; what is null is left out."""
    # Not null_handling="skip": in pyarrow 26 it loses the rows in which all values are null.
    text = reduce(lambda a, b: pc.coalesce(pc.binary_join_element_wise(a, b, PARAGRAPH), a, b), texts) if texts else pa.nulls(rows, binary.TYPE)
    kind = np.where(text.is_null().to_numpy(zero_copy_only=False), NO_TEXT, TEXT).astype(np.uint8)
    if rejected:
        rejected[:] = {entry.row: entry for entry in reversed(rejected)}.values()  # one a row: that of the first column
        rejected.sort()
        kind[[entry.row for entry in rejected]] = REJECTED
        text = pc.if_else(pa.array(kind == TEXT), text, binary.EMPTY)
    text = text.fill_null(b"")
    return kind, binary.build(*binary.parts(text))


def _tokens(values: Any, rows: int) -> tuple[np.ndarray, pa.LargeBinaryArray]:
    """(kind, text) of lists of token ids: their int64 values as bytes, which are the list's own buffer where it has that type."""
    kind = values.type if values is not None else pa.null()
    if not any(test(kind) for test in _LISTS) or not pa.types.is_integer(kind.value_type):
        return np.full(rows, NO_TEXT, np.uint8), binary.build(np.zeros(rows + 1, np.int64), b"")
    values.validate(full=True)
    gone = values.is_null().to_numpy(zero_copy_only=False)
    offsets = np.concatenate(([0], np.cumsum(pc.list_value_length(values).fill_null(0).to_numpy(), dtype=np.int64)))
    tokens = values.flatten().cast(pa.int64(), safe=False)  # above 2^63 they wrap: still one number for each token
    text = binary.build((offsets + tokens.offset) * 8, tokens.buffers()[1] or b"")
    if tokens.null_count:
        holes = np.concatenate(([0], np.cumsum(tokens.is_null().to_numpy(zero_copy_only=False))))
        gone = gone | (np.diff(holes[offsets]) > 0)
        text = pc.if_else(pa.array(~gone), text, binary.EMPTY)
    return np.where(gone, NO_TEXT, TEXT).astype(np.uint8), text


_LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)


def _json(values: pa.Array | None, rows: int) -> pa.LargeBinaryArray:
    return to_json(values) if values is not None and not pa.types.is_null(values.type) else pa.nulls(rows, binary.TYPE)


def _score(values: Any, rows: int) -> np.ndarray:
    """float64, NaN where there is no number. Dates and times count as seconds, so that the newest can be kept."""
    kind = values.type if values is not None else pa.null()
    if isinstance(kind, pa.JsonType):
        loaded = (json.loads(text or "null") for text in values.storage.to_pylist())
        return np.array([float(v) if isinstance(v, int | float) and not isinstance(v, bool) else np.nan for v in loaded], np.float64)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        seconds = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return seconds.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy() / 1e6
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return values.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()
    return np.full(rows, np.nan)
