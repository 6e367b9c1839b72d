"""Elements of sets, integers of any size and strings, as words of 64 bits.

A float with an integer value is that integer, so 1.0 is the element 1. None and NaN are missing elements, and are left out of sets.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.items.arrow import is_string, numbers_of, plain
from likewise.items.given import is_whole
from likewise.items.payloads import Rows, ends
from likewise.items.words import Hasher, Words
from likewise.records import Want

#: Stands for a mask without any True.
NONE = np.zeros(0, bool)


class Elements(NamedTuple):
    """Elements as words, with arbitrary words for missing and unusable ones."""

    words: Words
    missing: NDArray[np.bool_] = NONE  # null or NaN
    wrong: NDArray[np.bool_] = NONE  # numbers with fractions, and infinite ones


def words_of(values: pa.Array, hasher: Hasher) -> Elements | None:
    """The elements of an array; None if values of its type are not elements."""
    if pa.types.is_dictionary(values.type):
        if (each := words_of(values.dictionary, hasher)) is None:
            return None
        at = values.indices.fill_null(len(each.words)).to_numpy(zero_copy_only=False)
        missing, wrong = (mask if len(mask) else np.zeros(len(each.words), bool) for mask in (each.missing, each.wrong))
        return Elements(np.append(each.words, np.uint64(0))[at], np.append(missing, True)[at], np.append(wrong, False)[at])
    values = plain(values)
    null = values.is_null().to_numpy(zero_copy_only=False) if values.null_count else NONE
    if pa.types.is_large_binary(values.type):
        return Elements(hasher.strings(values), null)
    if pa.types.is_integer(values.type) or pa.types.is_null(values.type):
        return Elements(hasher.integers(numbers_of(values, None)), null)  # type: ignore[arg-type]
    if pa.types.is_decimal(values.type):
        numbers = [0 if value is None else value for value in values.to_pylist()]
        wrong = np.array([value != int(value) for value in numbers], bool)
        return Elements(hasher.listed([int(value) for value in numbers]), null, wrong)
    if pa.types.is_floating(values.type):
        return of_floats(numbers_of(values, np.float64), null, hasher)  # type: ignore[arg-type]
    return None


def of_floats(numbers: NDArray[np.float64], null: NDArray[np.bool_], hasher: Hasher) -> Elements:
    """The elements of floats: 1.0 is the element 1, and NaN is missing."""
    missing = np.isnan(numbers) | (null if len(null) else False)
    with np.errstate(invalid="ignore"):
        wrong = ~missing & ~(np.isfinite(numbers) & (numbers == np.floor(numbers)))
    numbers = np.where(missing | wrong, 0.0, numbers)
    large = np.abs(numbers) >= 2.0**63
    words = hasher.integers(np.where(large, 0.0, numbers).astype(np.int64))
    words[large] = hasher.listed([int(number) for number in numbers[large].tolist()])
    return Elements(words, missing, wrong)


def hasher(want: Want) -> Hasher:
    """The hasher for the elements that ``want`` reads."""
    return Hasher(want.seed, own=want.own)


def without_wrong(found: Rows, wrong: NDArray[np.bool_]) -> Rows:
    """``found`` without a value in each row with a wrong element."""
    if wrong.any():
        found.gone = found.gone | (np.diff(ends(wrong)[found.offsets]) > 0)
    return found


def element(value: Any) -> int | str | None:
    """The value as an element: a string, or an integer, also from 1.0; None for anything else."""
    return value if isinstance(value, str) else whole(value)


def whole(value: Any) -> int | None:
    """The value as an int, also from a float with an integer value; None for anything else."""
    if is_whole(value):
        return int(value)
    return int(value) if isinstance(value, float | np.floating) and float(value).is_integer() else None


def is_missing(value: Any) -> bool:
    """True for None and NaN, which stand for a missing element."""
    return value is None or (isinstance(value, float | np.floating) and value != value)


def is_element(kind: pa.DataType) -> bool:
    """True for types whose values are elements; bytes from Python are not."""
    return pa.types.is_integer(kind) or is_string(kind) or pa.types.is_floating(kind) or pa.types.is_null(kind)
