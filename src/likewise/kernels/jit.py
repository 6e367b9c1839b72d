"""The one way in which kernels are compiled: without the GIL, cached on disk where that is possible."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def cache_folder() -> Path | None:
    """The first folder that can hold compiled kernels, or None. Numba raises at import when it finds none itself."""
    home = os.environ.get("XDG_CACHE_HOME") or Path("~").expanduser() / ".cache"
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    for folder in [Path(chosen)] if chosen else [Path(home) / "likewise", Path(tempfile.gettempdir()) / f"likewise-{os.getuid() if hasattr(os, 'getuid') else 0}"]:
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except (OSError, RuntimeError):
            continue
        mine = not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()  # never load code that another user left in /tmp
        if mine and os.access(folder, os.W_OK):
            return folder
    return None


CACHE = cache_folder()
if CACHE is not None:
    os.environ["NUMBA_CACHE_DIR"] = str(CACHE)

import numba as nb  # noqa: E402  the cache folder must be known before numba is imported

kernel = nb.njit(nogil=True, cache=CACHE is not None)
#: For small functions that only other kernels call: compiled into them, never cached on their own.
inline = nb.njit(nogil=True)
