"""A pa.LargeBinaryArray seen as numpy, and back: rows are ``data[offsets[i]:offsets[i + 1]]``."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

TYPE = pa.large_binary()
EMPTY = pa.scalar(b"", TYPE)


def parts(values: pa.LargeBinaryArray) -> tuple[np.ndarray, np.ndarray]:
    """(offsets int64[n + 1], data uint8[...]) of the array's own buffers, copying nothing; a slice's offsets begin above 0."""
    _, offsets, data = values.buffers()
    if not len(values):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    return np.frombuffer(offsets, np.int64)[values.offset : values.offset + len(values) + 1], np.frombuffer(data or b"", np.uint8)


def used(values: pa.LargeBinaryArray) -> np.ndarray:
    """The bytes that the rows cover."""
    offsets, data = parts(values)
    return data[offsets[0] : offsets[-1]]


def build(offsets: np.ndarray, data: np.ndarray | pa.Buffer | bytes) -> pa.LargeBinaryArray:
    """The array over these buffers, without nulls, copying nothing."""
    return pa.LargeBinaryArray.from_buffers(TYPE, len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def from_list(rows: Iterable[bytes | None]) -> pa.LargeBinaryArray:
    return pa.array(rows, TYPE)


def is_utf8(values: pa.LargeBinaryArray) -> bool:
    """Whether every row is UTF-8 in the strict sense, in which a surrogate is not."""
    text = pa.LargeStringArray.from_buffers(len(values), *values.buffers()[1:], null_bitmap=values.buffers()[0], offset=values.offset)
    try:
        text.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def utf8_fault(raw: bytes) -> int | None:
    """Where the first byte that is not UTF-8 stands, or None. Lone surrogates pass: they are text that a format carried."""
    try:
        raw.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        return error.start
    return None
