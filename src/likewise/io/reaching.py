"""Texts inside lists and maps of Arrow columns (``messages.content``), joined row by row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.io.ids import from_json
from likewise.items import arrow as nested
from likewise.items import binary
from likewise.items.payloads import ends
from likewise.items.wrapped import wrapped

LINE_END = "\n"


def texts(values: pa.Array, path: Sequence[str], strings: bool) -> pa.LargeBinaryArray | None:
    """Return the texts of each row at the end of a path, joined by line ends; null for rows without one.

    ``strings``: the path leads to a list of strings. Returns None if the type has no such path.
    """
    rows = np.arange(len(values))
    total = len(values)
    left = list(path)
    while True:
        if left or strings:
            values, rows = _without_lists(values, rows)
        if not left or isinstance(values.type, pa.JsonType):
            break
        label = left.pop(0)
        if pa.types.is_map(values.type):
            values, rows = _entries(values, rows, label)
        elif pa.types.is_struct(values.type) and len(found := values.type.get_all_field_indices(label)) == 1:
            values = nested.plain(pc.struct_field(values, found))
        else:
            return None
    if isinstance(values.type, pa.JsonType):
        each = [[*_of_json(from_json(text or "null"), left, strings)] for text in values.storage.to_pylist()]
        rows = np.repeat(rows, [len(one) for one in each])
        values = binary.from_list(text.encode("utf-8", "surrogatepass") for one in each for text in one)
    if not pa.types.is_large_binary(values.type):
        return pa.nulls(total, binary.TYPE)
    there = values.is_valid().to_numpy(zero_copy_only=False)
    return _joined(values.filter(wrapped(there)), rows[there], total)


def _without_lists(values: pa.Array, rows: NDArray[np.int64]) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the items of lists at any depth, and the row of each."""
    while nested.is_list(values.type) and (lists := nested.listed(values)) is not None:
        found, flat = lists
        values, rows = nested.plain(flat), np.repeat(rows, found.sizes)
    return values, rows


def _entries(values: pa.MapArray, rows: NDArray[np.int64], key: str) -> tuple[pa.Array, NDArray[np.int64]]:
    """Return the values of maps under a key, and the row of each."""
    lists = nested.listed(values)
    assert lists is not None
    found, flat = lists
    keys, items = (nested.plain(pc.struct_field(flat, [number])) for number in (0, 1))
    if not pa.types.is_large_binary(keys.type):
        return items.slice(0, 0), rows[:0]
    same = pc.equal(keys, binary.value(key.encode("utf-8", "surrogatepass")))
    return items.filter(same), np.repeat(rows, found.sizes)[same.to_numpy(zero_copy_only=False)]


def _joined(values: pa.LargeBinaryArray, rows: NDArray[np.int64], total: int) -> pa.LargeBinaryArray:
    """Join the values of each row, rows ascending."""
    counts = np.bincount(rows, minlength=total)
    if (counts <= 1).all():
        place = np.cumsum(counts) - 1
        return values.take(wrapped(place, counts == 0))
    offsets, data = binary.parts(values)
    last = np.zeros(len(values), bool)
    last[ends(counts)[1:][counts > 0] - 1] = True
    sizes = np.diff(offsets) + ~last  # a line end behind all but the last
    begins = ends(sizes)
    out = np.full(int(begins[-1]), ord(LINE_END), np.uint8)
    used = data[offsets[0] : offsets[-1]]
    out[np.arange(len(used)) + np.repeat(begins[:-1] - offsets[:-1] + offsets[0], np.diff(offsets))] = used
    whole = binary.build(begins[ends(counts)], out)
    return pc.if_else(wrapped(counts > 0), whole, pa.nulls(1, binary.TYPE)[0])


def _of_json(value: Any, path: Sequence[str], strings: bool) -> Iterator[str]:
    """Yield the texts in a JSON value."""
    if isinstance(value, list) and (path or strings):
        for item in value:
            yield from _of_json(item, path, strings)
    elif path and isinstance(value, dict) and path[0] in value:
        yield from _of_json(value[path[0]], path[1:], strings)
    elif not path and isinstance(value, str):
        yield value
