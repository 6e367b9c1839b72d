"""Queries: those of one turn of the event loop become one call of the index."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

from likewise.errors import LikewiseError
from likewise.service.limits import CALL_BYTES, CALL_ITEMS, Limits
from likewise.service.problems import busy

#: Calls of more bytes than this run on a thread, so that short ones need not wait for them.
SHORT = 1 << 16


class Ask(NamedTuple):
    values: Sequence[Any]
    options: tuple[tuple[str, Any], ...]  # only queries with equal ones become one call
    size: int  # bytes
    answer: asyncio.Future[Any]


class Queries:
    """call: from the items of several queries and their options to an answer for each item. remote: each call waits for a server."""

    def __init__(self, call: Callable[[list[Any], dict[str, Any]], list[Any]], limits: Limits, *, remote: bool, told: Callable[[int], None]):
        self._call, self._limits, self._told = call, limits, told
        self._waiting: list[Ask] = []
        self._running = 0  # queries on threads
        self._bytes = 0
        self._longest = 0 if remote else SHORT
        self._threads = ThreadPoolExecutor(2, thread_name_prefix="likewise-query")

    @property
    def waiting(self) -> int:
        return len(self._waiting) + self._running

    def ask(self, values: Sequence[Any], options: dict[str, Any], size: int) -> asyncio.Future[Any]:
        """An answer for each item, later. Raises ProblemError if too many queries wait."""
        if self.waiting >= self._limits.waiting or self._bytes + size > self._limits.waiting_bytes:
            raise busy(f"{self.waiting:,} queries are waiting; try again later")
        loop = asyncio.get_running_loop()
        ask = Ask(values, tuple(options.items()), size, loop.create_future())
        self._waiting.append(ask)
        self._bytes += size
        if len(self._waiting) == 1:
            loop.call_soon(self._turn, loop)
        return ask.answer

    def _turn(self, loop: asyncio.AbstractEventLoop) -> None:
        """Answer what waits, in the order of arrival, as much as one call takes."""
        some, items, size = 0, 0, 0
        for ask in self._waiting:
            if some and (items + len(ask.values) > CALL_ITEMS or size + ask.size > CALL_BYTES):
                break
            some, items, size = some + 1, items + len(ask.values), size + ask.size
        taken, self._waiting = self._waiting[:some], self._waiting[some:]
        if self._waiting:
            loop.call_soon(self._turn, loop)
        taken = [ask for ask in taken if not ask.answer.done()]
        self._told(items)
        if size <= self._longest:
            self._give(taken, self._answers(taken), size, threaded=False)
        else:
            self._running += len(taken)
            future = loop.run_in_executor(self._threads, self._answers, taken)
            future.add_done_callback(lambda done: self._give(taken, done.result(), size, threaded=True))

    def _give(self, asks: list[Ask], answers: list[Any], size: int, *, threaded: bool) -> None:
        self._bytes -= size
        self._running -= len(asks) * threaded
        for ask, answer in zip(asks, answers, strict=True):
            if ask.answer.done():
                continue
            ask.answer.set_exception(answer) if isinstance(answer, Exception) else ask.answer.set_result(answer)

    def _answers(self, asks: list[Ask]) -> list[Any]:
        """For each query its answers, or an exception."""
        groups: dict[Any, list[int]] = {}
        for place, ask in enumerate(asks):
            groups.setdefault(ask.options, []).append(place)
        found: list[Any] = [None] * len(asks)
        for options, places in groups.items():
            for place, answer in zip(places, self._together([asks[place] for place in places], dict(options)), strict=True):
                found[place] = answer
        return found

    def _together(self, asks: list[Ask], options: dict[str, Any]) -> list[Any]:
        try:
            answers = self._call([value for ask in asks for value in ask.values], options)
        except LikewiseError as error:  # of one of them: each for itself
            return [error] if len(asks) == 1 else [answer for ask in asks for answer in self._together([ask], options)]
        except Exception as error:
            return [error] * len(asks)
        return split(answers, asks)

    def close(self) -> None:
        self._threads.shutdown()


def split(answers: list[Any], asks: Sequence[Any]) -> list[Any]:
    """The answers of a call, query by query."""
    begin, found = 0, []
    for ask in asks:
        found.append(answers[begin : begin + len(ask.values)])
        begin += len(ask.values)
    return found
