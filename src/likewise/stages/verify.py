"""All pairs inside buckets that are at or above the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from likewise.kernels.walk import bucket_pairs
from likewise.stages.candidates import Buckets
from likewise.stages.cluster import COMPARED_AT_ONCE, MATCHES_AT_ONCE, Sets


def all_pairs(sets: Sets, buckets: Buckets, side: np.ndarray, run: Callable, shares: int) -> Iterator[np.ndarray]:
    """Verified pairs as int64[m, 4] blocks: item, later item, overlap, out of. Each pair once, in no particular order.

    side: uint8[n], or empty; 1, 2 or 3 for items of A, B or both, when only pairs across them are wanted.
    ``run`` maps over ``shares`` parts of a band at once.
    """
    largest = int(buckets.sizes.max(initial=0))

    def share(band: int, order: np.ndarray, begin: int, end: int) -> np.ndarray:
        matches = np.empty((largest + MATCHES_AT_ONCE, 4), np.int64)
        buffers = sets.buffers()
        found = []
        while begin < end:
            places = (band, order, begin, end)
            begin, written, _ = bucket_pairs(*sets.arguments(), side, buckets.bucket[0], *places, COMPARED_AT_ONCE, buffers, matches)
            found.append(matches[:written].copy())
        return np.concatenate(found) if found else matches[:0]

    for band in range(buckets.bucket.shape[1]):
        here = buckets.bucket[0, band]
        members = np.flatnonzero(here >= 0)
        order = members[np.argsort(here[members], kind="stable")]
        yield from run(lambda cut, band=band, order=order: share(band, order, *cut), cuts(here[order], shares))


def cuts(bucket: np.ndarray, shares: int) -> list[tuple[int, int]]:
    """Split the places of one band into runs of about equal work: an item is compared with those after it in its bucket."""
    if not len(bucket):
        return []
    ends = np.searchsorted(bucket, bucket, side="right")
    work = np.cumsum(ends - np.arange(len(bucket)))
    places = np.searchsorted(work, work[-1] * np.arange(1, shares) / shares)
    edges = np.unique(np.concatenate(([0], places, [len(bucket)])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
