"""Sets of feature vectors, such as the local descriptors of a picture: all vectors end to end, and where each set begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import DataError, UsageError
from likewise.items.arrow import is_arrow, lists
from likewise.items.given import borders, refuse_masked, rows
from likewise.items.sets import read_only
from likewise.items.vectors import vectors

#: values float32[total, d], a feature a row, all finite; offsets int64[n + 1], from 0 on, each set with one feature at least.
Features = tuple[NDArray[np.float32], NDArray[np.int64]]

FORMS = "sets of features are a list of 2-D arrays, a feature a row; or a 3-D array; or (values, offsets), two arrays"


def features(batch: Any) -> Features:
    """A batch of sets of feature vectors as float32[total, d] and int64[n + 1], both read-only.

    batch: a list (or Arrow array) of sets, each a 2-D array or a list of equally long lists of numbers; a 3-D array [n, m, d]; or the two arrays
    values[total, d] and offsets[n + 1]. Numbers become float32. Raises UsageError with the item, counted from 0, and its feature: for an empty set,
    NaN, infinity, what is no number or beyond float32, and for features of different lengths.
    """
    if isinstance(batch, tuple) and len(batch) == 2 and all(isinstance(part, np.ndarray) for part in batch):
        return joined(*batch)
    if is_arrow(batch):
        flat, offsets = lists(batch, FORMS)
        values, sizes = of_arrow(flat, offsets)
        return checked(values, sizes)
    listed = rows(batch, FORMS)
    if isinstance(listed, np.ndarray) and listed.dtype != object:
        if listed.ndim != 3:
            raise UsageError(f"{FORMS}; here came an array of shape {listed.shape}; one set alone is a batch of one: [set]")
        return joined(listed.reshape(-1, listed.shape[2]), np.arange(len(listed) + 1) * listed.shape[1])
    parts = [of_item(one, item) for item, one in enumerate(listed)]
    for item, part in enumerate(parts):
        if part.shape[1] != parts[0].shape[1]:
            raise UsageError(f"item {item} has features of {part.shape[1]} numbers, item 0 of {parts[0].shape[1]}; all must have as many")
    values = np.concatenate(parts) if parts else np.empty((0, 0), np.float32)
    return checked(values, np.cumsum([0, *map(len, parts)], dtype=np.int64))


def alone(given: Any) -> bool | None:
    """Whether this is one set of features, a 2-D array or a list of lists of numbers, and no batch. None for an empty list, which may be either."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given.ndim < 3
    if isinstance(given, tuple) or is_arrow(given) or not isinstance(given, Sequence):
        return False
    if not len(given):
        return None
    first = given[0]
    return not len(first) or np.ndim(first[0]) == 0 if isinstance(first, Sequence) else np.ndim(first) < 2


def of_item(one: Any, item: int) -> NDArray[np.float32]:
    """One set as float32[m, d]."""
    if isinstance(one, np.ndarray) and one.ndim == 1 and one.dtype != object:
        raise UsageError(f"item {item} is an array of shape {one.shape}; {FORMS}; one set alone is a batch of one: [set]")
    try:
        found = vectors(one)
    except (UsageError, DataError) as error:
        raise type(error)(f"item {item}: {error}; a set of features is a 2-D array, a feature a row") from None
    if not len(found):
        raise UsageError(f"item {item} has no features; leave it out")
    return narrowed(found, np.array([0, len(found)]), item)


def of_arrow(flat: Any, offsets: NDArray[np.int64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    try:
        found = vectors(flat)
    except (UsageError, DataError) as error:
        raise type(error)(renamed(error, lambda row: place(offsets, row))) from None
    return narrowed(found, offsets), offsets


def joined(values: NDArray[Any], offsets: NDArray[Any]) -> Features:
    """(values, offsets) as given."""
    refuse_masked(values, "(values, offsets): values are numbers")
    if values.ndim != 2 or values.dtype.kind not in "iuf":
        raise UsageError(f"(values, offsets): values are a 2-D array of numbers, a feature a row; here came {values.dtype} of shape {values.shape}")
    ends = borders(offsets, len(values))
    if len(ends) > 1 and not values.shape[1]:
        raise UsageError("item 0 has features of no numbers; a vector has one dimension at least")
    used = values[int(ends[0]) : int(ends[-1])]
    return checked(narrowed(used, ends - ends[0]), ends - ends[0])


def narrowed(values: NDArray[Any], offsets: NDArray[np.int64], item: int = 0) -> NDArray[np.float32]:
    """As float32. Raises UsageError with the item, the first of which is number ``item``, for what is not finite, or not in float32."""
    with np.errstate(over="ignore"):
        narrow = np.ascontiguousarray(values, np.float32)
    if not np.isfinite(narrow).all():
        row, column = divmod(int(np.isfinite(narrow).argmin()), narrow.shape[1])
        where = place(offsets, row, item)
        what = "beyond the range of float32: scale the features" if np.isfinite(values[row, column]) else "features are finite numbers"
        raise UsageError(f"{where}: {values[row, column]} in column {column}; {what}")
    return narrow


def place(offsets: NDArray[np.int64], row: int, first: int = 0) -> str:
    """Which item, and which of its features, row ``row`` of all features is."""
    at = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"item {first + at}, feature {row - int(offsets[at])}"


def renamed(error: Exception, name: Callable[[int], str]) -> str:
    """What an error says of a row, said of the feature that the row is."""
    return re.sub(r"^row (\d+)", lambda row: name(int(row[1])), str(error))


def checked(values: NDArray[np.float32], offsets: NDArray[np.int64]) -> Features:
    empty = np.flatnonzero(np.diff(offsets) == 0)
    if len(empty):
        raise UsageError(f"item {empty[0]} has no features; leave it out")
    return read_only(values), read_only(offsets)


def spans(offsets: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """Runs of whole sets of about ``most`` features each: (begin, end)."""
    sets = len(offsets) - 1
    ends = np.unique(np.searchsorted(offsets, np.arange(most, int(offsets[-1]) + most, most)).clip(max=sets))
    return list(pairwise([0, *ends.tolist()]))
