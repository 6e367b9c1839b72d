"""The overfull buckets of a segment: it stores their first members with each key of the next band (stages/candidates.py).

A query is compared with these in place of all members. Finding them again would mean reading each entry of that band.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from likewise.kernels import segments, sorted_bands
from likewise.kernels.sorted_bands import ROW, Band
from likewise.stages import candidates

#: Arrays of buckets: the band, the key and the keys of the next bands by which it is split, each + 1, then zeros; the place where its heads begin;
#: the rows of heads, and their keys in the band after these.
Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def budget() -> int:
    """The maximum number of contents of a bucket that is not split by the next band."""
    return max(1, candidates.BUDGET)


def levels(bands: int) -> int:
    """The number of further bands by which an overfull bucket is split."""
    return min(candidates.FINER, bands - 1)


def first_of_each(keys: np.ndarray, most: int) -> np.ndarray:
    """The places of the first of each key, at most so many: int64[n], ascending. keys: uint64[n]."""
    table, places = np.zeros((1 << (4 * most).bit_length(), 2), np.uint64), np.empty(most, np.int64)
    return places[: segments.heads(np.ascontiguousarray(keys), table, places)]


def kept_of(bands: Sequence[Band], keys: Callable[[int], np.ndarray]) -> Arrays:
    """The heads of all overfull buckets. keys: the keys of a band by row, uint64[rows]; after the last band comes the first."""
    most, depth = budget(), levels(len(bands))
    found = [each for band, made in enumerate(bands) for each in _of_band(band, made, keys, most, depth)] if depth else []
    names = np.zeros((len(found), 2 + candidates.FINER), np.uint64)
    for place, (name, _, _) in enumerate(found):
        names[place, : len(name)] = name
    ends = np.cumsum([0, *(len(rows) for _, rows, _ in found)], dtype=np.uint64)
    rows = np.concatenate([np.zeros(0, np.uint32), *(rows.astype(np.uint32) for _, rows, _ in found)])
    return names, ends, rows, np.concatenate([np.zeros(0, np.uint64), *(finer for _, _, finer in found)])


Found = tuple[list[int], np.ndarray, np.ndarray]


def _of_band(band: int, made: Band, keys: Callable[[int], np.ndarray], most: int, depth: int) -> Iterator[Found]:
    runs = np.empty((len(made.entries) // most, 2), np.int64)
    runs = runs[: sorted_bands.long_runs(made.borders, made.entries, most, runs)]
    if not len(runs):
        return
    own, *finer = (keys(band + level) for level in range(depth + 1))
    for begin, end in runs.tolist():
        rows = (made.entries[begin:end] & ROW).astype(np.int64)
        yield from _split([band, int(own[rows[0]]) + 1], rows, finer, most)


def _split(name: list[int], rows: np.ndarray, columns: Sequence[np.ndarray], most: int) -> Iterator[Found]:
    """The heads of a bucket, then those of its finer ones that are overfull too."""
    finer = columns[0][rows]
    places = first_of_each(finer, most)
    yield name, rows[places], finer[places]
    if len(columns) > 1:
        order = np.argsort(finer, kind="stable")
        begins = np.flatnonzero(np.diff(finer[order], prepend=~finer[order[0]]))
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(order)], strict=True):
            if end - begin >= most:
                yield from _split([*name, int(finer[order[begin]]) + 1], rows[order[begin:end]], columns[1:], most)


class Heads:
    """The heads that a segment keeps."""

    def __init__(self, arrays: Sequence[np.ndarray], width: int):
        """Raises ValueError for arrays that do not fit together. width: of a name."""
        names, self._ends, self._rows, self._keys = arrays
        self._names = names.reshape(-1, width)
        ends = self._ends
        if len(ends) != len(self._names) + 1 or not len(self._rows) == len(self._keys) == ends[-1] or ends[0] or (ends[1:] < ends[:-1]).any():
            raise ValueError

    def range_of(self, band: int, keys: tuple[int, ...]) -> tuple[int, int]:
        """Where the heads of a bucket begin and end; (0, 0) if it is not overfull."""
        wanted = [band, *(key + 1 for key in keys)]
        wanted += [0] * (self._names.shape[1] - len(wanted))
        place = bisect_left(range(len(self._names)), wanted, key=lambda place: self._names[place].tolist())
        if place == len(self._names) or self._names[place].tolist() != wanted:
            return 0, 0
        return int(self._ends[place]), int(self._ends[place + 1])
