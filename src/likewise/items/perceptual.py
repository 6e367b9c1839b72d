"""Perceptual hashes of pictures: codes that differ in few bits where pictures look alike. Integers only, so codes do not depend on the machine."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.pictures import shrunk

#: The bits that a hash may have: the squares of 8 and 16.
SIZES = (64, 256)
#: Scale of the integers that stand for cosines.
SCALE = 2**14


def small_gray(picture: NDArray[np.uint8], side: int) -> NDArray[np.uint8]:
    """The gray values (ITU-R BT.601) of a picture reduced to ``side`` × ``side``: uint8[side, side].

    picture: uint8[height, width, 3] in the order blue, green, red, or uint8[height, width].
    """
    small = shrunk(np.ascontiguousarray(picture.reshape(*picture.shape[:2], -1)), side)
    if small.shape[2] == 1:
        return small[:, :, 0]
    gray: NDArray[np.uint8] = ((small @ np.array([114, 587, 299]) + 500) // 1000).astype(np.uint8)
    return gray


def dct_bits(small: NDArray[np.uint8], bits: int) -> NDArray[np.uint64]:
    """phash: which of the lowest frequencies of a picture, without the mean, are above their median (Zauner 2010): uint64[n, bits / 64].

    small: uint8[n, side, side]. The frequencies are those of the discrete cosine transform II, from 1 on in each direction.
    """
    side, low = small.shape[1], math.isqrt(bits)
    angles = np.pi / side * np.outer(np.arange(1, low + 1), np.arange(side) + 0.5)
    cosines = np.rint(SCALE * np.cos(angles)).astype(np.int64)
    values = (cosines @ small.astype(np.int64) @ cosines.T).reshape(-1, bits)
    return packed(2 * values > np.sort(values, axis=1)[:, bits // 2 - 1 : bits // 2 + 1].sum(axis=1, keepdims=True))


def packed(bits: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Rows of bits, bool[n, 64 * words], as words uint64[n, words], the first bit lowest."""
    return np.packbits(bits, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)
