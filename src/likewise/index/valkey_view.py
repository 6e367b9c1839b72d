"""The living items of an index in Valkey up to one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from likewise.errors import FormatError
from likewise.index.meeting import Finer, first_met, next_bands, together
from likewise.index.servers import COPY_BYTES, Words, banded, copies_of, copy_bytes, slots_of, unbanded
from likewise.index.store import Contents, Items, Members
from likewise.index.valkey_wire import Server, big, packed, unpacked
from likewise.stages import candidates

#: Queries that are looked up at once; and items, of which the server reads so many without doing anything else.
TOGETHER, AT_ONCE = 256, 1024
#: A content with more copies than this is not read with their ids.
COPIES = 1024
#: How often members are looked up again because some of them were removed meanwhile.
TRIES = 100
#: Bytes of a record before the keys: a flag, the copy hash, the size.
HEAD = 1 + COPY_BYTES + 4


class RemovedError(Exception):
    """Something that is looked at was removed meanwhile."""


class Content(NamedTuple):
    """A content and its items."""

    id: bytes
    copy: bytes
    size: int
    keys: bytes
    slots: bytes
    words: bytes
    copies: np.ndarray  # int64[m]: the numbers of all items with it
    ids: Sequence[bytes] | None  # theirs, unless there are many


class ValkeyView:
    """The items whose numbers are up to ``last``. Items that come later do not show. An item that is removed after the view was made may be missing
    from its answers; one that takes its place has a greater number, and does not show.

    The answer of `members` for a query was there at one moment after the view was made, and the view keeps its contents until the next call. So
    whoever finds nothing similar, and writes only if nothing came after ``last``, has added nothing twice.
    """

    def __init__(self, server: Server, settings: dict[str, Any], last: int, items: int):
        self.server, self.words, self.last, self.items = server, Words(settings), last, items
        self.bands, self.slots = settings["bands"], settings.get("slots") or 0
        self.run, self.call, self.key, self.where = server.run, server.call, server.key, server.place.shown
        self._seen: dict[int, Content] = {}  # those that `members` found last
        self._ids: dict[int, bytes] = {}  # of items that were found with their contents

    def __len__(self) -> int:
        return self.items

    def members(self, keys: np.ndarray, copy: np.ndarray) -> Members:
        """One command finds the buckets of some queries, another one reads what they meet."""
        seen: dict[int, Content] = {}
        parts = [self._members(keys[at : at + TOGETHER], copy[at : at + TOGETHER], seen) for at in range(0, len(keys), TOGETHER)]
        self._seen, self._ids = seen, {}
        return together(parts)

    def _members(self, keys: np.ndarray, copy: np.ndarray, seen: dict[int, Content]) -> Members:
        """The members of a chunk of queries, all of which are there at one moment. Their contents go into ``seen``."""
        for _ in range(TRIES):
            with suppress(RemovedError):
                met = self._met(keys, copy)
                seen |= self._look(np.array(sorted({*met.content.tolist()} - seen.keys()), np.int64))
                here = np.array([seen[number].size > 0 for number in met.content.tolist()], bool)  # a copy of a query may be empty
                return met._replace(query=met.query[here], content=met.content[here])
        raise FormatError(f"{self.where}: buckets name items that are not there; check() says which")

    def _met(self, keys: np.ndarray, copy: np.ndarray) -> Members:
        """The members of buckets that the queries meet, up to ``last``. Raises RemovedError."""
        n, bands = keys.shape
        raw = big(banded(keys))
        buckets = [self.key(b"b" + raw[at : at + 8]) for at in range(0, len(raw), 8)]
        lists = self.run("MGET", *buckets, *(self.key(b"h" + bytes(one)) for one in copy_bytes(copy))) if n else []
        lists = [one or b"" for one in lists]
        where = np.repeat(np.arange(len(lists)), [len(one) // 6 for one in lists])
        numbers = unpacked(lists)
        known = numbers <= self.last
        where, numbers = where[known], numbers[known]
        sizes = np.bincount(where[where < n * bands], minlength=n * bands).reshape(n, bands)
        query = np.where(where < n * bands, where // bands, where - n * bands)
        crowded = np.zeros(n, bool)
        parts = [(query, numbers)]
        for own, band in zip(*np.nonzero(sizes >= candidates.BUDGET), strict=True):
            bucket = numbers[where == own * bands + band]
            finer = [
                Finer(partial(self._heads, at), partial(np.intersect1d, numbers[where == own * bands + at], assume_unique=True))
                for at in next_bands(int(band), bands)
            ]
            few = first_met(bucket, finer)
            crowded[own] |= len(few) < len(bucket)
            parts.append((np.full(len(few), own), few))
        if len(parts) > 1:
            large = np.append((sizes >= candidates.BUDGET).reshape(-1), np.zeros(n, bool))
            parts[0] = query[~large[where]], numbers[~large[where]]
        pairs = np.unique(np.concatenate([np.stack(part, axis=1) for part in parts]), axis=0)
        return Members(pairs[:, 0], pairs[:, 1], crowded)

    def _heads(self, band: int, bucket: np.ndarray) -> np.ndarray:
        """The first members with each key of a band, up to the budget. Raises RemovedError."""
        heads: dict[bytes, int] = {}
        for at in range(0, len(bucket), AT_ONCE):
            some = bucket[at : at + AT_ONCE]
            raw = self.call("keys", band, packed(some))
            if len(raw) < 8 * len(some):
                raise RemovedError
            for place, number in enumerate(some.tolist()):
                heads.setdefault(raw[8 * place : 8 * place + 8], number)
            if len(heads) >= candidates.BUDGET:
                break
        return np.array(list(heads.values())[: candidates.BUDGET], np.int64)

    def _look(self, numbers: np.ndarray) -> dict[int, Content]:
        """Contents by the numbers of their first items. Raises RemovedError."""
        found: dict[int, Content] = {}
        bands = self.bands
        for at in range(0, len(numbers), AT_ONCE):
            some = numbers[at : at + AT_ONCE]
            for number, one in zip(some.tolist(), self.call("look", bands, COPIES, packed(some)), strict=True):
                if one is None:
                    raise RemovedError
                record, raw, ids = one
                copies = unpacked([raw])
                known = copies <= self.last
                fields = self._fields(record)
                all_ids = [fields[0], *(id for id, old in zip(ids, known.tolist(), strict=True) if old)] if len(ids) == len(copies) else None
                found[number] = Content(*fields, np.append(number, copies[known]), all_ids)
        return found

    def _fields(self, record: bytes) -> tuple[bytes, bytes, int, bytes, bytes, bytes]:
        """The fields of a record that has its content, up to its words."""
        at = HEAD + 8 * self.bands
        length = int.from_bytes(record[at : at + 4], "big")
        slots = at + 4 + length
        words = slots + self.slots
        size = int.from_bytes(record[HEAD - 4 : HEAD], "big")
        return record[at + 4 : slots], record[1 : 1 + COPY_BYTES], size, record[HEAD:at], record[slots:words], record[words:]

    def contents(self, numbers: np.ndarray) -> Contents:
        """Contents that the last `members` found; one that it did not find must be there still."""
        return self.words.contents(self._contents(numbers))

    def _contents(self, numbers: np.ndarray) -> list[Content]:
        seen, wanted = self._seen, numbers.tolist()
        if missing := sorted({*wanted} - seen.keys()):
            try:
                seen = self._seen = seen | self._look(np.array(missing, np.int64))
            except RemovedError:
                raise FormatError(f"{self.where}: a content was removed since the view was made; make another view") from None
        return [seen[number] for number in wanted]

    def copies(self, numbers: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Items with equal content; their ids are kept for `ids`."""
        lists = []
        for one in self._contents(numbers):
            all_numbers, ids = one.copies, one.ids
            if ids is None:
                raw, ids = self.call("copies", self.bands, one.copy)
                all_numbers = unpacked([raw])
                known = all_numbers <= self.last
                all_numbers, ids = all_numbers[known], [id for id, old in zip(ids, known.tolist(), strict=True) if old]
                if not len(all_numbers):  # all were removed meanwhile
                    all_numbers, ids = one.copies[:1], [one.id]
            self._ids.update(zip(all_numbers.tolist(), ids, strict=True))
            lists.append(all_numbers[:most])
        return np.cumsum([0, *map(len, lists)]), np.concatenate([np.zeros(0, np.int64), *lists])

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        seen, wanted = self._seen, numbers.tolist()
        found = {number: seen[number].id for number in wanted if number in seen} | self._ids
        if missing := sorted({*wanted} - found.keys()):
            answers = self.call("ids", self.bands, packed(np.array(missing, np.int64)))
            if None in answers:
                raise FormatError(f"{self.where}: an item was removed since the view was made; make another view")
            found.update(zip(missing, answers, strict=True))
        return [found[number] for number in wanted]

    def find(self, ids: Sequence[bytes]) -> np.ndarray:
        """An item that was replaced since the view was made is not found."""
        found = self.run("MGET", *(self.key(b"i" + bytes(one)) for one in ids)) if len(ids) else []
        numbers = np.array([-1 if one is None else int.from_bytes(one, "big") for one in found], np.int64)
        return np.where(numbers <= self.last, numbers, -1)

    def scan(self, after: int = -1, most: int = 4096) -> Iterator[tuple[np.ndarray, Items]]:
        """Blocks of numbers that follow each other; those without an item are left out."""
        for numbers, ids, records, _ in self._blocks(after, most):
            fields = [self._fields(record) for record in records]
            _, copy, size, keys, slots, words = zip(*fields, strict=True)
            sizes = np.array(size, np.uint32)
            own = unbanded(np.frombuffer(b"".join(keys), ">i8").astype(np.int64)).reshape(len(ids), -1)
            yield numbers, Items(ids, own, copies_of(copy), sizes, self.words.unpacked(words), slots_of(slots))

    def _blocks(self, after: int, most: int) -> Iterator[tuple[np.ndarray, list[bytes], list[bytes], list[bool]]]:
        """Numbers, ids, records with contents, and whether an item has its content itself."""
        for first in range(after + 1, self.last + 1, min(most, AT_ONCE)):
            rows = self.call("scan", self.bands, first, min(first + min(most, AT_ONCE) - 1, self.last))
            if rows:
                numbers, ids, records, own = zip(*rows, strict=True)
                yield np.array(numbers, np.int64), list(ids), list(records), [flag == 1 for flag in own]

    def faults(self) -> tuple[list[str], int, int, int]:
        """(a sentence for each fault; how many items there are, contents, and entries of buckets)."""
        found: list[str] = []
        items = contents = entries = 0
        for numbers, ids, records, own in self._blocks(-1, AT_ONCE):
            items += len(ids)
            at = self.find(ids)
            found += [
                f"the id {id.decode()} is that of item {there}, not {number}"
                for id, there, number in zip(ids, at, numbers, strict=True)
                if there != number
            ]
            named = [(number, self._fields(record)) for number, record, first in zip(numbers.tolist(), records, own, strict=True) if first]
            contents += len(named)
            buckets = [[self.key(b"b" + keys[at : at + 8]) for at in range(0, len(keys) * (size > 0), 8)] for _, (_, _, size, keys, _, _) in named]
            lists = self.server.several(*(("MGET", self.key(b"h" + one[1]), *own) for (_, one), own in zip(named, buckets, strict=True)))
            for (number, (_, _, size, _, _, words)), (first, *rest) in zip(named, lists, strict=True):
                entries += len(rest)
                if len(words) not in (0, size * self.words.bytes):
                    found.append(f"item {number} has {len(words)} bytes of words, which is not what its size {size} takes")
                if first is None or int.from_bytes(first, "big") != number:
                    found.append(f"the content of item {number} is not found by its copy hash")
                if absent := sum(one is None or number not in unpacked([one]) for one in rest):
                    found.append(f"item {number} is not in {absent} of its buckets")
        return found, items, contents, entries

    def bytes(self, most: int) -> int:
        """The memory that all items take, by that of a few."""
        sizes = []
        server = self.server
        for numbers, ids, records, own in self._blocks(max(-1, self.last - most), AT_ONCE):
            for number, id, record, first in zip(numbers, ids, records, own, strict=True):
                _, copy, size, keys, _, _ = self._fields(record)
                buckets = [self.key(b"b" + keys[at : at + 8]) for at in range(0, len(keys), 8)] if size and first else []
                names = [self.key(b"n" + packed(number[None])), self.key(b"i" + id), *([self.key(b"h" + copy)] if first else [])]
                used = server.several(*(("MEMORY USAGE", name) for name in (*names, *buckets)), *(("STRLEN", name) for name in buckets))
                whole, shared, entries = used[: len(names)], used[len(names) : len(names) + len(buckets)], used[len(names) + len(buckets) :]
                sizes.append(sum(one or 0 for one in whole) + sum((one or 0) * 6 / max(6, many) for one, many in zip(shared, entries, strict=True)))
        return round(sum(sizes) / max(1, len(sizes)) * len(self))
