"""Exact comparison of candidate pairs: of pairs that are given, and of all pairs inside buckets."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from likewise.kernels.walk import bucket_pairs, verify
from likewise.stages.buckets import Buckets
from likewise.stages.walk import COMPARED_AT_ONCE, MATCHES_AT_ONCE, Sets


def verified(sets: Sets, left: np.ndarray, right: np.ndarray, run: Callable = map) -> np.ndarray:
    """Compare pairs of items: int64[m, 2] of overlap and out of, or of score and 1 (kernels.compare); (-1, 0) where they are not similar enough.

    left, right: int64[m]. ``run`` maps over parts of the pairs.
    """
    values = np.empty((len(left), 2), np.int64)

    def part(begin: int) -> None:
        here = slice(begin, begin + COMPARED_AT_ONCE)
        verify(*sets.arguments(), left[here], right[here], sets.buffers(), values[here])

    list(run(part, range(0, len(left), COMPARED_AT_ONCE)))
    return values


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
