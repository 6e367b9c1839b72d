"""The common part of the stores that read a folder and write to it."""

from __future__ import annotations

import os
import weakref
from pathlib import Path
from threading import Lock
from typing import Any

from likewise.errors import UsageError
from likewise.index.embedded import checking, copying, database
from likewise.index.embedded.database import Database
from likewise.index.embedded.folder import DATABASE, damaged, manifest_of, size
from likewise.index.parts import Parts


class Opened:
    """An open index: its folder, its manifest and its connection."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.manifest = manifest_of(folder)
        self.lock: Any = Lock()  # of the connection, and of what follows from it
        self.database: Database | None = None
        self.closed = ""  # why it cannot be used any more
        self.path = folder / DATABASE
        self.device = self.identity()
        STORES.add(self)

    @property
    def db(self) -> Database:
        assert self.database is not None
        return self.database

    @property
    def settings(self) -> dict[str, Any]:
        return self.manifest.settings

    def identity(self) -> tuple[int, int]:
        """The identity of the database, to tell it from another one at the same path."""
        try:
            found = self.path.stat()
        except FileNotFoundError:
            raise damaged(self.folder, f"{DATABASE} is missing") from None
        return found.st_dev, found.st_ino

    @property
    def where(self) -> str:
        return str(self.folder.absolute())

    def usable(self) -> None:
        """Raise UsageError if the index was closed, or another one is at its path."""
        if self.closed:
            raise UsageError(f"{self.folder}: {self.closed}")
        if self.identity() != self.device:
            raise UsageError(f"{self.folder}: another index is at this path since this one was opened; open it again")

    def view(self) -> Parts:
        raise NotImplementedError

    def check(self) -> list[str]:
        self.usable()
        return checking.faults(self.folder)

    def backup(self, path: Path) -> None:
        self.usable()
        copying.backup(self.folder, Path(path))

    def info(self) -> dict[str, Any]:
        view = self.view()
        segments = [part for part in view.parts if getattr(part, "name", 0)]
        waiting = sum(part.items for part in view.parts) - sum(part.items for part in segments)
        return {
            "items": len(view),
            "removed": view.removed,
            "segments": len(segments),
            "in_log": waiting,
            "bytes": size(self.folder),
            **database.info(),
        }

    def forked(self) -> None:
        """In a forked child: keep the connection, whose end would take locks from the parent, and never use it."""
        KEPT.append(self.database)
        self.lock, self.closed = Lock(), "this index was opened before the process was forked; open it in the new process"


CLOSED = "this index is closed; open it again"
#: Stores that are open, and the connections of a parent process, which are never closed.
STORES: weakref.WeakSet[Opened] = weakref.WeakSet()
KEPT: list[Any] = []


def forked() -> None:
    for store in list(STORES):
        store.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=forked)
