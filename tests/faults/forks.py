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
from typing import NamedTuple, NoReturn

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
#: The exit status of a fork that failed by a fault of this harness, or of likewise outside of what it catches.
ASTRAY = 98


class Ended(NamedTuple):
    """How a run ended."""

    status: int  # the exit status; of a killed one minus the signal
    said: str
    steps: list[str]  # as `Watch` noted them: of one that was killed, the last may not have been taken


class WrongError(AssertionError):
    """A guarantee is broken."""


def check(right: bool, message: str, ended: Ended | None = None) -> None:
    if not right:
        raise WrongError(f"{message}\n{ended.said if ended else ''}")


@dataclass
class Stage:
    """A job with its inputs, and what an undisturbed run of it gives.

    BASE/in has the inputs, BASE/told what runs say and which steps they take, BASE/ROUND the output and the work folder of a round.
    """

    name: str
    job: Job
    base: Path
    seconds: float = 0.0
    steps: list[str] = field(default_factory=list)
    reads: int = 0
    want: dict[str, bytes] = field(default_factory=dict)
    inputs: dict[str, bytes] = field(default_factory=dict)
    old: dict[str, bytes] = field(default_factory=dict)

    @property
    def given(self) -> Path:
        return self.base / "in"

    def command(self, round: Path) -> list[str]:
        given = "-" if self.job.stdin else str(self.given)
        work = ["--work", str(self.work(round))] if self.job.elsewhere else []
        return [self.job.verb, given, "-o", self.job.output, *(part.format(given=self.given) for part in self.job.arguments), *work]

    def work(self, round: Path) -> Path:
        return other_disk(self.base.parent) / f"{self.name}-{round.name}" if self.job.elsewhere else round / "out.work"

    def out(self, round: Path) -> dict[str, bytes]:
        return snapshot(round / self.job.output)

    def can_go_on(self, round: Path) -> bool:
        return (self.work(round) / "description.json").exists()

    def journal(self, round: Path) -> int:
        """How many whole lines the journal of an interrupted run has."""
        path = self.work(round) / "journal.jsonl"
        return path.read_bytes().count(b"\n") if path.exists() else 0

    def new_round(self, name: str) -> Path:
        """An empty folder for a run, or one with an old output in it, and a place for temporary files."""
        folder = self.base / name
        (folder / "temporary").mkdir(parents=True)
        if self.job.old and self.job.resumes:
            if not (self.base / "old").exists():
                likewise.dedup(["an earlier text", "another"], out=self.base / "old", threads=1)
            shutil.copytree(self.base / "old", folder / self.job.output)
        elif self.job.old:
            (folder / self.job.output).write_text("an earlier file")
        self.old = self.out(folder)
        return folder

    def remove(self, round: Path) -> None:
        for path in (round, self.work(round)):
            shutil.rmtree(path, ignore_errors=True)

    def run(self, arguments: list[str], round: Path, fault: Fault | None) -> Ended:
        """A command line in a fork of this process, in the folder of a round."""
        printed = self.base / "told"
        shutil.rmtree(printed, ignore_errors=True)
        printed.mkdir()
        for name in ("said", "steps"):
            (printed / name).touch()
        sys.stdout.flush()
        sys.stderr.flush()
        signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS.values())  # nothing strikes this module's own code in the fork
        pid = os.fork()
        if not pid:
            self._forked(arguments, round, fault, printed)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS.values())
        status = waited_for(pid, fault)
        return Ended(status, (printed / "said").read_text(errors="replace"), (printed / "steps").read_text(errors="replace").splitlines())

    def _forked(self, arguments: list[str], round: Path, fault: Fault | None, printed: Path) -> NoReturn:
        status = ASTRAY
        try:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.chdir(round)
            tempfile.tempdir = str(round / "temporary")
            said, steps = (os.open(printed / name, os.O_WRONLY | os.O_APPEND) for name in ("said", "steps"))
            os.dup2(os.open(self.given / "piped" if self.job.stdin else os.devnull, os.O_RDONLY), 0)
            os.dup2(said, 1)
            os.dup2(said, 2)
            sys.argv = ["likewise", *arguments]
            roots = [self.given] if fault and fault.reading else [round, self.work(round)]
            watch(roots, fault, lambda step: os.write(steps, os.fsencode(f"{step}\n")))
            signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS.values())
            try:
                command_line(arguments)
            except SystemExit as stop:
                ended = int(stop.code or 0)
            sys.stdout.flush()
            sys.stderr.flush()
            for thread in set(threading.enumerate()) - {threading.main_thread()}:
                thread.join(PATIENCE_SECONDS / 2)
                assert not thread.is_alive(), f"{thread} goes on"
            status = ended
        except BaseException:
            os.write(2, traceback.format_exc().encode())
        finally:
            os._exit(status)


def waited_for(pid: int, fault: Fault | None) -> int:
    """Wait for a run, and let a fault strike it that comes by the clock."""
    if fault and fault.after is not None:
        time.sleep(fault.after)
        os.kill(pid, SIGNALS[fault.what])
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGABRT)
        time.sleep(0.002)


def other_disk(base: Path) -> Path:
    """A folder of the same name on another file system, where there is such a one, and else beside."""
    for place in (Path("/dev/shm"), Path.home()):
        if os.access(place, os.W_OK) and place.stat().st_dev != base.parent.stat().st_dev:
            return place / base.name
    return base.with_name(f"{base.name}-elsewhere")


def small_chunks() -> None:
    for module in (batches, lines, npy, parquet, text):
        module.CHUNK_BYTES = SHORT_CHUNK  # type: ignore[attr-defined]


def prepare(name: str, base: Path) -> Stage:
    """The inputs of a job, and an undisturbed run in this very process, which loads and compiles all that its forks need."""
    stage = Stage(name, JOBS[name], base / name)
    stage.given.mkdir(parents=True)
    stage.job.make(stage.given)
    stage.inputs = snapshot(stage.given)
    warm = stage.new_round("warm")
    os.chdir(warm)
    if not stage.job.stdin:
        check(status_of(command_line, [*stage.command(warm), "-q", "--threads", "2"]) == 0, f"{name}: fails undisturbed")
    for again, nothing in {"reads": Fault("EIO", reading=True), "whole": None}.items():
        round = stage.new_round(again)
        began = time.monotonic()
        done = stage.run(stage.command(round), round, nothing)
        check(done.status == 0, f"{name}: fails undisturbed", done)
        if nothing:
            stage.reads = len(done.steps)
        else:
            stage.seconds, stage.steps = time.monotonic() - began, done.steps
        found = stage.out(round)
        check(stage.want in ({}, found) and found not in ({}, stage.old), f"{name}: two undisturbed runs differ", done)
        stage.want = found
    return stage
