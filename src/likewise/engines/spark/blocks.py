"""Blocks: arrays packed into binary columns, so that one row of a shuffle has hundreds of entries.

Spark moves rows one by one, which costs more than the work of numpy on them. So each task sorts its entries by their target partition, and sends each
partition rows of up to `BLOCK` entries: a place, and a binary column for each array. The values of a binary column are contiguous in memory, so the
receiving partition reads them as an array without a copy.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from likewise.items.wrapped import bits
from likewise.kernels.bands import MIX

#: Maximum number of entries of a row.
BLOCK = 1024
#: Entries per target partition that a task gathers before it sends them.
GATHERED = 256
#: Bytes that a binary column of a batch can have.
MOST_BYTES = 2**31 - 1
MASK = np.uint64(0xFFFFFFFF)


def places(parts: int) -> np.ndarray:
    """Values for the column ``place``, int64[parts]: ``repartition(parts, "place")`` puts each of them into a partition of its own.

    Spark hashes the column by Murmur3 with the seed 42 (org.apache.spark.sql.catalyst.expressions.Murmur3Hash) and takes the remainder, so the
    numbers from 0 would leave some partitions empty, and share others.
    """
    found, begin = np.full(parts, -1, np.int64), 0
    while (found < 0).any():
        values = np.arange(begin, begin + 8 * parts + 64)
        at = spark_hash(values) % parts
        found[at[::-1]] = np.where(found[at[::-1]] < 0, values[::-1], found[at[::-1]])
        begin += len(values)
    return found


def spark_hash(values: np.ndarray) -> np.ndarray:
    """The hash of a column of type long in Spark: int64[n], in the range of int32."""
    words = values.astype(np.uint64)
    state = np.full(len(words), 42, np.uint64)
    for half in (words & MASK, words >> np.uint64(32)):
        mixed = half * np.uint64(0xCC9E2D51) & MASK
        mixed = rotated(mixed, 15) * np.uint64(0x1B873593) & MASK
        state = (rotated(state ^ mixed, 13) * np.uint64(5) + np.uint64(0xE6546B64)) & MASK
    state ^= np.uint64(8)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35), (16, 1)):
        state = (state ^ state >> np.uint64(shift)) * np.uint64(factor) & MASK
    return state.astype(np.uint32).view(np.int32).astype(np.int64)


def rotated(words: np.ndarray, by: int) -> np.ndarray:
    """32-bit words rotated to the left."""
    return (words << np.uint64(by) | words >> np.uint64(32 - by)) & MASK


def part_of(words: np.ndarray, parts: int) -> np.ndarray:
    """The partition of each word, int64[n]."""
    return ((words.view(np.uint64) * MIX >> np.uint64(32)) % np.uint64(parts)).astype(np.int64)


def packed(part: np.ndarray, at: np.ndarray, names: Iterable[str], /, **columns: np.ndarray | pa.Array) -> pa.RecordBatch:
    """Entries as blocks with the columns ``place`` and ``names``; null for columns that are not given. part: int64[n]. at: `places`.

    A column of bytes becomes two: the bytes of all, and their numbers in NAME_size.
    """
    order = np.argsort(part.astype(np.uint16) if len(at) < 2**16 else part, kind="stable")
    edges = np.searchsorted(part[order], np.arange(len(at) + 1))
    sizes = np.diff(edges)
    rows = -(-sizes // BLOCK)
    home = np.repeat(np.arange(len(at)), rows)
    begin = edges[home] + BLOCK * (np.arange(len(home)) - np.repeat(np.cumsum(rows) - rows, rows))
    offsets = np.append(begin, len(order))
    made = {}
    for name, values in columns.items():
        if isinstance(values, np.ndarray):
            made[name] = binary(values[order], offsets)
        else:
            data, ends = _bytes(values.take(pa.array(order)))
            made[name], made[f"{name}_size"] = binary(data, ends[offsets]), binary(np.diff(ends), offsets)
    arrays = [pa.array(at[home])] + [made.get(name, pa.nulls(len(home), pa.binary())) for name in names]
    return pa.record_batch(arrays, names=["place", *names])


def binary(values: np.ndarray, offsets: np.ndarray) -> pa.Array:
    """A binary column whose row i is values[offsets[i] : offsets[i + 1]]; the first offset may be above 0."""
    values = np.ascontiguousarray(values)
    width = values.itemsize * int(np.prod(values.shape[1:]))
    if (int(offsets[-1]) - int(offsets[0])) * width > MOST_BYTES:
        raise OverflowError(f"a batch of {int(offsets[-1]) - int(offsets[0]):,} entries of {width} bytes is too large for Arrow")
    data = values.reshape(-1).view(np.uint8)[offsets[0] * width : offsets[-1] * width]
    return pa.Array.from_buffers(
        pa.binary(), len(offsets) - 1, [None, pa.py_buffer(((offsets - offsets[0]) * width).astype(np.int32)), pa.py_buffer(data)]
    )


def flat(column: pa.ChunkedArray | pa.Array, dtype: Any) -> np.ndarray:
    """The bytes of all rows of a binary column, end to end, as an array."""
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    dtype = np.dtype(dtype)
    values = [_bytes(chunk)[0].view(dtype.base) for chunk in chunks]
    whole = values[0] if len(values) == 1 else np.concatenate([np.zeros(0, dtype.base), *values])
    return whole.reshape(-1, *dtype.shape) if dtype.shape else whole


def texts(table: pa.Table, name: str) -> pa.Array:
    """The values of a column of bytes that `packed` got; null for those without bytes."""
    size = flat(table[f"{name}_size"], np.int64)
    ends = pa.py_buffer(np.concatenate([np.zeros(1, np.int64), np.cumsum(size)]))
    return pa.Array.from_buffers(pa.large_binary(), len(size), [bits(size > 0), ends, pa.py_buffer(flat(table[name], np.uint8))])


def lists(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a binary column as words, uint64[m], and the place where each row begins, int64[n + 1]."""
    sizes = np.concatenate([np.zeros(1, np.int64), *(np.diff(_bytes(chunk)[1]) for chunk in column.chunks)])
    return flat(column, np.uint64), np.cumsum(sizes) // 8


def _bytes(column: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of a column, uint8[m], and the place where each row begins, int64[n + 1]."""
    _, ends, data = column.buffers()
    if not len(column) or ends is None:
        return np.zeros(0, np.uint8), np.zeros(len(column) + 1, np.int64)
    kind = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    offsets = np.frombuffer(ends, kind)[column.offset : column.offset + len(column) + 1].astype(np.int64)
    return np.frombuffer(data or b"", np.uint8)[offsets[0] : offsets[-1]], offsets - offsets[0]


def gathered(batches: Iterable[pa.RecordBatch], rows: int) -> Iterator[pa.Table]:
    """Join batches until they have at least ``rows`` rows."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in batches:
        held.append(batch)
        count += batch.num_rows
        if count >= rows:
            yield pa.Table.from_batches(held)
            held, count = [], 0
    if count:
        yield pa.Table.from_batches(held)


def whole(batches: Iterable[pa.RecordBatch]) -> pa.Table | None:
    """All rows of a partition as a table; None without any."""
    held = [batch for batch in batches if batch.num_rows]
    return pa.Table.from_batches(held) if held else None
