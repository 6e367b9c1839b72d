"""Reading a source, on this machine or at an address: by these functions, or by ``open``, ``stat`` and ``iterdir`` of its path."""

from __future__ import annotations

import glob
import io
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa
import xxhash

from likewise.errors import naming
from likewise.io.address import UNLISTED, Address, Place
from likewise.io.ranged import MOST_AHEAD, Ranged

#: Bytes of a part by which a large file is recognized, and the number of parts; a file of so many bytes in all is read whole.
PART, PARTS = 1 << 16, 16


class Plain(io.FileIO):
    """A file without a buffer. Errors of the device name it."""

    def readinto(self, buffer: Any) -> int:
        with naming(os.fsdecode(self.name)):  # type: ignore[arg-type]
            return super().readinto(buffer) or 0

    def read(self, size: int | None = -1) -> bytes:
        with naming(os.fsdecode(self.name)):  # type: ignore[arg-type]
            return super().read(-1 if size is None else size) or b""


def raw(path: Place) -> io.RawIOBase:
    """Open a file as a raw stream of bytes."""
    return Ranged(path, path.stat()) if isinstance(path, Address) else Plain(path)


def arrow(path: Place, *, mapped: bool = False, stream: bool = False) -> pa.NativeFile:
    """Open a file for Arrow. ``mapped``: in memory that the system fills as it is read; ``stream``: it is read from its beginning to its end."""
    if isinstance(path, Address):
        return pa.PythonFile(Ranged(path, path.stat(), ahead=stream), "r")
    return (pa.memory_map if mapped else pa.OSFile)(os.fsencode(path))  # bytes: pyarrow takes no str for a name that is not UTF-8


def step(path: Place, local: int) -> int:
    """Bytes to read at once: ``local`` of a file on this machine, and more of one at an address, because each request takes time."""
    return MOST_AHEAD if isinstance(path, Address) else local


def copy(source: Place, target: Path) -> None:
    """Copy the bytes of a source to a new file."""
    if not isinstance(source, Address):
        shutil.copyfile(source, target)
        return
    with Ranged(source, source.stat()) as file, open(target, "wb") as to:
        shutil.copyfileobj(file, to, MOST_AHEAD)


def entry(path: Place) -> Any:
    """Return the path if there is something, also a link that leads nowhere; else None."""
    there = path.exists() if isinstance(path, Address) else os.path.lexists(path)
    return path if there else None


def now(path: Place) -> Any:
    """Return size and time of a file as they are now, like ``stat``; ``stat`` of an address returns what was found first. Raises OSError."""
    return path.now() if isinstance(path, Address) else path.stat()


def stamp(found: Any) -> dict[str, int | str]:
    """Return what must stay the same of a file during a run and until it is resumed."""
    mark = getattr(found, "mark", "")
    return {"size": found.st_size, "mtime_ns": found.st_mtime_ns, **({"etag": mark} if mark else {})}


def is_still(found: Any, then: Mapping[str, Any]) -> bool:
    """Return whether a file is as it was when ``then``, which has the entries of a `stamp`, was made."""
    return stamp(found) == {name: then[name] for name in ("size", "mtime_ns", "etag") if name in then}


def mark(path: Place, found: Any) -> dict[str, int | str]:
    """Return by what the content of a file is recognized wherever it lies: its size and a checksum, of a large one of PARTS parts from both ends on.

    found: its state, as from `now`. At an address it is the mark that its store gives. Raises OSError.
    """
    if isinstance(path, Address):
        return {name: value for name, value in stamp(found).items() if name != "mtime_ns"}
    digest, size = xxhash.xxh3_128(), found.st_size
    starts = [0] if size <= PART * PARTS else [number * (size - PART) // (PARTS - 1) for number in range(PARTS)]
    with open(path, "rb", buffering=0) as file:
        for start in starts:
            file.seek(start)
            digest.update(file.read(min(size, PART * PARTS // len(starts))))
    return {"size": size, "xxh3_128": digest.hexdigest()}


def spooled(path: Path, write: Callable[[BinaryIO], None], *, again: bool) -> Path:
    """Return a file that ``write`` filled; with ``again`` one that is there already."""
    if not (path.exists() and again):
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + ".part")
        try:
            with naming(part), open(part, "wb") as file:
                write(file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    return path


def is_pattern(path: Place) -> bool:
    """Return whether an input that the user named is a pattern, and not a file whose name has such characters."""
    if isinstance(path, Address) and path.scheme in UNLISTED:
        return False
    return glob.has_magic(str(path)) and entry(path) is None


def placed(path: Place) -> Path:
    """Return the absolute path without . and ..; links are resolved only before a .., whose meaning depends on them.

    That of an address begins with its scheme and host.
    """
    if isinstance(path, Address):
        return Path("/", path.scheme, path.host, *path.parts[1:])
    if ".." not in path.parts:
        return path.absolute()
    return path.resolve() if path.name == ".." else path.parent.resolve() / path.name
