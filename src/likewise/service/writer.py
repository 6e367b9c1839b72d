"""Changes: one thread makes them, in the order of arrival, and those of the same sort by one call of the index."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from likewise.errors import DataError, UsageError
from likewise.service.calls import Calls
from likewise.service.limits import CALL_BYTES, CALL_ITEMS, Limits
from likewise.service.problems import ProblemError, busy
from likewise.service.queries import split


class Write(NamedTuple):
    name: str  # the method of the index
    values: Sequence[Any]  # what each answer is for
    options: tuple[tuple[str, Any], ...]
    size: int  # bytes
    answer: asyncio.Future[Any]


#: The end of the queue.
STOP = Write("", (), (), 0, None)  # type: ignore[arg-type]
STOPPED = "the thread that writes has stopped; the service must be started again"
#: Changes that give the same result together as one after the other, and are made all or not at all.
TOGETHER = ("add", "add_new", "update")


class Writer:
    """calls: its methods make the changes of several requests with the same options, and return an answer for each item."""

    def __init__(self, calls: Calls, limits: Limits, *, told: Callable[[int], None]):
        self._calls, self._limits, self._told = calls, limits, told
        self._queue: queue.SimpleQueue[Write] = queue.SimpleQueue()
        self.waiting, self._bytes = 0, 0  # of the event loop
        self.fault: BaseException | None = None  # why no change can be made
        self.failed: Exception | None = None  # what ended the last change
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._run, name="likewise-writer", daemon=True)

    def start(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread.start()

    @property
    def trouble(self) -> str:
        """Why changes fail; empty if they do not."""
        if self.fault is not None or (self._loop and not self._thread.is_alive()):
            return STOPPED
        return "the last change could not be written" if self.failed else ""

    def write(self, name: str, values: Sequence[Any], options: dict[str, Any], size: int) -> asyncio.Future[Any]:
        """An answer for each item, once the change is durable. Raises ProblemError if too many changes wait, or none can be made."""
        if self.fault is not None:
            raise busy(STOPPED)
        if self.waiting >= self._limits.waiting or self._bytes + size > self._limits.waiting_bytes:
            raise busy(f"{self.waiting:,} changes are waiting; try again later")
        assert self._loop
        made = Write(name, values, tuple(options.items()), size, self._loop.create_future())
        self.waiting += 1
        self._bytes += size
        self._queue.put(made)
        if self.fault is not None and not made.answer.done():  # the thread stopped meanwhile
            made.answer.set_exception(busy(STOPPED))
        return made.answer

    def close(self) -> None:
        """Make the changes that wait, and end the thread."""
        if self._thread.is_alive():
            self._queue.put(STOP)
            self._thread.join()

    def _run(self) -> None:
        taken: list[Write] = []
        following: Write | None = None
        try:
            while (first := following or self._queue.get()) is not STOP:
                taken, following = self._same_sort(first)
                self._told(sum(len(write.values) for write in taken))
                self._give(taken, self._made(taken))
                taken = []
        except BaseException as error:
            self.fault = error
            waiting = [*taken, *([following] if following else [])]
            while not self._queue.empty():
                waiting.append(self._queue.get())
            waiting = [write for write in waiting if write is not STOP]
            self._give(waiting, [ProblemError(500, STOPPED, error="LikewiseError")] * len(waiting))

    def _same_sort(self, first: Write) -> tuple[list[Write], Write | None]:
        """The changes that one call makes, and the one after them, if it is there already."""
        taken, items, size = [first], len(first.values), first.size
        while True:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                return taken, None
            same = following.name == first.name in TOGETHER and following.options == first.options
            if not same or items + len(following.values) > CALL_ITEMS or size + following.size > CALL_BYTES:
                return taken, following
            taken.append(following)
            items, size = items + len(following.values), size + following.size

    def _made(self, writes: list[Write]) -> list[Any]:
        """For each change its answers, or an exception."""
        first = writes[0]
        values = [value for write in writes for value in write.values]
        try:
            if len(writes) > 1 and first.name == "add_new" and self._calls.may_stop(values, dict(first.options)):
                return self._alone(writes)  # an id that is there ends add_new after some of its items
            answers = getattr(self._calls, first.name)(values, dict(first.options))
        except (UsageError, DataError) as error:  # of one of them
            return [error] if len(writes) == 1 else self._alone(writes)
        except Exception as error:
            self.failed = error
            return [error] * len(writes)
        self.failed = None
        return split(answers, writes) if first.name in TOGETHER else [answers]

    def _alone(self, writes: list[Write]) -> list[Any]:
        return [answer for write in writes for answer in self._made([write])]

    def _give(self, writes: list[Write], answers: list[Any]) -> None:
        assert self._loop
        self._loop.call_soon_threadsafe(self._post, writes, answers)

    def _post(self, writes: list[Write], answers: list[Any]) -> None:
        for write, answer in zip(writes, answers, strict=True):
            self.waiting -= 1
            self._bytes -= write.size
            if not write.answer.done():
                write.answer.set_exception(answer) if isinstance(answer, Exception) else write.answer.set_result(answer)
