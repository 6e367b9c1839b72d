"""Removal in rounds, for more similar pairs than one process can hold.

Items are numbered in priority order and cut into blocks of consecutive numbers. A pair belongs to the block of its later item, so all pairs that
decide about an item are together. In a round, each block decides all items that it can, and returns these decisions. A chain of similar items only
ascends, so it leaves a block at most once. So there are at most as many rounds as blocks, however long the chains are, and at most as many as a chain
has undecided items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.kernels.greedy import KEPT, UNDECIDED, decide
from likewise.stages.settle import settled


class Round(NamedTuple):
    """The decisions of a block in a round."""

    item: np.ndarray  # int64[k]: the later items of the block's pairs, ascending
    state: np.ndarray  # uint8[k]: UNDECIDED, KEPT or REMOVED (kernels.greedy)
    open: np.ndarray  # bool[m]: the pairs that the next round needs, both of whose items are undecided


def settle_round(later: np.ndarray, earlier: np.ndarray, state: np.ndarray, own: np.ndarray) -> Round:
    """Decide what a block can decide.

    later, earlier: int64[m], all pairs of the block's undecided items, in any order, possibly repeated. state: uint8[m], the state of each earlier
    item after the previous round; UNDECIDED if it is unknown. own: bool[m], True where the earlier item belongs to this block too: if such an item is
    undecided and not among the later items, no earlier item is similar to it, so it is kept. Blocks may be joined between rounds.
    """
    names, (after, before) = compact(later, earlier)
    states, wait = np.full(len(names), UNDECIDED, np.uint8), np.zeros(len(names), bool)
    wait[after] = True
    states[before] = np.where((state == UNDECIDED) & own & ~wait[before], KEPT, state)
    order = np.argsort(after, kind="stable")
    decide(after[order], before[order], states)
    items = np.flatnonzero(wait)
    return Round(names[items], states[items], (states[after] == UNDECIDED) & (states[before] == UNDECIDED))


class Matches(NamedTuple):
    """Similar pairs of removed items with kept ones, by item and kept item."""

    order: np.ndarray  # int64[m]: the pairs in this order
    best: np.ndarray  # bool[m]: True for the pair with the item's representative
    previous: np.ndarray  # int64[m]: the kept item of the item's previous pair; -1 for its first pair


def matched(later: np.ndarray, earlier: np.ndarray, overlap: np.ndarray, out_of: np.ndarray) -> Matches:
    """The matches of removed items, from all similar pairs of each with kept items, each once: int64[m] each, in any order."""
    names, (after, before) = compact(later, earlier)
    found = settled(after, before, overlap, out_of, len(names))
    order = np.lexsort((before, after))
    after, before = after[order], before[order]
    previous = np.full(len(order), -1, np.int64)
    previous[1:] = np.where(after[1:] == after[:-1], names[before[:-1]], -1)
    return Matches(order, found.representative[after] == before, previous)


def compact(left: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The distinct items of pairs, ascending, int64[n], and the pairs as places in them, int64[2, m]."""
    names, ends = np.unique(np.concatenate([left, right]).astype(np.int64), return_inverse=True)
    return names, ends.reshape(2, -1).astype(np.int64)
