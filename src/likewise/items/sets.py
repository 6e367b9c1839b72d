"""Sets of integers and strings as arrays: words end to end, and where each set begins."""

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
from likewise.items.python_values import as_vectors, of_lists, of_numbers, typed
from likewise.items.reader import Reader, read
from likewise.items.unusable import MATRIX
from likewise.records import Want

#: values uint64[m], ascending and distinct within a set; offsets int64[n + 1].
Sets = tuple[NDArray[np.uint64], NDArray[np.int64]]
#: (values uint64[m], offsets int64[n + 1]); or a sequence with an array or set of elements for each set, such as a 2-D array.
Batch = tuple[NDArray[Any], NDArray[Any]] | Sequence[Iterable[int | str]] | NDArray[Any]


def sets(batch: Any) -> Sets:
    """A batch of sets as measures take them: elements as keyed words (items.words), ascending and distinct in each set.

    Words have 64 bits: among a million distinct elements two share a word with probability 3 in 100 million. Raises UsageError with the row of the
    set for invalid elements, and for a single set in place of a batch.
    """
    return distinct(*ragged(batch, 0, own=False))


def ragged(batch: Any, seed: int = 0, *, own: bool = True) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A batch as words uint64[m] and offsets int64[n + 1], with repeats. A tuple is those two; anything else is a sequence of sets.

    Elements are integers, also as 1.0, and strings; missing ones, None and NaN, are left out. own: a 64-bit integer is its own word. Other words are
    keyed by the seed. Raises the errors of `sets`.
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
    """A column of lists of elements of one type, else of JSON texts. A 1-D array of bool is the set of its true columns' numbers."""

    def plain(row: Any, place: int) -> Any:
        if isinstance(row, AbstractSet):
            return ordered(row, place)
        return np.flatnonzero(row) if is_flags(row) else row

    return typed([plain(row, place) for place, row in enumerate(rows)], is_element)


def from_array(array: NDArray[Any]) -> pa.Array:
    """A column of sets from the rows of a 2-D array."""
    if array.dtype == bool:
        return of_lists(ends(array.sum(axis=1)), pa.array(np.nonzero(array)[1]))
    return of_numbers(array)


def refuse_flags(array: NDArray[Any]) -> None:
    """Raises UsageError for a 2-D array of 0 and 1, even one with two columns, whose rows could be sets."""
    if array.dtype != bool and array.shape[1] > 1 and (array == 1).any() and (array == 0).any() and ((array == 0) | (array == 1)).all():
        raise UsageError(MATRIX)


def is_flags(row: Any) -> bool:
    """True for a 1-D boolean array, which stands for the set of its true columns' numbers."""
    return isinstance(row, np.ndarray) and row.dtype == bool and row.ndim == 1 and not isinstance(row, np.ma.MaskedArray)


def ordered(given: AbstractSet, row: int) -> list[Any]:
    """The elements in an order that does not depend on the process, missing ones last. Raises UsageError for invalid elements."""
    if set(map(type, given)) in ({int}, {str}):
        return sorted(given)
    try:
        return sorted(given, key=lambda element: (2, 0) if is_missing(element) else (isinstance(element, str), element))
    except TypeError:
        raise UsageError(f"row {row} is {shown(given)}; an element must be a whole number or a string") from None


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Sets from lists of elements, or from the indices of sparse vectors; None for other types."""
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
    """Sets from lists of elements, or from the indices of sparse vectors."""

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
    """Return the rows, marked as a matrix if all with a value look like one."""
    there = ~rows.gone
    there[list(rows.faults)] = False
    good = rows.without(~there)
    offsets = ends(good.sizes[there]) + good.offsets[0]
    if is_matrix(good.values, offsets, hasher(want).integers(np.arange(2))):
        rows.matrix = int(good.sizes[there][0])
    return rows


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view of the array: kernels are compiled once for such arrays, and Arrow's buffers are read-only."""
    view = array.view()
    view.setflags(write=False)
    return view


def is_matrix(words: NDArray[Any], offsets: NDArray[np.int64], flags: NDArray[np.uint64]) -> bool:
    """True if all sets have equally many elements, more than two, and only the two ``flags``, as the rows of a matrix of 0 and 1."""
    sizes = np.diff(offsets)
    if not len(sizes) or sizes[0] <= 2 or not np.isin(words[offsets[0] : offsets[1]], flags).all():  # mostly decided by the first row
        return False
    used = words[offsets[0] : offsets[-1]]
    ones = used == flags[1]
    return bool((sizes == sizes[0]).all() and ones.any() and not ones.all() and (ones | (used == flags[0])).all())


def distinct(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Sets:
    """The sets with elements ascending and distinct, as measures take them."""
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    values = values[int(offsets[0]) : int(offsets[-1])]
    order = np.lexsort((values, row))
    row, values = row[order], values[order]
    first = np.ones(len(row), bool)
    first[1:] = (row[1:] != row[:-1]) | (values[1:] != values[:-1])
    ends = np.searchsorted(row[first], np.arange(len(offsets)))
    return read_only(values[first]), read_only(ends.astype(np.int64))


def alone(given: Any) -> bool | None:
    """True for a single set: a set, a range, a 1-D array, a list of elements; None for an empty list, which could also be a batch."""
    if isinstance(given, AbstractSet | range):
        return True
    if isinstance(given, np.ndarray) and (given.dtype != object or given.ndim != 1):
        return given.ndim == 1
    if isinstance(given, SINGLE) or not isinstance(given, Sequence | np.ndarray):
        return False
    return (isinstance(given[0], str | bytes) or not hasattr(given[0], "__iter__")) if len(given) else None


#: A payload is uint64, a word (items.words) for each element, in any order, with repeats.
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
    from_csr=as_vectors,
    refuse_array=refuse_flags,
    by_parts=True,
    checked=checked,
)
