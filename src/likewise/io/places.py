"""The places of rows in their sources: where some of them begin, and the rows read from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from likewise.io.address import Address
from likewise.io.compression import kind_of
from likewise.io.formats import FORMATS
from likewise.io.inputs import Source
from likewise.io.ranges import END
from likewise.records import Chunk, Records, Want

#: A row is marked if it has a byte at a multiple of 1 MiB, which is 2 to this power.
BITS = 20
#: If more than one row in this many is wanted, all rows between them are read too; otherwise each is read alone.
DENSE = 100


def marked(source: Source, records: Records) -> list[tuple[int, int]]:
    """(number in the chunk, start) of the marked rows of a chunk. They depend on the content of the source alone, not on where chunks begin."""
    if not is_bytes(source):
        return []
    last = records.start + records.length - 1
    rows = np.flatnonzero((records.start > 0) & (last >> BITS > (records.start - 1) >> BITS))
    return list(zip(rows.tolist(), records.start[rows].tolist(), strict=True))


def records_at(source: Source, want: Want, rows: np.ndarray, begins: np.ndarray) -> Iterator[tuple[int, Chunk, Records]]:
    """Yield (number of the first row, chunk, rows) of chunks that hold these ascending rows of a source.

    begins: int64[k, 2], places where chunks may begin and the rows before them, ascending from (0, 0).
    """
    if not is_bytes(source):
        dense = source.few != END and len(rows) * DENSE >= rows[-1] - rows[0]
        span = (int(rows[0]), int(rows[-1]) + 1)
        start = int(begins[block_of(rows[:1], begins)[0], 0])
        for chunk in source.chunks(want, 0, span) if dense else source.chunks_of(want, rows.tolist(), start):
            if ((rows >= chunk.start) & (rows < chunk.start + len(chunk.data))).any():
                yield chunk.start, chunk, source.parse(chunk, want)
        return
    blocks = block_of(rows, begins)
    apart = np.flatnonzero(np.diff(blocks) > 1) + 1
    for here in np.split(np.arange(len(rows)), () if kind_of(source.path) else apart):  # a compressed file is read in one pass
        for first, chunk, records in between(source, want, begins, int(blocks[here[0]]), int(blocks[here[-1]])):
            yield first, chunk, records
            if first + len(records) > rows[here[-1]]:
                break


def between(source: Source, want: Want, begins: np.ndarray, first: int, last: int) -> Iterator[tuple[int, Chunk, Records]]:
    """Yield (number of the first row, chunk, rows) of the chunks from one place of ``begins`` to the end of the block behind another one."""
    (start, row), ends = begins[first].tolist(), begins[last + 1 :, 0].tolist()
    part = [(start, ends[0])] if ends and source.few != END else []
    for chunk in source.chunks(want, start, *part):
        records = source.parse(chunk, want)
        yield row, chunk, records
        row += len(records)
        if ends and chunk.start + len(chunk.data) >= ends[0]:
            return


def block_of(rows: np.ndarray, begins: np.ndarray) -> np.ndarray:
    """The numbers of the last places in ``begins`` that are not behind the rows, int64[n]."""
    return np.searchsorted(begins[:, 1], rows, side="right") - 1


def is_bytes(source: Source) -> bool:
    """Return whether the rows of a source are ranges of bytes (`Records.start`), not rows of a table or files."""
    name = getattr(source.format, "__name__", "").rpartition(".")[2]  # a list in a JSON document has none
    return isinstance(source.path, Path | Address) and (not name or FORMATS[name][1])  # formats of bytes may be compressed


def begins_of(marks: Sequence[tuple[int, int]]) -> np.ndarray:
    """``begins`` of a source from its marks: (place, rows before)."""
    return np.array([(0, 0), *marks], np.int64)
