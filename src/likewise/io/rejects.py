"""The file in which `features` lists the inputs that it could not read."""

from __future__ import annotations

import json
from pathlib import Path

FIELDS = {"source", "position", "reason", "bytes"}


def beside(target: Path) -> Path:
    """FILE.rejected.jsonl for FILE."""
    return target.with_name(f"{target.name}.rejected.jsonl")


def are_in(path: Path) -> bool:
    """True for such a list: each line is an object with exactly these fields, and there is at least one."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        entries = [is_entry(line) for line in file]
    return bool(entries) and all(entries)


def is_entry(line: bytes) -> bool:
    """True for a line of such a list."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() == FIELDS
