"""Who commits: of the threads that wait with a change, the first that finds the lock free commits for all.

Threads whose change was committed are woken one by one, and need no lock. If they had to take turns at the lock to learn that they are done, new
changes would wait behind them, and a commit would hold about two.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from threading import Lock
from typing import Any

from likewise.index.store import Change, Outcome

#: Seconds after which a thread looks for itself.
PATIENCE = 1.0


class Ticket:
    """A change that waits for its commit, and later its outcome."""

    __slots__ = ("_asleep", "change", "error", "outcome")

    def __init__(self, change: Change):
        self.change = change
        self.outcome: Outcome | None = None
        self.error: BaseException | None = None
        self._asleep = Lock()
        self._asleep.acquire()

    @property
    def done(self) -> bool:
        return self.outcome is not None or self.error is not None

    def sleep(self) -> None:
        """Wait for `wake`, which may have come before. It may also return without it: an interrupted thread may have failed to wake this one."""
        self._asleep.acquire(timeout=PATIENCE)

    def wake(self) -> None:
        with suppress(RuntimeError):  # it was woken already
            self._asleep.release()


class Turns:
    """A lock that wakes the first of those that wait with a change when it is released, so that it commits."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.waiting: deque[Ticket] = deque()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        return self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        self._lock.release()
        with suppress(IndexError):
            self.waiting[0].wake()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: Any) -> None:
        self.release()

    def leave(self, ticket: Ticket) -> None:
        """The thread of a ticket waits no more; if it was woken to commit, another is."""
        with suppress(ValueError):  # somebody commits it
            self.waiting.remove(ticket)
        with suppress(IndexError):
            self.waiting[0].wake()
