"""Progress of long work: a bar with speed and time left on a terminal, elsewhere a line every few seconds."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import Any, TextIO, cast

from likewise.cli.screen import Screen, counted, duration, in_line, is_terminal, size
from likewise.cli.time_left import TimeLeft
from likewise.compiled import store
from likewise.compiled.notice import NOTICE
from likewise.messages import marked, on_command_line
from likewise.progress import Progress

#: Seconds before the bar is loaded and drawn.
PATIENCE_SECONDS = 0.7
#: Seconds between two lines.
PLAIN_SECONDS = 10.0
#: Units for which a speed is shown.
SPEEDS = ("bytes", "items", "elements", "pairs", "records")


class ScreenProgress(Progress):
    """Counts completed work and prints warnings when they occur. This class shows no progress; subclasses do, in `show`."""

    def __init__(self, screen: Screen):
        super().__init__()
        self.screen = screen
        self.started = time.perf_counter()
        self.bytes_read = 0
        self.total = self.done = self.before = 0  # before: done by an earlier run in this stage
        self.left = TimeLeft(0)
        self.unit = ""
        self.compiled = self._compiled_before = 0.0  # seconds of compiling, and those before this stage
        self.kernels = 0  # compiled ones
        self._lock = threading.Lock()
        self._compiling_noted = False

    def begin(self, stage: str, total: int, unit: str) -> None:
        super().begin(stage, total, unit)
        self.total, self.unit, self.done, self.before, self._compiled_before = total, unit, 0, 0, self.compiled
        self.left = TimeLeft(total)
        self.bytes_read *= unit != "bytes"  # a second pass reads the same bytes

    def compiling(self) -> None:
        if not self._compiling_noted:
            self._compiling_noted = True
            if store.cache():
                when = "(at their first use on this machine, up to half a minute); likewise doctor --compile does all at once"
            else:
                when = "(in every run, because no cache folder is writable; see likewise doctor)"
            self.say(f"compiling {NOTICE.kernels_of()} {when}")

    def compiling_ended(self, seconds: float) -> None:
        self.compiled += seconds
        self.kernels += 1

    def advance(self, amount: int) -> None:
        super().advance(amount)
        with self._lock:
            self.done += amount
            if amount:
                self.left.mark(self.done, self.clock)
            if self.unit == "bytes":
                self.bytes_read += amount
            self.show()

    def resumed(self, amount: int) -> None:
        super().resumed(amount)
        self.before = self.done = amount

    def say(self, message: str) -> None:
        self.screen.say(message)

    def warn(self, message: str) -> None:
        if marked(message) not in map(marked, self.warnings):  # those of the plan come before the run, too
            super().warn(message)
            self.show_warning(message)

    def note(self, message: str) -> None:
        super().note(message)
        self.show_warning(message)

    def show_warning(self, message: str) -> None:
        self.screen.warn(message)

    @property
    def clock(self) -> float:
        """Seconds of this stage, without those of compiling."""
        return time.perf_counter() - self._since - (self.compiled - self._compiled_before)

    @property
    def seconds_in_all(self) -> float:
        return time.perf_counter() - self.started

    @property
    def time_in_all(self) -> str:
        compiled = f" (compiled {counted(self.kernels, 'kernel')} in {duration(self.compiled)})" if self.kernels else ""
        return duration(self.seconds_in_all) + compiled

    def steps(self) -> None:
        """With -v, print the time of each step."""
        if self.screen.verbose:
            self.screen.rows((stage, f"{seconds:.2f} s" if seconds < 10 else duration(seconds)) for stage, seconds in self.seconds.items())

    def show(self) -> None:
        """Show the current state. Called after each advance."""

    def amount(self, number: float) -> str:
        return size(number) if self.unit == "bytes" else f"{number:,.0f} {self.unit}"

    def state(self) -> str:
        """The state of the stage: the completed part, the speed, and the time left once the speed is steady."""
        clock, made = self.clock, self.done - self.before
        speed = f", {self.amount(made / clock)}/s" if self.unit in SPEEDS and made and clock > 0 else ""
        if not self.total or self.done > self.total:
            return self.amount(self.done) + speed
        seconds = self.left.seconds(clock)
        left = "" if seconds is None else f", {duration(seconds)} left"
        return f"{100 * self.done // self.total}% of {self.amount(self.total)}{speed}{left}"


class Lines(ScreenProgress):
    """Shows progress as a line every few seconds, for logs."""

    def show(self) -> None:
        now = time.perf_counter()
        if now - self.__dict__.setdefault("_last", self.started) >= PLAIN_SECONDS:
            self._last = now
            self.screen.say(f"{self._stage}: {self.state()}")


class TolerantStream:
    """A stream that ignores errors of writing, such as those of a closed terminal: the work goes on without a bar."""

    def __init__(self, stream: TextIO):
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


class Bar(ScreenProgress):
    """Shows progress as a bar, which is erased at the end of each stage."""

    _bar: Any = None

    def show(self) -> None:
        if self._bar is None:
            if self.seconds_in_all < PATIENCE_SECONDS:
                return
            self._bar = self._begin()
        self._bar.update(0, completed=min(self.done, self.total or self.done), state=self.state())

    def _begin(self) -> Any:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn
        from rich.progress import Progress as RichProgress

        console = Console(file=cast(TextIO, TolerantStream(sys.stderr)), force_terminal=True, no_color=not self.screen.colored(sys.stderr))
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(bar_width=24), TextColumn("{task.fields[state]}"))
        bar = RichProgress(*columns, console=console, transient=True)
        bar.add_task(self._stage, total=self.total or None, state="")
        bar.start()
        return bar

    def finish(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
        super().finish()

    def say(self, message: str) -> None:
        if self._bar is not None:
            self._bar.console.print(message, markup=False, highlight=False)
        else:
            super().say(message)

    def show_warning(self, message: str) -> None:
        if self._bar is not None:
            self.say(f"warning: {in_line(on_command_line(message))}")
        else:
            super().show_warning(message)


def progress_on(screen: Screen) -> ScreenProgress:
    """The progress display for a screen, for a run that begins now."""
    if screen.quiet or screen.progress == "never" or sys.stderr is None:  # None if closed; a bar would go to standard output then
        made = ScreenProgress(screen)
    else:
        made = Bar(screen) if screen.progress == "always" or is_terminal(sys.stderr) else Lines(screen)
    NOTICE.listen(made.compiling, made.compiling_ended)
    return made
