"""Checks of a family's fields; errors name the valid values."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

from likewise.errors import UsageError
from likewise.messages import quoted
from likewise.planning.curves import number_of


def check_layout(bands: Any, rows: Any, slots: int) -> tuple[int, int]:
    """Bands and rows as ints, so that no fixed width truncates their product.

    Raises UsageError if they are not whole numbers of 1 or more, or need more slots than there are.
    """
    whole_bands, whole_rows = index(bands), index(rows)
    if whole_bands is None or whole_rows is None:
        raise UsageError(f"{quoted(bands)} bands of {quoted(rows)} rows: give two whole numbers of 1 or more")
    if whole_bands < 1 or whole_rows < 1 or whole_bands * whole_rows > slots:
        raise UsageError(f"{quoted(whole_bands)} bands of {quoted(whole_rows)} rows do not fit a signature of {slots} slots")
    return whole_bands, whole_rows


def index(number: Any) -> int | None:
    """A whole number, numpy's too, as an int; None for any other value, including True and False."""
    try:
        return None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        return None


def whole(owner: Any, name: str, least: int, most: int) -> None:
    """Replace a field by an int. Raises UsageError if it is not a whole number from ``least`` to ``most``."""
    given = getattr(owner, name)
    number = index(given)
    if number is None or not least <= number <= most:
        raise UsageError(f"{type(owner).__name__} {name} {quoted(given)}: give a whole number from {least} to {most}")
    object.__setattr__(owner, name, number)


def positive(owner: Any, name: str) -> None:
    """Check a field. Raises UsageError if it is not a finite number above 0."""
    if not 0 < real(owner, name, "a number above 0") < math.inf:
        raise UsageError(f"{type(owner).__name__} {name} {quoted(getattr(owner, name))}: give a number above 0")


def real(owner: Any, name: str, what: str = "a number") -> float:
    """The value of a numeric field as a float; a numpy number is replaced by Python's. Raises UsageError for any other value."""
    number = getattr(owner, name)
    if (
        isinstance(number, bool) or not isinstance(number, Real) or (math.isnan(number_of(number)) and number == number)
    ):  # too large for a float, not NaN
        raise UsageError(f"{type(owner).__name__} {name} {quoted(number)}: give {what}")
    if type(number) not in (int, float):
        object.__setattr__(owner, name, float(number))
    return float(number)


def one_of(owner: Any, name: str, choices: tuple[str, ...]) -> None:
    """Check a field. Raises UsageError if it is not one of the choices."""
    if getattr(owner, name) not in choices:
        raise UsageError(f"{type(owner).__name__} {name} {getattr(owner, name)!r}: choose one of {', '.join(choices)}")
