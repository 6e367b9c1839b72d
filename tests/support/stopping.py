"""Runs that are stopped at a step, and the bytes that they must end with all the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from likewise.io.work import Work


class StoppedError(BaseException):
    """As Ctrl-C, no ordinary exception."""


class Stops:
    """Stops runs at the step of a number, from 1; 0: at none. ``done`` holds the names of the steps since `begin`."""

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
        """late: once the step is written; else in the middle of writing it."""
        self.at, self.late, self.done = at, late, list[str]()


def tear(work: Work, columns: dict[str, Any]) -> None:
    """Write as a crash leaves it: some bytes in the columns, half a line in the journal."""
    for name, values in columns.items():
        with open(work.folder / f"{name}.col", "ab") as file:
            file.write(bytes(memoryview(values).cast("B"))[:7] if len(values) else b"")
    with open(work.folder / "journal.jsonl", "ab") as file:
        file.write(b'{"step": "chu')


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every byte under an output that is promised to be equal."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.name not in ("run.json", "report.html")
    }
