"""Keys of items for exact joins in parts: all similar items share one, so the buckets of equal keys can be joined anywhere, one after another.

With each key travels a *mark* of its item, by which most dissimilar pairs of a bucket are rejected before their items are compared.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.joins.hamming_join import BY_BLOCKS, TableJoin, Tables, cheapest, named
from likewise.joins.pairs import UNBOUNDED, Among, Longs, PairBlock, Sides
from likewise.joins.prefix import enough_words
from likewise.joins.set_join import ceil
from likewise.kernels.bands import MIX
from likewise.kernels.sets import ODD_WORDS, odd_sketches
from likewise.stages.candidates import keyed

Words = NDArray[np.uint64]

#: A bucket of more items than this is cut into slices; two of them are joined at once.
SLICE, MOST_SLICES = 1 << 16, 1 << 8
#: Items whose buckets are joined at once.
GROUP = 1 << 17
#: Nanoseconds of one core to send a key to the partition of its bucket, and find it there.
ENTRY_COST = 500.0
#: The table of `TableJoin` in which codes collide if their first words are equal.
FIRST_WORD = Tables.of([[(0, 64)]])


class Keyed(NamedTuple):
    """Keys of items."""

    key: Words  # uint64[k]
    item: Longs  # int64[k]: the place of the item
    mark: Words  # uint64[k, words]
    number: Longs  # int64[k]: at least the number of items with this key, if it may exceed `SLICE`


class Keys(Protocol):
    """The keys of a run's items."""

    @property
    def counted(self) -> bool:
        """True if keys are made of the words of items and the number of items that have each, False if of the words alone."""

    @property
    def cost(self) -> float:
        """The predicted cost of the join on one machine (`joins.pairs.Join`), if that is announced; otherwise 0."""

    @property
    def signs(self) -> int:
        """The words of a mark, from the first one, of which similar items differ in few bits."""

    @property
    def words(self) -> int:
        """The words of a mark."""

    def number(self, items: int, words: int) -> int:
        """At most the number of keys, of so many items with so many words in all."""

    def of(self, words: Words, offsets: Longs, size: Longs, count: Longs) -> Keyed:
        """The keys of items.

        words: uint64[m]; offsets: int64[n + 1]. count: int64[m], the number of items that have each word. Words that no other item has may be left
        out. size: int64[n], the number of words of each item, with those left out.
        """

    def apart(self, mark: Words) -> int:
        """The maximum number of bits in which the signs of two similar items with such marks differ."""

    def may_be_similar(self, a: Words, b: Words) -> NDArray[np.bool_]:
        """False for pairs of equal keys that are not similar, or are similar and share another key with which they pass."""

    def facts(self) -> dict[str, Any]:
        """The facts about the join for report.json (`joins.pairs.Join`)."""


@dataclass(frozen=True)
class PrefixKeys:
    """Keys of sets: the first elements of each, its *prefix*, in the order of the number of sets that have them.

    Two sets with an overlap of o share one of the first size - o + 1 elements of either (`joins.set_join.lengths`). The first one that they share is
    followed by the rest of the overlap in both. So a pair may be rejected at any other.
    """

    threshold: Fraction
    signs: int
    cost = 0.0
    counted = True

    @classmethod
    def of_size(cls, threshold: Fraction, size: float) -> PrefixKeys:
        """The keys of sets of this size, on average."""
        return cls(threshold, enough_words(size, size * float(1 - threshold)) or ODD_WORDS)

    @property
    def words(self) -> int:
        return self.signs + 2

    def number(self, items: int, words: int) -> int:
        return words

    def of(self, words: Words, offsets: Longs, size: Longs, count: Longs) -> Keyed:
        n, shared = len(size), np.diff(offsets)
        item = np.repeat(np.arange(n), shared)
        order = np.lexsort((words, count, item))
        words, count = words[order], count[order]
        place = np.arange(len(words)) - offsets[item]
        share = ceil(self.threshold.numerator * size, self.threshold.denominator)
        prefix = size - share + 1 - (size - shared)  # elements that no other set has come first
        some = np.flatnonzero(place < prefix[item])
        item, place = item[some], place[some]
        signs = odd_sketches(words, offsets).reshape(n, -1, self.signs)
        mark = np.empty((len(some), self.words), np.uint64)
        mark[:, : self.signs] = np.bitwise_xor.reduce(signs, axis=1)[item]
        mark[:, -2] = size[item]
        mark[:, -1] = shared[item] << 32 | shared[item] - place
        return Keyed(words[some], item, mark, count[some])

    def numbers(self, mark: Words) -> tuple[Longs, Longs, Longs]:
        """(size, shared elements, those from the key's on), int64[n] each."""
        last = mark[:, -1].astype(np.int64)
        return mark[:, -2].astype(np.int64), last >> 32, last & 0xFFFFFFFF

    def apart(self, mark: Words) -> int:
        p, q = self.threshold.numerator, self.threshold.denominator
        size, shared, _ = self.numbers(mark)
        return max(0, int((2 * ((p + q) * shared - 2 * p * size)).max(initial=0)) // (p + q))

    def may_be_similar(self, a: Words, b: Words) -> NDArray[np.bool_]:
        p, q = self.threshold.numerator, self.threshold.denominator
        (size, shared, left), (other, others, right) = self.numbers(a), self.numbers(b)
        need = ceil(p * (size + other), p + q)
        differ = np.bitwise_count(a[:, : self.signs] ^ b[:, : self.signs]).sum(axis=1, dtype=np.int64)
        found: NDArray[np.bool_] = (np.minimum(left, right) >= need) & (differ <= shared + others - 2 * need)
        return found

    def facts(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class TableKeys:
    """Keys of codes: those of the tables of a layout (`joins.hamming_join`). The mark is the code."""

    tables: Tables
    bits: int
    within: int
    cost: float  # predicted for one machine, as `hamming_join.code_join` does
    common: Words  # uint64[h], ascending: keys that many items have, ...
    times: Longs  # int64[h]: ... and the estimated number of these
    counted = False

    @classmethod
    def of_sample(cls, sample: Words, items: int, bits: int, within: int, *, walk: bool) -> TableKeys:
        """The keys of so many codes. sample: `hamming_join.sample_of` them. walk: as for `hamming_join.cheapest`."""
        within = min(within, bits)
        tables, _ = cheapest(sample, items, bits, within, walk=walk, entry=ENTRY_COST)
        nothing = np.zeros(0, np.uint64)
        made = cls(tables, bits, within, cheapest(sample, items, bits, within, walk=walk)[1], nothing, nothing.astype(np.int64))
        key, number = np.unique(made.keys(sample), return_counts=True)
        number = number * items // max(1, len(sample))
        many = (number > SLICE) & (items > SLICE)
        return replace(made, common=key[many], times=number[many])

    @property
    def signs(self) -> int:
        return -(-self.bits // 64)

    @property
    def words(self) -> int:
        return self.signs

    def number(self, items: int, words: int) -> int:
        return items * len(self.tables)

    def keys(self, codes: Words) -> Words:
        """The keys of codes, uint64[n, words], table by table: uint64[tables * n]."""
        found = np.empty((len(self.tables), len(codes)), np.uint64)
        for table, pieces in enumerate(self.tables.pieces):
            key = np.full(len(codes), table + 1, np.uint64) * MIX
            for word, shift, width in pieces[pieces[:, 2] > 0].tolist():
                key = (key ^ (codes[:, word] >> np.uint64(shift) & np.uint64((1 << width) - 1))) * MIX
                key ^= key >> np.uint64(32)
            found[table] = key
        return found.ravel()

    def of(self, words: Words, offsets: Longs, size: Longs, count: Longs) -> Keyed:
        codes = words.reshape(len(size), -1)
        key, item = self.keys(codes), np.tile(np.arange(len(codes)), len(self.tables))
        number = np.zeros(len(key), np.int64)
        if len(self.common):
            place = np.minimum(np.searchsorted(self.common, key), len(self.common) - 1)
            number = np.where(self.common[place] == key, self.times[place], 0)
        return Keyed(key, item, codes[item], number)

    def apart(self, mark: Words) -> int:
        return self.within

    def may_be_similar(self, a: Words, b: Words) -> NDArray[np.bool_]:
        return np.ones(len(a), bool)

    def facts(self) -> dict[str, Any]:
        return named(BY_BLOCKS, self.bits)


def sliced(found: Keyed, items: Longs) -> Keyed:
    """The keys of items in slices: an item with a key of very many items gets a key for each pair of slices that has its own.

    items: int64[n], the numbers of the items in all parts.
    """
    slices = np.minimum(1 + found.number // SLICE, MOST_SLICES)
    times = np.maximum(1, slices - 1)
    if len(times) == times.sum():
        return found
    every = np.repeat(np.arange(len(times)), times)
    slices, other = slices[every], np.arange(len(every)) - np.repeat(np.cumsum(times) - times, times)
    own = (items[found.item[every]].astype(np.uint64) * MIX >> np.uint64(32)).astype(np.int64) % slices
    other += other >= own
    pair = np.minimum(own, other) * MOST_SLICES + np.maximum(own, other)
    key = np.where(slices > 1, keyed(found.key[every], pair.astype(np.uint64)), found.key[every])
    return Keyed(key, found.item[every], found.mark[every], found.number[every])


def in_groups(key: Words) -> Iterator[Longs]:
    """The places of equal keys, uint64[n], in groups of whole buckets with at least `GROUP` items each, but for the last."""
    order = np.argsort(key, kind="stable")
    new = np.diff(key[order], prepend=np.uint64(0)) != 0
    new[:1] = True
    begin = np.flatnonzero(new)
    size = np.diff(np.append(begin, len(order)))
    order, size = order[np.repeat(size > 1, size)], size[size > 1]
    ends = np.cumsum(size)
    edges = np.unique(ends[np.searchsorted(ends, np.arange(GROUP, len(order), GROUP))]) if len(ends) else ends
    yield from (some for some in np.split(order, edges) if len(some))


def joined(keys: Keys, key: Words, mark: Words, side: Sides | None = None, most: int = UNBOUNDED) -> Iterator[tuple[Longs, Longs]]:
    """Yield the pairs of entries with equal keys that may be similar, each once, int64[m] twice. Ends early once more than ``most`` are found.

    Each similar pair of items passes with one of their common keys. key: uint64[n]; mark: uint64[n, words]. side: as in `joins.pairs.Among`.
    """
    apart = keys.apart(mark)

    def check(left: Longs, right: Longs) -> tuple[PairBlock, int]:
        good = keys.may_be_similar(mark[left], mark[right])
        return PairBlock(left[good], right[good], np.empty(0)), len(left)

    codes = read_only(np.column_stack([key, mark[:, : keys.signs]]))
    for block in TableJoin(codes, FIRST_WORD, apart, apart, check).pairs(Among(side=side), most):
        yield block.left, block.right
