"""A store in the memory of one process, which keeps nothing when that ends."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from likewise.errors import UsageError
from likewise.index.changes import applied
from likewise.index.merging import due, full
from likewise.index.parts import Parts, laid, merged, numbered
from likewise.index.segment import Building, Form
from likewise.index.store import Change, Items, Outcome
from likewise.index.tail import Tail


def create(where: None, settings: dict[str, Any], *, overwrite: bool = False, durability: str = "relaxed") -> MemoryStore:
    return MemoryStore(settings)


class MemoryStore:
    """`store.Store` without files. Changes are made one at a time; views need no lock."""

    def __init__(self, settings: dict[str, Any]):
        self._settings, self._form, self._lock = settings, Form.of(settings), Lock()
        self._view, self._tail = Parts(self._form, (), -1), Tail(self._form)

    @property
    def settings(self) -> dict[str, Any]:
        return self._settings

    @property
    def where(self) -> str:
        return ""

    def view(self) -> Parts:
        return self._view

    def write(self, change: Change) -> Outcome:
        with self._lock:
            self._view, done = applied(self._view, self._tail, change, self._view.last + 1)
            if full(self._tail.items, self._tail.bytes):
                self._flush()
            return done.outcome

    def load(self, blocks: Iterator[Items]) -> int:
        with self._lock:
            if self._view.last >= 0:
                raise UsageError("only an index that never had items can be loaded: add the items instead")
            made = laid(numbered(blocks), self._building)
            last = made[-1].last if made else -1
            self._view = Parts.of(self._form, made, np.zeros(0, np.int64), last)
            return last + 1

    def flush(self) -> None:
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        if self._tail.items:
            recent = self._view.parts[-1]
            self._merge([recent])
            self._tail = Tail(self._form)
            while old := due(self._view):
                self._merge(old)

    def _merge(self, parts: Any) -> None:
        self._view = self._view.exchanged(parts, merged(self._view, parts, self._building))

    def _building(self) -> Building:
        return Building(self._form)

    def compact(self) -> None:
        with self._lock:
            self._flush()
            self._merge(self._view.parts)

    def check(self) -> list[str]:
        return []

    def backup(self, path: Path) -> None:
        raise UsageError("an index in memory has no files to back up: load its items into an index in a folder")

    def info(self) -> dict[str, Any]:
        view = self._view
        kept = {"bytes": sum(part.bytes for part in view.parts) + self._tail.bytes, "segments": len(view.parts) - bool(self._tail.items)}
        return {"items": len(view), "removed": view.removed, **kept, "durability": "none: the index ends with its process"}

    def close(self) -> None:
        pass
