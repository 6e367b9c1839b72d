"""Runs in forks of this process, which has loaded and compiled all that they need: a tenth of a second each, watched from their first step."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # threads do not outlive a fork

from jobs import JOBS, Job, snapshot
from points import SIGNALS, Fault, watch

import likewise
from likewise.cli.main import main as command_line
from likewise.cli.main import status_of
from likewise.io import batches
from likewise.io.formats import lines, npy, parquet, text

SHORT_CHUNK = 3000  # bytes, so that small inputs have several
PATIENCE_SECONDS = 120


class Ended(NamedTuple):
    """How a run ended."""

    status: int  # the exit status; of a killed one minus the signal
    said: str
    steps: list[str]  # as `Watch` has them; none where it was killed


@dataclass
class Stage:
    """A job with its inputs, and what an undisturbed run of it gives."""

    name: str
    job: Job
    folder: Path
    seconds: float = 0.0
    steps: list[str] = field(default_factory=list)
    reads: int = 0
    want: dict[str, bytes] = field(default_factory=dict)
    inputs: dict[str, bytes] = field(default_factory=dict)
    old: dict[str, bytes] = field(default_factory=dict)

    def command(self, round: Path) -> list[str]:
        given = "-" if self.job.stdin else str(self.folder)
        work = ["--work", str(other_disk() / round.name)] if self.job.elsewhere else []
        return ["dedup", given, "-o", "out", *self.job.arguments, *work]

    def work(self, round: Path) -> Path:
        return other_disk() / round.name if self.job.elsewhere else round / "out.work"

    def can_go_on(self, round: Path) -> bool:
        return (self.work(round) / "work.json").exists()

    def roots(self, round: Path, fault: Fault | None) -> list[Path]:
        """Where steps are counted."""
        return [self.folder] if fault and fault.reading else [round, self.work(round)]

    def run(self, arguments: list[str], round: Path, fault: Fault | None) -> Ended:
        piped = self.folder / "piped" if self.job.stdin else None
        return ended(run(arguments, round, fault=fault, roots=self.roots(round, fault), stdin=piped), round, fault)


def other_disk() -> Path:
    """A folder on another file system than the temporary one, where there is such a one."""
    for place in (Path("/dev/shm"), Path.home()):
        if os.access(place, os.W_OK) and place.stat().st_dev != Path(tempfile.gettempdir()).stat().st_dev:
            return place / f"likewise-faults-{os.getuid()}"
    return Path(tempfile.gettempdir()) / "likewise-faults-elsewhere"


def small_chunks() -> None:
    for module in (batches, lines, npy, parquet, text):
        module.CHUNK_BYTES = SHORT_CHUNK  # type: ignore[attr-defined]


def run(arguments: list[str], folder: Path, *, fault: Fault | None, roots: list[Path], stdin: Path | None) -> int:
    """The command line in a fork of this process, in ``folder``; its process id."""
    sys.stdout.flush()
    sys.stderr.flush()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS.values())  # nothing strikes this module's own code in the fork
    if pid := os.fork():
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS.values())
        return pid
    try:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.chdir(folder)
        said = os.open(beside(folder, "said"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(os.open(stdin or os.devnull, os.O_RDONLY), 0)
        os.dup2(said, 1)
        os.dup2(said, 2)
        sys.argv = ["likewise", *arguments]
        watching = watch(roots, fault)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS.values())
        try:
            command_line(arguments)
        except SystemExit as stop:
            status = int(stop.code or 0)
        sys.stdout.flush()
        sys.stderr.flush()
        for thread in threading.enumerate():
            if thread is not threading.main_thread() and thread.is_alive():
                thread.join(PATIENCE_SECONDS / 10)
                if thread.is_alive():
                    print(f"Traceback: a thread goes on: {thread}", flush=True)
        with open(beside(folder, "steps"), "w") as file:
            file.write("\n".join(watching.steps))
    except BaseException:
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(98)
    os._exit(status)


def beside(folder: Path, what: str) -> Path:
    return folder.with_name(f"{folder.name}.{what}")


def ended(pid: int, folder: Path, fault: Fault | None = None) -> Ended:
    """Wait for a run, and let a fault strike it whose time has come."""
    if fault and fault.after is not None:
        time.sleep(fault.after)
        os.kill(pid, SIGNALS[fault.what])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGABRT)
        time.sleep(0.002)
    said, steps = beside(folder, "said"), beside(folder, "steps")
    taken = steps.read_text().splitlines() if steps.exists() else []
    found = Ended(os.waitstatus_to_exitcode(status), said.read_text(errors="replace") if said.exists() else "", taken)
    for path in (said, steps):
        path.unlink(missing_ok=True)
    return found


class WrongError(AssertionError):
    """A promise is broken."""


def check(right: bool, message: str, ended: Ended | None = None) -> None:
    if not right:
        raise WrongError(f"{message}\n{ended.said if ended else ''}")


def prepare(name: str, base: Path) -> Stage:
    """The inputs of a job, and an undisturbed run in this very process, which loads and compiles all that its forks need."""
    job = JOBS[name]
    stage = Stage(name, job, base / name / "in")
    stage.folder.mkdir(parents=True)
    job.make(stage.folder)
    stage.inputs = snapshot(stage.folder)
    warm = new_round(stage, base / name / "warm")
    command = stage.command(warm)
    os.chdir(warm)
    if not job.stdin:
        check(status_of(command_line, [*command, "-q", "--threads", "2"]) == 0, f"{name}: fails undisturbed")
    for again, nothing in {"whole": None, "reads": Fault("EIO", reading=True), "timed": None}.items():
        whole = new_round(stage, base / name / again)
        began = time.monotonic()
        done = stage.run(stage.command(whole), whole, nothing)
        check(done.status == 0, f"{name}: fails undisturbed", done)
        if nothing:
            stage.reads = len(done.steps)
        else:
            stage.seconds, stage.steps = time.monotonic() - began, done.steps
        found = snapshot(whole / "out")
        check(stage.want in ({}, found), f"{name}: two undisturbed runs differ")
        stage.want = found
    return stage


def new_round(stage: Stage, folder: Path) -> Path:
    """An empty folder for a run, or one with an old output in it."""
    folder.mkdir()
    if stage.job.old:
        if not stage.old:
            likewise.dedup(["an earlier text", "another"], out=folder / "out", threads=1)
            stage.old = snapshot(folder / "out")
            shutil.copytree(folder / "out", stage.folder.parent / "old")
        else:
            shutil.copytree(stage.folder.parent / "old", folder / "out")
    return folder
