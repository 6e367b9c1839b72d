"""numpy's .npy: one array, one item per row. Vectors, codes, and rows of whole numbers as sets or token ids; ids are row numbers.

Rows are read, not memory-mapped: truncating a mapped file kills the process.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from tokenize import TokenError
from typing import IO, NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import DataError, UsageError
from likewise.io import columns, storage
from likewise.io.batches import CHUNK_BYTES, CHUNK_ROWS, changed, reading
from likewise.io.field_names import mentioned
from likewise.io.headers import once
from likewise.io.ranges import WHOLE, Range, cut, few
from likewise.items.readers import reader_of, sure_reader_of
from likewise.messages import option
from likewise.records import Chunk, Each, Records, Want, in_turn

__all__ = ["chunks", "few", "holds", "known", "parse", "schema", "write"]

KIND = "a .npy file"
COLUMN = "array"


class Header(NamedTuple):
    """Shape, order and type of an array, from the head of its file."""

    shape: tuple[int, ...]
    fortran: bool  # column-major order
    dtype: np.dtype
    offset: int  # where in the file the numbers begin


@once
def header(path: Path) -> Header:
    """Return the description of the file's array.

    Raises DataError for a file that cannot be read, or only by running code that it contains (pickled objects).
    """
    with reading(path, KIND), path.open("rb") as file:
        return header_of(file, path, KIND, path.stat().st_size)


def header_of(file: IO[bytes], path: Path, kind: str, size: int) -> Header:
    """Return the description of the array in an open file or archive member of ``size`` bytes. Raises DataError that names ``path``."""
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(file)
        if version not in readers:
            raise DataError(f"{path}: has version {version[0]}.{version[1]} of the .npy format, which is not supported; save it again with np.save")
        shape, fortran, dtype = readers[version](file)
        found = Header(shape, fortran, dtype, file.tell())
    except DataError:
        raise
    except (ValueError, SyntaxError, TokenError, RecursionError, MemoryError) as error:  # the last two come from thousands of brackets or signs
        reason = (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
        raise DataError(f"{path}: cannot be read as {kind}: {reason}. Copy or create the file again") from error
    if dtype.hasobject or dtype.names or dtype.subdtype:
        what = "Python objects, which cannot be read without running code from the file" if dtype.hasobject else "records with named fields"
        raise DataError(f"{path}: holds {what}; save it again as plain numbers, or as Parquet")
    if min(shape, default=0) < 0:
        raise DataError(f"{path}: states the shape {shape}, but no dimension can be negative; create the file again")
    expected = found.offset + math.prod(shape) * dtype.itemsize
    if size != expected:
        came = "is truncated" if size < expected else "continues after its array"
        raise DataError(f"{path}: {came}: {expected:,} bytes are expected for {dtype} of shape {shape}, but it has {size:,}; copy or create it again")
    return found


def rows(path: Path, found: Header, first: int, end: int) -> np.ndarray:
    """Return the rows ``first`` to ``end`` (exclusive)."""
    shape = (end - first, *found.shape[1:])
    if not found.fortran:
        return run(path, found, first * math.prod(shape[1:]), math.prod(shape)).reshape(shape)
    columns = [run(path, found, column * found.shape[0] + first, shape[0]) for column in range(math.prod(shape[1:]))]
    return np.stack(columns, axis=1).reshape(shape, order="F") if columns else np.empty(shape, found.dtype)


def run(path: Path, found: Header, first: int, count: int) -> np.ndarray:
    """Return ``count`` consecutive numbers in file order, starting at number ``first``."""
    with reading(path, KIND), path.open("rb") as file:
        file.seek(found.offset + first * found.dtype.itemsize)
        data = file.read(count * found.dtype.itemsize)
    if len(data) < count * found.dtype.itemsize:
        raise changed(path)
    return np.frombuffer(data, found.dtype)


def holds(want: Want) -> bool:
    """Return True if an array can hold the wanted kind of item."""
    reader = reader_of(want.kind)
    return reader is not None and bool(reader.dimensions)


def check(path: Path, found: Header, want: Want) -> None:
    """Raise UsageError or DataError for an array that does not hold the wanted kind of item, or whose rows are too long."""
    if not holds(want):
        raise UsageError(
            f"{path}: a .npy file holds rows of numbers, not {want.kind}; leave it out, or compare vectors with {option('by', placeholder='MEASURE')}"
        )
    reader = sure_reader_of(want.kind)
    if not reader.fits(found.shape, found.dtype):
        hint = "; save one item as a row: array.reshape(1, -1)" if reader.is_one(found) else ""
        raise DataError(f"{path}: this is an array of {found.dtype} of shape {found.shape}; expected {reader.forms}{hint}")
    if row_bytes(found) > want.most:
        raise DataError(f"{path}: a row of this array has {row_bytes(found):,} bytes, but {option('max_record')} allows {want.most:,}; raise it")


def schema(path: Path, want: Want) -> pa.Schema:
    """Return the type of the numbers under each wanted name, because an array has no column names."""
    dtype = header(path).dtype.newbyteorder("=")
    number = pa.from_numpy_dtype(dtype) if dtype.kind in "iufb" and dtype.itemsize <= 8 else pa.null()
    return pa.schema(dict.fromkeys([want.text, *mentioned(want.text)], number))


def plan(path: Path, size: int) -> list[Range]:
    """Return ranges of rows."""
    found = header(path)
    return cut(found.shape[0] if found.shape else 0, size // row_bytes(found))


def chunks(path: Path, want: Want, start: int = 0, part: Range = WHOLE) -> Iterator[Chunk]:
    """Yield rows as tables of one column."""
    found = header(path)
    check(path, found, want)
    step, end = max(1, min(CHUNK_ROWS, CHUNK_BYTES // row_bytes(found))), min(part[1], found.shape[0])
    for first in range(max(start, part[0]), end, step):
        yield Chunk(pa.table({COLUMN: sure_reader_of(want.kind).from_array(rows(path, found, first, min(first + step, end)))}), first, 0, (COLUMN,))


def row_bytes(found: Header) -> int:
    """Return the bytes of a row, at least 1."""
    return max(1, found.dtype.itemsize * math.prod(found.shape[1:]))


def parse(chunk: Chunk, want: Want, where: str) -> Records:
    """Return the rows of a chunk. An array has no ids and no other fields."""
    return columns.parse(chunk, want._replace(text=COLUMN, id=want.id and "", per=want.per and "", score=want.score and ""), where)


def known(chunk: Chunk) -> Sequence[str]:
    """Return the name of the only column."""
    return (COLUMN,)


def write(
    source: Path, target: Path, keep: np.ndarray, start: np.ndarray, length: np.ndarray, add: pa.Table | None = None, each: Each = in_turn
) -> int:
    """Write the rows where ``keep`` is true as an array of the source's type and order, bytes unchanged."""
    if add is not None:
        raise UsageError(
            f"{source}: columns ({', '.join(add.column_names)}) cannot be added to an array; choose {option('output', 'ids')} or mask instead"
        )
    found = header(source)
    if keep.all() and len(keep) == found.shape[0]:
        storage.copy(source, target)
        return len(keep)
    written = 0
    described = {"descr": np.lib.format.dtype_to_descr(found.dtype), "fortran_order": found.fortran, "shape": (int(keep.sum()), *found.shape[1:])}
    with open(target, "wb") as file:
        np.lib.format.write_array_header_1_0(file, described)
        if found.fortran:
            for column in range(math.prod(found.shape[1:])):
                values = run(source, found, column * found.shape[0], len(keep))[keep]
                file.write(values.tobytes())
                written = len(values)
            return written
        step = max(1, CHUNK_BYTES // row_bytes(found))
        for first in range(0, len(keep), step):
            share = keep[first : first + step]
            kept = rows(source, found, first, first + len(share))[share]
            file.write(kept.tobytes())
            written += len(kept)
    return written
