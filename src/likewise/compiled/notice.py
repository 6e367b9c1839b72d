"""Says that kernels are compiled, which the first use of a data type on a machine waits for."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from likewise.compiled import store


def say(message: str) -> None:
    if sys.stderr is not None:
        with suppress(OSError, ValueError):  # closed
            print(f"likewise: {message}", file=sys.stderr, flush=True)


@dataclass
class Notice:
    """The kernels compiled for a run, or for an open index, and the listeners to it. Without listeners, a line says so once for each."""

    #: Called before a kernel is compiled, and after it with the seconds that it took, on any thread, one at a time.
    listeners: tuple[Callable[[], None], Callable[[float], None]] | None = None
    #: Where such a line goes: to standard error, or into the log of a service.
    tell: Callable[[str], None] = say
    #: Kernels that were compiled since `summary` was last called, and the seconds that they took.
    kernels: int = 0
    seconds: float = 0.0
    #: The method of the current run, such as "cosine"; and True if its caller wants to see no progress.
    method: str = ""
    quiet: bool = False
    said: bool = False

    def listen(self, begun: Callable[[], None], ended: Callable[[float], None]) -> None:
        """From now on call these instead of writing to standard error."""
        self.listeners = begun, ended

    @contextmanager
    def telling(self, tell: Callable[[str], None]) -> Iterator[None]:
        """Inside, lines go to ``tell``."""
        before, self.tell = self.tell, tell
        try:
            yield
        finally:
            self.tell = before

    @contextmanager
    def compiling(self) -> Iterator[None]:
        """Inside, a kernel is compiled."""
        begun, ended = self.listeners or (self.say_once, lambda _: None)
        since = time.perf_counter()
        begun()
        try:
            yield
        finally:
            took = time.perf_counter() - since
            self.kernels, self.seconds = self.kernels + 1, self.seconds + took
            ended(took)

    def run_begins(self, by: str, *, silent: bool) -> None:
        """From now on kernels are compiled for a run that compares items by ``by``. silent: no line is written."""
        self.summary()  # of what was compiled before
        self.method, self.quiet = by, silent

    def say_once(self) -> None:
        if not self.said and not self.quiet:
            self.said = True
            self.tell(self.announcement())

    def kernels_of(self) -> str:
        return f"kernels for {self.method}" if self.method else "kernels"

    def announcement(self) -> str:
        folder = store.cache()
        if folder is None:
            cause = "because no folder for compiled kernels is writable; set NUMBA_CACHE_DIR to a writable folder"
            return f"compiling {self.kernels_of()}, in each process, {cause}"
        once = f"at their first use on this machine, up to half a minute; kept in {folder}"
        return f"compiling {self.kernels_of()} ({once}); to compile all at once, run likewise doctor --compile in a shell"

    def summary(self) -> str:
        """The number of kernels compiled since the last call, and the time, if nobody listens: also told. "" if none were."""
        kernels, seconds = self.kernels, self.seconds
        text = f"compiled {kernels} kernel{'s' if kernels > 1 else ''} in {seconds:.{int(seconds < 10)}f} s" if kernels and not self.listeners else ""
        if text and not self.quiet:
            self.tell(text)
        self.kernels, self.seconds, self.method, self.quiet, self.said = 0, 0.0, "", False, False
        return text


#: The notice of this process.
NOTICE = Notice()
