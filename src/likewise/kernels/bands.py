"""Items that share a band key, as bucket numbers."""

from __future__ import annotations

import numpy as np

from likewise.kernels.jit import kernel

#: Places of a table for each key: one key in so many seems to repeat though it does not.
SPARE_PLACES = 8


def repeated(keys: np.ndarray) -> np.ndarray:
    """Where keys occur more than once, and by chance now and then where they do not: bool[n]. keys: uint64[n], uniform.

    A count that stops at two, in a table by the top bits: it costs a fraction of sorting the keys, and most of them are alone.
    The table is NumPy's, which asks for huge pages: of small ones nearly each look into it would miss the address, too.
    """
    bits = max(1, (SPARE_PLACES * len(keys) - 1).bit_length())
    return seen_twice(keys, np.uint64(64 - bits), np.empty(1 << bits, np.uint8), np.empty(len(keys), bool))


@kernel
def seen_twice(keys, away, seen, out):
    seen[:] = 0
    for key in keys:
        seen[key >> away] += seen[key >> away] < 2
    for i in range(keys.size):
        out[i] = seen[keys[i] >> away] == 2
    return out


@kernel
def mark_runs(keys, order, bucket, first):
    """Number the runs of equal keys.

    keys: uint64[n]; order: int64[n], an argsort of keys; bucket: int32[n], filled with -1 where a key occurs once
    and with the run's number, from ``first`` on, where it occurs more often. Returns the next free number.
    """
    n = len(order)
    start = 0
    while start < n:
        end = start + 1
        while end < n and keys[order[end]] == keys[order[start]]:
            end += 1
        if end - start > 1:
            for i in range(start, end):
                bucket[order[i]] = first
            first += 1
        else:
            bucket[order[start]] = -1
        start = end
    return np.int64(first)
