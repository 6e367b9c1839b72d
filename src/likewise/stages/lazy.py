"""Candidate pairs in rounds, so that items that are removed early cost one comparison each.

An item that is the first in all its lists is certainly kept. To find these items, few pairs are needed: each item of a list with the first one. A
round compares the items that read a list with its first item, if that is certainly kept. The similar ones are removed, and leave all lists. The
certainly kept items have then been compared with all others, and are no longer listed. After some rounds the remaining pairs are listed and decided
(`stages.settle`, `stages.rounds`). Finally, each removed item is compared with the kept items that were found in later rounds than it was removed. So
the result is the same as from all candidate pairs: each removed item with all similar kept ones.

All functions take whole lists, any number of them.
"""

from __future__ import annotations

import numpy as np

from likewise.stages.candidates import Lists, before, in_pairs, pruned, selected

#: Rounds before all remaining pairs are listed.
ROUNDS = 2
#: Maximum number of readers of a list. Lists with more are cut, so that the work for a list is bounded, however large its bucket is.
READERS = 10_000


def first_pairs(lists: Lists) -> tuple[np.ndarray, np.ndarray]:
    """Each item of a list with the first listed one, if that is before it: (later, earlier), int64[p].

    An item that is not the later one of any such pair is certainly kept. Pairs of fixed items (`stages.scope`) serve only to find these: they are not
    compared.
    """
    later = np.flatnonzero(before(lists.begin, lists.listed) > 0)
    listed = np.flatnonzero(lists.listed)
    first = listed[np.searchsorted(listed, lists.begin[lists.of[later]])]
    return lists.item[later], lists.item[first]


def left(listed: np.ndarray, reads: np.ndarray, gone: np.ndarray, kept: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The marks of entries (listed, reads) after a round that removed the items ``gone``, and compared all others with the items ``kept``."""
    return listed & ~gone & ~kept, reads & ~gone


def late(listed: np.ndarray, reads: np.ndarray, removed: np.ndarray, decided: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The marks of entries (listed, reads) that may be in `late_pairs`."""
    return listed & ~removed & (decided > 1), reads & removed


def late_pairs(lists: Lists, removed: np.ndarray, decided: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of removed items with kept ones that no round compared: (later, earlier), int64[p].

    lists: those before the first round. removed: bool[m], True for the entries of removed items; the others are kept. decided: int64[m], the number
    of the round that removed the entry's item or found it certainly kept, from 1; one more than the last round for all other items.
    """
    listed, reads = late(lists.listed, lists.reads, removed, decided)
    lists = in_pairs(lists._replace(listed=listed, reads=reads))
    some = lists.listed | lists.reads
    lists, decided = selected(lists, some), decided[some]
    later, earlier = lists.places()
    new = decided[earlier] > decided[later]
    return lists.item[later[new]], lists.item[earlier[new]]


def cut(lists: Lists, most: int = READERS) -> Lists:
    """The same candidate pairs in lists of at most ``most`` readers each. Each further piece repeats the items that are listed before it."""
    long = np.add.reduceat(lists.reads, lists.begin[:-1], dtype=np.int64) > most if len(lists.item) else np.zeros(0, bool)
    if not long.any():
        return lists
    inside = long[lists.of]
    whole, lists = selected(lists, ~inside), selected(lists, inside)
    home, piece = lists.of, before(lists.begin, lists.reads) // most
    last = np.zeros(len(lists.begin) - 1, piece.dtype)
    np.maximum.at(last, home[lists.reads], piece[lists.reads])
    listed = np.flatnonzero(lists.listed & (piece < last[home]))
    times = (last[home] - piece)[listed]
    again = np.repeat(listed, times)
    further = 1 + np.arange(len(again)) - np.repeat(np.cumsum(times) - times, times)
    place, repeated = np.concatenate([np.arange(len(home)), again]), np.arange(len(home) + len(again)) >= len(home)
    piece = np.concatenate([piece, piece[again] + further])
    order = np.lexsort((place, piece, home[place]))
    place, piece, repeated = place[order], piece[order], repeated[order]
    begin = np.flatnonzero((np.diff(home[place], prepend=-1) != 0) | (np.diff(piece, prepend=-1) != 0))
    cut_up = pruned(Lists(np.append(begin, len(place)), lists.item[place], lists.listed[place], lists.reads[place] & ~repeated))
    begin = np.concatenate([whole.begin[:-1], whole.begin[-1] + cut_up.begin])
    return Lists(begin, *(np.concatenate(each) for each in list(zip(whole, cut_up, strict=True))[1:]))
