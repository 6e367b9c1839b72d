"""Reading a source: the formats open every file through these functions, or by ``open``, ``stat`` and ``iterdir`` of its path."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa

from likewise.errors import naming


class Plain(io.FileIO):
    """A file without a buffer. Errors of the device name it."""

    def readinto(self, buffer: Any) -> int:
        with naming(os.fsdecode(self.name)):  # type: ignore[arg-type]
            return super().readinto(buffer) or 0

    def read(self, size: int | None = -1) -> bytes:
        with naming(os.fsdecode(self.name)):  # type: ignore[arg-type]
            return super().read(-1 if size is None else size) or b""


def raw(path: Path) -> io.RawIOBase:
    """Open a file as a raw stream of bytes."""
    return Plain(path)


def arrow(path: Path, *, mapped: bool = False) -> pa.NativeFile:
    """Open a file for Arrow; ``mapped``: in memory that the system fills as it is read."""
    return (pa.memory_map if mapped else pa.OSFile)(os.fsencode(path))  # bytes: pyarrow takes no str for a name that is not UTF-8


def copy(source: Path, target: Path) -> None:
    """Copy the bytes of a source to a new file."""
    shutil.copyfile(source, target)
