"""Batches as a caller gives them, before they are read as items of some kind. Rejects values without rows, or without an order of rows."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.arrow import unpacked

#: Sequences in Python, but single values here.
BYTES = (bytes, bytearray, memoryview)
SINGLE = (str, *BYTES)

#: Levels of lists and mappings that a value may have: Arrow follows them on the C stack, which ends the process where there are thousands.
DEEPEST = 64
NESTED = (list, tuple, dict)

LONGEST = 60  # characters of a value in a message
DIGITS = 190  # bits of an integer of about LONGEST characters


class _Short(reprlib.Repr):
    """Shows values of any size in one short line. Python refuses to write out an integer of more than 4300 digits."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = LONGEST

    def repr_int(self, value: int, level: int) -> str:
        return repr(value) if value.bit_length() <= DIGITS else f"a whole number of {value.bit_length()} bits"

    def repr_bytes(self, value: bytes, level: int) -> str:
        return repr(value) if len(value) <= LONGEST else f"{value[:LONGEST]!r}..."

    def repr_ndarray(self, value: NDArray[Any], level: int) -> str:
        return f"an array of {value.dtype} of shape {value.shape}"

    def repr_instance(self, value: Any, level: int) -> str:
        return " ".join(super().repr_instance(value, level).split())


_SHORT = _Short()


def shown(value: Any) -> str:
    """A value for a message."""
    return _SHORT.repr(value)


def refuse_deep(values: Iterable[Any]) -> None:
    """Raises UsageError if lists, tuples or dicts are nested in more than `DEEPEST` levels, as in a list that contains itself."""
    level = {id(value): value for value in values if isinstance(value, NESTED)}
    for _ in range(DEEPEST):
        parts = (value.values() if isinstance(value, dict) else value for value in level.values())
        level = {id(part): part for some in parts if not set(NESTED).isdisjoint(map(type, some)) for part in some if isinstance(part, NESTED)}
        if not level:
            return
    raise UsageError(f"a list or mapping is nested in more than {DEEPEST} levels, or contains itself")


def rows(given: Any, forms: str, *hints: tuple[type | tuple[type, ...], str]) -> Sequence[Any] | NDArray[Any]:
    """The rows of a batch: a list or another sequence, an array, or an Arrow array as a list.

    forms: describes a batch; hints: advice by type of value. Raises UsageError with both for anything else: an iterator would be empty when read
    again, the rows of a set have no order, and those of a mapping or table are its names.
    """
    given = unpacked(given)
    if isinstance(given, np.ndarray):
        refuse_masked(given, forms)
        if given.ndim:
            return given
        raise UsageError(f"{forms}; got an array of no dimension, {shown(given.item())}{hint(given.item(), hints)}")
    if isinstance(given, Sequence) and not isinstance(given, SINGLE):
        return given
    raise UsageError(f"{forms}; got {type(given).__name__}{hint(given, hints)}")


def hint(given: Any, hints: Sequence[tuple[type | tuple[type, ...], str]]) -> str:
    """Advice for the type of a rejected value, for a message; "" without any."""
    for kind, advice in (*hints, *HINTS):
        if isinstance(given, kind):
            return f"; {advice}"
    return "; give a list" if hasattr(given, "__iter__") and not isinstance(given, SINGLE) else ""


HINTS: tuple[tuple[type, str], ...] = (
    (Iterator, "it can be read only once: give a list of its values"),
    (AbstractSet, "a set has no order; give a list, or compare sets with by='elements'"),
    (Mapping, "give a list of its values"),
)


def refuse_masked(array: Any, where: str) -> None:
    """Raises UsageError for a masked array."""
    if isinstance(array, np.ma.MaskedArray):
        raise UsageError(f"{where}; got a masked array, whose mask would be ignored: give .filled(value), or remove the masked values")


def is_whole(value: Any) -> bool:
    """True for integers, but not for bool, nor for time spans, which numpy counts among integers."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def is_number(value: Any) -> bool:
    """True for integers and floats, also in a 0-dimensional array."""
    value = value.item() if isinstance(value, np.ndarray) and value.ndim == 0 else value
    return is_whole(value) or isinstance(value, float | np.floating)


def borders(offsets: NDArray[Any], most: int) -> NDArray[np.int64]:
    """Offsets as int64[n + 1], which may begin above 0. most: the number of values. Raises UsageError for invalid offsets."""
    rule = f"offsets rise from 0 to the number of values, {most}, one more of them than items"
    refuse_masked(offsets, rule)
    if offsets.ndim != 1 or offsets.size == 0 or offsets.dtype.kind not in "iu":
        raise UsageError(f"{rule}; got {shown(offsets)}; offsets must be a 1-D array of whole numbers")
    outside = (offsets < 0) | (offsets > most)
    if outside.any():
        raise UsageError(f"{rule}; offset {outside.argmax()} is {offsets[outside.argmax()]}")
    fall = offsets[1:] < offsets[:-1]
    if fall.any():
        at = int(fall.argmax())
        raise UsageError(f"{rule}; offset {at + 1} is {offsets[at + 1]}, after {offsets[at]}")
    return np.ascontiguousarray(offsets, np.int64)
