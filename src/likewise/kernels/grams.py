"""The q-grams of strings as sets of words: the i-th occurrence of a gram in a string is a distinct element."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.distinct import number_repeats
from likewise.kernels.hashing import mix64


@kernel
def grams(points, begin, length, q):
    """The grams of q code points of each string, numbered by occurrence: (values uint64[m], offsets int64[n + 1]).

    points: uint32, code points; string i is the length[i] from begin[i] on. A string of fewer than q code points has no grams.
    If two grams, or two occurrences, hash to one word, strings only seem to have more in common: a count filter loses no pair.
    """
    offsets = np.zeros(len(begin) + 1, np.int64)
    for item in range(len(begin)):
        offsets[item + 1] = offsets[item] + max(0, length[item] - q + 1)
    values = np.empty(offsets[-1], np.uint64)
    most = 2 * max(1, offsets[-1] if len(begin) == 1 else (offsets[1:] - offsets[:-1]).max() if len(begin) else 1)
    seen, times = np.empty(most, np.uint64), np.empty(most, np.uint32)
    for item in range(len(begin)):
        mine = values[offsets[item] : offsets[item + 1]]
        for i in range(len(mine)):
            word = np.uint64(0)
            for at in range(begin[item] + i, begin[item] + i + q):
                word = (word ^ np.uint64(points[at])) * np.uint64(0x9E3779B97F4A7C15)
                word ^= word >> np.uint64(32)
            mine[i] = mix64(word)
        number_repeats(mine, len(mine), seen, times)
    return values, offsets
