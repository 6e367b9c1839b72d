"""How similar the items of the data are to each other: the share with a similar one, and the share that a removal keeps, at several thresholds."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

#: The thresholds, besides the one of the plan.
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
#: The normal quantile of 95% intervals.
NORMAL = 1.959964


class Row(NamedTuple):
    """One threshold."""

    threshold: float
    similar: int  # sampled items with another item at or above it
    kept: float  # the estimated share of distinct items that a removal keeps


class Advice(NamedTuple):
    """The similar items of a sample."""

    sampled: int
    compared: int  # distinct items with which the sampled ones were compared, each with all
    rows: tuple[Row, ...]

    def to_list(self) -> list[dict[str, Any]]:
        """Return the rows as plain values, with shares and their 95% intervals."""
        found = []
        for row in self.rows:
            low, high = wilson(row.similar, self.sampled)
            found.append({"threshold": row.threshold, "similar": row.similar / self.sampled, "low": low, "high": high, "kept": row.kept})
        return found


def wilson(count: int, of: int) -> tuple[float, float]:
    """Return the 95% interval of a share (Wilson, Probable Inference, the Law of Succession, and Statistical Inference, JASA 1927).

    >>> wilson(0, 100), wilson(50, 100)
    ((0.0, 0.037), (0.4038, 0.5962))
    """
    share, square = count / of, NORMAL * NORMAL
    middle, half = share + square / (2 * of), NORMAL * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = ((middle + side * half) / (1 + square / of) for side in (-1, 1))
    return (0.0 if not count else round(low, 4)), (1.0 if count == of else round(high, 4))
