"""An index in use for long, in a process of its own: `python lasting.py JOB PATH SETS ROUNDS` prints a line of JSON at each of ten equal intervals.

Its figure of memory is exact: the bytes that are allocated and not freed. Those resident in a process also depend on the pages that its allocator
returns, and on its tables of strings, which double at some moment; in a process that ran other tests before, they have varied by megabytes.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from index_faults import opened, small
from index_steps import SETS, Step, check, item
from likewise.index import embedded

INTERVALS = 10
LIVING = 40
#: All memory, also that of small objects of Python, comes from malloc, which keeps no freed pieces aside for a thread.
EXACT = {"PYTHONMALLOC": "malloc", "ARROW_DEFAULT_MEMORY_POOL": "system", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
FIELDS = ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS]


def allocated() -> int:
    """The bytes that malloc has given and not got back."""
    ask = ctypes.CDLL(None).mallinfo2
    ask.restype = Mallinfo
    found = ask()
    return int(found.uordblks + found.hblkhd)


def living() -> int:
    """The objects of Python that its collector knows, without dead weak references: a connection of SQLite drops those of its cursors by 200."""
    return sum(not isinstance(one, weakref.ReferenceType) or one() is not None for one in gc.get_objects())


def counts(path: Path) -> dict[str, int]:
    """Descriptors, mappings, threads, objects of Python and allocated bytes of this process; the files and bytes of the index."""
    item.cache_clear()
    gc.collect()
    sizes = {entry.name: entry.stat().st_size for entry in os.scandir(path)}
    log = sizes.pop("index.db-wal", 0)
    return {
        "allocated": allocated(),
        "descriptors": len(os.listdir("/proc/self/fd")),
        "mappings": Path("/proc/self/maps").read_text().count(f"{path}/"),
        "threads": threading.active_count(),
        "objects": living(),
        "files": len(sizes),
        "bytes": sum(sizes.values()),
        "bytes of the log": log,
    }


def tidy(store: Any) -> None:
    """Make the index as small as it gets, so that equal contents have equal sizes."""
    store.flush()
    store.compact()
    store.upkeep.wait()


def exchange(path: Path, sets: str, rounds: int, say: Callable[[Path], None]) -> None:
    """Add an item and remove one in each round; another store reads."""
    with opened(embedded.create(path, SETS[sets])) as store, opened(embedded.open(path, read_only=True)) as reader:
        for number in range(rounds):
            gone = (number - LIVING,) if number >= LIVING else ()
            Step("exchange", (number,), 1, gone).take(store, sets)
            reader.view()
            if (number + 1) % (rounds // INTERVALS) == 0:
                tidy(store)
                reader.view()
                say(path)
        kept = Step("refuse", tuple(range(rounds - LIVING, rounds)), 1)
        check(store.view(), sets, [[kept]], [1])
        check(reader.view(), sets, [[kept]], [1])
        assert store.check() == []


def reopen(path: Path, sets: str, rounds: int, say: Callable[[Path], None]) -> None:
    """Open the index in each round, to write and to read, and exchange one of its items for another."""
    embedded.create(path, SETS[sets]).close()
    for number in range(rounds):
        counted = (number + 1) % (rounds // INTERVALS) == 0
        with opened(embedded.open(path)) as store, opened(embedded.open(path, read_only=True)) as reader:
            Step("exchange", (number,), 1, (number - 5,)).take(store, sets)
            if counted:  # so that the log, which each opening reads, is as long before each count
                tidy(store)
            len(reader.view())
        if counted:
            say(path)


JOBS = {"exchange": exchange, "reopen": reopen}


def lasting(job: str, path: Path, sets: str, rounds: int) -> list[dict[str, int]]:
    """The counts of a job in a new process."""
    command = [sys.executable, "-P", __file__, job, str(path), sets, str(rounds)]
    environment = {**os.environ, **EXACT, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def growth(found: list[dict[str, int]]) -> float:
    """The bytes by which allocated memory grows in an interval, the median of the last five: a leak grows in each, a table that doubles in one."""
    sizes = [one["allocated"] for one in found]
    return median(after - before for before, after in pairwise(sizes[-6:]))


if __name__ == "__main__":
    small()
    JOBS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), lambda path: print(json.dumps(counts(path)), flush=True))
