"""JSON values as rows of items: lists of numbers, elements and weights, sparse vectors, codes."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from likewise.items import payloads, unusable
from likewise.items.elements import is_missing, whole
from likewise.items.payloads import FLAT, WEIGHTED, Fault, Rows, ends
from likewise.items.sparse_names import LIST_AMONG_SPARSE, SPARSE, SPARSE_AMONG_LISTS, looks_sparse
from likewise.items.words import Hasher, is_word
from likewise.records import Want

Texts = Sequence[bytes | None]
#: A code as a string.
HEXADECIMAL = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2})*)")


class Sparse(msgspec.Struct):
    indices: list[int]
    values: list[float]
    dim: int | None = None


class Pair(msgspec.Struct):
    element: int | str
    weight: float


def rows(parts: Sequence[Texts], want: Want) -> Rows:
    """What is compared, from the JSON texts of its parts, None where there is none. A value of another type is none, as is a list that holds one."""
    return payloads.checked(payloads.compared([_with_others(texts, want) for texts in parts], want.kind), want)


def _with_others(texts: Texts, want: Want) -> Rows:
    """The rows of a part, with its other facts."""
    found = _READ[want.kind](texts, want)
    found.other = unusable.of_texts(texts, found.gone)
    return found


def place(data: bytes, parts: Sequence[tuple[int, int]], item: int) -> int:
    """Where in ``data`` the number ``item`` of a vector stands, whose parts are numbers and lists of numbers at data[begin:end]."""
    for begin, end in parts:
        for number in data[begin:end].removeprefix(b"[").removesuffix(b"]").split(b","):
            begin += data[begin : begin + 1] == b"["
            if item == 0 and number.strip():
                return begin + len(number) - len(number.lstrip())
            item -= bool(number.strip())
            begin += len(number) + 1
    return parts[0][0]


def _values(texts: Texts, kinds: Any, other: Callable[[Any], Any]) -> list[Any]:
    """The values, decoded as ``kinds`` in C; what that refuses goes to ``other``, which gives a value of them, None, or a Fault."""
    decode = msgspec.json.Decoder(kinds).decode
    values: list[Any] = []
    for text in texts:
        if text is None:
            values.append(None)
            continue
        try:
            values.append(decode(text))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # the second for lone surrogates
            values.append(_otherwise(text, other))
    return values


def _otherwise(text: bytes, other: Callable[[Any], Any]) -> Any:
    try:
        value = json.loads(text.decode("utf-8", "surrogatepass"))
    except json.JSONDecodeError as error:
        return Fault(f"is no JSON: {error}")
    except RecursionError:
        return Fault("is no value of this kind; its brackets nest too deep to tell more")
    except ValueError:  # Python refuses to read a whole number of so many digits, msgspec too
        return Fault("holds a whole number of thousands of digits; give it as a string")
    return other(value)


def _rows(values: Sequence[Any], items: Sequence[Sequence[Any]], laid: Callable[[list[Any]], Any]) -> Rows:
    """Rows of ``items``; a value that is None or a Fault has none. ``laid`` makes an array of all items."""
    gone = np.array([value is None for value in values], bool)
    faults = {row: value for row, value in enumerate(values) if isinstance(value, Fault)}
    return Rows(gone, ends([len(each) for each in items]), laid(list(chain.from_iterable(items))), faults=faults)


def _listed(values: Sequence[Any]) -> list[Any]:
    """The values that are lists; nothing in place of the others."""
    return [value if isinstance(value, list) else () for value in values]


def as_float(number: Any) -> float | None:
    """None for what is no number. A whole number beyond the range of float64 becomes an infinity, to be refused as one."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return None
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _floats(value: Any) -> list[float] | None:
    numbers = [as_float(number) for number in value] if isinstance(value, list) else [None]
    return None if None in numbers else numbers  # type: ignore[return-value]


class Thinned(list[Any]):
    """A list without the missing elements that it had."""

    nulls = 0


def _thinned(items: list[Any], element: Callable[[Any], Any] = lambda item: item) -> Thinned:
    found = Thinned(item for item in items if not is_missing(element(item)))
    found.nulls = len(items) - len(found)
    return found


def _nulls(values: Sequence[Any]) -> NDArray[np.int64]:
    return np.array([value.nulls if isinstance(value, Thinned) else 0 for value in values], np.int64)


def _element(value: Any) -> int | str | None:
    """An element: a string or a whole number, 1.0 as 1; None for anything else."""
    return value if isinstance(value, str) else whole(value)


def _vector(texts: Texts, want: Want) -> Rows:
    def other(value: Any) -> Any:
        return Fault(SPARSE_AMONG_LISTS) if looks_sparse(value) else _floats(value if isinstance(value, list) else [value])

    values = [[value] if isinstance(value, float) else value for value in _values(texts, list[float] | float, other)]
    with np.errstate(over="ignore"):
        return _rows(values, _listed(values), lambda flat: np.fromiter(flat, np.float64, len(flat)).astype(payloads.item(want), copy=False))


def _features(texts: Texts, want: Want) -> Rows:
    def other(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        if value and _floats(value) is not None:
            return Fault(FLAT)
        features = [_floats(feature) for feature in value]
        return None if None in features else features

    values = _values(texts, list[list[float]], other)
    sizes = np.array([len(feature) for feature in chain.from_iterable(_listed(values))], np.int64)
    with np.errstate(over="ignore"):
        numbers = np.fromiter(chain.from_iterable(chain.from_iterable(_listed(values))), np.float64, int(sizes.sum())).astype(np.float32)
    return payloads.features(_rows(values, _listed(values), lambda flat: numbers), sizes, numbers)


def _tokens(texts: Texts, want: Want) -> Rows:
    values = _values(texts, list[int], lambda value: None)
    values = [value if isinstance(value, list) and all(is_word(number) for number in value) else None for value in values]
    return _rows(values, _listed(values), lambda flat: np.array([number % 2**64 for number in flat], np.uint64).view(np.int64))


def _elements(texts: Texts, want: Want) -> Rows:
    def other(value: Any) -> Any:
        if isinstance(value, dict):
            return _as_sparse(value)
        if not isinstance(value, list):
            return None
        found = _thinned(value)
        found[:] = map(_element, found)
        return None if None in found else found

    hasher = Hasher(want.seed)
    values = _values(texts, list[int | str] | Sparse, other)
    if vectors := [row for row, value in enumerate(values) if isinstance(value, Sparse)]:
        found = _sparse_rows([values[row] for row in vectors])
        for number, row in enumerate(vectors):
            indices = found.values["index"][found.offsets[number] : found.offsets[number + 1]].tolist()
            values[row] = found.faults.get(number, indices)
    return replace(_rows(values, _listed(values), hasher.listed), nulls=_nulls(values))


def _weighted(texts: Texts, want: Want) -> Rows:
    def other(value: Any) -> Any:
        if isinstance(value, dict):
            pairs = list(value.items())
        elif isinstance(value, list):
            pairs = [(one["element"], one.get("weight")) if isinstance(one, dict) and "element" in one else one for one in value]
        else:
            return None
        if not all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs):
            return None
        found = _thinned(pairs, lambda pair: pair[0])
        found[:] = [(_element(element), as_float(weight)) for element, weight in found]
        return None if any(None in pair for pair in found) else found

    def plain(value: Any) -> Any:
        if isinstance(value, Thinned):
            return value
        if isinstance(value, dict):
            return list(value.items())
        return [(one.element, one.weight) if isinstance(one, Pair) else one for one in value] if isinstance(value, list) else value

    def laid(pairs: list[Any]) -> Any:
        array = np.empty(len(pairs), WEIGHTED)
        array["word"] = Hasher(want.seed).listed([element for element, _ in pairs])
        array["weight"] = [weight for _, weight in pairs]
        return array

    values = [plain(value) for value in _values(texts, dict[str, float] | list[tuple[int | str, float] | Pair], other)]
    return replace(_rows(values, _listed(values), laid), nulls=_nulls(values))


def _as_sparse(value: Any) -> Sparse | None:
    """What JSON cannot say, but Python does: numbers that are too large for the decoder."""
    if not isinstance(value, dict):
        return None
    indices, values, dim = (value.get(name) for name in SPARSE)
    whole = [*indices, 0 if dim is None else dim] if isinstance(indices, list) else [None]
    numbers = _floats(values)
    if numbers is None or not isinstance(indices, list) or not all(isinstance(number, int) and not isinstance(number, bool) for number in whole):
        return None
    return Sparse(indices, numbers, dim)


def _sparse(texts: Texts, want: Want) -> Rows:
    def other(value: Any) -> Any:
        return Fault(LIST_AMONG_SPARSE) if isinstance(value, list) and value and _floats(value) else _as_sparse(value)

    return _sparse_rows(_values(texts, Sparse, other))


def _sparse_rows(values: Sequence[Any]) -> Rows:
    values = [_in_words(value) if isinstance(value, Sparse) else value for value in values]
    there = [value if isinstance(value, Sparse) else Sparse([], []) for value in values]
    indices = _rows(values, [value.indices for value in there], lambda flat: np.array(flat, np.uint64))
    numbers = _rows(values, [value.values for value in there], lambda flat: np.array(flat, np.float64))
    dim = np.array([max(-1, min(value.dim or 0, 2**63 - 1)) for value in there], np.int64)
    return payloads.sparse(indices, numbers, dim, np.array([value.dim is not None for value in there], bool))


def _in_words(vector: Sparse) -> Sparse | Fault:
    if vector.indices and (min(vector.indices) < 0 or not is_word(max(vector.indices))):
        item = next(place for place, index in enumerate(vector.indices) if index < 0 or not is_word(index))
        return Fault(f"index {vector.indices[item]} is out of range; indices go from 0 to 2^64 - 1", item, len(vector.indices))
    return vector


def _code(texts: Texts, want: Want) -> Rows:
    """A list of 0 and 1 (or of bool) is bits; a whole number is a word of 64 bits; a string is bytes in hexadecimal."""
    values = _values(texts, int | str | list[int | bool], lambda value: None)
    codes = [_octets(value) for value in values]
    octets = [code if isinstance(code, bytes) else b"" for code in codes]
    found = payloads.code(_rows(codes, octets, lambda flat: np.frombuffer(bytes(flat), np.uint8)))
    found.width = np.array([len(v) if isinstance(v, list) else 8 * len(code) for v, code in zip(values, octets, strict=True)], np.int64)
    return found


def _octets(value: Any) -> bytes | Fault | None:
    if isinstance(value, list):
        wrong = next((place for place, bit in enumerate(value) if bit not in (0, 1)), None)
        if wrong is not None:
            return Fault(f"{value[wrong]} is no bit; a list is the bits of a code, 0 or 1", wrong, len(value))
        return np.packbits(np.array(value, bool), bitorder="little").tobytes()
    if isinstance(value, int):
        if not is_word(value):
            return Fault(f"{value} is no code; a whole number is one of 64 bits, -2^63 to 2^64 - 1; give longer ones in hexadecimal, as a string")
        return (value % 2**64).to_bytes(8, "little")
    if isinstance(value, str):
        found = HEXADECIMAL.fullmatch(value)  # bytes.fromhex alone would pass over white space
        return bytes.fromhex(found[1]) if found else Fault(f"{value!r:.40} are no bytes in hexadecimal, two digits each")
    return value


_READ: dict[str, Callable[[Texts, Want], Rows]] = {
    "tokens": _tokens,
    "elements": _elements,
    "weighted": _weighted,
    "vector": _vector,
    "sparse": _sparse,
    "features": _features,
    "code": _code,
}
