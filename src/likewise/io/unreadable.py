"""Rows that could not be read, with their places and reasons: the lines of rejected.jsonl."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from likewise.messages import in_document
from likewise.records import Rejected


def explained(entry: Rejected, name: str, position: int) -> dict[str, Any]:
    """Return a line of rejected.jsonl. The rest of a file has no position, because its number of items is unknown; it counts as one."""
    if entry.raw is None:
        reason = f"{entry.reason}; {position:,} item{'s' * (position != 1)} before it were read; the rest of the file is missing"
        return {"source": name, "position": None, "reason": in_document(reason), "bytes": ""}
    return {"source": name, "position": position, "reason": in_document(entry.reason), "bytes": escaped(entry.raw)}


def escaped(raw: bytes) -> str:
    """Return bytes as text, reversibly: bytes that are not UTF-8 become \\xNN, a backslash is doubled."""
    return raw.replace(b"\\", b"\\\\").decode("utf-8", "backslashreplace")


def some(lines: np.ndarray, first: int, last: int) -> np.ndarray:
    """Return the lines from number ``first`` up to ``last``, uint8[n] as they are given."""
    ends = np.concatenate(([0], np.flatnonzero(lines == ord("\n")) + 1))
    return lines[ends[first] : ends[last]]


def reasons(lines: np.ndarray) -> tuple[list[str], list[str]]:
    """Return (places and reasons of unreadable rows, reasons of sources that could not be read to their end), from lines, uint8[n]."""
    entries = [json.loads(line) for line in bytes(lines).splitlines()]
    rows = [f"{entry['source']}, {entry['reason']}" for entry in entries if entry["position"] is not None]
    return rows, [entry["reason"] for entry in entries if entry["position"] is None]
