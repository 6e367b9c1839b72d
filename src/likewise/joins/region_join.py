"""Images that share a part: near local features vote for pairs of images, the measure decides. No theory says how many near features a part has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.regions import DIMENSION, MIRRORED, Batch, descriptors
from likewise.items.sets import read_only
from likewise.joins.hamming_join import Check, all_pairs_join, checker, code_join, named
from likewise.joins.pairs import ALL, UNBOUNDED, Among, Counts, Groups, Join, Longs, PairBlock, Sides, Stop
from likewise.measures.regions import of_pairs
from likewise.nearest.candidates import Candidates, best
from likewise.nearest.search import Floats, Found
from likewise.stages.workers import ALONE, Workers, ignored

#: A feature's code: signs of its products with so many random vectors of 1 and -1. Features vote if their codes differ in at most WITHIN bits.
BITS, WITHIN = 128, 10
#: Pairs of images with fewer votes are not compared. Features with a code of more than COMMON features do not vote: they tell no images apart.
VOTES, COMMON = 2, 64
#: Nanoseconds of one core of 2026 to compare two images.
COMPARE_COST = 700_000.0
#: Pairs of images compared by a task; votes held before they are counted; images whose features are coded at once.
PAIRS_AT_ONCE, VOTES_HELD, CODED_AT_ONCE = 64, 2**24, 1024


@dataclass(frozen=True)
class GivenJoin:
    """The pairs among candidates that pass ``check``."""

    count: int  # of items
    candidates: tuple[Longs, Longs]  # the earlier item first
    check: Check
    cost: float
    workers: Workers = ALONE
    recall: float | None = None

    def facts(self) -> dict[str, Any]:
        return named("local features", DIMENSION)

    def pairs(self, among: Among = ALL, most: int = UNBOUNDED, counts: Counts | None = None) -> Iterator[PairBlock]:
        """As `joins.pairs.Join` defines it."""
        items, side = among.chosen(self.count)
        left, right = chosen(self.candidates, self.count, items, side)
        counts, stop = counts or Counts(), Stop(most)
        self.workers.expect(len(left))

        def compared(begin: int) -> tuple[PairBlock, int]:
            some = slice(begin, begin + (0 if stop else PAIRS_AT_ONCE))
            block, computed = self.check(left[some], right[some])
            stop.found += len(block.left)
            self.workers.advance(computed)
            return block, computed

        for block, computed in self.workers.run(compared, range(0, len(left), PAIRS_AT_ONCE)):
            counts.add(Counts(proposed=computed, computed=computed, compared=computed, found=len(block.left)))
            yield block


def chosen(pairs: tuple[Longs, Longs], count: int, items: Longs | None, side: Sides | None) -> tuple[Longs, Longs]:
    """The pairs of some of the items, across two sides. items and side: as of `Among`."""
    sides = np.zeros(count, np.uint8)
    sides[slice(None) if items is None else items] = 3 if side is None else side
    left, right = pairs
    good = (sides[left] > 0) & (sides[right] > 0) & (sides[left] | sides[right] == 3)
    return left[good], right[good]


def region_join(images: Batch, threshold: Fraction, *, exact: bool, per: Groups | None = None, workers: Workers = ALONE) -> Join:
    """All pairs of at least this similarity; unless ``exact``, those with near features. per: as of `joins.hamming_join.TableJoin`."""

    def compare(left: Longs, right: Longs) -> Floats:
        return of_pairs(images, images, left, right)

    check, n = checker(compare, float(threshold), workers.advance), len(images[1]) - 1
    if exact or n < 2:
        return all_pairs_join(n, check, COMPARE_COST * n * (n - 1) / 2, per=per, workers=workers)
    left, right = voted(images, workers)
    if per is not None:
        left, right = left[good := per[left] == per[right]], right[good]
    return GivenJoin(n, (left, right), check, COMPARE_COST * len(left), workers)


def region_neighbors(base: Batch, queries: Batch, k: int, *, exact: bool, limit: float | None, same: bool, workers: Workers = ALONE) -> Found:
    """The k most similar images of each query: among all if ``exact``, else among those with near features."""

    def compare(query: Longs, item: Longs) -> Floats:
        return of_pairs(queries, base, query, item)

    n, asking = len(base[1]) - 1, len(queries[1]) - 1
    found = None if exact else asked(*voted(base if same else joined(base, queries), workers), n, asking, same)
    return best(compare, Candidates(asking, n, found), k, limit=limit, same=same, workers=workers)


def asked(left: Longs, right: Longs, n: int, asking: int, same: bool) -> Found:
    """Candidates of queries. left, right: pairs of images; unless ``same``, the queries follow the n base images."""
    if same:
        query, item = np.concatenate([left, right]), np.concatenate([right, left])
    else:
        across = (left < n) & (right >= n)
        query, item = right[across] - n, left[across]
    order, none = np.lexsort((item, query)), np.zeros(asking, np.int64)
    return Found(query[order], item[order], np.zeros(len(order)), none, none, False)


def joined(a: Batch, b: Batch) -> Batch:
    """The images of two batches."""
    return np.concatenate([a[0], b[0]]), np.concatenate([a[1] - a[1][0], b[1][1:] - b[1][0] + a[1][-1] - a[1][0]])


def voted(images: Batch, workers: Workers = ALONE) -> tuple[Longs, Longs]:
    """The pairs of images with at least VOTES near features, the earlier image first, in order."""
    n = len(images[1]) - 1
    codes, owner, side = coded(images)
    _, inverse, counts = np.unique(codes, axis=0, return_inverse=True, return_counts=True)
    rare = (counts <= COMMON)[inverse.ravel()]
    codes, owner, side = codes[rare], owner[rare], side[rare]
    total, held, waiting = (np.zeros(0, np.int64), np.zeros(0, np.int64)), [], 0
    for block in code_join(read_only(codes), BITS, WITHIN, workers=replace(workers, advance=ignored, expect=ignored)).pairs(Among(side=side)):
        workers.advance(0)  # raises if the run is being stopped
        one, other = owner[block.left], owner[block.right]
        held.append((np.minimum(one, other) * n + np.maximum(one, other))[one != other])
        waiting += len(held[-1])
        if waiting > VOTES_HELD:
            total, held, waiting = counted(total, held), [], 0
    pair, votes = counted(total, held)
    pair = pair[votes >= VOTES]
    return pair // max(1, n), pair % max(1, n)


def counted(total: tuple[Longs, Longs], held: list[Longs]) -> tuple[Longs, Longs]:
    """Numbers that occur, ascending, and how often. total: those counted before."""
    found, votes = np.unique(np.concatenate([np.zeros(0, np.int64), *held]), return_counts=True)
    pair, place = np.unique(np.concatenate([total[0], found]), return_inverse=True)
    return pair, np.bincount(place, np.concatenate([total[1], votes]), len(pair)).astype(np.int64)


def coded(images: Batch) -> tuple[NDArray[np.uint64], Longs, Sides]:
    """The codes of all features, as they are and mirrored, uint64[m, BITS / 64]; the image of each; and 3 for those as they are, 2 for mirrored ones.

    All sums are of integers that float32 holds exactly.
    """
    values, begins = images
    parts = [(values, begins[at : at + CODED_AT_ONCE + 1]) for at in range(0, max(1, len(begins) - 1), CODED_AT_ONCE)]
    random = np.random.default_rng(0).integers(0, 2, (DIMENSION, BITS)).astype(np.float32) * 2 - 1
    sums = [(found.sum(axis=0, dtype=np.int64), len(found)) for found, _ in map(descriptors, parts)]
    mean = sum(total for total, _ in sums) // max(1, sum(count for _, count in sums))
    codes, owner, side = [], [], []
    for number, part in enumerate(parts):
        found, row = descriptors(part)
        for given, which in ((found, 3), (found[:, MIRRORED], 2)):
            bits = (given.astype(np.float32) - mean.astype(np.float32)) @ random > 0
            codes.append(np.packbits(bits, axis=1, bitorder="little").view(np.uint64))
            owner.append(row + number * CODED_AT_ONCE)
            side.append(np.full(len(row), which, np.uint8))
    return np.concatenate(codes), np.concatenate(owner), np.concatenate(side)
