"""Perceptual hashes: codes that differ in few bits if two pictures look the same. Integers only, so the bits do not depend on the machine.

A hash is made of a small gray picture. `small_gray` reduces a decoded picture to it.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.pictures import shrunk

Small = NDArray[np.uint8]  # small gray pictures, uint8[n, side, side]
Bits = NDArray[np.bool_]  # bool[n, bits]

#: Rows and columns of the small picture that the hashes of a file are made of, and the numbers of bits that these may have.
SIDE, SIZES = 64, (64, 256)
#: The integer that stands for a cosine of 1.
ONE = 2**14


def small_gray(picture: NDArray[np.uint8], side: int = SIDE) -> NDArray[np.uint8]:
    """The gray values (ITU-R BT.601) of a picture reduced to ``side`` × ``side`` means: uint8[side, side].

    picture: uint8[height, width, 3] in the order red, green, blue; at least one pixel.
    """
    small = shrunk(np.ascontiguousarray(picture), side)
    gray: NDArray[np.uint8] = ((small @ np.array([299, 587, 114]) + 500) // 1000).astype(np.uint8)
    return gray


def ahash(small: Small, bits: int) -> Bits:
    """Average hash: which of √bits × √bits parts are brighter than the mean of all (Krawetz 2011)."""
    parts = means(small, math.isqrt(bits), math.isqrt(bits)).reshape(-1, bits)
    return parts * bits > parts.sum(axis=1, keepdims=True)


def dhash(small: Small, bits: int) -> Bits:
    """Difference hash: which of √bits × √bits parts are brighter than the part to their left (Krawetz 2013)."""
    rows = math.isqrt(bits)
    return (np.diff(means(small, rows, rows + 1), axis=2) > 0).reshape(-1, bits)


def phash(small: Small, bits: int) -> Bits:
    """DCT hash: which of the √bits × √bits lowest frequencies are above their median (Zauner 2010, section 3.2)."""
    values = frequencies(small, math.isqrt(bits)).reshape(-1, bits)
    middle = np.sort(values, axis=1)[:, bits // 2 - 1 : bits // 2 + 1]
    return 2 * values > middle.sum(axis=1, keepdims=True)


HASHES: dict[str, Callable[[Small, int], Bits]] = {"phash": phash, "dhash": dhash, "ahash": ahash}


def means(small: Small, rows: int, columns: int) -> NDArray[np.int64]:
    """The means of rows × columns equal parts, times a constant: int64[n, rows, columns]."""
    side = small.shape[1]
    found: NDArray[np.int64] = shares(rows, side) @ small.astype(np.int64) @ shares(columns, side).T
    return found


def shares(parts: int, side: int) -> NDArray[np.int64]:
    """How much of each of ``side`` pixels lies in each of ``parts`` equal parts of their row, in units of 1 / parts pixels: int64[parts, side]."""
    part, pixel = np.arange(parts)[:, None] * side, np.arange(side) * parts
    return np.maximum(np.minimum(part + side, pixel + parts) - np.maximum(part, pixel), 0)


def frequencies(small: Small, low: int) -> NDArray[np.int64]:
    """The lowest frequencies of the discrete cosine transform II of pictures without their mean, times a constant: int64[n, low, low]."""
    side = small.shape[1]
    cosines = np.rint(ONE * np.cos(np.pi / side * np.outer(np.arange(low), np.arange(side) + 0.5))).astype(np.int64)
    centered = small.astype(np.int64) * side**2 - small.sum(axis=(1, 2), dtype=np.int64, keepdims=True)
    found: NDArray[np.int64] = cosines @ centered @ cosines.T
    return found


def packed(bits: Bits) -> NDArray[np.uint64]:
    """Bits as words, uint64[n, bits / 64], the first bit lowest."""
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
