"""The power fails at any moment while an index is created, filled, flushed and compacted: no acknowledged change is lost, and none comes twice.

`power` describes the possible states of a disk, and tests/faults/test_power.py tests that description.
"""

from __future__ import annotations

import os
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from index_faults import opened, small, together
from index_steps import SETS, Step, WrongError, check, drawn, items, taking
from likewise.errors import FormatError, LikewiseError, UsageError
from likewise.index import embedded
from likewise.index.store import Store
from likewise.io import disk as io_disk
from power import FEW, MOODS, Disk, Mood, failures
from power import drawn as coin
from traced import Trace, traced

LATE = Step("refuse", (7777,), 1)
#: The index in the folder that is recorded; the folder above it is made with it.
INDEX = Path("new/index")


def each_moment(
    root: Path, work: Callable[[Callable[[str], None]], object], judge: Callable[[Path, list[str]], object], moods: dict[str, Mood], every: int = 1
) -> int:
    """Record a process, let the power fail at each moment of it, and judge what is left by the lines that it had said; returns the number of states
    of the disk."""
    before = Disk.holding(root)
    done = traced(root, work)
    assert (done.status, done.error) == (0, "")
    said = [call.data.decode().strip() for call in sorted(done.calls, key=lambda call: call.begin) if call.what == "said"]
    many = 0
    for moment, lines, name, image in failures(done.calls, moods, every, before):
        place = root.with_name(f"{root.name} {many}")
        with noted(place, moment, lines, name):
            image.write(place)
            judge(place, said[:lines])
        many += 1
    return many


def recorded(root: Path, sets: str, steps: list[Step], begin: Callable[[Path], Store], without: Callable[[], object] = lambda: None) -> Trace:
    """The system calls of a process that creates or opens an index, takes steps and closes it. It says a line after each of these."""

    def work(say) -> None:
        small()
        without()
        store = begin(root / INDEX)
        say("begun")
        taking(store, steps, sets, say)
        store.close()
        say("closed")

    done = traced(root, work)
    assert (done.status, done.error, len(done.said)) == (0, "", len(steps) + 2)
    return done


def acknowledged(lines: int, steps: list[Step]) -> int:
    return min(max(0, lines - 1), len(steps))


def recovered(place: Path, sets: str, written: list[list[Step]], many: list[int], created: bool) -> None:
    """Open what a power failure left, check it, and write to it."""
    path = place / INDEX
    try:
        store = embedded.open(path)
    except UsageError:
        if created:
            raise
        store = embedded.create(path, SETS[sets])
    with opened(store):
        check(store.view(), sets, written, many)
        assert store.check() == []
        LATE.take(store, sets)
        store.flush()
        found = check(store.view(), sets, [*written, [LATE]], [*many, 1])
    with opened(embedded.open(path, read_only=True)) as store:
        assert check(store.view(), sets, [*written, [LATE]], [*many, 1]) == found


@contextmanager
def noted(place: Path, moment: int, lines: int, name: str) -> Iterator[None]:
    """Name the state of the disk in an error; else delete it."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"the power failed at {moment}, {lines} lines after the beginning; unsynced changes: {name}")
        raise
    shutil.rmtree(place)


def failing(
    disk: Path,
    sets: str,
    steps: list[Step],
    moods: dict[str, Mood],
    every: int = 1,
    durability: str = "commit",
    without: Callable[[], object] = lambda: None,
) -> int:
    """Let the power fail at each moment of a run, and check what is left; returns the number of states of the disk."""
    (disk / "root").mkdir(parents=True)
    done = recorded(disk / "root", sets, steps, lambda path: embedded.create(path, SETS[sets], durability=durability), without)
    many = 0
    for moment, lines, name, image in failures(done.calls, moods, every):
        with noted(disk / f"{many}", moment, lines, name):
            image.write(disk / f"{many}")
            recovered(disk / f"{many}", sets, [steps], [acknowledged(lines, steps)], lines > 0)
        many += 1
    return many


@pytest.mark.parametrize("sets", SETS)
def test_each_moment_of_a_run(disk, scaled, sets):
    steps = [*drawn(random.Random(sets), 0, scaled(40, 7)), Step("flush"), Step("compact")]
    moods = scaled(MOODS | {f"drawn {seed}": coin(seed, whole=seed % 2 == 0) for seed in range(8)}, {name: MOODS[name] for name in FEW})
    assert failing(disk, sets, steps, moods, 1 if sets == "full" else scaled(1, 5)) > 100


#: Parts of what keeps an index safe -> a function that takes them out of a process.
SAFEGUARDS = {
    "syncs of folders": lambda: setattr(io_disk, "force_file", lambda path: None),
    "syncs of segments": lambda: setattr(os, "fdatasync", lambda file: None),
    "syncs of other files": lambda: setattr(os, "fsync", lambda file: None),
}


@pytest.mark.parametrize("safeguard", [*SAFEGUARDS, "syncs of the log"])
def test_an_index_without_a_safeguard_is_found_out(disk, safeguard):
    """These tests would fail for it."""
    steps = [Step("refuse", (0, 1), 1), Step("flush"), Step("remove", (1,)), Step("refuse", (2,), 2)]
    with pytest.raises((AssertionError, LikewiseError, OSError)):
        failing(disk, "full", steps, MOODS, 1, "commit" if safeguard in SAFEGUARDS else "relaxed", SAFEGUARDS.get(safeguard, lambda: None))


def test_each_moment_while_four_threads_write(disk, scaled):
    """Their changes share commits, while the tail is flushed and segments are merged on other threads."""
    sets, draw, root = "full", random.Random(8), disk / "root"
    root.mkdir()
    embedded.create(root / INDEX, SETS[sets]).close()
    planned = [drawn(draw, 1000 * writer, scaled(10, 4)) for writer in range(4)]

    def work(say) -> None:
        small()
        with opened(embedded.open(root / INDEX)) as store:
            together(store, sets, planned, say)

    def judge(place: Path, said: list[str]) -> None:
        recovered(place, sets, planned, [said.count(f"{writer}") for writer in range(4)], True)

    assert each_moment(root, work, judge, {name: MOODS[name] for name in FEW}, scaled(1, 6)) > 60


def test_each_moment_after_a_power_failure(disk, scaled):
    """The power fails again while what it left is opened, repaired and written to."""
    sets, steps = "full", [*drawn(random.Random(9), 0, 10), Step("flush")]
    more = [*drawn(random.Random(10), 1000, 4), Step("flush"), *drawn(random.Random(11), 2000, 2, tidy=False)]
    (disk / "root").mkdir()
    done = recorded(disk / "root", sets, steps, lambda path: embedded.create(path, SETS[sets]))
    first = [one for one in failures(done.calls, {"torn": MOODS["the last one torn"], "all": MOODS["all"]}) if one[1]]
    many = 0
    for number, (moment, lines, name, image) in enumerate(first[:: scaled(5, 1 + len(first) // 3)]):
        root = disk / f"first {number}"
        image.write(root)
        before = Disk.holding(root)
        again = recorded(root, sets, more, embedded.open)
        for later, told, how, left in failures(again.calls, {name: MOODS[name] for name in FEW}, scaled(1, 10), before):
            with noted(disk / f"second {many}", moment, lines, f"{name}; then at {later}, {told} lines after the beginning; unsynced changes: {how}"):
                left.write(disk / f"second {many}")
                recovered(disk / f"second {many}", sets, [steps, more], [acknowledged(lines, steps), acknowledged(told, more)], True)
            many += 1
    assert many > 60


def test_a_disk_that_syncs_nothing_it_was_asked_to(disk, scaled):
    """One sync has no effect: then acknowledged changes can be lost, but the index is refused, or it has all items of an earlier moment."""
    sets, steps = "full", [*drawn(random.Random(4), 0, 12), Step("flush"), *drawn(random.Random(5), 1000, 4, tidy=False)]
    (disk / "root").mkdir()
    done = recorded(disk / "root", sets, steps, lambda path: embedded.create(path, SETS[sets]))
    syncs = [call for call in done.calls if call.what == "sync"]
    refused = right = 0
    for lost in syncs[:: scaled(1, 1 + len(syncs) // 8)]:
        calls = [replace(call, result=-1) if call is lost else call for call in done.calls]
        for moment, lines, name, image in failures(calls, {name: MOODS[name] for name in FEW}, 1 << 30):
            if not lines:
                continue
            place = disk / "copy"
            with noted(place, moment, lines, f"{name}, without the sync at {lost.begin} of {lost.path}"):
                image.write(place)
                refused += (said := judged(place / INDEX, sets, steps, acknowledged(lines, steps))) == "refused"
                right += said == "right"
    assert refused > 0 and right > 0


def test_a_relaxed_index_has_all_items_of_an_earlier_moment(disk):
    """It need not keep what was acknowledged last, but is not damaged, and what was flushed is safe."""
    sets, steps = "full", [*drawn(random.Random(6), 0, 6), Step("flush"), *drawn(random.Random(7), 1000, 4, tidy=False)]
    root = disk / "root"
    root.mkdir()
    embedded.create(root / INDEX, SETS[sets], durability="relaxed").close()

    def work(say) -> None:
        small()
        with opened(embedded.open(root / INDEX, durability="relaxed")) as store:
            taking(store, steps, sets, say)

    def judge(place: Path, said: list[str]) -> None:
        assert judged(place / INDEX, sets, steps, len(said), 7 if len(said) >= 7 else 0) == "right"

    assert each_moment(root, work, judge, {name: MOODS[name] for name in FEW}) > 100


def judged(path: Path, sets: str, steps: list[Step], many: int, least: int = 0) -> str:
    """ "refused", or "right" if the index holds the items of an earlier moment; raises WrongError for any other one."""
    try:
        store = embedded.open(path)
    except (FormatError, UsageError):
        return "refused"
    with opened(store):
        for earlier in range(many, least - 1, -1):
            try:
                check(store.view(), sets, [steps], [earlier])
                return "right"
            except WrongError:
                if earlier == least:
                    raise
            except FormatError:  # blocks are checked when they are read
                return "refused"
    raise AssertionError


# --- what appears as a whole


WRITTEN = [Step("refuse", tuple(range(12)), 1), Step("flush"), Step("remove", (3, 4)), Step("refuse", (12, 13), 2)]


def made(path: Path, steps: list[Step]) -> None:
    with opened(embedded.create(path, SETS["full"])) as store:
        taking(store, steps, "full", lambda line: None)


def test_a_backup_appears_complete_or_not_at_all(disk):
    root = disk / "root"
    root.mkdir()
    made(root / "index", WRITTEN)

    def work(say) -> None:
        with opened(embedded.open(root / "index")) as store:
            store.backup(root / "copies/copy")
            say("copied")

    def judge(place: Path, said: list[str]) -> None:
        for name in ("index", "copies/copy"):
            try:
                store = embedded.open(place / name)
            except UsageError:
                assert (name, said) == ("copies/copy", [])
                continue
            with opened(store):
                check(store.view(), "full", [WRITTEN], [len(WRITTEN)])
                assert store.check() == []

    assert each_moment(root, work, judge, MOODS) > 100


def test_an_index_that_is_replaced_is_the_old_one_or_the_new_one(disk):
    root = disk / "root"
    root.mkdir()
    made(root / "index", WRITTEN)
    late = [Step("refuse", (50, 51), 1)]

    def work(say) -> None:
        with opened(embedded.create(root / "index", SETS["full"], overwrite=True)) as store:
            say("created")
            taking(store, late, "full", say)

    def judge(place: Path, said: list[str]) -> None:
        with opened(embedded.open(place / "index")) as store:
            assert store.check() == []
            if len(store.view()) > 2:
                assert not said
                check(store.view(), "full", [WRITTEN], [len(WRITTEN)])
            else:
                check(store.view(), "full", [late], [max(0, len(said) - 1)])

    assert each_moment(root, work, judge, MOODS) > 100


@pytest.mark.parametrize("sets", SETS)
def test_a_load_is_whole_or_refused(disk, sets):
    root = disk / "root"
    root.mkdir()
    whole = Step("refuse", tuple(range(60)), 1)
    with opened(embedded.create(root / "index", SETS[sets])):
        pass

    def work(say) -> None:
        with opened(embedded.open(root / "index")) as store:
            store.load(items(whole.numbers[begin : begin + 25], 1, sets) for begin in (0, 25, 50))
            say("loaded")

    def judge(place: Path, said: list[str]) -> None:
        try:
            store = embedded.open(place / "index")
        except FormatError as error:
            assert not said
            assert "was interrupted" in str(error)
            with opened(embedded.create(place / "index", SETS[sets], overwrite=True)) as store:
                assert len(store.view()) == 0
            return
        with opened(store):
            check(store.view(), sets, [[whole]], [len(said)])
            assert store.check() == []

    assert each_moment(root, work, judge, MOODS) > 30
