"""Texts in Arrow columns without some of their parts: the type of the column stays, and so do all other values."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.errors import UsageError
from likewise.io import fields
from likewise.io.batches import Edit
from likewise.io.field_names import steps, top
from likewise.io.ids import as_json, from_json
from likewise.io.splice import of_bytes
from likewise.items import binary
from likewise.items.arrow import BYTES, plain
from likewise.items.wrapped import bits
from likewise.messages import option
from likewise.records import Edits, Want

FAR = "{where}: the column {name!r} has the type {kind}, and parts of its texts cannot be cut out; write the file again with plain strings"


def check(schema: pa.Schema, want: Want, where: str | Path, *, dictionaries: bool = True) -> None:
    """Raise UsageError for a column whose texts cannot be cut. A missing column is reported elsewhere.

    dictionaries: columns with a dictionary can be written.
    """
    kind = fields.type_of(schema, want.text)
    if kind is not None and not _can_be_cut(kind, dictionaries):
        raise UsageError(f"{option('level')}: {FAR.format(where=where, name=want.text, kind=kind)}")


def _can_be_cut(kind: pa.DataType, dictionaries: bool) -> bool:
    if pa.types.is_dictionary(kind):
        return dictionaries and _can_be_cut(kind.value_type, dictionaries)
    if pa.types.is_run_end_encoded(kind):
        return _can_be_cut(kind.value_type, dictionaries)
    if isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, pa.JsonType | pa.UuidType):
        return _can_be_cut(kind.storage_type, dictionaries)
    return not pa.types.is_fixed_size_binary(kind) and not isinstance(kind, pa.UuidType)


def editor(edits: Edits | None) -> Edit | None:
    """Return the function that cuts the parts out of batches (`io.batches.Keeper`), or None without parts."""
    if edits is None or not len(edits.row):
        return None

    def edit(batch: pa.RecordBatch, first: int) -> pa.RecordBatch:
        here = edits.of(first, first + batch.num_rows)
        return edited(batch, here) if len(here.row) else batch

    return edit


def edited(batch: pa.RecordBatch, edits: Edits) -> pa.RecordBatch:
    """Return the rows with the parts cut out of the texts in the column, or at the dotted path through structs, ``edits.want.text``."""
    names = batch.schema.names
    column = top(edits.want.text, names)
    path = [] if column == edits.want.text else steps(edits.want.text)[0][1:]
    at = names.index(column)
    return batch.set_column(at, batch.schema.field(at), _cut(batch.column(at), path, edits))


def _cut(values: pa.Array, path: list[str], edits: Edits) -> pa.Array:
    """Return an array of the same type with the parts cut out; ``path``: through structs."""
    kind = values.type
    if path:
        children = [values.field(number) for number in range(kind.num_fields)]
        at = kind.get_field_index(path[0])
        children[at] = _cut(children[at], path[1:], edits)
        return pa.StructArray.from_arrays(children, fields=[kind.field(number) for number in range(kind.num_fields)], mask=values.is_null())
    if pa.types.is_dictionary(kind):
        return _encoded(_cut(values.cast(kind.value_type), [], edits).dictionary_encode(), kind, edits.want.text)
    if pa.types.is_run_end_encoded(kind):
        return pc.run_end_encode(_cut(pc.run_end_decode(values), [], edits), run_end_type=kind.run_end_type)
    if isinstance(kind, pa.JsonType):
        return pa.ExtensionArray.from_storage(kind, _json(values.storage, edits))
    if isinstance(kind, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(kind, _cut(values.storage, [], edits))
    return _texts(values, edits)


def _encoded(values: pa.DictionaryArray, kind: pa.DictionaryType, name: str | None) -> pa.Array:
    """Return the values with the index type of ``kind``, which may be too narrow for them: copies that lose different parts are no longer equal."""
    if len(values.dictionary) > 2 ** (kind.index_type.bit_width - pa.types.is_signed_integer(kind.index_type)):
        few = f"cannot hold its {len(values.dictionary):,} different texts"
        raise UsageError(f"{option('level')}: the type of the column {name!r}, {kind}, {few} without their parts; write it again with plain strings")
    return values.cast(kind)


def _texts(values: pa.Array, edits: Edits) -> pa.Array:
    """`_cut` for strings and bytes. Buffers are built directly, since rows that were rejected may hold bytes that are no UTF-8."""
    kind = values.type
    assert any(test(kind) for test in BYTES)
    offsets, data = binary.parts(plain(values))
    left, ends = of_bytes(data, offsets, edits)
    narrow = pa.types.is_string(kind) or pa.types.is_binary(kind)
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    buffers = [pa.py_buffer(ends.astype(np.int32) if narrow else ends), pa.py_buffer(left)]
    valid = None if not values.null_count else bits(values.is_valid().to_numpy(zero_copy_only=False))
    return pa.Array.from_buffers(views.get(kind, kind), len(values), [valid, *buffers]).cast(kind)


def _json(texts: pa.Array, edits: Edits) -> pa.Array:
    """`_cut` for strings in JSON texts."""
    rows = texts.to_pylist()
    for row in np.unique(edits.row).tolist():
        here = edits.of(row, row + 1)
        raw = np.frombuffer(from_json(rows[row]).encode("utf-8", "surrogatepass"), np.uint8)
        left, _ = of_bytes(raw, np.array([0, len(raw)]), here)
        rows[row] = as_json(left.tobytes().decode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")
    return pa.array(rows, texts.type)
