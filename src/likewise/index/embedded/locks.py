"""The lock of the one process that writes to an index. It ends with the process, however that ends, so there are no stale locks.

The file also notes the last row of the log that was acknowledged. A log that ends before it is damaged: SQLite takes damage in its own log for the
end of it, and would drop the commits behind without a word.
"""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path
from typing import Any

import xxhash

from likewise.errors import UsageError, naming
from likewise.index.embedded.folder import LOCK
from likewise.messages import either

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]
#: Attempts: the folder may be replaced between being opened and being locked.
TRIES = 5
#: Place of the note in the file; before it is who holds the lock.
NOTE = 512


class WriterLock:
    """Held from the beginning until `release`, or until the process ends. Raises UsageError if another process holds it."""

    def __init__(self, folder: Path):
        self.path = folder / LOCK
        self.file = -1
        for _ in range(TRIES):
            self.file = taken(self.path)
            try:
                if os.path.samestat(os.fstat(self.file), self.path.lstat()):
                    break
            except FileNotFoundError:
                pass
            os.close(self.file)
        else:
            raise UsageError(f"{folder}: another process replaces this index again and again; try again later")
        with naming(self.path):
            os.pwrite(self.file, json.dumps({"pid": os.getpid(), "host": socket.gethostname()}).encode()[:NOTE].ljust(NOTE), 0)

    def note(self, row: int) -> None:
        """Note that this row of the log is on the disk. The note itself is not synced, so after power loss it may be an older one."""
        text = b"%020d" % row
        with naming(self.path):
            os.pwrite(self.file, text + xxhash.xxh3_64_hexdigest(text).encode(), NOTE)

    def release(self) -> None:
        """Let another process write. In a forked child: close the copy of the file, which keeps the lock of the parent."""
        if self.file >= 0:
            os.close(self.file)
        self.file = -1

    __del__ = release


def noted(folder: Path) -> int:
    """The last row that a writer noted; 0 without a note, or if it is damaged."""
    try:
        data = (folder / LOCK).read_bytes()[NOTE:]
    except OSError:
        return 0
    row, digest = data[:20], data[20:]
    return int(row) if digest and xxhash.xxh3_64_hexdigest(row).encode() == digest else 0


def taken(path: Path) -> int:
    """The open and locked file."""
    try:
        file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
    except PermissionError as error:
        raise unwritable(path.parent, error) from error
    except OSError as error:
        if error.strerror and "read-only" in error.strerror.lower():
            raise unwritable(path.parent, error) from error
        raise
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.pread(file, NOTE, 0)
        os.close(file)
        raise in_use(path.parent, holder) from None
    except BaseException:
        os.close(file)
        raise
    return file


def named_in(data: bytes) -> dict[str, Any]:
    """The writer that the lock names; empty if it is unreadable."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def in_use(folder: Path, holder: bytes) -> UsageError:
    """The error for an index that another process writes to. holder: what that process wrote into the lock."""
    found = named_in(holder)
    pid, host = found.get("pid"), found.get("host")
    who = f"process {pid} on {host}" if found else "another process"
    if (pid, host) == (os.getpid(), socket.gethostname()):
        who = f"this process ({pid} on {host})"
    reading = either("read_only=True", "a verb that only reads")
    return UsageError(f"{folder}: {who} has this index open for writing, and only one can; close it there, or open it with {reading}")


def unwritable(folder: Path, error: OSError) -> UsageError:
    """The error for a folder to which this user cannot write."""
    reading = either("read_only=True opens", "verbs that only read open")
    return UsageError(f"{folder}: the index cannot be written ({error.strerror}); {reading} it for reading")
