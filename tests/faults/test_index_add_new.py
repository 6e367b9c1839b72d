"""Eight writers bring the same items in different orders to `add_new`: of similar items that meet one is added, and each refusal has its reason."""

from __future__ import annotations

import json
import threading
from functools import partial

import pytest

import likewise as lw
from index_faults import Forked
from index_servers import SERVED, server
from index_stores import STORES
from indexes import index_in
from likewise.index import merging
from planted_sets import CHOICES, brought, judge, planted

WRITERS = 8


def by_threads(index: lw.Index, items: list[list[int]]) -> list[list[tuple[int, bool, int, float]]]:
    """The answers to each of the writers; while they write, another thread flushes and compacts."""
    told: list[list[tuple[int, bool, int, float]]] = [[] for _ in range(WRITERS)]
    errors: list[BaseException] = []
    done = threading.Event()

    def write(writer: int) -> None:
        try:
            told[writer] = brought(index, items, writer)
        except BaseException as error:
            errors.append(error)

    def tidy() -> None:
        try:
            while not done.wait(0.01):
                index.flush()
                index.compact()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(WRITERS)]
    tidying = threading.Thread(target=tidy)
    for thread in (*threads, tidying):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    tidying.join()
    if errors:
        raise errors[0]
    return told


@pytest.mark.parametrize("name", STORES)
def test_of_similar_items_that_meet_one_is_added(name, tmp_path):
    items = planted(1, 20)
    index = index_in(name, tmp_path, **CHOICES)
    assert judge(index, items, by_threads(index, items)) < len(items)
    index.close()


@pytest.mark.parametrize("sets", ["full", "compact"])
def test_in_a_folder(disk, scaled, monkeypatch, sets):
    """With a tail of so few items that it is flushed many times."""
    for name, number in (("TAIL", 16), ("SEGMENTS", 3)):
        monkeypatch.setattr(merging, name, number)
    items = planted(2, scaled(300, 60))
    with lw.Index.create(disk / "index", sets=sets, **CHOICES) as index:
        many = judge(index, items, told := by_threads(index, items))
        assert index.check() == []
    with lw.Index.open(disk / "index", read_only=True) as index:
        assert judge(index, items, told) == many < len(items)


@pytest.mark.parametrize("name", SERVED)
def test_by_eight_processes(name, tmp_path):
    """Where several processes may write, each opens the index itself."""
    items, address = planted(3, 20), server(name).address(f"by-{tmp_path.name}")
    lw.Index.create(address, durability="relaxed", **CHOICES).close()

    def write(writer: int, say) -> None:
        with lw.Index.open(address, durability="relaxed") as index:
            for answer in brought(index, items, writer):
                say(json.dumps(answer))

    writers = [Forked(partial(write, writer)) for writer in range(WRITERS)]
    done = [process.wait() for process in writers]
    assert [(one.status, one.error) for one in done] == [(0, "")] * WRITERS
    with lw.Index.open(address, read_only=True) as index:
        assert judge(index, items, [[tuple(json.loads(line)) for line in one.said] for one in done]) < len(items)
