"""The seam between an index and the places where it keeps items: a store gives views, and takes changes.

A store knows arrays and bytes, and neither texts nor measures: items arrive with their keys and words, and are compared by the index. So all stores
answer the same, and one suite of tests (tests/index/) holds for all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np

from likewise.choices import Existing
from likewise.stages import kept

#: The bits of a band's key that an index keeps.
KEY_BITS = kept.KEY_BITS
#: The outcome for an item whose id is in the index: nothing is written at all; the item is left out; it takes the place of the old one. With
#: "require" ids must be there, and the items take the places of the old ones; else nothing is written at all.
IdRule = Existing | Literal["require"]


@dataclass(frozen=True, slots=True)
class Items:
    """Items as stores take and give them, in order of arrival."""

    ids: Sequence[bytes]  # the JSON text of each id: b'7', b'"a"'
    keys: np.ndarray  # uint64[n, bands], a row an item; below 2^KEY_BITS; those of empty items need not be kept
    copy: np.ndarray  # uint64[n, 2], the second below 2^32: equal for items that are copies of each other, which have all but the id in common
    size: np.ndarray  # uint32[n]: the number of words of each item; 0: an empty item; its keys are 0, and it is in no bucket
    words: np.ndarray  # uint64[m]: the words that are compared, item after item; none if the index keeps no words
    slots: np.ndarray  # uint8[n, slots]: shortened signatures for estimates, if the index keeps no words; else [n, 0]

    def __len__(self) -> int:
        return len(self.size)

    def at(self, places: np.ndarray) -> Items:
        """Some of them: at places int64[m], or where a mask bool[n] is True."""
        if places.dtype == bool:
            if places.all():
                return self
            places = np.flatnonzero(places)
        words = self.words
        if len(words):
            ends, size = np.cumsum(self.size, dtype=np.int64), self.size[places].astype(np.int64)
            to = np.cumsum(size)
            words = words[np.arange(int(to[-1]) if len(to) else 0) + np.repeat(ends[places] - to, size)]
        ids = [self.ids[place] for place in places.tolist()] if len(self.ids) else []
        return Items(ids, self.keys[places], self.copy[places], self.size[places], words, self.slots[places])

    def occurrences(self) -> tuple[np.ndarray, np.ndarray]:
        """Which of them are the first with their id, and which the last: bool[n] each."""
        count = len(self)
        firsts = dict(zip(reversed(self.ids), range(count - 1, -1, -1), strict=True))
        if len(firsts) == count:
            return np.ones(count, bool), np.ones(count, bool)
        first, last = np.zeros((2, count), bool)
        first[list(firsts.values())] = True
        last[list(dict(zip(self.ids, range(count), strict=True)).values())] = True
        return first, last

    def since(self, begin: int) -> Items:
        """Those from a place on, without a copy of arrays."""
        if not begin:
            return self
        words = self.words[int(self.size[:begin].sum(dtype=np.int64)) :] if len(self.words) else self.words
        return Items(self.ids[begin:], self.keys[begin:], self.copy[begin:], self.size[begin:], words, self.slots[begin:])


class Contents(NamedTuple):
    """The parts of items that are compared."""

    copy: np.ndarray  # uint64[n, 2]
    size: np.ndarray  # uint32[n]
    words: np.ndarray  # uint64[m], as in `Items`
    slots: np.ndarray  # uint8[n, slots]


class Members(NamedTuple):
    """The pairs of a query and a content that meet, by query, then in order of arrival; each pair once.

    A content stands for all living items that are copies of each other. It is named by the number of the first of them. Where a store keeps a content
    several times, it may name each of them.
    """

    query: np.ndarray  # int64[p]
    content: np.ndarray  # int64[p]
    crowded: np.ndarray  # bool[queries]: a bucket of the query is overfull, so it meets some of its members only


class Change(NamedTuple):
    """Items and ids that are written at once, all or nothing. Removals come first."""

    items: Items
    existing: IdRule = "refuse"
    after: int | None = None  # write nothing if a living item that shares a key with one of ``items`` has a greater number than this
    remove: Sequence[bytes] = ()  # ids; those that are not there are left out


class Outcome(NamedTuple):
    """The outcome of a change."""

    numbers: np.ndarray  # int64[n]: the numbers of the items; -1 for those that were left out. Numbers ascend, and each is given once
    removed: int  # ids of ``remove`` that were there
    refused: Sequence[
        int
    ] = ()  # the places of items whose ids are there ("refuse"), twice in the change, or not there ("require"): nothing was written
    conflict: bool = False  # there was an item after ``after``: nothing was written


class View(Protocol):
    """The living items at one moment; later changes do not show. Several threads may use it."""

    @property
    def last(self) -> int:
        """The greatest number that an item got before this moment; -1: none."""

    def __len__(self) -> int:
        """The number of living items."""

    def members(self, keys: np.ndarray, copy: np.ndarray) -> Members:
        """The contents that queries with these keys, uint64[q, bands], meet by the rule of overfull buckets (`stages.candidates`), the query last.

        copy: uint64[q, 2], as in `Items`. A content that is a copy of the query is always a member, so an item is found by its own content.
        """

    def contents(self, numbers: np.ndarray) -> Contents:
        """The contents with these numbers, int64[p] (`Members.content`)."""

    def copies(self, numbers: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """The first ``most`` living items with each of these contents, or all: offsets int64[p + 1] and numbers int64[m], ascending."""

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        """The ids of living items."""

    def find(self, ids: Sequence[bytes]) -> np.ndarray:
        """The numbers of the living items with these ids, int64[n]; -1 for ids without one."""

    def scan(self, after: int = -1, most: int = 4096) -> Iterator[tuple[np.ndarray, Items]]:
        """All living items with numbers above ``after`` in order of arrival, up to ``most`` at a time, with their numbers int64[n]."""


class Store(Protocol):
    """Where an index keeps its items. Several threads may use it."""

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of the index (`stored_settings.stored`), as JSON."""

    @property
    def where(self) -> str:
        """The place of the index, as people see it: the path of its folder, or its address without user and password; empty in memory."""

    def view(self) -> View:
        """The items as they are now: all changes that were acknowledged, here or in another process."""

    def write(self, change: Change) -> Outcome:
        """Apply a change. When this returns, the change is visible to each later view, and durable as the store says it is."""

    def load(self, blocks: Iterator[Items]) -> int:
        """Add many items to an empty index, whose ids are known to differ; returns their number. What an interruption leaves is no index."""

    def flush(self) -> None:
        """Move the newest items to where they take the least space and time."""

    def compact(self) -> None:
        """Free the space of removed items."""

    def check(self) -> list[str]:
        """Read all that is stored; returns a sentence for each fault."""

    def backup(self, path: Path) -> None:
        """Write a consistent copy of the index, which is a new index."""

    def info(self) -> dict[str, Any]:
        """Facts about the store, as JSON: items, removed, bytes, and durability: a sentence."""

    def close(self) -> None:
        """Release files, locks and connections. Nothing acknowledged is lost without it."""
