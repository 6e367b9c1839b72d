"""The items of an index that lie in no segment yet, in memory (kernels/tails.py)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from likewise.compiled.holding import Steady
from likewise.index.segment import Form, hashed, joined_ids, places_of
from likewise.index.several import ALL
from likewise.index.store import Contents, Items
from likewise.kernels import segments, tails
from likewise.kernels.tails import Table

look, living_copies, find = map(Steady, (tails.look, tails.living_copies, tails.find))

NONE_GONE = np.zeros(0, np.uint64)
NONE_GONE.flags.writeable = False


class Rest(NamedTuple):
    """The numbers, words, slots and ids of items."""

    numbers: np.ndarray  # int64[n]
    words: np.ndarray  # uint64
    ends: np.ndarray  # int64[n + 1]: of the words of each item
    slots: np.ndarray  # uint8[n, slots]
    text: np.ndarray  # uint8: the ids
    id_ends: np.ndarray  # int64[n + 1]


def roomy(array: np.ndarray, used: int, room: int) -> np.ndarray:
    """The array, or a larger copy of its first ``used`` rows if it has fewer than ``room`` rows."""
    if len(array) >= room:
        return array
    larger = np.zeros((max(room, 2 * len(array)), *array.shape[1:]), array.dtype)
    larger[:used] = array[:used]
    return larger


class Tail:
    """One thread appends while others read snapshots: arrays grow at their end, or are replaced by larger copies."""

    def __init__(self, form: Form):
        self.form, self.items = form, 0
        columns = form.bands + 2
        shift = (columns - 1).bit_length()
        self._table = Table(
            np.zeros(4 << shift, np.int32),
            np.zeros(1 << shift, np.int32),
            np.zeros(1 << shift, np.int32),
            np.zeros((1, columns), np.uint64),
            np.zeros((1, 2), np.uint64),
            np.zeros(1, np.uint32),
            np.zeros(1, np.int32),
            shift,
        )
        self._rest = Rest(
            np.zeros(1, np.int64),
            np.zeros(1, np.uint64),
            np.zeros(2, np.int64),
            np.zeros((1, form.slots), np.uint8),
            np.zeros(1, np.uint8),
            np.zeros(2, np.int64),
        )

    @property
    def bytes(self) -> int:
        """The room of the items, about."""
        return 8 * int(self._rest.ends[self.items]) + int(self._rest.id_ends[self.items]) + self.items * (8 * self.form.bands + 64 + self.form.slots)

    def append(self, numbers: np.ndarray, items: Items) -> None:
        """Add items, whose numbers ascend."""
        begin, end = self.items, self.items + len(items)
        self._grow(end)
        table, rest = self._table, self._rest
        text, offsets = joined_ids(items.ids)
        table.columns[begin:end, :-2] = items.keys
        table.columns[begin:end, -2] = items.copy[:, 0] ^ items.copy[:, 1] * tails.MIX
        table.columns[begin:end, -1] = hashed(items.ids)
        table.copy[begin:end], table.size[begin:end] = items.copy, items.size
        at, id_at = int(rest.ends[begin]), int(rest.id_ends[begin])
        words, text_ = roomy(rest.words, at, at + len(items.words)), roomy(rest.text, id_at, id_at + len(text))
        self._rest = rest = rest._replace(words=words, text=text_)
        words[at : at + len(items.words)] = items.words
        text_[id_at : id_at + len(text)] = text
        rest.numbers[begin:end] = numbers
        rest.ends[begin + 1 : end + 1] = at + np.cumsum(items.size, dtype=np.int64) * (len(items.words) > 0)
        rest.id_ends[begin + 1 : end + 1] = id_at + offsets[1:]
        rest.slots[begin:end] = items.slots.reshape(len(items), self.form.slots)
        tails.add(table, begin, end)
        self.items = end

    def _grow(self, room: int) -> None:
        """Make room for items, in larger arrays and a larger table of keys."""
        table, used = self._table, self.items
        if len(table.columns) >= room:
            return
        room = max(room, 2 * len(table.columns))
        keys = room << table.shift
        self._table = Table(
            np.zeros(1 << (2 * keys - 1).bit_length(), np.int32),
            np.zeros(keys, np.int32),
            np.zeros(keys, np.int32),
            roomy(table.columns, used, room),
            roomy(table.copy, used, room),
            roomy(table.size, used, room),
            roomy(table.content, used, room),
            table.shift,
        )
        tails.add(self._table, 0, used)
        rest = self._rest
        self._rest = rest._replace(
            numbers=roomy(rest.numbers, used, room),
            ends=roomy(rest.ends, used + 1, room + 1),
            slots=roomy(rest.slots, used, room),
            id_ends=roomy(rest.id_ends, used + 1, room + 1),
        )

    def snapshot(self) -> Recent:
        return Recent(self, self._table, self._rest, self.items)


class Recent:
    """The first items of a tail, without some that were removed. Immutable; several threads may use it.

    Rows and places are the same: those of items.
    """

    def __init__(self, tail: Tail, table: Table, rest: Rest, items: int, gone: np.ndarray = NONE_GONE):
        self.tail, self.form, self.items, self._gone = tail, tail.form, items, gone
        self._table, self._rest = table, rest
        self.first, self.last = (int(rest.numbers[0]), int(rest.numbers[items - 1])) if items else (-1, -1)
        self.bytes = 0

    def without(self, gone: np.ndarray) -> Recent:
        """The same without these, a bitmap (`parts.Piece`)."""
        return Recent(self.tail, self._table, self._rest, self.items, gone)

    def places(self, numbers: np.ndarray) -> np.ndarray:
        mine = self._rest.numbers[: self.items]
        items = np.searchsorted(mine, numbers)
        there = items < self.items
        there[there] = mine[items[there]] == numbers[there]
        return np.where(there, items, -1)

    def numbers(self, items: np.ndarray) -> np.ndarray:
        return np.where(items >= 0, self._rest.numbers[items], -1)

    def rows(self, items: np.ndarray) -> np.ndarray:
        return self._table.content[items].astype(np.int64)

    # --- as `several.Several`

    def look(self, keys: np.ndarray, most: int, raw: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        counts, found = np.empty((2, len(keys)), np.int64), np.empty(64 + 8 * len(keys), np.int64)
        total = look(self._table, self.items, self._gone, self._rest.numbers, keys, most, raw, False, found, counts)
        if total > len(found):
            found = np.empty(total, np.int64)
            look(self._table, self.items, self._gone, self._rest.numbers, keys, most, raw, True, found, counts)
        return found[:total], np.repeat(np.arange(len(keys)), counts[0]) if total else found[:0], counts[1]

    def shares_after(self, keys: np.ndarray, sizes: np.ndarray, after: int) -> bool:
        return bool(tails.shares_after(self._table, self.items, self._gone, self._rest.numbers, keys, sizes, after))

    def copies(self, copy: np.ndarray, most: int = ALL) -> tuple[np.ndarray, np.ndarray]:
        counts, found = np.empty(len(copy), np.int64), np.empty(64 + 2 * len(copy), np.int64)
        total = living_copies(self._table, self.items, self._gone, self._rest.numbers, copy, most, counts, found)
        if total > len(found):
            found = np.empty(total, np.int64)
            living_copies(self._table, self.items, self._gone, self._rest.numbers, copy, most, counts, found)
        return found[:total], counts

    def find(self, hashes: np.ndarray, text: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        out = np.empty(len(hashes), np.int64)
        find(self._table, self.items, self._gone, self._rest.id_ends, self._rest.text, hashes, text, offsets, out)
        return self.numbers(out)

    def copy_of(self, numbers: np.ndarray) -> np.ndarray:
        return self._table.copy[self.places(numbers)]

    def contents(self, numbers: np.ndarray) -> Contents:
        return self._content(self.places(numbers))

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        return self._ids(self.places(numbers))

    # --- overfull buckets

    def members(self, band: int, keys: tuple[int, ...], most: int, gone: np.ndarray) -> np.ndarray:
        out = np.empty(self.items if len(gone) else min(most, self.items), np.int64)
        return out[: tails.members(self._table, self.items, band, np.array(keys, np.uint64), out)]

    def keys(self, rows: np.ndarray, band: int) -> np.ndarray:
        return self._table.columns[rows, band]

    def heads(self, band: int, keys: tuple[int, ...], most: int) -> None:
        """Always None: a tail stores no heads, because it has the keys of its contents in memory."""

    def firsts(self, rows: np.ndarray, gone: np.ndarray) -> np.ndarray:
        out = np.empty(len(rows), np.int64)
        tails.firsts(self._table, self.items, gone, rows, out)
        return self.numbers(out)

    def rows_with(self, copy: np.ndarray) -> np.ndarray:
        out = np.empty(len(copy), np.int64)
        tails.rows_with(self._table, self.items, copy, out)
        return out

    def _content(self, items: np.ndarray) -> Contents:
        begins, ends = self._rest.ends[items], self._rest.ends[items + 1]
        words = np.empty(int((ends - begins).sum()), np.uint64)
        segments.gather(self._rest.words, begins, ends - begins, words)
        return Contents(self._table.copy[items], self._table.size[items], words, self._rest.slots[items])

    def _ids(self, items: np.ndarray) -> list[bytes]:
        text, ends = self._rest.text, self._rest.id_ends
        return [text[begin:end].tobytes() for begin, end in zip(ends[items].tolist(), ends[items + 1].tolist(), strict=True)]

    def scan(self, after: int, most: int) -> Iterator[tuple[np.ndarray, Items]]:
        items = places_of(~self._gone, self.items) if len(self._gone) else np.arange(self.items)
        items = items[self._rest.numbers[items] > after]
        for begin in range(0, len(items), most):
            some = items[begin : begin + most]
            copy, size, words, slots = self._content(some)
            yield self._rest.numbers[some], Items(self._ids(some), self._table.columns[some, :-2], copy, size, words, slots)
