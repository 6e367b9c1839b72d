"""Keys of two or three ranks, for sets whose ranks are all common: the lists of the index then hold few sets (kernels.combine)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.bands import number_equal, repeated
from likewise.kernels.combine import BITS, combine

Longs = NDArray[np.int64]
Places = NDArray[np.uint32]

#: The maximum number of keys: the first, or the second for each element if that is more. Each takes about 30 bytes temporarily.
FEW_KEYS, KEYS_OF_AN_ELEMENT = 1 << 23, 4


class Prefixes(NamedTuple):
    """The number of ranks of each set that are entered and looked up, uint32[n] each, by place."""

    entered: Places
    probed: Places
    entered_alone: Places  # all ranks as single keys too, for sets with partners of fewer than ``depth`` common elements
    probed_alone: Places


class Keys(NamedTuple):
    """The keys by which sets are entered and looked up, as kernels.join takes them, and how many each set enters and looks up."""

    keys: tuple
    number: int  # distinct ids
    entered: Places
    probed: Places


def prefixes(size: Longs, shared: Places, entered: Longs, probed: Longs, depth: int) -> Prefixes:
    """The prefixes for keys of ``depth`` ranks. entered, probed: int64[n], the prefixes, over all elements, for keys of one rank."""
    alone = size - shared

    def ranks(prefix: Longs) -> Places:
        return (prefix + depth - 1 - alone).clip(0, shared).astype(np.uint32)

    def singles(prefix: Longs) -> Places:
        return np.where((size + 1 - prefix < depth) & (prefix > 0), shared, 0).astype(np.uint32) if depth > 1 else np.zeros(len(size), np.uint32)

    return Prefixes(ranks(entered), ranks(probed), singles(entered), singles(probed))


def chosen(length: NDArray, depth: int) -> Longs:
    """The number of combinations of ``depth`` ranks, 2 or 3, from prefixes of these lengths: int64[n]."""
    n = length.astype(np.int64)
    return n * (n - 1) // 2 if depth == 2 else n * (n - 1) * (n - 2) // 6


def number_of_keys(prefix: Prefixes, depth: int) -> int:
    """The total number of keys of ``depth`` ranks, before those in one set only are dropped."""
    most = np.maximum(prefix.entered, prefix.probed)
    return int(chosen(most, depth).sum() + np.maximum(prefix.entered_alone, prefix.probed_alone).sum(dtype=np.int64))


def affordable(keys: int, elements: int, ranks: int, depth: int) -> bool:
    """True if this many keys of ``depth`` ranks fit into memory and into 64 bits."""
    return keys <= max(FEW_KEYS, KEYS_OF_AN_ELEMENT * elements) and ranks < 1 << BITS[depth]


def keys_of(sets: tuple, prefix: Prefixes, depth: int) -> Keys:
    """The keys that at least two sets share. sets: as kernels.join takes them."""
    tokens, first, shared = sets[:3]
    most, singles = np.maximum(prefix.entered, prefix.probed), np.maximum(prefix.entered_alone, prefix.probed_alone)
    ends = np.cumsum(chosen(most, depth) + singles)
    total, begin = int(ends[-1]) if len(ends) else 0, ends - chosen(most, depth) - singles
    keys, left = np.empty(total, np.uint64), np.empty(total, np.uint32)
    combine(tokens, first, most, singles, shared, depth, BITS[depth], begin, keys, left)

    some, ids, kept, count = shared_keys(keys)
    del keys
    number = count
    if singles.any():
        place = np.searchsorted(ends, some, side="right")
        ids[some >= (begin + chosen(most, depth))[place]] += np.uint32(count)
        number = 2 * count

    def kept_of(ranks: Places, alone: Places) -> Places:
        """The number of keys of each set that are kept, among those of its first ranks, or of all."""
        end = np.where(alone > 0, ends, begin + chosen(ranks, depth))
        return np.asarray(kept[end] - kept[begin])

    new = kept[begin].astype(np.int64)
    return Keys(
        (ids, new, left[some], count, depth - 1), number, kept_of(prefix.entered, prefix.entered_alone), kept_of(prefix.probed, prefix.probed_alone)
    )


def shared_keys(keys: NDArray[np.uint64]) -> tuple[Longs, Places, Places, int]:
    """The keys that occur more than once: (places, ids from 0, their number before each place, number of ids).

    keys: uint64[m]. Places int64[k], ids uint32[k], numbers uint32[m + 1].
    """
    some = np.flatnonzero(repeated(keys))
    part = np.empty(len(some), np.int32)
    count = number_equal(keys[some], part)
    some, ids = some[part >= 0], part[part >= 0].astype(np.uint32)
    kept = np.zeros(len(keys) + 1, np.uint32)
    kept[some + 1] = 1
    np.cumsum(kept, out=kept)
    return some, ids, kept, count


def expected_collisions(sets: tuple, prefix: Prefixes, depth: int, step: int) -> float:
    """The expected number of times that a looked-up set shares a key with an earlier entered one, extrapolated from each ``step``-th set."""
    tokens, first, shared, size, signs = sets
    some = slice(None, None, step)
    sample = tokens, first[some], shared[some], size[some], signs[some]
    keys, number, entered, probed = keys_of(sample, Prefixes(*(one[some] for one in prefix)), depth)
    ids, begin = keys[:2]
    ends = np.append(begin[1:], len(ids))
    at = np.arange(len(ids)) - np.repeat(begin, ends - begin)

    def count(lengths: Places) -> NDArray[np.int64]:
        return np.bincount(ids[at < np.repeat(lengths, ends - begin)], minlength=number)

    both = count(entered) * count(probed)
    return float((both.sum() - len(ids)) / 2) * step**2
