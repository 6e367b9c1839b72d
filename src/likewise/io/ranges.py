"""Ranges of a source that can be read on their own, by another thread, process or machine.

A range is (begin, end): offsets of bytes or numbers of rows, as `Records.start` counts them. It holds the rows that begin in it, so any ascending
cuts give ranges that hold each row once.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

Range = tuple[int, int]
END = 2**63 - 1
WHOLE: Range = (0, END)


def few(path: Any) -> int:
    """Return the end of a range of a few rows, for formats whose ranges are of rows."""
    return 64


def cut(length: int, step: int) -> list[Range]:
    """Return ranges of ``step`` each; the last extends to the end of the source.

    >>> cut(10, 4), cut(0, 4)
    ([(0, 4), (4, 8), (8, 9223372036854775807)], [(0, 9223372036854775807)])
    """
    begins = range(0, max(1, length), max(1, step))
    return list(zip(begins, [*begins[1:], END], strict=True))


def joined(units: Iterable[tuple[int, int]], size: int) -> list[Range]:
    """Return ranges of rows from consecutive units, (rows, bytes) each, joined until they hold ``size`` bytes.

    >>> joined([(5, 60), (5, 60), (7, 10)], 100)
    [(0, 10), (10, 9223372036854775807)]
    """
    begins, at, held = [0], 0, 0
    for rows, nbytes in units:
        if held >= size:
            begins.append(at)
            held = 0
        at, held = at + rows, held + nbytes
    return list(zip(begins, [*begins[1:], END], strict=True))
