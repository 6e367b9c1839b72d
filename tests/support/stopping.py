"""Runs stopped at a step, and the bytes that they must have in the end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likewise.io.work import Work


class StoppedError(BaseException):
    """Like KeyboardInterrupt, not a subclass of Exception."""


class Stops:
    """Stops runs at a step, numbered from 1; 0: never. ``done`` holds the names of the steps since `begin`."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.begin(0)
        append = Work.append

        def stopping(work: Work, columns: dict[str, Any], **step: Any) -> None:
            self.done.append(step["step"])
            here = len(self.done) == self.at
            if not here or self.late:
                append(work, columns, **step)
            else:
                tear(work, columns)
            if here:
                raise StoppedError

        monkeypatch.setattr(Work, "append", stopping)

    def begin(self, at: int, *, late: bool = False) -> None:
        """Start over, to stop at step ``at``. late: after the step is written, not in the middle of it."""
        self.at, self.late, self.done = at, late, list[str]()


def tear(work: Work, columns: dict[str, Any]) -> None:
    """Write the state after a crash: some bytes in the columns, half a line in the journal."""
    for name, values in columns.items():
        with open(work.folder / f"{name}.col", "ab") as file:
            file.write(bytes(memoryview(values).cast("B"))[:7] if len(values) else b"")
    with open(work.folder / "journal.jsonl", "ab") as file:
        file.write(b'{"step": "chu')


def snapshot(folder: Path) -> dict[str, bytes]:
    """All bytes of an output that must be reproducible."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("run.json", "report.html")
    }
