"""Sets of whole numbers as arrays: values end to end, and where each set begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import is_arrow, lists, unpacked
from likewise.items.elements import Numbering, hashed, is_missing, plain, present, word
from likewise.items.given import SINGLE, borders, is_whole, refuse_masked, rows, shown

#: values uint64[m], ascending and distinct within a set; offsets int64[n + 1].
Sets = tuple[NDArray[np.uint64], NDArray[np.int64]]
#: Sets end to end and where each begins: values uint64[m], offsets int64[n + 1]. Or one array or set of elements for each, a 2-D array among it.
Batch = tuple[NDArray[Any], NDArray[Any]] | Sequence[Iterable[int | str]] | NDArray[Any]

#: Arrow's types of floats.
FLOATS = ("halffloat", "float", "double")
WEIGHTS = "weights are compared with by='weighted'"


def ragged(batch: Batch, name: str = "set", seed: int | None = None, *, strict: bool = False) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A batch as values uint64[m] and offsets int64[n + 1]. A tuple is those two; anything else is a sequence of sets, each called ``name``.

    Elements are whole numbers of 64 bits, 1.0 among them; with a ``seed`` also larger ones and strings, as words that are hashed by it. Missing
    elements, None and NaN, are left out. ``strict``: floats and missing elements are refused instead.
    Raises UsageError, with the set's row, for what is no element, and for one set that is no batch.
    """
    if isinstance(batch, tuple):
        parts = [part for part in batch if isinstance(part, np.ndarray)]
        if len(batch) != 2 or len(parts) != 2:
            raise UsageError(f"a tuple stands for (values, offsets), two arrays; give {name}s as a list")
        values = words(parts[0], "values", name, seed) if is_text(parts[0]) else of_array(parts[0], "values", strict=True)
        return read_only(values), read_only(borders(parts[1], values.size))
    forms = f"a batch is a list of {name}s, or (values, offsets)"
    if is_arrow(batch):
        values, offsets = of_arrow(batch, forms, seed, strict=strict)
        return checked(values, offsets, strict)
    batch = rows(batch, forms, (AbstractSet, f"one {name} alone is a batch of one: [{name}]"))
    if isinstance(batch, range) or (isinstance(batch, np.ndarray) and batch.ndim == 1 and batch.dtype != object):
        raise UsageError(f"{forms}; here came {shown(batch)}; one {name} alone is a batch of one: [{name}]")
    if isinstance(batch, np.ndarray) and batch.ndim == 2 and batch.dtype.kind in "iu":
        if not strict:
            refuse_flags(batch)
        return checked(of_array(batch.reshape(-1), name), np.arange(len(batch) + 1) * batch.shape[1], strict)
    sets = [words(one, f"{name} {row}", name, seed, strict=strict) for row, one in enumerate(batch)]
    offsets = np.cumsum([0, *(one.size for one in sets)], dtype=np.int64)
    values = np.concatenate([np.empty(0, np.uint64), *sets])
    if any(is_flags(one) for one in batch):  # their words are numbers of columns
        return read_only(values), read_only(offsets)
    return checked(values, offsets, strict)


def checked(values: NDArray[np.uint64], offsets: NDArray[np.int64], strict: bool) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Sets for reading only, if they are no matrix of 0 and 1. ``strict``: they are lists of token ids, which may be any."""
    if not strict:
        refuse_matrix(values, offsets)
    return read_only(values), read_only(offsets)


def is_flags(one: Any) -> bool:
    """True for a 1-D array of booleans, which is the set of the numbers of its columns that are true."""
    return isinstance(one, np.ndarray) and one.dtype == bool and one.ndim == 1


def is_text(array: NDArray[Any]) -> bool:
    """Whether this is an array of strings, of either of numpy's kinds, or one of Python's objects, which may be strings."""
    return array.dtype.kind in "UTO"


def words(elements: Any, where: str, name: str = "set", seed: int | None = None, *, strict: bool = False) -> NDArray[np.uint64]:
    """The elements of one set as uint64[n]."""
    elements = unpacked(elements)
    if isinstance(elements, np.ndarray) and not is_text(elements):
        bits = is_flags(elements) and not isinstance(elements, np.ma.MaskedArray)
        return of_array(np.flatnonzero(elements) if bits else elements, where, strict=strict)
    if isinstance(elements, (*SINGLE, Mapping)) or not isinstance(elements, Iterable) or (isinstance(elements, np.ndarray) and elements.ndim != 1):
        alone = f"; one {name} alone is a batch of one: [{name}]" if is_whole(elements) else ""
        raise UsageError(f"{where} is {shown(elements)}; a {name} is a list, range or array of whole numbers{weights_hint(elements)}{alone}")
    if isinstance(elements, np.ndarray):
        refuse_masked(elements, f"{where}: a {name} is a list or array of elements")
        elements = elements.tolist()
    listed = list(elements) if strict else present(elements)
    if set(map(type, listed)) <= {int}:
        try:
            return np.fromiter(listed, np.int64, len(listed)).view(np.uint64)
        except OverflowError:  # beyond 2^63 at least
            pass
    if seed is not None:
        return hashed([plain(element, where) for element in listed], seed)
    found = [None if strict and not is_whole(element) else word(element) for element in listed]
    if None in found:
        raise UsageError(f"{where}: elements are whole numbers of 64 bits, and {shown(listed[found.index(None)])} is none; hash them first")
    return np.array(found, np.uint64)


def of_array(array: NDArray[Any], where: str, *, strict: bool = False) -> NDArray[np.uint64]:
    """Words of a 1-D array of whole numbers."""
    refuse_masked(array, f"{where}: elements are whole numbers")
    if array.ndim == 1 and array.dtype.kind == "f" and not strict:
        array = whole_floats(array)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise UsageError(f"{where}: elements are whole numbers of 64 bits, here came {array.dtype} of shape {array.shape}; hash them first")
    return np.ascontiguousarray(array if array.dtype == np.uint64 else array.astype(np.int64).view(np.uint64))


def whole_floats(array: NDArray[np.floating]) -> NDArray[Any]:
    """Floats as whole numbers, NaN left out; as they are where one is no whole number of 64 bits."""
    numbers = array[~np.isnan(array)].astype(np.float64, copy=False)
    fits = (numbers == np.floor(numbers)) & (np.abs(numbers) < 2.0**63)
    return numbers.astype(np.int64) if fits.all() else array


def of_arrow(batch: Any, forms: str, seed: int | None, *, strict: bool = False) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Words and offsets of an Arrow array of lists of elements."""
    flat, offsets = lists(batch, forms, nulls=not strict)
    if flat.null_count or (str(flat.type) in FLOATS and not strict):
        each = flat.to_pylist()
        sets = [words(each[begin:end], f"row {row}", seed=seed) for row, (begin, end) in enumerate(pairwise(offsets.tolist()))]
        return np.concatenate([np.empty(0, np.uint64), *sets]), np.cumsum([0, *(one.size for one in sets)], dtype=np.int64)
    array = flat.to_numpy(zero_copy_only=False) if len(flat) else np.empty(0, np.int64)
    if seed is not None and is_text(array):
        return words(array, "values", seed=seed), offsets
    if array.dtype.kind not in "iu":
        raise UsageError(f"row 0: elements are whole numbers of 64 bits, here came {flat.type}; hash them first")
    return of_array(array, "values"), offsets


#: Why rows of 0 and 1 are refused as sets.
MATRIX = "rows of one length that hold only 0 and 1 look like a matrix, and as lists of elements all of them would be sets of 0 and 1"

#: How to write them instead.
BOOLEANS = "for sets of column numbers give booleans: M.astype(bool), or np.array(row, bool) for one row"


def is_matrix(words: NDArray[Any], offsets: NDArray[np.int64], flags: Sequence[int] | NDArray[np.uint64] = (0, 1)) -> bool:
    """True if all sets have as many elements, more than two, and these are the two ``flags``: with repeats, as in a matrix of 0 and 1."""
    sizes = np.diff(offsets)
    if len(flags) < 2 or not len(sizes) or sizes[0] <= 2 or not np.isin(words[offsets[0] : offsets[1]], flags).all():  # most end at the first row
        return False
    used = words[offsets[0] : offsets[-1]]
    ones = used == flags[1]
    return bool((sizes == sizes[0]).all() and ones.any() and not ones.all() and (ones | (used == flags[0])).all())


def refuse_matrix(words: NDArray[Any], offsets: NDArray[np.int64], flags: Sequence[int] = (0, 1)) -> None:
    """Raises UsageError where `is_matrix`."""
    if is_matrix(words, offsets, flags):
        raise UsageError(f"{MATRIX}; {BOOLEANS}")


def refuse_flags(array: NDArray[Any]) -> None:
    """Raises UsageError for a 2-D array of 0 and 1. One of two columns is a matrix too, although two such lists may be sets."""
    if array.shape[1] > 1 and (array == 1).any() and (array == 0).any() and ((array == 0) | (array == 1)).all():
        raise UsageError(f"{MATRIX}; {BOOLEANS}")


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, for reading only: a kernel is compiled for arrays of that kind once, and Arrow's are."""
    view = array.view()
    view.setflags(write=False)
    return view


def distinct(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Sets:
    """The same sets, elements ascending and each once, as measures take them."""
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    values = values[int(offsets[0]) : int(offsets[-1])]
    order = np.lexsort((values, row))
    row, values = row[order], values[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (values[1:] != values[:-1])
    ends = np.searchsorted(row[first], np.arange(len(offsets)))
    return read_only(values[first]), read_only(ends.astype(np.int64))


def numbered(batch: Any, number: Numbering) -> Sets:
    """Sets of integers of any size and strings, each element by its number."""
    if isinstance(batch, tuple) and len(batch) == 2 and all(isinstance(part, np.ndarray) for part in batch):
        refuse_masked(batch[0], "values are elements")
        if batch[0].ndim != 1 or batch[0].dtype == bool:
            raise UsageError(f"(values, offsets): values are a 1-D array of elements; here came {shown(batch[0])}")
        batch = np.split(batch[0], borders(batch[1], len(batch[0])))[1:-1]
    batch = rows(batch, "sets are a list of sets, lists or arrays", (Mapping, WEIGHTS))
    values: list[int] = []
    sizes = [0]
    for row, one in enumerate(batch):
        values += [number(element, row) for element in members(one, row) if not is_missing(element)]
        sizes.append(len(values))
    words, offsets = np.array(values, np.uint64), np.array(sizes, np.int64)
    if not any(is_flags(one) for one in batch):
        refuse_matrix(words, offsets, [number.numbers[flag] for flag in (0, 1) if flag in number.numbers])
    return distinct(words, offsets)


def members(one: Any, row: int) -> Iterable[Any]:
    """The elements of one set, as Python has them. Raises UsageError for what is none, an iterator among it: it is empty when it is read again."""
    one = unpacked(one)
    if isinstance(one, np.ndarray) and one.ndim == 1:
        refuse_masked(one, f"row {row}: a set is a list or array of elements")
        places = np.flatnonzero(one) if one.dtype == bool else one
        return places.tolist() if places.dtype.kind in "iufUTO" else list(places)  # others' numbers, such as those of dates, are no elements
    if isinstance(one, AbstractSet | Sequence) and not isinstance(one, SINGLE):
        return one
    raise UsageError(f"row {row} is {shown(one)}; a set is a set, list or 1-D array of whole numbers or strings{weights_hint(one)}")


def weights_hint(given: Any) -> str:
    return f"; {WEIGHTS}" if isinstance(given, Mapping) else ""


def alone(given: Any) -> bool | None:
    """Whether this is one set and not a batch: a set, a range, a 1-D array, a list of elements. None for an empty list, which may be either."""
    if isinstance(given, AbstractSet | range):
        return True
    if isinstance(given, np.ndarray) and (given.dtype != object or given.ndim != 1):
        return given.ndim == 1
    if isinstance(given, SINGLE) or not isinstance(given, Sequence | np.ndarray):
        return False
    return (isinstance(given[0], str | bytes) or not hasattr(given[0], "__iter__")) if len(given) else None


def reader(a: Any, b: Any) -> Callable[[Any], Sets]:
    """What makes `Sets` of either of two batches, so that elements are equal in them where they are in the batches."""
    kinds = signs(a) | signs(b)
    if len(kinds) == 1 and kinds <= {"i", "u"}:
        return lambda batch: distinct(*ragged(batch))
    return partial(numbered, number=Numbering())


def signs(batch: Any) -> set[str]:
    """The kinds of numbers in arrays: "i" for signed, "u" for unsigned. -1 and 2^64 - 1 are one word, so both kinds together need numbering."""
    parts = [batch] if isinstance(batch, np.ndarray) else batch[:1] if isinstance(batch, tuple) else batch
    return {part.dtype.kind if isinstance(part, np.ndarray) else "O" for part in parts} if isinstance(parts, Sequence) else {"O"}
