"""The greedy walk over known pairs."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import kernel


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
