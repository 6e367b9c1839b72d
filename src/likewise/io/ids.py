"""Ids: the user's names of items. Internally an id is JSON text ('7', '"a"'); `io.idcolumn` makes the column of results."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.items import binary
from likewise.items.words import Hasher
from likewise.items.wrapped import wrapped

_QUOTE = binary.value(b'"')


def as_json(value: Any) -> bytes:
    """One value as JSON text: compact, UTF-8, lone surrogates escaped. Types that JSON lacks (dates, ...) become strings."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "backslashreplace")


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. A text that Python cannot convert is returned unchanged: not JSON, brackets too deep, a number too long."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def compact(text: bytes) -> bytes:
    """A JSON text as `as_json` writes its value, so that white space and escapes do not change an id; unchanged if Python cannot convert it."""
    try:
        return as_json(json.loads(text.decode("utf-8", "surrogatepass")))
    except (ValueError, RecursionError):
        return text


def to_json(values: pa.Array) -> pa.LargeBinaryArray:
    """A column's values as JSON text, null for missing values; NaN counts as missing, because pandas writes it for a missing id."""
    kind = values.type
    if pa.types.is_large_binary(kind):
        return _quoted(values)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind) or pa.types.is_duration(kind):
        return values.cast(pa.large_string()).cast(binary.TYPE)
    if pa.types.is_timestamp(kind):
        return _quoted(pc.replace_substring(values.cast(pa.large_string()), " ", "T").cast(binary.TYPE))
    if pa.types.is_date(kind) or pa.types.is_time(kind):
        return _quoted(values.cast(pa.large_string()).cast(binary.TYPE))
    if isinstance(kind, pa.JsonType):
        return binary.from_list(None if text in (None, "null") else as_json(from_json(text)) for text in values.storage.to_pylist())
    missing = (lambda v: v is None or not math.isfinite(v)) if pa.types.is_floating(kind) else (lambda v: v is None)
    return binary.from_list(None if missing(v) else as_json(v) for v in values.to_pylist())


def _quoted(values: pa.LargeBinaryArray) -> pa.LargeBinaryArray:
    """Byte strings as JSON strings."""
    data = binary.used(values)
    if not ((data < 0x20) | (data == 0x22) | (data == 0x5C)).any() and binary.is_utf8(values):
        return pc.binary_join_element_wise(_QUOTE, values, _QUOTE, binary.EMPTY)
    return binary.from_list(None if raw is None else as_json(_readable(raw)) for raw in values.to_pylist())


def _readable(raw: bytes) -> str:
    """Bytes as text; in hexadecimal if they are not UTF-8 (for example a digest as id)."""
    return raw.decode("utf-8", "surrogatepass") if binary.utf8_fault(raw) is None else "0x" + raw.hex()


def repeated(ids: pa.Array) -> tuple[int, list[str]]:
    """(the number of distinct ids that occur more than once, up to three of them) of an id column.

    Arrow would count them with an unkeyed hash: ids that were made to collide take hours. So texts are sorted by keyed words, and compared where
    these are equal.
    """
    ids = ids.drop_null()
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)):
        values = ids.to_numpy(zero_copy_only=False)
        if (values[1:] > values[:-1]).all():  # ascending, as most columns are: nothing to sort
            return 0, []
        values = np.sort(values)
        again = np.unique(values[1:][values[1:] == values[:-1]])
        return len(again), [str(value) for value in again[:3]]
    words = Hasher(int.from_bytes(os.urandom(8))).strings(ids.cast(binary.TYPE))
    order = np.argsort(words, kind="stable")
    before, after = order[:-1], order[1:]
    equal_words = words[before] == words[after]
    before, after = before[equal_words], after[equal_words]
    same = pc.equal(ids.take(wrapped(before)), ids.take(wrapped(after))).to_numpy(zero_copy_only=False)
    first = np.setdiff1d(before[same], after[same])
    return len(first), ids.take(wrapped(first[:3])).to_pylist()
