"""Nearest neighbors by codes: the memory layout of the codes, and how many differing bits to search."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.nearest import GROUP, Asked, Codes, MaxCosines, Task, nearest
from likewise.kernels.scan import BLOCK, MOST, arrange
from likewise.kernels.top_k import Items, Rule
from likewise.nearest.search import Floats, Longs, Out, Search, Words

#: Bits of a code, and the bits that are scanned for all items. Among 1,024 to 2,048 and 256 to 512 these were the fastest for 117,000 embeddings of
#: texts, and within a tenth of that for 60,000 images; fewer bits let through more items than they save in scanning.
BITS, SCANNED_BITS = 1024, 512
#: The share of the probability of a miss that the scan may use up; the rest is for the whole code.
SCANNED_SHARE = 0.4
#: Codes arranged by a task.
ARRANGED_AT_ONCE = 2048


class Coded(NamedTuple):
    """Codes of items."""

    codes: Words  # uint64[n, words]
    sizes: Floats  # float64[n]
    order: Longs  # int64[m]: the items to search, by ascending size
    scanned: int  # the bits to scan for all items, in whole words


def by_codes(search: Search, rule: Rule, max_cosines: MaxCosines, items: Items, coded: Coded, queries: Items, asked: Asked, out: Out) -> None:
    """Write the nearest of ``coded.order`` to each query into ``out``."""
    codes, sizes, order, scanned = coded
    n, width, words = len(order), scanned // 8, codes.shape[1] - scanned // 64
    groups = -(-n // (GROUP * BLOCK))
    planes, rest = aligned(groups * GROUP * BLOCK * width, np.uint8), aligned(n * words, np.uint64).reshape(n, words)
    search.over(n, ARRANGED_AT_ONCE, lambda *part: arrange(codes, order, *part, width, planes, rest))
    sizes = sizes[order]
    begins = np.arange(groups) * GROUP * BLOCK
    placed = Codes(planes, rest, order, sizes, sizes[begins], sizes[np.minimum(begins + GROUP * BLOCK, n) - 1])
    task = Task(rule, max_cosines, items, placed, queries, asked, search.same)
    search.over_queries(len(asked.sizes), lambda *part: nearest(task, *part, width, *out.arrays))


def aligned(count: int, dtype: Any) -> NDArray[Any]:
    """Zeros aligned to cache lines of 64 bytes, [count]."""
    room = np.zeros(count * np.dtype(dtype).itemsize + 64, np.uint8)
    skip = -room.ctypes.data % 64
    return room[skip : skip + room.size - 64].view(dtype)


def max_cosines_of(scanned: int, bits: int, recall: float) -> MaxCosines:
    """The maximum cosine of two vectors by the number of differing bits. A bit of a hyperplane differs with probability angle / 180 degrees."""
    first = np.full(MOST + 1, -2.0)
    some = np.cos(np.pi * min_probabilities(scanned, (1 - recall) * SCANNED_SHARE))[: MOST + 1]
    first[: len(some)] = some
    return MaxCosines(first, np.cos(np.pi * min_probabilities(bits, (1 - recall) * (1 - SCANNED_SHARE))))


def min_probabilities(bits: int, miss: float) -> Floats:
    """The minimum probability of a differing bit at which h or more of ``bits`` differ with probability ``miss``, for all h: float64[bits + 1].

    A bound that always holds and is off by at most one bit: a binomial variable is h or more with probability at most 1 - Φ(√(2 n KL)), where KL is
    the divergence of the share (h - 1) / n from the probability of a bit (Zubkov and Serov, A Complete Proof of Universal Inequalities for the
    Distribution Function of the Binomial Law, 2013).
    """
    share = np.maximum(np.arange(bits + 1) - 1, 0) / bits
    enough = NormalDist().inv_cdf(1 - miss) ** 2 / (2 * bits)
    low, high = np.zeros(bits + 1), share.copy()
    for _ in range(60):  # bisection
        middle = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            some = np.where(share > 0, share * np.log(share / middle), 0)
            others = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - middle)), 0)
        far = some + others > enough
        low, high = np.where(far, middle, low), np.where(far, high, middle)
    low[share == 0] = 0
    return low
