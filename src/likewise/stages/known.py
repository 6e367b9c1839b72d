"""The keys of one side, in memory, in which those of the other side are looked up as it streams past."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.kernels import known as kernels

#: Bytes of memory for each key while the keys are sorted and put into the table.
KEY_BYTES = 48


class Known(NamedTuple):
    """An open table of distinct keys behind a sieve of bits, which most unknown keys do not pass."""

    keys: np.ndarray  # uint64[n], distinct
    slots: np.ndarray  # uint32
    sieve: np.ndarray  # uint64

    def find(self, keys: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The keys that are known: (their places in ``keys``, int64[m]; their numbers, uint32[m])."""
        numbers = np.empty(len(keys), np.uint32)
        if not kernels.probe(keys, *self, numbers):
            return np.zeros(0, np.int64), np.zeros(0, np.uint32)
        places = np.flatnonzero(numbers != kernels.NO_KEY)
        return places, numbers[places]


def known(keys: np.ndarray) -> Known:
    """The table of these keys, uint64[n], distinct."""
    size = 1 << len(keys).bit_length()  # more than there are keys
    found = Known(keys, np.empty(2 * size, np.uint32), np.empty(max(1, kernels.SIEVE_BITS * size // 64), np.uint64))
    kernels.table(*found)
    return found
