"""Band keys in the work folder: a file for each band, or for several where there are many, since a process may have only so many open files.

While rows are read each file is open. A chunk of rows appends, to the file of some bands, the keys of all its rows in the first of these bands,
then those in the next: so the keys of one band are one piece in each chunk.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.errors import FormatError, naming
from likewise.io.work import Work

#: The most files. Layouts for common thresholds have fewer bands, and systems allow 256 open files or more.
MOST_FILES = 64
PREFIX = "band-"

Keys = NDArray[np.uint64]


def columns(keys: Keys) -> dict[str, Keys]:
    """The columns of the work folder for the rows of a chunk. keys: uint64[bands, rows]"""
    each = bands_of_a_file(len(keys))
    return {f"{PREFIX}{number:03d}": keys[begin : begin + each].ravel() for number, begin in enumerate(range(0, len(keys), each))}


def names(bands: int) -> list[str]:
    """The names of the columns of so many bands."""
    return list(columns(np.zeros((bands, 0), np.uint64)))


def read(work: Work, band: int, bands: int, rows: Sequence[int]) -> Keys:
    """The keys of one of so many bands, in memory: uint64[n]. The file is closed again. rows: how many of each chunk. Raises FormatError."""
    number, place = divmod(band, bands_of_a_file(bands))
    each = min(bands_of_a_file(bands), bands - number * bands_of_a_file(bands))
    keys = np.empty(sum(rows), np.uint64)
    if not len(keys):
        return keys
    path = work.folder / f"{PREFIX}{number:03d}.col"
    with naming(path), open(path, "rb", buffering=0) as file:
        if path.stat().st_size != each * keys.nbytes:
            raise FormatError(f"{path}: does not hold the keys of {each} band{'s' * (each > 1)}; delete {work.folder} and run again")
        if each == 1:
            return np.fromfile(file, np.uint64)
        at = 0
        for n in rows:
            file.seek(8 * (each * at + place * n))
            keys[at : at + n] = np.fromfile(file, np.uint64, n)
            at += n
    return keys


def bands_of_a_file(bands: int) -> int:
    return max(1, -(-bands // MOST_FILES))
