"""Exact copies: rows whose normalised texts are equal collapse into the first of them before anything is compared."""

from __future__ import annotations

import numpy as np

from likewise.kernels.bands import repeated

#: Rows that 32 bits can number.
MOST_ROWS = 2**31 - 1


def first_of_copies(copy: np.ndarray, per: np.ndarray, live: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """For each row the first row, in keep order, with the same 128-bit identity and group; itself where there is none. int32[n], or int64[n]

    copy: uint64[n, 2]; per: uint64[n]; live: bool[n], others stand for themselves; rank: int64[n], place in keep order.
    """
    first = np.arange(len(live), dtype=np.int32 if len(live) <= MOST_ROWS else np.int64)  # of many rows it is much
    rows = np.flatnonzero(repeated(np.ascontiguousarray(copy[:, 0])) & live)
    rows = rows[repeated(np.ascontiguousarray(copy[rows, 1]))]  # few: only these can have a copy
    rows = rows[np.lexsort((rank[rows], per[rows], copy[rows, 1], copy[rows, 0]))]
    if not len(rows):
        return first
    same = (copy[rows[1:]] == copy[rows[:-1]]).all(axis=1) & (per[rows[1:]] == per[rows[:-1]])
    heads = np.concatenate(([0], np.flatnonzero(~same) + 1))
    first[rows] = np.repeat(rows[heads], np.diff(np.append(heads, len(rows))))
    return first
