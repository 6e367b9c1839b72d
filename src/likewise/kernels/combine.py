"""Several ranks of a set as one key: sets that share enough must share such a key, and far fewer strangers do than share one rank.

Two sets with an overlap of o or more have their first k common ranks within the first size - o + k of either (k = 1 is the prefix filter of
kernels.join). So they share the combination of these k. Keys are in order of the last rank of each: the first combination that two sets
share is then that of their first k common ranks, and before its last rank they have k - 1 in common and no more.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.bands import MIX
from likewise.kernels.jit import kernel

#: So many bits hold a rank in a key of two, and in one of three. The top bit marks keys of a single rank.
BITS = {2: 31, 3: 21}
SINGLE = np.uint64(1 << 63)


@kernel
def combine(tokens, first, lengths, singles, shared, depth, bits, begin, keys, left):
    """All keys of ``depth`` ranks, 2 or 3, among the first ``lengths`` of each set, and after them those of its ``singles`` ranks, one by one.

    begin: int64[n], where the keys of each set go. keys: uint64, spread over all 64 bits; left: uint32, the ranks of a set from the last of a key on.
    """
    up = np.uint64(bits)
    for place in range(len(first)):
        at = begin[place]
        start = first[place]
        for last in range(depth - 1, lengths[place]):
            high = np.uint64(tokens[start + last])
            remaining = shared[place] - np.uint32(last)
            for middle in range(depth - 2, last):
                two = high << up | np.uint64(tokens[start + middle])
                if depth == 2:
                    keys[at] = two * MIX
                    left[at] = remaining
                    at += 1
                else:
                    for low in range(middle):
                        keys[at] = (two << up | np.uint64(tokens[start + low])) * MIX
                        left[at] = remaining
                        at += 1
        for i in range(singles[place]):
            keys[at] = (SINGLE | np.uint64(tokens[start + i])) * MIX
            left[at] = shared[place] - np.uint32(i)
            at += 1
