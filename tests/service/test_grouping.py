"""Requests that come together become one call of the index, and each gets the answers to its own items."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from likewise.errors import IdError, UsageError
from likewise.service.limits import CALL_ITEMS, Limits
from likewise.service.problems import ProblemError
from likewise.service.queries import Queries
from likewise.service.writer import STOPPED, Writer


class Calls:
    """Counts the calls. Each item is answered by itself; "wrong" is no item, and "there" is the id of an item."""

    def __init__(self) -> None:
        self.made: list[tuple[str, list[Any]]] = []
        self.begun = threading.Event()  # the first change
        self.go = threading.Event()  # until then, the first change takes its time

    def query(self, values: list[Any], options: dict[str, Any]) -> list[Any]:
        return self._answer(f"query {options}", values)

    def add(self, values: list[Any], options: dict[str, Any]) -> list[Any]:
        self.begun.set()
        assert self.go.wait(60)
        return self._answer("add", values)

    def add_new(self, values: list[Any], options: dict[str, Any]) -> list[Any]:
        return self._answer("add_new", values)

    def remove(self, values: list[Any], options: dict[str, Any]) -> int:
        self._answer("remove", values)
        return len(values)

    def may_stop(self, values: list[Any], options: dict[str, Any]) -> bool:
        return "there" in values

    def _answer(self, name: str, values: list[Any]) -> list[Any]:
        self.made.append((name, values))
        if "wrong" in values:
            raise UsageError("row 0 is wrong")
        if "crash" in values:
            raise SystemExit
        return [f"answer to {value}" for value in values]


def asked(give: Callable[[Queries], list[Awaitable[Any]]], limits: Limits | None = None) -> tuple[Calls, list[Any]]:
    calls = Calls()

    async def run() -> list[Any]:
        queries = Queries(calls.query, limits or Limits(), remote=False, told=lambda number: None)
        found = await asyncio.gather(*give(queries), return_exceptions=True)
        assert queries.waiting == 0
        queries.close()
        return found

    return calls, asyncio.run(run())


def test_queries_of_one_turn_are_one_call() -> None:
    calls, found = asked(lambda queries: [queries.ask([f"{n}a", f"{n}b"], {"k": 1}, 10) for n in range(5)])
    assert found == [[f"answer to {n}a", f"answer to {n}b"] for n in range(5)]
    assert calls.made == [("query {'k': 1}", [f"{n}{part}" for n in range(5) for part in "ab"])]


def test_queries_with_other_options_are_other_calls_and_a_wrong_one_is_alone() -> None:
    options: list[dict[str, Any]] = [{"k": 1}, {"k": 2}, {"k": 1}]
    calls, found = asked(lambda queries: [queries.ask([n], options[n], 10) for n in range(3)])
    assert found == [[f"answer to {n}"] for n in range(3)] and [values for _, values in calls.made] == [[0, 2], [1]]
    calls, found = asked(lambda queries: [queries.ask([item], {}, 10) for item in ("a", "wrong", "b")])
    assert found[0] == ["answer to a"] and isinstance(found[1], UsageError) and found[2] == ["answer to b"]


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_call_takes_so_many_items_and_large_ones_run_on_threads(size: int) -> None:
    calls, found = asked(lambda queries: [queries.ask([n] * 100, {}, size) for n in range(10)])
    assert [answers[0] for answers in found] == [f"answer to {n}" for n in range(10)]
    assert sorted(len(values) for _, values in calls.made) == [500, 500] and CALL_ITEMS == 512


def test_too_many_queries_are_refused() -> None:
    def give(queries: Queries) -> list[Awaitable[Any]]:
        made: list[Awaitable[Any]] = [queries.ask(["a"], {}, 10) for _ in range(2)]
        with pytest.raises(ProblemError) as refused:
            queries.ask(["a"], {}, 10)
        assert (refused.value.status, refused.value.headers) == (503, {"retry-after": "1"})
        return made

    assert len(asked(give, Limits(waiting=2))[1]) == 2
    assert len(asked(give, Limits(waiting_bytes=29))[1]) == 2


def written(give: Callable[[Writer], list[Awaitable[Any]]]) -> tuple[Calls, list[Any], Writer]:
    """Changes that come while the first is made."""
    calls = Calls()

    async def run() -> tuple[list[Any], Writer]:
        writer = Writer(calls, Limits(), told=lambda number: None)  # type: ignore[arg-type]
        writer.start(asyncio.get_running_loop())
        first = writer.write("add", ["first"], {}, 10)
        while not calls.begun.is_set():
            await asyncio.sleep(0.001)
        given = give(writer)
        calls.go.set()
        found = await asyncio.gather(first, *given, return_exceptions=True)
        writer.close()
        return found[1:], writer

    return calls, *asyncio.run(run())


def test_changes_that_wait_are_made_together_and_in_their_order() -> None:
    order = [("add", ["a", "b"]), ("add", ["c"]), ("remove", ["x"]), ("remove", ["y"]), ("add", ["d"])]
    calls, found, writer = written(lambda writer: [writer.write(name, values, {}, 10) for name, values in order])
    assert found == [["answer to a", "answer to b"], ["answer to c"], 1, 1, ["answer to d"]]
    assert calls.made[1:] == [("add", ["a", "b", "c"]), ("remove", ["x"]), ("remove", ["y"]), ("add", ["d"])]
    assert writer.waiting == 0 and writer.trouble == STOPPED  # its thread has ended


def test_a_change_that_is_wrong_is_alone() -> None:
    calls, found, _ = written(lambda writer: [writer.write("add", [item], {}, 10) for item in ("a", "wrong", "b")])
    assert found[0] == ["answer to a"] and isinstance(found[1], UsageError) and found[2] == ["answer to b"]
    calls, found, _ = written(lambda writer: [writer.write("add_new", [item], {}, 10) for item in ("a", "there")])
    assert calls.made[1:] == [("add_new", ["a"]), ("add_new", ["there"])]  # it could end between the two
    assert issubclass(IdError, UsageError)


def test_all_that_wait_for_a_thread_that_ends_are_told() -> None:
    _, found, writer = written(
        lambda writer: [writer.write(name, [item], {}, 10) for name, item in (("add", "crash"), ("remove", "a"), ("add", "b"))]
    )
    assert [one.status for one in found] == [500, 500, 500] and isinstance(writer.fault, SystemExit) and writer.trouble == STOPPED
    with pytest.raises(ProblemError):
        writer.write("add", ["c"], {}, 10)
