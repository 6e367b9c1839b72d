"""The view of an index that keeps its items in parts: segments, then the items that were written last, without those that were removed.

Parts never change, and what was removed is a bitmap beside each. So a view is a handful of references, and a new one costs what has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

import numpy as np

from likewise.index.overfull import budget, first_of_each, levels
from likewise.index.segment import Building, Form, Kept, Segment, hashed, joined_ids, places_of
from likewise.index.several import ALL, Several
from likewise.index.store import Contents, Items, Members
from likewise.index.tail import NONE_GONE, Recent
from likewise.kernels import segments

EVERY = slice(None)
Part = Segment | Recent
#: Items that are read at once to be merged.
BLOCK = 1 << 14
NONE = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class Piece:
    """A part and which of its items were removed."""

    part: Part
    gone: np.ndarray = field(default_factory=lambda: NONE_GONE)  # uint64[items / 64 + 1], a bit for each removed item; [0]: none
    removed: int = 0
    _kept: Kept = field(default_factory=Kept)

    def without(self, items: np.ndarray) -> Piece:
        """The same without these living items."""
        if not len(items):
            return self
        gone = np.zeros(self.part.items // 64 + 1, np.uint64)
        gone[: len(self.gone)] = self.gone
        np.bitwise_or.at(gone, items >> 6, np.uint64(1) << (items & 63).astype(np.uint64))
        gone.flags.writeable = False
        return Piece(self.part, gone, self.removed + len(items))

    def of(self, part: Part) -> Piece:
        """The same for a part that has these items and more after them."""
        return Piece(part).without(self.gone_items())

    def gone_items(self) -> np.ndarray:
        return places_of(self.gone, self.part.items)

    def firsts(self, rows: np.ndarray) -> np.ndarray:
        """The numbers of the first living items of contents, int64[n]; -1: all were removed."""
        return self.part.firsts(rows, self.gone)

    def first(self, band: int, keys: tuple[int, ...], most: int) -> np.ndarray:
        """The first living contents that have these keys in a band and those after it, at most so many: numbers of their first living items."""
        numbers = self.firsts(self.part.members(band, keys, most, self.gone))
        return np.sort(numbers[numbers >= 0])[:most] if len(self.gone) else numbers

    def heads(self, band: int, keys: tuple[int, ...], most: int) -> tuple[np.ndarray, ...]:
        """The first contents of such a bucket with each key of the next band, at most so many: their numbers, and these keys."""
        if kept := self.part.heads(band, keys, most):
            numbers = self.firsts(kept[0])
            if not len(self.gone) or (numbers == self.part.firsts(kept[0], NONE_GONE)).all():  # others are heads only in the places of these
                return numbers, kept[1]
        return self._kept.get((most, band, *keys), lambda: self._headed(band, keys, most))

    def _headed(self, band: int, keys: tuple[int, ...], most: int) -> tuple[np.ndarray, ...]:
        rows = self.part.members(band, keys, self.part.items, self.gone)
        numbers, finer = self.firsts(rows), self.part.keys(rows, (band + len(keys)) % self.part.form.bands)
        if len(self.gone):
            order = np.argsort(numbers, kind="stable")
            order = order[numbers[order] >= 0]
            numbers, finer = numbers[order], finer[order]
        places = first_of_each(finer, most)
        return numbers[places], finer[places]


class Together:
    """The segments of the last view that was asked as one part: most views have the same."""

    def __init__(self) -> None:
        self._last: tuple[list[Piece], tuple[Several, ...]] = [], ()

    def of(self, pieces: list[Piece]) -> tuple[Several, ...]:
        """The part, if there are segments."""
        known, found = self._last
        if known != pieces:
            segments = [piece.part for piece in pieces if isinstance(piece.part, Segment)]
            found = (Several(segments, [piece.gone for piece in pieces]),) if pieces else ()
            self._last = pieces, found
        return found


@dataclass(frozen=True, eq=False)
class Parts:
    """The living items at one moment (`store.View`)."""

    form: Form
    pieces: tuple[Piece, ...]
    last: int
    _several: Together = field(default_factory=Together)

    @classmethod
    def of(cls, form: Form, parts: Sequence[Part], gone: np.ndarray, last: int) -> Parts:
        """The view of parts in order of their numbers, without the numbers ``gone``; those that no part has are ignored."""
        pieces = []
        for part in parts:
            items = part.places(gone)
            pieces.append(Piece(part).without(items[items >= 0]))
        return cls(form, tuple(pieces), last)

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(piece.part for piece in self.pieces)

    def with_tail(self, recent: Recent, last: int) -> Parts:
        """The view with a later snapshot of its tail, or with the first one of another tail."""
        *others, end = self.pieces or (None,)
        if end is not None and isinstance(end.part, Recent) and end.part.tail is recent.tail:
            return replace(self, pieces=(*others, end.of(recent)), last=last)
        return replace(self, pieces=(*self.pieces, Piece(recent)) if recent.items else self.pieces, last=last)

    def with_gone(self, numbers: np.ndarray) -> Parts:
        """The view without these living items."""
        if not len(numbers):
            return self
        changed = {id(piece): piece.without(items) for piece, items in self._each(numbers)}
        return replace(self, pieces=tuple(changed.get(id(piece), piece) for piece in self.pieces))

    def exchanged(self, old: Sequence[Part], new: Sequence[Segment]) -> Parts:
        """The view with new parts in place of neighbours, which have the same items but for those that were removed.

        Items that were removed since the new parts were made stay removed. A snapshot of a tail stands for any other of it.
        """
        names = {id(part.tail) if isinstance(part, Recent) else id(part) for part in old}
        there = [place for place, part in enumerate(self.parts) if id(part.tail if isinstance(part, Recent) else part) in names]
        begin, end = (there[0], there[-1] + 1) if there else (len(self.pieces), len(self.pieces))
        removed = [piece.part.numbers(piece.gone_items()) for piece in self.pieces[begin:end] if piece.removed]
        between = Parts.of(self.form, new, np.concatenate(removed) if removed else np.zeros(0, np.int64), self.last)
        return replace(self, pieces=(*self.pieces[:begin], *between.pieces, *self.pieces[end:]))

    def gone(self) -> np.ndarray:
        """The numbers of removed items that parts still have, int64[n], ascending."""
        found = [piece.part.numbers(piece.gone_items()) for piece in self.pieces if piece.removed]
        return np.concatenate(found) if found else np.zeros(0, np.int64)

    @property
    def removed(self) -> int:
        """The number of removed items that parts still have."""
        return sum(piece.removed for piece in self.pieces)

    def removed_of(self, part: Part) -> int:
        return next(piece.removed for piece in self.pieces if piece.part is part)

    def __len__(self) -> int:
        return sum(piece.part.items - piece.removed for piece in self.pieces)

    # --- who meets whom

    def members(self, keys: np.ndarray, copy: np.ndarray) -> Members:
        most, raw, keys = budget(), np.zeros(keys.shape, np.int64), np.ascontiguousarray(keys, np.uint64)
        found = [group.look(keys, most, raw) for group in self.groups]
        crowded = np.zeros(len(keys), bool)
        query, numbers = self._joined([(query, numbers) for numbers, query, _ in found if len(numbers)])
        full = found[-1][2] >= most if found else crowded  # the last one has counted all
        if not full.any():
            return Members(query, numbers, crowded)
        lists, queries = [numbers[~full[query]]], [query[~full[query]]]
        for one in np.flatnonzero(full).tolist():
            met, crowded[one] = Overfull(self, keys[one], most).met(copy[one])
            lists.append(met)
            queries.append(np.full(len(met), one))
        order = np.argsort(np.concatenate(queries), kind="stable")
        return Members(np.concatenate(queries)[order], np.concatenate(lists)[order], crowded)

    def _joined(self, found: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
        """The pairs of queries and contents of all parts, by query, each content once, named by its first living item."""
        if not found:
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        query, numbers = found[0] if len(found) == 1 else map(np.concatenate, zip(*found, strict=True))
        if len(query) < 2:
            return query, numbers
        order = np.argsort(query, kind="stable")  # parts are in order of their numbers
        query, numbers = query[order], numbers[order]
        if not (query[1:] == query[:-1]).any():
            return query, numbers
        places = np.empty(len(query), np.int64)
        places = places[: segments.distinct(query, self.copy_of(numbers), places)]
        return query[places], numbers[places]

    def shares_after(self, keys: np.ndarray, sizes: np.ndarray, after: int) -> bool:
        """True if a living item with a number above ``after`` shares a key with one of these, of the sizes uint32[q]; empty ones share none."""
        keys = np.ascontiguousarray(keys, np.uint64)
        return any(group.last > after and group.shares_after(keys, sizes, after) for group in self.groups)

    # --- what items are

    @cached_property
    def groups(self) -> tuple[Several | Recent, ...]:
        """All parts, the segments as one."""
        own = [piece for piece in self.pieces if isinstance(piece.part, Segment)]
        recent = [piece.part.without(piece.gone) for piece in self.pieces if isinstance(piece.part, Recent)]
        return (*self._several.of(own), *recent)

    def _each(self, numbers: np.ndarray) -> Iterator[tuple[Piece, np.ndarray]]:
        """Each part that has some of the numbers, and the places of its items."""
        which = np.searchsorted([piece.part.first for piece in self.pieces], numbers, side="right") - 1
        for place in sorted({*which.tolist()}):
            yield self.pieces[place], self.pieces[place].part.places(numbers[which == place])

    def _by_group(self, numbers: np.ndarray) -> list[tuple[np.ndarray | slice, Several | Recent, np.ndarray]]:
        """Each group that has some of the numbers: their places among these, the group, and these."""
        numbers = np.ascontiguousarray(numbers, np.int64)  # compiled calls rely on it (`compiled.holding`)
        if len(self.groups) == 1 or not len(numbers):
            return [(EVERY, group, numbers) for group in self.groups]
        which = np.searchsorted([group.first for group in self.groups[1:]], numbers, side="right")
        if (which == which[0]).all():
            return [(EVERY, self.groups[which[0]], numbers)]
        chosen = [(np.flatnonzero(which == place), group) for place, group in enumerate(self.groups)]
        return [(mine, group, numbers[mine]) for mine, group in chosen if len(mine)]

    def copy_of(self, numbers: np.ndarray) -> np.ndarray:
        out = np.empty((len(numbers), 2), np.uint64)
        for mine, group, some in self._by_group(numbers):
            out[mine] = group.copy_of(some)
        return out

    def contents(self, numbers: np.ndarray) -> Contents:
        found = [(mine, group.contents(some)) for mine, group, some in self._by_group(numbers)]
        if len(found) == 1:
            return found[0][1]
        copy, size = np.zeros((len(numbers), 2), np.uint64), np.zeros(len(numbers), np.uint32)
        slots = np.zeros((len(numbers), self.form.slots), np.uint8)
        for mine, content in found:
            copy[mine], size[mine], slots[mine] = content.copy, content.size, content.slots
        ends = np.cumsum(size, dtype=np.int64) if self.form.sets != "none" else np.zeros(len(numbers), np.int64)
        words = np.empty(int(ends[-1]) if len(ends) else 0, np.uint64)
        for mine, content in found:
            begin, lengths = ends[mine] - size[mine], size[mine].astype(np.int64)
            if len(content.words):
                words[np.repeat(begin - (np.cumsum(lengths) - lengths), lengths) + np.arange(len(content.words))] = content.words
        return Contents(copy, size, words, slots)

    def copies(self, numbers: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        copy = self.copy_of(numbers)
        found = [group.copies(copy, ALL if most is None else most) for group in self.groups]
        found = [(living, counts) for living, counts in found if len(living)]
        if len(found) == 1:
            return np.concatenate([[0], np.cumsum(found[0][1])]), found[0][0]
        of = np.concatenate([numbers[:0], *(np.repeat(np.arange(len(numbers)), counts) for _, counts in found)])
        order = np.argsort(of, kind="stable")
        of, items = of[order], np.concatenate([numbers[:0], *(living for living, _ in found)])[order]
        if most is not None:
            first = np.arange(len(of)) - np.searchsorted(of, of) < most
            of, items = of[first], items[first]
        return np.searchsorted(of, np.arange(len(numbers) + 1)), items

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        found = [(mine, group.ids(some)) for mine, group, some in self._by_group(numbers)]
        if len(found) == 1:
            return found[0][1]
        out: list[bytes] = [b""] * len(numbers)
        for mine, ids in found:
            for place, id_ in zip(np.arange(len(numbers))[mine].tolist(), ids, strict=True):
                out[place] = id_
        return out

    def find(self, ids: Sequence[bytes]) -> np.ndarray:
        out = np.full(len(ids), -1, np.int64)
        if not len(ids):
            return out
        hashes, (text, offsets) = hashed(ids), joined_ids(ids)
        for group in self.groups:
            np.maximum(out, group.find(hashes, text, offsets), out=out)
        return out

    def scan(self, after: int = -1, most: int = 4096) -> Iterator[tuple[np.ndarray, Items]]:
        return chain.from_iterable(group.scan(after, most) for group in self.groups if group.last > after)


class Overfull:
    """The contents that one query meets where buckets may be overfull: the rule of stages/candidates.py with the query last."""

    def __init__(self, view: Parts, keys: np.ndarray, most: int):
        self.view, self.keys, self.most = view, keys.tolist(), most
        self.levels = levels(len(self.keys))

    def met(self, copy: np.ndarray) -> tuple[np.ndarray, bool]:
        """The contents that the query meets, and whether a bucket is overfull, so that it does not meet all."""
        same = [int(piece.part.firsts(rows, piece.gone)[0]) for piece in self.view.pieces if (rows := piece.part.rows_with(copy[None]))[0] >= 0]
        living = np.array([number for number in same if number >= 0][:1], np.int64)
        found, all_ = zip(*map(self.in_band, range(len(self.keys))), strict=True)
        return np.unique(np.concatenate([living[self.view.contents(living).size > 0], *found])), not all(all_)

    def in_band(self, band: int) -> tuple[np.ndarray, bool]:
        """The contents that it meets in one band, and True if these are all of the bucket."""
        found = list[np.ndarray]()
        keys: tuple[int, ...] = (self.keys[band],)
        while True:
            first = self.first(band, keys, self.most)
            if len(first) < self.most or len(keys) > self.levels:
                met = np.unique(np.concatenate([*found, first]))
                return met, len(self.first(band, keys[:1], len(met) + 1)) <= len(met)
            found.append(self.heads(band, keys))
            keys = (*keys, self.keys[(band + len(keys)) % len(self.keys)])

    def heads(self, band: int, keys: tuple[int, ...]) -> np.ndarray:
        """The first contents of such a bucket in all parts with each key of the next band."""
        numbers, finer = NONE, NONE.view(np.uint64)
        for piece in self.view.pieces:
            if len(numbers) < self.most:
                both = [np.concatenate(pair) for pair in zip((numbers, finer), piece.heads(band, keys, self.most), strict=True)]
                places = first_of_each(both[1], self.most)
                numbers, finer = both[0][places], both[1][places]
        return numbers

    def first(self, band: int, keys: tuple[int, ...], most: int) -> np.ndarray:
        """The first contents with these keys in all parts, at most so many."""
        found, left = list[np.ndarray](), most
        for place, piece in enumerate(self.view.pieces):
            new, asked = NONE, left
            while left and len(new) < left:
                numbers = piece.first(band, keys, asked)
                new = self.new(place, numbers)
                if len(numbers) < asked:
                    break
                asked *= 4
            found.append(new[:left])
            left -= len(found[-1])
        return np.concatenate(found)

    def new(self, place: int, numbers: np.ndarray) -> np.ndarray:
        """Those of the contents of a part that are living in no earlier part."""
        if not place or not len(numbers):
            return numbers
        new, copy = np.ones(len(numbers), bool), self.view.copy_of(numbers)
        for piece in self.view.pieces[:place]:
            rows = piece.part.rows_with(copy)
            there = np.flatnonzero(rows >= 0)
            new[there[piece.part.firsts(rows[there], piece.gone) >= 0]] = False
        return numbers[new]


def merged(view: Parts, parts: Sequence[Part], building: Callable[[], Building]) -> list[Segment]:
    """The living items of some parts in new segments: equal to those of a bulk load of these items."""
    pieces = tuple(piece for piece in view.pieces if piece.part in parts)
    return laid(replace(view, pieces=pieces, _several=Together()).scan(-1, BLOCK), building)


def numbered(blocks: Iterable[Items]) -> Iterator[tuple[np.ndarray, Items]]:
    """Yield blocks of items with their numbers, from 0."""
    first = 0
    for items in blocks:
        yield first + np.arange(len(items)), items
        first += len(items)


def laid(blocks: Iterable[tuple[np.ndarray, Items]], building: Callable[[], Building]) -> list[Segment]:
    """Items in new segments, in order of their numbers: one unless they are too many for it, none without items."""
    made: list[Segment] = []
    now: Building | None = None
    try:
        for numbers, items in blocks:
            taken = 0
            while taken < len(items):
                now = now or building()
                taken += now.add(numbers[taken:], items.since(taken))
                if taken < len(items):
                    made, now = [*made, now.finish()], None
        return made if now is None else [*made, now.finish()]
    except BaseException:
        if now is not None:
            now.abandon()
        raise
