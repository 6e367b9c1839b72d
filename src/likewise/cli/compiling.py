"""The first run on a machine compiles the kernels that it needs, and says so. The first ever shares that with a second process, where there is a
second core for it.

Compiled kernels are found on disk when they are wanted. The run itself begins with those that read and normalize; by the time that it comes to the
others, the second process has them.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np

from likewise.errors import UsageError

#: Memory that there must be for two processes.
ENOUGH = 4 * 2**30


def must_compile() -> bool:
    """Whether no kernel has been compiled for this machine yet, or none can be kept."""
    from likewise.kernels.jit import CACHE

    return CACHE is None or not any(CACHE.rglob("*.nbi"))


def share() -> None:
    """Start the second process, where it helps. It ends by itself, or with this one."""
    from likewise.engines.threads import usable_cores, usable_memory
    from likewise.kernels.jit import CACHE
    from likewise.runs.session import temporary_folder

    if CACHE is None or not sys.executable or usable_cores() < 2 or usable_memory() < ENOUGH:
        return
    with suppress(OSError, UsageError):  # then it is this process alone that compiles
        work = temporary_folder()
        atexit.register(shutil.rmtree, work, ignore_errors=True)  # what is killed leaves it
        command = [sys.executable, start(), "-m", __name__, str(work)]
        nothing = subprocess.DEVNULL
        process = subprocess.Popen(command, stdin=nothing, stdout=nothing, stderr=nothing)  # noqa: S603 - this program itself
        atexit.register(process.wait)  # the last that was registered is called first
        atexit.register(process.kill)


def start() -> str:
    """The flag for the second process. Neither way imports from the current folder; ``-I``, if this process has it, ignores PYTHONPATH as well."""
    return "-I" if sys.flags.isolated else "-P"


def as_they_are(data: np.ndarray, start: np.ndarray, length: np.ndarray, *_: object) -> tuple[np.ndarray, ...]:
    """kernels.text.normalize for texts of plain ASCII, with nothing to compile."""
    from likewise.kernels.text import SPARE

    return np.append(data, np.zeros(SPARE, np.uint8)), start, length, length.astype(np.uint32), np.zeros(len(length), bool)


def main(work: Path) -> None:
    """Take all steps of a small run but the first, in a work folder that is there."""
    import likewise
    from likewise.kernels import text

    text.normalize = as_they_are
    likewise.dedup([" ".join(map(str, range(first, 100))) for first in (0, 1)], work=work)  # alike, so that they are compared


if __name__ == "__main__":
    main(Path(sys.argv[1]))
