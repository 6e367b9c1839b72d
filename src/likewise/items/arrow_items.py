"""Arrow columns as rows of items: lists of numbers, elements and weights, sparse vectors, codes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from likewise.items import binary, payloads, unusable
from likewise.items import json_items as decoded
from likewise.items.arrow import as_bytes
from likewise.items.payloads import FLAT, WEIGHTED, Fault, Rows, ends
from likewise.items.sparse_names import LIST_AMONG_SPARSE, SPARSE, SPARSE_AMONG_LISTS, are_parts
from likewise.items.words import Hasher, Words
from likewise.records import Want

LISTS = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, pa.types.is_list_view, pa.types.is_large_list_view)
STRINGS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
BYTES = (*STRINGS, pa.types.is_binary, pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary)
PAIR = ("element", "weight")


def plain(values: pa.Array) -> pa.Array:
    """Without the ways of storing a value: strings and bytes of any kind as large_binary; dictionaries, runs and extension types undone."""
    kind = values.type
    if pa.types.is_dictionary(kind):
        return plain(values.dictionary).take(values.indices)  # widened first, so that what is decoded cannot outgrow 32-bit offsets
    if pa.types.is_run_end_encoded(kind):
        return plain(pc.run_end_decode(values))
    if isinstance(kind, pa.UuidType):
        return binary.from_list(None if value is None else str(value).encode() for value in values.to_pylist())
    if isinstance(kind, pa.BaseExtensionType) and not isinstance(kind, pa.JsonType):
        return plain(values.storage)
    if any(test(kind) for test in BYTES):
        values = values.cast(binary.TYPE)
        values.validate(full=True)  # a damaged Arrow file can hold offsets that lead anywhere
    return values


def is_string(kind: pa.DataType) -> bool:
    """Whether values of this type are strings, and not bytes."""
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return is_string(kind.value_type)
    return any(test(kind) for test in STRINGS)


def is_list(kind: pa.DataType) -> bool:
    return any(test(kind) for test in LISTS)


def rows(columns: Sequence[pa.Array | None], names: Sequence[str], want: Want, n: int, stored: pa.DataType | None) -> Rows:
    """What is compared, from the columns that hold it, or its parts; None where there is no such column. ``stored``: the type of the first."""
    strings = stored is not None and is_string(stored)
    if want.kind in ("sparse", "elements") and are_parts(names):
        there = [(column, name) for column, name in zip(columns, SPARSE, strict=False) if column is not None]
        columns = [pa.StructArray.from_arrays(*zip(*there, strict=True)) if there else None]
    return payloads.checked(payloads.compared([_with_others(column, want, n, strings) for column in columns], want.kind), want)


def fits(kind: pa.DataType, want: Want) -> bool:
    """True if a column of this type can hold the wanted kind, also as JSON text."""
    values = plain(pa.array([], kind))
    if want.kind in ("text", "string"):
        return pa.types.is_large_binary(values.type) or isinstance(values.type, pa.JsonType)
    return _part(values, want, is_string(kind)) is not None


def _with_others(values: pa.Array | None, want: Want, n: int, strings: bool) -> Rows:
    """The rows of a column, with a description of values of other kinds; without a column, rows without a value."""
    found = None if values is None else _part(values, want, strings)
    if found is None:
        found = payloads.nothing(n, payloads.item(want))
    if values is not None and not found.other:
        found.other = unusable.of_column(values, found.gone)
    return found


def _part(values: pa.Array, want: Want, strings: bool) -> Rows | None:
    """None where values are of another type."""
    if isinstance(values.type, pa.JsonType):
        texts = [None if text in (None, "null") else text.encode("utf-8", "surrogatepass") for text in values.storage.to_pylist()]
        return decoded.rows([texts], want)
    if want.kind == "code" and strings and pa.types.is_large_binary(values.type):
        return payloads.hexadecimal(values)
    return _READ[want.kind](values, want)


def listed(values: pa.Array) -> tuple[Rows, pa.Array] | None:
    """Rows whose values are still to be set, and these values as an Arrow array. A list that holds a null is none."""
    if pa.types.is_map(values.type):
        key, value = pa.field(PAIR[0], values.type.key_type), pa.field(PAIR[1], values.type.item_type)
        values = values.cast(pa.list_(pa.struct([key, value])))
    if not is_list(values.type):
        return None
    if (kind := as_bytes(values.type)) != values.type:
        values = values.view(kind)
    values.validate(full=True)
    gone = values.is_null().to_numpy(zero_copy_only=False)
    offsets = ends(pc.list_value_length(values).fill_null(0).to_numpy())
    return Rows(gone, offsets, np.zeros(0)), values.flatten()


def _filled(found: Rows, values: NDArray[Any], *of: pa.Array) -> Rows:
    """``found`` with these values. Where one of the arrays that they come from has a null, the row has no value."""
    for array in of:
        if array.null_count:
            holes = ends(array.is_null().to_numpy(zero_copy_only=False))
            found.gone = found.gone | (np.diff(holes[found.offsets]) > 0)
    found.values = values
    return found


def _numbers(values: pa.Array, dtype: Any) -> NDArray[Any] | None:
    """Zeros in place of nulls; None where these are no numbers."""
    values = plain(values)
    if pa.types.is_null(values.type):  # of lists that are all empty
        return np.zeros(len(values), dtype or np.int64)
    if pa.types.is_decimal(values.type):
        values = values.cast(pa.float64(), safe=False)
    if not pa.types.is_integer(values.type) and not pa.types.is_floating(values.type):
        return None
    array = values.to_numpy(zero_copy_only=False)
    if values.null_count:
        array = np.zeros(len(values), values.type.to_pandas_dtype())
        there = values.is_valid().to_numpy(zero_copy_only=False)
        array[there] = values.drop_null().to_numpy(zero_copy_only=False)
    with np.errstate(over="ignore"):
        return array.astype(dtype, copy=False) if dtype else array


def _integers(values: pa.Array) -> NDArray[np.integer] | None:
    return _numbers(values, None) if pa.types.is_integer(values.type) or pa.types.is_null(values.type) else None


#: In place of a mask in which nothing is true.
NONE = np.zeros(0, bool)


class Elements(NamedTuple):
    """Elements as words, with arbitrary words for missing and unusable ones."""

    words: Words
    missing: NDArray[np.bool_] = NONE  # null or NaN
    wrong: NDArray[np.bool_] = NONE  # numbers with fractions, and infinite ones


def _words(values: pa.Array, hasher: Hasher) -> Elements | None:
    """The elements of an array; None if its type holds none."""
    if pa.types.is_dictionary(values.type):
        if (each := _words(values.dictionary, hasher)) is None:
            return None
        at = values.indices.fill_null(len(each.words)).to_numpy(zero_copy_only=False)
        missing, wrong = (mask if len(mask) else np.zeros(len(each.words), bool) for mask in (each.missing, each.wrong))
        return Elements(np.append(each.words, np.uint64(0))[at], np.append(missing, True)[at], np.append(wrong, False)[at])
    values = plain(values)
    null = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else NONE
    if pa.types.is_large_binary(values.type):
        return Elements(hasher.strings(values), null)
    if pa.types.is_integer(values.type) or pa.types.is_null(values.type):
        return Elements(hasher.integers(_numbers(values, None)), null)  # type: ignore[arg-type]
    if pa.types.is_decimal(values.type):
        numbers = [0 if value is None else value for value in values.to_pylist()]
        wrong = np.array([value != int(value) for value in numbers], bool)
        return Elements(hasher.listed([int(value) for value in numbers]), null, wrong)
    if pa.types.is_floating(values.type):
        return _of_floats(_numbers(values, np.float64), null, hasher)  # type: ignore[arg-type]
    return None


def _of_floats(numbers: NDArray[np.float64], null: NDArray[np.bool_], hasher: Hasher) -> Elements:
    """1.0 is the element 1, and NaN a missing one."""
    missing = np.isnan(numbers) | (null if len(null) else False)
    with np.errstate(invalid="ignore"):
        wrong = ~missing & ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
    numbers = np.where(missing | wrong, 0.0, numbers)
    large = np.abs(numbers) >= 2.0**63
    words = hasher.integers(np.where(large, 0.0, numbers).astype(np.int64))
    words[large] = hasher.listed([int(number) for number in numbers[large].tolist()])
    return Elements(words, missing, wrong)


def _without(found: Rows, wrong: NDArray[np.bool_]) -> Rows:
    """``found`` without a value in each row that holds a wrong item."""
    if wrong.any():
        found.gone = found.gone | (np.diff(ends(wrong)[found.offsets]) > 0)
    return found


def _tokens(values: pa.Array, want: Want) -> Rows | None:
    if (lists := listed(values)) is None or (tokens := _integers(lists[1])) is None:
        return None
    return _filled(lists[0], tokens.astype(np.int64, copy=False), lists[1])  # above 2^63 they wrap: still one number for each token


def _elements(values: pa.Array, want: Want) -> Rows | None:
    hasher = Hasher(want.seed)
    if pa.types.is_struct(values.type):
        found = _sparse(values, want)
        return None if found is None else payloads.positions(found, hasher.integers)
    if (lists := listed(values)) is None or (elements := _words(lists[1], hasher)) is None:
        return None
    found = _without(lists[0], elements.wrong)
    found.values = elements.words
    return found.thinned(elements.missing)


def _weighted(values: pa.Array, want: Want) -> Rows | None:
    """A map, or a list of structs: with the fields element and weight, or with two fields."""
    if (lists := listed(values)) is None or not pa.types.is_struct(lists[1].type):
        return None
    found, flat = lists
    fields = flat.type.names
    if not set(PAIR) <= set(fields) and len(fields) != 2:
        return None
    element, weight = (pc.struct_field(flat, [fields.index(name) if set(PAIR) <= set(fields) else place]) for place, name in enumerate(PAIR))
    elements, weights = _words(element, Hasher(want.seed)), _numbers(weight, np.float64)
    if elements is None or weights is None:
        return None
    pairs = np.empty(len(weights), WEIGHTED)
    pairs["word"], pairs["weight"] = elements.words, weights
    return _without(_filled(found, pairs, weight), elements.wrong).thinned(elements.missing)


def _vector(values: pa.Array, want: Want) -> Rows | None:
    """A list of numbers, or a number."""
    if pa.types.is_struct(values.type) and set(SPARSE[:2]) <= set(values.type.names):
        return _refused(values, want, SPARSE_AMONG_LISTS)
    lists = listed(values) or (Rows(np.zeros(len(values), bool), np.arange(len(values) + 1), np.zeros(0)), values)
    numbers = _numbers(lists[1], payloads.item(want))
    return None if numbers is None else _filled(lists[0], numbers, lists[1])


def _features(values: pa.Array, want: Want) -> Rows | None:
    """A list of lists of numbers."""
    if (outer := listed(values)) is None:
        return None
    found, flat = outer
    flat = plain(flat)
    if pa.types.is_null(flat.type):  # of lists that are empty, or hold nulls alone
        return Rows(found.gone | (found.sizes > 0), np.zeros(len(found) + 1, np.int64), np.zeros(0, np.float32))
    if (inner := listed(flat)) is None:
        return None if _numbers(flat, np.float32) is None else _refused(values, want, FLAT)
    each, numbers = inner
    if (floats := _numbers(numbers, np.float32)) is None:
        return None
    holes = found.gone | (np.diff(ends(flat.is_null().to_numpy(zero_copy_only=False))[found.offsets]) > 0)
    if numbers.null_count:
        hollow = np.diff(ends(numbers.is_null().to_numpy(zero_copy_only=False))[each.offsets]) > 0
        holes |= np.diff(ends(hollow)[found.offsets]) > 0
    if holes.any():  # a list that holds a null is none, whatever else it holds
        kept = np.repeat(~holes, found.sizes)
        floats = floats[np.repeat(kept, each.sizes)]
        each, found = Rows(each.gone[kept], ends(each.sizes[kept]), floats), Rows(holes, ends(np.where(holes, 0, found.sizes)), floats)
    return payloads.features(found, each.sizes, floats)


def _refused(values: pa.Array, want: Want, why: str) -> Rows:
    """Rows whose values are all refused, but for nulls."""
    found = payloads.nothing(len(values), payloads.item(want))
    found.gone = values.is_null().to_numpy(zero_copy_only=False)
    found.faults = dict.fromkeys(np.flatnonzero(~found.gone).tolist(), Fault(why))
    return found


def _sparse(values: pa.Array, want: Want) -> Rows | None:
    """A struct of a list of indices, a list of values, and the dimension."""
    if is_list(values.type) and (pa.types.is_integer(values.type.value_type) or pa.types.is_floating(values.type.value_type)):
        return _refused(values, want, LIST_AMONG_SPARSE)
    if not pa.types.is_struct(values.type) or not set(SPARSE[:2]) <= set(values.type.names):
        return None
    fields = {name: pc.struct_field(values, [values.type.names.index(name)]) for name in SPARSE if name in values.type.names}
    dim = fields.get(SPARSE[2], pa.nulls(len(values), pa.int64()))
    indices, numbers = (listed(fields[name]) for name in SPARSE[:2])
    if indices is None or numbers is None:
        return None
    index, value, size = _integers(indices[1]), _numbers(numbers[1], np.float64), _integers(dim)
    if index is None or value is None or size is None:
        return None
    said = dim.is_valid().to_numpy(zero_copy_only=False)
    return payloads.sparse(_filled(indices[0], index, indices[1]), _filled(numbers[0], value, numbers[1]), size.astype(np.int64), said)


def _code(values: pa.Array, want: Want) -> Rows | None:
    """Bytes; an integer; a list of unsigned integers (packed), of bool, or of 0 and 1."""
    if pa.types.is_large_binary(values.type):
        offsets, data = binary.parts(values)
        found = Rows(values.is_null().to_numpy(zero_copy_only=False), offsets, data)
        return payloads.code(found.without(found.gone))
    lists = listed(values)
    found, flat = lists or (Rows(values.is_null().to_numpy(zero_copy_only=False), np.arange(len(values) + 1), np.zeros(0)), values)
    if lists and pa.types.is_boolean(flat.type):
        return payloads.bits(_filled(found, flat.fill_null(False).to_numpy(zero_copy_only=False), flat))
    if (numbers := _integers(flat)) is None:
        return None
    if lists and numbers.dtype.kind == "i":
        return payloads.bits(_filled(found, numbers, flat))
    octets = numbers.astype(numbers.dtype.newbyteorder("<"), copy=False).view(np.uint8)
    found = _filled(found, octets, flat)
    found.offsets = found.offsets * numbers.itemsize
    return payloads.code(found)


_READ: dict[str, Callable[[pa.Array, Want], Rows | None]] = {
    "tokens": _tokens,
    "elements": _elements,
    "weighted": _weighted,
    "vector": _vector,
    "sparse": _sparse,
    "features": _features,
    "code": _code,
}
