"""Codes, rows of bits: packed into words of 64, the lowest bit of a word first."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items import binary
from likewise.items.arrow import BYTES, filled, integers_of, is_list, listed
from likewise.items.given import BYTES as OCTETS
from likewise.items.given import SINGLE, is_whole, refuse_masked, shown
from likewise.items.json_values import Texts, decoded, rows_of
from likewise.items.payloads import Fault, Rows, ends
from likewise.items.python_values import UNFIT, as_json
from likewise.items.reader import Reader, read
from likewise.items.sets import read_only
from likewise.items.unusable import noun
from likewise.items.words import is_word
from likewise.records import Want

DECIMAL = re.compile(rb"-?[0-9]{1,20}")
#: The codes, uint64[n, words], and the number of bits of each.
Codes = tuple[NDArray[np.uint64], int]

#: The value of each byte as a hexadecimal digit.
NO_DIGIT = 255
DIGITS = np.full(256, NO_DIGIT, np.uint8)
DIGITS[list(b"0123456789abcdef")] = DIGITS[list(b"0123456789ABCDEF")] = range(16)
#: The pattern of a code as a string.
HEXADECIMAL = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})*)")


def codes(batch: Any) -> Codes:
    """A batch of codes as (uint64[n, words], the bits in each code), C-contiguous and read-only; bits beyond the last are 0.

    bool[n, bits]: bit j of a code is column j. Unsigned integers [n, w]: packed words, of w times their width bits (a uint8 is eight bits, not one);
    [n]: one word each, also for signed integers, in two's complement. A list: of bytes, equally long; of strings of hexadecimal digits, two a byte;
    of integers from -2^63 to 2^64 - 1, 64 bits each, where -1 equals 2^64 - 1; of rows of bool or of 0 and 1, a bit each; or of 1-D unsigned arrays.
    An empty list gives uint64[0, 0] and 0 bits. Raises UsageError with the row.
    """
    if isinstance(batch, tuple) and len(batch) == 2 and isinstance(batch[1], int) and getattr(batch[0], "dtype", None) == np.uint64:
        return batch[0], batch[1]  # already packed
    rows = read(batch, READER)
    assert rows.width is not None
    if not len(rows):
        return read_only(np.empty((0, 0), np.uint64)), 0
    if not rows.width.all():
        raise UsageError(f"row {int(rows.width.argmin())} has no bits; a code needs at least one")
    words = np.ascontiguousarray(rows.used).view(np.uint64).reshape(len(rows), -1)
    return read_only(words), int(rows.width[0])


def from_python(rows: list[Any]) -> pa.Array:
    """A column of bytes, strings, words or lists, if all codes have that form, else of JSON texts."""
    if all(row is None or is_whole(row) for row in rows):
        for place, row in enumerate(rows):
            if row is not None and not is_word(row):
                raise UsageError(f"row {place} is {shown(row)}; a code given as a number is from -2^63 to 2^64 - 1; give longer codes as bytes")
        return pa.array([row if row is None else int(row) % 2**64 for row in rows], pa.uint64())
    refuse_mixed(rows)
    octets = [isinstance(row, OCTETS) for row in rows]
    if any(octets) and (others := [place for place, row in enumerate(rows) if row is not None and not octets[place]]):
        where = f"row {others[0]} holds {noun(rows[others[0]])}, and row {octets.index(True)} bytes"
        raise TypeError(f"{where}; give all codes in one form")  # Arrow would store hexadecimal digits as bytes
    try:
        made = pa.array(rows)
    except UNFIT:
        return as_json(rows)
    return made if is_code(made.type) else as_json(rows)


def refuse_mixed(rows: list[Any]) -> None:
    """Raises UsageError for masked arrays, and for packed words of one width among other codes, which Arrow would convert."""
    kinds = [row.dtype if type(row) is np.ndarray and row.ndim else type(row) for row in rows]
    there = set(kinds) - {type(None)}
    if np.ma.MaskedArray in there:
        refuse_masked(rows[kinds.index(np.ma.MaskedArray)], f"row {kinds.index(np.ma.MaskedArray)} is an array")
    if len(there) > 1 and any(isinstance(kind, np.dtype) and kind.kind == "u" for kind in there):
        first = next(kind for kind in kinds if kind is not type(None))
        place = next(place for place, kind in enumerate(kinds) if kind not in (first, type(None)))
        raise UsageError(f"row {place} is of {kinds[place]}, but row {kinds.index(first)} is of {first}; give all codes in one form")


def is_code(kind: pa.DataType) -> bool:
    """True for types of columns of codes. A single 1.0 makes a column float64, which cannot hold codes."""
    if is_list(kind):
        return pa.types.is_boolean(kind.value_type) or pa.types.is_integer(kind.value_type) or pa.types.is_null(kind.value_type)
    return pa.types.is_null(kind) or any(test(kind) for test in BYTES)


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Codes from bytes; an integer; a list of unsigned integers (packed), of bool, or of 0 and 1. None for other types."""
    if pa.types.is_large_binary(values.type):
        offsets, data = binary.parts(values)
        found = Rows(values.is_null().to_numpy(zero_copy_only=False), offsets, data)
        return of_bytes(found.without(found.gone))
    lists = listed(values)
    found, flat = lists or (Rows(values.is_null().to_numpy(zero_copy_only=False), np.arange(len(values) + 1), np.zeros(0)), values)
    if lists and pa.types.is_boolean(flat.type):
        return of_bits(filled(found, flat.fill_null(False).to_numpy(zero_copy_only=False), flat))
    if (numbers := integers_of(flat)) is None:
        return None
    if lists and numbers.dtype.kind == "i":
        return of_bits(filled(found, numbers, flat))
    octets = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).view(np.uint8)
    found = filled(found, octets, flat)
    found.offsets = found.offsets * numbers.itemsize
    return of_bytes(found)


def from_json(texts: Texts, want: Want) -> Rows:
    """Codes from a list of 0 and 1 (or of bool), bits; an integer, a word of 64 bits; or a string, bytes in hexadecimal."""
    values = decoded(texts, int | str | list[int | bool], lambda value: None)
    codes = [octets_of(value) for value in values]
    octets = [code if isinstance(code, bytes) else b"" for code in codes]
    found = of_bytes(rows_of(codes, octets, lambda flat: np.frombuffer(bytes(flat), np.uint8)))
    found.width = np.array([len(v) if isinstance(v, list) else 8 * len(code) for v, code in zip(values, octets, strict=True)], np.int64)
    return found


def octets_of(value: Any) -> bytes | Fault | None:
    """The bytes of a JSON value; a Fault if it is not a code; None for null."""
    if isinstance(value, list):
        wrong = next((place for place, bit in enumerate(value) if bit not in (0, 1)), None)
        if wrong is not None:
            return Fault(f"{value[wrong]} is not a bit; a list holds the bits of a code, 0 or 1", wrong, len(value))
        return np.packbits(np.array(value, bool), bitorder="little").tobytes()
    if isinstance(value, int):
        if not is_word(value):
            return Fault(
                f"{value} is not a code; a whole number is a code of 64 bits, from -2^63 to 2^64 - 1; give longer ones as hexadecimal strings"
            )
        return (value % 2**64).to_bytes(8, "little")
    if isinstance(value, str):
        found = HEXADECIMAL.fullmatch(value)  # bytes.fromhex alone would ignore white space
        return bytes.fromhex(found[1]) if found else Fault(f"{value!r:.40} is not hexadecimal with two digits per byte")
    return value


def of_bytes(rows: Rows) -> Rows:
    """Codes from rows of bytes, padded to whole words."""
    sizes = rows.sizes
    width = 8 * sizes
    words = -(-sizes // 8)
    if (sizes % 8).any():
        offsets = ends(8 * words)
        values = np.zeros(int(offsets[-1]), np.uint8)
        used = rows.used
        if (sizes == sizes[0]).all():
            values.reshape(len(sizes), -1)[:, : sizes[0]] = used.reshape(len(sizes), -1)
        else:
            values[np.arange(len(used)) + np.repeat(offsets[:-1] - rows.begins[:-1], sizes)] = used
        return Rows(rows.gone, offsets, values, width, rows.faults)
    rows.width = width
    return rows


def of_bits(rows: Rows) -> Rows:
    """Codes from rows of bools, or of 0 and 1. Other values are faults."""
    sizes = rows.sizes
    if rows.values.dtype != bool:
        other = (rows.values != 0) & (rows.values != 1)
        rows.refuse(other, lambda at: f"{rows.values[at]} is not a bit; a list of integers is the bits of a code, 0 or 1")
    offsets = ends(-(-sizes // 64) * 64)
    spread = np.zeros(int(offsets[-1]), bool)
    used = rows.used
    spread[np.arange(len(used)) + np.repeat(offsets[:-1] - rows.begins[:-1], sizes)] = used
    return Rows(rows.gone, offsets // 8, np.packbits(spread, bitorder="little"), sizes, rows.faults)


def hexadecimal(texts: pa.LargeBinaryArray) -> Rows:
    """Codes from texts such as ``0xff00`` or ``FF00``: two digits a byte, the first byte first."""
    if pc.any(pc.starts_with(texts, b"0x")).as_py():
        texts = binary.from_list(text and text.removeprefix(b"0x") for text in texts.to_pylist())
    offsets, data = binary.parts(texts)
    rows = Rows(texts.is_null().to_numpy(zero_copy_only=False), offsets, DIGITS[data])
    rows.refuse(rows.values == NO_DIGIT, lambda at: f"{chr(data[at])!r} is not a hexadecimal digit; a string is the bytes of a code in hexadecimal")
    for row in np.flatnonzero(rows.sizes % 2 == 1).tolist():
        digits = rows.values[rows.begins[row] :][: rows.sizes[row]]
        bits = "; a string of bits is given as a list of True and False" if (digits <= 1).all() else ""
        rows.faults.setdefault(row, Fault(f"{rows.sizes[row]} hexadecimal digits; two make a byte{bits}"))
    dropped = rows.gone.copy()
    dropped[list(rows.faults)] = True
    rows = rows.without(dropped)
    used = rows.used
    return of_bytes(Rows(rows.gone, (rows.begins) // 2, used[::2] << 4 | used[1::2], faults=rows.faults))


def from_cells(cells: pa.LargeBinaryArray, columns: int, want: Want, decimal: bool) -> Rows:
    """Cells of a CSV file as codes; ``decimal`` numbers, else hexadecimal digits."""
    return of_decimals(cells) if decimal else hexadecimal(cells)


def is_decimal(text: bytes) -> bool:
    """Return whether a cell is a decimal number from -2^63 to 2^64 - 1."""
    return DECIMAL.fullmatch(text) is not None and is_word(int(text))


def of_decimals(texts: pa.LargeBinaryArray) -> Rows:
    """Return decimal numbers from -2^63 to 2^64 - 1 as codes of 64 bits; other texts are faults."""
    found = texts.to_pylist()
    faults = {
        row: Fault(
            f"{text.decode('utf-8', 'replace')!r:.40} is not a whole number from -2^63 to 2^64 - 1, and the first codes of this column are decimal; "
            "write all of a column in decimal, or all in hexadecimal with 0x before the digits"
        )
        for row, text in enumerate(found)
        if text is not None and not is_decimal(text)
    }
    there = np.array([text is not None and row not in faults for row, text in enumerate(found)], bool)
    numbers = [int(text) % 2**64 for row, text in enumerate(found) if there[row]]
    gone = texts.is_null().to_numpy(zero_copy_only=False)
    return of_bytes(Rows(gone, ends(8 * there), np.array(numbers, "<u8").view(np.uint8), faults=faults))


def ambiguous(batch: Any) -> bool:
    """True for a list or signed array of several numbers that are all 0 or 1: it could be the bits of one code, or as many codes of one word."""
    if isinstance(batch, np.ndarray):
        return batch.ndim == 1 and len(batch) > 1 and batch.dtype.kind == "i" and bool(((batch == 0) | (batch == 1)).all())
    several = isinstance(batch, Sequence) and not isinstance(batch, SINGLE) and len(batch) > 1
    return several and all(is_whole(bit) and bit in (0, 1) for bit in batch)


def alone(given: Any) -> bool:
    """True for a single code, not a batch: bytes, an integer, a 1-D array of bool or a list of bool."""
    if isinstance(given, np.ndarray):
        return given.ndim == 1 and given.dtype == bool
    if isinstance(given, Sequence) and not isinstance(given, SINGLE):
        return len(given) > 0 and isinstance(given[0], bool | np.bool_)
    return isinstance(given, SINGLE) or is_whole(given) or isinstance(given, bool)


#: A payload is bits, the lowest of a byte first, padded with zeros to whole words of 8 bytes.
READER = Reader(
    "code",
    "code",
    "codes: an array of bool or of whole numbers (packed words), or a list of bytes, of hexadecimal strings, of whole numbers or of lists of 0 and 1",
    from_python,
    from_arrow,
    from_json,
    dimensions="12",
    numbers="iub",
    single=(int, *SINGLE),
    strings=1,
    from_strings=hexadecimal,
    from_cells=from_cells,
    decimal=True,
    whole=True,
)
