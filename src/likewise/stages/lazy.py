"""Candidate pairs in rounds, so that items that go early cost one comparison each.

An item that is the first in all its lists is certainly kept. A few pairs tell which these are: each item of a list with the first one. A round
compares those that read a list with its first item, if it is certainly kept. The similar ones go, from all lists; the
certainly kept ones, with which all others have been compared, are no longer listed. After some rounds the pairs that are left are listed and decided
(`stages.settle`, `stages.rounds`). At last the removed items are compared with the kept ones that they have not been compared with: those that were
kept in a later round than they were removed. So what is found is the same as from all candidate pairs: each removed item with all similar kept ones.

All functions take whole lists, any number of them.
"""

from __future__ import annotations

import numpy as np

from likewise.stages.candidates import Lists, before, in_pairs, pruned, selected

#: Rounds before all pairs that are left are listed.
ROUNDS = 2
#: Readers of one list: those of larger lists are cut into several, so that the work for a list is bounded, however large its bucket is.
READERS = 10_000


def first_pairs(lists: Lists) -> tuple[np.ndarray, np.ndarray]:
    """Each item of a list with the first listed one, if that is before it: (later, earlier), int64[p].

    An item that is no ``later`` of any list is certainly kept. Pairs of items that stay (`stages.scope`) say only that: they are not compared.
    """
    later = np.flatnonzero(before(lists.begin, lists.listed) > 0)
    listed = np.flatnonzero(lists.listed)
    first = listed[np.searchsorted(listed, lists.begin[lists.of[later]])]
    return lists.item[later], lists.item[first]


def narrowed(lists: Lists, gone: np.ndarray, kept: np.ndarray) -> Lists:
    """The lists after a round. gone, kept: bool[m], the entries whose items the round removed, or has compared with all that were left."""
    return pruned(lists._replace(listed=lists.listed & ~gone & ~kept, reads=lists.reads & ~gone))


def late_pairs(lists: Lists, removed: np.ndarray, decided: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The pairs of removed items with kept ones that no round compared: (later, earlier), int64[p].

    lists: those before the first round. removed: bool[m], True for the entries of removed items; the others are kept. decided: int64[m], the number
    of the round that removed the entry's item or found it certainly kept, from 1; one more than the last round for all other items.
    """
    lists = in_pairs(lists._replace(listed=lists.listed & ~removed & (decided > 1), reads=lists.reads & removed))
    some = lists.listed | lists.reads
    lists, decided = selected(lists, some), decided[some]
    later, earlier = lists.places()
    new = decided[earlier] > decided[later]
    return lists.item[later[new]], lists.item[earlier[new]]


def cut(lists: Lists, most: int = READERS) -> Lists:
    """The same candidate pairs in lists of at most ``most`` readers each. Each further piece of a list repeats what is listed before it."""
    home, piece = lists.of, before(lists.begin, lists.reads) // most
    last = np.zeros(len(lists.begin) - 1, np.int64)
    np.maximum.at(last, home[lists.reads], piece[lists.reads])
    listed = np.flatnonzero(lists.listed & (piece < last[home]))
    times = (last[home] - piece)[listed]
    again = np.repeat(listed, times)
    place = np.concatenate([np.arange(len(home)), again])
    piece = np.concatenate([piece, piece[again] + np.arange(len(again)) - np.repeat(np.cumsum(times) - times, times) + 1])
    order = np.lexsort((place, piece, home[place]))
    place, piece, repeated = place[order], piece[order], order >= len(home)
    begin = np.flatnonzero((np.diff(home[place], prepend=-1) != 0) | (np.diff(piece, prepend=-1) != 0))
    return pruned(Lists(np.append(begin, len(place)), lists.item[place], lists.listed[place], lists.reads[place] & ~repeated))
