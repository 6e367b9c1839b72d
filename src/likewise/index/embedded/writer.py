"""The store of the one process that writes to a folder.

Writers on several threads queue; the first that gets the lock commits for all that wait, in one row of the log. So the cost of syncing is shared, and
nothing is visible before it is on the disk.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from likewise.errors import UsageError
from likewise.index.changes import Applied, applied
from likewise.index.embedded.base import CLOSED, Opened
from likewise.index.embedded.database import Database, Named
from likewise.index.embedded.folder import check_place, unnamed
from likewise.index.embedded.loaded import loaded, stored
from likewise.index.embedded.locks import WriterLock
from likewise.index.embedded.rows import encoded
from likewise.index.embedded.shown import Shown
from likewise.index.embedded.turns import Ticket, Turns
from likewise.index.embedded.upkeep import Upkeep
from likewise.index.parts import Parts, laid, numbered
from likewise.index.segment import Building, Form, Segment
from likewise.index.store import Change, Items, Outcome
from likewise.io import disk

#: Maximum of items, and of bytes of words, in one row of the log, unless one change has more.
GROUP, GROUP_BYTES = 512, 4 << 20
NONE = np.empty(0, np.int64)


class Writer(Opened):
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
            # In this order: SQLite's log starts again with a commit that is on the disk, then files go that an earlier catalogue may name
            self.db.checkpoint()
            self.publish(parts)
            for path in unnamed(folder, {one.name for one in self.state.segments}):
                path.unlink()
        except BaseException:
            self.release()
            raise
        self.failed: OSError | None = None  # the first failure of a write: nothing is written after it
        self.closing = False  # changes are refused, and what was begun is finished
        self.upkeep = Upkeep(self)
        with self.lock:
            self.upkeep.begin()

    def view(self) -> Parts:
        self.usable()
        return self.shown.view()

    def flush(self) -> None:
        self.upkeep.flush()

    def compact(self) -> None:
        self.upkeep.compact()

    def info(self) -> dict[str, Any]:
        power = "and power loss" if self.durability == "commit" else "but not power loss"
        return {**super().info(), "durability": f"a change survives the end of the process {power}"}

    def close(self) -> None:
        with self.lock:
            if self.closed or self.closing:
                return
            self.closing = True
        self.upkeep.wait()
        with self.lock:
            self.closed = CLOSED
            self.release()

    def release(self) -> None:
        if self.database:
            self.database.close()
        self.held.release()

    def forked(self) -> None:
        super().forked()
        self.held.release()

    # --- changes

    def write(self, change: Change) -> Outcome:
        fitting(change.items, self.form)
        ticket = Ticket(change)
        self.turns.waiting.append(ticket)
        try:
            while not ticket.done:
                if not self.turns.acquire(blocking=False):
                    ticket.sleep()
                    continue
                try:
                    if not ticket.done:
                        self.commit()
                finally:
                    self.turns.release()
        except BaseException:
            self.turns.leave(ticket)
            raise
        if ticket.outcome is None:
            assert ticket.error is not None
            raise ticket.error
        return ticket.outcome

    def commit(self) -> None:
        """Commit the changes that have waited longest. Under the lock."""
        self.upkeep.wait_for_room()
        tickets: list[Ticket] = []
        items = size = 0
        try:
            while self.turns.waiting and items < GROUP and size < GROUP_BYTES:
                tickets.append(self.turns.waiting.popleft())
                items, size = items + len(tickets[-1].change.items), size + tickets[-1].change.items.words.nbytes
            self.writable()
            changes = [ticket.change for ticket in tickets]
            outcomes = self.plain(changes) or self.decided(changes)
            for ticket, outcome in zip(tickets, outcomes, strict=True):
                ticket.outcome = outcome
            self.upkeep.after_commit()
        except Exception as error:
            self.fail(error)
            for ticket in tickets:
                ticket.error = error
        except BaseException as error:  # an interruption is for this thread alone
            self.fail(error)
            for ticket in tickets:
                ticket.error = OSError(
                    errno.EINTR, "the commit was interrupted; whether it took place is known once the index is opened again", str(self.folder)
                )
            raise
        finally:
            for ticket in tickets:
                ticket.wake()

    def plain(self, changes: Sequence[Change]) -> list[Outcome] | None:
        """Commit changes that only add items with new ids, without looking at anything else; None if there are others."""
        number = self.shown.next
        for place, change in enumerate(changes):
            alone = change.after is None or (place == 0 and change.after >= number - 1)
            if change.remove or change.existing not in ("refuse", "skip") or not alone:
                return None
        if not self.shown.are_new([id_ for change in changes for id_ in change.items.ids]):
            return None
        rows, outcomes = [], []
        for change in changes:
            numbers = np.arange(number, number + len(change.items))
            number += len(numbers)
            outcomes.append(Outcome(numbers, 0))
            if len(numbers):
                rows.append((NONE, numbers, change.items))
        self.append(rows)
        for _, numbers, items in rows:
            self.shown.add(numbers, items)
        return outcomes

    def decided(self, changes: Sequence[Change]) -> list[Outcome]:
        """Commit changes, each decided by what is there and by those before it."""
        view = self.shown.view()
        done: list[Applied] = []
        for change in changes:
            view, one = applied(view, self.shown.tail, change, view.last + 1)
            done.append(one)
        self.append([(one.gone, one.numbers, one.items) for one in done if len(one.numbers) or len(one.gone)])
        for one in done:
            self.shown.count(one.items)
        self.shown.show(view)
        return [one.outcome for one in done]

    def append(self, rows: Sequence[tuple[np.ndarray, np.ndarray, Items]]) -> None:
        """Write these into the log, as one row, and note that it is on the disk. Without them: nothing."""
        if rows:
            self.db.append(self.row + 1, encoded(self.row + 1, rows))
            self.row += 1
            if self.durability == "commit":
                self.held.note(self.row)

    def writable(self) -> None:
        """Raise an exception if no change can be written."""
        if self.closing:
            raise UsageError(f"{self.folder}: {CLOSED}")
        self.sound()

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

    # --- the catalogue

    def publish(self, view: Parts, **changes: Any) -> None:
        """Commit the catalogue of these parts, and what was removed from segments; then show them. Under the lock."""
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

    def load(self, blocks: Iterator[Items]) -> int:
        """As in `Store`. The segments are written straight, and named by one commit."""
        with self.lock:
            self.writable()
            if self.shown.next:
                raise UsageError(f"{self.folder}: only an index that never had items can be loaded; add them, or create another index")
            self.publish(self.shown.view(), loading=True)
            try:
                segments = laid(numbered(fitting(items, self.form) for items in blocks), self.building)
                disk.force_file(self.folder)
                last = segments[-1].last if segments else -1
                self.publish(Parts.of(self.form, segments, np.empty(0, np.int64), last), loading=False)
            except BaseException as error:
                self.fail(error)
                raise
        return last + 1


def fitting(items: Items, form: Form) -> Items:
    """The items. Raises ValueError for items of another form than those of the index, which would damage it."""
    n = len(items)
    given = (len(items.ids),), items.keys.shape, items.copy.shape, items.words.shape, items.slots.shape
    right = (n,), (n, form.bands), (n, 2), (int(items.size.sum()) if form.sets != "none" else 0,), (n, form.slots)
    if given != right:
        names = "ids", "keys", "copy", "words", "slots"
        wrong = ", ".join(f"{name} {found} instead of {wanted}" for name, found, wanted in zip(names, given, right, strict=True) if found != wanted)
        raise ValueError(f"the items have other shapes than those of this index: {wrong}")
    return items
