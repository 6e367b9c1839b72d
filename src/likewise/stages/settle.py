"""Which items are removed, and for which kept item, once the similar pairs are known.

An item is removed when an item kept before it is similar to it. So the kept items are the lexicographically first maximal independent set of the
graph whose edges are the similar pairs (Blelloch, Fineman and Shun, Greedy Sequential Maximal Independent Set and Matching are Parallel on Average,
SPAA 2012, section 3), and the same set comes of rounds in which an item is decided once no similar earlier item is undecided.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.kernels.greedy import settle


class Settled(NamedTuple):
    """The outcome for n items."""

    witness: np.ndarray  # int64[n]: the kept item that an item was removed for; -1: kept
    overlap: np.ndarray  # int64[n]: the similarity to the witness is overlap / out_of; -1 and 0 for a kept item
    out_of: np.ndarray  # int64[n]


class Removals(NamedTuple):
    """What was removed of n items in keep order, and why."""

    witness: np.ndarray  # int64[n]: the kept item that an item was removed for; -1: kept
    value: np.ndarray  # float64[n]: similarity to the witness, or distance; NaN for a kept item, and where nothing was checked
    matches: np.ndarray  # int64[m, 2]: verified pairs of an item and a kept item before it, by item and then by kept item
    values: np.ndarray  # float64[m]: their similarity or distance
    compared: int  # pairs of items that were compared


def settled(later: np.ndarray, earlier: np.ndarray, overlap: np.ndarray, out_of: np.ndarray, n: int) -> Settled:
    """Decide n items, numbered 0 .. n - 1 in keep order, from their similar pairs. The witness is the most similar kept item, of several the first.

    later, earlier: int64[m], earlier < later, in any order; a pair may come several times. overlap, out_of: int64[m], the similarity of each pair,
    as kernels.compare gives it: two counts, or a score and 1. Ratios are compared exactly.
    """
    order = np.argsort(later, kind="stable")
    found = Settled(np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64))
    settle(*(np.ascontiguousarray(each[order], np.int64) for each in (later, earlier, overlap, out_of)), *found)
    return found
