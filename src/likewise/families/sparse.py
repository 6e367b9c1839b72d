"""Sparse vectors on random directions: the directions of dense vectors, computed only for the indices that occur."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from likewise.items.sparse import Sparse
from likewise.kernels.directions import KINDS
from likewise.kernels.sparse import projections

#: Numbers of directions, or sums, made at once, and the minimum of slots.
AT_ONCE, LEAST = 1 << 22, 16


def on_directions(items: Sparse, values: NDArray[np.floating], kind: str, seed: int, slots: int) -> Iterator[tuple[slice, NDArray[np.floating]]]:
    """Products of the vectors with the directions of slots, a block of slots at a time: (slots, [n, slots of the block] of the type of ``values``).

    values: float32[m] or float64[m], in place of those of ``items``. kind: of kernels.directions.KINDS.
    """
    coordinates, place = np.unique(items.indices, return_inverse=True)
    step = max(LEAST, AT_ONCE // max(1, len(coordinates), len(items)))
    for begin in range(0, slots, step):
        count = min(step, slots - begin)
        yield slice(begin, begin + count), projections(KINDS[kind], np.uint64(seed), coordinates, place, values, items.offsets, begin, count)
