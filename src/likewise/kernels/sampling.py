"""One bit of an item for each slot: a bit of a code, or a coordinate compared with a threshold."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel


@kernel
def bits_at(codes, positions):
    """The bits of each code at these positions: uint8[n, slots]. codes: uint64[n, words]. positions: int64[slots]."""
    n, slots = codes.shape[0], positions.size
    out = np.empty((n, slots), np.uint8)
    for i in range(n):
        for j in range(slots):
            out[i, j] = (codes[i, positions[j] >> 6] >> np.uint64(positions[j] & 63)) & np.uint64(1)
    return out


@kernel
def reaches(vectors, coordinates, thresholds):
    """1 where a coordinate is at least its threshold: uint8[n, slots]. vectors: [n, d]. coordinates: int64[slots]. thresholds: float64[slots]."""
    n, slots = vectors.shape[0], coordinates.size
    out = np.empty((n, slots), np.uint8)
    for i in range(n):
        for j in range(slots):
            out[i, j] = np.float64(vectors[i, coordinates[j]]) >= thresholds[j]
    return out
