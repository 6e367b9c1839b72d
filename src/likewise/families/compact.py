"""Compact forms of histograms: one bit per bin, a few bits per bin, and a selection of bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.families.checks import index

#: Numbers of bits of a bin that divide a byte.
BITS = (1, 2, 4)


def occupied(histograms: NDArray[Any]) -> NDArray[np.uint64]:
    """One bit for each bin that is not empty: [n, bins] to uint64[n, words], padded with zeros. The lowest bit of a word comes first.

    Bits hold eight times as many bins as the same number of bytes. If bins are so fine that a few per cent of them are filled, bits separate sets
    better than bytes do. `measures.matching` takes such words: both of its sums are then the number of bins that two sets share.
    """
    given = table(histograms)
    words = -(-given.shape[1] // 64)
    packed = np.zeros((len(given), words * 8), np.uint8)
    bits = np.packbits(given > 0, axis=1, bitorder="little")
    packed[:, : bits.shape[1]] = bits
    return packed.view("<u8").astype(np.uint64).reshape(*histograms.shape[:-1], words)


def packed(histograms: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """1, 2 or 4 bits per bin: [n, bins] of whole counts to uint8[n, ceil(bins * bits / 8)]. Counts saturate at 2^bits - 1."""
    given, width = table(histograms), width_of(bits)
    low = np.minimum(given, 2**width - 1).astype(np.uint8)
    spread = (low[..., np.newaxis] >> np.arange(width, dtype=np.uint8) & np.uint8(1)).reshape(len(low), -1)
    return np.packbits(spread, axis=1, bitorder="little").reshape(*histograms.shape[:-1], -1)


def unpacked(codes: NDArray[np.uint8], bits: int, bins: int) -> NDArray[np.uint8]:
    """The counts that `packed` kept: uint8[n, bins]."""
    width = width_of(bits)
    spread = np.unpackbits(np.atleast_2d(codes), axis=1, count=bins * width, bitorder="little").reshape(-1, bins, width)
    return (spread << np.arange(width, dtype=np.uint8)).sum(axis=2, dtype=np.uint8).reshape(*codes.shape[:-1], bins)


def most_varied(histograms: NDArray[Any], count: int) -> NDArray[np.int64]:
    """The ``count`` bins with the largest variance over a sample, ascending: int64[count]. Take histograms[:, chosen].

    Choose once, on a sample, and take the same bins everywhere. Raises UsageError for a count that is not from 1 to the number of bins.
    """
    given, many = table(histograms), index(count)
    if many is None or not 1 <= many <= given.shape[1]:
        raise UsageError(f"most_varied of {count!r} bins: give a whole number from 1 to {given.shape[1]}")
    order = np.argsort(-given.astype(float).var(axis=0), kind="stable")
    return np.sort(order[:many])


def width_of(bits: Any) -> int:
    """The number of bits as an int. Raises UsageError if it is not one of `BITS`."""
    if index(bits) not in BITS:
        raise UsageError(f"{bits!r} bits per bin: choose one of {', '.join(map(str, BITS))}")
    return int(bits)


def table(histograms: Any) -> NDArray[Any]:
    """Histograms as rows, [n, bins]. Raises UsageError for anything else."""
    if not isinstance(histograms, np.ndarray) or histograms.ndim not in (1, 2) or histograms.dtype.kind not in "uif":
        raise UsageError(f"histograms must be an array of numbers, one row per set, as from Histograms.embed; got {type(histograms).__name__}")
    return np.atleast_2d(histograms)
