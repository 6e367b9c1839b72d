"""An index in a folder for tests of faults: with limits so small that a few items are flushed and merged, in processes that are killed."""

from __future__ import annotations

import json
import os
import signal
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from index_steps import Step, states
from likewise.index import merging
from likewise.index.embedded import database
from likewise.index.store import Store

PATIENCE = 120


def small() -> None:
    """Make the limits of this process small, for good: to be called in a fork."""
    database.ROOM, database.LOG, merging.TAIL, merging.SEGMENTS = 16 << 10, 64 << 10, 8, 3


@contextmanager
def opened(store: Store) -> Iterator[Store]:
    try:
        yield store
    finally:
        store.close()


class Ended(NamedTuple):
    status: int  # the exit status, minus the signal if one ended it
    said: list[str]
    error: str


class Forked:
    """Does ``work(say)`` in a fork of this process. Close it to remove what it said."""

    def __init__(self, work: Callable[[Callable[[str], object]], object]) -> None:
        self.aside = tempfile.TemporaryDirectory(prefix="likewise-forked-")
        self.told, self.failed = Path(self.aside.name) / "said", Path(self.aside.name) / "failed"
        file, error = (os.open(place, os.O_CREAT | os.O_WRONLY | os.O_APPEND) for place in (self.told, self.failed))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of a fork where there are threads
            self.pid = os.fork()
        if not self.pid:
            status = 1
            try:
                signal.alarm(PATIENCE)
                work(lambda line: os.write(file, f"{line}\n".encode()))
                status = 0
            except BaseException:
                os.write(error, traceback.format_exc().encode())
            finally:
                os._exit(status)
        os.close(file)
        os.close(error)

    def said(self) -> list[str]:
        return self.told.read_text().splitlines()

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> Ended:
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        ended = Ended(status, self.said(), self.failed.read_text())
        self.aside.cleanup()
        return ended


def forked(work: Callable[[Callable[[str], object]], object]) -> Ended:
    """Do ``work(say)`` in a fork."""
    return Forked(work).wait()


def together(store: Store, sets: str, more: Sequence[Sequence[Step]], say: Callable[[str], object]) -> None:
    """Take steps on several threads, and acknowledge each with the number of its writer."""
    errors: list[str] = []

    def write(writer: int) -> None:
        try:
            for step in more[writer]:
                step.take(store, sets)
                say(json.dumps(writer))
        except BaseException:
            errors.append(traceback.format_exc())

    threads = [threading.Thread(target=write, args=[writer]) for writer in range(len(more))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors[0]


def settled(steps: Sequence[Step], many: int, found: dict[int, int]) -> list[Step]:
    """The steps of a writer that took effect: the acknowledged ones, and perhaps one more."""
    own = {number for step in steps for number in step.numbers}
    mine = {number: version for number, version in found.items() if number in own}
    before = states(steps)
    return list(steps[:many] if before[many] == mine else steps[: many + 1])
