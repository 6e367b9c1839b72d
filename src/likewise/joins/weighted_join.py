"""All pairs of weighted sets at or above a weighted Jaccard threshold, by comparing all."""

from __future__ import annotations

from typing import Any

import numpy as np

from likewise.items.sets import read_only
from likewise.joins.hamming_join import TableJoin, all_pairs_join
from likewise.joins.pairs import PairBlock
from likewise.kernels.weighted_nearest import similarities

#: Nanoseconds of one core of 2026 to compare two weighted sets, and for each element.
PAIR_COST, ELEMENT_COST = 20.0, 4.0


def weighted_join(values: np.ndarray, offsets: np.ndarray, limit: float, **how: Any) -> TableJoin:
    """The join of weighted sets; the value is the similarity.

    values: uint64[m], the elements of each set followed by the bits of their weights; offsets: int64[n + 1]. ``how``: per and workers, as for
    `joins.hamming_join.TableJoin`.
    """
    sets, n = (read_only(values), read_only(offsets)), len(offsets) - 1

    def check(left: np.ndarray, right: np.ndarray) -> tuple[PairBlock, int]:
        found = similarities(*sets, read_only(left), read_only(right))
        good = found >= limit
        return PairBlock(left[good], right[good], found[good]), len(left)

    return all_pairs_join(n, check, n * (n - 1) / 2 * (PAIR_COST + ELEMENT_COST * len(values) / max(1, n)), **how)
