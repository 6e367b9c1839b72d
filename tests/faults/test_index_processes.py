"""Several processes at one index: one writes, others read meanwhile; the next writes once the first is gone."""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import socket
import time
from functools import partial

import pytest

from index_faults import PATIENCE, Forked, opened, small
from index_steps import SETS, Step, check, drawn, living, states, taking
from likewise.errors import UsageError
from likewise.index import embedded
from traced import traced

READERS = 3
#: Steps of the writer for each view that all readers must have taken, or it waits for them, however busy the machine is.
STEPS_A_VIEW = 20


@pytest.mark.parametrize("sets", SETS)
def test_readers_see_each_acknowledged_change_and_no_half_of_one(disk, scaled, sets):
    """While a process adds, removes, flushes and compacts, each view of another is the state after some step: at least after those that were
    acknowledged when the view was asked for, and never earlier than the view before."""
    path = disk / "index"
    embedded.create(path, SETS[sets]).close()
    steps = drawn(random.Random(sets), 0, scaled(1000, 150))
    known = states(steps)

    def write(say) -> None:
        def acknowledged(number) -> None:
            say(number)
            while any(views.stat().st_size < int(number) // STEPS_A_VIEW for views in viewed):
                time.sleep(0.001)

        small()
        with opened(embedded.open(path)) as store:
            taking(store, steps, sets, acknowledged)

    viewed = [disk / f"views {number}" for number in range(READERS)]  # a byte for each view
    for views in viewed:
        views.touch()
    writer = Forked(write)

    def read(say, views) -> None:
        least = 0
        with views.open("ab", buffering=0) as seen, opened(embedded.open(path, read_only=True)) as store:
            while least < len(steps):
                least = max(least, len(writer.said()))
                found = dict(living(store.view(), sets, [steps]))
                seen.write(b"1")
                at = [number for number in range(least, len(known)) if known[number] == found]
                assert at, f"{found} is the state after none of the steps from {least} on; before: {[n for n in range(least) if known[n] == found]}"
                least = at[0]
            check(store.view(), sets, [steps], [len(steps)])
            assert store.check() == []

    readers = [Forked(partial(read, views=views)) for views in viewed]
    done = [process.wait() for process in (*readers, writer)]
    assert [(one.status, one.error) for one in done] == [(0, "")] * (READERS + 1)
    assert len(done[-1].said) == len(steps)


def test_a_view_stays_as_it_was(disk):
    """Later writes, flushes, merges and deletions, here or in another process, do not show."""
    path, sets = disk / "index", "full"
    steps = drawn(random.Random(1), 0, 30)
    with opened(embedded.create(path, SETS[sets])) as store, opened(embedded.open(path, read_only=True)) as reader:
        views = []
        for step in steps:
            step.take(store, sets)
            views.append((store.view(), reader.view()))
        store.compact()
        for number, pair in enumerate(views, 1):
            for view in pair:
                check(view, sets, [steps], [number])


def test_a_reader_writes_nothing_but_shared_memory(disk):
    """So it never checkpoints: SQLite up to 3.51.2 can lose commits if one process does while another commits."""
    path, sets, steps = disk / "index", "full", drawn(random.Random(3), 0, 12)
    with opened(embedded.create(path, SETS[sets])) as store:
        taking(store, steps, sets, lambda line: None)
        shutil.copytree(path, disk / "killed")

        def read(say) -> None:
            for place in ("index", "killed"):
                with opened(embedded.open(disk / place, read_only=True)) as reader:
                    check(reader.view(), sets, [steps], [len(steps)])
                    assert reader.check() == []
                    say(place)

        done = traced(disk, read)
    assert (done.status, done.error, done.said) == (0, "", [b"index", b"killed"])
    assert {call.path for call in done.calls if call.what != "said"} <= {"index/index.db-shm", "killed/index.db-shm"}


def test_a_second_writer_is_refused_by_name(disk):
    path, sets = disk / "index", "full"
    steps = [Step("refuse", (1,), 1), Step("refuse", (2,), 1)]
    embedded.create(path, SETS[sets]).close()

    def hold(say) -> None:
        with opened(embedded.open(path)) as store:
            steps[0].take(store, sets)
            say("held")
            signal.pause()

    holder = Forked(hold)
    while not holder.said():
        time.sleep(0.01)
    with pytest.raises(UsageError, match=rf"process {holder.pid}\b.*{re.escape(socket.gethostname())}.*read_only=True"):
        embedded.open(path)
    with opened(embedded.open(path, read_only=True)) as store:
        assert dict(living(store.view(), sets, [steps])) == {1: 1}
        with pytest.raises(UsageError, match=r"read.only"):
            steps[1].take(store, sets)
    holder.kill()
    holder.wait()
    with opened(embedded.open(path)) as store:  # at once
        assert dict(living(store.view(), sets, [steps])) == {1: 1}
        with pytest.raises(UsageError, match="this process"):
            embedded.open(path)
        steps[1].take(store, sets)
        assert dict(living(store.view(), sets, [steps])) == {1: 1, 2: 1}


def test_one_of_many_processes_takes_over(disk):
    """Eight wait for the writer to be killed; exactly one gets the index, again and again."""
    path, sets = disk / "index", "full"
    embedded.create(path, SETS[sets]).close()

    def take(say) -> None:
        number = os.getpid()
        while True:
            try:
                store = embedded.open(path)
            except UsageError:
                time.sleep(0.002)
                continue
            say("open")
            Step("refuse", (number,), 1).take(store, sets)
            say("written")
            signal.pause()

    waiting = [Forked(take) for _ in range(8)]
    written: list[int] = []
    deadline = time.monotonic() + PATIENCE
    for _ in range(len(waiting)):
        while not (holders := [process for process in waiting if "written" in process.said()]):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        assert [process.pid for process in waiting if process.said()] == [holders[0].pid]
        with opened(embedded.open(path, read_only=True)) as store:
            written.append(holders[0].pid)
            assert living(store.view(), sets, [[Step("refuse", tuple(written), 1)]]) == [(number, 1) for number in written]
        holders[0].kill()
        waiting.remove(holders[0])
        assert holders[0].wait().status == -9
