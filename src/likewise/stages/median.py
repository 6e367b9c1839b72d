"""The median of values that come in blocks, several times, so that they never have to be in memory at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

#: Bits of a value that are found in one pass.
BITS = 16
SIGN = np.uint64(1 << 63)


def median(blocks: Callable[[], Iterable[np.ndarray]]) -> float | None:
    """The median of all values of blocks, float64[n] each, none of them NaN; None without any value.

    A pass counts the values by 16 bits, and so finds these bits of the two values in the middle. Four passes find all 64.
    """
    prefix, rank = np.zeros(2, np.uint64), np.zeros(2, np.int64)
    for done in range(0, 64, BITS):
        counts = np.zeros((2, 1 << BITS), np.int64)
        for values in blocks():
            words = ordered(values)
            for count, begin in zip(counts, prefix, strict=True):
                some = words[words >> np.uint64(64 - done) == begin] if done else words
                count += np.bincount((some >> np.uint64(64 - done - BITS)).astype(np.int64) % (1 << BITS), minlength=1 << BITS)
        if not done:
            number = int(counts[0].sum())
            if not number:
                return None
            rank[:] = (number - 1) // 2, number // 2
        ends = np.cumsum(counts, axis=1)
        digit = np.array([np.searchsorted(end, at, side="right") for end, at in zip(ends, rank, strict=True)])
        rank -= (ends - counts)[[0, 1], digit]
        prefix = prefix << np.uint64(BITS) | digit.astype(np.uint64)
    return float(np.mean(values_of(prefix)))


def ordered(values: np.ndarray) -> np.ndarray:
    """Words in the order of the values, float64[n]: uint64[n]."""
    words = np.ascontiguousarray(values, np.float64).view(np.uint64)
    return np.where(words & SIGN, ~words, words | SIGN)


def values_of(words: np.ndarray) -> np.ndarray:
    """The values whose `ordered` words these are."""
    return np.where(words & SIGN, words ^ SIGN, ~words).view(np.float64)
