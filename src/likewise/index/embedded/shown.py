"""The items that views of a writer show. Rows that were committed enter the tail when a view is asked for, many at once: one by one costs more."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

import numpy as np

from likewise.index.parts import Parts
from likewise.index.segment import Segment
from likewise.index.store import Items
from likewise.index.tail import Recent, Tail

#: Items that wait before a thread is asked to add them, and before the writer does it himself, so that no reader waits for long.
MANY, MOST = 256, 4096


class Shown:
    """One thread at a time changes the items, under the lock of the store; any may ask for a view."""

    def __init__(self, parts: Parts, tail: Tail):
        self.tail = tail
        self.items, self.bytes = tail.items, tail.bytes  # of the tail, with those that wait
        self.ids: set[bytes] = set()  # of the items of the tail; some of them may be removed
        for recent in recents(parts):
            for _, items in recent.scan(-1, recent.items):
                self.ids.update(items.ids)
        self.frozen: set[bytes] = set()  # the same of a tail that becomes a segment
        self._adding = Lock()
        self._waiting: deque[tuple[np.ndarray, Items]] = deque()
        self.show(parts)

    def show(self, parts: Parts) -> None:
        """Let views be these parts, while nothing waits."""
        self._parts = parts
        self._segments = replace(parts, pieces=tuple(piece for piece in parts.pieces if isinstance(piece.part, Segment)))
        self.next = parts.last + 1  # after the parts: views wait until they have all items before it

    def view(self) -> Parts:
        while self._parts.last + 1 < self.next:
            with self._adding:
                blocks = [self._waiting.popleft() for _ in range(len(self._waiting))]
                if blocks:
                    numbers, items = joined(blocks)
                    self.tail.append(numbers, items)
                    self._parts = self._parts.with_tail(self.tail.snapshot(), int(numbers[-1]))
        return self._parts

    @property
    def waiting(self) -> int:
        """The number of items that no view has yet."""
        return self.next - 1 - self._parts.last

    def are_new(self, ids: list[bytes]) -> bool:
        """True if these ids differ, and no item has one. It may be False if an item that had one was removed."""
        fresh = set(ids)
        if len(fresh) < len(ids) or not self.ids.isdisjoint(fresh) or not self.frozen.isdisjoint(fresh):
            return False
        return not self._segments.pieces or bool((self._segments.find(ids) < 0).all())

    def add(self, numbers: np.ndarray, items: Items) -> None:
        """Add items that were committed, whose ids are new."""
        self.count(items)
        self._waiting.append((numbers, items))
        self.next = int(numbers[-1]) + 1
        if self.waiting >= MOST:
            self.view()

    def count(self, items: Items) -> None:
        """Note that the tail has these, or will have them."""
        self.items += len(items)
        self.bytes += items.words.nbytes + items.slots.nbytes + items.keys.nbytes
        self.ids.update(items.ids)

    def freeze(self) -> Parts:
        """Begin another tail; returns the view of all before."""
        view = self.view()
        self.tail, self.frozen, self.ids, self.items, self.bytes = Tail(view.form), self.ids, set(), 0, 0
        return view


def recents(parts: Parts) -> list[Recent]:
    return [part for part in parts.parts if isinstance(part, Recent)]


def joined(blocks: Sequence[tuple[np.ndarray, Items]]) -> tuple[np.ndarray, Items]:
    """Blocks of items as one."""
    if len(blocks) == 1:
        return blocks[0]
    numbers, items = zip(*blocks, strict=True)
    columns = [np.concatenate([getattr(one, name) for one in items]) for name in ("keys", "copy", "size", "words", "slots")]
    return np.concatenate(numbers), Items([id_ for one in items for id_ in one.ids], *columns)
