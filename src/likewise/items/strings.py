"""Strings as they are: code point by code point, lone surrogates and NUL among them, with nothing normalised."""

from __future__ import annotations

from typing import Any

from likewise.errors import UsageError
from likewise.items.given import BYTES, rows, shown


def strings(batch: Any) -> list[str]:
    """A batch of strings: a list, an array or an Arrow array of str. Raises UsageError with the row."""
    batch = rows(batch, "strings are a list of str", (str, "one string alone is a batch of one: [string]"))
    for row, string in enumerate(batch):
        if not isinstance(string, str):
            hint = "; decode it first" if isinstance(string, BYTES) else ""
            raise UsageError(f"row {row} is {shown(string)}; a string is a str{hint}")
    return [str(string) for string in batch]


def alone(given: Any) -> bool:
    """Whether this is one string and not a batch."""
    return isinstance(given, str)
