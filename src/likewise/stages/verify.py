"""All pairs inside buckets that are at or above the threshold."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from likewise.kernels.walk import bucket_pairs
from likewise.stages.candidates import Buckets
from likewise.stages.cluster import COMPARED_AT_ONCE, MATCHES_AT_ONCE, Sets


def all_pairs(
    sets: Sets,
    buckets: Buckets,
    side: np.ndarray,
    run: Callable,
    shares: int,
    advance: Callable[[int], None] = lambda compared: None,
    most: int = 2**62,
) -> Iterator[np.ndarray]:
    """Verified pairs as int64[m, 4] blocks: item, later item, overlap, out of. Each pair once, in no particular order.

    side: uint8[n], or empty; 1, 2 or 3 for items of A, B or both, when only pairs across them are wanted.
    ``run`` maps over ``shares`` parts of a band at once. A part that has found more than ``most`` pairs looks for no more.
    """
    largest = int(buckets.sizes.max(initial=0))

    def share(band: int, order: np.ndarray, begin: int, end: int) -> list[np.ndarray]:
        matches = np.empty((largest + MATCHES_AT_ONCE, 4), np.int64)
        buffers = sets.buffers()
        found: list[np.ndarray] = []
        while begin < end and sum(map(len, found)) <= most:
            places = (band, order, begin, end)
            begin, written, compared = bucket_pairs(*sets.arguments(), side, buckets.bucket, *places, COMPARED_AT_ONCE, buffers, matches)
            found.append(matches[:written].copy())
            advance(compared)
        return found

    for band in range(len(buckets.bucket)):
        here = buckets.bucket[band]
        members = np.flatnonzero(here >= 0)
        order = members[np.argsort(here[members], kind="stable")]
        for blocks in run(lambda cut, band=band, order=order: share(band, order, *cut), cuts(here[order], shares)):
            yield from blocks


def cuts(bucket: np.ndarray, shares: int) -> list[tuple[int, int]]:
    """Split the places of one band into runs of about equal work: an item is compared with those after it in its bucket."""
    if not len(bucket):
        return []
    ends = np.searchsorted(bucket, bucket, side="right")
    work = np.cumsum(ends - np.arange(len(bucket)))
    places = np.searchsorted(work, work[-1] * np.arange(1, shares) / shares)
    edges = np.unique(np.concatenate(([0], places, [len(bucket)])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
