"""Frequent pairs of items in baskets: A-Priori and PCY, pass by pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from likewise.errors import UsageError
from likewise.lecture.sets import in_order
from likewise.lecture.sheet import Printed, Sheet

Pair = tuple[Hashable, Hashable]


@dataclass(frozen=True, repr=False)
class Passes(Printed):
    """The two passes: the counts of items, the pairs that the second pass counts, and the frequent ones."""

    items: dict[Hashable, int]
    counted: dict[Pair, int]
    support: int
    buckets: tuple[int, ...] = ()

    @property
    def frequent_items(self) -> list[Hashable]:
        """The items in at least ``support`` baskets."""
        return [item for item, count in self.items.items() if count >= self.support]

    @property
    def pairs(self) -> dict[Pair, int]:
        """The pairs in at least ``support`` baskets, with their counts."""
        return {pair: count for pair, count in self.counted.items() if count >= self.support}

    @property
    def sheet(self) -> Sheet:
        return Sheet(
            ("pair", "baskets", "frequent"), tuple((f"{a}, {b}", n, "yes" if n >= self.support else "no") for (a, b), n in self.counted.items())
        )


def pairs_of(basket: Iterable[Hashable]) -> list[Pair]:
    """The pairs of a basket's distinct items, in order."""
    return list(combinations(in_order(basket), 2))


def counts_of(baskets: Sequence[Collection[Hashable]]) -> dict[Hashable, int]:
    """The number of baskets with each item."""
    counts = Counter(item for basket in baskets for item in set(basket))
    return {item: counts[item] for item in in_order(counts)}


def a_priori(baskets: Sequence[Collection[Hashable]], support: int) -> Passes:
    """Pass 1 counts items, pass 2 only the pairs of frequent items (Mining of Massive Datasets 6.2.5).

    Raises UsageError for a support below 1.

    >>> found = a_priori([{"m", "c", "b"}, {"m", "p", "j"}, {"m", "b"}, {"c", "j"}, {"m", "c", "b"}, {"c", "b"}], support=3)
    >>> found
    pair  baskets  frequent
    b, c        3  yes
    b, m        3  yes
    c, m        2  no
    >>> found.frequent_items
    ['b', 'c', 'm']
    """
    return second_pass(baskets, support, lambda pair: True)


def pcy(baskets: Sequence[Collection[Hashable]], support: int, bucket: Callable[[Pair], int], buckets: int) -> Passes:
    """A-Priori whose first pass also counts buckets of pairs; pass 2 leaves out pairs of infrequent buckets (Park, Chen and Yu 1995).

    bucket: the hash function of pairs, taken modulo ``buckets``. The frequent pairs are those of `a_priori`. Raises UsageError
    for no buckets, and for a support below 1.

    >>> baskets = [{1, 2, 3}, {2, 3, 4}, {3, 4, 5}, {1, 3, 4}, {2, 4, 6}, {1, 2, 4}]
    >>> found = pcy(baskets, support=3, bucket=lambda pair: pair[0] * pair[1], buckets=5)
    >>> found.buckets, found.counted, found.pairs == a_priori(baskets, 3).pairs
    ((2, 2, 6, 5, 3), {(1, 2): 2, (1, 3): 2, (2, 4): 3, (3, 4): 3, (1, 4): 2}, True)
    """
    if buckets < 1:
        raise UsageError(f"{buckets} buckets: give 1 or more")
    counts = [0] * buckets
    for basket in baskets:
        for pair in pairs_of(basket):
            counts[bucket(pair) % buckets] += 1
    found = second_pass(baskets, support, lambda pair: counts[bucket(pair) % buckets] >= support)
    return Passes(found.items, found.counted, support, tuple(counts))


def second_pass(baskets: Sequence[Collection[Hashable]], support: int, wanted: Callable[[Pair], bool]) -> Passes:
    """Count the pairs of frequent items that are wanted. Raises UsageError for a support below 1."""
    if support < 1:
        raise UsageError(f"a support of {support}: give 1 or more baskets")
    items = counts_of(baskets)
    frequent = {item for item, count in items.items() if count >= support}
    counted = Counter(pair for basket in baskets for pair in pairs_of(frequent & set(basket)) if wanted(pair))
    return Passes(items, dict(counted), support)
