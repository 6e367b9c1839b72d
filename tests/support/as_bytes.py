"""Files of several formats as bytes, for tests that damage or join them."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import ipc


def zstd(data: bytes) -> bytes:
    return pa.Codec("zstd").compress(data, asbytes=True)


#: Compression -> function. Its output does not depend on the time.
PACK: dict[str, Callable[[bytes], bytes]] = {"gz": lambda data: gzip.compress(data, mtime=0), "zst": zstd, "bz2": bz2.compress, "xz": lzma.compress}


def parquet(table: pa.Table, **how: Any) -> bytes:
    sink = io.BytesIO()
    pq.write_table(table, sink, **how)
    return sink.getvalue()


def arrow(table: pa.Table, create: Callable[..., Any], rows: int, codec: str | None = None) -> bytes:
    """An Arrow file or stream of batches of ``rows`` rows. create: ipc.new_file or ipc.new_stream."""
    sink = io.BytesIO()
    with create(sink, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table, max_chunksize=rows)
    return sink.getvalue()


def npy(array: np.ndarray) -> bytes:
    sink = io.BytesIO()
    np.save(sink, array)
    return sink.getvalue()
