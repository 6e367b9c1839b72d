"""Sets of whole numbers as arrays: values end to end, and where each set begins."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError

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
