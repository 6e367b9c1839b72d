"""Sets of feature vectors, such as the local descriptors of an image: all vectors end to end, and where each set begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.drawing.numbers import counted
from likewise.errors import UsageError
from likewise.items.arrow import all_refused, is_arrow, listed, numbers_of, plain
from likewise.items.given import SINGLE, refuse_masked
from likewise.items.json_values import Texts, decoded, floats, lists_of, rows_of
from likewise.items.payloads import Fault, Rows, ends
from likewise.items.python_values import as_json, of_lists, of_numbers
from likewise.items.reader import Reader, read
from likewise.items.sets import read_only
from likewise.messages import marked
from likewise.records import Want

#: values float32[total, d], one feature per row, all finite; offsets int64[n + 1], from 0 on, each set with at least one feature.
Features = tuple[NDArray[np.float32], NDArray[np.int64]]

#: The message for a list of numbers in place of a set of features.
FLAT = "a list of numbers is one feature; a set of features is a list of such lists, [[...], ...]; single vectors compare by cosine"


def features(batch: Any) -> Features:
    """A batch of sets of feature vectors as float32[total, d] and int64[n + 1], both read-only.

    batch: a list (or Arrow array) of sets, each a 2-D array or a list of equally long lists of numbers; a 3-D array [n, m, d]; or the two arrays
    values[total, d] and offsets[n + 1]. Numbers become float32. Raises UsageError with the row, counted from 0, and its feature: for an empty set,
    NaN, infinity, values that are not numbers or beyond float32, and for features of different lengths.
    """
    rows = read(batch, READER)
    assert rows.width is not None
    if not rows.sizes.all():
        raise UsageError(f"row {int(rows.sizes.argmin())} has no features; leave it out")
    width = int(rows.width[0]) if len(rows) else 0
    values = np.ascontiguousarray(rows.used).reshape(-1, width) if width else np.empty((0, 0), np.float32)
    return read_only(values), read_only(rows.begins // max(1, width))


def from_python(rows: list[Any]) -> pa.Array:
    """A column of the arrays, if they have one dtype and width, else of JSON texts, which report faults by row."""
    for row, one in enumerate(rows):
        refuse_masked(one, f"row {row} is an array")
    rows = [np.asarray(row) if hasattr(row, "__array__") else row for row in rows]
    there = [row for row in rows if row is not None]
    if not all(isinstance(row, np.ndarray) and row.ndim == 2 and row.dtype.kind in "iuf" and row.dtype.itemsize <= 8 for row in there):
        return as_json(rows)
    if len({(row.shape[1], row.dtype) for row in there}) != 1 or not there[0].shape[1]:
        return as_json(rows)
    offsets = ends([0 if row is None else len(row) for row in rows])
    return of_lists(offsets, of_numbers(np.concatenate(there)), [row is None for row in rows])


def from_arrow(values: pa.Array, want: Want) -> Rows | None:
    """Sets of features from lists of lists of numbers; None for other types."""
    if (outer := listed(values)) is None:
        return None
    found, flat = outer
    flat = plain(flat)
    if pa.types.is_null(flat.type):  # all lists are empty, or contain only nulls
        return Rows(found.gone | (found.sizes > 0), np.zeros(len(found) + 1, np.int64), np.zeros(0, np.float32))
    if (inner := listed(flat)) is None:
        return None if numbers_of(flat, np.float32) is None else all_refused(values, want, FLAT)
    each, numbers = inner
    if (floats := numbers_of(numbers, np.float32)) is None:
        return None
    holes = found.gone | (np.diff(ends(flat.is_null().to_numpy(zero_copy_only=False))[found.offsets]) > 0)
    if numbers.null_count:
        hollow = np.diff(ends(numbers.is_null().to_numpy(zero_copy_only=False))[each.offsets]) > 0
        holes |= np.diff(ends(hollow)[found.offsets]) > 0
    if holes.any():  # a list with a null is not a feature
        kept = np.repeat(~holes, found.sizes)
        floats = floats[np.repeat(kept, each.sizes)]
        each, found = Rows(each.gone[kept], ends(each.sizes[kept]), floats), Rows(holes, ends(np.where(holes, 0, found.sizes)), floats)
    return of_features(found, each.sizes, floats)


def from_json(texts: Texts, want: Want) -> Rows:
    """Sets of features from lists of lists of numbers."""

    def other(value: Any) -> Any:
        if not isinstance(value, list):
            return None
        if value and floats(value) is not None:
            return Fault(FLAT)
        features = [floats(feature) for feature in value]
        return None if None in features else features

    values = decoded(texts, list[list[float]], other)
    sizes = np.array([len(feature) for feature in chain.from_iterable(lists_of(values))], np.int64)
    with np.errstate(over="ignore"):
        numbers = np.fromiter(chain.from_iterable(chain.from_iterable(lists_of(values))), np.float64, int(sizes.sum())).astype(np.float32)
    return of_features(rows_of(values, lists_of(values), lambda flat: numbers), sizes, numbers)


def of_features(rows: Rows, sizes: NDArray[np.int64], numbers: NDArray[np.float32]) -> Rows:
    """Rows of numbers from rows of features. sizes: int64[m], the numbers of each feature."""
    begins, count, first = ends(sizes), rows.sizes, rows.offsets[:-1]
    own = np.zeros(len(rows), np.int64)
    own[count > 0] = sizes[first[count > 0]]
    row = np.repeat(np.arange(len(rows)), count)
    used = np.arange(int(rows.offsets[0]), int(rows.offsets[-1]))
    found = Rows(rows.gone, begins[rows.offsets], numbers, own, rows.faults)

    def refuse(bad: NDArray[np.int64], why: Callable[[int, int], str]) -> None:
        """Add a fault for the first feature in each row among the features ``bad``, places in ``used``."""
        rows_at, places = np.unique(row[bad], return_index=True)
        for at, feature in zip(rows_at.tolist(), used[bad[places]].tolist(), strict=True):
            found.faults.setdefault(at, Fault(f"feature {feature - int(first[at]) + 1} of {count[at]} {why(at, feature)}"))

    refuse(np.flatnonzero(sizes[used] == 0), lambda at, feature: "has no numbers; give one at least")
    odd = np.flatnonzero(sizes[used] != own[row])
    refuse(odd, lambda at, feature: f"has {counted(sizes[feature], 'number')} and the first has {own[at]:,}; all must have the same length")
    if not np.isfinite(numbers).all():
        places = np.flatnonzero(~np.isfinite(numbers))
        holders, which = np.unique(np.searchsorted(begins, places, side="right") - 1, return_index=True)
        wrong = dict(zip(holders.tolist(), numbers[places[which]].tolist(), strict=True))
        refuse(
            np.flatnonzero(np.isin(used, holders)), lambda at, feature: f"holds {wrong[feature]}; give finite numbers, within the range of float32"
        )
    return found


def has_rows(value: Any) -> bool:
    """True for a sequence or array, however deep: numpy follows at most 64 levels of lists."""
    return value.ndim > 0 if isinstance(value, np.ndarray) else isinstance(value, Sequence) and not isinstance(value, SINGLE)


def alone(given: Any) -> bool | None:
    """True for a single set of features, a 2-D array or a list of lists of numbers; None for an empty list, which could also be a batch."""
    if isinstance(given, np.ndarray) and given.dtype != object:
        return given.ndim < 3
    if isinstance(given, tuple) or is_arrow(given) or not isinstance(given, Sequence):
        return False
    if not len(given):
        return None
    first = given[0]
    return not len(first) or not has_rows(first[0]) if isinstance(first, Sequence) else np.ndim(first) < 2


def place(offsets: NDArray[np.int64], row: int, first: int = 0) -> str:
    """Describe feature ``row`` of all features as a row of the batch and a feature in it."""
    at = int(np.searchsorted(offsets, row, side="right")) - 1
    return f"row {first + at}: feature {row - int(offsets[at]) + 1} of {int(offsets[at + 1] - offsets[at])}"


def renamed(error: Exception, name: Callable[[int], str]) -> str:
    """The message of an error, with ``row N`` replaced by ``name(N)``."""
    return re.sub(r"^row (\d+)", lambda row: name(int(row[1])), marked(error))


def spans(offsets: NDArray[np.int64], most: int) -> list[tuple[int, int]]:
    """(begin, end) of runs of whole sets with about ``most`` features each."""
    sets = len(offsets) - 1
    ends = np.unique(np.searchsorted(offsets, np.arange(most, int(offsets[-1]) + most, most)).clip(max=sets))
    return list(pairwise([0, *ends.tolist()]))


#: A payload is float32, finite, feature after feature, all of one length.
READER = Reader(
    "features",
    "set of features",
    "sets of features: a list of 2-D arrays, one feature per row; a 3-D array; or (values, offsets), all features and where each set begins",
    from_python,
    from_arrow,
    from_json,
    dimensions="3",
    numbers="iuf",
    arrays=2,
    joins=False,
)
