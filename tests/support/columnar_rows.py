"""Rows from readers of columnar formats, and files to read."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc

from likewise.io.formats import arrow, memory, parquet
from likewise.records import Want

WANT = Want()


def rows(module, path, want: Want = WANT, start: int = 0):
    """(kinds, texts, ids) over all chunks."""
    kinds, texts, ids = [], [], []
    for chunk in module.chunks(path, want, start):
        records = module.parse(chunk, want, "here")
        assert len(records) == len(records.text) == len(chunk.data)
        assert records.text.null_count == 0
        kinds += records.kind.tolist()
        texts += records.text.to_pylist()
        ids += records.id.to_pylist() if records.id is not None else [None] * len(records)
    return kinds, texts, ids


def of_table(table: pa.Table, want: Want = WANT):
    (chunk,) = memory.chunks(table, want)
    return memory.parse(chunk, want, "here")


def text_of(column: pa.Array, want: Want = WANT):
    records = of_table(pa.table({"text": column}), want)
    return records.kind.tolist(), records.text.to_pylist()


def save(table: pa.Table, path: Path, **options) -> None:
    kind = path.suffix
    if kind == ".parquet":
        pq.write_table(table, path, **options)
    else:
        create = ipc.new_file if kind == ".arrow" else ipc.new_stream
        with create(path, table.schema, options=ipc.IpcWriteOptions(compression=options.get("compression"))) as writer:
            writer.write_table(table, max_chunksize=options.get("row_group_size"))


SUFFIXES = (".parquet", ".arrow", ".arrows")


def module_of(path: Path):
    return parquet if path.suffix == ".parquet" else arrow


def kept(keep: list[bool]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.array(keep, bool), np.arange(len(keep)), np.zeros(len(keep), np.int64)
