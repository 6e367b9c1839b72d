"""Sets of whole numbers and strings as arrays: words end to end, and where each set begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items import sparse
from likewise.items.arrow import listed
from likewise.items.elements import element, hasher, is_element, is_missing, without_wrong, words_of
from likewise.items.given import SINGLE, borders, shown
from likewise.items.json_values import Texts, decoded, lists_of, nulls_of, rows_of, thinned
from likewise.items.payloads import Rows, ends
from likewise.items.python_values import of_lists, of_numbers, typed
from likewise.items.reader import Reader, read
from likewise.items.unusable import MATRIX
from likewise.records import Want

#: values uint64[m], ascending and distinct within a set; offsets int64[n + 1].
Sets = tuple[NDArray[np.uint64], NDArray[np.int64]]
#: Sets end to end and where each begins: values uint64[m], offsets int64[n + 1]. Or one array or set of elements for each, a 2-D array among it.
Batch = tuple[NDArray[Any], NDArray[Any]] | Sequence[Iterable[int | str]] | NDArray[Any]


def sets(batch: Any) -> Sets:
    """A batch of sets as measures take them: each element as a word that is keyed (items.words), ascending and once.

    64 bits tell elements apart: among a million different ones two have one word with a probability of 3 in 100 million.
    Raises UsageError with the set's row, for what is no element, and for one set that is no batch.
    """
    return distinct(*ragged(batch, 0, own=False))


def ragged(batch: Any, seed: int = 0, *, own: bool = True) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A batch as words uint64[m] and offsets int64[n + 1], repeats among them. A tuple is those two; anything else is a sequence of sets.

    Elements are whole numbers, 1.0 among them, and strings; missing ones, None and NaN, are left out. ``own``: a whole number of 64 bits is its own
    word. Other words are keyed by the seed. Raises what `sets` raises.
    """
    if own and isinstance(batch, tuple) and len(batch) == 2 and all(isinstance(part, np.ndarray) for part in batch):
        values, offsets = batch[0], batch[1]
        if values.dtype == np.uint64 and values.ndim == 1:
            return read_only(np.ascontiguousarray(values)), read_only(borders(offsets, values.size))
    rows = read(batch, READER, Want(kind=READER.kind, seed=seed, own=own))
    if rows.matrix:
        raise UsageError(MATRIX)
    return read_only(np.ascontiguousarray(rows.used)), read_only(rows.begins)


def from_python(rows: list[Any]) -> pa.Array:
    """A column of lists of elements of one type, or of JSON texts. As a set, a 1-D array of bool is the numbers of its columns that are true."""

    def plain(row: Any, place: int) -> Any:
        if isinstance(row, AbstractSet):
            return ordered(row, place)
        return np.flatnonzero(row) if is_flags(row) else row

    return typed([plain(row, place) for place, row in enumerate(rows)], is_element)


def from_array(array: NDArray[Any]) -> pa.Array:
    """Sets from the rows of a 2-D array."""
    if array.dtype == bool:
        return of_lists(ends(array.sum(axis=1)), pa.array(np.nonzero(array)[1]))
    return of_numbers(array)


def is_flags(row: Any) -> bool:
    """True for a 1-D array of booleans, which is the set of the numbers of its columns that are true."""
    return isinstance(row, np.ndarray) and row.dtype == bool and row.ndim == 1 and not isinstance(row, np.ma.MaskedArray)


def ordered(given: AbstractSet, row: int) -> list[Any]:
    """In an order of the elements' own, missing ones last: that of a set of strings is another in each process."""
    if set(map(type, given)) in ({int}, {str}):
        return sorted(given)
    try:
        return sorted(given, key=lambda element: (2, 0) if is_missing(element) else (isinstance(element, str), element))
    except TypeError:
        raise UsageError(f"row {row} is {shown(given)}; an element is a whole number or a string") from None


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    hash_of = hasher(want)
    if pa.types.is_struct(values.type):
        found = sparse.from_arrow(values, want)
        return None if found is None else sparse.positions(found, hash_of.integers)
    if (lists := listed(values)) is None or (elements := words_of(lists[1], hash_of)) is None:
        return None
    found = without_wrong(lists[0], elements.wrong)
    found.values = elements.words
    return found.thinned(elements.missing)


def from_json(texts: Texts, want: Want) -> Rows:
    def other(value: Any) -> Any:
        if isinstance(value, dict):
            return sparse.as_sparse(value)
        if not isinstance(value, list):
            return None
        found = thinned(value)
        found[:] = map(element, found)
        return None if None in found else found

    hash_of = hasher(want)
    values = decoded(texts, list[int | str] | sparse.Entries, other)
    if vectors := [row for row, value in enumerate(values) if isinstance(value, sparse.Entries)]:
        found = sparse.rows_of_vectors([values[row] for row in vectors])
        for number, row in enumerate(vectors):
            indices = found.values["index"][found.offsets[number] : found.offsets[number + 1]].tolist()
            values[row] = found.faults.get(number, indices)
    return replace(rows_of(values, lists_of(values), hash_of.listed), nulls=nulls_of(values))


def checked(rows: Rows, want: Want) -> Rows:
    """The same rows, with the mark of a matrix if all that have a value look like one."""
    there = ~rows.gone
    there[list(rows.faults)] = False
    good = rows.without(~there)
    offsets = ends(good.sizes[there]) + good.offsets[0]
    if is_matrix(good.values, offsets, hasher(want).integers(np.arange(2))):
        rows.matrix = int(good.sizes[there][0])
    return rows


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, for reading only: a kernel is compiled for arrays of that kind once, and Arrow's are."""
    view = array.view()
    view.setflags(write=False)
    return view


def is_matrix(words: NDArray[Any], offsets: NDArray[np.int64], flags: NDArray[np.uint64]) -> bool:
    """True if all sets have as many elements, more than two, and these are the two ``flags``: with repeats, as in a matrix of 0 and 1."""
    sizes = np.diff(offsets)
    if not len(sizes) or sizes[0] <= 2 or not np.isin(words[offsets[0] : offsets[1]], flags).all():  # most end at the first row
        return False
    used = words[offsets[0] : offsets[-1]]
    ones = used == flags[1]
    return bool((sizes == sizes[0]).all() and ones.any() and not ones.all() and (ones | (used == flags[0])).all())


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


def alone(given: Any) -> bool | None:
    """Whether this is one set and not a batch: a set, a range, a 1-D array, a list of elements. None for an empty list, which may be either."""
    if isinstance(given, AbstractSet | range):
        return True
    if isinstance(given, np.ndarray) and (given.dtype != object or given.ndim != 1):
        return given.ndim == 1
    if isinstance(given, SINGLE) or not isinstance(given, Sequence | np.ndarray):
        return False
    return (isinstance(given[0], str | bytes) or not hasattr(given[0], "__iter__")) if len(given) else None


READER = Reader(
    "elements",
    "set",
    "sets: a list of sets or lists of whole numbers and strings, a 2-D array of whole numbers or of bool, (values, offsets), or a CSR matrix",
    from_python,
    from_arrow,
    from_json,
    dimensions="2",
    numbers="iub",
    single=(AbstractSet,),
    strings=2,
    arrays=2,
    from_array=from_array,
    checked=checked,
)
