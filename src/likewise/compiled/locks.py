"""The locks of loading and of compiling. A fork waits for them: its child has no other thread that would release them."""

from __future__ import annotations

import importlib
import os
import threading

#: One thread at a time loads, and one compiles: another can load in the meantime.
LOADING, COMPILING = threading.RLock(), threading.RLock()
#: The longest wait of a fork for other threads, in seconds: the handlers of other modules may hold a lock that such a thread waits for.
PATIENCE_SECONDS = 30.0
_held: dict[int, list] = {}  # by forking thread


def _before_fork() -> None:
    """Wait for other threads: in the child process nobody would release the locks of Python's imports, Numba and LLVM that they hold."""
    _held[threading.get_ident()] = [lock for lock in (COMPILING, LOADING) if lock.acquire(timeout=PATIENCE_SECONDS)]


def _after_fork() -> None:
    for lock in _held.pop(threading.get_ident(), ()):
        lock.release()


def _new_locks() -> None:
    """In a child process: a thread that still holds a lock is not there."""
    global LOADING, COMPILING
    _held.clear()
    LOADING, COMPILING = threading.RLock(), threading.RLock()


if hasattr(os, "register_at_fork"):
    # before logging's handler, which takes the lock of loggers, is called: the handlers of modules imported later are called first
    importlib.import_module("logging")
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_new_locks)
