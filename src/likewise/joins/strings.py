"""Strings prepared for joins by edit distance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from likewise.joins.pairs import Longs, PairBlock
from likewise.kernels import join as kernels
from likewise.kernels.grams import grams
from likewise.measures.edit import library

#: Distances computed at once, and the number from which threads pay off.
MEASURED_AT_ONCE, MANY = 1 << 16, 1 << 12
#: Words of signs of a string: a bit for each code point and the number of its earlier occurrences, modulo the number of bits.
WORDS = 2


@dataclass
class Strings:
    """n strings, prepared for measuring distances. Raises UsageError if RapidFuzz is missing."""

    texts: NDArray[np.object_]
    within: int
    levenshtein: bool
    threads: int = 1
    points: NDArray[np.uint32] = field(init=False)  # the code points of all strings, end to end
    begin: Longs = field(init=False)
    length: Longs = field(init=False)
    signs: NDArray[np.uint64] = field(init=False)  # uint64[n, WORDS]: signs of the code points of each

    def __post_init__(self) -> None:
        self.length = np.fromiter(map(len, self.texts), np.int64, len(self.texts))
        self.begin = np.cumsum(self.length) - self.length
        self.points = np.frombuffer("".join(self.texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        values, offsets = grams(self.points, self.begin, self.length, 1)
        self.signs = kernels.sign((values >> np.uint64(32)).astype(np.uint32), offsets[:-1], self.length.astype(np.uint32), WORDS)
        rapidfuzz = library()
        self.scorer = getattr(rapidfuzz.distance, "Levenshtein" if self.levenshtein else "Indel").distance
        self.measure = rapidfuzz.process.cpdist

    def near(self, left: Longs, right: Longs) -> PairBlock:
        """The pairs left[i] < right[i] within the limit, with their distances."""
        blocks = [PairBlock(left[:0], right[:0], np.zeros(0))]
        for at in range(0, len(left), MEASURED_AT_ONCE):
            a, b = left[at : at + MEASURED_AT_ONCE], right[at : at + MEASURED_AT_ONCE]
            texts, threads = (self.texts[a].tolist(), self.texts[b].tolist()), self.threads if len(a) > MANY else 1
            distance = self.measure(*texts, scorer=self.scorer, score_cutoff=self.within, dtype=np.int64, workers=threads)
            good = distance <= self.within
            blocks.append(PairBlock(a[good], b[good], distance[good].astype(np.float64)))
        return PairBlock(*map(np.concatenate, zip(*blocks, strict=True)))


def strings_of(texts: Sequence[str] | pa.Array, within: int, levenshtein: bool, threads: int) -> Strings:
    """The texts as str. Binary ones are UTF-8 with lone surrogates as three bytes each."""
    listed: Sequence[Any] = texts.to_pylist() if isinstance(texts, pa.Array | pa.ChunkedArray) else texts
    held = np.empty(len(listed), np.object_)
    held[:] = [text.decode("utf-8", "surrogatepass") if isinstance(text, bytes) else text for text in listed]
    return Strings(held, within, levenshtein, threads)
