"""The recorder of system calls, and the model of a disk after a power failure: they must find the faults of a toy that stores as the index does."""

from __future__ import annotations

import errno
import mmap
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from likewise.io.disk import exchange
from power import FEW, MOODS, Disk, failures
from toy_index import MANIFEST, STEPS, Toy
from traced import Call, traced

# --- the recorder


def test_what_is_recorded_is_what_was_done(tmp_path):
    """Replayed with all that was written, the calls of Python, of SQLite and of two threads give the folder byte for byte."""
    root = tmp_path / "root"
    root.mkdir()

    def work(say):
        toy = Toy(root / "toy", create=True)
        toy.add(range(3), lambda: say("added"))
        toy.flush()
        os.rename(root / "toy", root / "moved")
        with open(root / "a", "wb") as file:
            file.write(b"x" * 2000)
            file.flush()
            os.truncate(root / "a", 700)
            os.posix_fallocate(file.fileno(), 0, 900)
            os.pwrite(file.fileno(), b"middle", 300)
            os.writev(file.fileno(), [b"one", b"two"])
        with open(root / "a", "ab") as file:
            file.write(b"end")
        os.link(root / "a", root / "b")
        os.replace(root / "b", root / "moved/c")
        os.unlink(root / "a")
        shutil.copyfile(root / "moved/c", root / "copy")
        with open(root / "old/file", "r+b") as file:
            file.write(b"FROM")
        assert exchange(root / "old", root / "moved")

    (root / "old").mkdir()
    (root / "old/file").write_bytes(b"from before")
    disk = Disk.holding(root)
    done = traced(root, work)
    assert (done.status, done.error, done.said) == (0, "", [b"added"])
    for call in done.calls:
        disk.take(call)
    there = {path.relative_to(root).as_posix(): path.read_bytes() if path.is_file() else None for path in root.rglob("*")}
    replayed = disk.image(MOODS["all"]).tree
    del there["old/index.db-shm"], replayed["old/index.db-shm"]  # mapped
    assert replayed == there


def test_a_call_fails_or_ends_the_process(tmp_path):
    def work(say):
        for number in range(3):
            try:
                with open(tmp_path / f"{number}", "wb", buffering=0) as file:
                    file.write(b"abc")
                    os.fsync(file.fileno())
                say(f"{number} done")
            except OSError as error:
                say(f"{number} {errno.errorcode[error.errno]}")

    done = traced(tmp_path, work, lambda call, number: {1: errno.ENOSPC, 4: errno.EIO, 6: -9}.get(number, 0))
    assert (done.status, done.said) == (-9, [b"0 ENOSPC", b"1 EIO"])
    assert [path.read_bytes() for path in sorted(tmp_path.iterdir())] == [b"", b"abc", b""]
    assert [(call.what, call.path, call.result) for call in done.calls if call.what != "said" and call.result < 0] == [
        ("write", "0", -errno.ENOSPC),
        ("sync", "1", -errno.EIO),
    ]


def test_a_call_that_the_model_does_not_know_ends_the_recording(tmp_path):
    (tmp_path / "file").write_bytes(bytes(4096))

    def mapped(say):
        with open(tmp_path / "file", "r+b") as file, mmap.mmap(file.fileno(), 4096) as memory:
            memory[:3] = b"abc"

    with pytest.raises(AssertionError, match="file is written by way of mapped memory"):
        traced(tmp_path, mapped)
    with pytest.raises(AssertionError, match="symlink of link"):
        traced(tmp_path, lambda say: os.symlink("file", tmp_path / "link"))


# --- the disk


def calls(*steps: tuple) -> list[Call]:
    made = []
    for number, (what, path, *more) in enumerate(steps):
        known = {name: value for one in more for name, value in one.items()}
        made.append(Call(what, what, 1, 2 * number, 2 * number + 1, path, **known))
    return made


def trees(given: list[Call]) -> list[dict[str, bytes | None]]:
    disk = Disk()
    for call in given:
        disk.take(call)
    return [disk.image(mood).tree for mood in MOODS.values()]


NEW = {"file": 1, "new": True}
A, B = b"a" * 1024, b"b" * 1024


def test_nothing_is_safe_that_was_not_synced():
    given = calls(("open", "f", NEW), ("write", "f", {"file": 1, "data": A}))
    found = trees(given)
    assert {} in found  # no name
    assert {"f": b""} in found  # a name alone
    assert {"f": bytes(1024)} in found  # and a size
    assert {"f": A[:512] + bytes(512)} in found  # torn
    assert {"f": A} in found


def test_a_sync_of_a_file_keeps_its_bytes_and_not_its_name():
    given = calls(("open", "f", NEW), ("write", "f", {"file": 1, "data": A}), ("sync", "f", {"file": 1}))
    assert {tuple(tree.items()) for tree in trees(given)} == {(), (("f", A),)}
    named = calls(*[("open", "f", NEW), ("write", "f", {"file": 1, "data": A}), ("sync", "f", {"file": 1}), ("sync", ".", {"file": 0})])
    assert {tuple(tree.items()) for tree in trees(named)} == {(("f", A),)}


def test_a_sync_of_the_file_system_keeps_all():
    given = calls(("open", "f", NEW), ("write", "f", {"file": 1, "data": A}), ("sync all", ".", {"file": 0}))
    assert {tuple(tree.items()) for tree in trees(given)} == {(("f", A),)}


def test_a_sync_covers_what_had_ended_when_it_began():
    opened, written, synced = calls(("open", "f", NEW), ("write", "f", {"file": 1, "data": A}), ("sync", "f", {"file": 1}))
    beside = Call("write", "write", 2, synced.begin, synced.end + 1, "f", 1, data=B)  # of another thread, while the sync goes on
    found = trees([opened, written, synced, beside])
    assert {"f": A} in found
    assert {"f": B} in found
    assert {"f": B[:512] + A[512:]} in found or {"f": A[:512] + B[512:]} in found


def test_later_changes_may_come_before_earlier_ones():
    safe = [("open", "f", NEW), ("write", "f", {"file": 1, "data": A}), ("sync", "f", {"file": 1}), ("sync", ".", {"file": 0})]
    given = calls(*safe, ("write", "f", {"file": 1, "data": b"1" * 512}), ("write", "f", {"file": 1, "data": b"2" * 512, "offset": 512}))
    assert {tree["f"] for tree in trees(given)} >= {A, b"1" * 512 + b"a" * 512, b"a" * 512 + b"2" * 512, b"1" * 512 + b"2" * 512}


def test_a_rename_is_done_or_not():
    safe = [("open", "f", NEW), ("sync", "f", {"file": 1}), ("sync", ".", {"file": 0})]
    assert {tuple(tree) for tree in trees(calls(*safe, ("rename", "f", {"file": 1, "to": "g"})))} == {("f",), ("g",)}
    assert {tuple(tree) for tree in trees(calls(*safe, ("rename", "f", {"file": 1, "to": "g"}), ("sync", ".", {"file": 0})))} == {("g",)}


# --- both, on a program


def faults_of(tmp_path: Path, without: set[str]) -> list[str]:
    """Let the power fail at each call of a toy without some of its steps; returns the states in which an acknowledged number is lost."""
    root = tmp_path / "root"
    root.mkdir()

    def work(say):
        toy = Toy(root / "toy", without, create=True)
        say("created")
        for batch in range(4):
            toy.add(range(3 * batch, 3 * batch + 3), lambda: say("added"))
            if batch % 2:
                toy.flush()

    done = traced(root, work)
    assert (done.status, done.error, len(done.said)) == (0, "", 5)
    wrong = []
    for number, (moment, lines, name, image) in enumerate(failures(done.calls, {name: MOODS[name] for name in FEW})):
        place = tmp_path / f"{number}"
        image.write(place)
        try:
            if (place / "toy/manifest").read_bytes() != MANIFEST:
                raise ValueError("no index")
            found = Toy(place / "toy").numbers()
        except (OSError, ValueError, sqlite3.DatabaseError) as error:
            found = error if lines else []
        added = max(0, lines - 1)
        if found not in [[*range(3 * added)], [*range(3 * added + 3)]]:
            wrong.append(f"{name} at {moment}: {found} where {added} batches were acknowledged")
    return wrong


def test_a_program_that_syncs_all_keeps_what_it_acknowledged(tmp_path):
    assert faults_of(tmp_path, set()) == []


@pytest.mark.parametrize("step", STEPS)
def test_a_program_that_forgets_a_step_is_found_out(tmp_path, step):
    assert faults_of(tmp_path, {step}) != []
