"""An index in a folder as the one process that writes to it has it: the rows of its log, and the catalog of its segments."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from likewise.index.embedded.base import Opened
from likewise.index.embedded.database import Database, Named
from likewise.index.embedded.folder import check_place, unnamed
from likewise.index.embedded.loaded import loaded, stored
from likewise.index.embedded.locks import WriterLock
from likewise.index.embedded.rows import encoded
from likewise.index.embedded.shown import Shown
from likewise.index.embedded.turns import Turns
from likewise.index.parts import Parts
from likewise.index.segment import Building, Form, Segment
from likewise.index.store import Items


class Written(Opened):
    """An index that this process alone writes to. After the first failure of a write nothing more is written."""

    def __init__(self, folder: Path, durability: str):
        check_place(folder)
        super().__init__(folder)
        self.lock = self.turns = Turns()
        self.durability, self.form = durability, Form.of(self.settings)
        self.held = WriterLock(folder)
        try:
            self.database = Database(folder, write=True, durability=durability)
            found = stored(self.database)
            self.state, parts, tail, self.row = loaded(folder, self.manifest, found, {})[:4]
            self.shown = Shown(parts, tail)
            self.name, self.naming = self.state.name, Lock()  # of the next segment
            self.noted = {name: len(numbers) for name, numbers in found.gone.items()}  # removed items of segments, as the database has them
            # In this order: SQLite's log starts again with a commit that is on the disk, then files go that an earlier catalog may name
            self.db.checkpoint()
            self.publish(parts)
            for path in unnamed(folder, {one.name for one in self.state.segments}):
                path.unlink()
        except BaseException:
            self.release()
            raise
        self.failed: OSError | None = None  # the first failure of a write
        self.closing = False  # changes are refused, and what was begun is finished

    def view(self) -> Parts:
        self.usable()
        return self.shown.view()

    def release(self) -> None:
        if self.database:
            self.database.close()
        self.held.release()

    def forked(self) -> None:
        super().forked()
        self.held.release()

    def append(self, rows: Sequence[tuple[np.ndarray, np.ndarray, Items]]) -> None:
        """Write these into the log, as one row, and note that it is on the disk. Without them: nothing."""
        if rows:
            self.db.append(self.row + 1, encoded(self.row + 1, rows))
            self.row += 1
            if self.durability == "commit":
                self.held.note(self.row)

    def sound(self) -> None:
        """Raise an exception if nothing can be written, not even what was begun before the index was closed."""
        if self.failed:
            why = self.failed.strerror or str(self.failed)
            raise OSError(self.failed.errno, f"an earlier write failed ({why}), so nothing more is written; open the index again", str(self.folder))
        self.usable()

    def fail(self, error: BaseException) -> None:
        """Note the failure of a write. What the disk holds afterwards is unknown until the index is opened again."""
        if not self.failed and not self.closed:
            self.failed = error if isinstance(error, OSError) else OSError(errno.EIO, str(error) or type(error).__name__)

    def publish(self, view: Parts, **changes: Any) -> None:
        """Commit the catalog of these parts, and what was removed from segments; then show them. Under the lock."""
        segments = [part for part in view.parts if isinstance(part, Segment)]
        removed = {segment.name: view.removed_of(segment) for segment in segments}
        stale = [segment for segment in segments if removed[segment.name] != self.noted.get(segment.name, 0)]
        numbers = np.sort(view.gone()) if stale else np.empty(0, np.int64)
        gone = {one.name: numbers[np.searchsorted(numbers, one.first) : np.searchsorted(numbers, one.last, "right")] for one in stale}
        named = tuple(Named(segment.name, segment.items, segment.checksum.hex()) for segment in segments)
        state = replace(self.state, next=view.last + 1, name=self.name, segments=named, **changes)
        self.db.publish(state, gone)
        self.state, self.noted = state, removed
        self.shown.show(view)

    def building(self) -> Building:
        """A new segment, with a name that none had before."""
        with self.naming:
            name, self.name = self.name, self.name + 1
        return Building(self.form, self.folder, name)
