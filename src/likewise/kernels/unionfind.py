"""Union-find with path halving. The smaller root wins, so that a set is named by its smallest member."""

from __future__ import annotations

import numpy as np

from likewise.compiled.jit import inline, kernel


@inline
def find(parent, x):
    """The root of x, with path halving."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@inline
def union(parent, a, b):
    """Join the sets of a and b under the smaller root."""
    a = find(parent, a)
    b = find(parent, b)
    if a < b:
        parent[b] = a
    elif b < a:
        parent[a] = b


@kernel
def roots(n, left, right):
    """The smallest member of each element's set after joining left[i] with right[i]: int64[n]."""
    parent = np.arange(n)
    for i in range(len(left)):
        union(parent, left[i], right[i])
    for i in range(n):
        parent[i] = find(parent, i)
    return parent


def join_buckets(bucket: np.ndarray, buckets: int) -> np.ndarray:
    """The smallest item of each item's connected component, where items of a bucket are connected; -1 for an item that is alone everywhere.

    bucket: int32[bands, n], -1 where an item is alone; below ``buckets``. Returns int64[n].
    """
    return joined(bucket, np.arange(bucket.shape[1]), np.full(buckets, -1))


@kernel
def joined(bucket, parent, first):
    """Do the work of `join_buckets`. parent: int64[n], 0..n-1 at first. first: int64[buckets], -1 at first: an item of each bucket."""
    bands, n = bucket.shape
    for band in range(bands):
        for item in range(n):
            here = bucket[band, item]
            if here >= 0:
                if first[here] < 0:
                    first[here] = item
                else:
                    union(parent, first[here], item)
    for item in range(n):
        parent[item] = find(parent, item)
    alone = np.ones(n, np.bool_)
    for item in range(n):
        if parent[item] != item:
            alone[item] = alone[parent[item]] = False
    for item in range(n):
        if alone[item]:
            parent[item] = -1
    return parent
