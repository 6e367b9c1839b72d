"""The writer of an index is killed while four threads add, remove, flush and compact: nothing acknowledged is lost, and nothing comes twice."""

from __future__ import annotations

import random
import time
from collections.abc import Sequence
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
    """Each round goes on with the index as the one before left it. The kill comes at a drawn time, or not at all."""
    draw, took, killed = random.Random(5), 1.0, 0
    rounds = scaled(1000, 40)
    for number in range(rounds):
        sets = [*SETS][number // 8 % 3]
        path = disk / f"{number // 8}"
        if number % 8 == 0:
            embedded.create(path, SETS[sets]).close()
            written: list[list[Step]] = [[] for _ in range(WRITERS)]
        planned = planned_after(draw, written, 8)
        began = time.monotonic()
        undisturbed = number % 8 == 0
        done = forked(
            work(path, sets, [steps[len(before) :] for steps, before in zip(planned, written, strict=True)]),
            None if undisturbed else draw.uniform(0, took),
        )
        assert done.status == (0 if undisturbed else done.status), done.error
        assert done.status in (0, -9), done.error
        took = time.monotonic() - began if done.status == 0 else took  # also where it was over before the kill: the next one comes earlier
        killed += done.status == -9
        written = survived(path, sets, planned, counted(written, done.said))
    assert killed > rounds / 3


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
