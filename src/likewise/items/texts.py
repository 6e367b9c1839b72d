"""Texts and token ids in memory as rows of bytes that are safe for kernels, which read UTF-8 without checking its end."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.items import binary, unusable
from likewise.items.arrow import chunked, is_arrow, plain
from likewise.items.given import BYTES, SINGLE, refuse_deep, rows
from likewise.items.normalize import normalize
from likewise.items.reader import read
from likewise.items.token_ids import READER

FORMS = "give texts: a list of str, bytes or None, or an Arrow array of strings"
ONE = "one text alone is a batch of one: [text]"


def encoded(texts: Any, kind: str = "text") -> pa.LargeBinaryArray:
    """Texts as UTF-8, lone surrogates as three bytes; None becomes null.

    Raises UsageError with the row for other types, and DataError with the row and the byte for bytes that are not UTF-8, for any unit, as for files.
    """
    if is_arrow(texts):
        values = of_arrow(texts, kind)
    else:
        values = binary.from_list(of_text(text, row, kind) for row, text in enumerate(rows(texts, FORMS, (SINGLE, ONE))))
    if not binary.is_utf8(values):
        refuse_others(values)
    return values


def of_text(text: Any, row: int, kind: str) -> bytes | None:
    """The UTF-8 of one text; None for None. Raises UsageError with the row for other types."""
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, BYTES):
        return bytes(text)
    if text is None:
        return None
    refuse_deep([text])
    other = unusable.held(text)
    raise UsageError(f"row {row} holds {other}; {unusable.needed(other, kind)}")


def of_arrow(texts: Any, kind: str) -> pa.LargeBinaryArray:
    """An Arrow array of strings or bytes in any storage. Raises UsageError for other types, and DataError for a damaged array."""
    array = chunked(texts)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), binary.TYPE)
    try:
        parts = [plain(part) for part in array.chunks] or [plain(pa.nulls(0, array.type))]
    except pa.ArrowException as error:
        raise DataError(f"an Arrow array of {array.type} is damaged: {error}") from None
    if not pa.types.is_large_binary(parts[0].type):
        raise UsageError(f"{FORMS}; got an Arrow array of {array.type}")
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def refuse_others(values: pa.LargeBinaryArray) -> None:
    """Raises DataError for the first row that is not UTF-8. Lone surrogates are allowed."""
    for row, raw in enumerate(values.to_pylist()):
        if raw is not None and (at := binary.utf8_fault(raw)) is not None:
            raise DataError(f"row {row}: the text is not UTF-8 at byte {at} (0x{raw[at]:02x}); decode it with its own encoding, or leave it out")


def strings(batch: Any, steps: tuple[str, ...] = ()) -> list[str]:
    """A batch of strings, normalized by these steps. Raises the errors of `encoded`, and UsageError for None."""
    values = encoded(batch, "string")
    if values.null_count:
        raise UsageError(f"row {values.is_null().to_numpy(zero_copy_only=False).argmax()} is None; expected a string")
    return [normalize(raw.decode("utf-8", "surrogatepass"), steps) for raw in values.to_pylist()]


def is_string(given: Any) -> bool:
    """True for a single string."""
    return isinstance(given, str | bytes)


def token_ids(batch: Any) -> pa.LargeBinaryArray:
    """Lists of token ids as little-endian int64. Raises UsageError with the row for other values, and for sets, which have no order."""
    found = read(batch, READER)
    return binary.build(found.begins * 8, np.ascontiguousarray(found.used, "<i8"))
