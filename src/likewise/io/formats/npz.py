"""numpy's .npz with the arrays ``vectors`` and ``offsets``: sets of feature vectors, stored end to end; ids are positions.

Set i is vectors[offsets[i] : offsets[i + 1]]. Vectors are read as a stream, even if they are compressed, and at most one chunk of them at a time.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, LikewiseError, UsageError
from likewise.io import storage
from likewise.io.batches import CHUNK_BYTES, CHUNK_ROWS, changed, reading
from likewise.io.formats.npy import COLUMN, Header, header_of, known, parse
from likewise.items.given import borders
from likewise.items.python_values import of_lists, of_numbers
from likewise.items.readers import reader_of
from likewise.messages import option
from likewise.records import BATCH_FACTOR, Chunk, Each, Want, in_turn

__all__ = ["chunks", "holds", "known", "parse", "write"]

KIND = "a .npz file"
NAMES = ("vectors", "offsets")
#: Offsets are read whole. Compressed offsets of more bytes than this may expand to at most BATCH_FACTOR times as many.
SMALL = 1 << 20


class Ragged(NamedTuple):
    """Content of a file except the vectors themselves."""

    header: Header
    offsets: np.ndarray  # int64[n + 1]
    row: int  # bytes of a vector


@contextmanager
def opened(path: Path) -> Iterator[zipfile.ZipFile]:
    """Context manager: open the archive and turn errors of reading it into DataError."""
    try:
        with reading(path, KIND), path.open("rb") as raw, zipfile.ZipFile(raw) as file:
            yield file
    except LikewiseError:  # some are ValueErrors
        raise
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError, ValueError) as error:  # RuntimeError: it is encrypted
        raise DataError(f"{path}: cannot be read as {KIND}: {error}. Copy or create the file again") from error


def holds(want: Want) -> bool:
    """Return True if the wanted kind of item is a list of feature vectors."""
    reader = reader_of(want.kind)
    return reader is not None and reader.arrays == 2 and reader.part_dimension == 2


def ragged(file: zipfile.ZipFile, path: Path) -> Ragged:
    """Return the offsets and the header of the vectors. Raises DataError for missing or invalid arrays."""
    members = {info.filename: info for info in file.infolist()}
    if missing := [name for name in NAMES if f"{name}.npy" not in members]:
        there = ", ".join(name.removesuffix(".npy") for name in members) or "none"
        made = "np.savez(path, vectors=..., offsets=...)"
        raise DataError(f"{path}: has no array {missing[0]!r}, only {there}; expected {' and '.join(NAMES)}, as written by {made}")
    info = members["offsets.npy"]
    if info.file_size > BATCH_FACTOR * max(info.compress_size, SMALL):
        raise DataError(
            f"{path}: its offsets expand from {info.compress_size:,} to {info.file_size:,} bytes, more than offsets can; create the file again"
        )
    with file.open(info) as stream:
        found = header_of(stream, path, KIND, info.file_size)
        offsets = np.frombuffer(stream.read(), found.dtype)
    if len(found.shape) != 1 or found.dtype.kind not in "iu":
        raise DataError(
            f"{path}: offsets must be integers, the place where each set begins; this is an array of {found.dtype} of shape {found.shape}"
        )
    info = members["vectors.npy"]
    with file.open(info) as stream:
        found = header_of(stream, path, KIND, info.file_size)
    if len(found.shape) != 2 or not found.shape[1] or found.dtype.kind not in "iuf" or found.dtype.itemsize > 8:
        raise DataError(
            f"{path}: vectors must be a 2-D array of numbers, one feature per row; this is an array of {found.dtype} of shape {found.shape}"
        )
    if found.fortran:
        raise DataError(f"{path}: vectors are stored column by column; save np.ascontiguousarray(vectors)")
    try:
        ends = borders(offsets, found.shape[0])
    except UsageError as error:
        raise DataError(f"{path}: {error.marked}") from None
    if not len(ends) or ends[0] or ends[-1] != found.shape[0]:
        raise DataError(f"{path}: offsets must go from 0 to the number of vectors, {found.shape[0]:,}; these go from {ends[:1]} to {ends[-1:]}")
    return Ragged(found, ends, found.dtype.itemsize * found.shape[1])


def taken(stream: IO[bytes], count: int, path: Path) -> bytes:
    """Read exactly ``count`` bytes. Raises DataError if the file has changed."""
    data = stream.read(count)
    if len(data) < count:
        raise changed(path)
    return data


def chunks(path: Path, want: Want, start: int = 0) -> Iterator[Chunk]:
    """Yield sets as tables of one column."""
    with opened(path) as file:
        if not holds(want):
            raise UsageError(
                f"{path}: a .npz file holds sets of feature vectors, which need {option('by', 'features')}; leave it out, or save the array as .npy"
            )
        header, offsets, row = ragged(file, path)
        large = np.flatnonzero(np.diff(offsets) * row > want.most)
        if len(large):
            size = int(np.diff(offsets)[large[0]]) * row
            raise DataError(f"{path}, item {large[0] + 1}: this set has {size:,} bytes, but {option('max_record')} allows {want.most:,}; raise it")
        with file.open("vectors.npy") as stream:
            stream.seek(header.offset + int(offsets[start]) * row)
            first = start
            while first < len(offsets) - 1:
                end = int(np.searchsorted(offsets, offsets[first] + max(1, CHUNK_BYTES // row), side="right")) - 1
                end = min(max(end, first + 1), first + CHUNK_ROWS)
                here = offsets[first : end + 1] - offsets[first]
                values = np.frombuffer(taken(stream, int(here[-1]) * row, path), header.dtype).reshape(-1, header.shape[1])
                yield Chunk(pa.table({COLUMN: of_lists(here, of_numbers(values))}), first, 0, (COLUMN,))
                first = end


def write(
    source: Path, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, add: pa.Table | None = None, each: Each = in_turn
) -> int:
    """Write the sets where ``keep`` is true, with the types, bytes and compression of the source."""
    if add is not None:
        raise UsageError(
            f"{source}: columns ({', '.join(add.column_names)}) cannot be added to arrays; choose {option('output', 'ids')} or mask instead"
        )
    if keep.all():
        storage.copy(source, target)
        return len(keep)
    with opened(source) as file:
        header, offsets, row = ragged(file, source)
        if other := sorted({info.filename.removesuffix(".npy") for info in file.infolist()} - {*NAMES}):
            raise UsageError(
                f"{source}: also holds {', '.join(other)}, whose values cannot be assigned to sets; choose {option('output', 'ids')} or mask"
            )
        sizes = np.diff(offsets)[keep]
        ends = np.concatenate([[0], np.cumsum(sizes)])
        with zipfile.ZipFile(target, "w") as out:
            with member(file, out, "vectors.npy", header.dtype, (int(ends[-1]), header.shape[1])) as to, file.open("vectors.npy") as stream:
                stream.seek(header.offset)
                for wanted, size in zip(keep.tolist(), np.diff(offsets).tolist(), strict=True):
                    data = taken(stream, size * row, source)
                    if wanted:
                        to.write(data)
            with file.open("offsets.npy") as stream:
                dtype = header_of(stream, source, KIND, file.getinfo("offsets.npy").file_size).dtype
            with member(file, out, "offsets.npy", dtype, (len(ends),)) as to:
                to.write(ends.astype(dtype).tobytes())
    return len(sizes)


@contextmanager
def member(file: zipfile.ZipFile, out: zipfile.ZipFile, name: str, dtype: np.dtype, shape: tuple[int, ...]) -> Iterator[IO[bytes]]:
    """Open a member of ``out`` with the compression and time stamp of that of ``file``, so that equal sets give equal files."""
    was = file.getinfo(name)
    info = zipfile.ZipInfo(name, was.date_time)
    info.compress_type = was.compress_type
    with out.open(info, "w", force_zip64=True) as to:
        np.lib.format.write_array_header_1_0(to, {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})
        yield to
