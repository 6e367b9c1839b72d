"""Compilation of kernels, always in the same way: without the GIL, and cached on disk where possible."""

from __future__ import annotations

import hashlib
import os
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numba as nb
from numba.core import event

from likewise.progress import INTERRUPTED, raise_if_interrupted

#: Write permission of the group and of all others.
OTHERS = stat.S_IWGRP | stat.S_IWOTH


def cache_folder() -> Path | None:
    """The first folder that can hold compiled kernels. Without one the result is None, and each process compiles them.

    Numba unpickles the files there, which runs code. So nobody else may be able to write to the folder, or to put another in its place.
    """
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    home = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111 - Path.expanduser raises without a home
    user = os.getuid() if hasattr(os, "getuid") else 0
    for place in [Path(chosen)] if chosen else [home / "likewise", Path(tempfile.gettempdir()) / f"likewise-{user}"]:
        try:
            place.mkdir(parents=True, exist_ok=True)
            place = place.resolve()  # a link could lead elsewhere later
            if not chosen and mine(place) and not is_private(place):
                place.chmod(0o700)  # the umask may have given others access
            folder = place / edition()
            folder.mkdir(exist_ok=True, mode=0o700)
            if (mine(place) or chosen) and is_guarded(place) and mine(folder) and is_private(folder) and os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    return None


def edition() -> str:
    """A name that changes with any kernel's file: Numba checks only the file of a kernel itself, not those of the functions it calls."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    stamp = "".join(f"{path.name}:{path.stat().st_size}:{path.stat().st_mtime_ns};" for path in files)
    return hashlib.blake2b(stamp.encode(), digest_size=6).hexdigest()


def mine(folder: Path) -> bool:
    """True if this user owns the folder: code that another user put into a shared one must not be loaded."""
    return not hasattr(os, "getuid") or folder.stat().st_uid == os.getuid()


def is_private(folder: Path) -> bool:
    """True if nobody else can write to the folder."""
    return not hasattr(os, "getuid") or not folder.stat().st_mode & OTHERS


def is_guarded(place: Path) -> bool:
    """True if nobody else can replace a folder of this user in ``place``: in a sticky folder only owners may rename their entries."""
    return is_private(place) or bool(place.stat().st_mode & stat.S_ISVTX)


class Interruption(event.Listener):
    """Stops the compiler when the run is interrupted: on the first run ever it has half a minute of work.

    Python's own way, an exception at any point of the main thread, may leave a lock of LLVM taken, and all threads would wait for it for ever. So
    while the main thread compiles, Ctrl-C is deferred to the next function, as the command line defers all signals (cli/main.py).
    """

    depth, put_off = 0, False

    def on_start(self, event: event.Event) -> None:
        if (
            self.depth == 0
            and threading.current_thread() is threading.main_thread()
            and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        ):
            self.put_off = True
            signal.signal(signal.SIGINT, lambda *_: INTERRUPTED.set())
        self.depth += 1
        raise_if_interrupted()

    def on_end(self, event: event.Event) -> None:
        self.depth -= 1
        if self.depth == 0 and self.put_off:
            self.put_off = False
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if INTERRUPTED.is_set():
                INTERRUPTED.clear()  # another run may follow in this process
                raise KeyboardInterrupt


@contextmanager
def heard(begun: Callable[[], None], ended: Callable[[float], None]) -> Iterator[None]:
    """Inside, call ``begun()`` before a kernel is compiled and ``ended(seconds)`` after it, on any thread, one at a time, because Numba has a lock.

    The next kernel is heard after any error of the compiler or of ``begun``.
    """
    depth, since = 0, 0.0

    class Ear(event.Listener):
        """Counts nested compilations, and reports the outermost."""

        def on_start(self, event: event.Event) -> None:
            nonlocal depth, since
            depth += 1  # functions that a kernel calls are compiled with it
            if depth == 1:
                since = time.perf_counter()
                begun()

        def on_end(self, event: event.Event) -> None:
            nonlocal depth
            if depth == 0:
                return  # its start was not heard: it was before this context, or `Interruption` refused it
            depth -= 1
            if depth == 0:
                ended(time.perf_counter() - since)

    with event.install_listener("numba:compile", Ear()):
        yield


raise_if_interrupted()  # a signal may have come while Numba was imported
event.register("numba:compile", Interruption())
CACHE = cache_folder()
nb.config.CACHE_DIR = str(CACHE or "")

kernel = nb.njit(nogil=True, no_cfunc_wrapper=True, cache=CACHE is not None)
#: For small functions that only other kernels call: compiled into them, never cached. Python cannot call them (tests/support/compiled.py can).
inline = nb.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
#: For small functions in the hottest loops. LLVM may leave a call in place, and a call passes each array as seven arguments, which takes 4 ns.
always = nb.njit(nogil=True, no_cpython_wrapper=True, no_cfunc_wrapper=True, forceinline=True)
