"""Keys of two or three ranks for sets whose ranks are all common: a list of the index then holds few sets (kernels.combine)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from likewise.kernels.bands import number_equal, repeated
from likewise.kernels.combine import BITS, combine

Longs = NDArray[np.int64]
Places = NDArray[np.uint32]

#: The most keys that are made: so many, or so many for each element of the sets if that is more. Each takes about 30 bytes for a while.
FEW_KEYS, KEYS_OF_AN_ELEMENT = 1 << 23, 4


class Prefixes(NamedTuple):
    """How many ranks of each set are entered and looked up, by sets in the order of their places; uint32[n] each."""

    entered: Places
    probed: Places
    entered_alone: Places  # of sets that have partners with fewer than ``depth`` common elements, all ranks once more, one by one
    probed_alone: Places


class Keys(NamedTuple):
    """The keys by which sets are entered and looked up, as kernels.join takes them, and how many of them each set enters and looks up."""

    keys: tuple
    number: int  # different ids
    entered: Places
    probed: Places


def prefixes(size: Longs, shared: Places, entered: Longs, probed: Longs, depth: int) -> Prefixes:
    """For keys of ``depth`` ranks. entered, probed: int64[n], prefixes of all elements for keys of one."""
    alone = size - shared

    def ranks(prefix: Longs) -> Places:
        return (prefix + depth - 1 - alone).clip(0, shared).astype(np.uint32)

    def singles(prefix: Longs) -> Places:
        return np.where((size + 1 - prefix < depth) & (prefix > 0), shared, 0).astype(np.uint32) if depth > 1 else np.zeros(len(size), np.uint32)

    return Prefixes(ranks(entered), ranks(probed), singles(entered), singles(probed))


def chosen(length: NDArray, depth: int) -> Longs:
    """The number of combinations of so many ranks."""
    n = length.astype(np.int64)
    return n * (n - 1) // 2 if depth == 2 else n * (n - 1) * (n - 2) // 6


def number_of_keys(prefix: Prefixes, depth: int) -> int:
    most = np.maximum(prefix.entered, prefix.probed)
    return int(chosen(most, depth).sum() + np.maximum(prefix.entered_alone, prefix.probed_alone).sum(dtype=np.int64))


def affordable(keys: int, elements: int, ranks: int, depth: int) -> bool:
    """True if so many keys of ``depth`` ranks can be made."""
    return keys <= max(FEW_KEYS, KEYS_OF_AN_ELEMENT * elements) and ranks < 1 << BITS[depth]


def keys_of(sets: tuple, prefix: Prefixes, depth: int) -> Keys:
    """The keys that two sets or more have, of sets as kernels.join takes them."""
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
        """How many of the keys of each set are kept, up to those of so many ranks, or all."""
        end = np.where(alone > 0, ends, begin + chosen(ranks, depth))
        return np.asarray(kept[end] - kept[begin])

    new = kept[begin].astype(np.int64)
    return Keys(
        (ids, new, left[some], count, depth - 1), number, kept_of(prefix.entered, prefix.entered_alone), kept_of(prefix.probed, prefix.probed_alone)
    )


def shared_keys(keys: NDArray[np.uint64]) -> tuple[Longs, Places, Places, int]:
    """(where those keys are that occur more than once, a number from 0 for each, how many such keys are before each place, how many numbers)."""
    some = np.flatnonzero(repeated(keys))
    part = np.empty(len(some), np.int32)
    count = number_equal(keys[some], part)
    some, ids = some[part >= 0], part[part >= 0].astype(np.uint32)
    kept = np.zeros(len(keys) + 1, np.uint32)
    kept[some + 1] = 1
    np.cumsum(kept, out=kept)
    return some, ids, kept, count


def meetings(sets: tuple, prefix: Prefixes, depth: int, step: int) -> float:
    """How often a set that is looked up meets one that is entered before, counted among each ``step``-th set and multiplied."""
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
