"""The tokens of texts with their places: where each begins and ends in the text as it was read."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from likewise.errors import UsageError
from likewise.items import tables
from likewise.items.documents import BYTE_KEYS, UNITS
from likewise.items.normalized import buffers, normalizer
from likewise.items.tokens import IN_LINES
from likewise.kernels import places, shingles
from likewise.kernels.digest import KEYS
from likewise.kernels.hashing import derive
from likewise.messages import option
from likewise.methods import Text

#: Units without places -> the unit to use instead.
WITHOUT = {"bytes": "chars", "stopwords": "words"}
SPARE = 65  # entries after the last token that the kernel may write


class Placed(NamedTuple):
    """The tokens of texts: those of text i are offsets[i]:offsets[i + 1].

    A token reaches from the first character that its first character comes from to the end of the last that its last comes from: byte begin[j] to
    end[j] of the text, in UTF-8, or for token ids from their index to the next.
    """

    offsets: np.ndarray  # int64[n + 1]
    hashes: np.ndarray  # uint64[m]
    begin: np.ndarray  # int64[m]
    end: np.ndarray  # int64[m]


def placer(method: Text, seed: int) -> Callable[[pa.LargeBinaryArray, np.ndarray], Placed]:
    """A function (texts, bool[n]: which to read) -> Placed; skipped texts are empty. Threads may share it.

    The tokens, and their hashes, are those of `shingler` with the same unit, steps and seed. Raises UsageError for the units `bytes` and `stopwords`,
    and for token ids with steps of normalization.
    """
    if method.unit in WITHOUT:
        raise UsageError(f"{option('by', method.unit)}: these tokens have no places in the text; use {WITHOUT[method.unit]}")
    if method.unit == "tokens" and method.normalize:
        raise UsageError(f"{option('normalize', ','.join(method.normalize))}: token ids cannot be normalized; leave it out or give none")
    normalized = normalizer(method.normalize, in_lines=method.unit in IN_LINES, traced=True)
    classes = tables.classes(method.unit, method.signs)
    keys = derive(np.uint64(seed & 0xFFFF_FFFF_FFFF_FFFF), BYTE_KEYS, KEYS)

    def place(texts: pa.LargeBinaryArray, live: np.ndarray) -> Placed:
        data, start, length, _, trail = normalized(texts, live)
        room = int(length.sum()) + SPARE
        hashes, begin, end = np.empty(room, np.uint64), np.empty(room, np.int64), np.empty(room, np.int64)
        offsets = shingles.place(data, start, length, UNITS[method.unit], classes, keys, hashes, begin, end)
        for found in (hashes, begin, end):
            found.resize(offsets[-1], refcheck=False)  # returns the rest in place
        if method.unit == "tokens":
            return Placed(offsets, hashes, begin // 8, end // 8)
        for rows, borders in reversed(trail):
            places.trace(rows, borders, offsets, begin, end)
        return Placed(offsets, hashes, begin, end)

    return place


def characters(texts: pa.LargeBinaryArray, rows: np.ndarray, at: np.ndarray) -> np.ndarray:
    """The places at[i], in bytes of text rows[i], in characters (code points): int64[m], in any order. A lone surrogate is one character."""
    data, start, _ = buffers(texts, np.ones(len(texts), bool))
    rows, at = rows.astype(np.int64), at.astype(np.int64)
    if ((rows[1:] > rows[:-1]) | ((rows[1:] == rows[:-1]) & (at[1:] >= at[:-1]))).all():
        return places.code_points(data, start, rows, at)
    order = np.lexsort((at, rows))
    found = np.empty(len(at), np.int64)
    found[order] = places.code_points(data, start, rows[order], at[order])
    return found
