"""Pairs of items spelled out as pairs of rows."""

from __future__ import annotations

import numpy as np

from likewise.errors import UsageError


class Listing:
    """Verified pairs of items, spelled out as pairs of rows: each copy of the one with each copy of the other."""

    def __init__(self, first: np.ndarray, member: np.ndarray, sides: np.ndarray | None, most: int, equal: float = 1.0):
        """first: int64[rows], the first copy of each row; member: int64[items], the row of each item; sides: uint8[rows], 0 or 1, or None.

        ``equal`` is the similarity of copies, or their distance.
        """
        self.member, self.sides, self.most, self.equal = member, sides, most, equal
        other = np.zeros(len(first), np.uint8) if sides is None else sides
        self.order = np.lexsort((np.arange(len(first)), other, first))  # copies of one row lie together, those of side 0 before those of side 1
        heads = first[self.order]
        self.begin = np.searchsorted(heads, np.arange(len(heads)), side="left")
        self.end = np.searchsorted(heads, np.arange(len(heads)), side="right")
        self.middle = self.end - np.bincount(first, other, len(first)).astype(np.int64)  # where side 1 begins
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
        heads = np.flatnonzero(self.end - self.begin > 1)
        if self.sides is not None:
            ones = np.full(len(heads), self.equal)
            self.product((self.begin[heads], self.middle[heads]), (self.middle[heads], self.end[heads]), ones)
            return
        for head in heads:
            group = np.sort(self.order[self.begin[head] : self.end[head]])
            self.check(len(group) * (len(group) - 1) // 2)
            left, right = np.triu_indices(len(group), 1)
            self.list(group[left], group[right], np.full(len(left), self.equal))

    def add(self, left: np.ndarray, right: np.ndarray, similarity: np.ndarray) -> None:
        """Verified pairs of items, int64[m] each, and how alike they are, float64[m]."""
        a, b = self.member[left], self.member[right]
        if self.sides is None:
            self.product((self.begin[a], self.end[a]), (self.begin[b], self.end[b]), similarity)
        else:
            self.product((self.begin[a], self.middle[a]), (self.middle[b], self.end[b]), similarity)
            self.product((self.middle[a], self.end[a]), (self.begin[b], self.middle[b]), similarity)

    def product(self, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray], similarity: np.ndarray) -> None:
        """Each row of a run of ``order`` with each of another; a and b are where the runs begin and end."""
        sizes_a, sizes_b = a[1] - a[0], b[1] - b[0]
        times = sizes_a * sizes_b
        self.check(int(times.sum()))
        pair = np.repeat(np.arange(len(times)), times)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
        left = self.order[a[0][pair] + place // sizes_b[pair]]
        right = self.order[b[0][pair] + place % sizes_b[pair]]
        self.list(left, right, similarity[pair])

    def list(self, a: np.ndarray, b: np.ndarray, similarity: np.ndarray) -> None:
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
