"""A pa.LargeBinaryArray as numpy arrays, and back: row i is ``data[offsets[i]:offsets[i + 1]]``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from likewise.items.wrapped import bits

TYPE = pa.large_binary()


def parts(values: pa.LargeBinaryArray) -> tuple[np.ndarray, np.ndarray]:
    """(offsets int64[n + 1], data uint8[m]): the array's own buffers, not copied; a slice's offsets begin above 0."""
    _, offsets, data = values.buffers()
    if not len(values):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    return np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1], np.frombuffer(data or b"", np.uint8)


def used(values: pa.LargeBinaryArray) -> np.ndarray:
    """The bytes that the rows cover: uint8[m]."""
    offsets, data = parts(values)
    return data[offsets[0] : offsets[-1]]


def build(offsets: np.ndarray, data: np.ndarray | pa.Buffer | bytes) -> pa.LargeBinaryArray:
    """The array over these buffers, which are not copied, without nulls."""
    return pa.LargeBinaryArray.from_buffers(TYPE, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def from_list(rows: Iterable[bytes | None]) -> pa.LargeBinaryArray:
    """The array of these rows; None becomes null."""
    rows = list(rows)
    gone = np.fromiter((row is None for row in rows), bool, len(rows))
    offsets = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(np.fromiter((len(row or b"") for row in rows), np.int64, len(rows)), out=offsets[1:])
    valid = bits(~gone) if gone.any() else None
    return pa.LargeBinaryArray.from_buffers(TYPE, len(rows), [valid, pa.py_buffer(offsets), pa.py_buffer(b"".join(filter(None, rows)))])


def value(row: bytes) -> pa.LargeBinaryScalar:
    """One row by itself."""
    return from_list([row])[0]


EMPTY = value(b"")


def is_utf8(values: pa.LargeBinaryArray) -> bool:
    """True if every row is strict UTF-8, without surrogates."""
    text = pa.LargeStringArray.from_buffers(len(values), *values.buffers()[1:], null_bitmap=values.buffers()[0], offset=values.offset)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def utf8_fault(raw: bytes) -> int | None:
    """The place of the first byte that is not UTF-8, or None. Lone surrogates are allowed: they are text that a format encoded."""
    try:
        raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        return error.start
    return None
