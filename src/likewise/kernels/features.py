"""Feature vectors of sets: moved to a center and to principal axes, assigned to bins by bits of hash functions, and summed bin by bin.

Sums run over the coordinates, and over the features of a set, in their order; no item depends on the others.
"""

from __future__ import annotations

import math

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.projections import ROWS, project


@kernel
def move(vectors, center, axes, unit, begin, end, out):
    """Fill out[begin:end], float32[n, k], with (vector - center) · axes, or vector - center if ``axes`` has no columns.

    vectors: [n, d]. center: [d]. axes: float32[padded d, k]. unit: scale results to length 1; a vector equal to the center stays zero.
    """
    dimension = vectors.shape[1]
    tile = np.zeros((ROWS, max(axes.shape[0], dimension)), np.float32)
    sums = np.empty((ROWS, out.shape[1]), np.float32)
    for first in range(begin, end, ROWS):
        rows = min(ROWS, end - first)
        for r in range(rows):
            for i in range(dimension):
                tile[r, i] = vectors[first + r, i] - center[i]
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
    """Join each ``width`` bits to a number, the first bit the lowest, XORed with its mask: uint8[n, m * width] to uint32[n, m].

    masks: uint32[m].
    """
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
    """Add the features of each set to its bins in ``out``, float64[n, tables * size].

    codes: integers[features, tables * sums], bins below ``size``, of the features from offsets[0] on; ``sums`` consecutive codes count in one table.
    weights: float64[features], or empty for 1 each. offsets: int64[n + 1].
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
    """Fill out, float32[n, tables * size * d], with the sum of a set's vectors in each bin of each table, or with their mean if ``means``.

    codes: integers[features, tables]. vectors: [features, d]. offsets: int64[n + 1]. size: bins of a table.
    With means an empty bin gets the value of the nearest bin that is not empty: its code differs in the fewest bits, the lowest code of equals.
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
    """Find the nearest code with a count, itself included: sources[code], the lowest of equals, and differ[code], in how many bits it differs.

    Works bit by bit: then the nearest codes in both halves that a bit makes are known.
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
