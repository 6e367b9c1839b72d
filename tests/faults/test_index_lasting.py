"""An index in use for long: as many items come as go, so its memory, its files and what it holds of the system stay as they are."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from index_faults import forked, opened, small
from index_steps import SETS, Step, check, item
from likewise.index import embedded

LIVING = 40
#: Files of a segment, and the number of segments that merging leaves at most: how many there are when they are counted depends on its progress.
FILES, SEGMENTS = 3, 8


def exchange(path: Path, sets: str, rounds: int, after: Callable[[int, Any, Any], None]) -> None:
    """Add an item and remove one in each round; ``after`` is called with the round, the store and a reader."""
    with opened(embedded.create(path, SETS[sets])) as store, opened(embedded.open(path, read_only=True)) as reader:
        for number in range(rounds):
            gone = (number - LIVING,) if number >= LIVING else ()
            Step("exchange", (number,), 1, gone).take(store, sets)
            reader.view()
            after(number, store, reader)


def warm(path: Path, sets: str) -> None:
    """Load what is used, kernels above all, so that memory does not grow by it."""

    def after(number: int, store: Any, reader: Any) -> None:
        if number % 20 == 19:
            store.flush()
            store.compact()
            reader.view()

    exchange(path, sets, 3 * LIVING, after)


def counts(path: Path) -> dict[str, int]:
    """Descriptors, mappings, threads, objects of Python, and pages of memory of this process; the files and bytes of the index."""
    item.cache_clear()
    gc.collect()
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    sizes = {entry.name: entry.stat().st_size for entry in os.scandir(path)}
    log = sizes.pop("index.db-wal", 0)
    return {
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings": Path("/proc/self/maps").read_text().count(f"{path}/"),
        "threads": threading.active_count(),
        "objects": len(gc.get_objects()),
        "kilobytes": int(status["VmRSS"].split()[0]) - int(status["RssFile"].split()[0]),
        "files": len(sizes),
        "bytes": sum(sizes.values()),
        "bytes of the log": log,
    }


@pytest.mark.parametrize("sets", SETS)
def test_as_many_items_come_as_go(disk, scaled, sets):
    path, rounds = disk / "index", scaled(4000, 600)

    def work(say) -> None:
        small()

        def after(number: int, store: Any, reader: Any) -> None:
            if number in (rounds // 3, rounds - 1):
                store.flush()
                store.compact()
                reader.view()
                say(json.dumps(counts(path)))
            if number == rounds - 1:
                kept = Step("refuse", tuple(range(rounds - LIVING, rounds)), 1)
                check(store.view(), sets, [[kept]], [1])
                check(reader.view(), sets, [[kept]], [1])
                assert store.check() == []

        exchange(path, sets, rounds, after)

    warm(disk / "warm", sets)
    done = forked(work)
    assert (done.status, done.error) == (0, "")
    early, late = map(json.loads, done.said)
    more = late["mappings"] - early["mappings"]  # of the store and of the reader; each has a descriptor
    assert late["mappings"] <= 2 * SEGMENTS * FILES, (early, late)
    assert late["descriptors"] <= early["descriptors"] + more + 2, (early, late)
    assert late["threads"] <= early["threads"] + 2 and late["files"] <= early["files"] + SEGMENTS * FILES, (early, late)
    assert late["objects"] <= early["objects"] + 300 + 100 * max(0, more), (early, late)
    assert late["kilobytes"] <= early["kilobytes"] + 2000 + rounds // 4, (early, late)
    assert late["bytes"] <= 1.2 * early["bytes"] + 10_000, (early, late)
    assert late["bytes of the log"] <= 2 << 20, (early, late)


def test_opening_again_and_again(disk, scaled):
    path, sets = disk / "index", "full"
    embedded.create(path, SETS[sets]).close()

    def work(say) -> None:
        for number in range(rounds := scaled(2000, 150)):
            with opened(embedded.open(path)) as store, opened(embedded.open(path, read_only=True)) as reader:
                Step("exchange", (number,), 1, (number - 5,)).take(store, sets)
                if number % (rounds // 3) == rounds // 3 - 1:  # so that the log, which each opening reads, is as long before each count
                    store.flush()
                    store.compact()
                len(reader.view())
            if number in (rounds // 3 - 1, 3 * (rounds // 3) - 1):
                say(json.dumps(counts(path)))

    warm(disk / "warm", sets)
    done = forked(work)
    assert (done.status, done.error) == (0, "")
    early, late = map(json.loads, done.said)
    for name in ("descriptors", "mappings", "threads", "files"):
        assert late[name] <= early[name], (name, early, late)
    assert late["objects"] <= early["objects"] + 300, (early, late)
    assert late["kilobytes"] <= early["kilobytes"] + 2000, (early, late)
