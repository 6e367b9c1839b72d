"""The components of a removal: kept items that match a common item are connected.

`components` is for one process. If there are too many pairs for it, items are cut into blocks of consecutive numbers, and rounds of `contracted` give
the same result.
"""

from __future__ import annotations

import numpy as np

from likewise.kernels.unionfind import roots
from likewise.stages.rounds import compact


def components(n: int, matches: np.ndarray) -> np.ndarray:
    """The first item of each kept item's component. int64[n]

    matches: int64[m, 2], pairs of an item and a kept item.
    """
    return roots(n, *links(matches[:, 0], matches[:, 1]))


def links(item: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that connect the kept items of each item: (later, earlier), int64[k].

    item, kept: int64[m], all matches of each item, in any order.
    """
    order = np.lexsort((kept, item))
    item, kept = item[order], kept[order]
    same = item[1:] == item[:-1]
    return kept[1:][same], kept[:-1][same]


def contracted(later: np.ndarray, earlier: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The items that pairs connect, with the first item of each component: (item, first), int64[k], without the first items themselves.

    later, earlier: int64[m], all pairs of a block's items with earlier ones. This is one round. Its results are pairs again, for the block of
    ``item``. That is the same block or an earlier one, so after at most as many rounds as blocks, no block returns pairs for another. Then each item
    has one pair, and following ``first`` from item to item leads to the first item of the component.
    """
    names, ends = compact(later, earlier)
    first = roots(len(names), *ends)
    items = np.flatnonzero(first != np.arange(len(names)))
    return names[items], names[first[items]]
