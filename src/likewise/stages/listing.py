"""Pairs of items expanded to pairs of rows."""

from __future__ import annotations

import numpy as np

from likewise.drawing.numbers import counted
from likewise.errors import UsageError
from likewise.messages import option


class Listing:
    """Collects verified pairs of items, expanded to pairs of rows: each copy of one with each copy of the other."""

    def __init__(self, first: np.ndarray, member: np.ndarray, sides: np.ndarray | None, most: int, equal: float = 1.0, *, ordered: bool = False):
        """first: int64[rows], the first copy of each row; member: int64[items], the row of each item; sides: uint8[rows], 0 or 1, or None.

        most: the maximum number of pairs. equal: the similarity of copies, or their distance. ordered: pairs are directed, and the reverse is
        another pair; without sides.
        """
        self.first, self.member, self.sides, self.most, self.equal, self.ordered = first, member, sides, most, equal, ordered
        later = np.flatnonzero(first != np.arange(len(first)))
        self.heads = np.unique(first[later])
        rows = np.concatenate((self.heads, later))
        side = np.zeros(len(rows), np.uint8) if sides is None else sides[rows]
        self.order = rows[np.lexsort((rows, side, first[rows]))]  # copies of a row are adjacent, those of side 0 first
        self.begin = np.searchsorted(first[self.order], self.heads, side="left")
        self.end = np.searchsorted(first[self.order], self.heads, side="right")
        self.middle = self.end - np.bincount(np.searchsorted(self.heads, first[rows]), side, len(self.heads)).astype(np.int64)  # where side 1 begins
        self.rows: list[np.ndarray] = []
        self.similarity: list[np.ndarray] = []
        self.count = 0

    def sides_of_items(self) -> np.ndarray:
        """uint8[items]: 1, 2 or 3 if copies of the item are in A, B or both; empty if all pairs are wanted."""
        if self.sides is None:
            return np.zeros(0, np.uint8)
        side = np.left_shift(np.uint8(1), self.sides, dtype=np.uint8)
        np.bitwise_or.at(side, self.first[self.order], side[self.order])
        return side[self.member]

    def runs(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The places in ``order`` where the copies of first rows begin, where those of side 1 begin, and where they end: int64[m] each.

        A row without copies gets a place of its own, beyond ``order``.
        """
        begin = len(self.order) + rows
        middle, end = begin + 1 if self.sides is None else begin + (self.sides[rows] == 0), begin + 1
        if len(self.heads):
            place = np.minimum(np.searchsorted(self.heads, rows), len(self.heads) - 1)
            known = np.flatnonzero(self.heads[place] == rows)
            for run, of_head in ((begin, self.begin), (middle, self.middle), (end, self.end)):
                run[known] = of_head[place[known]]
        return begin, middle, end

    def at(self, places: np.ndarray) -> np.ndarray:
        """The rows at these places, int64[m] each."""
        inside = places < len(self.order)
        rows = places - len(self.order)
        rows[inside] = self.order[places[inside]]
        return rows

    def copies(self) -> None:
        """Add all pairs among copies of each other. Raises UsageError if that makes too many pairs."""
        if self.sides is not None:
            self.product((self.begin, self.middle), (self.middle, self.end), np.full(len(self.heads), self.equal))
            return
        for begin, end in zip(self.begin, self.end, strict=True):
            group = np.sort(self.order[begin:end])
            self.check(len(group) * (len(group) - 1) // (1 if self.ordered else 2))
            left, right = np.triu_indices(len(group), 1)
            for one, other in ((left, right), (right, left))[: 1 + self.ordered]:
                self.list(group[one], group[other], np.full(len(one), self.equal))

    def add(self, left: np.ndarray, right: np.ndarray, similarity: np.ndarray) -> None:
        """Add verified pairs of items, int64[m] each, and their similarities, float64[m]. Raises UsageError if that makes too many pairs."""
        (a, a_middle, a_end), (b, b_middle, b_end) = self.runs(self.member[left]), self.runs(self.member[right])
        if self.sides is None:
            self.product((a, a_end), (b, b_end), similarity)
        else:
            self.product((a, a_middle), (b_middle, b_end), similarity)
            self.product((a_middle, a_end), (b, b_middle), similarity)

    def product(self, a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray], similarity: np.ndarray) -> None:
        """Add each row of a run of ``order`` with each row of another. a and b: the beginnings and ends of the runs, int64[m] each."""
        sizes_a, sizes_b = a[1] - a[0], b[1] - b[0]
        times = sizes_a * sizes_b
        self.check(int(times.sum()))
        pair = np.repeat(np.arange(len(times)), times)
        place = np.arange(len(pair)) - np.repeat(np.cumsum(times) - times, times)
        left = self.at(a[0][pair] + place // sizes_b[pair])
        right = self.at(b[0][pair] + place % sizes_b[pair])
        self.list(left, right, similarity[pair])

    def list(self, a: np.ndarray, b: np.ndarray, similarity: np.ndarray) -> None:
        """Add pairs of rows, int64[m] each, with their similarities, float64[m]."""
        self.rows.append(np.stack([a, b] if self.ordered else [np.minimum(a, b), np.maximum(a, b)], axis=1))
        self.similarity.append(similarity)
        self.count += len(a)

    def check(self, more: int) -> None:
        """Raises UsageError if ``more`` pairs would exceed the maximum."""
        if self.count + more > self.most:
            raise too_many(self.most, star=not self.ordered and self.sides is None)

    def result(self) -> tuple[np.ndarray, np.ndarray]:
        """All pairs of rows, int64[m, 2], and their similarities, float64[m]. Empties the listing."""
        if not self.rows:
            return np.empty((0, 2), np.int64), np.empty(0)
        rows, similarity, at = np.empty((self.count, 2), np.int64), np.empty(self.count), self.count
        while self.rows:  # each part is freed once it is copied
            part = self.rows.pop()
            at -= len(part)
            rows[at : at + len(part)], similarity[at : at + len(part)] = part, self.similarity.pop()
        return rows, similarity


def too_many(most: int, *, star: bool = False) -> UsageError:
    """The error of more than ``most`` pairs. star: those of members with their leader could be listed instead."""
    instead = f"list only pairs of members with their leader ({option('star')}), or " if star else ""
    return UsageError(f"more than {counted(most, 'pair is', 'pairs are')} at or above the threshold; {instead}raise {option('max_pairs')}")
