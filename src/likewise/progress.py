"""What a long run says while it works. The base class keeps the times for run.json and says nothing."""

from __future__ import annotations

import threading
import time

#: Set by whoever catches a signal to stop.
INTERRUPTED = threading.Event()


def heed() -> None:
    """Called now and then, on any thread: raises KeyboardInterrupt where a signal to stop has come."""
    if INTERRUPTED.is_set():
        raise KeyboardInterrupt


class Progress:
    """Is told how far a run is, and keeps what each stage took. To hear of it make a class from this one, and in its methods call those here, too.

    >>> import likewise as lw
    >>> class Told(lw.Progress):
    ...     def begin(self, stage, total, unit):
    ...         super().begin(stage, total, unit)
    ...         print(stage)
    >>> result = lw.dedup(["a b c d e", "f g h i j"], progress=Told())
    reading and sketching
    collapsing exact copies
    grouping bands
    comparing
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.warnings: list[str] = []
        self.notes: list[str] = []
        self._stage = ""
        self._since = 0.0

    def begin(self, stage: str, total: int, unit: str) -> None:
        """A new stage of ``total`` units: "bytes", "items", "elements"; 0 if unknown. It ends when the next begins, or with `finish`."""
        self.finish()
        heed()
        self._stage, self._since = stage, time.perf_counter()

    def advance(self, amount: int) -> None:
        """So much more of the stage is done. Several threads may say so."""

    def resumed(self, amount: int) -> None:
        """An earlier run did so much of the stage, which takes no time now. Called before the first `advance`."""

    def finish(self) -> None:
        if self._stage:
            self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + time.perf_counter() - self._since
            self._stage = ""

    def warn(self, message: str) -> None:
        """Something the user should know; it also goes into the report."""
        self.warnings.append(message)

    def note(self, message: str) -> None:
        """Something the user should know about this run on this machine, not about its result; it also goes into run.json."""
        self.notes.append(message)
