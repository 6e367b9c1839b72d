"""The writer of an index is killed while four threads add, remove, flush and compact: nothing acknowledged is lost, and nothing comes twice."""

from __future__ import annotations

import os
import random
import signal
import threading
from collections.abc import Sequence
from itertools import count
from pathlib import Path

from index_faults import forked, opened, settled, small, together
from index_steps import SETS, Step, check, drawn
from likewise.index import embedded
from traced import traced

WRITERS = 4


def work(path: Path, sets: str, more: Sequence[Sequence[Step]]):
    """Open the index, and take the steps of each writer on its own thread."""

    def take(say) -> None:
        small()
        store = embedded.open(path)
        together(store, sets, more, say)
        store.close()

    return take


def struck(work, lines: int, seconds: float):
    """The same work in a process that is killed some time after so many lines, if need be after all is done."""

    def take(say) -> None:
        said, killer = count(1), threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGKILL))

        def saying(line) -> None:
            say(line)
            if next(said) == lines:
                killer.start()

        if not lines:
            killer.start()
        work(saying)
        signal.pause()

    return take


def survived(path: Path, sets: str, planned: list[list[Step]], acknowledged: list[int]) -> list[list[Step]]:
    """Check the index after its writer was killed; returns the steps that took effect."""
    with opened(embedded.open(path)) as store:
        found = dict(check(store.view(), sets, planned, acknowledged))
        assert store.check() == []
    return [settled(steps, many, found) for steps, many in zip(planned, acknowledged, strict=True)]


def planned_after(draw: random.Random, written: list[list[Step]], many: int) -> list[list[Step]]:
    return [drawn(draw, 10_000 * writer, many, before=steps) for writer, steps in enumerate(written)]


def counted(written: list[list[Step]], said: list[str]) -> list[int]:
    return [len(steps) + said.count(f"{writer}") for writer, steps in enumerate(written)]


def test_killed_at_any_moment(disk, scaled):
    """Each round goes on with the index as the one before left it. The kill comes some time after a drawn acknowledgement, or not at all."""
    draw = random.Random(5)
    for number in range(scaled(1000, 40)):
        sets = [*SETS][number // 8 % 3]
        path = disk / f"{number // 8}"
        if number % 8 == 0:
            embedded.create(path, SETS[sets]).close()
            written: list[list[Step]] = [[] for _ in range(WRITERS)]
        planned = planned_after(draw, written, 8)
        more = [steps[len(before) :] for steps, before in zip(planned, written, strict=True)]
        task, undisturbed = work(path, sets, more), number % 8 == 0
        done = forked(task if undisturbed else struck(task, draw.randint(0, sum(map(len, more))), draw.uniform(0, 0.02)))
        assert done.status == (0 if undisturbed else -9), done.error
        written = survived(path, sets, planned, counted(written, done.said))


def test_killed_at_system_calls(disk, scaled):
    """At the first and the last call of each kind to each kind of file, and at some of all others."""
    draw, sets = random.Random(6), "full"
    planned = planned_after(draw, [[] for _ in range(WRITERS)], 6)

    def run(number: int, at: int):
        root = disk / f"{number}"
        root.mkdir()
        embedded.create(root / "index", SETS[sets]).close()
        return root, traced(root, work(root / "index", sets, planned), lambda call, step: -9 if step == at else 0)

    _, whole = run(0, -1)
    assert (whole.status, whole.error) == (0, "")
    calls = [call for call in sorted(whole.calls, key=lambda call: call.begin) if call.what != "said"]
    kinds: dict[tuple[str, str], list[int]] = {}
    for place, call in enumerate(calls):
        kinds.setdefault((call.what, Path(call.path).suffix), []).append(place)
    places = {place for known in kinds.values() for place in (known[0], known[-1])} | {*range(0, len(calls), scaled(1, 1 + len(calls) // 20))}
    for number, at in enumerate(sorted(places), 1):
        root, done = run(number, at)
        assert done.status in (0, -9), done.error  # threads may make other calls than before, and fewer
        survived(root / "index", sets, planned, counted([[]] * WRITERS, [line.decode() for line in done.said]))
