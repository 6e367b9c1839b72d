"""What the fields of a family may be, refused with what to give instead."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

from likewise.errors import UsageError
from likewise.messages import quoted
from likewise.planning.curves import number_of


def check_layout(bands: Any, rows: Any, slots: int) -> tuple[int, int]:
    """Bands and rows as ints, whose product no fixed width cuts. Refuses what are no whole numbers, and more slots than there are."""
    whole_bands, whole_rows = index(bands), index(rows)
    if whole_bands is None or whole_rows is None:
        raise UsageError(f"{quoted(bands)} bands of {quoted(rows)} rows: give two whole numbers of 1 or more")
    if whole_bands < 1 or whole_rows < 1 or whole_bands * whole_rows > slots:
        raise UsageError(f"{quoted(whole_bands)} bands of {quoted(whole_rows)} rows do not fit a signature of {slots} slots")
    return whole_bands, whole_rows


def index(number: Any) -> int | None:
    """A whole number, numpy's too, as an int; None for what is none, True among it."""
    try:
        return None if isinstance(number, bool) else operator.index(number)
    except TypeError:
        return None


def whole(owner: Any, name: str, least: int, most: int) -> None:
    """Refuse a field that is not a whole number in its range; numpy's become an int."""
    given = getattr(owner, name)
    number = index(given)
    if number is None or not least <= number <= most:
        raise UsageError(f"{type(owner).__name__} {name} {quoted(given)}: give a whole number from {least} to {most}")
    object.__setattr__(owner, name, number)


def positive(owner: Any, name: str) -> None:
    """Refuse a field that is not a finite number above 0."""
    if not 0 < real(owner, name, "a number above 0") < math.inf:
        raise UsageError(f"{type(owner).__name__} {name} {quoted(getattr(owner, name))}: give a number above 0")


def real(owner: Any, name: str, what: str = "a number") -> float:
    """A field that is a number; numpy's become Python's. Refuses any other."""
    number = getattr(owner, name)
    if (
        isinstance(number, bool) or not isinstance(number, Real) or (math.isnan(number_of(number)) and number == number)
    ):  # too great for a float, not NaN
        raise UsageError(f"{type(owner).__name__} {name} {quoted(number)}: give {what}")
    if type(number) not in (int, float):
        object.__setattr__(owner, name, float(number))
    return float(number)


def one_of(owner: Any, name: str, choices: tuple[str, ...]) -> None:
    """Refuse a field that is none of the choices."""
    if getattr(owner, name) not in choices:
        raise UsageError(f"{type(owner).__name__} {name} {getattr(owner, name)!r}: choose one of {', '.join(choices)}")
