"""The id column of results, from ids as JSON text: of the type of the original ids, null where a row has none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.items import binary
from likewise.items.words import WHOLE, Hasher, without_fractions
from likewise.items.wrapped import wrapped

#: So many ids are converted one by one; and the columns of ids that are all whole numbers below 2^63, or all strings.
FEW, ONE_TYPE = 64, {int: pa.int64(), str: pa.string()}
#: Notes on columns with ids of several types (metadata ``likewise.ids`` of the written tables).
PLAIN = "text, because the ids have several types"
QUOTED = "JSON text, because ids of different types would have the same text"


class IdColumn(NamedTuple):
    """Ids as users see them."""

    values: pa.Array  # null where a row has no id
    json: pa.LargeBinaryArray | None = None  # each id as JSON text, if ``values`` are texts of ids of several types
    note: str | None = None  # PLAIN or QUOTED in that case

    def filled(self, there: np.ndarray) -> IdColumn:
        """The same ids, spread over the rows where ``there`` (bool[n]) is true; null in the others."""
        at = wrapped(np.cumsum(there) - 1, ~there)
        return IdColumn(self.values.take(at), self.json if self.json is None else self.json.take(at), self.note)


def column_of(ids: Sequence[bytes]) -> IdColumn | None:
    """`id_column` of a list of ids, none of them missing, quickly for a few: arrays cost more than a few ids."""
    if len(ids) <= FEW:
        values = list(map(json.loads, ids))
        types = {*map(type, values)}
        if len(types) == 1 and (kind := ONE_TYPE.get(types.pop())):
            with suppress(OverflowError, UnicodeEncodeError):
                return IdColumn(pa.array(values, kind))
    return id_column(binary.from_list(ids))


def id_column(ids: pa.ChunkedArray | pa.LargeBinaryArray) -> IdColumn | None:
    """The column of these ids, which are JSON text or null; None if no row has an id.

    Ids of one type give a column of it: int64 (uint64 if needed), string, bool or double; doubles that are all whole numbers count as such. Any other
    mix gives their plain text, or their JSON text if two different ids have the same plain text, such as 7 and "7".
    """
    if isinstance(ids, pa.ChunkedArray):
        ids = pa.concat_arrays(ids.chunks) if ids.num_chunks else binary.from_list([])
    if ids.null_count == len(ids):
        return None
    if ids.null_count:
        found = id_column(ids.drop_null())
        return None if found is None else found.filled(ids.is_valid().to_numpy(zero_copy_only=False))
    offsets, data = binary.parts(ids)
    kinds = np.unique(_KIND[data[offsets[:-1]]])  # JSON text is never empty
    if len(kinds) == 1 and (column := _COLUMNS[int(kinds[0])](ids)) is not None:
        return IdColumn(column)
    ids = _without_fractions(ids)
    plain = binary.from_list(_plain(text) for text in ids.to_pylist())
    hasher = Hasher(0)  # one key for all runs: a collision, which leads to JSON text, must not depend on the run
    if len(np.unique(hasher.strings(plain))) < len(np.unique(hasher.strings(ids))):
        return IdColumn(_text(ids), ids, QUOTED)
    return IdColumn(_text(plain), ids, PLAIN)


def _plain(text: bytes) -> bytes:
    """An id as text: a string without its quotes, lone surrogates in it escaped; anything else as JSON text."""
    return json.loads(text).encode("utf-8", "backslashreplace") if text.startswith(b'"') else text


def _without_fractions(ids: pa.LargeBinaryArray) -> pa.LargeBinaryArray:
    """The ids with 1 for 1.0, unless other numbers have fractions.

    A column with a missing id holds floats in some tables and whole numbers in others.
    """
    numbers = ids.filter(pc.match_substring_regex(ids, "^[-0-9]"))
    return without_fractions(ids) if pc.all(pc.match_substring_regex(numbers, rf"{WHOLE}|^-?[0-9]+$")).as_py() else ids


def _text(values: pa.LargeBinaryArray) -> pa.Array:
    """A string column, with 64-bit offsets only if 32 bits do not suffice."""
    return values.cast(pa.string() if len(binary.used(values)) < 2**31 else pa.large_string())


def _strings(ids: pa.LargeBinaryArray) -> pa.Array | None:
    """Ids that are all strings, as a string column; None if Arrow cannot hold them."""
    if not (binary.used(ids) == 0x5C).any():  # no escape: the id is the bytes between the quotes
        return _text(pc.binary_slice(ids, 1, -1))
    try:
        return _text(binary.from_list(json.loads(text).encode() for text in ids.to_pylist()))
    except UnicodeEncodeError:  # a lone surrogate, which an Arrow string cannot hold
        return None


def _numbers(ids: pa.LargeBinaryArray) -> pa.Array | None:
    """Ids that are all numbers, as int64, uint64 or double; None if no type holds them all."""
    if (whole := _whole(ids)) is not None or (whole := _whole(_without_fractions(ids))) is not None:
        return whole
    text = ids.cast(pa.large_string())
    if not pc.all(pc.match_substring_regex(text, "[.eE]")).as_py():
        return None
    numbers = text.cast(pa.float64())
    return numbers if pc.all(pc.is_finite(numbers)).as_py() else None


def _whole(ids: pa.LargeBinaryArray) -> pa.Array | None:
    """Numbers as int64 or uint64; None if neither holds them all."""
    text = ids.cast(pa.large_string())
    for kind in (pa.int64(), pa.uint64()):
        try:
            return text.cast(kind)
        except pa.ArrowInvalid:
            continue
    return None


def _booleans(ids: pa.LargeBinaryArray) -> pa.Array:
    """Ids that are all true or false."""
    offsets, data = binary.parts(ids)
    return wrapped(data[offsets[:-1]] == ord("t"))


#: First byte of a JSON text -> its type, as an index of _COLUMNS.
_KIND = np.zeros(256, np.uint8)
_KIND[list(b'"')] = 1
_KIND[list(b"-0123456789")] = 2
_KIND[list(b"tf")] = 3
_COLUMNS: tuple[Callable[[pa.LargeBinaryArray], pa.Array | None], ...] = (lambda _: None, _strings, _numbers, _booleans)
