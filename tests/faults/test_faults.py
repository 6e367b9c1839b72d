"""What really happens to long runs: they are killed, disks fill up, inputs change and go, memory ends. Nothing is lost, no good output is damaged."""

from __future__ import annotations

import ctypes
import errno
import json
import os
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import jobs
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import ipc

import likewise as lw
from likewise import outputs, pipeline
from likewise.cli.main import main, status_of
from likewise.engines import local
from likewise.io import batches
from likewise.io.formats import lines, npy, parquet, text
from likewise.io.work import Work

HERE = Path(__file__).parent
LIKEWISE = [sys.executable, "-m", "likewise"]
TEXTS = ("--threshold", "0.7", "--pairs")


def command(*arguments: object, **how: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*LIKEWISE, *map(str, arguments)], capture_output=True, text=True, **how)  # type: ignore[call-overload]


def go_on(said: str) -> list[str]:
    """The arguments of the command that a message says to go on with."""
    [line] = [line for line in said.splitlines() if "go on with: likewise " in line]
    return shlex.split(line.partition("go on with: likewise ")[2])


def test_drawn_faults():
    """A score and more of them; `python tests/faults/kill.py --rounds 1000` draws more, `--every` strikes at each step."""
    done = subprocess.run([sys.executable, HERE / "kill.py", "--rounds", "39", "--seed", "1"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert re.search(r"\n39 rounds in \d+ s, 0 wrong; [2-9]\d kills survived", done.stdout), done.stdout[-5000:]


# --- signals, to real processes


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """A second or so of work, its first part known to be done when the journal speaks of it; and what comes of it."""
    folder = tmp_path_factory.mktemp("corpus")
    (folder / "in.jsonl").write_bytes(jobs.lines(jobs.rows(2, 24_000, 120)))
    assert command("dedup", folder / "in.jsonl", "-o", folder / "whole", "-q").returncode == 0
    return folder / "in.jsonl", jobs.snapshot(folder / "whole")


def begun(arguments: list[str], work: Path, **how: object) -> subprocess.Popen[str]:
    """A run that has done its first step."""
    process = subprocess.Popen([*LIKEWISE, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **how)  # type: ignore[call-overload]
    while process.poll() is None and not ((work / "journal.jsonl").exists() and (work / "journal.jsonl").stat().st_size):
        time.sleep(0.002)
    return process


@pytest.mark.parametrize(("name", "said"), [("SIGINT", "interrupted"), ("SIGTERM", "stopped by SIGTERM"), ("SIGHUP", "stopped by SIGHUP")])
def test_a_signal_ends_a_run_cleanly_and_the_message_tells_how_to_go_on(tmp_path, corpus, name, said):
    given, want = corpus
    out, number = tmp_path / "my out", signal.Signals[name]
    process = begun(
        ["dedup", str(given), "-o", str(out), "--threads", "2"], tmp_path / "my out.work", preexec_fn=lambda: signal.signal(number, signal.SIG_DFL)
    )
    process.send_signal(number)
    process.send_signal(number)  # as where a shell and what it started both pass it on
    _, err = process.communicate()
    assert (process.returncode, out.exists()) == (128 + number, False)
    assert err.splitlines()[0] == f"likewise: {said}"
    assert len(err.splitlines()) == 2
    assert command(*go_on(err)).returncode == 0
    assert jobs.snapshot(out) == want
    assert os.listdir(tmp_path) == ["my out"]


def test_a_signal_that_who_called_had_set_to_be_ignored_is_ignored(tmp_path, corpus):
    given, want = corpus
    process = begun(
        ["dedup", str(given), "-o", str(tmp_path / "out")], tmp_path / "out.work", preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)
    )
    process.send_signal(signal.SIGHUP)
    process.communicate()
    assert (process.returncode, jobs.snapshot(tmp_path / "out")) == (0, want)


# --- no room on the disk, where the system itself says so


def test_files_may_not_grow_beyond_a_limit(tmp_path, corpus):
    """`ulimit -f`, which every system has, stands for a full disk."""
    given, want = corpus
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, resource.RLIM_INFINITY))  # noqa: E731
    done = command("dedup", given, "-o", tmp_path / "out", preexec_fn=limit)
    assert (done.returncode, (tmp_path / "out").exists()) == (2, False)
    assert re.search(r"error: .*out\.work/\S+\.col: File too large; raise the limit of the size of files \(ulimit -f\)", done.stderr)
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
    assert re.search(r"error: disk/out\.work/\S+: No space left on device; make room, or put intermediate files on another disk", done.stderr)
    assert jobs.snapshot(tmp_path / "new") == want


# --- folders that cannot be written to, or that go


@pytest.fixture
def likewise(tmp_path, monkeypatch, capfd):
    """The command line in an empty folder and in this process: likewise(arguments...) -> (status, what it said)."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> tuple[int, str]:
        given = [str(argument) for argument in arguments]
        monkeypatch.setattr(sys, "argv", ["likewise", *given])
        capfd.readouterr()
        status = status_of(main, given)
        said = capfd.readouterr().err
        assert "Traceback" not in said
        return status, said

    return run


def failing(number: int, *names: str) -> Callable[..., None]:
    def fail(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number), *names)

    return fail


@pytest.mark.parametrize(("number", "advice"), [(errno.EROFS, "name a place that can be written to"), (errno.EACCES, "check the permissions")])
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
        assert "error: out.work: was removed or replaced while likewise worked in it; start again" in said
        assert "go on with" not in said
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


def test_what_a_killed_run_of_pairs_left_is_to_be_deleted(tmp_path, corpus):
    """Only dedup goes on where it was; that --resume would is not said."""
    given, _ = corpus
    process = begun(["pairs", str(given), "--work", "here", "-o", "pairs.jsonl"], tmp_path / "here", cwd=tmp_path)
    process.kill()
    process.communicate()
    assert os.listdir(tmp_path) == ["here"]
    done = command("pairs", given, "--work", "here", cwd=tmp_path)
    assert (done.returncode, "left this work folder; delete the folder to start anew" in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize("verb", ["pairs", "neighbors"])
def test_an_input_is_never_replaced(likewise, tmp_path, verb):
    """By whatever name; nor are arrays in a folder in the way of an output that may be replaced."""
    jobs.vectors(tmp_path)
    jobs.texts(tmp_path)
    (tmp_path / "link.jsonl").symlink_to("a.jsonl")
    before = jobs.snapshot(tmp_path)
    for given, more in {"a.jsonl": [], "./a.jsonl": [], "b.jsonl.gz": ["--against" if verb == "pairs" else "--query", "a.jsonl"]}.items():
        for out in ("a.jsonl", "link.jsonl"):
            status, said = likewise(verb, given, *more, "-o", out, "--overwrite")
            assert (status, "this file is an input (a.jsonl), and inputs are never written to" in said) == (2, True), said
    assert jobs.snapshot(tmp_path) == before
    (tmp_path / "arrays").mkdir()
    (tmp_path / "vectors.npy").rename("arrays/vectors.npy")
    (tmp_path / "out.jsonl").write_text("an earlier file")
    asked = ["--by", "cosine", *(["--threshold", "0.95"] if verb == "pairs" else [])]
    assert likewise(verb, "arrays", *asked, "-o", "out.jsonl", "--overwrite")[0] == 0


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
        assert (done, "name one for intermediate files with --work DIR" in said) == (status, status == 2)


def test_nobody_listens(tmp_path):
    """Where messages cannot be written the work goes on; where results cannot be it is an error that says so."""
    jobs.texts(tmp_path)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}  # the last flush fails only then
    with open("/dev/full", "w") as full:
        done = subprocess.run([*LIKEWISE, "dedup", tmp_path / "a.jsonl", "-o", tmp_path / "out"], stderr=full, env=buffered)
        assert (done.returncode, (tmp_path / "out/manifest.json").exists()) == (0, True)
        done = subprocess.run([*LIKEWISE, "pairs", tmp_path / "a.jsonl", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, "error: standard output: No space left on device" in done.stderr, "Traceback" in done.stderr) == (2, True, False)


# --- inputs that change


def remake(path: Path, data: bytes) -> None:
    path.with_name("new").write_bytes(data)
    path.with_name("new").replace(path)


def swap_link(path: Path, data: bytes) -> None:
    path.with_name("other").write_bytes(data)
    path.unlink()
    path.symlink_to("other")


CHANGES: dict[str, Callable[[Path], object]] = {
    "grows": lambda path: path.write_bytes(path.read_bytes() + b"\n"),
    "is cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "is emptied": lambda path: os.truncate(path, 0),
    "is written over": lambda path: path.write_bytes(bytes(reversed(path.read_bytes()))),
    "is replaced": lambda path: remake(path, path.read_bytes()[:-1]),
    "is a link to another": lambda path: swap_link(path, path.read_bytes()[:-1]),
}
#: A job, and its file that changes.
CHANGING = {
    "texts": "b.jsonl.gz",
    "annotated": "crawl.jsonl.zst",
    "tables": "a.parquet",
    "arrow": "b.arrow",
    "folder": "part 1/7.txt",
    "csv": "b.csv",
    "plain": "a.jsonl",
    "vectors": "vectors.npy",
}
MORE = {"arrow": jobs.JOBS["tables"], "csv": jobs.Job(lambda folder: jobs.damaged(folder), ("--on-error", "skip")), "plain": jobs.JOBS["texts"]}


@pytest.fixture
def small_chunks(monkeypatch):
    for module in (batches, lines, npy, parquet, text):
        monkeypatch.setattr(module, "CHUNK_BYTES", 3000)


def at_step(monkeypatch: pytest.MonkeyPatch, number: int, do: Callable[[], object]) -> list[dict]:
    """Have something done when a run has taken its step of that number; returns the steps, when they are taken."""
    append, taken = Work.append, []

    def counting(self: Work, *args: object, **step: object) -> None:
        append(self, *args, **step)
        taken.append(step)
        if len(taken) == number:
            do()

    monkeypatch.setattr(Work, "append", counting)
    return taken


def moments(steps: int) -> tuple[int, ...]:
    """Steps while a run reads, when it has read, when it has decided, and when all is written but what the last step is, to put it into place."""
    return (1, steps // 2, steps - 4, steps - 1)


@pytest.fixture(params=CHANGING)
def changing(request, likewise, tmp_path, monkeypatch, small_chunks):
    """(a job, the name of its file that changes, the numbers of moments); its output is whole/."""
    name = request.param
    job = MORE.get(name, jobs.JOBS.get(name))
    (tmp_path / "in").mkdir()
    job.make(tmp_path / "in")
    with monkeypatch.context() as patch:
        taken = at_step(patch, 0, lambda: None)
        assert likewise("dedup", "in", "-o", "whole", *job.arguments)[0] == 0
    return job, CHANGING[name], moments(len(taken))


@pytest.mark.parametrize("change", CHANGES)
def test_an_input_that_changes_is_seen_and_gives_no_output(likewise, tmp_path, monkeypatch, changing, change):
    """While it is read, when it has been read, and while it is written; and never does a run die of it, as of mapped memory that goes."""
    job, name, numbers = changing
    for number in numbers:
        given = tmp_path / f"in-{number}"
        shutil.copytree(tmp_path / "in", given)
        path = given / name
        with monkeypatch.context() as patch:
            at_step(patch, number, lambda path=path: (CHANGES[change](path), os.utime(path, (1, 1))))
            status, said = likewise("dedup", given, "-o", "out", *job.arguments, "--threads", "1")
        assert (status, (tmp_path / "out").exists(), (tmp_path / "out.work").exists()) == (2, False, False), said
        assert f"{name}: was changed while likewise worked" in said


@pytest.mark.parametrize("name", ["a.arrow", "a.arrows", "a.npy", "fortran.npy", "a.parquet"])
def test_memory_of_a_file_that_is_cut_is_none_of_ours(tmp_path, name):
    """A process that looks at mapped memory which has no file behind it any more is ended by the system."""
    array = np.arange(1 << 21, dtype=np.float32).reshape(-1, 8)
    table = pa.table({"vector": pa.FixedSizeListArray.from_arrays(array.reshape(-1), 8)})
    if name.endswith("npy"):
        np.save(tmp_path / name, np.asfortranarray(array) if "fortran" in name else array)
    elif name.endswith("parquet"):
        pq.write_table(table, tmp_path / name)
    else:
        with (ipc.new_stream if name.endswith("s") else ipc.new_file)(str(tmp_path / name), table.schema) as writer:
            writer.write_table(table, max_chunksize=1 << 15)
    script = """
import os, sys
from pathlib import Path
from likewise.errors import DataError
from likewise.io import formats
from likewise.records import Want
path = Path(sys.argv[1])
module = formats.load(formats.by_name(path))
chunks = module.chunks(path, Want("vector", None, kind="vector"), 0)
first = next(chunks).data
os.truncate(path, 0)
assert first.column(0).combine_chunks().flatten()[7].as_py() == 7
try:
    print(sum(len(chunk.data) for chunk in chunks) + len(first))
except DataError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", script, tmp_path / name], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # a stream may end after any batch; that the file is another one is seen at the end
    assert name.endswith("arrows") or f"{name}: " in done.stdout


def test_inputs_that_go_and_come_back(likewise, tmp_path, monkeypatch, changing):
    """A disk that is taken out, a network that fails: the run ends, and goes on when they are there again."""
    job, _, numbers = changing
    for number in numbers:
        with monkeypatch.context() as patch:
            at_step(patch, number, lambda: (tmp_path / "in").rename(tmp_path / "away"))
            status, said = likewise("dedup", "in", "-o", "out", *job.arguments, "--threads", "1")
        assert (status, (tmp_path / "out").exists()) == (2, False), said
        (tmp_path / "away").rename(tmp_path / "in")
        assert likewise(*go_on(said))[0] == 0
        assert jobs.snapshot(tmp_path / "out") == jobs.snapshot(tmp_path / "whole")
        shutil.rmtree(tmp_path / "out")


# --- two runs at once


def test_two_runs_with_one_output(likewise, tmp_path, monkeypatch):
    """The first that is done has it. What the other did is not lost: it goes on when it may replace that, or when that has been put elsewhere."""
    jobs.texts(tmp_path)
    decide = pipeline.decide
    for name, moment in {"early": (pipeline, "decide", decide), "late": (outputs, "check_still", outputs.check_still)}.items():
        module, attribute, function = moment

        def overtaken(*args, module=module, attribute=attribute, function=function, **kwargs):
            with monkeypatch.context() as patch:
                patch.setattr(module, attribute, function)
                lw.dedup([Path("b.jsonl.gz")], out=tmp_path / "out", work=tmp_path / "other", threshold="0.7")
            return function(*args, **kwargs)

        with monkeypatch.context() as patch:
            patch.setattr(module, attribute, overtaken)
            status, said = likewise("dedup", "a.jsonl", "-o", "out", *TEXTS)
        assert (status, "the folder exists; --overwrite replaces it" in said) == (2, True), name
        assert [entry["source"] for entry in json.loads((tmp_path / "out/manifest.json").read_text())["inputs"]] == ["b.jsonl.gz"]
        assert likewise(*go_on(said), "--overwrite")[0] == 0
        assert [entry["source"] for entry in json.loads((tmp_path / "out/manifest.json").read_text())["inputs"]] == ["a.jsonl"]
        assert sorted(os.listdir(tmp_path)) == ["a.jsonl", "b.jsonl.gz", "out"]
        shutil.rmtree(tmp_path / "out")


def test_a_second_run_in_the_same_folder_is_refused_and_the_first_goes_on(tmp_path, corpus):
    given, want = corpus
    process = begun(["dedup", str(given), "-o", str(tmp_path / "out")], tmp_path / "out.work")
    process.send_signal(signal.SIGSTOP)  # so that it is there as long as the others are
    for more in ([], ["--resume"]):
        done = command("dedup", given, "-o", tmp_path / "out", *more)
        assert (done.returncode, "another run is working in this folder; wait for it, or name another folder with --work" in done.stderr) == (2, True)
    process.send_signal(signal.SIGCONT)
    process.communicate()
    assert (process.returncode, jobs.snapshot(tmp_path / "out")) == (0, want)


def test_resuming_what_is_done_says_so(likewise, tmp_path):
    jobs.texts(tmp_path)
    assert likewise("dedup", "a.jsonl", "-o", "out")[0] == 0
    status, said = likewise("dedup", "a.jsonl", "-o", "out", "--resume")
    assert (status, "the folder exists, and there is no interrupted run in out.work to go on with" in said) == (2, True)


def test_what_an_interrupted_run_left_is_no_input(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish_staged", failing(errno.EIO, "out"))
        assert likewise("dedup", ".", "-o", "out")[0] == 2
    assert (tmp_path / "out.work/staged/kept/a.jsonl").exists()
    assert likewise("dedup", ".", "-o", "other")[0] == 0
    assert sorted(path.name for path in (tmp_path / "other/kept").iterdir()) == ["a.jsonl", "b.jsonl.gz"]


# --- clocks, seeds, names


def test_a_clock_that_jumps(likewise, tmp_path, monkeypatch):
    """Files of the future and of before 1970, and a clock that goes back during the run, change no byte and no rate."""
    jobs.texts(tmp_path)
    likewise("dedup", "a.jsonl", "-o", "out", *TEXTS)
    for when in (-1e6, 4e9):
        os.utime(tmp_path / "a.jsonl", (when, when))
        with monkeypatch.context() as patch:
            ticks = iter(range(10**6, 0, -1000))
            patch.setattr(time, "time", lambda ticks=ticks: float(next(ticks)))
            status, said = likewise("dedup", "a.jsonl", "-o", f"out {when}", *TEXTS)
        assert (status, "-" in said.partition("\n")[0]) == (0, False), said
        assert jobs.snapshot(tmp_path / f"out {when}") == jobs.snapshot(tmp_path / "out")
        run = json.loads((tmp_path / f"out {when}/run.json").read_text())
        assert min(run["seconds"].values()) >= 0


NAMES = [b"with a space", b"two\nlines", b"not \xff\xfe utf-8", b"-o", b"it's", b"tab\t", "\u202ereversed".encode(), b"n" * 240]


@pytest.mark.parametrize("name", NAMES)
def test_names_of_any_bytes(likewise, tmp_path, monkeypatch, name):
    """Inputs, the output, and the command that a message says to go on with, as a shell reads it."""
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    (folder / os.fsdecode(name + b".jsonl")).write_bytes(jobs.lines(jobs.rows(1, 30)))
    (folder / os.fsdecode(name + b".txt")).write_text("a text")
    out = folder / os.fsdecode(name)
    arguments = ["dedup", "--output", "copy", "--threshold", "0.7", "-o", str(out), "--", os.fsdecode(name)]
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish_staged", failing(errno.EIO, "out"))
        status, said = likewise(*arguments)
    assert status == 2
    typed = said.splitlines()[-1].partition("go on with: likewise ")[2]
    read = subprocess.run(["bash", "-c", f"printf '%s\\0' {typed}"], capture_output=True).stdout
    again = [os.fsdecode(argument) for argument in read.split(b"\0")[:-1]]
    assert again == [*arguments[:-2], "--resume", *arguments[-2:]]
    assert likewise(*again)[0] == 0
    assert {path.name for path in (out / "kept").iterdir()} == {os.fsdecode(name + b".jsonl"), os.fsdecode(name + b".txt")}


def test_a_name_that_is_too_long_is_said(likewise, tmp_path):
    jobs.texts(tmp_path)
    status, said = likewise("dedup", "a.jsonl", "-o", "n" * 252)
    assert (status, "File name too long; name another place, with a shorter name" in said) == (2, True)


def test_a_drawn_seed_is_gone_on_with(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(outputs, "publish_staged", failing(errno.EIO, "out"))
        _, said = likewise("dedup", "a.jsonl", "-o", "out", "--seed", "random")
    assert likewise(*go_on(said))[0] == 0
    seed = json.loads((tmp_path / "out/manifest.json").read_text())["method"]["seed"]
    assert go_on(said)[-2:] == ["--seed", str(seed)]


def test_an_interrupted_demo_can_be_begun_again(likewise, tmp_path, monkeypatch):
    from likewise.cli import demo

    monkeypatch.setattr(demo, "gathered", lambda: iter([("a", "one two three four five six"), ("b", "one two three four five six")]))
    with monkeypatch.context() as patch:
        patch.setattr(pipeline, "decide", failing(errno.EIO, "x"))
        assert likewise("demo")[0] == 2
    assert likewise("demo")[0] == 0


# --- memory


def limited(megabytes: int, *arguments: object) -> subprocess.CompletedProcess[str]:
    size = megabytes * 2**20
    two_cores = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # numpy's library takes address space by the core
    return command(*arguments, env=two_cores, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))


@pytest.mark.skipif(sys.platform != "linux", reason="address space is limited on Linux only")
def test_with_less_and_less_memory_a_run_ends_in_words_and_goes_on_with_more(tmp_path, corpus):
    """Where a library of the system or of C++ is the one that gets none, it ends the process itself, and says why."""
    given, want = corpus
    for megabytes in (250, 450, 550, 650, 750, 4000):
        more = ["--resume"] if (tmp_path / "out.work/work.json").exists() else []
        done = limited(megabytes, "dedup", given, "-o", tmp_path / "out", "--threads", "2", *more)
        if done.returncode == 0:
            break
        said = "out of memory; give less with --memory and --threads" if done.returncode == 2 else "(?i)memory|bad_alloc"
        assert re.search(said, done.stderr) or done.returncode == -signal.SIGSEGV, (megabytes, done.stderr)  # LLVM looks at no result
        assert ("Traceback" in done.stderr, (tmp_path / "out").exists()) == (False, False), (megabytes, done.stderr)
    assert (done.returncode, megabytes > 250) == (0, True)
    assert jobs.snapshot(tmp_path / "out") == want


MEMORY_CGROUPS = [Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")]


def test_killed_for_memory_a_run_goes_on(tmp_path, corpus):
    """A real cgroup where one may be made: what the kernel kills, it kills as any kill; `test_drawn_faults` stands for it elsewhere."""
    given, want = corpus
    names = {"memory.limit_in_bytes": "cgroup.procs", "memory.max": "cgroup.procs"}
    for root in MEMORY_CGROUPS:
        group = root / f"likewise-faults-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        limit = next((group / name for name in names if (group / name).exists()), None)
        if limit is not None:
            break
        group.rmdir()
    else:
        pytest.skip("no cgroup can be made here")
    try:
        limit.write_text(str(170 * 2**20))
        run = ["sh", "-c", f"echo $$ > {group}/cgroup.procs && exec {shlex.join([*LIKEWISE, 'dedup', str(given), '-o', str(tmp_path / 'out')])}"]
        done = subprocess.run(run, capture_output=True, text=True)
    finally:
        group.rmdir()
    assert (done.returncode, (tmp_path / "out").exists()) in ((-signal.SIGKILL, False), (2, False)), done.stderr
    more = ["--resume"] if (tmp_path / "out.work/work.json").exists() else []
    assert command("dedup", given, "-o", tmp_path / "out", *more).returncode == 0
    assert jobs.snapshot(tmp_path / "out") == want


@pytest.mark.parametrize("unified", [False, True])
def test_the_limits_of_all_cgroups_above_count(tmp_path, monkeypatch, unified):
    """As under systemd, where the limit of a service is in a folder of its own and the root has none."""
    lines = ["0::/a.slice/b.scope"] if unified else ["4:memory:/a.slice/b.scope", "3:cpu,cpuacct:/a.slice"]
    root = tmp_path if unified else tmp_path / "memory"
    (root / "a.slice/b.scope").mkdir(parents=True)
    name = "memory.max" if unified else "memory.limit_in_bytes"
    (root / "a.slice" / name).write_text("3000\n")
    (root / "a.slice/b.scope" / name).write_text("max\n" if unified else "9223372036854771712\n")
    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", lambda self, *args: "\n".join(lines) if str(self) == "/proc/self/cgroup" else read(self, *args))
    found = list(local.limits("memory", ("memory.max",), ("memory.limit_in_bytes",), tmp_path))
    assert min(found) == (3000,)


def test_threads_that_cannot_be_had_are_a_lack_of_memory(likewise, tmp_path, monkeypatch):
    jobs.texts(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("threading.Thread.start", lambda _: (_ for _ in ()).throw(RuntimeError("can't start new thread")))
        status, said = likewise("dedup", "a.jsonl", "-o", "out", "--threads", "2")
    assert (status, "out of memory; give less with --memory and --threads" in said) == (2, True)
    assert likewise(*go_on(said))[0] == 0
