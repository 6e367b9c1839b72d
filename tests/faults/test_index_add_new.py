"""Eight writers bring the same items in different orders to `add_new`: of similar items that meet one is added, and each refusal has its reason."""

from __future__ import annotations

import threading

import likewise as lw
from indexes import plain_index
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


def test_in_the_store_by_definition():
    items = planted(1, 20)
    index = plain_index(**CHOICES)
    assert judge(index, items, by_threads(index, items)) < len(items)
