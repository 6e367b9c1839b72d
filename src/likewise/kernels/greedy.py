"""The greedy walk over known pairs."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel

#: The states of an item.
UNDECIDED, KEPT, REMOVED = 0, 1, 2


@kernel
def settle(later, earlier, overlap, out_of, representative, best, of):
    """Remove each item for the most similar kept item before it, the earliest of several; all arrays int64, pairs by ascending ``later``.

    representative, best, of: for each item its representative, -1 at first, and the overlap and out of with it. Ratios are compared by products,
    without rounding.
    """
    for i in range(len(later)):
        item, other = later[i], earlier[i]
        if representative[other] >= 0:
            continue
        better = overlap[i] * of[item] - best[item] * out_of[i] if representative[item] >= 0 else np.int64(1)
        if better > 0 or (better == 0 and other < representative[item]):
            representative[item], best[item], of[item] = other, overlap[i], out_of[i]


@kernel
def decide(later, earlier, state):
    """Decide the items that the known states allow, in priority order: removed if a similar earlier item is kept, kept if all are removed.

    later, earlier: int64[m], by ascending ``later``, with all pairs of each later item. state: uint8[n], written for the later items.
    """
    at = 0
    while at < len(later):
        item = later[at]
        found = KEPT
        while at < len(later) and later[at] == item:
            other = state[earlier[at]]
            if other == KEPT:
                found = REMOVED
            elif other == UNDECIDED and found == KEPT:
                found = UNDECIDED
            at += 1
        state[item] = found
