"""The id column of results, from ids as JSON text: of the type of the original ids, null where a row has none."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from likewise.items import binary
from likewise.items.words import WHOLE, Hasher, without_fractions
from likewise.items.wrapped import wrapped

#: So many ids are converted one by one; and the columns of ids that are all whole numbers below 2^63, or all strings.
FEW, ONE_TYPE = 64, {int: pa.int64(), str: pa.string()}
#: Bytes of ids from which on their texts get 64-bit offsets.
LARGE = 2**31
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
    large = len(binary.used(ids)) >= LARGE
    for way in _ways(ids):
        if (values := WAYS[way](ids)) is not None:
            return IdColumn(_text(values, large=large))
    whole = _whole_numbers(ids)
    return _texts(ids, large=large, whole=whole, quoted=ambiguous(ids, whole=whole))


class IdFacts(NamedTuple):
    """Facts about ids, which decide the type of their column. Those about several blocks are merged, in any order."""

    number: int = 0
    ways: frozenset[str] = frozenset()  # those of `WAYS` that hold all the ids
    whole: bool = True  # no number has a fraction
    size: int = 0  # bytes of the ids

    def merged(self, other: IdFacts) -> IdFacts:
        """The facts about the ids of both."""
        if not self.number or not other.number:
            return self if self.number else other
        return IdFacts(self.number + other.number, self.ways & other.ways, self.whole and other.whole, self.size + other.size)


def id_facts(ids: pa.LargeBinaryArray) -> IdFacts:
    """Facts about ids, JSON text without null."""
    if not len(ids):
        return IdFacts()
    ways = frozenset(way for way in _ways(ids) if WAYS[way](ids) is not None)
    return IdFacts(len(ids), ways, _whole_numbers(ids), len(binary.used(ids)))


def block_of(ids: pa.LargeBinaryArray, facts: IdFacts, *, quoted: bool) -> IdColumn:
    """Some of the ids that ``facts`` are about, JSON text or null, in the column of all. quoted: these are `ambiguous`."""
    large = facts.size >= LARGE
    way = next((way for way in WAYS if way in facts.ways), None)
    some = ids.drop_null()
    values = None if way is None else WAYS[way](some)
    column = _texts(some, large=large, whole=facts.whole, quoted=quoted) if values is None else IdColumn(_text(values, large=large))
    return column.filled(ids.is_valid().to_numpy(zero_copy_only=False)) if ids.null_count else column


def ambiguous(ids: pa.LargeBinaryArray, *, whole: bool) -> bool:
    """True if two different ids have the same plain text, such as 7 and "7". whole: `IdFacts.whole` of all ids."""
    plain, own = plain_words(ids, whole=whole)
    return len(np.unique(plain)) < len(np.unique(own))


def plain_words(ids: pa.LargeBinaryArray, *, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    """Words of the plain texts of ids, and of the ids: uint64[n] each."""
    ids = without_fractions(ids) if whole else ids
    hasher = Hasher(0)  # one key for all runs: a collision, which leads to JSON text, must not depend on the run
    return hasher.strings(_plain_texts(ids)), hasher.strings(ids)


def _texts(ids: pa.LargeBinaryArray, *, large: bool, whole: bool, quoted: bool) -> IdColumn:
    """Ids of several types as texts. whole: no number of the column has a fraction, so 1 stands for 1.0."""
    ids = without_fractions(ids) if whole else ids
    return IdColumn(_text(ids, large=large), ids, QUOTED) if quoted else IdColumn(_text(_plain_texts(ids), large=large), ids, PLAIN)


def _plain_texts(ids: pa.LargeBinaryArray) -> pa.LargeBinaryArray:
    return binary.from_list(_plain(text) for text in ids.to_pylist())


def _plain(text: bytes) -> bytes:
    """An id as text: a string without its quotes, lone surrogates in it escaped; anything else as JSON text."""
    return json.loads(text).encode("utf-8", "backslashreplace") if text.startswith(b'"') else text


def _whole_numbers(ids: pa.LargeBinaryArray) -> bool:
    """True if no number has a fraction. A column with a missing id holds floats in some tables and whole numbers in others."""
    numbers = ids.filter(pc.match_substring_regex(ids, "^[-0-9]"))
    return bool(pc.all(pc.match_substring_regex(numbers, rf"{WHOLE}|^-?[0-9]+$"), min_count=0).as_py())


def _text(values: pa.Array, *, large: bool) -> pa.Array:
    """Texts as a string column, with 64-bit offsets only if 32 bits do not suffice for all ids; other values as they are."""
    return values.cast(pa.large_string() if large else pa.string()) if pa.types.is_large_binary(values.type) else values


def _strings(ids: pa.LargeBinaryArray) -> pa.Array | None:
    """Ids that are all strings, as texts; None if Arrow cannot hold them."""
    if not (binary.used(ids) == 0x5C).any():  # no escape: the id is the bytes between the quotes
        return pc.binary_slice(ids, 1, -1)
    try:
        return binary.from_list(json.loads(text).encode() for text in ids.to_pylist())
    except UnicodeEncodeError:  # a lone surrogate, which an Arrow string cannot hold
        return None


def _whole(ids: pa.LargeBinaryArray, kind: pa.DataType) -> pa.Array | None:
    """Numbers as int64 or uint64; None if it does not hold them all."""
    try:
        return ids.cast(pa.large_string()).cast(kind)
    except pa.ArrowInvalid:
        return None


def _without_fractions(ids: pa.LargeBinaryArray, kind: pa.DataType) -> pa.Array | None:
    """Numbers as int64 or uint64, with 1 for 1.0; None if one of them has a fraction."""
    return _whole(without_fractions(ids), kind) if _whole_numbers(ids) else None


def _doubles(ids: pa.LargeBinaryArray) -> pa.Array | None:
    """Numbers as double; None if one of them is written as a whole number, or is not finite."""
    text = ids.cast(pa.large_string())
    if not pc.all(pc.match_substring_regex(text, "[.eE]"), min_count=0).as_py():
        return None
    numbers = text.cast(pa.float64())
    return numbers if pc.all(pc.is_finite(numbers), min_count=0).as_py() else None


def _booleans(ids: pa.LargeBinaryArray) -> pa.Array:
    """Ids that are all true or false."""
    offsets, data = binary.parts(ids)
    return wrapped(data[offsets[:-1]] == ord("t"))


def _ways(ids: pa.LargeBinaryArray) -> tuple[str, ...]:
    """The ways that the first bytes of ids allow, none of them null, in order."""
    offsets, data = binary.parts(ids)
    kinds = np.unique(_KIND[data[offsets[:-1]]])  # JSON text is never empty
    return _OF_KIND[int(kinds[0])] if len(kinds) == 1 else ()


#: Ways to make a column of one type of ids; None if it does not hold them all. The first one that does is taken.
WAYS: dict[str, Callable[[pa.LargeBinaryArray], pa.Array | None]] = {
    "string": _strings,
    "int64": partial(_whole, kind=pa.int64()),
    "uint64": partial(_whole, kind=pa.uint64()),
    "whole int64": partial(_without_fractions, kind=pa.int64()),
    "whole uint64": partial(_without_fractions, kind=pa.uint64()),
    "double": _doubles,
    "bool": _booleans,
}
#: First byte of a JSON text -> its type, as an index of _OF_KIND: the ways of each type.
_KIND = np.zeros(256, np.uint8)
_KIND[list(b'"')] = 1
_KIND[list(b"-0123456789")] = 2
_KIND[list(b"tf")] = 3
_OF_KIND = ((), ("string",), tuple(WAYS)[1:-1], ("bool",))
