"""Projections on many directions, and the bits and buckets made from them.

A sum runs over the coordinates in their order, multiplied and then added, vectorized over slots: neither the other rows of a batch nor the width
of a machine's vectors changes a bit of it. (A BLAS matrix product changes with both.) So there is no fastmath here.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.directions import STEP

ROWS = 16  # items that share what is loaded of the directions


@inline
def scaled(vector, unit, out):
    """Fill ``out``, float32[d], with the direction of a vector of any length, from 1e-30 to 1e200; x and 2x give the same.

    The vector is divided by a power of two, so that its largest magnitude is from 1/2 to 1, and whole numbers still add up exactly, to 0 too. With
    ``unit`` it is divided by its length instead, so that x and 3x give the same up to the last bit of a float64.
    """
    largest = 0.0
    for i in range(vector.size):
        largest = max(largest, abs(np.float64(vector[i])))
    exponent = math.frexp(largest)[1]
    half, rest = math.ldexp(1.0, -(exponent // 2)), math.ldexp(1.0, exponent // 2 - exponent)  # 2^1073 in one factor would be infinite
    length = 1.0
    if unit:
        squares = 0.0
        for i in range(vector.size):
            squares += (np.float64(vector[i]) * half * rest) ** 2
        length = math.sqrt(squares)
    for i in range(vector.size):
        out[i] = np.float32(np.float64(vector[i]) * half * rest / length)


@inline
def project(tile, directions, sums):
    """Fill sums[r, c] with tile[r] · directions[:, c]. tile: [rows, d]. directions: [d, slots], d a multiple of STEP."""
    sums[:] = 0
    for i in range(0, tile.shape[1], STEP):
        v0, v1, v2, v3 = directions[i], directions[i + 1], directions[i + 2], directions[i + 3]
        for r in range(tile.shape[0]):
            x0, x1, x2, x3 = tile[r, i], tile[r, i + 1], tile[r, i + 2], tile[r, i + 3]
            row = sums[r]
            for c in range(row.size):
                row[c] = row[c] + x0 * v0[c] + x1 * v1[c] + x2 * v2[c] + x3 * v3[c]


@kernel
def sides(vectors, directions):
    """The side of each hyperplane on which a vector lies: uint8[n, slots], 1 where v·x >= 0. directions: float32[padded d, slots]."""
    n, slots = vectors.shape[0], directions.shape[1]
    tile = np.zeros((ROWS, directions.shape[0]), np.float32)
    sums = np.empty((ROWS, slots), np.float32)
    out = np.empty((n, slots), np.uint8)
    for begin in range(0, n, ROWS):
        rows = min(ROWS, n - begin)
        for r in range(rows):
            scaled(vectors[begin + r], False, tile[r])
        project(tile[:rows], directions, sums[:rows])
        for r in range(rows):
            for c in range(slots):
                out[begin + r, c] = sums[r, c] >= 0
    return out


@kernel
def buckets(vectors, directions, shifts, width):
    """floor((a·x + u)/w) modulo 2^32: uint32[n, slots]. directions: float64[padded d, slots]. shifts: float64[slots], from 0 to width."""
    n, slots = vectors.shape[0], directions.shape[1]
    tile = np.zeros((ROWS, directions.shape[0]))
    sums = np.empty((ROWS, slots))
    out = np.empty((n, slots), np.uint32)
    for begin in range(0, n, ROWS):
        rows = min(ROWS, n - begin)
        for r in range(rows):
            for i in range(vectors.shape[1]):
                tile[r, i] = vectors[begin + r, i]
        project(tile[:rows], directions, sums[:rows])
        for r in range(rows):
            for c in range(slots):
                bucket = math.floor((sums[r, c] + shifts[c]) / width)
                out[begin + r, c] = np.uint32(np.int64(bucket - 2.0**32 * math.floor(bucket * 2.0**-32)))
    return out
