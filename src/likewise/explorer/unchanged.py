"""A file that stays the same while it is explored."""

from __future__ import annotations

from pathlib import Path

from likewise.service.problems import ProblemError


class Unchanged:
    """The file, as it was when this was made. said: its name for people, or that of its folder."""

    def __init__(self, file: Path, said: Path):
        self._file, self._said = file, said
        self._opened = self._now()

    def _now(self) -> tuple[int, ...] | None:
        """The identity of this file, which distinguishes it from another one with its path; None without a file."""
        try:
            found = self._file.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns

    def check(self) -> None:
        """Raise ProblemError if it is no longer the file that was opened: pages, and verdicts, would be about two results at once."""
        if self._now() != self._opened:
            raise ProblemError(410, f"{self._said} was written again, moved or deleted after the explorer had opened it; start the explorer again")
