"""The removed items, each with its representative, from the similar pairs.

An item is removed if it is similar to an item kept before it. So the kept items are the lexicographically first maximal independent set of the graph
whose edges are the similar pairs (Blelloch, Fineman and Shun, Greedy Sequential Maximal Independent Set and Matching are Parallel on Average, SPAA
2012, section 3). Rounds that decide an item once no similar earlier item is undecided yield it too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.kernels.greedy import settle

#: Of more matches than this, only the most similar of each removed item are remembered, this many.
MOST_MATCHES, REMEMBERED = 2**22, 128


class Settled(NamedTuple):
    """The outcome for n items."""

    representative: np.ndarray  # int64[n]: the kept item that an item was removed for; -1: kept
    overlap: np.ndarray  # int64[n]: overlap / out_of is the similarity to the representative; -1 and 0 for a kept item
    out_of: np.ndarray  # int64[n]


class Removals(NamedTuple):
    """The removals among n items in priority order, and the matches behind them."""

    representative: np.ndarray  # int64[n]: the kept item that an item was removed for; -1: kept
    value: np.ndarray  # float64[n]: similarity or distance to the representative; NaN for a kept item, and where nothing was checked
    matches: np.ndarray  # int64[m, 2]: verified pairs of an item and an earlier kept item, sorted; not all if there are more than MOST_MATCHES
    values: np.ndarray  # float64[m]: their similarity or distance
    compared: int  # pairs of items that were compared


def most_similar(item: np.ndarray, kept: np.ndarray, closeness: np.ndarray, most: int = REMEMBERED) -> np.ndarray:
    """The places of ``most`` pairs of each item, int64[k]: those of the greatest closeness, of equal ones those with the earliest kept item."""
    order = np.lexsort((kept, -closeness, item))
    rank = np.arange(len(order)) - np.searchsorted(item[order], item[order])
    return order[rank < most]


def settled(later: np.ndarray, earlier: np.ndarray, overlap: np.ndarray, out_of: np.ndarray, n: int) -> Settled:
    """Decide n items, numbered in priority order, from their similar pairs. The representative is the most similar kept item, the first of several.

    later, earlier: int64[m], earlier < later, in any order; repeated pairs are allowed. overlap, out_of: int64[m], the similarity of each pair, as
    kernels.compare returns it: two counts, or a score and 1. Ratios are compared exactly.
    """
    order = np.argsort(later, kind="stable")
    found = Settled(np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.zeros(n, np.int64))
    settle(*(np.ascontiguousarray(each[order], np.int64) for each in (later, earlier, overlap, out_of)), *found)
    return found
