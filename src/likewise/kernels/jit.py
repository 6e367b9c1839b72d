"""The one way in which kernels are compiled: without the GIL, cached on disk where that is possible."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

import numba as nb


def cache_folder() -> Path | None:
    """The first folder that can hold compiled kernels, or None, and then they are compiled anew in each process."""
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111 - Path.expanduser raises without a home
    user = os.getuid() if hasattr(os, "getuid") else 0
    for place in [Path(chosen)] if chosen else [home / "likewise", Path(tempfile.gettempdir()) / f"likewise-{user}"]:
        folder = place / edition()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError:
            continue
        if (chosen or mine(place)) and mine(folder) and os.access(folder, os.W_OK):
            return folder
    return None


def edition() -> str:
    """Another name whenever a kernel's file changes: Numba looks at the file of the kernel itself only, not at those it calls into."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    stamp = "".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns};" for path in files)
    return hashlib.blake2b(stamp.encode(), digest_size=6).hexdigest()


def mine(folder: Path) -> bool:
    """Code that another user put into a shared folder must not be loaded."""
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


CACHE = cache_folder()
nb.config.CACHE_DIR = str(CACHE or "")

kernel = nb.njit(nogil=True, cache=CACHE is not None)
#: For small functions that only other kernels call: compiled into them, never cached on their own.
inline = nb.njit(nogil=True)
#: For the small functions inside the hottest loops. LLVM may leave a call in place, and a call hands on each array as seven arguments: 4 ns.
always = nb.njit(nogil=True, forceinline=True)
