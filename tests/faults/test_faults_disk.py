"""Disks that are full, folders that cannot be written to or that go: nothing is lost, no good output is damaged."""

from __future__ import annotations

import ctypes
import errno
import os
import re
import resource
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import jobs
import pytest
from runs import LIKEWISE, TEXTS, command, failing, go_on

from likewise.io.work import Work
from likewise.runs import writing as outputs

# --- no room on the disk, where the system itself says so


def test_files_may_not_grow_beyond_a_limit(tmp_path, corpus):
    """`ulimit -f`, which every system has, stands for a full disk."""
    given, want = corpus
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))  # noqa: E731
    done = command("dedup", given, "-o", tmp_path / "out", preexec_fn=limit)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert re.search(r"error: .*out\.work/\S+\.col: File too large; raise the file size limit \(ulimit -f\)", done.stderr)
    assert command(*go_on(done.stderr)).returncode == 0
    assert jobs.snapshot(tmp_path / "out") == want
    (tmp_path / "temporary").mkdir()
    done = command("pairs", given, preexec_fn=limit, env=os.environ | {"TMPDIR": str(tmp_path / "temporary")})
    assert (done.returncode, done.stdout, os.listdir(tmp_path / "temporary")) == (2, "", [])
    assert re.search(r"error: .*temporary/likewise-\S+\.col: File too large; ", done.stderr)


@pytest.mark.skipif(shutil.which("unshare") is None, reason="no disk can be mounted here without unshare; `ulimit -f` above stands for it")
def test_a_full_disk(tmp_path, corpus):
    """A small one, mounted for the purpose; the output that was there stays, and the run goes on once there is room."""
    given, want = corpus
    (tmp_path / "disk").mkdir()
    (tmp_path / "old.jsonl").write_text('{"text": "another text"}\n')
    run = shlex.join([*LIKEWISE, "dedup", str(given), "-o", "disk/out", "--overwrite"])
    script = f"""
        mount -t tmpfs -o size=6m likewise-faults disk || exit 77
        {shlex.join([*LIKEWISE, "dedup", "old.jsonl", "-o", "disk/out", "-q"])}; cp -r disk/out old
        {run}; echo "status $?"
        diff -r disk/out old && echo untouched
        mount -o remount,size=600m disk
        {run} --resume; echo "status $?"
        cp -r disk/out new; umount disk
    """
    alone = ["unshare", "-m" if os.getuid() == 0 else "-rm"]  # nobody else sees the disk, and it goes with the last process
    done = subprocess.run([*alone, "sh", "-c", script], capture_output=True, text=True, cwd=tmp_path)
    if "status" not in done.stdout:
        pytest.skip(f"no disk can be mounted here; `ulimit -f` above stands for it: {done.stderr}")
    assert done.stdout.split("\n")[:3] == ["status 2", "untouched", "status 0"], done.stderr
    assert re.search(r"error: disk/out\.work/\S+: No space left on device; free some space, or put intermediate files on another disk", done.stderr)
    assert jobs.snapshot(tmp_path / "new") == want


# --- folders that cannot be written to, or that go


@pytest.mark.parametrize(("number", "advice"), [(errno.EROFS, "choose a path on a writable file system"), (errno.EACCES, "check the permissions")])
def test_a_place_that_cannot_be_written_to(likewise, tmp_path, monkeypatch, number, advice):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", failing(number, "out.work"))
        status, said = likewise("dedup", "a.jsonl", "-o", "out")
    assert (status, said.count("\n"), f"error: out.work: {os.strerror(number)}; {advice}" in said) == (2, 1, True)
    assert likewise("dedup", "a.jsonl", "-o", "out")[0] == 0


def powerless() -> None:
    """In a child before it begins: root, too, may write only where it is allowed to (capabilities DAC_OVERRIDE and DAC_READ_SEARCH)."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability)  # PR_CAPBSET_DROP


def test_a_folder_without_permission(tmp_path):
    jobs.texts(tmp_path)
    (tmp_path / "closed").mkdir(mode=0o500)
    done = command("dedup", "a.jsonl", "-o", "closed/out", cwd=tmp_path, preexec_fn=powerless)
    assert (done.returncode, "closed/out.work: Permission denied; check the permissions" in done.stderr) == (2, True), done.stderr


def test_the_work_folder_is_deleted_under_a_run(likewise, tmp_path, monkeypatch):
    """Before any of its steps: never a trace, never half an output, and the same command does it all once it is left alone."""
    jobs.texts(tmp_path)
    likewise("dedup", "a.jsonl", "-o", "whole", *TEXTS)
    append, steps, left = Work.append, 0, -1

    def deleting(self, *args, **step):
        nonlocal steps, left
        steps += 1
        left -= 1
        if left == 0:
            while self.folder.exists():  # other threads write into it meanwhile
                shutil.rmtree(self.folder, ignore_errors=True)
        append(self, *args, **step)

    monkeypatch.setattr(Work, "append", deleting)
    assert likewise("dedup", "a.jsonl", "-o", "again", *TEXTS)[0] == 0
    for number in range(1, steps + 1):
        left = number
        status, said = likewise("dedup", "a.jsonl", "-o", "out", *TEXTS)
        assert (status, (tmp_path / "out").exists()) == (2, False)
        assert "error: out.work: was removed or replaced while likewise used it; start over" in said
        assert "to continue:" not in said
    assert likewise("dedup", "a.jsonl", "-o", "out", *TEXTS)[0] == 0
    assert jobs.snapshot(tmp_path / "out") == jobs.snapshot(tmp_path / "whole")


def test_the_folder_of_the_output_goes(likewise, tmp_path, monkeypatch):
    """As where a disk is taken out: with intermediate files elsewhere, nothing that was done is lost."""
    jobs.texts(tmp_path)
    (tmp_path / "disk").mkdir()
    check_still = outputs.check_still
    for old in ([], ["--overwrite"]):
        with monkeypatch.context() as patch:
            patch.setattr(outputs, "check_still", lambda *args, **how: (check_still(*args, **how), (tmp_path / "disk").rename("away")))
            status, said = likewise("dedup", "a.jsonl", "-o", "disk/out", "--work", "here", *TEXTS, *old)
        assert (status, "No such file or directory" in said, (tmp_path / "disk").exists()) == (2, True, False), said
        assert ("away/out" in map(str, Path().glob("away/*"))) == bool(old)
        (tmp_path / "away").rename("disk")
        assert likewise(*go_on(said))[0] == 0
        assert {path.name for path in (tmp_path / "disk").iterdir()} == {"out"}
    assert likewise("dedup", "a.jsonl", "-o", "whole", *TEXTS)[0] == 0
    assert jobs.snapshot(tmp_path / "disk/out") == jobs.snapshot(tmp_path / "whole")


@pytest.mark.parametrize("verb", ["pairs", "neighbors"])
def test_a_file_of_pairs_is_on_the_disk_before_it_has_its_name(likewise, tmp_path, monkeypatch, verb):
    jobs.texts(tmp_path)
    (tmp_path / "out.jsonl").write_text("an earlier file")
    taken: list[tuple[str, str]] = []
    force, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda file: (taken.append(("fsync", Path(os.readlink(f"/proc/self/fd/{file}")).name)), force(file)))
    monkeypatch.setattr(os, "replace", lambda old, new: (taken.append(("replace", Path(old).name)), replace(old, new)))
    assert likewise(verb, "a.jsonl", "-o", "out.jsonl", "--overwrite")[0] == 0
    [part] = [name for step, name in taken if step == "replace" and name.startswith(".out.")]
    assert taken[-3:] == [("fsync", part), ("replace", part), ("fsync", tmp_path.name)]


def test_no_temporary_folder(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    for more, status in {("--work", "here"): 0, (): 2}.items():
        with monkeypatch.context() as patch:
            patch.setattr(tempfile, "mkdtemp", failing(errno.ENOENT, "No usable temporary directory found"))
            done, said = likewise("pairs", "a.jsonl", *more)
        assert (done, "name one with --work DIR" in said) == (status, status == 2)


def test_nobody_listens(tmp_path):
    """Where messages cannot be written the work goes on; where results cannot be it is an error that says so."""
    jobs.texts(tmp_path)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # the last flush fails only then
    with open("/dev/full", "w") as full:
        for progress in ("auto", "always"):
            out = tmp_path / progress
            done = subprocess.run([*LIKEWISE, "dedup", tmp_path / "a.jsonl", "-o", out, "--progress", progress], stderr=full, env=buffered)
            assert (done.returncode, (out / "manifest.json").exists()) == (0, True)
        done = subprocess.run([*LIKEWISE, "pairs", tmp_path / "a.jsonl", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, "error: standard output: No space left on device" in done.stderr, "Traceback" in done.stderr) == (2, True, False)
