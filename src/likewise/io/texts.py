"""Texts and token ids in memory as rows of bytes that kernels can trust: kernels read UTF-8 without looking where it ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.io.batches import reading
from likewise.items import arrow_items as nested
from likewise.items import binary
from likewise.items.arrow import chunked, is_arrow
from likewise.items.given import SINGLE, rows, shown
from likewise.items.sets import ragged

FORMS = "texts are a list of str, bytes or None, or an Arrow array of strings"
ONE = "one text alone is a batch of one: [text]"
TOKENS = "tokens:K compares lists of token ids, which are whole numbers; text is cut by words:5, chars:9 and so on"


def encoded(texts: Any) -> pa.LargeBinaryArray:
    """Texts as UTF-8, lone surrogates as three bytes; None is null.

    Raises UsageError with the row for what is no text, and DataError with the row and the byte for bytes that are not UTF-8, whatever they are
    cut into: the same as in a file.
    """
    if is_arrow(texts):
        values = of_arrow(texts)
    else:
        values = binary.from_list(of_text(text, row) for row, text in enumerate(rows(texts, FORMS, (SINGLE, ONE))))
    if not binary.is_utf8(values):
        refuse_others(values)
    return values


def of_text(text: Any, row: int) -> bytes | None:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    if isinstance(text, bytes | None):
        return text
    raise UsageError(f"row {row} is {shown(text)}; a text is a str, bytes or None")


def of_arrow(texts: Any) -> pa.LargeBinaryArray:
    """An Arrow array of strings or bytes, however they are stored."""
    array = chunked(texts)
    if pa.types.is_null(array.type):
        return pa.nulls(len(array), binary.TYPE)
    with reading("an Arrow array", str(array.type)):
        parts = [nested.plain(part) for part in array.chunks] or [nested.plain(pa.array([], array.type))]
    if not pa.types.is_large_binary(parts[0].type):
        raise UsageError(f"{FORMS}; here came an Arrow array of {array.type}")
    return parts[0] if len(parts) == 1 else pa.concat_arrays(parts)


def refuse_others(values: pa.LargeBinaryArray) -> None:
    """Raises DataError for the first row that is not UTF-8, were it not for lone surrogates."""
    for row, raw in enumerate(values.to_pylist()):
        if raw is not None and (at := binary.utf8_fault(raw)) is not None:
            raise DataError(f"row {row}: a text that is not UTF-8 at its byte {at} (0x{raw[at]:02x}): decode it from what it is in, or leave it out")


def token_ids(batch: Any) -> pa.LargeBinaryArray:
    """Lists of token ids as int64 in little endian. Raises UsageError with the row for what is none: text, bits, a set, which has no order."""
    try:
        if not isinstance(batch, tuple) and not is_arrow(batch):
            batch = rows(batch, "a batch is a list of rows")
            refuse_unordered(batch)
        ids, offsets = ragged(batch, "row", strict=True)
    except UsageError as error:
        raise UsageError(f"{error}; {TOKENS}") from None
    begin, end = int(offsets[0]), int(offsets[-1])
    return binary.build((offsets - begin) * 8, np.ascontiguousarray(ids[begin:end], "<u8"))


def refuse_unordered(batch: Iterable[Any]) -> None:
    for row, one in enumerate(batch):
        listed = is_arrow(one) or (isinstance(one, Sequence | np.ndarray) and not isinstance(one, SINGLE))
        if not listed or (isinstance(one, np.ndarray) and one.dtype == bool):
            raise UsageError(f"row {row} is {shown(one)}")
