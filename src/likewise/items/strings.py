"""Strings as they are: code point by code point, lone surrogates and NUL among them, with nothing normalised."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from likewise.errors import UsageError
from likewise.items.arrow import unpacked


def strings(batch: Any) -> list[str]:
    """A batch of strings: a list, an array or an Arrow array of str. Raises UsageError with the row."""
    batch = unpacked(batch)
    if isinstance(batch, str | bytes) or not isinstance(batch, Sequence | np.ndarray):
        hint = "; one string alone is a batch of one: [string]" if isinstance(batch, str) else ""
        raise UsageError(f"strings are a list of str; here came {type(batch).__name__}{hint}")
    for row, string in enumerate(batch):
        if not isinstance(string, str):
            hint = "; decode it first" if isinstance(string, bytes) else ""
            raise UsageError(f"row {row} is {string!r}; a string is a str{hint}")
    return [str(string) for string in batch]


def alone(given: Any) -> bool:
    """Whether this is one string and not a batch."""
    return isinstance(given, str)
