"""Documents as units that are compared on their own: lines or paragraphs."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.items import binary, unicode
from likewise.kernels import units
from likewise.kernels.bytes import gather

LINE, PARAGRAPH = "line", "paragraph"


class Split(NamedTuple):
    """The units of texts, which follow each other without gaps."""

    number: np.ndarray  # uint32[n]: units of each text
    size: np.ndarray  # int64[m]: bytes of each unit, with its line end or the blank lines after it
    chars: np.ndarray  # uint32[m]: code points of each unit
    text: pa.LargeBinaryArray  # the units without line ends and blank lines after them


def split(texts: pa.LargeBinaryArray, level: str) -> Split:
    """Cut texts into units. ``level``: LINE or PARAGRAPH."""
    offsets, data = binary.parts(texts)
    number, size, content, chars = units.split(data, offsets, level == PARAGRAPH, blank())
    ends = offsets[0] + np.cumsum(size)
    begin = ends - size
    text = np.empty(int(content.sum()) + 64, np.uint8)
    used, _ = gather(data, 0, begin, begin + content, 0, np.ones(len(begin), bool), data[:0], text)
    return Split(number, size, chars, binary.build(np.concatenate(([0], np.cumsum(content))), text[:used]))


@cache
def blank() -> np.ndarray:
    """bool by code point: white space, of which blank lines consist. Read-only, because it is cached."""
    found = unicode.white_space()
    found.setflags(write=False)
    return found
