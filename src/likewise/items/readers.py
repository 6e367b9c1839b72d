"""The readers by payload."""

from __future__ import annotations

from likewise.items.reader import Reader
from likewise.kinds import of_payload
from likewise.kinds.kind import loaded


def reader_of(payload: str) -> Reader | None:
    """The reader of a payload; None for texts and strings, which are read raw."""
    path = of_payload(payload).reader
    return loaded(path) if path else None


def sure_reader_of(payload: str) -> Reader:
    """The reader of a payload that has one."""
    found = reader_of(payload)
    assert found is not None
    return found
