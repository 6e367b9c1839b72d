"""Random matrices by address: entry (i, j), coordinate i of the function of slot j, depends on seed, i and j alone.

So the functions of the first k slots are the same for any number of slots, and a coordinate can be computed without those before it.
Gaussians are inverse normals made of + - * / and square roots, which IEEE 754 defines to the last bit: library logarithms and tangents differ
between machines, and between the middle and the end of a vectorized loop.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from likewise.compiled.jit import inline, kernel
from likewise.kernels.hashing import mix64

GOLDEN = 0x9E3779B97F4A7C15  # odd, arbitrary constants that separate rows and columns
COLUMN = 0xD1B54A32D192ED03

#: Kinds of entries: standard normal, Cauchy, +1 or -1, uniform between 0 and 1. Each has its own stream under one seed.
GAUSSIAN, CAUCHY, SIGNS, UNIFORM = 1, 2, 3, 4
KINDS = {"gaussian": GAUSSIAN, "cauchy": CAUCHY, "signs": SIGNS, "uniform": UNIFORM}

#: Coordinates that projections take at a time; directions are padded with zeros to a multiple.
STEP = 4

#: The inverse normal is one quotient of polynomials up to this distance from 1/2, and another down to this distance (e^-25) from 0 and 1.
MIDDLE, FARTHEST = 0.425, 1.3887943864964021e-11
#: Normals below this magnitude are computed by the second quotient.
FAR = 6.6

#: Divisors, which are never 0, are not checked: so loops are vectorized.
unchecked = partial(inline, error_model="numpy")


@inline
def uniform(word):
    """52 bits of a word as a float64 in (0, 1), (2k + 1) / 2^53: never 0, 1/2 or 1."""
    return (np.float64(word >> np.uint64(12)) + 0.5) * 2.0**-52


@unchecked
def logarithm(x):
    """The natural logarithm of a normal float64 above 0, to 1e-12: the series of 2 artanh((m - 1)/(m + 1)) for its mantissa m, 1/2 to 1."""
    bits = np.float64(x).view(np.int64)
    exponent = (bits >> 52) - 1022
    m = np.int64(bits - (exponent << 52)).view(np.float64)
    s = (m - 1) / (m + 1)  # from -1/3 to 0
    total = 0.0
    for k in range(25, 0, -2):
        total = total * s * s + 1.0 / k
    return 2 * s * total + exponent * 0.6931471805599453


@unchecked
def middle(q):
    """`normal` of q + 1/2, for |q| <= MIDDLE."""
    r = 0.180625 - q * q
    above = ((59.109374720 * r + 159.29113202) * r + 50.434271938) * r + 3.3871327179
    return q * above / (((67.187563600 * r + 78.757757664) * r + 17.895169469) * r + 1)


@unchecked
def outside(p):
    """`normal` of a p further from 1/2, but from FARTHEST to 1 - FARTHEST."""
    r = math.sqrt(-logarithm(min(p, 1 - p))) - 1.6
    tail = (((0.17023821103 * r + 1.3067284816) * r + 2.7568153900) * r + 1.4234372777) / ((0.12021132975 * r + 0.73700164250) * r + 1)
    return tail if p > 0.5 else -tail


@inline
def normal(p):
    """The inverse of the normal distribution function for 0 < p < 1, to a relative error of 1e-7 (Wichura 1988, algorithm AS 241, PPND7)."""
    if abs(p - 0.5) <= MIDDLE:
        return middle(p - 0.5)
    if min(p, 1 - p) >= FARTHEST:
        return outside(p)
    r = math.sqrt(-logarithm(min(p, 1 - p))) - 5
    tail = (((0.017337203997 * r + 0.42868294337) * r + 3.0812263860) * r + 6.6579051150) / ((0.012258202635 * r + 0.24197894225) * r + 1)
    return tail if p > 0.5 else -tail


@inline
def entry(kind, word):
    """The entry, float64, of a kind (GAUSSIAN, CAUCHY, SIGNS, UNIFORM) that a random word stands for."""
    if kind == GAUSSIAN:
        return normal(uniform(word))
    if kind == CAUCHY:  # the ratio of two normals
        return normal(uniform(word)) / normal(uniform(mix64(word ^ np.uint64(COLUMN))))
    if kind == SIGNS:
        return 1.0 if word >> np.uint64(63) else -1.0
    return uniform(word)


@inline
def streams(kind, seed, begin, count):
    """The keys of the slots from ``begin`` on, uint64[count], from which `address` makes random words."""
    key = mix64(seed ^ mix64(np.uint64(kind) * np.uint64(GOLDEN)))
    columns = np.empty(count, np.uint64)
    for j in range(count):
        columns[j] = mix64(key + np.uint64(COLUMN) * np.uint64(begin + j + 1))
    return columns


@inline
def address(column, coordinate):
    """The random word of a coordinate, any uint64, in the slot of ``column``."""
    return mix64(column + np.uint64(GOLDEN) * (coordinate + np.uint64(1)))


@inline
def room(count):
    """Scratch arrays for `fill`."""
    return np.empty(count, np.uint64), np.empty(count, np.int64), np.empty(count)


@unchecked
def fill(kind, columns, coordinate, room, out):
    """Fill out[j] with the `entry` of a coordinate in the slot of columns[j].

    Normals are all computed as middle ones first; then the others are replaced.
    """
    words, places, normals = room
    for j in range(columns.size):
        words[j] = address(columns[j], coordinate)
    if kind != GAUSSIAN:
        for j in range(columns.size):
            out[j] = entry(kind, words[j])
        return
    count = 0
    for j in range(columns.size):
        q = uniform(words[j]) - 0.5
        out[j] = middle(q)
        places[count] = j
        count += abs(q) > MIDDLE
    for k in range(count):
        normals[k] = uniform(words[places[k]])
    for k in range(count):
        normals[k] = outside(normals[k])
    for k in range(count):
        out[places[k]] = normals[k] if abs(normals[k]) < FAR else entry(kind, words[places[k]])


@kernel
def entries(kind, seed, dimension, slots):
    """A matrix of entries, float64[padded dimension, slots]. The dimension is padded with zeros to a multiple of STEP."""
    columns, work = streams(kind, seed, 0, slots), room(slots)
    out = np.zeros((-(-dimension // STEP) * STEP, slots))
    for i in range(dimension):
        fill(kind, columns, np.uint64(i), work, out[i])
    return out


@kernel
def orthonormalize(matrix, dimension, spread):
    """Make columns orthonormal in blocks of ``dimension``, in place. Columns that lie a multiple of ``spread`` apart share a block.

    matrix: float64[rows, slots]. Gram-Schmidt, done twice, which is enough for any precision (Giraud, Langou and Rozložník 2005). The first columns
    of a block do not depend on its later ones, and a column's sums have one order whatever its neighbors are.
    """
    rows, slots = matrix.shape
    sums = np.empty(spread)
    for begin in range(0, slots, spread):
        size = min(spread, slots - begin)
        first = begin // spread // dimension * dimension * spread  # the column that begins the block's rows of ``spread``
        for before in [*range(first, begin, spread), *range(first, begin, spread)]:
            sums[:] = 0
            for i in range(rows):
                for c in range(size):
                    sums[c] += matrix[i, begin + c] * matrix[i, before + c]
            for i in range(rows):
                for c in range(size):
                    matrix[i, begin + c] -= sums[c] * matrix[i, before + c]
        sums[:] = 0
        for i in range(rows):
            for c in range(size):
                sums[c] += matrix[i, begin + c] * matrix[i, begin + c]
        for i in range(rows):
            for c in range(size):
                matrix[i, begin + c] /= math.sqrt(sums[c])


@lru_cache(maxsize=8)
def directions(kind: str, seed: int, dimension: int, slots: int, narrow: bool = False, spread: int = 0):
    """Read-only matrix of a kind of `KINDS`: float64[padded dimension, slots], or float32 if ``narrow``; see `orthonormalize` for ``spread``.

    The last few are cached: hashing a single item costs a projection, not the making of directions.
    """
    matrix = entries(KINDS[kind], np.uint64(seed), dimension, slots)
    if spread:
        orthonormalize(matrix, max(1, dimension), spread)
    matrix = matrix.astype(np.float32) if narrow else matrix
    matrix.setflags(write=False)
    return matrix
