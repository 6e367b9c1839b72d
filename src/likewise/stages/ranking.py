"""Sets as ascending ranks of their elements, rarest first, for exact joins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.sets import read_only
from likewise.kernels import rank as kernels
from likewise.messages import option
from likewise.stages.workers import ALONE, Workers

Longs = NDArray[np.int64]

#: Elements of one task, and elements of one part, small enough for its counting table to stay in the cache.
PIECE, PART = 1 << 17, 1 << 14
MOST_PARTS = 1 << 10
#: Ranks are uint32.
MOST_ELEMENTS = 2**32 - 2


@dataclass(frozen=True)
class Ranked:
    """n sets: set i has the ``shared[i]`` ranks from tokens[first[i]] on, and size[i] - shared[i] elements that no other set has."""

    tokens: NDArray[np.uint32]
    first: Longs
    shared: NDArray[np.uint32]
    size: NDArray[np.uint32]
    ranks: int

    def __len__(self) -> int:
        return len(self.size)

    def of(self, items: Longs | None) -> Ranked:
        """A selection of the sets, or all if None. Ranks are unchanged."""
        return self if items is None else Ranked(self.tokens, self.first[items], self.shared[items], self.size[items], self.ranks)


@dataclass(frozen=True)
class Deal:
    """The distribution of all elements to parts, piece by piece."""

    values: NDArray[np.uint64]
    offsets: Longs
    shift: int  # the part of a key is key >> shift
    pieces: list[tuple[int, int]]  # (first set, end)
    places: Longs  # int64[pieces, parts]: the beginning of a piece's share of a part
    edges: Longs  # int64[parts + 1]: the beginnings of parts


def ranked(values: NDArray[np.uint64], offsets: Longs, *, side: NDArray[np.uint8] | None = None, workers: Workers = ALONE) -> Ranked:
    """Rank the elements of sets by the number of sets that have them. Takes 12 bytes an element temporarily, and keeps 4.

    values: uint64[m]; offsets: int64[n + 1]. side: uint8[n], 1, 2 or 3 for sets of A, B or both: then only elements that occur in both A and B are
    shared. Raises UsageError for more elements than uint32 can rank.
    """
    n, elements = len(offsets) - 1, int(offsets[-1] - offsets[0])
    if elements > MOST_ELEMENTS:
        raise UsageError(f"an exact join takes up to {MOST_ELEMENTS:,} elements, and these sets have {elements:,}; leave out {option('exact')}")
    deal = dealt(read_only(values[int(offsets[0]) : int(offsets[-1])]), read_only(offsets - offsets[0]), workers)
    ids = np.empty(elements, np.uint32)
    counts = numbered(deal, np.empty(0, np.uint8) if side is None else np.ascontiguousarray(side), ids, workers)
    begins = np.cumsum([0, *map(len, counts)])
    ranks = np.concatenate(counts)
    total = int(kernels.rank(ranks))
    each_part = range(len(deal.edges) - 1)
    list(workers.run(lambda part: kernels.exchange(ids[deal.edges[part] : deal.edges[part + 1]], ranks[begins[part] : begins[part + 1]]), each_part))

    tokens, first, shared = np.empty(elements, np.uint32), np.empty(n, np.int64), np.empty(n, np.uint32)

    def arrange(piece: int) -> None:
        place = deal.places[piece].copy()
        kernels.arrange(deal.values, deal.offsets, *deal.pieces[piece], deal.shift, place, ids, total.bit_length(), tokens, first, shared)

    list(workers.run(arrange, range(len(deal.pieces))))
    return Ranked(tokens, first, shared, np.diff(offsets).astype(np.uint32), total)


def dealt(values: NDArray[np.uint64], offsets: Longs, workers: Workers) -> Deal:
    """Count the elements that each piece has for each part."""
    part_bits = min(MOST_PARTS, max(2, 1 << (len(values) // PART).bit_length())).bit_length() - 1
    shift, pieces = 64 - part_bits, cut(offsets, PIECE)
    tallies = list(workers.run(lambda piece: kernels.tally(values, offsets[piece[0]], offsets[piece[1]], shift), pieces))
    tally = np.array(tallies, np.int64).reshape(-1, 1 << part_bits)
    edges = np.concatenate(([0], np.cumsum(tally.sum(axis=0))))
    return Deal(values, offsets, shift, pieces, edges[:-1] + np.cumsum(tally, axis=0) - tally, edges)


def numbered(deal: Deal, sides: NDArray[np.uint8], ids: NDArray[np.uint32], workers: Workers) -> list[NDArray[np.uint32]]:
    """Number the elements of each part, into ``ids`` uint32[m]; return for each part how often each element occurs, 0 if it is not shared."""
    keys, key_sides = np.empty(len(ids), np.uint64), np.empty(len(ids) if len(sides) else 0, np.uint8)

    def out(piece: int) -> None:
        kernels.deal(deal.values, deal.offsets, sides, *deal.pieces[piece], deal.shift, deal.places[piece].copy(), keys, key_sides)

    def count(part: int) -> NDArray[np.uint32]:
        here = slice(deal.edges[part], deal.edges[part + 1])
        counts: NDArray[np.uint32] = kernels.number(keys[here], key_sides[here], deal.shift, ids[here])
        return counts

    list(workers.run(out, range(len(deal.pieces))))
    return list(workers.run(count, range(len(deal.edges) - 1)))


def cut(offsets: Longs, elements: int) -> list[tuple[int, int]]:
    """Split the sets into runs of about ``elements`` elements each: (first set, end)."""
    n = len(offsets) - 1
    ends = np.searchsorted(offsets, np.arange(elements, offsets[-1], elements))
    edges = np.unique(np.concatenate(([0], ends.clip(0, n), [n])))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True))
