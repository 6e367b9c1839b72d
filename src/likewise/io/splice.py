"""Texts without some of their parts, in the bytes of a source: all other bytes stay as they are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from likewise.io.batches import changed
from likewise.items import binary
from likewise.kernels.bytes import gather
from likewise.kernels.raw import BEYOND, bytes_at
from likewise.records import Chunk, Each, Edits, Records, Want


class Ranges(NamedTuple):
    """Ranges of a stream to copy, ascending."""

    begin: np.ndarray  # int64[n]
    end: np.ndarray  # int64[n]
    opens: np.ndarray  # bool[n]: a record begins with this range


def without(begin: np.ndarray, end: np.ndarray, cut_begin: np.ndarray, cut_end: np.ndarray) -> Ranges:
    """Return the ranges begin[i]:end[i] without the parts cut_begin[j]:cut_end[j], each of which lies within one of the ranges. All ascend.

    >>> without(np.array([0, 10]), np.array([8, 20]), np.array([3, 12, 15]), np.array([5, 13, 20]))[:2]
    (array([ 0,  5, 10, 13, 20]), array([ 3,  8, 12, 15, 20]))
    """
    begins = np.concatenate((cut_end, begin))
    order = np.argsort(begins, kind="stable")
    return Ranges(begins[order], np.sort(np.concatenate((cut_begin, end))), order >= len(cut_end))


class Reading(NamedTuple):
    """Functions of a format of bytes (`io.formats.Format`)."""

    chunks: Callable[..., Iterator[Chunk]]
    parse: Callable[[Chunk, Want, str], Records]
    raw: Callable[..., np.ndarray]


def of_records(path: Any, keep: np.ndarray, start: np.ndarray, length: np.ndarray, edits: Edits | None, reading: Reading, each: Each) -> Ranges:
    """Return the ranges of a stream of bytes that hold the kept records without the parts in ``edits``; arguments as for `Format.write`."""
    begin = start[keep]
    end = begin + length[keep]
    if edits is None or not len(edits.row):
        return Ranges(begin, end, np.ones(len(begin), bool))
    want = edits.want._replace(id=None, per=None, score=None)

    def stage(chunk: Chunk) -> np.ndarray:
        rows = np.searchsorted(start, (chunk.start, chunk.start + len(chunk.data)))
        records = reading.parse(chunk, want, str(path))
        here = in_bytes(edits.of(*rows.tolist()), *binary.parts(records.text))
        if records.located is None or not np.array_equal(records.start, start[rows[0] : rows[1]]):
            raise changed(path)
        first, last = np.ascontiguousarray(records.located.T)
        at = np.stack([here.begin, here.end], axis=1).ravel()
        found = reading.raw(chunk.data, first, last, np.repeat(here.row, 2), at)
        if (found == BEYOND).any() or (first[here.row] < 0).any():
            raise changed(path)
        return found + chunk.start

    places = np.concatenate([*each(stage, edited(reading.chunks(path, want), start, edits.row))])
    return without(begin, end, places[0::2], places[1::2])


def edited(chunks: Iterator[Chunk], start: np.ndarray, row: np.ndarray) -> Iterator[Chunk]:
    """Yield the chunks with some of the rows row[i], ascending, which begin at start[row[i]]; the source is read up to the last of them."""
    last = int(start[row[-1]])
    for chunk in chunks:
        begin, end = np.searchsorted(row, np.searchsorted(start, (chunk.start, chunk.start + len(chunk.data))))
        if begin < end:
            yield chunk
        if chunk.start + len(chunk.data) > last:
            return


def in_bytes(edits: Edits, offsets: np.ndarray, data: np.ndarray) -> Edits:
    """Return the parts in bytes of the texts data[offsets[i]:offsets[i + 1]]."""
    if not edits.characters or not len(edits.row):
        return edits
    at = np.stack([edits.begin, edits.end], axis=1).ravel()
    begin, end = bytes_at(data, offsets, np.repeat(edits.row, 2), at).reshape(-1, 2).T
    return edits._replace(begin=begin, end=end, characters=False)


def of_bytes(data: np.ndarray, offsets: np.ndarray, edits: Edits) -> tuple[np.ndarray, np.ndarray]:
    """Return texts data[offsets[i]:offsets[i + 1]] without the parts in ``edits``, in the same form: (uint8[m], int64[n + 1])."""
    edits = in_bytes(edits, offsets, data)
    begin, end = (offsets[edits.row] + place for place in (edits.begin, edits.end))
    if (end > offsets[edits.row + 1]).any():
        raise changed("the table")
    left = without(offsets[:-1], offsets[1:], begin, end)
    gone = np.concatenate(([0], np.cumsum(end - begin)))
    kept = offsets - gone[np.searchsorted(edits.row, np.arange(len(offsets)))]
    kept -= kept[0]
    out = np.empty(int(kept[-1]) + 64, np.uint8)
    gather(data, 0, left.begin, left.end, 0, left.opens, data[:0], out)
    return out[: int(kept[-1])], kept
