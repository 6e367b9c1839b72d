"""Sparse vectors on random directions: the same ones as for dense vectors, made for the indices that occur."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from likewise.items.sparse import Sparse
from likewise.kernels.directions import KINDS
from likewise.kernels.sparse import projections

#: Numbers of directions, or sums, that are made at once, and the fewest slots that are.
AT_ONCE, LEAST = 1 << 22, 16


def on_directions(items: Sparse, values: NDArray[np.floating], kind: str, seed: int, slots: int) -> Iterator[tuple[slice, NDArray[np.floating]]]:
    """Products of the vectors with the directions of so many slots, some slots at a time: [n, some] of the type of ``values``.

    values: float32[m] or float64[m], in place of those of ``items``; kind: of kernels.directions.
    """
    coordinates, place = np.unique(items.indices, return_inverse=True)
    step = max(LEAST, AT_ONCE // max(1, len(coordinates), len(items)))
    for begin in range(0, slots, step):
        count = min(step, slots - begin)
        yield slice(begin, begin + count), projections(KINDS[kind], np.uint64(seed), coordinates, place, values, items.offsets, begin, count)
