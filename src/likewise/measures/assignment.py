"""Assignment: the optimal one-to-one pairing of the features of two sets (Kuhn 1955). For sets of equal size it is the earth mover's distance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.features import Features
from likewise.kernels.assignment import assignments
from likewise.measures.chamfer import Run, valued

#: Pairs of sets that a task compares.
PAIRS_AT_ONCE = 4


def assignment(a: Features, b: Features, left: Any = None, right: Any = None, *, by: str = "l2", run: Run = map) -> NDArray[np.float64]:
    """The mean distance of the pairs in the cheapest one-to-one pairing of features: float64[m].

    By "cosine" or "product" it is the highest mean similarity. All features of the smaller set are paired. Parameters and errors are those of
    `measures.chamfer.chamfer`. Time grows with the third power of the sizes: some milliseconds for two sets of 400.

    >>> from likewise.items.features import features
    >>> a, b = features([[[0.0], [1.0]]]), features([[[1.0], [2.0], [9.0]]])
    >>> assignment(a, b)
    array([1.])
    """
    return valued(assignments, a, b, left, right, by, run, PAIRS_AT_ONCE)
