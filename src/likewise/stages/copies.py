"""Exact copies: rows with equal normalized texts collapse into the first of them before anything is compared."""

from __future__ import annotations

import numpy as np

from likewise.kernels.bands import repeated
from likewise.options import Options
from likewise.records import REJECTED, TEXT

#: The most rows that int32 can number.
MOST_ROWS = 2**31 - 1


def roles(kind: np.ndarray, tokens: np.ndarray, copy: np.ndarray, options: Options) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(identities, uint64[n, 2]; rows to compare; rows that may be copies of others, bool[n] each) of columns of schema.ROW_COLUMNS."""
    live = (kind == TEXT) & (tokens > 0) & (tokens >= options.min_tokens)
    if options.copies != "empty":
        return copy, live, live
    empty = (kind != REJECTED) & (tokens == 0)
    return np.where(empty[:, None], np.uint64(0), copy), live, live | empty


def nothing_left(ignored: np.ndarray) -> np.ndarray:
    """bool[n]: rows all of whose shingles are ignored, so that nothing is left to compare. ignored: schema.IGNORED."""
    return np.asarray((ignored[:, 0] > 0) & (ignored[:, 0] == ignored[:, 1]))


def first_of_copies(copy: np.ndarray, per: np.ndarray, live: np.ndarray, rank: np.ndarray) -> np.ndarray:
    """The first row in priority order with an equal 128-bit identity and group, or the row itself: int32[n], or int64[n] for many rows.

    copy: uint64[n, 2], the identities. per: uint64[n], the groups. live: bool[n]; other rows stand for themselves. rank: int64[n], the place in
    priority order.
    """
    first = np.arange(len(live), dtype=np.int32 if len(live) <= MOST_ROWS else np.int64)  # half the memory, which counts for many rows
    rows = np.flatnonzero(repeated(np.ascontiguousarray(copy[:, 0])) & live)
    rows = rows[repeated(np.ascontiguousarray(copy[rows, 1]))]  # few rows are left: only these can have a copy
    rows = rows[np.lexsort((rank[rows], per[rows], copy[rows, 1], copy[rows, 0]))]
    if not len(rows):
        return first
    same = (copy[rows[1:]] == copy[rows[:-1]]).all(axis=1) & (per[rows[1:]] == per[rows[:-1]])
    heads = np.concatenate(([0], np.flatnonzero(~same) + 1))
    first[rows] = np.repeat(rows[heads], np.diff(np.append(heads, len(rows))))
    return first
