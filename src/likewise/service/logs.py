"""The log of the service: a JSON object a line, without texts of items and without tokens."""

from __future__ import annotations

import threading
import time
import traceback
from collections import deque
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, BinaryIO

import msgspec

#: Lines that wait to be written. If the reader of the log is slow, further ones are dropped and counted: requests do not wait for it.
MOST_LINES = 10_000
#: Seconds in which lines are collected before they are written together.
COLLECT = 0.05
LEVELS = {"debug": 0, "info": 1, "warning": 2, "error": 3}


class Log:
    def __init__(self, stream: BinaryIO, least: str = "info"):
        self._stream, self._least = stream, LEVELS[least]
        self._encode = msgspec.json.Encoder().encode
        self._lines: deque[dict[str, Any]] = deque()
        self._dropped = 0
        self._some, self._closed = threading.Event(), False
        self._thread = threading.Thread(target=self._run, name="likewise-log", daemon=True)
        self._thread.start()

    def takes(self, level: str) -> bool:
        """True if lines of this level are written."""
        return LEVELS[level] >= self._least

    def add(self, level: str, event: str, **facts: Any) -> None:
        if not self.takes(level):
            return
        if len(self._lines) >= MOST_LINES:
            self._dropped += 1
            return
        self._lines.append({"time": time.time(), "level": level, "event": event, **facts})
        if not self._some.is_set():
            self._some.set()

    def fault(self, event: str, error: BaseException, **facts: Any) -> None:
        """An unexpected error: its type and the places in the code, without its message, which may quote items."""
        places = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)]
        self.add("error", event, error=type(error).__name__, places=places[-12:], **facts)

    def close(self) -> None:
        """Write what is left, for five seconds at most: the reader of the log may be stuck."""
        self._closed = True
        self._some.set()
        self._thread.join(5)

    def _run(self) -> None:
        while True:
            self._some.wait()
            if not self._closed:
                time.sleep(COLLECT)
            self._some.clear()
            self._write()
            if self._closed and not self._lines:
                return

    def _write(self) -> None:
        lines = []
        while self._lines:
            one = self._lines.popleft()
            one["time"] = datetime.fromtimestamp(one["time"], UTC).isoformat(timespec="milliseconds")
            lines.append(self._encode(one) + b"\n")
        if self._dropped:
            lines.append(self._encode({"level": "warning", "event": "log lines dropped", "lines": self._dropped}) + b"\n")
            self._dropped = 0
        with suppress(OSError, ValueError):  # nobody reads the log
            self._stream.write(b"".join(lines))
            self._stream.flush()
