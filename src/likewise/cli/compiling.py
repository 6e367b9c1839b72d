"""Compiles kernels ahead of their first use: python -m likewise.cli.compiling [OUT --level LEVEL]

Kernels are compiled for the types of their arguments. So small jobs of every verb, data type and format (`common_jobs.JOBS`) are run, side by side
in child processes; the kernels that they call are compiled and stored.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from likewise.cli.common_jobs import JOBS
from likewise.engines.threads import usable_cores
from likewise.kernels import levels, notice, store

#: A file in a folder that has the kernels of all jobs.
ALL = "all"


def build(out: Path | None = None, level: str | None = None, jobs: Sequence[str] = (), workers: int | None = None) -> int:
    """Compile all kernels that ``jobs``, names of `JOBS`, call; by default those of all jobs. Returns the number of stored versions.

    Without ``out`` they are compiled for this machine and stored in the user's cache, where those that it already holds are kept. With ``out``, a
    folder, and ``level``, a key of `kernels.levels.LEVELS`, they are stored in out/LEVEL-EDITION: an installed package reads from
    ``likewise/kernels/compiled``, which is `kernels.store.AHEAD`.

    ``workers``: the number of processes, by default one for each core; each needs half a gigabyte. Raises RuntimeError if a job fails, or for a level
    that this machine cannot run.
    """
    if level is not None and level not in levels.here():
        raise RuntimeError(f"this machine cannot run code of level {level}")
    with tempfile.TemporaryDirectory(prefix="likewise-compiling-") as made:
        folder = Path(made)
        environment = dict(os.environ)
        if level is not None:
            processor = {"NUMBA_CPU_NAME": levels.PROCESSORS[level], "NUMBA_CPU_FEATURES": ""}
            environment |= {**processor, "NUMBA_CACHE_DIR": str(folder / "store")}
        for name in jobs or JOBS:
            (folder / name).mkdir()
        command = [sys.executable, "-I" if sys.flags.isolated else "-P", "-m", "likewise.cli.compiling", "--jobs-in", made]
        count = min(workers or usable_cores(), len(jobs or JOBS))
        processes = [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(count)]  # noqa: S603 - this program
        try:
            failed = [process.wait() for process in processes]
        finally:
            for process in processes:
                process.kill()
        if any(failed):
            raise RuntimeError("kernels could not be compiled ahead; see the messages above")
        if level is None or out is None:
            kept = store.cache()
            return 0 if kept is None else len(list(kept.glob(f"*{store.SUFFIX}")))
        target = out / f"{level}-{store.edition(level)}"
        target.mkdir(parents=True, exist_ok=True)
        stored = list((folder / "store").glob(f"*/*{store.SUFFIX}"))
        for path in stored:
            shutil.copyfile(path, target / path.name)
        if not jobs:
            (target / ALL).touch()
        return len(stored)


def work(folder: Path) -> None:
    """Run the jobs that have a folder, each of which one process takes."""
    notice.listen(lambda: None, lambda seconds: None)
    for name, job in JOBS.items():
        try:
            (folder / name).rename(folder / f"{name}-taken")
        except OSError:  # not wanted, or taken by another process
            continue
        job(folder / f"{name}-taken")


def main(*args: str) -> None:
    parser = argparse.ArgumentParser(prog="python -m likewise.cli.compiling", description="Compile kernels ahead of their first use.")
    parser.add_argument("out", nargs="?", type=Path, metavar="OUT", help="the folder for stored kernels; default: the user's cache")
    parser.add_argument("--level", choices=levels.LEVELS, help="the level of processors to compile for; default: this machine")
    parser.add_argument("--jobs", nargs="*", choices=JOBS, default=(), help="the jobs whose kernels are compiled; default: all")
    parser.add_argument("--workers", type=int, help="the number of processes; default: one for each core")
    parser.add_argument("--jobs-in", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args(args or None)
    if given.jobs_in:
        work(given.jobs_in)
    elif (given.out is None) != (given.level is None):
        parser.error("OUT and --level go together")
    else:
        print(build(given.out, given.level, given.jobs, given.workers), "kernels")


if __name__ == "__main__":
    main()
