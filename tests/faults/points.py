"""Fault points: each step by which a run changes the file system, or reads from it, is counted; at one of them a fault strikes.

`watch` puts itself between Python and the system, in this process alone: opening, writing, truncating, renaming, deleting, copying, making
folders, reserving room. What the system itself writes later (mapped memory) is no step.
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

from likewise.io import compression, output

#: Functions of `os` that change something; the path, or the open file, is their first argument.
CHANGES = ("rename", "replace", "unlink", "remove", "mkdir", "rmdir", "truncate", "posix_fallocate", "sendfile", "fsync")
#: Errors that stay until somebody makes room, or mends permissions; others strike once.
LASTING = ("ENOSPC", "EDQUOT", "EROFS", "EACCES")
REFUSES = {"EROFS": ("open", "rename", "replace", "mkdir", "unlink", "rmdir", "remove"), "EACCES": ("open", "rename", "replace", "mkdir")}
SIGNALS = {"KILL": signal.SIGKILL, "TERM": signal.SIGTERM, "INT": signal.SIGINT}


class Fault(NamedTuple):
    """What strikes, and at which step, or after how many seconds. ``torn``: a write, or a copy, is done by half before."""

    what: str  # a signal of SIGNALS, or the name of an errno
    at: int = 0
    torn: bool = False
    reading: bool = False  # only steps that read are counted, not those that change something
    after: float | None = None


class Watch:
    """Counts steps, and lets the fault strike."""

    def __init__(self, roots: Sequence[Path], fault: Fault | None = None) -> None:
        self.roots = tuple(os.path.abspath(os.fsencode(root)) for root in roots)
        self.fault = fault
        self.steps: list[str] = []  # what was done, and the name of the file
        self.lock = threading.Lock()

    def covers(self, path: Any) -> bool:
        """Whether a path, or the file of an open descriptor, is of the run that is watched."""
        try:
            if isinstance(path, int):
                path = os.readlink(f"/proc/self/fd/{path}")
            place = os.fsencode(os.path.abspath(path))
            return any(place == root or place.startswith(root + b"/") for root in self.roots)
        except (OSError, TypeError, ValueError):
            return False

    def step(self, kind: str, path: Any, do: Callable[[], Any], half: Callable[[], Any] | None = None) -> Any:
        reads = kind == "read"
        if not self.covers(path) or reads != bool(self.fault and self.fault.reading):
            return do()
        fault = self.fault
        with self.lock:
            self.steps.append(f"{kind} {'' if isinstance(path, int) else Path(os.fsdecode(path)).name}")
            number = len(self.steps)
        strikes = fault is not None and 0 < fault.at <= number and (number == fault.at or fault.what in LASTING)
        if fault is None or not strikes or kind not in REFUSES.get(fault.what, (kind,)):
            return do()
        part = half() if fault.torn and half is not None else None
        if fault.what in SIGNALS:
            os.kill(os.getpid(), SIGNALS[fault.what])
            return do() if part is None else part  # the system too ends a write early that a signal interrupts
        code = getattr(errno, fault.what)
        unnamed = kind in ("read", "write", "ftruncate", "posix_fallocate") or isinstance(path, int)  # as the system has it
        raise OSError(code, os.strerror(code), *([] if unnamed else [os.fsdecode(path)]))


def watch(roots: Sequence[Path], fault: Fault | None = None) -> Watch:
    """From now on the steps of this process under ``roots`` are counted, and the fault strikes."""
    watching = Watch(roots, fault)

    class File(io.FileIO):
        def write(self, data: Any) -> int:
            write = super().write
            part = memoryview(data).cast("B")[: len(memoryview(data).cast("B")) // 2]
            return watching.step("write", self.name, lambda: write(data), lambda: write(part))

        def truncate(self, size: int | None = None) -> int:
            cut = super().truncate
            return watching.step("ftruncate", self.name, lambda: cut(size))

        def readinto(self, buffer: Any) -> int:
            read = super().readinto
            return watching.step("read", self.name, lambda: read(buffer))

        def read(self, size: int = -1) -> bytes:
            read = super().read
            return watching.step("read", self.name, lambda: read(size))

        def readall(self) -> bytes:
            read = super().readall
            return watching.step("read", self.name, lambda: read())

    plain_open = builtins.open

    def opened(file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, errors: Any = None, newline: Any = None, *more: Any) -> Any:
        if isinstance(file, int) or more or not watching.covers(file):
            return plain_open(file, mode, buffering, encoding, errors, newline, *more)
        make = lambda: File(file, mode.replace("b", "").replace("t", ""))  # noqa: E731
        raw = make() if mode[0] == "r" and "+" not in mode else watching.step("open", file, make)
        if buffering == 0:
            return raw
        kind = io.BufferedRandom if "+" in mode else io.BufferedReader if raw.readable() else io.BufferedWriter
        return kind(raw) if "b" in mode else io.TextIOWrapper(kind(raw), encoding, errors, newline)

    builtins.open = io.open = opened  # type: ignore[assignment]
    pa.OSFile = lambda path, mode="r", **_: pa.PythonFile(opened(path, mode[0] + "b"), mode[0])  # type: ignore[misc]
    for name in CHANGES:
        if hasattr(os, name):
            setattr(os, name, stepping(watching, name, getattr(os, name)))
    shutil._USE_CP_SENDFILE = hasattr(os, "sendfile")
    compression.Plain.__bases__ = (File,)
    exchange = output.exchange
    output.exchange = lambda a, b: watching.step("exchange", b, lambda: exchange(a, b))
    return watching


def stepping(watching: Watch, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def changed(path: Any, *args: Any, **kwargs: Any) -> Any:
        place = path if kwargs.get("dir_fd") is None else os.path.join(watching.roots[0], os.fsencode(path))
        half = (lambda: function(path, *args[:2], args[2] // 2)) if name == "sendfile" and args[2] > 1 else None
        return watching.step(name, place, lambda: function(path, *args, **kwargs), half)

    return changed
