"""Codes, which are rows of bits: packed into words of 64, the lowest bit of a word first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.given import BYTES, SINGLE, is_whole, refuse_masked, rows, shown
from likewise.items.sets import read_only
from likewise.items.words import is_word

#: The codes uint64[n, words], and how many bits each has.
Codes = tuple[NDArray[np.uint64], int]

#: What codes come as, for the messages.
FORMS = "codes are a 2-D array of bool, arrays of unsigned integers (packed words), or a list of bytes, of whole numbers or of lists of 0 and 1"
ALONE = "one code alone is a batch of one: [code]"


def codes(batch: Any) -> Codes:
    """A batch of codes as (uint64[n, words], the bits in each code), C-contiguous and read-only; bits beyond the last are 0.

    bool[n, bits]: bit j of a code is column j. Unsigned integers [n, w]: packed words, of w times their width bits (a uint8 holds
    eight bits, not one); [n]: one word each, also of signed integers, in two's complement. A list: of bytes, all equally long; of whole
    numbers from -2^63 to 2^64 - 1, 64 bits each, -1 the same as 2^64 - 1; of rows of bool or of 0 and 1, a bit each; or of 1-D unsigned arrays.
    An empty list is no codes of 0 bits. Raises UsageError with the row.
    """
    batch = rows(batch, FORMS, ((int, *BYTES), ALONE))
    if isinstance(batch, tuple) and len(batch) == 2 and isinstance(batch[1], int) and getattr(batch[0], "dtype", None) == np.uint64:
        return batch[0], batch[1]  # packed already: as they are
    array = batch if isinstance(batch, np.ndarray) and batch.dtype != object else listed(batch)
    if array.ndim == 1 and array.dtype.kind == "i":
        array = array.view(array.dtype.str.replace("i", "u"))
    if array.ndim == 1 and (array.dtype.kind == "u" or not array.size):
        array = array.reshape(-1, 1) if array.size else np.empty((0, 0), bool)
    if array.ndim != 2 or (array.dtype != bool and array.dtype.kind != "u"):
        alone = f"; {ALONE}" if array.ndim == 1 and array.dtype == bool else ""
        raise UsageError(f"{FORMS}; here came {array.dtype} of shape {array.shape}{alone}")
    if len(array) and array.shape[1] == 0:
        raise UsageError("row 0 has no bits; a code has one at least")
    return packed(array)


def packed(array: NDArray[Any]) -> Codes:
    """bool[n, bits] or unsigned words[n, w], packed."""
    count, width = array.shape
    bits = width if array.dtype == bool else width * array.dtype.itemsize * 8
    if array.dtype == bool:
        octets = np.packbits(array, axis=1, bitorder="little")
    else:
        octets = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).view(np.uint8).reshape(count, bits // 8)
    words = np.zeros((count, -(-bits // 64) * 8), np.uint8)
    words[:, : octets.shape[1]] = octets
    return read_only(words.view("<u8").astype(np.uint64, copy=False)), bits


def listed(batch: Sequence[Any] | NDArray[Any]) -> NDArray[Any]:
    """A list of codes as bool[n, bits] or unsigned words[n, w]."""
    if len(batch) and all(is_whole(code) for code in batch):
        for place, code in enumerate(batch):
            if not is_word(code):
                raise UsageError(f"row {place} is {shown(code)}; a code given as a number is from -2^63 to 2^64 - 1; give longer ones as bytes")
        return np.array([[int(code) % 2**64] for code in batch], np.uint64)
    rows = [row_of(code, place) for place, code in enumerate(batch)]
    for place, row in enumerate(rows):
        if row.dtype != rows[0].dtype:
            raise UsageError(f"row {place} is of {row.dtype}, row 0 of {rows[0].dtype}; all codes of a batch are of one kind")
        if len(row) != len(rows[0]):
            unit = "bits" if row.dtype == bool else "bytes" if row.dtype == np.uint8 else "words"
            raise UsageError(f"row {place} has {len(row)} {unit}, row 0 has {len(rows[0])}; all codes of a batch have one length")
    return np.stack(rows) if rows else np.empty((0, 0), bool)


def row_of(code: Any, place: int) -> NDArray[Any]:
    """One code of a list of them: bool[bits] or unsigned words[w]."""
    if isinstance(code, BYTES):
        return np.frombuffer(bytes(code), np.uint8)
    if isinstance(code, np.ndarray):
        refuse_masked(code, f"row {place}: a code is an array of bool or of unsigned integers")
    if isinstance(code, np.ndarray) and code.ndim == 1 and (code.dtype == bool or code.dtype.kind == "u"):
        return code
    if isinstance(code, Sequence) and not isinstance(code, str):
        for column, bit in enumerate(code):
            if not (is_whole(bit) or isinstance(bit, bool | np.bool_)) or bit not in (0, 1):
                raise UsageError(f"row {place}: {shown(bit)} in column {column}; a list is the bits of a code, 0 or 1; give packed ones as bytes")
        return np.array(code, bool)
    raise UsageError(f"row {place} is {shown(code)}; {FORMS}")


def ambiguous(batch: Any) -> bool:
    """True for a list or signed array of several numbers that are all 0 or 1: it could be the bits of one code, or as many codes of one word."""
    if isinstance(batch, np.ndarray):
        return batch.ndim == 1 and len(batch) > 1 and batch.dtype.kind == "i" and bool(((batch == 0) | (batch == 1)).all())
    several = isinstance(batch, Sequence) and not isinstance(batch, SINGLE) and len(batch) > 1
    return several and all(is_whole(bit) and bit in (0, 1) for bit in batch)


def alone(given: Any) -> bool:
    """Whether this is one code and not a batch: bytes, a whole number, a 1-D array of bool or a list of bool."""
    if isinstance(given, np.ndarray):
        return given.ndim == 1 and given.dtype == bool
    if isinstance(given, Sequence) and not isinstance(given, SINGLE):
        return len(given) > 0 and isinstance(given[0], bool | np.bool_)
    return isinstance(given, BYTES) or is_whole(given) or isinstance(given, bool)
