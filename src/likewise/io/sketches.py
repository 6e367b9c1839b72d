"""Sketches of rows, the band keys and words that an index keeps of them: from the work folder of a run, and as files of its output.

The files are Arrow files of record batches. Their borders depend on the rows only, and whoever writes or reads one holds one batch in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import FormatError, naming
from likewise.io import bands as band_files
from likewise.io import storage
from likewise.io.collection import Collection
from likewise.io.formats.text import Files
from likewise.io.ids import as_json
from likewise.io.source_names import printable
from likewise.io.work import Work
from likewise.items import binary
from likewise.items.wrapped import wrapped
from likewise.kernels.rows import gather
from likewise.schema import sketches as schema_of

#: Approximate bytes of a batch, and of a file.
BLOCK_BYTES, FILE_BYTES = 8 << 20, 256 << 20
#: Bytes of a row besides its words and keys.
ROW_BYTES = 64
#: Rows whose ids and places are handed out at once.
PLACES = 1 << 16


class Block(NamedTuple):
    """The sketches of some rows."""

    ids: pa.LargeBinaryArray  # JSON text; null for rows without an id
    source: pa.StringArray
    position: np.ndarray  # int64[n]
    columns: dict[str, np.ndarray]  # size, copy, per, sets and band_keys, as stages.sketch makes them; an empty row has a size of 0. Or none of them

    def __len__(self) -> int:
        return len(self.position)


class Stored:
    """The sketches of some rows of a collection, which its work folder holds."""

    def __init__(self, collection: Collection, rows: np.ndarray, bands: int):
        """rows: int64[m], ascending."""
        self.collection, self.rows, self.bands = collection, rows, bands
        size = collection.column("size")
        self._begin = np.cumsum(size, dtype=np.int64) - size
        self._ids = ids_of(collection)
        self._chunks = [entry["rows"] for entry in collection.work.done("chunk")]

    def placed(self) -> Iterator[Block]:
        """Yield the ids and places of all rows."""
        for begin in range(0, len(self.rows), PLACES):
            yield self._placed(self.rows[begin : begin + PLACES], {})

    def blocks(self, begin: int = 0, stop: int | None = None) -> Iterator[Block]:
        """Yield the blocks of ``rows[begin:stop]``."""
        for first, last in self.cuts(BLOCK_BYTES, begin, stop):
            yield self.block(self.rows[first:last])

    def cuts(self, most: int, begin: int = 0, stop: int | None = None) -> Iterator[tuple[int, int]]:
        """Yield the parts of ``rows[begin:stop]`` that take about ``most`` bytes each, as (first, last)."""
        size = self.collection.column("size")[self.rows[begin:stop]]
        part = np.cumsum(8 * size.astype(np.int64) + (8 * self.bands + ROW_BYTES)) // most
        borders = [0, *(np.flatnonzero(part[1:] != part[:-1]) + 1).tolist(), len(part)] if len(part) else [0]
        yield from ((begin + first, begin + last) for first, last in pairwise(borders))

    def block(self, rows: np.ndarray) -> Block:
        """The sketches of rows, int64[m], ascending."""
        collection, work = self.collection, self.collection.work
        assert isinstance(work, Work)  # a part has no bands
        size = np.where(collection.column("tokens")[rows] > 0, collection.column("size")[rows], 0).astype(np.uint32)
        offsets = np.concatenate(([0], np.cumsum(size, dtype=np.int64)))
        words = np.empty(int(offsets[-1]), np.uint64)
        gather(work.column("sets", "u8"), self._begin[rows], offsets, words)
        first = int(rows[0])
        keys = band_files.of_rows(work, self.bands, self._chunks, first, int(rows[-1]) + 1)[:, rows - first]
        columns = {"size": size, "sets": words, "band_keys": keys, **{name: collection.column(name)[rows] for name in ("copy", "per")}}
        return self._placed(rows, columns)

    def _placed(self, rows: np.ndarray, columns: dict[str, np.ndarray]) -> Block:
        return Block(self._ids.take(wrapped(rows)), *self.collection.places(rows), columns)


def ids_of(collection: Collection) -> pa.LargeBinaryArray:
    """The ids of all rows as JSON text; of a file that is an item its name; null for other rows without an id."""
    ids = collection.id_texts()
    parts = [ids[:0]]
    for number, source in enumerate(collection.sources):
        rows = collection.rows_of(number)
        names = source.path.names[: rows.stop - rows.start] if isinstance(source.path, Files) else None
        parts.append(ids[rows] if names is None else binary.from_list(as_json(printable(name)) for name in names))
    return pa.concat_arrays(parts)


def write(path: Path, stored: Stored, begin: int, stop: int, *, grouped: bool, spare: Callable[[], None]) -> int:
    """Write the sketches of some rows as a file, and return their number.

    grouped: only rows with equal values of ``per`` are compared. spare: called after each block, to release memory.
    """
    schema = schema_of(stored.bands, grouped=grouped)
    with naming(path), open(path, "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for block in stored.blocks(begin, stop):
            writer.write_batch(to_batch(block, schema))
            spare()
    return stop - begin


def to_batch(block: Block, schema: pa.Schema) -> pa.RecordBatch:
    """A block as Arrow."""
    columns = block.columns
    ends = np.concatenate(([0], np.cumsum(columns["size"], dtype=np.int64)))
    per = [wrapped(columns["per"])] if "per" in schema.names else []
    keys = np.ascontiguousarray(columns["band_keys"].T).ravel()
    copy = pa.FixedSizeBinaryArray.from_buffers(pa.binary(16), len(block), [None, pa.py_buffer(np.ascontiguousarray(columns["copy"]))])
    arrays = [
        *(block.ids, block.source, wrapped(block.position), wrapped(columns["size"]), copy, *per),
        pa.FixedSizeListArray.from_arrays(wrapped(keys), type=schema.field("keys").type),
        pa.LargeListArray.from_arrays(wrapped(ends), wrapped(columns["sets"]), type=schema.field("set").type),
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


class Written(NamedTuple):
    """The sketches in files, of so many bands. grouped: only rows with equal values of ``per`` are compared."""

    files: Sequence[Path]
    bands: int
    grouped: bool

    def placed(self) -> Iterator[Block]:
        """Yield the ids and places of all rows, in order."""
        for path in self.files:
            yield from read(path, self.bands, grouped=self.grouped, placed=True)

    def blocks(self) -> Iterator[Block]:
        """Yield all rows, in order."""
        for path in self.files:
            yield from read(path, self.bands, grouped=self.grouped)


def read(path: Path, bands: int, *, grouped: bool, placed: bool = False) -> Iterator[Block]:
    """Yield the blocks of a file. Raises FormatError if it is damaged, or has other columns than sketches of so many bands have.

    placed: only ids and places are read.
    """
    schema = schema_of(bands, grouped=grouped)
    options = pa.ipc.IpcReadOptions(included_fields=[0, 1, 2] if placed else None)
    try:
        with naming(path), storage.arrow(path) as file, pa.ipc.open_file(file, options=options) as reader:
            if reader.schema != (pa.schema(list(schema)[:3]) if placed else schema):
                raise FormatError(f"{path}: has other columns than the sketches that this version of likewise writes; make the output again")
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                batch.validate(full=True)
                yield Block(batch["id"], batch["source"], batch["position"].to_numpy(), {} if placed else of_batch(batch, bands))
    except (pa.ArrowInvalid, ValueError) as error:
        raise FormatError(f"{path}: is damaged ({error}); make the output again") from error


def of_batch(batch: pa.RecordBatch, bands: int) -> dict[str, np.ndarray]:
    """The columns of a block from Arrow. Raises ValueError for those that do not belong together."""
    sets, copy = batch["set"], batch["copy"]
    size, ends = batch["size"].to_numpy(), sets.offsets.to_numpy()
    if any(column.null_count for column in batch.columns[1:]) or (np.diff(ends) != size).any():
        raise ValueError("sizes differ from those of the sets")
    return {
        "size": size,
        "copy": np.frombuffer(copy.buffers()[1] or b"", np.uint64)[2 * copy.offset :][: 2 * len(copy)].reshape(-1, 2),
        "per": batch["per"].to_numpy() if "per" in batch.schema.names else np.zeros(len(batch), np.uint64),
        "band_keys": batch["keys"].flatten().to_numpy().reshape(-1, bands).T,
        "sets": sets.flatten().to_numpy(),
    }
