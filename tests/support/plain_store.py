"""The store of an index by definition: a slow reference implementation, in memory, that the tests compare all stores with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np

from bucket_candidates import candidates_of
from likewise.index.store import Change, Contents, Items, Members, Outcome
from likewise.stages.candidates import BUDGET, FINER


class Item(NamedTuple):
    id: bytes
    keys: tuple[int, ...]
    copy: tuple[int, int]
    words: tuple[int, ...]
    size: int
    slots: tuple[int, ...]


def parted(items: Items) -> list[Item]:
    """A block of items, one by one."""
    ends = np.cumsum(items.size) if len(items.words) else np.zeros(len(items.size), np.int64)
    starts = ends - items.size if len(items.words) else ends
    return [
        Item(
            bytes(items.ids[i]),
            tuple(items.keys[i].tolist()),
            tuple(items.copy[i].tolist()),
            tuple(items.words[int(starts[i]) : int(ends[i])].tolist()),
            int(items.size[i]),
            tuple(items.slots[i].tolist()),
        )
        for i in range(len(items))
    ]


def joined(items: Sequence[Item], bands: int) -> Items:
    """The opposite of `parted`."""
    return Items(
        [item.id for item in items],
        np.array([item.keys for item in items], np.uint64).reshape(len(items), bands),
        np.array([item.copy for item in items], np.uint64).reshape(len(items), 2),
        np.array([item.size for item in items], np.uint32),
        np.array([word for item in items for word in item.words], np.uint64),
        np.array([item.slots for item in items], np.uint8).reshape(len(items), -1 if items else 0),
    )


@dataclass
class PlainView:
    items: dict[int, Item]  # living ones, by number
    last: int
    bands: int
    budget: int = BUDGET

    def __len__(self) -> int:
        return len(self.items)

    def firsts(self) -> list[int]:
        """The number of the first living item of each content that is not empty."""
        found: dict[tuple[int, int], int] = {}
        for number, item in sorted(self.items.items()):
            if item.size:
                found.setdefault(item.copy, number)
        return sorted(found.values())

    def members(self, keys: np.ndarray, copy: np.ndarray) -> Members:
        firsts = self.firsts()
        pairs, crowded = [], np.zeros(len(keys), bool)
        for query, own in enumerate(keys.tolist()):
            met = {place for place, number in enumerate(firsts) if self.items[number].copy == tuple(copy[query].tolist())}
            columns = [[*(self.items[number].keys[band] for number in firsts), own[band]] for band in range(self.bands)]
            me = len(firsts)
            for band in range(self.bands):
                bucket = [x for x in range(me + 1) if columns[band][x] == own[band]]
                met |= (found := {y for x, y in candidates_of(bucket, columns, band, self.budget, min(FINER, self.bands - 1)) if x == me})
                crowded[query] |= len(found) < len(bucket) - 1
            pairs += [(query, firsts[y]) for y in sorted(met)]
        pairs_ = np.array(pairs, np.int64).reshape(-1, 2)
        return Members(pairs_[:, 0], pairs_[:, 1], crowded)

    def contents(self, numbers: np.ndarray) -> Contents:
        found = joined([self.items[number] for number in numbers.tolist()], self.bands)
        return Contents(found.copy, found.size, found.words, found.slots)

    def copies(self, numbers: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        lists = [sorted(n for n, item in self.items.items() if item.copy == self.items[number].copy)[:most] for number in numbers.tolist()]
        return np.cumsum([0, *map(len, lists)]), np.array([n for found in lists for n in found], np.int64)

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        return [self.items[number].id for number in numbers.tolist()]

    def find(self, ids: Sequence[bytes]) -> np.ndarray:
        by_id = {item.id: number for number, item in self.items.items()}
        return np.array([by_id.get(bytes(one), -1) for one in ids], np.int64)

    def scan(self, after: int = -1, most: int = 4096) -> Iterator[tuple[np.ndarray, Items]]:
        numbers = sorted(number for number in self.items if number > after)
        for begin in range(0, len(numbers), most):
            some = numbers[begin : begin + most]
            yield np.array(some, np.int64), joined([self.items[number] for number in some], self.bands)


@dataclass
class PlainStore:
    settings: dict[str, Any]
    bands: int
    items: dict[int, Item] = field(default_factory=dict)
    next: int = 0
    budget: int = BUDGET
    lock: Lock = field(default_factory=Lock)
    where: str = ""

    def view(self) -> PlainView:
        with self.lock:
            return PlainView(dict(self.items), self.next - 1, self.bands, self.budget)

    def write(self, change: Change) -> Outcome:
        with self.lock:
            living = dict(self.items)
            by_id = {item.id: number for number, item in living.items()}
            removed = 0
            for one in change.remove:
                if (number := by_id.pop(bytes(one), None)) is not None:
                    del living[number]
                    removed += 1
            none = np.full(len(change.items), -1, np.int64)
            items = parted(change.items)
            there = [item.id in by_id for item in items]
            twice = [item.id in {other.id for other in items[:place]} for place, item in enumerate(items)]
            if change.existing in ("refuse", "require"):
                wrong = [place for place in range(len(items)) if twice[place] or there[place] == (change.existing == "refuse")]
                if wrong:
                    return Outcome(none, 0, wrong)
            if change.after is not None:
                keys = [{*enumerate(item.keys)} for item in items if item.size]
                for number, item in living.items():
                    if number > change.after and item.size and any({*enumerate(item.keys)} & mine for mine in keys):
                        return Outcome(none, 0, conflict=True)
            numbers = none.copy()
            for place, item in enumerate(items):
                if change.existing == "skip" and item.id in by_id:
                    continue
                if item.id in by_id:  # of an id that is twice in a change the last item stays
                    del living[by_id[item.id]]
                living[self.next], by_id[item.id], numbers[place] = item, self.next, self.next
                self.next += 1
            self.items = living
            return Outcome(numbers, removed)

    def load(self, blocks: Iterator[Items]) -> int:
        return sum(len(self.write(Change(block)).numbers) for block in blocks)

    def flush(self) -> None:
        pass

    def compact(self) -> None:
        pass

    def check(self) -> list[str]:
        return []

    def backup(self, path: Path) -> None:
        raise NotImplementedError

    def info(self) -> dict[str, Any]:
        return {"items": len(self.items)}

    def close(self) -> None:
        pass
