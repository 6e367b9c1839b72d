"""All similar pairs of items of any kind, by the function of their measure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from likewise.joins.hamming_join import TableJoin, all_pairs_join
from likewise.joins.pairs import PairBlock

#: Nanoseconds of one core of 2026 for a pair and for each of its words, by a function of arrays.
PAIR_COST, WORD_COST = 100.0, 5.0

Words = tuple[np.ndarray, np.ndarray]


def measured_join(words: Words, measure: Callable[[Words, Words], np.ndarray], limit: float, distances: bool, **how: Any) -> TableJoin:
    """The join of items that compares all pairs.

    words: uint64[m], the words of the items, and int64[n + 1], where each begins. measure: the values of the i-th items of two batches of words.
    limit: the minimum similarity, or with ``distances`` the maximum distance. ``how``: further arguments of
    `joins.hamming_join.all_pairs_join`.
    """
    values, offsets = words
    size, n = np.diff(offsets), len(offsets) - 1

    def at(items: np.ndarray) -> Words:
        ends = np.concatenate(([0], np.cumsum(size[items], dtype=np.int64)))
        return values[np.arange(int(ends[-1])) + np.repeat(offsets[items] - ends[:-1], size[items])], ends

    def check(left: np.ndarray, right: np.ndarray) -> tuple[PairBlock, int]:
        value = np.asarray(measure(at(left), at(right)), np.float64)
        good = value <= limit if distances else value >= limit
        return PairBlock(left[good], right[good], value[good]), len(left)

    return all_pairs_join(n, check, n * (n - 1) / 2 * (PAIR_COST + WORD_COST * len(values) / max(1, n)), **how)
