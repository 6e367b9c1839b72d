"""Changes of an index that keeps its items in parts: decided, and added to its tail."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from likewise.index.parts import Parts
from likewise.index.store import Change, Items, Outcome
from likewise.index.tail import Tail


class Applied(NamedTuple):
    """The outcome of a change, and the rows that a log needs."""

    outcome: Outcome
    items: Items  # those that were added
    numbers: np.ndarray  # int64[n]: their numbers
    gone: np.ndarray  # int64[m]: the numbers of those that were removed or replaced


def applied(view: Parts, tail: Tail, change: Change, following: int) -> tuple[Parts, Applied]:
    """Apply a change and return the view after it. Items are added to ``tail``; nobody sees them before the view is handed out.

    following: the number of the next item, above all that were given.
    """
    items = change.items
    removed, held = view.find(change.remove), view.find(items.ids)
    if len(removed):
        removed = np.unique(removed[removed >= 0])
        held[np.isin(held, removed)] = -1
    first, last = items.occurrences()
    wrong = ~first
    if change.existing == "refuse":
        wrong |= held >= 0
    elif change.existing == "require":
        wrong |= held < 0
    else:
        wrong[:] = False
    conflict = change.after is not None and view.with_gone(removed).shares_after(items.keys, items.size, change.after)
    if wrong.any() or conflict:
        outcome = Outcome(np.full(len(items), -1, np.int64), 0, np.flatnonzero(wrong).tolist(), conflict=not wrong.any())
        return view, Applied(outcome, items.at(removed[:0]), removed[:0], removed[:0])
    added = first & (held < 0) if change.existing == "skip" else np.ones(len(items), bool)
    numbers = np.where(added, following - 1 + np.cumsum(added), -1)
    kept = added & last if change.existing == "replace" else added
    gone = np.concatenate([removed, held[added & first & (held >= 0)]])
    new = items.at(kept)
    if len(new):
        tail.append(numbers[kept], new)
    view = view.with_gone(gone).with_tail(tail.snapshot(), following - 1 + int(added.sum()))
    return view, Applied(Outcome(numbers, len(removed)), new, numbers[kept], gone)
