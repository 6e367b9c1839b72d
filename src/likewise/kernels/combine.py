"""Keys made of several ranks of a set: similar sets share such a key, and far fewer dissimilar ones do than share one rank.

Two sets with an overlap of at least o have their first k common ranks within the first size - o + k of either (k = 1 is the prefix filter of
kernels.join). So they share the combination of these k. Keys are in order of their last rank: the first combination that two sets share is that
of their first k common ranks, and before its last rank they have exactly k - 1 in common.
"""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel
from likewise.kernels.bands import MIX

#: Bits of a rank in a key of two ranks, and of three. The top bit marks keys of a single rank.
BITS = {2: 31, 3: 21}
SINGLE = np.uint64(1 << 63)


@kernel
def combine(tokens, first, lengths, singles, shared, depth, bits, begin, keys, left):
    """Write all keys of ``depth`` ranks among the first ``lengths`` ranks of each set, then keys of its first ``singles`` ranks, one by one.

    tokens: uint32[m], ranks; set i has shared[i] of them from first[i] on. depth: 2 or 3. bits: BITS[depth]. begin: int64[n], where a set's keys go.
    Fills keys, uint64, spread over all 64 bits, and left, uint32: how many ranks a set has from the last rank of a key on.
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
