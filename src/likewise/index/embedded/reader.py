"""The store of a process that only reads a folder, while another may write to it.

It looks at SQLite's version of the data before each view, and takes up new rows of the log in a short transaction. If the catalog has changed, it
opens the segments that are new; one that is missing was replaced meanwhile, and the next catalog names its successor.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from likewise.errors import FormatError, UsageError
from likewise.index.embedded.base import CLOSED, Opened
from likewise.index.embedded.database import Database, has_log
from likewise.index.embedded.folder import check_place
from likewise.index.embedded.loaded import Loaded, grown, loaded, stored
from likewise.index.parts import Parts
from likewise.index.store import Change, Items, Outcome
from likewise.messages import option

#: Attempts to read a catalog whose files are all there.
TRIES = 20


class Reader(Opened):
    def __init__(self, folder: Path):
        check_place(folder)
        super().__init__(folder)
        self.found: Loaded | None = None
        self.version = -1
        self.database = Database.reading(folder)
        try:
            self.view()
        except BaseException:
            self.database.close()
            raise

    def view(self) -> Parts:
        self.usable()
        with self.lock:
            if self.db.immutable and has_log(self.folder):  # somebody writes now
                self.db.close()
                self.database, self.version = Database.reading(self.folder), -1
            version = self.db.version()  # before the data: a commit between the two is found again
            if version != self.version or self.found is None:
                self.refresh(self.db)
                self.version = version
            assert self.found is not None
            return self.found.parts

    def refresh(self, database: Database) -> None:
        """Take up what was committed. Raises FormatError for damage, or if the catalog changed faster than its files could be opened."""
        found = stored(database, self.found)
        if self.found and not found.renewed:
            self.found = grown(self.folder, self.found, found)
            return
        for attempt in range(TRIES):
            try:
                self.found = loaded(self.folder, self.manifest, found, self.found.segments if self.found else {})
                return
            except FormatError:
                before, found = found.state, stored(database)
                if found.state == before or attempt == TRIES - 1:
                    raise

    # --- what a reader refuses

    def write(self, change: Change) -> Outcome:
        raise self.refused()

    def load(self, blocks: Iterator[Items]) -> int:
        raise self.refused()

    def flush(self) -> None:
        raise self.refused()

    def compact(self) -> None:
        raise self.refused()

    def refused(self) -> UsageError:
        return UsageError(f"{self.folder}: the index is open for reading; open it without {option('read_only', True)} to write")

    def info(self) -> dict[str, Any]:
        return {**super().info(), "read_only": True}

    def close(self) -> None:
        with self.lock:
            if not self.closed:
                self.closed = CLOSED
                self.db.close()
