"""Ownership of a work folder: likewise owns it if its work.json says so. That file is created first and deleted last.

A folder with other things in it is refused. A user's own empty folder is used, and left empty at the end. One run at a time holds a folder, by a
lock on work.json that ends with the process. A folder that a killed run left before it had a description is used again.
"""

from __future__ import annotations

import json
import os
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from likewise.errors import FormatError, UsageError, naming
from likewise.messages import option

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
MARK, DESCRIPTION = "work.json", "description.json"
FORMAT, VERSION = "likewise/work", 1
#: Maximum bytes of a mark.
LONGEST = 1000
#: Attempts to hold a folder: it may be removed between being found and being locked, if the run that held it ends just then.
TRIES = 5
BINARY, NO_LINK = getattr(os, "O_BINARY", 0), getattr(os, "O_NOFOLLOW", 0)


class Claim:
    """A work folder that this process holds."""

    def __init__(self, folder: Path, file: int, made: bool):
        self.folder, self.made = folder, made  # made by likewise, which removes it at the end
        self._file = file
        self._unmarked = False

    def holds(self) -> bool:
        """True while the folder is still the one that was claimed."""
        try:
            return os.path.samestat(os.fstat(self._file), (self.folder / MARK).lstat())
        except OSError:  # missing, or no longer open
            return False

    def release(self, *, remove: bool) -> None:
        """Release the folder. ``remove``: delete its content, and the folder itself if likewise made it.

        May be called again after an interruption.
        """
        with suppress(OSError):  # the result is complete; files that cannot be deleted keep their mark, and the next run finds it
            if remove and self.holds() and empty(self.folder):
                if fcntl is None:
                    os.close(self._file)  # Windows cannot delete an open file
                (self.folder / MARK).unlink()
                self._unmarked = True
            if self._unmarked and self.made:
                self.folder.rmdir()  # unless it is a mount point, or another run has begun in it
        with suppress(OSError):
            os.close(self._file)
        self._file = -1


def take(folder: Path, *, made: bool = False) -> Claim:
    """Hold a folder, and create it if it is missing. ``made``: it exists, is empty, and was created for this run.

    Raises UsageError if it contains files that likewise did not make, or another run uses it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for _ in range(TRIES):
        with suppress(FileNotFoundError, FileExistsError):  # another run has just ended in it, or begun
            claim = tried(folder, made)
            if claim.holds():
                return claim
            claim.release(remove=False)
    raise in_use(folder)


def tried(folder: Path, made: bool) -> Claim:
    """One attempt of `take`. Raises FileNotFoundError or FileExistsError if another run has just ended or begun in the folder."""
    try:
        folder.mkdir(mode=0o700)  # it contains the user's data
        made = True
    except FileExistsError:
        if not folder.is_dir():
            raise UsageError(f"{option('work', folder)}: this is a file, but intermediate files need a folder; choose another path") from None
    if not any(folder.iterdir()):
        return Claim(folder, marked(folder, made), made)
    file = opened(folder)
    try:
        made = mark_in(file, folder)["made"]
        lock(file, folder)
    except BaseException:
        os.close(file)
        raise
    return Claim(folder, file, made)


def marked(folder: Path, made: bool) -> int:
    """Create the mark: locked and complete from the moment it has its name, if the system supports that. Raises FileExistsError."""
    text = json.dumps({"format": FORMAT, "version": VERSION, "made": made}).encode() + b"\n"
    if hasattr(os, "O_TMPFILE"):
        with suppress(OSError):  # not every file system supports files without a name
            return marked_at_once(folder, text)
    file = os.open(folder / MARK, os.O_RDWR | os.O_CREAT | os.O_EXCL | BINARY, 0o600)
    try:
        lock(file, folder)
        with naming(folder / MARK):
            os.write(file, text)
    except BaseException:
        os.close(file)
        (folder / MARK).unlink(missing_ok=True)
        raise
    return file


def marked_at_once(folder: Path, text: bytes) -> int:
    """Create the mark without a name, and name it when it is complete (Linux)."""
    file = os.open(folder, os.O_RDWR | os.O_TMPFILE, 0o600)
    try:
        lock(file, folder)
        os.write(file, text)
        os.link(f"/proc/self/fd/{file}", folder / MARK, src_dir_fd=file, follow_symlinks=True)  # with a src_dir_fd this follows links
    except BaseException:
        os.close(file)
        raise
    return file


def opened(folder: Path, how: int = os.O_RDWR) -> int:
    """Open the mark of a folder that is not empty. Raises UsageError if the folder is not a work folder."""
    try:
        return os.open(folder / MARK, how | NO_LINK | BINARY)
    except FileNotFoundError:
        if not folder.exists() or not any(folder.iterdir()):
            raise  # another run has just emptied it
        raise not_ours(folder) from None
    except OSError as error:
        if (folder / MARK).is_symlink() or (folder / MARK).is_dir():
            raise not_ours(folder) from error
        raise


def mark_in(file: int, folder: Path) -> dict[str, Any]:
    """The content of the mark. Raises UsageError for other files, FormatError for those of another version."""
    os.lseek(file, 0, os.SEEK_SET)
    data = os.read(file, LONGEST)
    if not data and [path.name for path in folder.iterdir()] == [MARK]:
        raise UsageError(
            f"{folder}: a run was killed while it created this work folder; "
            f"delete the folder, or name another with {option('work', placeholder='DIR')}"
        )
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise not_ours(folder) from None
    if not isinstance(found, dict) or found.get("format") != FORMAT or not isinstance(found.get("made"), bool):
        raise not_ours(folder)
    if found.get("version") != VERSION:
        raise FormatError(f"{folder}: another version of likewise left this work folder; delete the folder and start over")
    return found


def lock(file: int, folder: Path) -> None:
    """Lock a work folder for this process; the lock ends with it. Raises UsageError if another run holds it."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise in_use(folder) from None
    except OSError:  # a file system without locks
        pass


def in_use(folder: Path) -> UsageError:
    """The error for a folder that another run holds."""
    return UsageError(
        f"{folder}: another run is working in this folder; wait for it, or name another folder with {option('work', placeholder='DIR')}"
    )


def not_ours(folder: Path) -> UsageError:
    """The error for a folder that likewise did not make."""
    return UsageError(
        f"{folder}: this folder is not a work folder of likewise and is not empty; name another one with {option('work', placeholder='DIR')}"
    )


def empty(folder: Path) -> bool:
    """Delete everything except the mark, the description first, so that no run resumes from the rest. True if all is gone."""
    (folder / DESCRIPTION).unlink(missing_ok=True)
    for path in folder.iterdir():
        if path.name == MARK:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    return [path.name for path in folder.iterdir()] == [MARK]


def is_work(folder: Path) -> bool:
    """True for a work folder of likewise."""
    if not isinstance(folder, Path):  # at an address
        return False
    try:
        file = opened(folder, os.O_RDONLY)
    except (OSError, UsageError):
        return False
    try:
        return bool(mark_in(file, folder))
    except FormatError:
        return True
    except (OSError, UsageError):
        return False
    finally:
        os.close(file)


def is_begun(folder: Path) -> bool:
    """True for a work folder from which an interrupted run can be resumed."""
    return (folder / DESCRIPTION).is_file() and is_work(folder)
