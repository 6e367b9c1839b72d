"""Strings of code points, prepared for comparisons with many others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.items.sets import read_only
from likewise.kernels.grams import grams
from likewise.kernels.join import sign
from likewise.kernels.strings import PREFIX, in_order

Longs = NDArray[np.int64]

#: Words of signs of a string: a bit for each code point and the number of its earlier occurrences, modulo the number of bits.
WORDS = 2
#: Stands for the code points that a short string lacks in its head.
NONE = 0xFFFF_FFFF


@dataclass(frozen=True)
class Strings:
    """n strings."""

    texts: NDArray[np.object_]

    @cached_property
    def length(self) -> Longs:
        """Code points of each."""
        return np.fromiter(map(len, self.texts), np.int64, len(self.texts))

    @cached_property
    def begin(self) -> Longs:
        """The place of the first code point of each in ``points``."""
        return np.cumsum(self.length) - self.length

    @cached_property
    def points(self) -> NDArray[np.uint32]:
        """The code points of all strings, end to end."""
        return np.frombuffer("".join(self.texts).encode("utf-32-le", "surrogatepass"), np.uint32)

    @cached_property
    def signs(self) -> NDArray[np.uint64]:
        """Signs of the code points of each: uint64[n, WORDS]. Two strings differ in at most as many bits as code points that one of them lacks."""
        values, offsets = grams(self.points, self.begin, self.length, 1)
        return np.asarray(sign((values >> np.uint64(32)).astype(np.uint32), offsets[:-1], self.length.astype(np.uint32), WORDS))

    @cached_property
    def heads(self) -> NDArray[np.uint32]:
        """The first code points of each: uint32[n, PREFIX]."""
        place = np.arange(PREFIX)
        there = place < self.length[:, None]
        heads = np.full(there.shape, NONE, np.uint32)
        heads[there] = self.points[(self.begin[:, None] + place)[there]]
        return heads

    @cached_property
    def held(self) -> tuple[NDArray[np.uint32], NDArray[np.uint64], Longs, Longs]:
        """points, ordered, begin, length, as `kernels.strings.paired` takes them."""
        points, begin, length = read_only(self.points), read_only(self.begin), read_only(self.length)
        return points, read_only(in_order(points, begin, length)), begin, length


def strings_of(texts: Sequence[str] | pa.Array) -> Strings:
    """The texts as str. Binary ones are UTF-8 with lone surrogates as three bytes each."""
    listed: Sequence[Any] = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
    held = np.empty(len(listed), np.object_)
    held[:] = [text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text for text in listed]
    return Strings(held)
