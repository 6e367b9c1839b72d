"""The work folder: what was journalled is there after a crash, and nothing else is."""

from __future__ import annotations

import json

import numpy as np
import pytest

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


def test_a_column_that_lost_bytes_is_refused(tmp_path):
    folder = tmp_path / "w"
    work = started(folder)
    work.append({"size": np.array([1, 2], "u4")}, step="chunk")
    work.close(remove=False)
    (folder / "size.col").write_bytes(b"\1\0\0")
    with pytest.raises(FormatError, match=r"size\.col: 8 bytes were written here"):
        started(folder)


@pytest.mark.parametrize(
    ("change", "named"),
    [({"method": {"by": "words:4", "plan": {"bands": 16}}}, "method.by"), ({"inputs": [{"a.jsonl": {"size": 11}}]}, r"inputs\[0\]\.a\.jsonl\.size")],
)
def test_resuming_another_run_is_refused_and_the_difference_named(tmp_path, change, named):
    started(tmp_path / "w").close(remove=False)
    with pytest.raises(UsageError, match=f"cannot resume, since {named} differs"):
        started(tmp_path / "w", **change)


def test_a_leftover_folder_is_refused_without_resume(tmp_path):
    started(tmp_path / "w").close(remove=False)
    with pytest.raises(UsageError, match="--resume"):
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
    assert not isinstance(work.scratch((10,), "i4"), np.memmap)
    paged = work.scratch((1000,), "i4")
    assert isinstance(paged, np.memmap)
    paged[:] = 7
    assert paged.sum() == 7000
    assert json.loads((tmp_path / "w" / "work.json").read_text()) == MADE
    work.close(remove=True)


@pytest.mark.parametrize(
    "spoil", [lambda f: (f / "size.col").unlink(), lambda f: (f / "journal.jsonl").write_text("x\n"), lambda f: (f / "work.json").write_text("")]
)
def test_a_damaged_folder_is_refused_in_words(tmp_path, spoil):
    work = started(tmp_path / "w")
    work.append({"size": np.array([1, 2], "u4")}, step="chunk")
    work.close(remove=False)
    spoil(tmp_path / "w")
    with pytest.raises(FormatError, match="and start anew"):
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
