"""Segments as one part of an index: each question is one call of a kernel for all of them (kernels/several.py)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from likewise.compiled.holding import Steady
from likewise.index.segment import Segment, places_of
from likewise.index.store import Contents, Items
from likewise.kernels import several

look, shares_after, living_copies, find = map(Steady, (several.look, several.shares_after, several.living_copies, several.find))
describe, full_words, compact_words, slots = map(Steady, (several.describe, several.full_words, several.compact_words, several.slots))
id_places, id_bytes = map(Steady, (several.id_places, several.id_bytes))
NO_WORDS, ALL = np.zeros(0, np.uint64), 1 << 62
#: Contents whose keys are gathered from the bands at once, when items are read in order.
AT_ONCE = 1 << 20


class Several:
    """Segments in order of their numbers, without the items that were removed. Several threads may use it."""

    def __init__(self, segments: Sequence[Segment], gone: Sequence[np.ndarray]):
        """gone: of each, as in `parts.Piece`."""
        self.form, self._segments, self._gone = segments[0].form, segments, gone  # the table has addresses of what these hold
        self.first, self.last = segments[0].first, segments[-1].last
        self._table = np.stack([segment.record for segment in segments])
        for record, bits in zip(self._table, gone, strict=True):
            record[several.GONE : several.GONE + 2] = bits.ctypes.data, len(bits)

    def _checked(self, result: int) -> int:
        if result < 0:
            self._segments[several.DAMAGED - result].refuse()
        return result

    def look(self, keys: np.ndarray, most: int, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The first living items of contents that share a key, int64[p], their queries, and the most entries of a bucket of each query in ``raw``."""
        counts, found = np.empty((2, len(keys)), np.int64), np.empty((2, 64 + 8 * len(keys)), np.int64)
        total = self._checked(look(self._table, keys, most, raw, False, found, counts))
        if total > found.shape[1]:
            found = np.empty((2, total), np.int64)
            self._checked(look(self._table, keys, most, raw, True, found, counts))
        return found[0, :total], found[1, :total], counts[1]

    def shares_after(self, keys: np.ndarray, sizes: np.ndarray, after: int) -> bool:
        return bool(self._checked(shares_after(self._table, keys, sizes, after)))

    def copies(self, copy: np.ndarray, most: int = ALL) -> tuple[np.ndarray, np.ndarray]:
        """The first ``most`` living items of each content: their numbers, and how many they are."""
        counts, found = np.empty(len(copy), np.int64), np.empty(64 + 2 * len(copy), np.int64)
        total = self._checked(living_copies(self._table, copy, most, counts, found))
        if total > len(found):
            found = np.empty(total, np.int64)
            self._checked(living_copies(self._table, copy, most, counts, found))
        return found[:total], counts

    def find(self, hashes: np.ndarray, text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """The numbers of the living items with these ids (`segment.joined_ids`), int64[n]; -1: none."""
        out = np.empty(len(hashes), np.int64)
        self._checked(find(self._table, hashes, text, offsets, out))
        return out

    def _described(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        copy, places = np.empty((len(numbers), 2), np.uint64), np.empty((4, len(numbers)), np.int64)
        return copy, places, self._checked(describe(self._table, numbers, copy, places))

    def copy_of(self, numbers: np.ndarray) -> np.ndarray:
        return self._described(numbers)[0]

    def contents(self, numbers: np.ndarray) -> Contents:
        copy, places, total = self._described(numbers)
        size, words, short = places[3].astype(np.uint32), NO_WORDS, np.empty((len(numbers), self.form.slots), np.uint8)
        if self.form.sets == "none":
            self._checked(slots(self._table, places, short))
        else:
            words = np.empty(total, np.uint64)
            full = self.form.sets == "full"
            self._checked(full_words(self._table, places, words) if full else compact_words(self._table, places, self.form.bits, words))
        return Contents(copy, size, words, short)

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        places = np.empty((3, len(numbers)), np.int64)
        text = np.empty(self._checked(id_places(self._table, numbers, places)), np.uint8)
        self._checked(id_bytes(self._table, places, text))
        return cut(text.tobytes(), places[2])

    def scan(self, after: int, most: int) -> Iterator[tuple[np.ndarray, Items]]:
        """The living items above a number, in order, with their numbers."""
        for segment, gone in zip(self._segments, self._gone, strict=True):
            if segment.last > after:
                yield from self._scanned(segment, gone, after, most)

    def _scanned(self, segment: Segment, gone: np.ndarray, after: int, most: int) -> Iterator[tuple[np.ndarray, Items]]:
        items = places_of(~gone, segment.items) if len(gone) else np.arange(segment.items)
        items = items[np.searchsorted(segment.numbers(items), after, side="right") :]
        for begin in range(0, len(items), max(most, AT_ONCE)):
            mine = items[begin : begin + max(most, AT_ONCE)]
            needed, inverse = np.unique(segment.rows(mine), return_inverse=True)
            keys = np.column_stack([segment.keys(needed, band) for band in range(self.form.bands)])
            for at in range(0, len(mine), most):
                numbers = segment.numbers(mine[at : at + most])
                yield numbers, Items(self.ids(numbers), keys[inverse[at : at + most]], *self.contents(numbers))


def cut(text: bytes, lengths: np.ndarray) -> list[bytes]:
    """A text in pieces of these lengths."""
    found, begin = [], 0
    for length in lengths.tolist():
        found.append(text[begin : begin + length])
        begin += length
    return found
