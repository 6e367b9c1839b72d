"""Union-find with path halving; the smaller root wins, so that a set is named by its least member."""

from __future__ import annotations

import numpy as np

from likewise.kernels.jit import inline, kernel


@inline
def find(parent, x):
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@inline
def union(parent, a, b):
    a = find(parent, a)
    b = find(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


@kernel
def roots(n, left, right):
    """The least member of each element's set after joining left[i] with right[i]. int64[n]"""
    parent = np.arange(n)
    for i in range(len(left)):
        union(parent, left[i], right[i])
    for i in range(n):
        parent[i] = find(parent, i)
    return parent
