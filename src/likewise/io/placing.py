"""Outputs get their names only once they are complete, replace nothing without --overwrite, and are never written through a link.

A file or folder is created under a random name next to its target, so that nobody can prepare that name, and then renamed. Without ``overwrite`` the
name must still be free: a file that appeared during the run is kept. With it, the new one keeps the permissions of the old one.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import stat
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from likewise.errors import UsageError, naming
from likewise.io import disk, upload
from likewise.io.address import Address
from likewise.io.manifest import check_output
from likewise.messages import option

#: Characters of an output's name at the beginning of its temporary name: the system limits the length of names.
SHOWN = 40
#: Random bytes of a temporary name.
RANDOM = 8


def named(target: Path, flag: str) -> str:
    """The target with the flag that names it; without one, it is the argument ``out``."""
    return f"{flag} {target}" if flag else option("out", target)


def check_file(target: Path, *, overwrite: bool, formats: Sequence[str] = (), flag: str = "") -> None:
    """Raise UsageError, before any work, for a path where no file can be put. formats: allowed extensions; empty for any."""
    if formats and target.suffix.lower() not in formats:
        names = " or ".join(filter(None, (", ".join(formats[:-1]), formats[-1])))
        raise UsageError(f"{named(target, flag)}: the extension selects the format; use {names}")
    refuse_others(target, flag)
    if isinstance(target, Path) and not target.parent.is_dir():
        raise UsageError(f"{named(target, flag)}: the folder {target.parent} does not exist; create it first")
    if target.exists() and not overwrite:
        raise UsageError(f"{named(target, flag)}: the file exists; {option('overwrite')} replaces it once the new one is complete")


def refuse_others(target: Path, flag: str) -> None:
    """Raise UsageError for a path of anything other than a plain file."""
    if isinstance(target, Address):
        upload.check_scheme(target, named(target, flag))
    if target.is_symlink():
        raise UsageError(f"{named(target, flag)}: this is a link; likewise neither follows nor replaces links, so name the file itself")
    if target.is_dir():
        raise UsageError(f"{named(target, flag)}: this is a folder; name a file")
    if target.exists() and not target.is_file():
        raise UsageError(f"{named(target, flag)}: this is not a plain file; choose another path")


def apart(target: Path, files: Iterable[tuple[str, Path]], flag: str = "") -> None:
    """Raise UsageError if the target is an input under any name: it may be the only copy. files: names and paths of inputs."""
    if target.exists():
        for name, path in files:
            if same(path, target):
                raise UsageError(f"{named(target, flag)}: this file is an input ({name}), and likewise never writes to an input; choose another path")


def same(path: Path, target: Path) -> bool:
    """True if two paths name the same file. The target exists."""
    if isinstance(path, Address) or isinstance(target, Address):
        return path == target
    return path.exists() and path.samefile(target)


@contextmanager
def new_file(target: Path, *, overwrite: bool, flag: str = "") -> Iterator[BinaryIO]:
    """A binary file to write. It gets its name, forced to the disk, if the block ends without an exception; otherwise it is deleted.

    Raises UsageError for a link or a folder, and if a file has appeared meanwhile that may not be replaced; the new file is then kept next to it.
    """
    refuse_others(target, flag)
    if isinstance(target, Address):
        with upload.new_object(target) as file:
            yield file
            if not overwrite and target.anew().exists():
                raise UsageError(f"{named(target, flag)}: this file appeared during the run and was not replaced")
        return
    old = target.stat() if overwrite and target.exists() else None
    part = beside(target)
    file = os.fdopen(created(part, target, 0o666 if old is None else 0o600), "wb")
    try:
        with naming(target), file:
            yield file
            file.flush()
            if old is not None:
                disk.keep_permissions(old, part)
            disk.force_open(file.fileno(), target)
        if overwrite:
            refuse_others(target, flag)
            part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    if not overwrite:
        put_new(part, target, flag)
    disk.force_file(target.parent)


def put_new(part: Path, target: Path, flag: str) -> None:
    """Rename a new file to a free name. Raises UsageError if it is taken; the new file is then kept."""
    try:
        disk.rename_new(part, target)
    except FileExistsError as error:
        raise UsageError(f"{named(target, flag)}: this file appeared during the run and was not replaced; the result is in {part}") from error
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def beside(target: Path) -> Path:
    """A random name in the same folder, which nobody can guess."""
    return target.with_name(f".{target.stem[:SHOWN]}.{os.urandom(RANDOM).hex()}{target.suffix[:SHOWN]}")


def created(path: Path, target: Path, mode: int) -> int:
    """A new file, open for writing. Errors name ``target``, which the user knows."""
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0), mode)
    except OSError as error:
        error.filename = str(target)
        raise


def name_beside(out: Path) -> str:
    """A random name for a copy of a folder that will become ``out``."""
    return f".{out.name[:SHOWN]}.{os.urandom(RANDOM).hex()}"


def publish(staged: Path, out: Path, name: str, *, overwrite: bool) -> None:
    """Move the complete folder into its place. An old one is exchanged for it in one step if the system supports that, and is kept if anything fails.

    name: of the copy next to ``out`` that is made if ``staged`` is on another disk. If an old output is replaced, the new one is forced to the disk
    before it gets its name, and the name before the old one is deleted. A first output is left to the system to write in its time, as other programs
    do: forcing gigabytes to a disk may take as long as all the rest, and a lost output can be made again. Raises UsageError or OSError if something
    that must not be replaced has appeared there meanwhile.
    """
    if isinstance(out, Address):
        upload.publish(staged, out)
        return
    out = out.absolute()
    replacing = out.exists()
    if replacing:
        disk.force(staged)
    try:
        place(staged, out, overwrite=overwrite)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        near = out.with_name(name)  # --work is on another disk, and only a folder next to ``out`` can be renamed
        try:
            copy(staged, near)
            if replacing:
                disk.force(near)
            place(near, out, overwrite=overwrite)
        finally:
            sweep(out, name)


def sweep(out: Path, name: str) -> None:
    """Remove the copy named ``name`` that a run left next to its output if it was stopped while it moved the output into place."""
    if isinstance(out, Address):
        upload.sweep(out)
        return
    if not re.fullmatch(re.escape(f".{out.name[:SHOWN]}.") + "[0-9a-f]+", name):  # a journal that was not written by likewise
        return
    near = out.absolute().with_name(name)
    shutil.rmtree(near, ignore_errors=True)
    if out.exists():  # otherwise this is the only copy of the old one
        shutil.rmtree(replaced(near), ignore_errors=True)


def copy(folder: Path, to: Path) -> None:
    """Copy a folder, with its permissions."""
    to.mkdir(mode=0o700)
    for path in sorted(folder.rglob("*")):
        target = to / path.relative_to(folder)
        with naming(target):
            target.mkdir() if path.is_dir() else shutil.copyfile(path, target)
    to.chmod(stat.S_IMODE(folder.stat().st_mode))


def replaced(staged: Path) -> Path:
    """The name of the old output before it is deleted."""
    return staged.with_name(f"{staged.name}.replaced")


def place(staged: Path, out: Path, *, overwrite: bool) -> None:
    """Move a folder into its place in one step, or raise an exception and change nothing. Without ``overwrite`` only an empty folder is replaced."""
    if out.is_dir() and not out.is_symlink():
        keep_permissions(out, staged)
    if not out.exists() or not overwrite:
        staged.rename(out)  # the system refuses to replace a folder that is not empty
        return
    old = replaced(staged)
    shutil.rmtree(old, ignore_errors=True)
    if disk.exchange(staged, out):
        try:
            check_output(staged, out)  # checked again: now nobody can put a file into it
        except BaseException:
            disk.exchange(staged, out)
            raise
        disk.force_file(out.parent)
        staged.rename(old)
    else:
        out.rename(old)
        try:
            check_output(old, out)
            staged.rename(out)
        except BaseException:
            old.rename(out)
            raise
        disk.force_file(out.parent)
    shutil.rmtree(old, ignore_errors=True)


def keep_permissions(old: Path, new: Path) -> None:
    """Give a folder, and the files and folders in it, the permissions of those with the same names in the folder that it replaces."""
    with os.scandir(new) as entries:
        for entry in entries:
            try:
                found = (old / entry.name).lstat()
            except OSError:  # no such name in the old folder
                continue
            if entry.is_dir(follow_symlinks=False):
                if stat.S_ISDIR(found.st_mode):
                    keep_permissions(old / entry.name, Path(entry.path))
            elif stat.S_ISREG(found.st_mode):
                disk.keep_permissions(found, Path(entry.path))
    disk.keep_permissions(old.stat(), new)
