"""Weighted sets as arrays: elements end to end, their weights beside them, and where each set begins."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import unpacked
from likewise.items.sets import read_only

#: values uint64[m], ascending and distinct within a set; weights float64[m], above 0; offsets int64[n + 1].
Weighted = tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.int64]]


def weighted(batch: Any, number: Callable[[Any, int], int] | None = None) -> Weighted:
    """A batch of weighted sets as (values, weights, offsets). Weights of repeated elements add up; weights of 0 are left out.

    batch: a list of mappings from element to weight, or of lists of (element, weight), or three arrays (values, weights, offsets).
    Elements are whole numbers of 64 bits, -1 the same as 2^64 - 1, or what ``number`` (element, row) makes one of.
    Raises UsageError with the set's row and the element for a weight that is negative, NaN or infinite.
    """
    batch = unpacked(batch)
    if isinstance(batch, tuple) and len(batch) == 3 and all(isinstance(part, np.ndarray) for part in batch):
        values, weights, offsets = three(*batch)
        if number:
            values = np.array([number(value, 0) for value in values.view(batch[0].dtype.kind + "8").tolist()], np.uint64)
    elif isinstance(batch, Sequence | np.ndarray) and not isinstance(batch, str | bytes):
        values, weights, offsets = listed(batch, number or word)
    else:
        hint = "; one weighted set alone is a batch of one: [set]" if isinstance(batch, Mapping) else ""
        raise UsageError(f"weighted sets are a list of mappings element -> weight, or of lists of pairs; here came {type(batch).__name__}{hint}")
    return merged(values, weights, offsets)


def listed(batch: Any, number: Callable[[Any, int], int]) -> Weighted:
    elements: list[int] = []
    weights: list[float] = []
    sizes = [0]
    for row, one in enumerate(batch):
        pairs = one.items() if isinstance(one, Mapping) else one
        if isinstance(pairs, str | bytes) or not hasattr(pairs, "__iter__"):
            raise UsageError(f"row {row} is {one!r}; a weighted set is a mapping element -> weight, or a list of pairs (element, weight)")
        for pair in pairs:
            if isinstance(pair, str | bytes) or not hasattr(pair, "__len__") or len(pair) != 2:
                raise UsageError(f"row {row}: {pair!r} is no pair (element, weight); for sets without weights there is by='elements'")
            element, weight = pair
            elements.append(number(element, row))
            weights.append(checked(weight, element, row))
        sizes.append(len(elements))
    return np.array(elements, np.uint64), np.array(weights, np.float64), np.array(sizes, np.int64)


def checked(weight: Any, element: Any, row: int) -> float:
    if isinstance(weight, bool) or not isinstance(weight, int | float | np.integer | np.floating):
        raise UsageError(f"row {row}: the weight of {element!r} is {weight!r}; a weight is a number")
    if not 0 <= weight < math.inf:  # NaN is neither
        raise UsageError(f"row {row}: the weight of {element!r} is {weight}; a weight is a finite number of 0 or more")
    try:
        return float(weight)
    except OverflowError:
        raise UsageError(f"row {row}: the weight of {element!r} is beyond the range of float64; scale the weights") from None


def word(element: Any, row: int) -> int:
    """An element as a word of 64 bits."""
    if isinstance(element, bool) or not isinstance(element, int | np.integer) or not -(2**63) <= element < 2**64:
        raise UsageError(f"row {row}: {element!r} is no element; elements are whole numbers of 64 bits; hash anything else first")
    return int(element) & 0xFFFF_FFFF_FFFF_FFFF


def three(values: NDArray[Any], weights: NDArray[Any], offsets: NDArray[Any]) -> Weighted:
    if values.dtype.kind not in "iu" or weights.dtype.kind not in "iuf" or values.ndim != 1 or values.shape != weights.shape:
        came = f"{values.dtype} of shape {values.shape} and {weights.dtype} of shape {weights.shape}"
        raise UsageError(f"(values, weights, offsets): values are whole numbers and weights numbers, as many of them; here came {came}")
    ends = np.ascontiguousarray(offsets, np.int64)
    if ends.ndim != 1 or ends.size == 0 or ends[0] < 0 or ends[-1] > values.size or (np.diff(ends) < 0).any():
        raise UsageError(f"offsets rise from 0 to the number of values, {values.size}, one more of them than sets; these do not")
    used = slice(int(ends[0]), int(ends[-1]))
    words = values[used].astype(np.uint64 if values.dtype.kind == "u" else np.int64).view(np.uint64)
    amounts, ends = weights[used].astype(np.float64), ends - ends[0]
    bad = ~((amounts >= 0) & (amounts < np.inf))
    if bad.any():
        at = int(bad.argmax())
        row = int(np.searchsorted(ends, at, side="right")) - 1
        raise UsageError(f"row {row}: the weight of {values[used][at]} is {amounts[at]}; a weight is a finite number of 0 or more")
    return words, amounts, ends


def merged(values: NDArray[np.uint64], weights: NDArray[np.float64], offsets: NDArray[np.int64]) -> Weighted:
    """Elements ascending and distinct within each set. Repeats are added from the least weight up: in what order they came changes nothing."""
    rows = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if ((rows[1:] != rows[:-1]) | (values[1:] > values[:-1])).all() and (weights > 0).all():
        return read_only(values), read_only(weights), read_only(offsets)  # nothing to do
    order = np.lexsort((weights, values, rows))
    order = order[weights[order] > 0]
    rows, values, weights = rows[order], values[order], weights[order]
    first = np.flatnonzero(np.r_[True, (rows[1:] != rows[:-1]) | (values[1:] != values[:-1])][: len(rows)])
    with np.errstate(over="ignore"):
        weights = np.add.reduceat(weights, first) if len(first) else weights
    rows, values = rows[first], values[first]
    if not np.isfinite(weights).all():
        at = int(np.isinf(weights).argmax())
        raise UsageError(f"row {rows[at]}: the weights of {values[at]} add up beyond the range of float64; scale the weights")
    ends = np.searchsorted(rows, np.arange(len(offsets)))
    return read_only(values), read_only(weights), read_only(ends.astype(np.int64))


def alike(a: Any, b: Any) -> bool:
    """Whether two batches are arrays of elements of one kind, signed or unsigned, so that they compare as words."""
    kinds = {side[0].dtype.kind if isinstance(side, tuple) and len(side) == 3 and isinstance(side[0], np.ndarray) else "O" for side in (a, b)}
    return len(kinds) == 1 and kinds <= {"i", "u"}


def alone(given: Any) -> bool | None:
    """Whether this is one weighted set, a mapping or a list of pairs, and not a batch. None for an empty list, which may be either."""
    if isinstance(given, Mapping):
        return True
    if not isinstance(given, Sequence) or isinstance(given, str | bytes):
        return False
    if len(given) == 0:
        return None
    for one in given:  # a pair begins with an element, a set of a batch with a pair
        if isinstance(one, Mapping):
            return False
        if isinstance(one, Sequence) and len(one):
            return not isinstance(one[0], Sequence) or isinstance(one[0], str | bytes)
    return False
