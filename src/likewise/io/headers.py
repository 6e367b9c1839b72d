"""Headers and footers of files, read once for each state of a file, however many steps of a run ask for them."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import lru_cache, wraps
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
#: Files whose headers are kept: those of many thousand Parquet files would take much memory.
KEPT = 64
#: Nanoseconds. A file may be written twice within one tick of its clock: the header of one that was written just now is not kept (as in git's index).
SETTLED = 2 * 10**9


def once(read: Callable[..., T]) -> Callable[..., T]:
    """``read(path, ...)``, kept as long as the file stays as it is. For results that depend on nothing but the file and the arguments, and that
    nobody changes."""

    @lru_cache(KEPT)
    def kept(path: Path, state: tuple[int, ...], *more: Any) -> T:
        return read(path, *more)

    @wraps(read)
    def of_file(path: Path, *more: Any) -> T:
        found = state(path)
        return read(path, *more) if found is None else kept(path, found, *more)

    return of_file


def state(path: Path) -> tuple[int, ...] | None:
    """Place, size and times of a file; None where it cannot be looked at, or was written just now."""
    try:
        found = path.stat()
    except OSError:
        return None
    written = max(found.st_mtime_ns, found.st_ctime_ns)
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns) if time.time_ns() - written >= SETTLED else None
