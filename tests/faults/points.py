"""Fault points: each step by which a run changes the file system, or reads from it, is counted; at one of them a fault strikes.

`watch` puts itself between Python and the system, in this process alone: opening, writing, truncating, renaming, deleting, copying, making
folders, reserving room, forcing to the disk. What the system itself writes later (mapped memory) is no step.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import shutil
import signal
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from likewise.io import disk, storage

#: Functions of `os` that change something; the path, or the open file, is their first argument.
CHANGES = ("rename", "replace", "link", "unlink", "remove", "mkdir", "rmdir", "truncate", "posix_fallocate", "sendfile", "fsync")
#: Errors that stay until somebody makes room, or mends permissions; others strike once. What each refuses: a full disk still deletes.
GROWS = ("open", "write", "ftruncate", "truncate", "posix_fallocate", "sendfile", "mkdir", "rename", "replace", "exchange", "fsync")
LASTING = {
    "ENOSPC": GROWS,
    "EDQUOT": GROWS,
    "EROFS": ("open", "rename", "replace", "exchange", "mkdir", "unlink", "rmdir", "remove"),
    "EACCES": ("open", "rename", "replace", "exchange", "mkdir"),
}
#: Steps that know an open file, and no name; nor does what the system says of them.
UNNAMED = ("read", "write", "ftruncate", "posix_fallocate")
SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}


class Fault(NamedTuple):
    """The fault, and its step or its time in seconds. ``torn``: half of a write, or of a copy, is done before."""

    what: str  # a signal of SIGNALS, or the name of an errno
    at: int = 0
    torn: bool = False
    reading: bool = False  # only steps that read are counted, not those that change something
    after: float | None = None


class Watch:
    """Counts steps, tells each to ``note`` before it is taken, and lets the fault strike."""

    def __init__(self, roots: Sequence[Path], fault: Fault | None, note: Callable[[str], object]) -> None:
        self.roots = tuple(os.path.abspath(os.fsencode(root)) for root in roots)
        self.fault, self.note = fault, note
        self.count = 0
        self.lock = threading.Lock()

    def covers(self, path: Any) -> bool:
        """True if a path, or the file of an open descriptor, belongs to the watched run."""
        try:
            place = os.fsencode(os.path.abspath(opened_as(path)))
        except (OSError, TypeError, ValueError):
            return False
        return any(place == root or place.startswith(root + b"/") for root in self.roots)

    def step(self, kind: str, path: Any, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        fault = self.fault
        if not self.covers(path) or (kind == "read") != bool(fault and fault.reading):
            return do()
        with self.lock:
            self.count += 1
            number = self.count
            self.note(f"{kind} {Path(os.fsdecode(opened_as(path))).name}")
        if fault is None or not fault.at or not self.strikes(fault, number, kind):
            return do()
        part = half() if fault.torn and half is not None else None
        if fault.what in SIGNALS:
            os.kill(os.getpid(), SIGNALS[fault.what])
            return do() if part is None else part  # the system too ends a write early that a signal interrupts
        code = getattr(errno, fault.what)
        named = kind not in UNNAMED and not isinstance(path, int)
        raise OSError(code, os.strerror(code), *([os.fsdecode(path)] if named else []))

    @staticmethod
    def strikes(fault: Fault, number: int, kind: str) -> bool:
        return number >= fault.at and kind in LASTING[fault.what] if fault.what in LASTING else number == fault.at


def opened_as(path: Any) -> Any:
    return os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else path


def watch(roots: Sequence[Path], fault: Fault | None, note: Callable[[str], object]) -> None:
    """From now on the steps of this process under ``roots`` are counted, and the fault strikes."""
    watching = Watch(roots, fault, note)

    class File(io.FileIO):
        def write(self, data: Any) -> int:
            write, view = super().write, memoryview(data).cast("B")
            return watching.step("write", self.name, lambda: write(view), lambda: write(view[: len(view) // 2]))

        def truncate(self, size: int | None = None) -> int:
            cut = super().truncate
            return watching.step("ftruncate", self.name, lambda: cut(size))

        def readinto(self, buffer: Any) -> int:
            read = super().readinto
            return watching.step("read", self.name, lambda: read(buffer))

        def read(self, size: int | None = -1) -> bytes:
            read = super().read
            return watching.step("read", self.name, lambda: read(-1 if size is None else size))

        def readall(self) -> bytes:
            read = super().readall
            return watching.step("read", self.name, read)

    plain_open = builtins.open

    def opened(file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None, *more: Any) -> Any:
        if more or not watching.covers(file):
            return plain_open(file, mode, buffering, encoding, errors, newline, *more)
        make = lambda: File(file if isinstance(file, int) else os.fspath(file), mode.replace("b", "").replace("t", ""))  # noqa: E731
        raw = make() if isinstance(file, int) or (mode[0] == "r" and "+" not in mode) else watching.step("open", file, make)
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedReader if raw.readable() else io.BufferedWriter
        return kind(raw) if "b" in mode else io.TextIOWrapper(kind(raw), encoding, errors, newline)

    builtins.open = io.open = opened  # type: ignore[assignment]
    pa.OSFile = lambda path, mode="r", **_: pa.PythonFile(opened(path, mode[0] + "b"), mode[0])  # type: ignore[misc]
    storage.Plain = type("Plain", (storage.Plain, File), {})  # type: ignore[misc]  # which reads by way of File
    plain_os_open = os.open

    def os_opened(path: Any, flags: int, *more: Any, **how: Any) -> int:
        make = lambda: plain_os_open(path, flags, *more, **how)  # noqa: E731
        return watching.step("open", path, make) if flags & os.O_CREAT else make()

    os.open = os_opened  # type: ignore[assignment]
    for name in CHANGES:
        if hasattr(os, name):
            setattr(os, name, stepping(watching, name, getattr(os, name)))
    shutil._USE_CP_SENDFILE = hasattr(os, "sendfile")
    exchange, rename_new = disk.exchange, disk.rename_new
    disk.rename_new = lambda a, b: watching.step("rename", a, lambda: rename_new(a, b))
    disk.exchange = lambda a, b: watching.step("exchange", b, lambda: exchange(a, b))


def stepping(watching: Watch, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def changed(path: Any, *args: Any, **kwargs: Any) -> Any:
        folder = kwargs.get("dir_fd")
        place = path if folder is None else os.path.join(os.fsencode(opened_as(folder)), os.fsencode(path))
        half = (lambda: function(path, *args[:2], args[2] // 2)) if name == "sendfile" and args[2] > 1 else None
        return watching.step(name, place, lambda: function(path, *args, **kwargs), half)

    return changed
