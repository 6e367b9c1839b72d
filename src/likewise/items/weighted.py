"""Weighted sets as arrays: elements end to end, their weights beside them, and where each set begins."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import unpacked
from likewise.items.elements import Numbering, hashed, is_missing, plain, word
from likewise.items.given import SINGLE, borders, is_number, refuse_masked, rows, shown
from likewise.items.sets import read_only

#: values uint64[m], ascending and distinct within a set; weights float64[m], above 0; offsets int64[n + 1].
Weighted = tuple[NDArray[np.uint64], NDArray[np.float64], NDArray[np.int64]]

#: The total weight of a set lies between these, well within the cells that darts are drawn in (families.weighted).
LEAST, MOST = 1e-30, 1e30
BEYOND = f"a total from {LEAST} to {MOST} can be signed; multiply the weights of all sets by one number"

FORMS = "weighted sets are a list of mappings element -> weight, or of lists of pairs, or three arrays (values, weights, offsets)"


def weighted(batch: Any, number: Numbering | None = None, seed: int | None = None) -> Weighted:
    """A batch of weighted sets as (values, weights, offsets). Weights of repeated elements add up; weights of 0 are left out.

    batch: a list of mappings from element to weight, or of lists of (element, weight), or three arrays (values, weights, offsets).
    Elements are whole numbers of 64 bits, -1 the same as 2^64 - 1; with ``number`` they are any, and values their numbers; with a ``seed``
    strings and larger numbers are words that are hashed by it.
    Raises UsageError with the set's row and the element for a weight that is negative, NaN or infinite.
    """
    element = number.element if number else int
    if isinstance(batch, tuple) and len(batch) == 3 and all(isinstance(part, np.ndarray) for part in batch):
        values, weights, offsets = three(*batch)
        if number:
            values = np.array([number(value, 0) for value in values.view(batch[0].dtype.kind + "8").tolist()], np.uint64)
        return merged(values, weights, offsets, element)
    sets = rows(batch, FORMS, (Mapping, "one weighted set alone is a batch of one: [set]"))
    if seed is None:
        elements, weights, offsets = listed(sets, number or checked_word)
        return merged(np.array(elements, np.uint64), weights, offsets, element)
    elements, weights, offsets = listed(sets, lambda element, row: plain(element, f"row {row}"))
    values = hashed(elements, seed)
    return merged(values, weights, offsets, lambda value: elements[values.tolist().index(value)])


def listed(batch: Sequence[Any] | NDArray[Any], number: Callable[[Any, int], Any]) -> tuple[list[Any], NDArray[np.float64], NDArray[np.int64]]:
    """Elements as ``number`` has them, weights, and where each set begins."""
    elements: list[Any] = []
    weights: list[float] = []
    sizes = [0]
    for row, one in enumerate(batch):
        for pair in pairs(one, row):
            if not is_pair(pair):
                raise UsageError(f"row {row}: {shown(pair)} is no pair (element, weight); for sets without weights there is by='elements'")
            element, weight = pair
            if is_missing(element):
                continue
            elements.append(number(element, row))
            weights.append(checked(weight, element, row))
        sizes.append(len(elements))
    return elements, np.array(weights, np.float64), np.array(sizes, np.int64)


def pairs(one: Any, row: int) -> Iterable[Any]:
    """The pairs of one weighted set. Raises UsageError for what is none, an iterator among it: it is empty when it is read again."""
    one = unpacked(one)
    if isinstance(one, Mapping):
        return one.items()
    if isinstance(one, np.ndarray) and one.ndim:
        refuse_masked(one, f"row {row}: a weighted set is a list of pairs")
        return one
    if isinstance(one, Sequence | AbstractSet) and not isinstance(one, SINGLE):
        return one
    raise UsageError(f"row {row} is {shown(one)}; a weighted set is a mapping element -> weight, or a list of pairs (element, weight)")


def is_pair(given: Any) -> bool:
    """Whether this is a list, tuple or array of two. A set or a mapping has no first."""
    if isinstance(given, np.ndarray):
        return given.shape[:1] == (2,)
    return isinstance(given, Sequence) and not isinstance(given, SINGLE) and len(given) == 2


def checked(weight: Any, element: Any, row: int) -> float:
    if not is_number(weight):
        raise UsageError(f"row {row}: the weight of {shown(element)} is {shown(weight)}; a weight is a number")
    if not 0 <= weight < math.inf:  # NaN is neither
        raise UsageError(f"row {row}: the weight of {shown(element)} is {shown(weight)}; a weight is a finite number of 0 or more")
    try:
        amount = float(weight)
    except OverflowError:
        amount = math.inf
    if amount == math.inf:
        raise UsageError(f"row {row}: the weight of {shown(element)} is beyond the range of float64; scale the weights")
    return amount


def checked_word(element: Any, row: int) -> int:
    """An element as a word of 64 bits."""
    if (found := word(element)) is None:
        raise UsageError(f"row {row}: {shown(element)} is no element; elements are whole numbers of 64 bits; hash anything else first")
    return found


def three(values: NDArray[Any], weights: NDArray[Any], offsets: NDArray[Any]) -> Weighted:
    for part in (values, weights):
        refuse_masked(part, "(values, weights, offsets): values are whole numbers and weights numbers")
    if values.dtype.kind not in "iu" or weights.dtype.kind not in "iuf" or values.ndim != 1 or values.shape != weights.shape:
        came = f"{values.dtype} of shape {values.shape} and {weights.dtype} of shape {weights.shape}"
        raise UsageError(f"(values, weights, offsets): values are whole numbers and weights numbers, as many of them; here came {came}")
    ends = borders(offsets, values.size)
    used = slice(int(ends[0]), int(ends[-1]))
    words = values[used].astype(np.uint64 if values.dtype.kind == "u" else np.int64).view(np.uint64)
    with np.errstate(over="ignore"):  # of a longdouble, refused as infinite
        amounts, ends = weights[used].astype(np.float64), ends - ends[0]
    bad = ~((amounts >= 0) & (amounts < np.inf))
    if bad.any():
        at = int(bad.argmax())
        row = int(np.searchsorted(ends, at, side="right")) - 1
        raise UsageError(f"row {row}: the weight of {values[used][at]} is {amounts[at]}; a weight is a finite number of 0 or more")
    return words, amounts, ends


def merged(values: NDArray[np.uint64], weights: NDArray[np.float64], offsets: NDArray[np.int64], element: Callable[[int], Any] = int) -> Weighted:
    """Elements ascending and distinct within each set. Repeats are added from the least weight up: in what order they came changes nothing.

    ``element``: of a value, for the message where weights add up to more than there is.
    """
    row = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    if ((row[1:] != row[:-1]) | (values[1:] > values[:-1])).all() and (weights > 0).all():
        return read_only(values), read_only(weights), read_only(offsets)  # nothing to do
    order = np.lexsort((weights, values, row))
    order = order[weights[order] > 0]
    row, values, weights = row[order], values[order], weights[order]
    first = np.flatnonzero(np.r_[True, (row[1:] != row[:-1]) | (values[1:] != values[:-1])][: len(row)])
    with np.errstate(over="ignore"):
        weights = np.add.reduceat(weights, first) if len(first) else weights
    row, values = row[first], values[first]
    if not np.isfinite(weights).all():
        at = int(np.isinf(weights).argmax())
        what = shown(element(int(values[at])))
        raise UsageError(f"row {row[at]}: the weights of {what} add up beyond the range of float64; scale the weights")
    ends = np.searchsorted(row, np.arange(len(offsets)))
    return read_only(values), read_only(weights), read_only(ends.astype(np.int64))


def alike(a: Any, b: Any) -> bool:
    """Whether two batches are arrays of elements of one kind, signed or unsigned, so that they compare as words."""
    kinds = {side[0].dtype.kind if isinstance(side, tuple) and len(side) == 3 and isinstance(side[0], np.ndarray) else "O" for side in (a, b)}
    return len(kinds) == 1 and kinds <= {"i", "u"}


def alone(given: Any) -> bool | None:
    """Whether this is one weighted set, a mapping or a list of pairs, and not a batch. None for an empty list, which may be either."""
    if isinstance(given, Mapping):
        return True
    if not isinstance(given, Sequence) or isinstance(given, SINGLE):
        return False
    if len(given) == 0:
        return None
    for one in given:  # a pair begins with an element, a set of a batch with a pair
        if isinstance(one, Mapping):
            return False
        if isinstance(one, Sequence) and len(one):
            return not isinstance(one[0], Sequence) or isinstance(one[0], SINGLE)
    return False
