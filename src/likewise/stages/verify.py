"""Exact comparison of candidate pairs: of given pairs, and of all pairs inside buckets."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from likewise.kernels.compare import scores
from likewise.kernels.sets import ODD_WORDS, overlaps
from likewise.kernels.walk import bucket_pairs, verify
from likewise.stages.buckets import Buckets
from likewise.stages.walk import COMPARED_AT_ONCE, MATCHES_AT_ONCE, Sets
from likewise.stages.workers import ALONE, Workers

Words = tuple[np.ndarray, np.ndarray]


class Compared(NamedTuple):
    """Exact values of m pairs: the similarity is overlap / out_of. For items other than sets a score, and 1 (kernels.compare)."""

    overlap: np.ndarray  # int64[m]; -1 below the threshold
    out_of: np.ndarray  # int64[m]; 0 below the threshold


def verified(sets: Sets, left: np.ndarray, right: np.ndarray, workers: Workers = ALONE) -> Compared:
    """Compare pairs of stored items. left, right: int64[m]."""
    return compared(sets, sets, left, right, workers)


def similar(words_a: Words, words_b: Words, rule: Any) -> Compared:
    """Compare the i-th item of one batch with the i-th of the other, by ``rule``, one of kernels.compare.

    Words: uint64[k], the words of the items, one after the other (`kernels.compare`), and int64[m + 1], where each begins.
    """
    a, b = in_memory(words_a, rule), in_memory(words_b, rule)
    every = np.arange(len(a.size))
    return compared(a, b, every, every)


def contained(words_a: Words, words_b: Words, threshold: Fraction) -> Compared:
    """Compare the i-th set of one batch with the i-th of the other by containment: the overlap, out of the size of the first.

    Words: uint64[k] and int64[m + 1], as `in_memory` takes them.
    """
    common, size = overlaps(*words_a, *words_b), np.diff(words_a[1])
    good = common * threshold.denominator >= size * threshold.numerator
    return Compared(np.where(good, common, -1), np.where(good, size, 0))


def within(values: np.ndarray, limit: float, *, distances: bool) -> Compared:
    """Exact similarities or distances of pairs, float64[m] or int64[m], as scores out of 1; -1 and 0 beyond the limit."""
    return scored(values, values <= limit if distances else values >= limit, distances=distances)


def scored(values: np.ndarray, good: np.ndarray, *, distances: bool) -> Compared:
    """The values of pairs, of which some are within the limit, bool[m], as `within` returns them."""
    return Compared(np.where(good, scores(values, distances=distances), -1), good.astype(np.int64))


def compared(sets: Sets, others: Sets, left: np.ndarray, right: np.ndarray, workers: Workers = ALONE) -> Compared:
    """Compare items left[i] of ``sets`` with items right[i] of ``others``, which share a rule."""
    values = np.empty((2, len(left)), np.int64)
    (stored, rule), (other, _) = sets.arguments(), others.arguments()
    longest = max(int(each.size.max(initial=0)) for each in (sets, others))

    def part(begin: int) -> None:
        here = slice(begin, begin + COMPARED_AT_ONCE)
        verify(stored, other, rule, left[here], right[here], np.empty((2, longest), np.uint64), values[:, here])

    list(workers.run(part, range(0, len(left), COMPARED_AT_ONCE)))
    return Compared(*values)


def in_memory(words: Words, rule: Any) -> Sets:
    """Items from words in memory, without odd sketches. words: uint64[k], and int64[n + 1], where each item begins."""
    values, offsets = words
    n = len(offsets) - 1
    return Sets(-1, values, offsets[:-1], np.diff(offsets).astype(np.uint32), rule, np.empty((0, ODD_WORDS), np.uint64), np.arange(n))


def all_pairs(sets: Sets, buckets: Buckets, side: np.ndarray, workers: Workers = ALONE, most: int = 2**62) -> Iterator[np.ndarray]:
    """Yield verified pairs as int64[m, 4] blocks: item, later item, overlap, out of. Each pair once, in no particular order.

    side: uint8[n], or empty; 1, 2 or 3 for items of A, B or both, if only pairs between A and B are wanted.
    Progress is counted in comparisons. A part of a band stops once it has found more than ``most`` pairs.
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
            workers.advance(compared)
        return found

    for band in range(len(buckets.bucket)):
        here = buckets.bucket[band]
        members = np.flatnonzero(here >= 0)
        order = members[np.argsort(here[members], kind="stable")]
        for blocks in workers.run(lambda cut, band=band, order=order: share(band, order, *cut), cuts(here[order], workers.tasks)):
            yield from blocks


def cuts(bucket: np.ndarray, number: int) -> list[tuple[int, int]]:
    """Split the places of one band into about ``number`` runs of equal work. An item is compared with those after it in its bucket."""
    if not len(bucket):
        return []
    ends = np.searchsorted(bucket, bucket, side="right")
    work = np.cumsum(ends - np.arange(len(bucket)))
    places = np.searchsorted(work, work[-1] * np.arange(1, number) / number)
    edges = np.unique(np.concatenate(([0], places, [len(bucket)])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
