"""CSV cells as codes: hexadecimal digits, or 64-bit integers. A column has one of these forms, decided by its first unambiguous cells.

``1234567890123456`` alone can be either, so a single chunk cannot decide.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from likewise.items import binary
from likewise.items.codes import is_decimal
from likewise.items.payloads import ends
from likewise.items.wrapped import wrapped

#: Codes examined before a decision, so that a damaged one rarely decides for all.
SAMPLE = 1000
HEXADECIMAL = re.compile(rb"0x[0-9a-fA-F]*|[0-9a-fA-F]*[a-fA-F][0-9a-fA-F]*|[0-9]{20,}")
#: A hexadecimal code of this length has no letters with a probability of 1 in 4,000.
LONG = 18


def form(columns: Iterable[pa.LargeBinaryArray]) -> str:
    """Return ``hexadecimal`` or ``decimal``, or "" if a column is ambiguous: all its codes are digits, of one even length below 18.

    The first 1,000 cells that are not null decide or, if they are ambiguous, the next 1,000. The division of the cells into arrays does not
    matter.
    """
    length = 0
    for texts in telling(columns):
        if any(HEXADECIMAL.fullmatch(text) and not is_decimal(text) for text in texts):
            return "hexadecimal"
        for text in filter(is_decimal, texts):
            length = length or len(text)
            if text.startswith(b"-") or len(text) % 2 or len(text) >= LONG or len(text) != length:
                return "decimal"
    return ""


def telling(columns: Iterable[pa.LargeBinaryArray]) -> Iterator[list[bytes]]:
    """Yield the cells that are not null, SAMPLE at a time, without undecidable ones: digits, as many as in the first such cell."""
    seen, usual = 0, 0
    texts: list[bytes] = []
    for column in columns:
        cells = column.drop_null()
        offsets, data = binary.parts(cells)
        sizes = np.diff(offsets)
        digits = ends((data >= ord("0")) & (data <= ord("9")))
        plain = (digits[offsets[1:]] - digits[offsets[:-1]] == sizes) & (sizes % 2 == 0) & (sizes < LONG)
        start = 0
        while start < len(cells):
            end = min(len(cells), start + SAMPLE - seen)
            if not usual and plain[start:end].any():
                usual = int(sizes[start:end][plain[start:end]][0])
                texts.append(b"0" * usual)  # so that other lengths are detected
            mute = plain[start:end] & (sizes[start:end] == usual)
            texts += cells.slice(start, end - start).filter(wrapped(~mute)).to_pylist()
            seen, start = seen + end - start, end
            if seen == SAMPLE:
                yield texts
                texts, seen = [], 0
    yield texts
