"""Deviation of the recall of one run from its mean over seeds.

A run draws its hash functions once, and all of its pairs share them. The share of pairs found is a number from 0 to 1, and the recall p is
its mean over seeds. If pairs are found independently of each other, the standard deviation of the share is that of m coins, sqrt(p (1 - p) / m).
Pairs that the hash functions cannot distinguish are found or missed together; then it is larger, but at most sqrt(p (1 - p)): no variable
from 0 to 1 with mean p has a larger one (Bhatia and Davis 2000).
"""

from __future__ import annotations

import math
from typing import Any

from likewise.drawing.numbers import percent

#: Recall below which the spread is stated.
SURE = 0.9


def spread(asked: float | None, recall: float | None, found: int) -> dict[str, float] | None:
    """Return the spread for report.json; None if the recall is high or not stated.

    It holds the recall and its standard deviation over seeds: that of independent pairs, and the maximum.
    asked: the requested recall. recall: the stated one. found: number of pairs found.
    """
    if recall is None or asked is None or recall in (0, 1) or min(asked, recall) >= SURE:
        return None
    most = math.sqrt(recall * (1 - recall))
    return {"recall": recall, "independent": round(most / math.sqrt(max(1, found) / recall), 6), "at_most": round(most, 6)}


def described(spread: dict[str, Any]) -> str:
    """Return the spread in words."""
    low, high = (f"{spread[name]:.2g}" for name in ("independent", "at_most"))
    mean = f"the recall of {percent(spread['recall'])} is a mean over seeds, and all pairs of a run share one seed"
    return f"{mean}: its standard deviation is about {low} if pairs are found independently of each other, and at most {high}"
