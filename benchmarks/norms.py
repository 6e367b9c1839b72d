#!/usr/bin/env python3
"""All pairs within an L_r distance by the exact scan, relative to scipy's cdist and to numpy, in one process and on one core.

    python benchmarks/norms.py [--items 6000] [--rounds 3]

Vectors are Gaussian, half of them near another; limits are such that a few thousand pairs are within them. The others compare a few hundred vectors
with all. Prints CPU nanoseconds for each pair of vectors, the median of the rounds, and how many times as long the others take. scipy and the scan
must find the same number of pairs: recall and precision are 1. scipy must be installed.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from likewise.joins.norm_scan import NormScan

#: Dimension and order -> the limit.
CASES = {(d, r): limit for d in (3, 64, 384) for r, limit in ((np.inf, 0.1), (3.0, 0.2), (2.5, 0.3), (1.0, 0.05 * d))}
#: Vectors that the others compare with all, at once and in all.
BLOCK, SOME = 100, 300


def near(items: int, dimension: int) -> np.ndarray:
    draw, half = np.random.default_rng(1), items // 2
    vectors = draw.normal(size=(half, dimension))
    others = vectors + draw.normal(size=vectors.shape) * draw.random((half, 1)) * 0.05
    return np.concatenate([vectors, others]).astype(np.float32)


def scan(vectors: np.ndarray, order: float, limit: float) -> int:
    return sum(len(block.left) for block in NormScan.of(vectors, order, limit).pairs())


def by_scipy(vectors: np.ndarray, order: float, limit: float) -> int:
    """The pairs, each twice, and each vector with itself, of some vectors with all."""
    how: dict[str, Any] = {np.inf: {"metric": "chebyshev"}, 1.0: {"metric": "cityblock"}}.get(order, {"metric": "minkowski", "p": order})
    return sum(int((cdist(vectors[at : at + BLOCK], vectors, **how) <= limit).sum()) for at in range(0, SOME, BLOCK))


def by_numpy(vectors: np.ndarray, order: float, limit: float) -> int:
    """The same, without roots."""
    found = 0
    for vector in vectors[:SOME]:
        apart = np.abs(vectors - vector)
        found += int((apart.max(axis=1) <= limit).sum() if order == np.inf else ((apart**order).sum(axis=1) <= limit**order).sum())
    return found


def timed(job: Callable[..., int], given: Any, rounds: int) -> tuple[float, int]:
    """The median of CPU seconds, and the result."""
    seconds = []
    for _ in range(rounds):
        begun = time.process_time()
        found = job(*given)
        seconds.append(time.process_time() - begun)
    return statistics.median(seconds), found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=6000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    every = given.items * (given.items - 1) / 2
    print("dimension order   pairs  scan ns  scipy ns  times  numpy ns  times")
    for (dimension, order), limit in CASES.items():
        vectors = near(given.items, dimension)
        scan(vectors[:100], order, limit)
        took, found = timed(scan, (vectors, order, limit), given.rounds)
        others = [timed(job, (vectors, order, limit), given.rounds) for job in (by_scipy, by_numpy)]
        some = scan_of_some(vectors, order, limit)
        assert others[0][1] == some, (others, some)
        mine = took / every * 1e9
        scipy_ns, numpy_ns = others[0][0] / (SOME * given.items) * 1e9, others[1][0] / (SOME * given.items) * 1e9
        row = f"{dimension:9} {order:5g} {found:7,} {mine:8.2f} {scipy_ns:9.1f} {scipy_ns / mine:6,.0f} {numpy_ns:9.1f} {numpy_ns / mine:6,.0f}"
        print(row, flush=True)


def scan_of_some(vectors: np.ndarray, order: float, limit: float) -> int:
    """The number that `by_scipy` returns, computed from the pairs of the scan."""
    blocks = list(NormScan.of(vectors, order, limit).pairs())
    return SOME + sum(int((block.left < SOME).sum() + (block.right < SOME).sum()) for block in blocks)


if __name__ == "__main__":
    main()
