"""Progress of a long run. The base class keeps the times for run.json and shows nothing."""

from __future__ import annotations

import time


class Flag:
    """A `threading.Event` for which nobody waits, and which has no lock: a signal handler may set it wherever the signal comes."""

    def __init__(self) -> None:
        self._is_set = False

    def is_set(self) -> bool:
        return self._is_set

    def set(self) -> None:
        self._is_set = True

    def clear(self) -> None:
        self._is_set = False


#: Set by the code that catches a signal to stop.
INTERRUPTED = Flag()


def raise_if_interrupted() -> None:
    """Raise KeyboardInterrupt if a signal to stop has come. Called from time to time, on any thread."""
    if INTERRUPTED.is_set():
        raise KeyboardInterrupt


class Progress:
    """Receives the progress of a run, and keeps the time of each stage. To show progress, subclass it and call the methods of this class in yours.

    >>> import likewise as lw
    >>> class Shown(lw.Progress):
    ...     def begin(self, stage, total, unit):
    ...         super().begin(stage, total, unit)
    ...         print(stage)
    >>> result = lw.dedup(["a b c d e", "f g h i j"], progress=Shown())
    reading and sketching
    collapsing exact copies
    grouping bands
    comparing
    """

    #: The command line of the run, for run.json; empty in Python.
    command = ""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self._stage = ""
        self._since = 0.0

    def begin(self, stage: str, total: int, unit: str) -> None:
        """Begin a stage of ``total`` units: "bytes", "items", "elements"; 0 if unknown. It ends when the next begins, or with `finish`."""
        self.finish()
        raise_if_interrupted()
        self._stage, self._since = stage, time.perf_counter()

    def advance(self, amount: int) -> None:
        """Report ``amount`` more units of the stage as done. Several threads may call it."""

    def resumed(self, amount: int) -> None:
        """Report ``amount`` units of the stage as done by an earlier run, so they take no time now. Called before the first `advance`."""

    def finish(self) -> None:
        """End the current stage."""
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + time.perf_counter() - self._since
            self._stage = ""

    def warn(self, message: str) -> None:
        """Report something that the user should know; the report also contains it."""
        self.warnings.append(message)

    def note(self, message: str) -> None:
        """Report something about this run on this machine, not about its result; run.json also contains it."""
        self.notes.append(message)
