"""Chunks in work, and the memory that they and long records take."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.items import binary
from likewise.records import Chunk, Records

#: Copies of a chunk's bytes in memory while it is parsed and cut, about.
CHUNK_COPIES = 4
#: The estimate, until the first chunk is measured, of the bytes that one takes with its columns: about right for texts of some words.
GUESS = 320 << 20
#: A record of more than this part of the memory is long: its need is estimated, and no other long one is sketched meanwhile.
LONG = 48
#: Bytes of a record that is never long.
SHORT = 1 << 20


class Sketched(NamedTuple):
    """The results of a chunk, without anything that is not stored, because several wait at once."""

    source: int
    start: int
    next: int  # where the next chunk begins; -1: the source could not be read any further
    nbytes: int  # of the chunk
    records: Records  # without their texts
    columns: dict[str, np.ndarray]
    digest: bytes
    memory: int  # bytes that the chunk took with its columns, about
    too_large: tuple[int, int, int] | None = None  # a row for which there is no memory, its bytes, and those that it would take


def held(chunk: Chunk) -> int:
    """The bytes in memory of a chunk; a record that was passed over has none."""
    return 0 if isinstance(chunk.data, np.ndarray) and chunk.data.strides == (0,) else int(chunk.data.nbytes)


def first_above(texts: pa.LargeBinaryArray, memory: int, takes: Callable[[np.ndarray], int]) -> tuple[int, int, int] | None:
    """The first row for which there is no memory, the bytes that it has, and those that it takes."""
    offsets, data = binary.parts(texts)
    for row in np.flatnonzero(np.diff(offsets) > max(SHORT, memory // LONG)).tolist():
        text = data[offsets[row] : offsets[row + 1]]
        if (need := takes(text)) > memory:
            return row, len(text), need
    return None
