"""The store of the one process that writes to a folder.

Writers on several threads queue; the first that gets the lock commits for all that wait, in one row of the log. So the cost of syncing is shared, and
nothing is visible before it is on the disk.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from likewise.errors import UsageError
from likewise.index.changes import Applied, applied
from likewise.index.embedded.base import CLOSED
from likewise.index.embedded.turns import Ticket
from likewise.index.embedded.upkeep import Upkeep
from likewise.index.embedded.written import Written
from likewise.index.parts import Parts, laid, numbered
from likewise.index.segment import Form
from likewise.index.store import Change, Items, Outcome
from likewise.io import disk

#: Maximum of items, and of bytes of words, in one row of the log, unless one change has more.
GROUP, GROUP_BYTES = 512, 4 << 20
NONE = np.empty(0, np.int64)


class Writer(Written):
    def __init__(self, folder: Path, durability: str):
        super().__init__(folder, durability)
        self.upkeep = Upkeep(self)
        with self.lock:
            self.upkeep.begin()

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

    def writable(self) -> None:
        """Raise an exception if no change can be written."""
        if self.closing:
            raise UsageError(f"{self.folder}: {CLOSED}")
        self.sound()

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
