"""Items that share a band key, as bucket numbers."""

from __future__ import annotations

import numpy as np

from likewise.kernels.jit import kernel


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
