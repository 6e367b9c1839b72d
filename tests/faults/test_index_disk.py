"""Disks that are full or fail while an index is written to: a clear error, no further writes, and after reopening all that was acknowledged."""

from __future__ import annotations

import errno
import json
import os
import random
import re
import resource
from pathlib import Path

import pytest

from index_faults import forked, opened, small
from index_steps import SETS, Step, check, drawn, living, states
from likewise.errors import LikewiseError, UsageError
from likewise.index import embedded
from traced import Call, traced

MORE = Step("refuse", (7777,), 1)


def steps_until_one_fails(path: Path, sets: str, steps: list[Step], limit=lambda: None):
    """Take steps until one fails; then say which items are visible, and if the next write is taken."""

    def work(say) -> None:
        small()
        try:
            store = embedded.open(path)
        except OSError as error:
            say(f"closed {error}")
            return
        limit()
        for step in steps:
            try:
                step.take(store, sets)
            except (OSError, LikewiseError) as error:
                say(f"failed {json.dumps([step.what, type(error).__name__, str(error)])}")
                say(f"visible {json.dumps(living(store.view(), sets, [steps]))}")
                try:
                    MORE.take(store, sets)
                    say("taken")
                except (OSError, LikewiseError) as again:
                    say(f"refused {json.dumps([type(again).__name__, str(again)])}")
                break
            say("done")
        store.close()
        say("closed")

    return work


def judged(path: Path, sets: str, steps: list[Step], said: list[str]) -> str:
    """Check the promises after a failure; returns the error that the first step gave, or nothing."""
    many = said.count("done")
    facts = {line.partition(" ")[0]: line.partition(" ")[2] for line in said}
    taken = "taken" in facts
    if "failed" in facts:
        what, _, message = json.loads(facts["failed"])
        visible = dict(json.loads(facts["visible"]))
        assert visible == states(steps)[many], message
        if what not in ("flush", "compact"):
            assert "open the index again" in json.loads(facts["refused"])[1], facts
    with opened(embedded.open(path)) as store:
        check(store.view(), sets, [steps, [MORE]], [many, int(taken)])
        assert store.check() == []
        Step("refuse", (8888,), 1).take(store, sets)
        store.flush()
        store.compact()
        check(store.view(), sets, [steps, [MORE], [Step("refuse", (8888,), 1)]], [many, int(taken), 1])
    return json.loads(facts["failed"])[2] if "failed" in facts else facts["closed"]


GROWS = ("open", "write", "size", "mkdir", "rename")
STRIKES = {
    "a sync fails once": (errno.EIO, lambda call, at_once: at_once and call.what == "sync"),
    "a write fails once": (errno.EIO, lambda call, at_once: at_once and call.what == "write"),
    "the disk is full from here on": (errno.ENOSPC, lambda call, at_once: call.what in GROWS),
    "the disk fails from here on": (errno.EIO, lambda call, at_once: True),
}


@pytest.mark.parametrize("name", STRIKES)
def test_calls_that_fail(disk, scaled, name):
    """At each call, or at some."""
    code, strikes = STRIKES[name]
    draw, sets = random.Random(name), "full"
    steps = [*drawn(draw, 0, 12), Step("flush"), Step("compact"), *drawn(draw, 500, 2)]

    def run(number: int, at: int):
        root = disk / f"{number}"
        root.mkdir()
        embedded.create(root / "index", SETS[sets]).close()

        def strike(call: Call, step: int) -> int:
            return code if step >= at >= 0 and strikes(call, step == at) else 0

        done = traced(root, steps_until_one_fails(root / "index", sets, steps), strike)
        return root / "index", done

    path, whole = run(0, -1)
    assert (whole.status, whole.error, whole.said[-1]) == (0, "", b"closed")
    calls = [call for call in sorted(whole.calls, key=lambda call: call.begin) if call.what != "said"]
    places = [place for place, call in enumerate(calls) if strikes(call, True)]
    failed = []
    for number, at in enumerate(places[:: scaled(1, 1 + len(places) // 15)], 1):
        path, done = run(number, at)
        said = [line.decode() for line in done.said]
        assert (done.status, done.error) == (0, ""), (at, calls[at], done.error)
        failed.append(judged(path, sets, steps, said))
    assert sum(map(bool, failed)) > len(failed) / 3
    said = {errno.EIO: "(Input/output|disk I/O) error", errno.ENOSPC: "No space left on device|disk is full|disk I/O error"}[
        code
    ]  # SQLite does not always tell
    unclear = [message for message in failed if message and not (re.search(said, message) and "/index" in message)]
    assert unclear == []


def test_files_may_not_grow_beyond_a_limit(disk):
    """`ulimit -f`, which every system has, stands for a full disk."""
    sets, steps = "full", drawn(random.Random(1), 0, 60)
    messages = []
    for number, most in enumerate((4096, 30_000, 60_000, 100_000)):
        path = disk / f"{number}"
        embedded.create(path, SETS[sets]).close()
        done = forked(steps_until_one_fails(path, sets, steps, lambda most=most: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))))
        assert (done.status, done.error) == (0, "")
        messages.append(judged(path, sets, steps, done.said))
    assert messages[0] != ""
    assert all("index.db" in message or "File too large" in message for message in messages if message), messages


def test_a_folder_without_permission(disk):
    """It cannot be written to, and can be read."""
    path, sets, steps = disk / "index", "full", drawn(random.Random(2), 0, 20)
    with opened(embedded.create(path, SETS[sets])) as store:
        for step in steps:
            step.take(store, sets)
    for place in (disk, path, *path.iterdir()):
        place.chmod(0o755 if place.is_dir() else 0o644)
    path.chmod(0o555)

    def work(say) -> None:
        if os.getuid() == 0:
            os.setresuid(65534, 65534, 65534)
        try:
            embedded.open(path)
        except UsageError as error:
            say(str(error))
        with opened(embedded.open(path, read_only=True)) as store:
            check(store.view(), sets, [steps], [len(steps)])
            say("read")

    done = forked(work)
    assert (done.status, done.error) == (0, ""), done.error
    assert ("Permission denied" in done.said[0], "read_only=True" in done.said[0], done.said[1:]) == (True, True, ["read"])
