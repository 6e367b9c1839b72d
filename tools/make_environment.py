"""Print the path of Python in an environment with the given requirements; build the environment if it is missing.

Called by tools/environment as ``make_environment.py BASE LINK REQUIREMENTS``. Environments are in ``.venv.d/``. The name of each is made from
everything that it depends on, so a complete environment never changes. It is never deleted either, because another process may use it. LINK
points to the environment that was used last; ``./run`` and ``./test`` do not depend on it.
"""

from __future__ import annotations

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - the Python of the user runs this file
    sys.exit(3)  # tools/environment looks for another one

import fcntl
import hashlib
import os
from pathlib import Path

#: Written into an environment when it is complete.
STAMP = ".installed"
#: The folder of all environments, in the project.
FOLDER = ".venv.d"
#: Jobs whose kernels are compiled ahead (likewise.cli.common_jobs.JOBS).
JOBS = ("documents", "formats")


def main(base: str, link: str, requirements: str) -> str:
    """The path of Python in the environment. base: the command of this Python. The other names are relative to the project."""
    root = Path.cwd()
    key = key_of(root, link, (root / requirements).read_bytes())
    folder = root / FOLDER / f"{key}-{os.getuid()}"
    for other in (folder, *sorted(folder.parent.glob(f"{key}-*"))):  # an environment of another user serves as well
        if is_complete(other):
            folder = other
            break
    else:
        build(base, folder, root / requirements, root / "src", link)
        report_others(folder, root / link)
    point(root / link, folder)
    return str(folder / "bin" / "python")


def key_of(root: Path, link: str, requirements: bytes) -> str:
    """A name made from everything that an environment depends on: requirements, Python, system, and its path, which its scripts contain."""
    python = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    system = os.uname()
    parts = [sys.version, python, system.sysname, system.machine, str(root)]
    digest = hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape") + b"\0" + requirements).hexdigest()
    return f"{link.lstrip('.')}-{sys.version_info[0]}.{sys.version_info[1]}-{digest[:12]}"


def is_complete(folder: Path) -> bool:
    """True for an environment that this user can run."""
    return os.access(folder / STAMP, os.R_OK) and os.access(folder / "bin" / "python", os.X_OK)


def build(base: str, folder: Path, requirements: Path, source: Path, link: str) -> None:
    """Build the environment, one process at a time. It is built in place, because its scripts contain the path.

    A folder without a stamp is left from a killed build and is removed. Child processes inherit the lock: nobody removes the folder while a pip whose
    parent was killed still writes to it. Raises StepError.
    """
    folder.parent.mkdir(exist_ok=True)
    with open(folder.with_name(folder.name + ".lock"), "w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"another process is setting up {folder}; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        if is_complete(folder):
            return
        say(f"setting up {link} (once, about two minutes)")
        if folder.exists():
            import shutil

            shutil.rmtree(folder)
        # Debian's Python cannot put pip into the environment. The pip outside may install into it, even if the system manages that Python.
        command(lock.fileno(), base, "-I", "-m", "venv", "--without-pip", str(folder))
        python = folder / "bin" / "python"
        quiet = ("--quiet", "--disable-pip-version-check", "--no-input")
        only = ("--only-binary", ":all:", "--require-hashes")
        command(lock.fileno(), base, "-P", "-m", "pip", "--python", str(python), "install", *quiet, *only, "-r", str(requirements))
        (site,) = folder.glob("lib/python3*/site-packages")
        (site / "likewise.pth").write_text(f"{source}\n")
        part = folder / f"{STAMP}.part"
        part.write_text(f"{sys.version}\n")
        part.replace(folder / STAMP)
        compile_ahead(lock.fileno(), python)


def compile_ahead(lock: int, python: Path) -> None:
    """Compile the kernels of documents, on all cores, and store them where likewise looks for them. Without them, the first run compiles its own."""
    import subprocess
    import time

    since = time.monotonic()
    command = [str(python), "-I", "-m", "likewise.cli.compiling", "--jobs", *JOBS]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, pass_fds=(lock,), check=False, text=True)
    if done.returncode == 0:
        say(f"compiled {done.stdout.strip()} for this machine in {time.monotonic() - since:.0f} s")
    else:
        say("kernels could not be compiled ahead; they are compiled when they are first used")


def command(lock: int, *arguments: str) -> None:
    """Run one step of the build, with its output on standard error. Raises StepError if it fails."""
    import subprocess

    done = subprocess.run(arguments, stdin=subprocess.DEVNULL, stdout=sys.stderr, pass_fds=(lock,), check=False)
    if done.returncode != 0:
        raise StepError(f"{' '.join(arguments[:4])} ended with status {done.returncode}; see the lines above, and try again")


class StepError(Exception):
    """A step of the build failed."""


def report_others(folder: Path, link: Path) -> None:
    """Report folders that may no longer be needed. They stay, because another process may use them."""
    if link.is_dir() and not link.is_symlink():
        say(f"{link} is a folder, not a link to {folder}, so it is not used. Delete or rename it, and the next run makes the link")
    others = [other for other in folder.parent.glob(f"{folder.name.partition('-')[0]}*/{STAMP}") if other.parent != folder]
    if others:
        say(f"{folder.parent} also holds older environments ({len(others)}); delete those that no process uses")


def point(link: Path, folder: Path) -> None:
    """Point the link to the environment, in one step. A folder of that name, or a link to another place, belongs to the user and is kept."""
    import contextlib

    target = f"{FOLDER}/{folder.name}"
    with contextlib.suppress(OSError):
        if os.path.lexists(link) and (not link.is_symlink() or (found := os.readlink(link)) == target or not found.startswith(f"{FOLDER}/")):
            return
        part = folder.with_name(f"{folder.name}.{os.getpid()}.link")
        part.unlink(missing_ok=True)
        part.symlink_to(target)
        part.replace(link)


def say(text: str) -> None:
    """Print a line on standard error."""
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    try:
        print(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except PermissionError as error:
        say(f"the environment of likewise cannot be set up: {error}; copy the project to a folder of your own, and run it there")
        sys.exit(2)
    except (StepError, OSError) as error:
        say(f"the environment of likewise cannot be set up: {error}")
        sys.exit(2)
