"""Ids: what the user calls an item. Inside, JSON text ('7', '"a"'); outside, a column of the type that they came in."""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.io import binary
from likewise.items.words import Hasher

MIXED = "JSON text, since the ids have no single column type"
PARTLY = "JSON text, with the position in place of the id where a row has none"

_QUOTE = pa.scalar(b'"', binary.TYPE)


def as_json(value: Any) -> bytes:
    """One value as JSON text: compact, UTF-8, a lone surrogate as its escape. What JSON lacks (dates, ...) becomes a string."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode("utf-8", "backslashreplace")


def from_json(text: str | bytes) -> Any:
    """The value of a JSON text. What Python will not make one of stays the text that it is: no JSON, brackets too deep, a number too long."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def compact(text: bytes) -> bytes:
    """A JSON text as `as_json` writes its value, so that white space and escapes make no other id; as it is where Python makes no value of it."""
    try:
        return as_json(json.loads(text.decode("utf-8", "surrogatepass")))
    except (ValueError, RecursionError):
        return text


def to_json(values: pa.Array) -> pa.LargeBinaryArray:
    """A column's values as JSON text, null where there is none; NaN counts as none, since pandas writes it for a missing id."""
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
    data = binary.used(values)
    if not ((data < 0x20) | (data == 0x22) | (data == 0x5C)).any() and binary.is_utf8(values):
        return pc.binary_join_element_wise(_QUOTE, values, _QUOTE, binary.EMPTY)
    return binary.from_list(None if raw is None else as_json(_readable(raw)) for raw in values.to_pylist())


def _readable(raw: bytes) -> str:
    """Bytes that are no text (a digest as id, say) stand in hexadecimal."""
    return raw.decode("utf-8", "surrogatepass") if binary.utf8_fault(raw) is None else "0x" + raw.hex()


def id_column(ids: pa.ChunkedArray | pa.LargeBinaryArray, positions: np.ndarray) -> tuple[pa.Array, str | None]:
    """The id column as users get it, and what must be said of it, if anything.

    ``ids`` is JSON text, null where a row has no id. Without any id the positions (int64) stand in. Ids of one type
    give a column of it: int64 (uint64 if need be), string, bool or double. Any other mix stays JSON text: no int
    becomes a float, no number a string.
    """
    if isinstance(ids, pa.ChunkedArray):
        ids = pa.concat_arrays(ids.chunks) if ids.num_chunks else pa.array([], binary.TYPE)
    if ids.null_count == len(ids):
        return pa.array(positions, pa.int64()), None
    if ids.null_count:
        return _text(pc.coalesce(ids, to_json(pa.array(positions, pa.int64())))), PARTLY
    offsets, data = binary.parts(ids)
    kinds = np.unique(_KIND[data[offsets[:-1]]])  # JSON text is never empty
    column = _COLUMNS[int(kinds[0])](ids) if len(kinds) == 1 else None
    return (column, None) if column is not None else (_text(ids), MIXED)


def _text(values: pa.LargeBinaryArray) -> pa.Array:
    """As a string column: with 64-bit offsets only where 32 bits do not reach."""
    return values.cast(pa.string() if len(binary.used(values)) < 2**31 else pa.large_string())


def _strings(ids: pa.LargeBinaryArray) -> pa.Array | None:
    if not (binary.used(ids) == 0x5C).any():  # no escape: what stands between the quotes is the id
        return _text(pc.binary_slice(ids, 1, -1))
    try:
        return _text(binary.from_list(json.loads(text).encode() for text in ids.to_pylist()))
    except UnicodeEncodeError:  # a lone surrogate: no Arrow string can hold it, JSON text can
        return None


def _numbers(ids: pa.LargeBinaryArray) -> pa.Array | None:
    text = ids.cast(pa.large_string())
    for kind in (pa.int64(), pa.uint64()):
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            continue
    if not pc.all(pc.match_substring_regex(text, "[.eE]")).as_py():
        return None
    numbers = text.cast(pa.float64())
    return numbers if pc.all(pc.is_finite(numbers)).as_py() else None


def _booleans(ids: pa.LargeBinaryArray) -> pa.Array:
    offsets, data = binary.parts(ids)
    return pa.array(data[offsets[:-1]] == ord("t"))


#: First byte of a JSON text -> what it is, as an index of _COLUMNS.
_KIND = np.zeros(256, np.uint8)
_KIND[list(b'"')] = 1
_KIND[list(b"-0123456789")] = 2
_KIND[list(b"tf")] = 3
_COLUMNS: tuple[Callable[[pa.LargeBinaryArray], pa.Array | None], ...] = (lambda _: None, _strings, _numbers, _booleans)


def repeated(ids: pa.Array) -> tuple[int, list[str]]:
    """(how many ids occurred before, up to three such ids) of an id column.

    Arrow would count them by a hash that has no key: ids that were made to share one take hours. So texts are told apart by keyed words, and
    compared where these are equal.
    """
    ids = ids.drop_null()
    if not (pa.types.is_string(ids.type) or pa.types.is_large_string(ids.type)):
        values = ids.to_numpy(zero_copy_only=False)
        if (values[1:] > values[:-1]).all():  # numbered through, as most are: nothing to sort
            return 0, []
        values = np.sort(values)
        again = values[1:][values[1:] == values[:-1]]
        return len(again), [str(value) for value in np.unique(again)[:3]]
    words = Hasher(secrets.randbits(64)).strings(ids.cast(binary.TYPE))
    order = np.argsort(words, kind="stable")
    before, after = order[:-1], order[1:]
    alike = words[before] == words[after]
    before, after = before[alike], after[alike]
    same = pc.equal(ids.take(before), ids.take(after)).to_numpy(zero_copy_only=False)
    first = np.setdiff1d(before[same], after[same])
    return int(np.count_nonzero(same)), ids.take(first[:3]).to_pylist()
