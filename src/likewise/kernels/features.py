"""Feature vectors of sets: moved to a centre and to principal axes, put into bins by bits of hash functions, and summed up bin by bin.

Sums run over the coordinates, and over the features of a set, in their order; no item depends on the others.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.kernels.jit import inline, kernel
from likewise.kernels.projections import ROWS, project


@kernel
def move(vectors, centre, axes, unit, begin, end, out):
    """Fill out[begin:end], float32[n, k]: (vector - centre) · axes, or vector - centre where axes has no columns; ``unit``: scaled to length 1.

    axes: float32[padded d, k]. What is moved onto the centre stays a zero vector.
    """
    dimension = vectors.shape[1]
    tile = np.zeros((ROWS, max(axes.shape[0], dimension)), np.float32)
    sums = np.empty((ROWS, out.shape[1]), np.float32)
    for first in range(begin, end, ROWS):
        rows = min(ROWS, end - first)
        for r in range(rows):
            for i in range(dimension):
                tile[r, i] = vectors[first + r, i] - centre[i]
        if axes.shape[1]:
            project(tile[:rows], axes, sums[:rows])
        else:
            sums[:rows] = tile[:rows, :dimension]
        for r in range(rows):
            row = sums[r]
            length = 1.0
            if unit:
                squares = 0.0
                for i in range(row.size):
                    squares += np.float64(row[i]) * row[i]
                length = math.sqrt(squares) if squares > 0 else 1.0
            for i in range(row.size):
                out[first + r, i] = np.float32(row[i] / length)


@kernel
def codes_of(bits, width, masks):
    """``width`` bits in a row as one number, the first of them the lowest bit, XOR its mask: uint8[n, m * width] to uint32[n, m]."""
    n, m = bits.shape[0], masks.size
    out = np.empty((n, m), np.uint32)
    for i in range(n):
        for j in range(m):
            code = masks[j]
            for b in range(width):
                code ^= np.uint32(bits[i, j * width + b]) << np.uint32(b)
            out[i, j] = code
    return out


@kernel
def count(codes, offsets, weights, sums, size, out):
    """Add the features of each set to its bins, out float64[n, tables * size]: ``sums`` codes in a row go to one table.

    codes: of the features from offsets[0] on; weights: float64, one a feature, or none.
    """
    start = offsets[0]
    for s in range(len(offsets) - 1):
        row = out[s]
        for i in range(offsets[s] - start, offsets[s + 1] - start):
            weight = weights[i] if weights.size else 1.0
            for j in range(codes.shape[1]):
                row[np.int64(codes[i, j]) + j // sums * size] += weight


@kernel
def gather(codes, vectors, offsets, size, means, out):
    """Fill out float32[n, tables * size * d]: in each bin of a table the sum of a set's vectors there; ``means``: their mean.

    And with means a bin that has no vector gets what the nearest bin has that has some: its code differs in the fewest bits, and is the lowest such.
    """
    tables, d = codes.shape[1], vectors.shape[1]
    start = offsets[0]
    sums, counts = np.empty((size, d)), np.empty(size, np.int64)
    sources, differ = np.empty(size, np.int64), np.empty(size, np.int64)
    for s in range(len(offsets) - 1):
        for table in range(tables):
            sums[:] = 0
            counts[:] = 0
            for i in range(offsets[s] - start, offsets[s + 1] - start):
                here = np.int64(codes[i, table])
                counts[here] += 1
                for z in range(d):
                    sums[here, z] += vectors[i, z]
            if means:
                nearest_filled(counts, sources, differ)
            for code in range(size):
                source = sources[code] if means else code
                share = np.float64(counts[source]) if means else 1.0
                at = (table * size + code) * d
                for z in range(d):
                    out[s, at + z] = sums[source, z] / share


@inline
def nearest_filled(counts, sources, differ):
    """sources[code]: the code in the fewest bits from this one that counts something, the lowest of equals; differ: in how many bits.

    Bit after bit: then the nearest of both halves that a bit makes of the codes is known.
    """
    for code in range(counts.size):
        sources[code], differ[code] = code, 0 if counts[code] else 64
    bit = 1
    while bit < counts.size:
        for code in range(counts.size):
            other = code | bit
            if other != code:
                mine, yours = sources[code], sources[other]
                near, far = differ[code], differ[other]
                if far + 1 < near or (far + 1 == near and yours < mine):
                    sources[code], differ[code] = yours, far + 1
                if near + 1 < far or (near + 1 == far and mine < yours):
                    sources[other], differ[other] = mine, near + 1
        bit *= 2
