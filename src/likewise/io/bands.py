"""Band keys in the work folder: one file per band, or one for several bands, because a process may have only a limited number of open files.

All files are open while rows are read. A chunk of rows appends to the file of some bands the keys of all its rows in the first of these bands,
then those in the next: so the keys of one band are contiguous within each chunk.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FormatError, naming
from likewise.io.work import Work

#: Maximum number of files. Layouts for common thresholds have fewer bands, and systems allow at least 256 open files.
MOST_FILES = 64
PREFIX = "band-"

Keys = NDArray[np.uint64]


def columns(keys: Keys) -> dict[str, Keys]:
    """Return the columns of the work folder for the rows of a chunk. keys: uint64[bands, rows]"""
    each = bands_of_a_file(len(keys))
    return {f"{PREFIX}{number:03d}": keys[begin : begin + each].ravel() for number, begin in enumerate(range(0, len(keys), each))}


def names(bands: int) -> list[str]:
    """Return the names of the columns of ``bands`` bands."""
    return list(columns(np.zeros((bands, 0), np.uint64)))


def read(work: Work, band: int, bands: int, rows: Sequence[int]) -> Keys:
    """Return the keys of one of ``bands`` bands in memory, uint64[n]. rows: the number of rows of each chunk. Raises FormatError."""
    number, place = divmod(band, bands_of_a_file(bands))
    each = min(bands_of_a_file(bands), bands - number * bands_of_a_file(bands))
    keys = np.empty(sum(rows), np.uint64)
    if not len(keys):
        return keys
    path = work.folder / f"{PREFIX}{number:03d}.col"
    with naming(path), open(path, "rb", buffering=0) as file:
        if path.stat().st_size != each * keys.nbytes:
            raise FormatError(f"{path}: expected the keys of {each} band{'s' * (each > 1)}; delete {work.folder} and start over")
        if each == 1:
            return np.fromfile(file, np.uint64)
        at = 0
        for n in rows:
            file.seek(8 * (each * at + place * n))
            keys[at : at + n] = np.fromfile(file, np.uint64, n)
            at += n
    return keys


def of_rows(work: Work, bands: int, rows: Sequence[int], begin: int, stop: int) -> Keys:
    """Return the keys of the rows from ``begin`` up to ``stop`` in all bands, uint64[bands, stop - begin]. rows: the number of rows of each chunk."""
    ends = np.cumsum(rows, dtype=np.int64)
    keys = np.empty((bands, stop - begin), np.uint64)
    chunks = range(int(np.searchsorted(ends, begin, side="right")), int(np.searchsorted(ends, stop)) + 1) if begin < stop else ()
    for number, first in enumerate(range(0, bands, bands_of_a_file(bands))):
        path, each = work.folder / f"{PREFIX}{number:03d}.col", min(bands_of_a_file(bands), bands - first)
        with naming(path), open(path, "rb", buffering=0) as file:
            for chunk in chunks:
                at = int(ends[chunk]) - rows[chunk]  # the first row of the chunk
                some = slice(max(begin, at), min(stop, int(ends[chunk])))
                for band in range(each):
                    file.seek(8 * (each * at + band * rows[chunk] + some.start - at))
                    found = np.fromfile(file, np.uint64, some.stop - some.start)
                    if len(found) < some.stop - some.start:
                        raise FormatError(f"{path}: expected the keys of {ends[-1]:,} rows; delete {work.folder} and start over")
                    keys[first + band, some.start - begin : some.stop - begin] = found
    return keys


def bands_of_a_file(bands: int) -> int:
    """Return the number of bands per file."""
    return max(1, -(-bands // MOST_FILES))
