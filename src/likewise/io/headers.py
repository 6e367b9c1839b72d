"""Headers and footers of files, read once per state of a file, however many steps of a run need them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar

from likewise.io.address import Address, Found

T = TypeVar("T")
#: Maximum number of cached headers: those of many thousand Parquet files would take much memory.
KEPT = 64
#: Nanoseconds. A file may be written twice within one tick of its clock, so headers of recently written files are not cached (like git's index).
SETTLED = 2 * 10**9


def once(read: Callable[..., T]) -> Callable[..., T]:
    """Cache ``read(path, ...)`` as long as the file is unchanged.

    For results that depend only on the file and the arguments, and that no caller modifies.
    """

    @lru_cache(KEPT)
    def kept(path: Path, state: tuple[Any, ...], *more: Any) -> T:
        return read(path, *more)

    @wraps(read)
    def of_file(path: Path, *more: Any) -> T:
        found = state(path)
        return read(path, *more) if found is None else kept(path, found, *more)

    return of_file


def state(path: Path | Address) -> tuple[Any, ...] | None:
    """Return device, inode, size and times of a file; None if it is inaccessible or was written recently."""
    try:
        found = path.stat()
    except OSError:
        return None
    if isinstance(found, Found):
        return (found.st_size, found.st_mtime_ns, found.mark)
    written = max(found.st_mtime_ns, found.st_ctime_ns)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) if time.time_ns() - written >= SETTLED else None
