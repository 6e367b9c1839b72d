"""The pairs of items that a removal compares: all, or those with the items of a second collection, which stay."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Scope(NamedTuple):
    """The first ``fixed`` items stay and are not compared with each other. Each later item is compared with them, and with each other if ``inside``.

    Kernels take it as it is.
    """

    fixed: int = 0
    inside: bool = True

    def of(self, items: np.ndarray) -> Scope:
        """The scope of some of the items, int[m], ascending, numbered from 0 again."""
        return Scope(int(np.searchsorted(items, self.fixed)), self.inside) if self.fixed else self

    def sizes(self, part: np.ndarray, count: int) -> np.ndarray:
        """The sizes of buckets, int64[count], as the rule for overfull buckets counts them. part: int32[n], the bucket of each item, -1 for none.

        Items that are not compared with each other do not count for each other, so all those of a bucket count as one.
        """
        if self.inside:
            return np.bincount(part[part >= 0], minlength=count)
        first, others = part[: self.fixed], part[self.fixed :]
        return np.bincount(first[first >= 0], minlength=count) + (np.bincount(others[others >= 0], minlength=count) > 0)

    def comparing(self, part: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """Drop the buckets without a pair to compare: number the others again in ``part``, in place, and return their sizes."""
        if not self.fixed and self.inside:
            return sizes
        there = np.zeros((2, len(sizes) + 1), bool)  # the last place is that of -1
        there[0, part[: self.fixed]] = there[1, part[self.fixed :]] = True
        stays = there[1, :-1] & (there[0, :-1] | self.inside)
        part[:] = np.append(np.where(stays, np.cumsum(stays) - 1, -1), -1)[part]
        return sizes[stays]


#: All pairs of items.
ALL = Scope()
