"""File system calls that Python lacks, or that not every file system supports: forced writes, renames that replace nothing, exchanges."""

from __future__ import annotations

import ctypes
import errno
import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import Any

from likewise.errors import naming

AT_FDCWD, RENAME_NOREPLACE, RENAME_EXCHANGE = -100, 1, 2
#: Errors of a file system that does not support a call at all.
UNABLE = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP)
#: Errors of a file system without hard links or without permissions, such as FAT.
WITHOUT = (*UNABLE, errno.EPERM, errno.EMLINK)
#: Maximum number of files of an output that are forced to the disk one by one.
FEW = 50


def force(folder: Path) -> None:
    """Force a folder and everything in it to the disk. One call for the file system replaces many small ones, which are slow."""
    paths = [*folder.rglob("*"), folder]
    if len(paths) <= FEW or not force_all(folder):
        for path in paths:
            force_file(path)


def make_folders(folder: Path) -> None:
    """Make a folder and those above it that are missing, and force their names to the disk."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for path in missing:
        force_file(path.parent)


def force_file(path: Path) -> None:
    """Force a file, or the names in a folder, to the disk, where the system supports it."""
    if os.name == "nt":
        return
    file = os.open(path, os.O_RDONLY)
    try:
        force_open(file, path)
    finally:
        os.close(file)


def force_open(file: int, path: Path) -> None:
    """Force an open file to the disk, where the system supports it; ``path`` is its name, for the message."""
    try:
        with naming(path):
            os.fsync(file)
    except OSError as error:
        if error.errno not in UNABLE:
            raise


def force_all(folder: Path) -> bool:
    """Force everything that a folder's file system has in memory to the disk (Linux: syncfs); False where that is not possible."""
    sync = system_call("syncfs")
    if sync is None:
        return False
    file = os.open(folder, os.O_RDONLY)
    try:
        return called(sync(file), folder)
    finally:
        os.close(file)


def exchange(a: Path, b: Path) -> bool:
    """Swap two folders atomically (Linux: renameat2); False where that is not possible."""
    return renamed(a, b, RENAME_EXCHANGE)


def rename_new(a: Path, b: Path) -> None:
    """Rename a file to a free name. Raises FileExistsError, and changes nothing, if it is taken."""
    if renamed(a, b, RENAME_NOREPLACE):
        return
    if os.name == "nt":
        a.rename(b)  # which never replaces a file on Windows
        return
    try:
        os.link(a, b, follow_symlinks=False)
    except OSError as error:
        if error.errno not in WITHOUT:
            raise
        os.close(os.open(b, os.O_WRONLY | os.O_CREAT | os.O_EXCL))  # from here on the name is reserved
        try:
            a.replace(b)
        except BaseException:
            b.unlink(missing_ok=True)
            raise
    else:
        a.unlink()


def renamed(a: Path, b: Path, how: int) -> bool:
    """Call renameat2 with a flag; False where the system or the file system has no such call."""
    rename = system_call("renameat2")
    return rename is not None and called(rename(AT_FDCWD, os.fsencode(a), AT_FDCWD, os.fsencode(b), how), b)


def keep_permissions(old: os.stat_result, new: Path) -> None:
    """Give a file or folder the group, owner and mode of the one that it replaces, as far as the system permits.

    If the group cannot be kept, the new group gets no access: it may be a wider one.
    """
    now = new.lstat()
    if (now.st_uid, now.st_gid) != (old.st_uid, old.st_gid) and hasattr(os, "chown"):
        for owner, group in ((-1, old.st_gid), (old.st_uid, -1)):
            if (now.st_uid if group == -1 else now.st_gid) != max(owner, group):
                with suppress(OSError):
                    os.chown(new, owner, group, follow_symlinks=False)
        now = new.lstat()
    mode = stat.S_IMODE(old.st_mode)
    if now.st_gid != old.st_gid:
        mode &= ~0o070
    if mode != stat.S_IMODE(now.st_mode):
        try:
            new.chmod(mode)
        except OSError as error:
            if error.errno not in WITHOUT:
                raise


def system_call(name: str) -> Any:
    """A function of the C library that Python does not offer; None if it does not exist."""
    try:
        return getattr(ctypes.CDLL(None, use_errno=True), name)
    except (OSError, TypeError, AttributeError):
        return None


def called(result: int, path: Path) -> bool:
    """True if the C library and the file system support a call. Raises OSError if it failed for another reason."""
    number = ctypes.get_errno()
    if result != 0 and number not in UNABLE:
        raise OSError(number, os.strerror(number), str(path))
    return result == 0
