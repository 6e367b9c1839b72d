"""Progress of runs that Python starts: one line that changes, on a terminal or in a notebook, once a run takes longer than a second."""

from __future__ import annotations

import shutil
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from likewise.errors import UsageError
from likewise.messages import quoted
from likewise.progress import Progress

#: Seconds before the line appears, and between two changes of it.
PATIENCE_SECONDS, EVERY_SECONDS = 1.0, 0.2


def watched(progress: Progress | bool | None) -> Progress:
    """Return the progress of a run: the given one; by default a `Line` if there is a terminal or notebook, True: in any case, False: never.

    Raises UsageError for other values.
    """
    if isinstance(progress, Progress):
        return progress
    if progress is not None and not isinstance(progress, bool):
        raise UsageError(f"progress={quoted(progress)}: give True, False, None, or an instance of likewise.Progress or of a subclass")
    if progress is False:
        return Progress()
    if kernel := notebook():
        return Line(in_notebook(kernel))
    on_terminal = bool(getattr(sys.stderr, "isatty", lambda: False)())
    return Line(on_stream) if progress or on_terminal else Progress()


class Line(Progress):
    """Shows the stage, the part of it that is done, and the seconds of the whole run."""

    def __init__(self, show: Callable[[str, bool], None]):
        """show: replaces the line by another one; its second argument is False for the last line of a run or stage."""
        super().__init__()
        self._show = show
        self._started = self._last = time.perf_counter()
        self._total = self._done = 0
        self._unit = ""
        self._visible = False
        self._lock = threading.Lock()

    def begin(self, stage: str, total: int, unit: str) -> None:
        super().begin(stage, total, unit)
        self._total, self._done, self._unit = total, 0, unit
        self._draw()

    def advance(self, amount: int) -> None:
        super().advance(amount)
        with self._lock:
            self._done += amount
            if time.perf_counter() - self._last >= EVERY_SECONDS:
                self._draw()

    def resumed(self, amount: int) -> None:
        super().resumed(amount)
        self._done = amount

    def finish(self) -> None:
        super().finish()
        if self._visible:
            self._visible = False
            self._show(f"likewise: {time.perf_counter() - self._started:.1f} s", False)

    def _draw(self) -> None:
        self._last = time.perf_counter()
        if (seconds := self._last - self._started) >= PATIENCE_SECONDS:
            self._visible = True
            self._show(f"likewise: {self._stage}{self._part()}, {seconds:.0f} s", True)

    def _part(self) -> str:
        if 0 < self._done <= self._total:
            return f", {100 * self._done // self._total}%"
        return f", {self._done:,} {self._unit}" if self._done and self._unit != "bytes" else ""


def on_stream(line: str, more: bool) -> None:
    """Replace the line on standard error, or remove it after the last one. The cursor stays at its beginning, so that other output replaces it.

    That it cannot be written ends no run.
    """
    with suppress(OSError, ValueError, AttributeError):
        width = shutil.get_terminal_size().columns - 1
        sys.stderr.write(f"\r{line[:width] if more else '':{width}}\r")
        sys.stderr.flush()


def notebook() -> Any:
    """Return the shell of the notebook in which this Python runs, or None. IPython is not imported."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if hasattr(shell, "kernel") else None


def in_notebook(shell: Any) -> Callable[[str, bool], None]:
    """Return a function that shows a line in the output of the cell, and replaces the one before."""
    transient = {"display_id": f"likewise-{time.time_ns()}"}
    published = False

    def show(line: str, more: bool) -> None:
        nonlocal published
        shell.display_pub.publish({"text/plain": line}, {}, transient=transient, update=published)
        published = True

    return show
