"""Similar images: perceptual hashes propose pairs, the measure decides. No theory says how far apart the hashes of similar images may be."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.joins.hamming_join import TableJoin, all_pairs_join, checker, code_join, named
from likewise.measures import images
from likewise.nearest.candidates import Candidates, best
from likewise.nearest.neighbors import neighbors
from likewise.nearest.search import Floats, Found, Longs
from likewise.stages.workers import ALONE, Workers, ignored

#: Nanoseconds of one core of 2026 to compare two images.
COMPARE_COST = 150_000.0
#: Candidates of a query, by nearest hashes: this many, or this many times k.
CANDIDATES, TIMES = 100, 5

#: Prepared pictures (items.images), uint8[n, WIDTH].
Pictures = NDArray[np.uint8]


def image_join(pictures: Pictures, threshold: Fraction, *, exact: bool, walk: bool = False, workers: Workers = ALONE, **how: Any) -> TableJoin:
    """All pairs of at least this similarity; unless ``exact``, those whose hashes are near. ``how``: per, as for `joins.hamming_join.TableJoin`."""

    def compare(left: Longs, right: Longs) -> Floats:
        return images.similarity(pictures[left], pictures[right])

    check, n = checker(compare, float(threshold), workers.advance), len(pictures)
    if exact or n < 2:
        return all_pairs_join(n, check, COMPARE_COST * n * (n - 1) / 2, workers=workers, **how)
    codes = read_only(images.hashes_of(pictures))
    found = code_join(codes, images.BITS, images.WITHIN, walk=walk, workers=workers, **how)
    return replace(found, check=check, recall=None, reported=named("perceptual hashes", images.BITS), counted="computed")


def image_neighbors(base: Pictures, queries: Pictures, k: int, *, exact: bool, limit: float | None, same: bool, workers: Workers = ALONE) -> Found:
    """The k most similar images of each query: among all if ``exact``, else among those with the nearest hashes."""
    n, wanted = len(base), max(CANDIDATES, TIMES * k) + same
    found = None
    if not exact and wanted < n:
        codes = images.hashes_of(base)
        asked = codes if same else images.hashes_of(queries)
        found = neighbors(codes, asked, "hamming", wanted, workers=replace(workers, advance=ignored), same=same)

    def compare(query: Longs, item: Longs) -> Floats:
        return images.similarity(queries[query], base[item])

    return best(compare, Candidates(len(queries), n, found), k, limit=limit, same=same, workers=workers)
