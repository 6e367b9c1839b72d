"""Batches of texts after normalization, the masks first: by kernels, except for the few texts that they hand back."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.items import binary, masks, tables, unicode
from likewise.items.expressions import Pieces, replaced
from likewise.items.normalize import normalize
from likewise.items.sources import in_bytes, sources
from likewise.kernels import text
from likewise.kernels.masks import SPARE, mask


class Normalized(NamedTuple):
    """Text i is data[start[i] : start[i] + length[i]], UTF-8. ``data`` is valid until the same thread normalizes again."""

    data: np.ndarray  # uint8, with text.SPARE bytes more after the last text
    start: np.ndarray  # int64[n]
    length: np.ndarray  # int64[n]
    chars: np.ndarray  # uint32[n]: code points of the text as read
    trail: list[Pieces]  # if asked for, where the bytes come from, change by change

    def column(self) -> pa.LargeBinaryArray:
        """The texts as an array of their own."""
        ends = np.concatenate(([0], np.cumsum(self.length)))
        return binary.build(ends, self.data[np.arange(int(ends[-1])) + np.repeat(self.start - ends[:-1], self.length)])


class Scratch(threading.local):
    """Buffers for texts that each thread reuses: in fresh memory each 4 KiB would cost a page fault."""

    masked = np.empty(0, np.uint8)
    text = np.empty(0, np.uint8)


def normalizer(steps: tuple[str, ...], *, in_lines: bool = False, traced: bool = False) -> Callable[[pa.LargeBinaryArray, np.ndarray], Normalized]:
    """A function (texts in UTF-8, bool[n]: which to read) -> Normalized; skipped texts are empty. Threads may share it. traced: with its trail."""
    of = masks.parts(steps)
    automaton = masks.automaton_of(of.masks) if of.masks else None
    table, manner = tables.normalization(of.changes, in_lines)
    ranks = unicode.values("combining")
    scratch = Scratch()

    def normalized(texts: pa.LargeBinaryArray, live: np.ndarray) -> Normalized:
        data, start, length = buffers(texts, live)
        read = text.count_codes(data, start, length) if of.edited or automaton else None
        trail: list[Pieces] = []
        if of.edited:
            data, start, length = buffers(replaced(texts, of.patterns, header=of.header, trail=trail if traced else None), live)
        if automaton:
            if len(scratch.masked) < (total := int(length.sum()) + SPARE):
                scratch.masked = np.empty(total * 3 // 2, np.uint8)
            room = room_for(length) if traced else None
            start, length, borders = mask(data, start, length, *automaton, scratch.masked, room)
            if room is not None:
                trail.append(Pieces(room[: borders[-1]].copy(), borders))
            data = scratch.masked[:]
            data.flags.writeable = False  # one type for the kernel
        room = room_for(length) if traced else None
        out, begin, size, chars, hard, borders = text.normalize(data, start, length, table, ranks, manner, scratch.text, room)
        scratch.text = out
        if room is not None:
            trail.append(Pieces(room[: borders[-1]].copy(), borders))
        if hard.any():
            given = [data[at : at + size].tobytes() for at, size in zip(start[hard].tolist(), length[hard].tolist(), strict=True)]
            out = by_hand(given, np.flatnonzero(hard), of.changes, in_lines, Normalized(out, begin, size, chars, trail))
        return Normalized(out, begin, size, chars if read is None else read, trail)

    return normalized


def room_for(length: np.ndarray) -> np.ndarray:
    """Room for the pieces of texts of these lengths: untouched memory costs nothing."""
    return np.empty((int(length.sum()) + len(length), 3), np.int64)


def buffers(texts: pa.LargeBinaryArray, live: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The bytes of an array, and the begin and length of each text: (uint8, int64[n], int64[n]). Nulls and texts that are not ``live`` are empty."""
    _, ends, data = texts.buffers()
    borders = np.frombuffer(ends, np.int64, len(texts) + 1, texts.offset * 8) if len(texts) else np.zeros(1, np.int64)
    if texts.null_count:
        live = live & texts.is_valid().to_numpy(zero_copy_only=False)
    every = np.frombuffer(data, np.uint8) if data is not None and data.size else np.empty(0, np.uint8)
    every.flags.writeable = False  # one type for the kernel, for any buffer
    return every, borders[:-1].copy(), np.where(live, borders[1:] - borders[:-1], 0)


def by_hand(given: list[bytes], hard: np.ndarray, steps: tuple[str, ...], in_lines: bool, found: Normalized) -> np.ndarray:
    """Normalize the texts that the kernel could not: into the space kept for them, or after all others if they grew.

    hard: int64, their indices in ``found``, whose start, length, chars and trail are updated. Returns its data, or a longer array.
    """
    out, start, length, chars, trail = found
    grown, made = [], []
    used = end = int(start[-1] + length[-1])
    for item, raw in zip(hard.tolist(), given, strict=True):
        read = raw.decode("utf-8", "surrogatepass")
        if trail:
            changed, rows = in_bytes(read, *sources(read, steps, in_lines=in_lines))
            made.append(rows)
        else:
            changed = normalize(read, steps, in_lines=in_lines).encode("utf-8", "surrogatepass")
        piece = np.frombuffer(changed, np.uint8)
        if len(piece) <= length[item]:
            out[start[item] : start[item] + len(piece)] = piece
        else:
            start[item] = end
            end += len(piece)
            grown.append(piece)
        length[item], chars[item] = len(piece), len(read)
    if trail:
        trail[-1] = inserted(trail[-1], hard, made)
    return np.concatenate([out[:used], *grown, np.zeros(text.SPARE, np.uint8)]) if grown else out


def inserted(pieces: Pieces, items: np.ndarray, made: list[np.ndarray]) -> Pieces:
    """Pieces with those of some texts, which have none so far."""
    rows, borders = pieces
    numbers = np.diff(borders)
    numbers[items] = [len(one) for one in made]
    places = borders[items]
    parts = [part for low, high, one in zip([0, *places[:-1]], places, made, strict=True) for part in (rows[low:high], one)]
    return Pieces(np.concatenate([*parts, rows[places[-1] :]]), np.concatenate(([0], np.cumsum(numbers))))
