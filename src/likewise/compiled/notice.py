"""Says that kernels are compiled, which the first use of a data type on a machine waits for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from likewise.compiled import store

#: Called before a kernel is compiled, and after it with the seconds that it took; by default a line on standard error says so once a run.
Listeners = tuple[Callable[[], None], Callable[[float], None]]
LISTENERS: Listeners | None = None
#: Kernels that were compiled since `summary` was last called, and the seconds that they took.
kernels, seconds = 0, 0.0
_said = False
#: The method of the current run, such as "cosine"; and True if its caller wants to see no progress.
method, quiet = "", False


def listen(begun: Callable[[], None], ended: Callable[[float], None]) -> None:
    """From now on call these, on any thread, one at a time, instead of writing to standard error."""
    global LISTENERS
    LISTENERS = begun, ended


@contextmanager
def compiling() -> Iterator[None]:
    """Inside, a kernel is compiled."""
    global kernels, seconds
    begun, ended = LISTENERS or (say_once, lambda _: None)
    since = time.perf_counter()
    begun()
    try:
        yield
    finally:
        took = time.perf_counter() - since
        kernels, seconds = kernels + 1, seconds + took
        ended(took)


def run_begins(by: str, *, silent: bool) -> None:
    """From now on kernels are compiled for a run that compares items by ``by``. silent: nothing is written to standard error."""
    global method, quiet
    method, quiet = by, silent


def say_once() -> None:
    global _said
    if not _said and not quiet:
        _said = True
        say(announcement())


def kernels_of() -> str:
    return f"kernels for {method}" if method else "kernels"


def announcement() -> str:
    folder = store.cache()
    if folder is None:
        return f"compiling {kernels_of()}, in each process, because no folder can keep them; set NUMBA_CACHE_DIR to a folder of yours"
    once = f"once per data type and machine, up to half a minute; kept in {folder}"
    return f"compiling {kernels_of()} ({once}); to compile all at once, run likewise doctor --compile in a shell"


def summary() -> str:
    """The number of kernels compiled since the last call, and the time, if nobody listens: also written to standard error. "" if none were."""
    global kernels, seconds, method, quiet, _said
    text = f"compiled {kernels} kernel{'s' if kernels > 1 else ''} in {seconds:.{int(seconds < 10)}f} s" if kernels and LISTENERS is None else ""
    if text and not quiet:
        say(text)
    kernels, seconds, method, quiet, _said = 0, 0.0, "", False, False
    return text


def say(message: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # closed
            print(f"likewise: {message}", file=sys.stderr, flush=True)
