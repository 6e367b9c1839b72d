"""What the fields of a family may be, refused with what to give instead."""

from __future__ import annotations

import math
from typing import Any

from likewise.errors import UsageError


def check_layout(bands: int, rows: int, slots: int) -> None:
    if bands < 1 or rows < 1 or bands * rows > slots:
        raise UsageError(f"{bands} bands of {rows} rows do not fit a signature of {slots} slots")


def whole(owner: Any, name: str, least: int, most: int) -> None:
    """Refuse a field that is not a whole number in its range."""
    number = getattr(owner, name)
    if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
        raise UsageError(f"{type(owner).__name__} {name} {number!r}: give a whole number from {least} to {most}")


def positive(owner: Any, name: str) -> None:
    """Refuse a field that is not a finite number above 0."""
    number = getattr(owner, name)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 < number < math.inf:
        raise UsageError(f"{type(owner).__name__} {name} {number!r}: give a number above 0")


def one_of(owner: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a field that is none of the choices."""
    if getattr(owner, name) not in choices:
        raise UsageError(f"{type(owner).__name__} {name} {getattr(owner, name)!r}: choose one of {', '.join(choices)}")
