"""Chunks in flight, and the memory that they and long records take."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.items import binary
from likewise.records import Chunk, Records, Want

#: Approximate number of copies of a chunk's bytes in memory while it is parsed and cut.
CHUNK_COPIES = 4
#: Estimated bytes of a chunk with its columns until the first one is measured: about right for texts of some words.
GUESS = 320 << 20
#: A record of more than this fraction (1/LONG) of the memory is long: its need is estimated, and no other long one is sketched meanwhile.
LONG = 48
#: Maximum bytes of a record that never counts as long.
SHORT = 1 << 20


class Sketched(NamedTuple):
    """The results of a chunk, without anything that is not stored, because several wait at once."""

    source: int
    start: int
    next: int  # begin of the next chunk; -1 if the source could not be read any further
    nbytes: int  # of the chunk
    records: Records  # without their texts
    columns: dict[str, np.ndarray]
    digest: bytes
    memory: int  # approximate bytes of the chunk with its columns
    too_large: tuple[int, int, int] | None = None  # a row that does not fit into memory, its bytes, and the bytes it would take


def with_room(want: Want, memory: int) -> Want:
    """``want`` for readers that refuse a record which does not fit into ``memory`` before they hold all of it."""
    return want._replace(room=max(SHORT, memory // CHUNK_COPIES))


def held(chunk: Chunk) -> int:
    """The bytes of a chunk in memory; 0 for a record that was skipped."""
    return 0 if isinstance(chunk.data, np.ndarray) and chunk.data.strides == (0,) else int(chunk.data.nbytes)


def first_above(texts: pa.LargeBinaryArray, memory: int, takes: Callable[[np.ndarray], int]) -> tuple[int, int, int] | None:
    """The first row that does not fit into ``memory``: (row, its bytes, the bytes it takes); or None."""
    offsets, data = binary.parts(texts)
    for row in np.flatnonzero(np.diff(offsets) > max(SHORT, memory // LONG)).tolist():
        text = data[offsets[row] : offsets[row + 1]]
        if (need := takes(text)) > memory:
            return row, len(text), need
    return None
