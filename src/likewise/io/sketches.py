"""Sketches of rows, the band keys and words that an index keeps of them: from the work folder of a run, and as files of its output.

The files are Arrow files of record batches. Their borders depend on the rows only, and whoever writes or reads one holds one batch in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import FormatError, naming
from likewise.io import bands as band_files
from likewise.io.collection import Collection
from likewise.io.work import Work
from likewise.items.wrapped import wrapped
from likewise.kernels.rows import gather
from likewise.schema import sketches as schema_of

#: Approximate bytes of a batch, and of a file.
BLOCK_BYTES, FILE_BYTES = 8 << 20, 256 << 20
#: Bytes of a row besides its words and keys.
ROW_BYTES = 64


class Block(NamedTuple):
    """The sketches of some rows."""

    ids: pa.LargeBinaryArray  # JSON text; null for rows without an id
    source: pa.StringArray
    position: np.ndarray  # int64[n]
    columns: dict[str, np.ndarray]  # size, copy, per, sets and band_keys, as stages.sketch makes them; an empty row has a size of 0

    def __len__(self) -> int:
        return len(self.position)


class Stored:
    """The sketches of some rows of a collection, which its work folder holds."""

    def __init__(self, collection: Collection, rows: np.ndarray, bands: int):
        """rows: int64[m], ascending."""
        self.collection, self.rows, self.bands = collection, rows, bands
        size = collection.column("size")
        self._begin = np.cumsum(size, dtype=np.int64) - size
        self._ids = collection.id_texts()
        self._chunks = [entry["rows"] for entry in collection.work.done("chunk")]

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
        return Block(self._ids.take(wrapped(rows)), *collection.places(rows), columns)


def write(path: Path, stored: Stored, begin: int, stop: int, *, grouped: bool) -> int:
    """Write the sketches of some rows as a file, and return their number. grouped: only rows with equal values of ``per`` are compared."""
    schema = schema_of(stored.bands, grouped=grouped)
    with naming(path), open(path, "wb") as file, pa.ipc.new_file(file, schema) as writer:
        for block in stored.blocks(begin, stop):
            writer.write_batch(to_batch(block, schema))
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


def read(path: Path, bands: int, *, grouped: bool) -> Iterator[Block]:
    """Yield the blocks of a file. Raises FormatError if it is damaged, or has other columns than sketches of so many bands have."""
    schema = schema_of(bands, grouped=grouped)
    try:
        with naming(path), pa.OSFile(str(path)) as file, pa.ipc.open_file(file) as reader:
            if reader.schema != schema:
                raise FormatError(f"{path}: has other columns than the sketches that this version of likewise writes; make the output again")
            for number in range(reader.num_record_batches):
                batch = reader.get_batch(number)
                batch.validate(full=True)
                yield of_batch(batch, bands)
    except (pa.ArrowInvalid, ValueError) as error:
        raise FormatError(f"{path}: is damaged ({error}); make the output again") from error


def of_batch(batch: pa.RecordBatch, bands: int) -> Block:
    """A block from Arrow. Raises ValueError for columns that do not belong together."""
    sets, copy = batch["set"], batch["copy"]
    size, ends = batch["size"].to_numpy(), sets.offsets.to_numpy()
    if any(column.null_count for column in batch.columns[1:]) or (np.diff(ends) != size).any():
        raise ValueError("sizes differ from those of the sets")
    columns = {
        "size": size,
        "copy": np.frombuffer(copy.buffers()[1] or b"", np.uint64)[2 * copy.offset :][: 2 * len(copy)].reshape(-1, 2),
        "per": batch["per"].to_numpy() if "per" in batch.schema.names else np.zeros(len(batch), np.uint64),
        "band_keys": batch["keys"].flatten().to_numpy().reshape(-1, bands).T,
        "sets": sets.flatten().to_numpy(),
    }
    return Block(batch["id"], batch["source"], batch["position"].to_numpy(), columns)
