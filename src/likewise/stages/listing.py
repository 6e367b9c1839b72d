"""Pairs of items spelled out as pairs of rows."""

from __future__ import annotations

import numpy as np

from likewise.errors import UsageError
from likewise.stages.cluster import ratio


class Listing:
    """Verified pairs of items, spelled out as pairs of rows: each copy of the one with each copy of the other."""

    def __init__(self, first: np.ndarray, member: np.ndarray, sides: np.ndarray | None, most: int):
        """first: int64[rows], the first copy of each row; member: int64[items], the row of each item; sides: uint8[rows], 0 or 1, or None."""
        self.member, self.sides, self.most = member, sides, most
        self.order = np.argsort(first, kind="stable")  # copies of one row lie together
        heads = first[self.order]
        self.begin = np.searchsorted(heads, np.arange(len(heads)), side="left")
        self.end = np.searchsorted(heads, np.arange(len(heads)), side="right")
        self.rows: list[np.ndarray] = []
        self.similarity: list[np.ndarray] = []
        self.count = 0

    def sides_of_items(self) -> np.ndarray:
        """uint8[items]: 1, 2 or 3, as copies of the item lie in A, B or both; empty when all pairs are wanted."""
        if self.sides is None:
            return np.zeros(0, np.uint8)
        side = np.zeros(len(self.order), np.uint8)
        np.bitwise_or.at(side, np.repeat(np.arange(len(side)), self.end - self.begin), (1 << self.sides[self.order]).astype(np.uint8))
        return side[self.member]

    def copies(self) -> None:
        """All pairs among the copies of one text."""
        for head in np.flatnonzero(self.end - self.begin > 1):
            group = np.sort(self.order[self.begin[head] : self.end[head]])
            self.check(len(group) * (len(group) - 1) // 2 if self.sides is None else 0)
            left, right = np.triu_indices(len(group), 1)
            self.list(group[left], group[right], np.ones(len(left)))

    def add(self, block: np.ndarray) -> None:
        """Verified pairs of items: int64[m, 4] as the kernels give them."""
        a, b = self.member[block[:, 0]], self.member[block[:, 1]]
        copies_a, copies_b = self.end[a] - self.begin[a], self.end[b] - self.begin[b]
        times = copies_a * copies_b
        if self.sides is None:
            self.check(int(times.sum()))
        pair = np.repeat(np.arange(len(block)), times)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
        left = self.order[self.begin[a][pair] + place // copies_b[pair]]
        right = self.order[self.begin[b][pair] + place % copies_b[pair]]
        self.list(left, right, ratio(block[:, 2], block[:, 3])[pair])

    def list(self, a: np.ndarray, b: np.ndarray, similarity: np.ndarray) -> None:
        if self.sides is not None:
            across = self.sides[a] != self.sides[b]
            a, b, similarity = a[across], b[across], similarity[across]
            self.check(len(a))
        self.rows.append(np.stack([np.minimum(a, b), np.maximum(a, b)], axis=1))
        self.similarity.append(similarity)
        self.count += len(a)

    def check(self, more: int) -> None:
        if self.count + more > self.most:
            hint = "list members against their leader only with --star, or allow more with --max-pairs"
            raise UsageError(f"more than {self.most:,} pairs are at or above the threshold; {hint}")

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        if not self.rows:
            return np.empty((0, 2), np.int64), np.empty(0)
        return np.concatenate(self.rows), np.concatenate(self.similarity)
