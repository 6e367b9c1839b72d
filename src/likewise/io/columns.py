"""Rows of Arrow columns as Records: the parser of Parquet files, Arrow files and tables in memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import DataError
from likewise.io import fields, reaching
from likewise.io.batches import reading
from likewise.io.field_names import steps, top
from likewise.io.ids import as_json, from_json, to_json
from likewise.items import binary, json_values, payloads, reader, sparse_names, unusable
from likewise.items.arrow import is_string, plain
from likewise.items.readers import reader_of, sure_reader_of
from likewise.items.wrapped import wrapped
from likewise.kinds import of_payload
from likewise.messages import option
from likewise.records import NO_TEXT, REJECTED, TEXT, Chunk, Records, Rejected, Want

PARAGRAPH = binary.value(b"\n\n")
#: Rows after which a column that has only nulls is not examined further before a run.
LOOKED = 1 << 16


def known(chunk: Chunk) -> Sequence[str]:
    """Return the names of all columns of the chunk's file."""
    return chunk.state


def wanted(want: Want, schema: pa.Schema, where: str | Path) -> list[str]:
    """Return the names of the columns, or of fields in structs, that must be read. Raises DataError for a name that occurs twice."""
    there = schema.names
    names = [name for name in (*fields.every(want, there), want.id, want.per, want.score) if name is not None]
    for name in names:
        if (times := there.count(top(name, there))) > 1:
            raise DataError(f"{where}: has the column {top(name, there)!r} {times} times; rename all but one")
    return [name if fields.type_of(schema, name) is not None else top(name, there) for name in names]


def parse(chunk: Chunk, want: Want, where: str, place: Callable[[int], str] | None = None) -> Records:
    """Return the rows of a chunk made by ``batches.gather``: ``data`` is a pa.Table, ``state`` the names of all columns of the file.

    ``place`` returns the place of a row for messages, by default its number in the file.
    """
    place = place or partial(_place, chunk)
    table: pa.Table = chunk.data
    n = len(table)
    with reading(where, "a table"):
        raw, names = of_payload(want.kind).raw, fields.names(want, chunk.state)
        columns = [_find(table, name, where, reach=raw and not want.located) for name in names]
        others = {name: _find(table, name, where) for name in (want.id, want.per, want.score) if name is not None}
        identity = _json(others[want.id], n) if want.id is not None else None
        rejected: list[Rejected] = []
        width = nulls = None
        matrix = 0
        if raw:
            there = [(column, name) for column, name in zip(columns, names, strict=True) if column is not None]
            texts = [_text(column, name, rejected, place, want.most) for column, name in there]
            kind, text = joined(texts, n, rejected)
            other = next(filter(None, (unusable.of_column(column, kind == NO_TEXT) for column, _ in there)), "")
        else:
            stored = fields.type_of(table.schema, names[0])
            rows = reader.from_arrow(columns, names, sure_reader_of(want.kind), want, n, stored is not None and is_string(stored))
            kind, text, width = payloads.laid(rows, want)
            nulls, other, matrix = rows.nulls, rows.other, rows.matrix
            rejected = payloads.refused(rows, names, "column", identity, lambda row, _: place(row), lambda row: _raw(columns, row))
        return Records(
            kind=kind,
            start=np.arange(chunk.start, chunk.start + n),
            length=np.zeros(n, np.int64),
            text=text,
            id=identity,
            per=_json(others[want.per], n) if want.per is not None else None,
            score=_score(others[want.score], n) if want.score is not None else None,
            rejected=rejected,
            fields=chunk.state,
            found=fields.found(names, [column is not None for column in columns]),
            width=width,
            nulls=nulls,
            matrix=matrix,
            other=other,
        )


def unfit(source: Any, want: Want) -> str:
    """Describe (`unusable.held`) the values of a source whose column types cannot hold the wanted kind; "" if they can or are all null.

    Reads the schema of ``source`` (io.inputs.Source) and, if that does not fit, rows up to the first value or chunks of up to LOOKED rows
    together;
    `Collection.unusable` checks all rows after they have been read.
    """
    if not hasattr(source.format, "schema"):
        return ""
    schema = source.format.schema(source.path, source.asked(want))
    if all(_may_fit(one, schema) for one in fields.each(source.asked(want), schema.names)):
        return ""
    looked = 0
    for chunk in source.chunks(want):
        records = source.parse(chunk, want)
        looked += len(records)
        if records.other or (records.kind != NO_TEXT).any() or looked >= LOOKED:
            return records.other
    return ""


def _may_fit(want: Want, schema: pa.Schema) -> bool:
    """Return whether the types of the columns can hold the wanted kind, or the columns are missing."""
    names = fields.names(want, schema.names)
    kinds = [kind for name in names if (kind := fields.type_of(schema, name)) is not None]
    required = all if reader_of(want.kind) and sure_reader_of(want.kind).whole else any
    return not kinds or sparse_names.are_parts(names) or required(_fits(kind, want) for kind in kinds)


def _fits(kind: pa.DataType, want: Want) -> bool:
    """True if a column of this type can hold the wanted kind, also as JSON text."""
    values = plain(pa.nulls(0, kind))
    if reader_of(want.kind):
        return reader.part(values, sure_reader_of(want.kind), want, is_string(kind)) is not None
    return pa.types.is_large_binary(values.type) or isinstance(values.type, pa.JsonType)


def _place(chunk: Chunk, row: int) -> str:
    return f"position {chunk.start + row} (rows count from 0)"


def _raw(columns: Sequence[pa.Array | None], row: int) -> bytes:
    """Return the value of a row as JSON text."""
    values = [None if column is None else column[row].as_py() for column in columns]
    return as_json(values[0] if len(values) == 1 else values)


def _find(table: pa.Table, name: str, where: str, *, reach: bool = False) -> pa.Array | None:
    """Return the column of that name, else the values at a dotted path through structs; ``reach``: or the texts inside lists and maps; else None."""
    values = _in_structs(table, name, where)
    if values is not None or not reach or name in table.schema.names:
        return values
    (first, *path), strings = steps(name)
    found = table.schema.get_all_field_indices(first)
    return reaching.texts(_whole(table.column(found[0])), path, strings) if found else None


def _in_structs(table: pa.Table, name: str, where: str) -> pa.Array | None:
    top, *path = [name] if name in table.schema.names else name.split(".")
    if not (found := table.schema.get_all_field_indices(top)):
        return None
    values = _whole(table.column(found[0]))
    for label in path:
        if not pa.types.is_struct(values.type) or not (found := values.type.get_all_field_indices(label)):
            return None
        if len(found) > 1:
            raise DataError(f"{where}: {name!r} leads to a struct that has the field {label!r} {len(found)} times; rename all but one")
        values = plain(pc.struct_field(values, found))
    return values


def _whole(column: pa.ChunkedArray) -> pa.Array:
    chunks = [plain(chunk) for chunk in column.chunks]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays(chunks) if chunks else plain(pa.nulls(0, column.type))


def _text(values: pa.Array, name: str, rejected: list[Rejected], place: Callable[[int], str], most: int) -> pa.LargeBinaryArray:
    """Return texts, null if a value is not a text; values that are not UTF-8, or longer than ``most``, are added to ``rejected``."""
    if isinstance(values.type, pa.JsonType):
        return binary.from_list(_unquoted(text or "") for text in values.storage.to_pylist())
    if not pa.types.is_large_binary(values.type):
        return pa.nulls(len(values), binary.TYPE)
    length = pc.binary_length(values).fill_null(0).to_numpy()
    for row in np.flatnonzero(length > most).tolist():
        reason = f"column {name!r} has {length[row]:,} bytes, but {option('max_record')} allows {most:,}"
        rejected.append(Rejected(row, f"{place(row)}: {reason}", b""))
    if not binary.is_utf8(values):
        for row, raw in enumerate(values.to_pylist()):
            if raw is not None and (at := binary.utf8_fault(raw)) is not None:
                reason = f"{place(row)}: column {name!r} is not UTF-8 at its byte {at} (0x{raw[at]:02x})"
                rejected.append(Rejected(row, reason, raw))
    return values


def _unquoted(text: str) -> bytes | None:
    """Return the string in a JSON text; None for other JSON values and invalid JSON."""
    value = from_json(text) if text.lstrip().startswith('"') else None
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else None


def joined(texts: list[pa.LargeBinaryArray], rows: int, rejected: list[Rejected]) -> tuple[np.ndarray, pa.LargeBinaryArray]:
    """Return (kind, text) of rows whose text is in several columns; nulls are skipped."""
    # Not null_handling="skip": in pyarrow 26 it loses rows in which all values are null.
    text = reduce(lambda a, b: pc.coalesce(pc.binary_join_element_wise(a, b, PARAGRAPH), a, b), texts) if texts else pa.nulls(rows, binary.TYPE)
    kind = np.where(text.is_null().to_numpy(zero_copy_only=False), NO_TEXT, TEXT).astype(np.uint8)
    if rejected:
        rejected[:] = {entry.row: entry for entry in reversed(rejected)}.values()  # one per row: that of the first column
        rejected.sort()
        kind[[entry.row for entry in rejected]] = REJECTED
        text = pc.if_else(wrapped(kind == TEXT), text, binary.EMPTY)
    text = text.fill_null(b"")
    return kind, binary.build(*binary.parts(text))


def _json(values: pa.Array | None, rows: int) -> pa.LargeBinaryArray:
    return to_json(values) if values is not None and not pa.types.is_null(values.type) else pa.nulls(rows, binary.TYPE)


def _score(values: Any, rows: int) -> np.ndarray:
    """Return float64[n], NaN if a value is not a number. Dates and times are seconds, so that the newest can be kept."""
    kind = values.type if values is not None else pa.null()
    if isinstance(kind, pa.JsonType):
        numbers = (json_values.as_float(from_json(text or "null")) for text in values.storage.to_pylist())
        return np.array([np.nan if number is None else number for number in numbers], np.float64)
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        seconds = values.cast(pa.timestamp("us", getattr(kind, "tz", None)), safe=False).cast(pa.int64())
        return seconds.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy() / 1e6
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return values.cast(pa.float64(), safe=False).fill_null(np.nan).to_numpy()
    return np.full(rows, np.nan)
