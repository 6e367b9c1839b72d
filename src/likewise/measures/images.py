"""Similarity of images: how well their small gray pictures correlate, block by block, after one was aligned to the other.

An image is compared by the small gray picture in its payload: uint8[WIDTH] (items.images). The alignment (scale and shift in each direction) undoes
crops, and correlation ignores changes of brightness and contrast. Colors are not compared, and copies that are mirrored or turned are not recognized.
`benchmarks/images.py` measures how well this tells copies from other images.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.images import SIDE
from likewise.items.perceptual import frequencies, means, packed
from likewise.kernels.pictures import similarities

#: The threshold at which copies with mild changes are distinguished from other images.
THRESHOLD = 0.8
#: Bits of a hash, and how many differ at most between images that are compared.
BITS, WITHIN = 256, 76
#: The hash compares this many parts of each row and column; a part is brighter than the next if its mean is higher by more than these levels.
PARTS, MARGIN = 8, 2
#: The frequencies whose signs are the rest of the hash: the lowest ones, by the sum of both directions.
LOW = sorted(((u, v) for u in range(16) for v in range(16) if u + v), key=lambda pair: (sum(pair), max(pair), pair))[: BITS - 2 * PARTS**2]


def hashes_of(payloads: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """The hashes by which candidates are found, uint64[n, BITS / 64]: differences of parts in x and y, and signs of frequencies.

    payloads: uint8[n, WIDTH].
    """
    small = payloads.reshape(-1, SIDE, SIDE)
    enough = MARGIN * SIDE**2
    across = np.diff(means(small, PARTS, PARTS + 1), axis=2) > enough
    down = np.diff(means(small, PARTS + 1, PARTS), axis=1) > enough
    u, v = np.array(LOW).T
    signs = frequencies(small, 16)[:, u, v] > 0
    return packed(np.concatenate([across.reshape(-1, PARTS**2), down.reshape(-1, PARTS**2), signs], axis=1))


def similarity(a: NDArray[np.uint8], b: NDArray[np.uint8]) -> NDArray[np.float64]:
    """The similarity of the i-th payloads of two batches, float64[n], 0 to 1; symmetric, and 1 for equal ones. a, b: uint8[n, WIDTH].

    Images of one color are compared by their gray levels.
    """
    values: NDArray[np.float64] = similarities(a.reshape(-1, SIDE, SIDE), b.reshape(-1, SIDE, SIDE))
    return values
