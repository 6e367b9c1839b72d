"""Segments: many items of an index as sorted arrays that never change, in files or in memory (kernels/segments.py).

    NNNNNNNN.bands  the band of each key, and one of ids
    NNNNNNNN.items  numbers, ids, copies
    NNNNNNNN.sets   sizes, and words, or shortened signatures

`Building` makes every segment, of items that are loaded, of those that were written last, or of other segments. So equal items make equal bytes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import xxhash

from likewise.compiled.holding import Steady
from likewise.errors import FormatError, UsageError
from likewise.index.files import Arrays, Held, Writing, damaged
from likewise.index.overfull import Heads, budget, kept_of
from likewise.index.store import KEY_BITS, Items
from likewise.kernels import compact_sets, segments, sorted_bands
from likewise.kernels.records import record_of
from likewise.kernels.segments import Copies, Ends, Living
from likewise.kernels.sorted_bands import DAMAGED, Band, Bands
from likewise.stages import candidates

#: The most items of a segment.
MOST = 1 << sorted_bands.ROW_BITS
SUFFIXES = (".bands", ".items", ".sets")
#: In each, how many arrays there are, and which are read whole when it is opened.
ARRAYS = (9, (0, 1, 3, 5, 6)), (10, (0, 1, 2, 3)), (5, ())
#: The array of a band's file with the rows of heads of overfull buckets; their keys follow.
HEADS = 7
members, firsts = Steady(segments.members), Steady(segments.firsts)
#: Bytes of arrays about overfull buckets that a part keeps in memory.
KEPT = 64 << 20
NOTHING = np.zeros(0, np.uint64)
#: The bytes of a value in each array of the files, in their order.
WIDTHS = [(int(one),) if one in "148" else (2, 4) if one == "e" else (1, 8) for one in "84848884884448448e1w8e8e"]


class Form(NamedTuple):
    """The layout of an item in a segment."""

    bands: int
    sets: str
    bits: int
    slots: int

    @classmethod
    def of(cls, settings: dict[str, Any]) -> Form:
        return cls(settings["bands"], settings["sets"], settings["bits"], settings["slots"])


def files(folder: Path, name: int) -> list[Path]:
    """The files of a segment."""
    return [folder / f"{name:08d}{suffix}" for suffix in SUFFIXES]


def hashed(ids: Sequence[bytes]) -> np.ndarray:
    """Keys of ids: uint64[n]."""
    return np.fromiter(map(xxhash.xxh3_64_intdigest, ids), np.uint64, len(ids)) >> np.uint64(64 - KEY_BITS)


def joined_ids(ids: Sequence[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Their bytes, uint8[m], and where each begins, int64[n + 1]."""
    offsets = np.zeros(len(ids) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, ids), np.int64, len(ids)), out=offsets[1:])
    return np.frombuffer(b"".join(ids), np.uint8), offsets


def bits_of(places: np.ndarray, size: int) -> np.ndarray:
    """A bitmap with these places set: uint64[size / 64 + 1]."""
    marks = np.zeros((size // 64 + 1) * 64, np.uint8)
    marks[places] = 1
    bits: np.ndarray = np.packbits(marks, bitorder="little").view(np.uint64)
    bits.flags.writeable = False
    return bits


def places_of(bits: np.ndarray, size: int) -> np.ndarray:
    """The places below ``size`` that are set in a bitmap, ascending."""
    return np.flatnonzero(np.unpackbits(bits.view(np.uint8), bitorder="little")[:size])


def packed(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ends of pieces of these lengths, uint[n], as files have them (`segments.Ends`)."""
    ends = np.zeros(len(lengths) + 1, np.uint64)
    np.cumsum(lengths, out=ends[1:], dtype=np.uint64)
    base = ends[::32].copy()
    more = ends - np.repeat(base, 32)[: len(ends)]
    return base, more.astype(np.uint16 if int(more.max()) < 1 << 16 else np.uint32)


def ends_of(base: np.ndarray, more: np.ndarray) -> Ends:
    return Ends(base, more.view(np.uint16), more.itemsize // 4)


class Kept:
    """Arrays that are long in the making, by name: those that were used last."""

    def __init__(self, most: int = KEPT):
        self._most, self._bytes, self._lock = most, 0, Lock()
        self._found: OrderedDict[tuple[int, ...], tuple[np.ndarray, ...]] = OrderedDict()

    def get(self, name: tuple[int, ...], make: Callable[[], tuple[np.ndarray, ...]]) -> tuple[np.ndarray, ...]:
        with self._lock:
            if name in self._found:
                self._found.move_to_end(name)
                return self._found[name]
        made = make()  # two threads may both make it
        with self._lock:
            if self._found.setdefault(name, made) is made:
                self._bytes += room_of(made)
            while self._bytes > self._most and len(self._found) > 1:
                self._bytes -= room_of(self._found.popitem(last=False)[1])
        return made


def room_of(arrays: tuple[np.ndarray, ...]) -> int:
    """The bytes that arrays take in memory, about."""
    return sum(128 + each.nbytes for each in arrays)


class Segment:
    """Items that do not change. Several threads may use it; what it keeps in memory depends on nothing but its arrays."""

    def __init__(self, form: Form, name: int, held: Sequence[Arrays | Held], path: Path | None = None, trailers: bytes = b""):
        self.form, self.name, self.path, self._held = form, name, path, held
        self.bytes, self.checksum = sum(each.bytes for each in held), xxhash.xxh3_128_digest(trailers)
        bands, items, sets = (each.arrays for each in held)
        if not all(array.itemsize in wanted for array, wanted in zip((*bands, *items, *sets), WIDTHS, strict=True)):
            raise self._damage("its arrays have values of other types")
        facts, borders, entries, id_borders, id_entries, *heads = bands
        self.first, self.last, self.items, self.contents, meeting, self._budget, self._depth = facts.tolist()
        numbers, extra_item, extra_row, by_row, high, low, order, base, more, text = items
        self._data, self._sizes, self._ends = sets[0], ends_of(*sets[1:3]), ends_of(*sets[3:5])  # of contents
        self._id_ends, self._text = ends_of(base, more), text
        self._ids = Band(id_borders, id_entries)
        self._copies = Copies(high, low, order)
        self._living = Living(self.items, self.first, numbers, extra_item, extra_row, by_row, NOTHING)
        self._check_lengths(meeting, borders, entries)
        self._bands = Bands(borders.reshape(form.bands, -1), entries.reshape(form.bands, meeting))
        most = {"full": 1, "compact": 8}.get(form.sets, 1 << 32) * len(self._data)  # words; each takes a bit at least
        try:
            self._heads = Heads(heads, 2 + self._depth)
        except ValueError:
            raise self._damage("its lists of overfull buckets do not fit together") from None
        parts = self._living, self._bands, self._copies, self._sizes, self._ids, self._id_ends, text, self._ends, self._data, most
        self._of_bands, self._of_items, of_sets = (each.blocks for each in held)
        self.record = record_of(*parts, self._of_bands, self._of_items, of_sets)  # for kernels.several

    def _check_lengths(self, meeting: int, borders: np.ndarray, entries: np.ndarray) -> None:
        """Raise FormatError if an array has another length than the kernels take for granted, or names what is not there."""
        living, extras = self._living, len(self._living.extra_item)
        n, m, bands = self.items, self.contents, self.form.bands
        right = (
            0 < n <= MOST and m == n - extras and 0 <= meeting <= m and self.first <= self.last,
            len(entries) == bands * meeting and len(borders) % bands == 0 and is_border(len(borders) // bands) and is_border(len(self._ids.borders)),
            len(self._ids.entries) == n and len(living.numbers) in (0, n) and (len(living.numbers) == n or self.last - self.first + 1 == n),
            len(living.extra_row) == len(living.by_row) == extras,
            len(self._copies.high) == len(self._copies.low) == len(self._copies.order) == m,
            all(is_ends(each, k) for each, k in ((self._id_ends, n), (self._sizes, m))),
            self.form.sets != "compact" or is_ends(self._ends, m),
            self.form.sets != "none" or len(self._data) == m * self.form.slots,
        )
        if not all(right):
            raise self._damage("its arrays have lengths that do not fit together")
        if extras and not (
            int(living.by_row.max()) < extras
            and int(living.extra_row.max()) < m
            and int(living.extra_item[-1]) < n
            and (np.diff(living.extra_item.astype(np.int64)) > 0).all()
        ):
            raise self._damage("its list of copies names items that are not there")
        if len(living.numbers) and not (living.numbers[0] == self.first and living.numbers[-1] == self.last and (np.diff(living.numbers) > 0).all()):
            raise self._damage("its numbers do not ascend")

    def _damage(self, why: str) -> FormatError:
        return damaged(self.path or Path("a segment in memory"), why)

    def refuse(self) -> None:
        """Raise the error for damage that a kernel found."""
        for each in self._held:
            each.refuse()
        raise self._damage("an entry names what is not there")

    def _checked(self, result: int) -> int:
        if result == DAMAGED:
            self.refuse()
        return result

    @classmethod
    def open(cls, folder: Path, name: int, form: Form, checksum: bytes | None = None) -> Segment:
        """The segment in the files of this name. Raises FormatError for files that are not whole, or not those with this checksum.

        Blocks of them are compared with their checksums before something in them is used; `check` compares all.
        """
        paths = files(folder, name)
        held = [Arrays(path, path.suffix[1:], *arrays) for path, arrays in zip(paths, ARRAYS, strict=True)]
        trailers = b"".join(each.trailer for each in held)
        if checksum is not None and checksum != xxhash.xxh3_128_digest(trailers):
            raise damaged(paths[0].with_suffix(".*"), "these are not the files that the index names")
        return cls(form, name, held, paths[0].with_suffix(".*"), trailers)

    def check(self) -> list[str]:
        """Read all: a sentence for each fault."""
        return [fault for each in self._held for fault in each.check()]

    def close(self) -> None:
        """Nothing to do: files stay mapped as long as a view needs them."""

    # --- what is where: items are places from 0, contents are rows

    def living(self, gone: np.ndarray) -> Living:
        return self._living._replace(gone=gone)

    def places(self, numbers: np.ndarray) -> np.ndarray:
        """The items with these numbers, int64[n]; -1: it has no such item."""
        all_ = self._living.numbers
        items = np.searchsorted(all_, numbers) if len(all_) else numbers - self.first
        there = (items >= 0) & (items < self.items)
        if len(all_):
            there[there] = all_[items[there]] == numbers[there]
        return np.where(there, items, -1)

    def numbers(self, items: np.ndarray) -> np.ndarray:
        return self._living.numbers[items] if len(self._living.numbers) else items + self.first

    def rows(self, items: np.ndarray) -> np.ndarray:
        out = np.empty(len(items), np.int64)
        segments.rows_of(self._living, items, out)
        return out

    # --- who meets whom

    def members(self, band: int, keys: tuple[int, ...], most: int, gone: np.ndarray) -> np.ndarray:
        """The contents with these keys in a band and those after it: rows int64[n], ascending, with the first ``most`` by number."""
        out, wanted = np.empty(min(most, self.contents), np.int64), np.array(keys, np.uint64)
        count = self._checked(members(self._of_bands, self._bands, self.living(gone), band, wanted, most, out))
        if count > len(out):
            out = np.empty(count, np.int64)
            self._checked(members(self._of_bands, self._bands, self.living(gone), band, wanted, most, out))
        return out[:count]

    def heads(self, band: int, keys: tuple[int, ...], most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """The first rows of such a bucket with each key of the next band, at most so many, and these keys; None: they are not kept."""
        if (self._budget, self._depth) != (most, candidates.FINER):
            return None
        begin, end = self._heads.range_of(band, keys)
        return (self._held[0].read(HEADS, begin, end).astype(np.int64), self._held[0].read(HEADS + 1, begin, end)) if end else None

    def keys(self, rows: np.ndarray, band: int) -> np.ndarray:
        """The keys of contents, each once, in a band: uint64[n]; 0 for empty ones."""
        slot, out = np.empty(self.contents, np.int32), np.zeros(len(rows), np.uint64)
        slot[rows] = np.arange(len(rows), dtype=np.int32)
        wanted = bits_of(rows, self.contents)
        self._checked(sorted_bands.keys_of(self._of_bands, self._bands.borders[band], self._bands.entries[band], wanted, slot, out))
        return out

    def firsts(self, rows: np.ndarray, gone: np.ndarray) -> np.ndarray:
        """The number of the first living item of each content; -1 if all were removed."""
        out = np.empty(len(rows), np.int64)
        firsts(self.living(gone), rows, out)
        return out

    def rows_with(self, copy: np.ndarray) -> np.ndarray:
        """The rows of these contents, int64[n]; -1 for those that it lacks."""
        out = np.empty(len(copy), np.int64)
        self._checked(segments.rows_with(self._of_items, self._copies, copy, out))
        return out


def is_ends(ends: Ends, count: int) -> bool:
    """True for the ends of so many pieces."""
    return len(ends.more) >> ends.wide == count + 1 and len(ends.base) == count // 32 + 1


def is_border(length: int) -> bool:
    """True for the number of borders of a power of two buckets, at least 2^FEWEST_BITS."""
    return length - 1 >= 1 << sorted_bands.FEWEST_BITS and (length - 1) & (length - 2) == 0


class Building:
    """Makes a segment of items that come block by block, in order of their numbers. In memory without a folder."""

    def __init__(self, form: Form, folder: Path | None = None, name: int = 0):
        self.form, self.folder, self.name = form, folder, name
        self.items = self._rows = 0
        self._files = [Writing(path, path.suffix[1:]) for path in files(folder, name)] if folder else [Held() for _ in SUFFIXES]
        self._numbers: list[np.ndarray] = []
        self._row: list[np.ndarray] = []
        self._ids: list[bytes] = []  # of each block, one after the other
        self._hashes: list[np.ndarray] = []  # of ids, and their lengths: [2, n]
        self._keys: list[np.ndarray] = []  # of contents, [bands, n]
        self._sizes: list[np.ndarray] = []
        self._lengths: list[np.ndarray] = []
        self._copy = np.empty(0, np.uint64), np.empty(0, np.uint32)
        self._table = np.zeros(16, np.int32)
        self._files[2].begin("u8" if form.sets == "full" else "u1")

    def add(self, numbers: np.ndarray, items: Items) -> int:
        """Add items; returns how many were taken: less than all if the segment is full."""
        n = min(len(items), MOST - self.items)
        if n == 0:
            return 0
        row = self._shared(items.copy[:n])
        new = np.zeros(n, bool)
        fresh, places = np.unique(row, return_index=True)
        new[places[fresh >= self._rows]] = True
        self._rows += int(new.sum())
        self._numbers.append(np.array(numbers[:n], np.int64))
        self._row.append(row)
        self._ids.append(b"".join(items.ids[:n]))
        self._hashes.append(np.stack([hashed(items.ids[:n]), np.fromiter(map(len, items.ids[:n]), np.uint64, n)]))
        self._keys.append(np.ascontiguousarray(items.keys[:n][new].T))
        self._sizes.append(items.size[:n][new])
        self._write(items, n, new)
        self.items += n
        return n

    def _shared(self, copy: np.ndarray) -> np.ndarray:
        """The contents of items, new ones after those there are: int32[n]."""
        high, low = self._copy
        if (room := self._rows + len(copy)) > len(high):
            self._copy = high, low = np.resize(high, 2 * room), np.resize(low, 2 * room)
        if 2 * room > len(self._table):
            self._table = np.zeros(1 << (4 * room - 1).bit_length(), np.int32)
            segments.fill(high, low, self._rows, self._table)
        out = np.empty(len(copy), np.int32)
        segments.share(np.ascontiguousarray(copy), high, low, self._rows, self._table, out)
        return out

    def _write(self, items: Items, n: int, new: np.ndarray) -> None:
        """Write what contents are compared by."""
        if self.form.sets == "none":
            self._files[2].more(items.slots[:n][new])
            return
        size = items.size[:n].astype(np.int64)
        words = items.words[: int(size.sum())]
        if not new.all():
            words = words[np.repeat(new, size)]
        if self.form.sets == "full":
            self._files[2].more(words)
            return
        sizes, ends = items.size[:n][new], np.zeros(int(new.sum()), np.int64)
        if not compact_sets.measure(words, sizes, self.form.bits, ends):
            raise UsageError("only sets of words in ascending order can be kept in few bits: items of this type need sets=full or sets=none")
        data = np.zeros(int(ends[-1]) if len(ends) else 0, np.uint8)
        compact_sets.encode(words, sizes, self.form.bits, ends, data)
        self._files[2].more(data)
        self._lengths.append(np.diff(ends, prepend=0))

    def finish(self) -> Segment:
        """Write the rest and sync each file. The folder is the caller's to sync."""
        if not self.items:
            raise ValueError("a segment of no items")
        numbers, row, sizes = np.concatenate(self._numbers), np.concatenate(self._row), np.concatenate(self._sizes)
        hashes, lengths = np.concatenate(self._hashes, axis=1)
        self._put_bands(numbers, hashes, np.flatnonzero(sizes).astype(np.uint32))
        self._put_items(numbers, row, lengths)
        self._put_sets(sizes)
        written = [each.finish() for each in self._files]
        if self.folder:
            return Segment.open(self.folder, self.name, self.form)
        held: list[Any] = self._files
        return Segment(self.form, self.name, held, trailers=b"".join(trailer for _, trailer in written))

    def _put_bands(self, numbers: np.ndarray, hashes: np.ndarray, meeting: np.ndarray) -> None:
        """The counts, the keys of each band, and the hashes of ids. meeting: the rows that are in buckets."""
        bands = self._files[0]

        def band(keys: Sequence[np.ndarray]) -> Band:
            return sorted_bands.band_of(np.concatenate(keys)[meeting], meeting)

        bands.put(np.array([numbers[0], numbers[-1], self.items, self._rows, len(meeting), budget(), candidates.FINER], np.int64))
        made = [band([keys[number] for keys in self._keys]) for number in range(self.form.bands)]
        for field in range(2):
            bands.begin(made[0][field].dtype)
            for each in made:
                bands.more(each[field])
        column = lru_cache(1 + candidates.FINER)(lambda number: np.concatenate([keys[number % len(made)] for keys in self._keys]))
        for array in (*sorted_bands.band_of(hashes, np.arange(self.items, dtype=np.uint32)), *kept_of(made, column)):
            bands.put(array)

    def _put_items(self, numbers: np.ndarray, row: np.ndarray, lengths: np.ndarray) -> None:
        """The numbers of items, the copies among them, their identities, and their ids."""
        items = self._files[1]
        of_first = np.unique(row, return_index=True)[1]
        extra = np.ones(self.items, bool)
        extra[of_first] = False
        extra_row = row[extra].astype(np.uint32)
        high, low = (each[: self._rows] for each in self._copy)
        dense = int(numbers[-1]) - int(numbers[0]) + 1 == self.items
        for array in (
            numbers[:0] if dense else numbers,
            np.flatnonzero(extra).astype(np.uint32),
            extra_row,
            np.argsort(extra_row, kind="stable").astype(np.uint32),
            high,
            low,
            np.lexsort((low, high)).astype(np.uint32),
            *packed(lengths),
        ):
            items.put(array)
        items.begin("u1")
        for text in self._ids:
            items.more(np.frombuffer(text, np.uint8))

    def _put_sets(self, sizes: np.ndarray) -> None:
        """The sizes of sets, and the ends of compact ones, after the sets, which are written as they come."""
        sets, compact = self._files[2], self.form.sets == "compact"
        if compact:
            sets.more(np.zeros(compact_sets.SPARE, np.uint8))
        ends = np.concatenate(self._lengths) if compact else np.zeros(0, np.int64)
        for array in (*packed(sizes), *packed(ends)):
            sets.put(array)

    def abandon(self) -> None:
        """Delete what was written."""
        for each in self._files:
            each.abandon()
