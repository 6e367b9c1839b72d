"""Sets of whole numbers as arrays: values end to end, and where each set begins."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import unpacked
from likewise.items.elements import Numbering

#: values uint64[m], ascending and distinct within a set; offsets int64[n + 1].
Sets = tuple[NDArray[np.uint64], NDArray[np.int64]]
#: Sets end to end and where each begins: values uint64[m], offsets int64[n + 1]. Or one array or set of integers for each.
Batch = tuple[NDArray[Any], NDArray[Any]] | Sequence[Iterable[int]]


def ragged(batch: Batch) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """A batch as values uint64[m] and offsets int64[n + 1]. A tuple is those two; anything else is a sequence of sets."""
    if isinstance(batch, tuple):
        if len(batch) != 2 or not all(isinstance(part, np.ndarray) for part in batch):
            raise UsageError("a tuple stands for (values, offsets), two arrays; give sets as a list")
        values, offsets = words(batch[0], "values"), np.ascontiguousarray(batch[1], np.int64)
        if offsets.ndim != 1 or offsets.size == 0 or offsets[0] < 0 or offsets[-1] > values.size or (np.diff(offsets) < 0).any():
            raise UsageError(f"offsets rise from 0 to the number of values, {values.size}, one more of them than sets; these do not")
        return read_only(values), read_only(offsets)
    if isinstance(batch, str | bytes | np.ndarray | AbstractSet) or not isinstance(batch, Sequence):
        raise UsageError(f"a batch is a list of sets, or (values, offsets); here came {type(batch).__name__}; one set alone is a batch of one: [set]")
    sets = [words(one, f"set {number}") for number, one in enumerate(batch)]
    offsets = np.cumsum([0, *(one.size for one in sets)], dtype=np.int64)
    return read_only(np.concatenate([np.empty(0, np.uint64), *sets])), read_only(offsets)


def words(elements: Iterable[int], name: str) -> NDArray[np.uint64]:
    """The elements of one set as uint64[n]."""
    array = elements if isinstance(elements, np.ndarray) else None
    if array is None:
        listed = list(elements)
        if all(isinstance(element, int) and -(2**63) <= element < 2**64 for element in listed):
            return np.fromiter((element & 0xFFFFFFFFFFFFFFFF for element in listed), np.uint64, len(listed))
        array = np.array(listed)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise UsageError(f"{name}: elements are whole numbers of 64 bits, here came {array.dtype} of shape {array.shape}; hash them first")
    return np.ascontiguousarray(array if array.dtype == np.uint64 else array.astype(np.int64).view(np.uint64))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """The same array, for reading only: a kernel is compiled for arrays of that kind once, and Arrow's are."""
    view = array.view()
    view.setflags(write=False)
    return view


def distinct(values: NDArray[np.uint64], offsets: NDArray[np.int64]) -> Sets:
    """The same sets, elements ascending and each once, as measures take them."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    values = values[int(offsets[0]) : int(offsets[-1])]
    order = np.lexsort((values, rows))
    rows, values = rows[order], values[order]
    first = np.ones(len(rows), bool)
    first[1:] = (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])
    ends = np.searchsorted(rows[first], np.arange(len(offsets)))
    return read_only(values[first]), read_only(ends.astype(np.int64))


def numbered(batch: Any, number: Numbering) -> Sets:
    """Sets of integers of any size and strings, each element by its number."""
    batch = unpacked(batch)
    if isinstance(batch, tuple) and len(batch) == 2 and all(isinstance(part, np.ndarray) for part in batch):
        ragged(batch)  # for its checks
        batch = [one.tolist() for one in np.split(batch[0], batch[1])[1:-1]]
    if isinstance(batch, str | bytes | AbstractSet | Mapping) or not isinstance(batch, Sequence | np.ndarray):
        raise UsageError(f"sets are a list of sets, lists or arrays; here came {type(batch).__name__}{weights_hint(batch)}")
    values: list[int] = []
    sizes = [0]
    for row, one in enumerate(batch):
        if isinstance(one, str | bytes | Mapping) or not hasattr(one, "__iter__") or (isinstance(one, np.ndarray) and one.ndim != 1):
            raise UsageError(f"row {row} is {one!r}; a set is a set, list or 1-D array of whole numbers or strings{weights_hint(one)}")
        values += [number(element, row) for element in (one.tolist() if isinstance(one, np.ndarray) else one)]
        sizes.append(len(values))
    return distinct(np.array(values, np.uint64), np.array(sizes, np.int64))


def weights_hint(given: Any) -> str:
    return "; weights are compared with by='weighted'" if isinstance(given, Mapping) else ""


def alone(given: Any) -> bool | None:
    """Whether this is one set and not a batch: a set, a range, a 1-D array, a list of elements. None for an empty list, which may be either."""
    if isinstance(given, AbstractSet | range):
        return True
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given.ndim == 1
    if isinstance(given, str | bytes) or not isinstance(given, Sequence | np.ndarray):
        return False
    return (isinstance(given[0], str | bytes) or not hasattr(given[0], "__iter__")) if len(given) else None


def reader(a: Any, b: Any) -> Callable[[Any], Sets]:
    """What makes `Sets` of either of two batches, so that elements are equal in them where they are in the batches."""
    kinds = signs(a) | signs(b)
    if len(kinds) == 1 and kinds <= {"i", "u"}:
        return lambda batch: distinct(*ragged(batch if isinstance(batch, tuple) else list(batch)))
    return partial(numbered, number=Numbering())


def signs(batch: Any) -> set[str]:
    """The kinds of numbers in arrays: "i" for signed, "u" for unsigned. -1 and 2^64 - 1 are one word, so both kinds together need numbering."""
    parts = [batch] if isinstance(batch, np.ndarray) else batch[:1] if isinstance(batch, tuple) else batch
    return {part.dtype.kind if isinstance(part, np.ndarray) else "O" for part in parts} if isinstance(parts, Sequence) else {"O"}
