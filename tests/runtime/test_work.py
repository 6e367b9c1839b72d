"""The work folder: what was journalled is there after a crash, and nothing else is."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from likewise.errors import FormatError, UsageError
from likewise.io.work import Work

MADE = {"method": {"by": "words:5", "plan": {"bands": 16}}, "inputs": [{"a.jsonl": {"size": 10}}]}


def started(folder, **changes):
    work = Work.claim(folder, resume=(folder / "work.json").exists())
    try:
        work.begin(MADE | changes)
    except BaseException:
        work.close(remove=False)
        raise
    return work


def test_columns_come_back_as_they_were_appended(tmp_path):
    work = started(tmp_path / "w")
    work.append({"size": np.array([1, 2], "u4"), "copy": np.arange(4, dtype="u8").reshape(2, 2)}, step="chunk", rows=2)
    work.append({"size": np.array([3], "u4"), "copy": np.array([[9, 9]], "u8")}, step="chunk", rows=1)
    assert work.column("size", "u4").tolist() == [1, 2, 3]
    assert work.column("copy", np.dtype(("u8", 2))).tolist() == [[0, 1], [2, 3], [9, 9]]
    assert [entry["rows"] for entry in work.done("chunk")] == [2, 1]
    work.close(remove=True)
    assert not (tmp_path / "w").exists()


@pytest.mark.parametrize("lost", range(1, 40))
def test_what_a_torn_write_left_behind_is_cut_off(tmp_path, lost):
    folder = tmp_path / "w"
    work = started(folder)
    work.append({"size": np.array([1, 2], "u4")}, step="chunk", rows=2)
    work.append({"size": np.array([3], "u4")}, step="chunk", rows=1)
    work.close(remove=False)
    journal = folder / "journal.jsonl"
    journal.write_bytes(journal.read_bytes()[:-lost])  # the second line is not whole; its bytes in the column do not count
    again = started(folder)
    assert again.column("size", "u4").tolist() == [1, 2]
    again.append({"size": np.array([7], "u4")}, step="chunk", rows=1)
    assert again.column("size", "u4").tolist() == [1, 2, 7]
    again.close(remove=True)


def journalled(folder, n):
    """A folder in which column a has the bytes 0, 1, .. n - 1 and b twice as many, one step each."""
    work = started(folder)
    for i in range(n):
        work.append({"a": np.array([i], "u1"), "b": np.array([i, i], "u1")}, step="chunk", rows=i)
    return work


@pytest.mark.parametrize(
    "spoil",
    [
        lambda f: os.truncate(f / "a.col", 2),
        lambda f: (f / "b.col").write_bytes(b"\0\0\1\1\0\0\3\3\4\4"),  # a page that never reached the disk
        lambda f: (f / "journal.jsonl").write_bytes(b"\n".join((f / "journal.jsonl").read_bytes().splitlines()[:2]) + b"\n" + bytes(200) + b"\n"),
        lambda f: (f / "journal.jsonl").write_bytes((f / "journal.jsonl").read_bytes().replace(b'"rows": 2', b'"rows": 6')),
        lambda f: (f / "journal.jsonl").write_bytes(b"".join((f / "journal.jsonl").read_bytes().splitlines(True)[i] for i in (0, 1, 3, 2, 4))),
        lambda f: (f / "journal.jsonl").write_bytes(b"".join((f / "journal.jsonl").read_bytes().splitlines(True)[i] for i in (0, 1, 3, 4))),
    ],
)
def test_what_a_lost_machine_left_is_taken_up_as_far_as_it_is_true(tmp_path, spoil):
    journalled(tmp_path / "w", 5).close(remove=False)
    spoil(tmp_path / "w")
    work = started(tmp_path / "w")
    assert [entry["rows"] for entry in work.done("chunk")] == [0, 1]
    assert (work.column("a", "u1").tolist(), work.column("b", "u1").tolist()) == ([0, 1], [0, 0, 1, 1])
    work.append({"a": np.array([7], "u1"), "b": np.array([8, 9], "u1")}, step="chunk", rows=7)
    work.close(remove=False)
    again = started(tmp_path / "w")
    assert (again.column("a", "u1").tolist(), again.column("b", "u1").tolist()) == ([0, 1, 7], [0, 0, 1, 1, 8, 9])
    again.close(remove=True)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=6), st.integers(0, 120), st.integers(0, 255))
@settings(max_examples=40, deadline=None)
def test_no_byte_of_a_column_changes_unseen(sizes, place, value):
    """If any byte changed, the run resumes with the entries before that byte."""
    with tempfile.TemporaryDirectory() as name:
        folder, draw = Path(name) / "w", np.random.default_rng(sum(sizes))
        parts = [draw.integers(0, 256, size, np.uint8) for size in sizes]
        work = started(folder)
        for part in parts:
            work.append({"a": part}, step="chunk")
        work.close(remove=False)
        data = bytearray(np.concatenate(parts).tobytes())
        place = min(place, len(data) - 1)
        right = place < 0 or data[place] == value
        if not right:
            data[place] = value
            (folder / "a.col").write_bytes(data)
        work = started(folder)
        first = len(sizes) if right else int(np.searchsorted(np.cumsum(sizes), place, side="right"))
        assert len(work.done("chunk")) == first
        assert work.column("a", "u1").tobytes() == b"".join(part.tobytes() for part in parts[:first])
        work.close(remove=True)


def test_what_was_deleted_and_is_needed_again_is_said(tmp_path):
    work = journalled(tmp_path / "w", 3)
    work.discard("b")
    work.close(remove=False)
    (tmp_path / "w/a.col").write_bytes(b"\0\7\2")
    with pytest.raises(FormatError, match="delete the folder and start over"):
        started(tmp_path / "w")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"method": {"by": "words:4", "plan": {"bands": 16}}}, "by="),
        ({"method": {"by": "words:5", "plan": {"bands": 9}}}, "bands="),
        ({"method": {"by": "words:5", "plan": {"bands": 16, "threshold_exact": "4/5"}}}, "threshold= or within="),
        ({"method": {"by": "words:5", "plan": {"bands": 16}, "max_record": 9}}, "max_record="),
        ({"inputs": [{"a.jsonl": {"size": 11}}]}, r"inputs\[0\]\.a\.jsonl\.size"),
    ],
)
def test_resuming_another_run_is_refused_and_the_difference_named(tmp_path, change, named):
    started(tmp_path / "w").close(remove=False)
    with pytest.raises(UsageError, match=f"cannot resume, because {named} differs"):
        started(tmp_path / "w", **change)


def test_a_leftover_folder_is_refused_without_resume(tmp_path):
    started(tmp_path / "w").close(remove=False)
    with pytest.raises(UsageError, match="resume=True"):
        Work.claim(tmp_path / "w", resume=False)


def test_a_folder_with_other_things_in_it_is_left_alone(tmp_path):
    (tmp_path / "letters.txt").write_text("mine")
    with pytest.raises(UsageError, match="not a work folder"):
        Work.claim(tmp_path, resume=False)
    assert [path.name for path in tmp_path.iterdir()] == ["letters.txt"]


def test_two_runs_do_not_work_in_one_folder(tmp_path):
    first = started(tmp_path / "w")
    with pytest.raises(UsageError, match="another run is working"):
        started(tmp_path / "w")
    first.close(remove=False)
    started(tmp_path / "w").close(remove=True)


def test_scratch_goes_to_a_file_when_memory_is_used_up(tmp_path):
    work = Work.claim(tmp_path / "w", resume=False, in_memory=100)
    work.begin(MADE)
    work.scratch((10,), "i4")[:] = 3
    assert not (tmp_path / "w/scratch-0").exists()
    paged = work.scratch((500, 2), "i4")
    paged[:] = 7
    assert paged.sum() == 7000 and (tmp_path / "w/scratch-0").stat().st_size == 4000
    assert json.loads((tmp_path / "w" / "description.json").read_text()) == MADE
    work.close(remove=True)


@pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="the system does not tell which pages are resident")
def test_scratch_in_a_file_rests_with_the_columns(tmp_path):
    def resident(name: str) -> int:
        return int(Path("/proc/self/smaps").read_text().partition(str(tmp_path / "w" / name))[2].partition("Rss:")[2].split()[0])

    work = Work.claim(tmp_path / "w", resume=False, in_memory=0)
    work.begin(MADE)
    work.append({"a": np.arange(1 << 17)}, step="chunk")
    column, paged = work.column("a", "i8"), work.scratch((1 << 17,), "i8")
    paged[:] = column
    assert (resident("a.col"), resident("scratch-0")) == (1024, 1024)
    work.rest()
    assert (resident("a.col"), resident("scratch-0")) == (0, 0)
    assert (paged == column).all()
    del column, paged
    work.rest()  # what is no longer used is unmapped
    assert str(tmp_path / "w/scratch-0") not in Path("/proc/self/smaps").read_text()
    work.close(remove=True)


def test_a_description_that_is_damaged_is_refused_in_words(tmp_path):
    started(tmp_path / "w").close(remove=False)
    (tmp_path / "w/description.json").write_text("")
    with pytest.raises(FormatError, match="and start over"):
        started(tmp_path / "w")


def test_a_refused_run_leaves_the_folder_of_another_alone(tmp_path):
    first = Work.claim(tmp_path / "w", resume=False)
    for resume in (False, True):
        with pytest.raises(UsageError, match="another run is working"):
            Work.claim(tmp_path / "w", resume=resume)
    first.begin(MADE)
    first.append({"size": np.array([1], "u4")}, step="chunk")
    assert first.column("size", "u4").tolist() == [1]
    first.close(remove=True)


def test_discarded_columns_are_not_missed(tmp_path):
    work = started(tmp_path / "w")
    work.append({"sets": np.array([1], "u8"), "size": np.array([1], "u4")}, step="chunk")
    work.discard("sets")
    work.close(remove=False)
    again = started(tmp_path / "w")
    assert not (tmp_path / "w/sets.col").exists()
    assert again.column("size", "u4").tolist() == [1]
    again.close(remove=True)


def test_a_folder_that_was_replaced_is_left_alone(tmp_path):
    """Somebody deletes the folder of a run that goes on, and starts another one there: neither may touch what is the other's."""
    first = journalled(tmp_path / "w", 2)
    shutil.rmtree(tmp_path / "w")
    with pytest.raises(OSError, match="removed or replaced while likewise used it"):
        first.append({"a": np.array([1], "u1")}, step="chunk")
    second = started(tmp_path / "w")
    second.append({"a": np.array([9], "u1")}, step="chunk")
    with pytest.raises(OSError, match="removed or replaced"):
        first.discard("a")
    first.close(remove=True)
    assert second.column("a", "u1").tolist() == [9]
    assert (tmp_path / "w/work.json").exists()
    second.close(remove=True)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_goes_while_it_is_claimed_is_made_again(tmp_path, monkeypatch):
    """The run that had it ends between the other's two steps of opening the journal and locking it."""
    first = started(tmp_path / "w")
    flock, ends = fcntl.flock, [first]

    def late(*args):
        if ends:
            ends.pop().close(remove=True)
        flock(*args)

    monkeypatch.setattr(fcntl, "flock", late)
    second = started(tmp_path / "w")
    second.append({"a": np.array([1], "u1")}, step="chunk")
    assert second.column("a", "u1").tolist() == [1]
    second.close(remove=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_locks_will_do(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOLCK, "No locks available")))
    started(tmp_path / "w").close(remove=True)


def test_the_lock_is_of_a_process_that_lives(tmp_path):
    """A killed one leaves none, whatever number the next process gets."""
    script = (
        "import sys; from pathlib import Path; from likewise.io.work import Work\n"
        "work = Work.claim(Path(sys.argv[1]), resume=False); work.begin({}); print('has it', flush=True); sys.stdin.read()"
    )
    process = subprocess.Popen([sys.executable, "-P", "-c", script, str(tmp_path / "w")], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"has it\n"
    with pytest.raises(UsageError, match="another run is working"):
        Work.claim(tmp_path / "w", resume=True)
    process.kill()
    process.communicate()
    work = Work.claim(tmp_path / "w", resume=True)
    work.begin({})
    work.close(remove=True)


def test_what_was_being_deleted_when_a_run_was_killed_is_no_part_of_the_next(tmp_path):
    """The description goes first, so that the rest is not taken for a run to go on with."""
    journalled(tmp_path / "w", 2).close(remove=False)
    (tmp_path / "w/description.json").unlink()
    (tmp_path / "w/b.col").unlink()
    work = Work.claim(tmp_path / "w", resume=False)
    work.begin(MADE)
    work.append({"a": np.array([7], "u1")}, step="chunk")
    assert work.column("a", "u1").tolist() == [7]
    work.close(remove=True)
    assert list(tmp_path.iterdir()) == []


def test_no_room_for_scratch_is_an_error_and_not_the_end_of_the_process(tmp_path, monkeypatch):
    """Mapped memory of a file without room kills who writes to it."""
    work = Work.claim(tmp_path / "w", resume=False, in_memory=0)
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(OSError, match=r"No space left.*scratch-0"):
        work.scratch((1000,), "i8")
    monkeypatch.setattr(os, "posix_fallocate", lambda *_: (_ for _ in ()).throw(OSError(errno.EOPNOTSUPP, "not here")))
    work.scratch((1000,), "i8")[:] = 3
    monkeypatch.undo()
    assert os.stat(tmp_path / "w/scratch-1").st_size == 8000
    work.close(remove=True)
