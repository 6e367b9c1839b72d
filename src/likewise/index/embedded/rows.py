"""A row of the log: what one commit wrote and removed, as bytes with a checksum.

    header  number of the row, items, bands, slots, words, bytes of ids, removed items; unsigned 64-bit each
    gone    int64[removed]      numbers of the items that the commit removed
    numbers int64[items]        numbers of the items that it wrote
    keys    uint64[items, bands]
    copy    uint64[items, 2]
    words   uint64[words]
    size    uint32[items]
    lengths uint32[items]       bytes of each id
    slots   uint8[items, slots]
    ids     uint8[bytes of ids]
    xxh3-64 of all before, 8 bytes

Words are little-endian. The checksum covers the number of the row, so a row in the place of another one is found.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

import numpy as np
import xxhash

from likewise.index.store import Items

HEADER = struct.Struct("<7Q")
CHECKSUM = 8


class Row(NamedTuple):
    number: int
    gone: np.ndarray
    numbers: np.ndarray
    items: Items


def encoded(number: int, parts: Sequence[tuple[np.ndarray, np.ndarray, Items]]) -> bytes:
    """The row with these parts, one after another: numbers that were removed, numbers that were written, and the items with those."""
    gone, numbers, items = zip(*parts, strict=True)
    ids = [one for each in items for one in each.ids]
    keys, slots = items[0].keys, items[0].slots
    lengths = np.fromiter(map(len, ids), np.uint32, len(ids))
    sizes = len(ids), keys.shape[1], slots.shape[1], sum(len(each.words) for each in items), int(lengths.sum()), sum(map(len, gone))
    columns = [gone, numbers, *([getattr(each, name) for each in items] for name in ("keys", "copy", "words", "size")), [lengths]]
    arrays = [np.ascontiguousarray(array).data for column in [*columns, [each.slots for each in items]] for array in column if array.size]
    data = b"".join([HEADER.pack(number, *sizes), *arrays, *ids])
    return data + xxhash.xxh3_64_digest(data)


def decoded(number: int, data: bytes) -> Row | None:
    """The row; None if it is damaged."""
    if len(data) < HEADER.size + CHECKSUM or xxhash.xxh3_64_digest(memoryview(data)[:-CHECKSUM]) != data[-CHECKSUM:]:
        return None
    found, n, bands, slots, words, id_bytes, removed = HEADER.unpack_from(data)
    shapes = (
        (np.int64, removed),
        (np.int64, n),
        (np.uint64, n * bands),
        (np.uint64, 2 * n),
        (np.uint64, words),
        (np.uint32, n),
        (np.uint32, n),
        (np.uint8, n * slots),
    )
    ends = [*accumulate((np.dtype(kind).itemsize * count for kind, count in shapes), initial=HEADER.size)]
    if found != number or ends[-1] + id_bytes + CHECKSUM != len(data):
        return None
    gone, numbers, keys, copy, word, size, lengths, slot = (
        np.frombuffer(data, kind, count, begin) for (kind, count), begin in zip(shapes, ends, strict=False)
    )
    borders = [*accumulate(lengths.tolist(), initial=ends[-1])]
    ids = [data[begin:end] for begin, end in pairwise(borders)]
    return Row(number, gone, numbers, Items(ids, keys.reshape(n, bands), copy.reshape(n, 2), size, word, slot.reshape(n, slots)))
