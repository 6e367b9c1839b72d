"""Elements of Python data: whole numbers of any size, and strings. A number for each keeps them distinct, which no hash can guarantee.

A float that is a whole number is that number, so 1.0 is the element 1. None and NaN are missing elements, and are left out of sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.errors import UsageError
from likewise.items.given import is_whole, shown


class Numbering:
    """Gives each different element a number, in the order of their coming. An int and its decimal string are different."""

    def __init__(self) -> None:
        self.numbers: dict[int | str, int] = {}

    def __call__(self, element: Any, row: int) -> int:
        """The number of an element. Raises UsageError with the row for what is no element."""
        if type(element) is not int and type(element) is not str:
            element = plain(element, f"row {row}")
        return self.numbers.setdefault(element, len(self.numbers))

    def element(self, number: int) -> int | str:
        """The element that has a number."""
        return list(self.numbers)[number]

    def ranks(self) -> NDArray[np.uint64]:
        """Number -> place in an order that is the elements' own: whole numbers, negative ones last as in words of 64 bits, then strings."""
        order = sorted(self.numbers, key=lambda element: (1, False, element) if isinstance(element, str) else (0, element < 0, element))
        ranks = np.empty(len(order), np.uint64)
        ranks[[self.numbers[element] for element in order]] = np.arange(len(order), dtype=np.uint64)
        return ranks

    def table(self, groups: Mapping[Any, Any]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
        """The numbers of those elements that have a group, ascending, and the numbers of their groups."""
        of_group: dict[int | str, int] = {}
        known = {}
        for element, group in groups.items():
            number = self.numbers.get(plain(element, "groups"))
            label = plain(group, f"groups, of {shown(element)}", "a group")
            if number is not None:
                known[number] = of_group.setdefault(label, len(of_group))
        elements = sorted(known)
        return np.array(elements, np.uint64), np.array([known[element] for element in elements], np.uint64)


def plain(element: Any, where: str, what: str = "an element") -> int | str:
    """An element as a Python int or str. Raises UsageError for anything else, also for True, which Python takes for 1."""
    if isinstance(element, str):
        return str(element)
    if (number := whole(element)) is not None:
        return number
    raise UsageError(f"{where}: {shown(element)}; {what} is a whole number or a string")


def hashed(elements: Sequence[int | str], seed: int) -> NDArray[np.uint64]:
    """A word for each element: that of a whole number of 64 bits is its own, -1 the same as 2^64 - 1; those of strings and larger numbers are
    made by items.words, keyed by the seed."""
    found = [word(element) for element in elements]
    others = [place for place, own in enumerate(found) if own is None]
    words = np.array([own or 0 for own in found], np.uint64)
    if others:
        from likewise.items.words import Hasher

        words[others] = Hasher(seed).listed([elements[place] for place in others])
    return words


def word(element: Any) -> int | None:
    """An element as a word of 64 bits, -1 the same as 2^64 - 1; None for what is no whole number of 64 bits."""
    number = whole(element)
    return number & 0xFFFF_FFFF_FFFF_FFFF if number is not None and -(2**63) <= number < 2**64 else None


def whole(element: Any) -> int | None:
    """A whole number as int, also one that is a float; None for anything else."""
    if is_whole(element):
        return int(element)
    return int(element) if isinstance(element, float | np.floating) and float(element).is_integer() else None


def is_missing(element: Any) -> bool:
    """True for None and NaN, which stand for a missing element."""
    return element is None or (isinstance(element, float | np.floating) and element != element)


def present(elements: Iterable[Any]) -> list[Any]:
    """The elements without missing ones."""
    return [element for element in elements if not is_missing(element)]
