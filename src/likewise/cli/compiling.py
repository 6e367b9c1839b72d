"""Compiles kernels ahead of their first use: python -m likewise.cli.compiling [OUT --level LEVEL]

Kernels are compiled for the types of their arguments. So small jobs of every verb, data type and format (`common_jobs.JOBS`) are run, side by side
in child processes; the kernels that they call are compiled and stored.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterable, Sequence
from pathlib import Path

from likewise.cli.common_jobs import JOBS, LIBRARIES
from likewise.compiled import levels, store
from likewise.compiled.notice import NOTICE, say
from likewise.engines.threads import usable_cores

#: A file beside stored kernels that names the jobs whose kernels are all there, one a line.
FINISHED = "jobs"


def build(out: Path | None = None, level: str | None = None, jobs: Sequence[str] = (), workers: int | None = None) -> int:
    """Compile all kernels that ``jobs``, names of `JOBS`, call; by default those of all jobs. Returns the number of stored versions.

    Without ``out`` they are compiled for this machine and stored in the user's cache, where those that it already holds are kept. With ``out``, a
    folder, and ``level``, a key of `compiled.levels.LEVELS`, they are stored in out/LEVEL-EDITION, beside those that it already holds: an installed
    package reads from ``likewise/compiled/ahead``, which is `compiled.store.AHEAD`.

    ``workers``: the number of processes, by default one for each core; each needs half a gigabyte. A job that needs an optional library which is not
    installed is skipped, with a message. Raises RuntimeError for a level that this machine cannot run, and if a job fails, after the kernels that
    were compiled are stored.
    """
    if level is not None and level not in levels.here():
        raise RuntimeError(f"this machine cannot run code of level {level}")
    names = runnable(jobs or JOBS)
    with tempfile.TemporaryDirectory(prefix="likewise-compiling-") as made:
        folder = Path(made)
        environment = dict(os.environ)
        if level is not None:
            processor = {"NUMBA_CPU_NAME": levels.PROCESSORS[level], "NUMBA_CPU_FEATURES": ""}
            environment |= {**processor, "NUMBA_CACHE_DIR": str(folder / "store")}
        finished = run(names, folder, environment, min(workers or usable_cores(), len(names)))
        if level is None or out is None:
            kept = store.cache()
            number = 0 if kept is None else len(list(kept.glob(f"*{store.SUFFIX}")))
            if kept:
                note(kept, finished)
        else:
            number = add(folder / "store", out / f"{level}-{store.edition(level)}", finished)
    if failed := [name for name in names if name not in finished]:
        raise RuntimeError(f"not all kernels could be compiled: {', '.join(failed)} failed; see the messages above")
    return number


def runnable(names: Iterable[str]) -> list[str]:
    """The jobs whose libraries are installed; a message names each of the others."""
    found = []
    for name in names:
        library = LIBRARIES.get(name)
        if library and importlib.util.find_spec(library) is None:
            say(f"skipped the kernels of {name}, because {library} is not installed")
        else:
            found.append(name)
    return found


def run(names: list[str], folder: Path, environment: dict[str, str], count: int) -> list[str]:
    """Run jobs in ``count`` child processes; the names of those that succeeded."""
    for name in names:
        (folder / name).mkdir()
    command = [sys.executable, "-I" if sys.flags.isolated else "-P", "-m", "likewise.cli.compiling", "--jobs-in", str(folder)]
    processes = [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) for _ in range(count)]  # noqa: S603 - this program
    try:
        for process in processes:
            process.wait()
    finally:
        for process in processes:
            process.kill()
    return [name for name in names if (folder / f"{name}-finished").exists()]


def add(made: Path, target: Path, finished: list[str]) -> int:
    """Copy kernels into a folder, and note the jobs that they are from; the number of kernels."""
    stored = list(made.glob(f"*/*{store.SUFFIX}"))
    if stored:
        target.mkdir(parents=True, exist_ok=True)
        for path in stored:
            shutil.copyfile(path, target / path.name)
        note(target, finished)
    return len(stored)


def note(folder: Path, finished: list[str]) -> None:
    """Note in a folder that it has the kernels of these jobs, too."""
    (folder / FINISHED).write_text("".join(f"{name}\n" for name in sorted({*finished, *finished_in(folder)})))


def finished_in(folder: Path) -> list[str]:
    """The jobs whose kernels a folder has."""
    try:
        return (folder / FINISHED).read_text().split()
    except OSError:
        return []


def is_complete(folder: Path) -> bool:
    """True if a folder has the kernels of all jobs that need no optional library."""
    return {*JOBS} - {*LIBRARIES} <= {*finished_in(folder)}


def work(folder: Path) -> None:
    """Run the jobs that have a folder, each of which one process takes."""
    NOTICE.listen(lambda: None, lambda seconds: None)
    for name, job in JOBS.items():
        taken = folder / f"{name}-taken"
        try:
            (folder / name).rename(taken)
        except OSError:  # not wanted, or taken by another process
            continue
        try:
            job(taken)
        except Exception:
            say(f"compiling the kernels of {name} failed:")
            traceback.print_exc()
        else:
            taken.rename(folder / f"{name}-finished")


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
        try:
            print(build(given.out, given.level, given.jobs, given.workers), "kernels")
        except RuntimeError as error:
            sys.exit(f"likewise: {error}")


if __name__ == "__main__":
    main()
