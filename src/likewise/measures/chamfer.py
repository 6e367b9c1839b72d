"""Chamfer: each feature of a set with its nearest one of another (Barrow and others 1977; by products, the late interaction of text retrieval)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.features import Features, spans
from likewise.items.sets import read_only
from likewise.kernels.chamfer import LANES, chamfers, pack
from likewise.kernels.features import move
from likewise.measures.checks import same_size

#: How two features compare. L2 is a distance, the others are similarities.
BY = ("l2", "cosine", "product")
#: Features that a task packs, and pairs of sets that it compares.
FEATURES_AT_ONCE, PAIRS_AT_ONCE = 2**13, 64

Run = Callable[..., Any]
Places = NDArray[np.int64]


class Pairs(NamedTuple):
    """Pairs of sets as the kernels take them, with only the sets that occur in a pair."""

    values: NDArray[np.float32]
    offsets: Places
    packed: NDArray[np.float32]  # the sets on the right, as kernels.chamfer.pack lays them out
    starts: Places
    other_offsets: Places
    left: Places
    right: Places


def chamfer(
    a: Features, b: Features, left: Any = None, right: Any = None, *, by: str = "l2", both: bool = False, run: Run = map
) -> NDArray[np.float64]:
    """The mean distance of a set's features to their nearest features of another set: float64[m].

    By "cosine" or "product" it is the mean highest similarity. left, right: int[m], compare sets left[k] of ``a`` with right[k] of ``b``; without
    them the i-th with the i-th. both: add the same from b to a; one way alone, a subset is as near as the whole set. Features compare in float32.
    ``run`` maps over blocks of pairs, on threads as well. Raises UsageError for sets that cannot be compared, and with the item and the feature for a
    zero vector by cosine.

    >>> from likewise.items.features import features
    >>> a, b = features([[[0.0, 0.0], [3.0, 4.0]]]), features([[[0.0, 1.0]]])
    >>> chamfer(a, b).round(4), chamfer(b, a), chamfer(a, b, both=True).round(4)
    (array([2.6213]), array([1.]), array([3.6213]))
    """
    if not (both and a is b):
        return valued(chamfers, a, b, left, right, by, run, PAIRS_AT_ONCE, both)
    left, right, places = once(*pairs_of(a, b, left, right), len(a[1]))
    return valued(chamfers, a, a, left, right, by, run, PAIRS_AT_ONCE, both)[places]


def once(left: Places, right: Places, most: int) -> tuple[Places, Places, Places]:
    """The distinct pairs, lower number first, and the place of each pair among them: with both ways added, a value has no direction.

    Among the nearest neighbors of each item of a collection, about a third of the pairs occur twice.
    """
    found, places = np.unique(np.minimum(left, right) * most + np.maximum(left, right), return_inverse=True)
    return found // most, found % most, places


def valued(
    kernel: Callable[..., None], a: Features, b: Features, left: Any, right: Any, by: str, run: Run, at_once: int, *more: Any
) -> NDArray[np.float64]:
    """The values of a kernel for each pair, float64[m]; ``more``: its further parameters."""
    pairs = prepared(a, b, *pairs_of(a, b, left, right), by, run)
    most, most_groups = (int(np.diff(ends).max(initial=0)) for ends in (pairs.offsets, pairs.starts))
    out = np.empty(len(pairs.left))

    def work(begin: int) -> None:
        kernel(*pairs, most, most_groups, by == "l2", *more, begin, min(begin + at_once, len(out)), out)

    list(run(work, range(0, len(out), at_once)))
    return out


def prepared(a: Features, b: Features, left: Places, right: Places, by: str, run: Run) -> Pairs:
    """The pairs, the sets on the right packed; by cosine, features have length 1. Raises UsageError for an unknown ``by`` and for zero vectors."""
    if by not in BY:
        raise UsageError(f"by={by!r}: choose one of {', '.join(BY)}")
    if len(a[0]) and len(b[0]) and a[0].shape[1] != b[0].shape[1]:
        raise UsageError(f"features of {a[0].shape[1]} dimensions on the left and {b[0].shape[1]} on the right; both sides must have the same number")
    sides = []
    for sets, numbers, name in ((a, left, "left"), (b, right, "right")):
        used, places = np.unique(numbers, return_inverse=True)
        values, offsets = of_sets(sets, used)
        sides.append((to_unit(values, offsets, used, name) if by == "cosine" else values, offsets, places.astype(np.int64)))
    (values, offsets, left), (others, other_offsets, right) = sides
    starts = np.concatenate([[0], np.cumsum(-(-np.diff(other_offsets) // LANES))]).astype(np.int64)
    packed = np.empty(int(starts[-1]) * LANES * others.shape[1], np.float32)
    list(run(lambda rows: pack(others, other_offsets, starts, *rows, packed), spans(other_offsets, FEATURES_AT_ONCE)))
    return Pairs(values, offsets, packed, read_only(starts), other_offsets, left, right)


def of_sets(sets: Features, used: Places) -> Features:
    """The sets of these numbers, ascending; without a copy if they are all."""
    values, offsets = sets
    if len(used) == len(offsets) - 1:
        return sets
    sizes = np.diff(offsets)[used]
    ends = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    rows = np.arange(int(ends[-1])) + np.repeat(offsets[used] - ends[:-1], sizes)
    return read_only(values[rows]), read_only(ends)


def to_unit(values: NDArray[np.float32], offsets: Places, used: Places, side: str) -> NDArray[np.float32]:
    """Features scaled to length 1. Raises UsageError with the item and the feature for a zero vector."""
    zero = ~values.any(axis=1)
    if zero.any():
        row = int(zero.argmax())
        at = int(np.searchsorted(offsets, row, side="right")) - 1
        where = f"item {used[at]}, feature {row - offsets[at]} on the {side}"
        raise UsageError(f"{where} is the zero vector, which has no direction: its cosine is undefined")
    out = np.empty_like(values)
    move(values, np.zeros(values.shape[1], np.float32), np.empty((0, 0), np.float32), True, 0, len(values), out)
    return read_only(out)


def pairs_of(a: Features, b: Features, left: Any, right: Any) -> tuple[Places, Places]:
    """The pairs to compare, as int64[m] twice. Raises UsageError for invalid numbers."""
    many, others = len(a[1]) - 1, len(b[1]) - 1
    if left is None and right is None:
        same_size(many, others)
        return np.arange(many), np.arange(many)
    found = []
    for given, most, side in ((left, many, "left"), (right, others, "right")):
        array = np.asarray(given)
        if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
            raise UsageError(f"{side}= must be numbers of sets, int[m]; got {array.dtype} of shape {array.shape}")
        if array.size and not 0 <= array.min() <= array.max() < most:
            raise UsageError(f"{side}= holds {array.min()} to {array.max()}, but there are {most} sets, numbered from 0")
        found.append(array.astype(np.int64))
    if len(found[0]) != len(found[1]):
        raise UsageError(f"{len(found[0])} sets on the left and {len(found[1])} on the right; give the same number on both sides")
    return found[0], found[1]
