"""Similarity of images: the correlation of their small gray pictures.

An image is compared by the small gray picture in its payload: uint8[WIDTH] (items.images).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.images import SIDE
from likewise.items.perceptual import dct_bits

#: The threshold at which copies with mild changes are told from other images, and the bits of a hash.
THRESHOLD, BITS = 0.8, 256
#: Bits that differ at most between the hashes of images that are compared.
WITHIN = 96


def hashes_of(payloads: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hashes by which candidates are found, uint64[n, BITS / 64]. payloads: uint8[n, WIDTH]."""
    return dct_bits(payloads.reshape(-1, SIDE, SIDE), BITS)


def similarity(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The similarity of the i-th payloads of two batches, float64[n], 0 to 1. a, b: uint8[n, WIDTH]."""
    left, right = (side.astype(np.float64) - side.mean(axis=1, keepdims=True) for side in (a, b))
    products, lengths = (left * right).sum(axis=1), np.sqrt((left**2).sum(axis=1) * (right**2).sum(axis=1))
    flat = np.where((a == b).all(axis=1), 1.0, 0.0)
    return np.clip(np.divide(products, lengths, out=flat, where=lengths > 0), 0.0, 1.0)
