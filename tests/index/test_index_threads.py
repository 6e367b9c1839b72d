"""An index under several threads: what was acknowledged is found at once, what was removed no more, and no two items get one number."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import likewise as lw
from index_stores import STORES
from indexes import index_in
from situations import near, text

EACH = pytest.mark.parametrize("name", STORES)


def at_once(*tasks: Callable[[], None]) -> None:
    """Run tasks in threads of their own, and raise the first error of one."""
    errors: list[BaseException] = []

    def guarded(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=[task]) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


@EACH
def test_items_of_eight_threads_without_ids_get_numbers_of_their_own(name, tmp_path):
    ix = index_in(name, tmp_path)
    told: list[int] = []

    def add(own: int) -> Callable[[], None]:
        return lambda: [told.extend(ix.add([text(own * 100 + step), ""]).ids) for step in range(10)] and None

    at_once(*map(add, range(8)))
    assert len(told) == len({*told}) == len(ix) == 160 and {*ix.ids()} == {*told}
    ix.close()


@EACH
def test_an_acknowledged_change_shows_in_each_later_query_of_its_thread(name, tmp_path):
    """Each of six threads adds, replaces and removes its own items, and finds exactly those, while another flushes and compacts."""
    ix = index_in(name, tmp_path)
    done = threading.Event()

    def work(own: int) -> None:
        for step in range(12):
            key, seed = f"{own}-{step}", own * 1000 + step
            ix.add([text(seed)], ids=[key])
            assert [row["id"] for row in ix.query(near(seed))] == [key] and key in ix
            ix.update([text(seed + 500)], [key])
            assert len(ix.query(near(seed))) == 0 and [row["id"] for row in ix.query([near(seed + 500)], k=1)] == [key]
            if step % 2:
                assert ix.remove([key]) == 1 and len(ix.query(near(seed + 500))) == 0 and key not in ix

    def works(own: int) -> Callable[[], None]:
        return lambda: work(own)

    def tidy() -> None:
        while not done.wait(0.02):
            ix.flush()
            ix.compact()

    tidying = threading.Thread(target=tidy)
    tidying.start()
    try:
        at_once(*map(works, range(6)))
    finally:
        done.set()
        tidying.join()
    assert {*ix.ids()} == {f"{own}-{step}" for own in range(6) for step in range(0, 12, 2)} and len(ix) == 36 and ix.check() == []
    ix.close()


@EACH
def test_of_eight_threads_with_one_new_item_one_adds_it_and_the_others_name_it(name, tmp_path):
    ix = index_in(name, tmp_path)
    told: list[list[dict]] = []
    barrier = threading.Barrier(8)

    def bring(own: int) -> Callable[[], None]:
        def task() -> None:
            barrier.wait()
            told.append(ix.add_new([text(1), near(1), text(2), f"{own} a text of its own"], ids=[f"{own}-{place}" for place in range(4)]).to_dicts())

        return task

    at_once(*map(bring, range(8)))
    for place in (0, 2):
        added = [rows[place]["id"] for rows in told if rows[place]["added"]]
        assert len(added) == 1 or (place == 0 and not added)
    first = {row["id"] for rows in told for row in rows[:2]}
    assert len(first) == 1 and {row["id"] for rows in told for row in rows[2:3]} == {rows[2]["id"] for rows in told if rows[2]["added"]}
    assert len(ix) == len({*ix.ids()}) == 2 + sum(rows[3]["added"] for rows in told)
    ix.close()


def test_threads_may_open_and_close_indexes_of_their_own(tmp_path):
    def task(own: int) -> Callable[[], None]:
        def run() -> None:
            for step in range(3):
                with lw.Index.create(tmp_path / f"{own}-{step}", by="words:2") as ix:
                    ix.add([text(own)], ids=[own])
                    assert [row["id"] for row in ix.query(text(own))] == [own]

        return run

    at_once(*map(task, range(4)))
