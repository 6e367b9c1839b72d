"""Sets of the groups of elements: their Jaccard similarity is clustered Jaccard."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from likewise.items.sets import Sets, distinct

Words = NDArray[np.uint64]


def clustered(a: Sets, b: Sets, elements: Words, groups: Words) -> tuple[Sets, Sets]:
    """Two batches of sets, each element replaced by its group.

    elements: uint64[k], those that have a group, each once. groups: uint64[k], their groups. An element without a group forms its own. Different sets
    with the same groups become equal, so a distance is one between sets of groups only.
    """
    distinct_groups, numbers = np.unique(groups, return_inverse=True)
    own = np.setdiff1d(np.concatenate([a[0], b[0]]), elements)
    members = np.concatenate([elements, own])
    names = np.concatenate([numbers, np.arange(len(distinct_groups), len(distinct_groups) + len(own))]).astype(np.uint64)
    order = np.argsort(members)
    members, names = members[order], names[order]
    left, right = (distinct(names[np.searchsorted(members, values)], offsets) for values, offsets in (a, b))
    return left, right
