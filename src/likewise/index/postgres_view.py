"""The living items of an index in PostgreSQL at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from likewise.index.meeting import met, together
from likewise.index.postgres_wire import Blobs, Connections, integers
from likewise.index.servers import Words, banded, copies_of, copy_bytes, slots_of, unbanded
from likewise.index.store import Contents, Items, Members
from likewise.stages import candidates

#: Queries that are looked up at once, and the rows that they may take. Beyond, queries are looked up one by one, and in the end in the server.
TOGETHER, ROWS, ROWS_OF_ONE = 64, 1024, 8192
#: The columns of a content, in the order of `Content`.
COLUMNS = "number, id, copy, size, keys, slots, words, array(select c.number from SCHEMA.items c where c.content = i.number order by 1)"
MEMBERS = "select COLUMNS from SCHEMA.items i where size > 0 and (keys && %s or copy = any(%s)) limit %s".replace("COLUMNS", COLUMNS)
MEMBERS_OF_ONE = "select number, copy, keys from SCHEMA.items where size > 0 and (keys && %s or copy = any(%s)) limit %s"
CONTENTS = "select COLUMNS from SCHEMA.items i where number = any(%s)".replace("COLUMNS", COLUMNS)
SCAN = """
select i.number, i.id, coalesce(i.copy, c.copy), coalesce(i.size, c.size), coalesce(i.keys, c.keys),
    coalesce(i.slots, c.slots), coalesce(i.words, c.words)
from SCHEMA.items i left join SCHEMA.items c on c.number = i.content where i.number > %s order by i.number limit %s"""
#: The rule of overfull buckets for one query (`stages.candidates`): parts, their heads, and the part that has the key of the query, on two levels.
CROWDED = """
with queries as (
    select o as band, k, own[o %% bands + 1] as k1, own[(o + 1) %% bands + 1] as k2
    from (select %s::bigint[] as own, %s::int as bands) q, unnest(own) with ordinality as t(k, o)
), buckets as (
    select q.band, i.number, i.keys[q.band %% bands + 1] as key1, i.keys[(q.band + 1) %% bands + 1] as key2, k1, k2
    from queries q, (select %s::int as bands) b, lateral (select number, keys from SCHEMA.items where size > 0 and keys && array[q.k]) i
), ranked as (
    select band, number, key1 = k1 as own1, key1 = k1 and key2 = k2 as own2,
        count(*) over (partition by band) as n0,
        row_number() over (partition by band order by number) as r0,
        row_number() over (partition by band, key1 order by number) = 1 as head1,
        count(*) over (partition by band, key1) as n1,
        row_number() over (partition by band, key1 order by number) as r1,
        row_number() over (partition by band, key1, key2 order by number) = 1 as head2,
        row_number() over (partition by band, key1, key2 order by number) as r2
    from buckets
), headed as (
    select *, count(*) filter (where head1) over (partition by band order by number) as h1,
        count(*) filter (where own1 and head2) over (partition by band order by number) as h2
    from ranked
)
select band::int, number, n0::int from headed, (select %s::int as levels, %s::int as budget) l where case levels
    when 0 then r0 <= budget
    when 1 then n0 < budget or head1 and h1 <= budget or own1 and r1 <= budget
    else n0 < budget or head1 and h1 <= budget or own1 and (n1 < budget or head2 and h2 <= budget or own2 and r2 <= budget) end
union all select 0, number, 0 from SCHEMA.items where size > 0 and copy = any(%s)"""


class Content(NamedTuple):
    """A content and its items."""

    number: int
    id: bytes
    copy: bytes
    size: int
    keys: bytes
    slots: bytes
    words: bytes
    copies: bytes


class PostgresView:
    """The items that a transaction with the isolation level repeatable read sees. It has a connection; threads take turns."""

    last: int
    items: int

    def __init__(self, connections: Connections, connection: Any, words: Words):
        self.connections, self.connection, self.words = connections, connection, words
        self._seen: dict[int, Content] = {}  # those that `members` found last, of which more will be asked
        connections.until_end_of(self, connection)

    def __len__(self) -> int:
        return self.items

    def read(self, query: str, *arguments: Any) -> list[Any]:
        """The rows that a query finds."""
        with self.connections.told():
            rows: list[Any] = self.connection.execute(self.connections.named(query), arguments or None, binary=True).fetchall()
        return rows

    def members(self, keys: np.ndarray, copy: np.ndarray) -> Members:
        """One query of the server for some queries; a query whose buckets are large is looked up by the server itself, which sends its candidates."""
        seen: dict[int, Content] = {}
        self._seen = seen
        parts = [self._members(keys[at : at + TOGETHER], copy[at : at + TOGETHER], seen) for at in range(0, len(keys), TOGETHER)]
        return together(parts)

    def _members(self, keys: np.ndarray, copy: np.ndarray, seen: dict[int, Content]) -> Members:
        """The members of a chunk of queries. Contents that come with them go into ``seen``."""
        arguments = banded(keys).reshape(-1), Blobs(map(bytes, copy_bytes(copy)))
        rows = [Content._make(row) for row in self.read(MEMBERS, *arguments, ROWS + 1)]
        if len(rows) <= ROWS:
            seen.update((row.number, row) for row in rows)
            return met_among([(row.number, row.copy, row.keys) for row in rows], keys, copy)
        if (half := len(keys) // 2) > 0:
            return together([self._members(keys[:half], copy[:half], seen), self._members(keys[half:], copy[half:], seen)])
        narrow = self.read(MEMBERS_OF_ONE, *arguments, ROWS_OF_ONE + 1)
        return met_among(narrow, keys, copy) if len(narrow) <= ROWS_OF_ONE else self._crowded(*arguments)

    def _crowded(self, keys: np.ndarray, copy: Blobs) -> Members:
        """The members of one query by the rule of overfull buckets, which the server applies."""
        levels = min(candidates.FINER, len(keys) - 1)
        rows = np.array(self.read(CROWDED, keys, len(keys), len(keys), levels, candidates.BUDGET, copy), np.int64)
        band, number, size = rows.T
        crowded = (size > np.bincount(band)[band]) & (band > 0)
        found = np.unique(number)
        return Members(np.zeros(len(found), np.int64), found, np.array([crowded.any()]))

    def contents(self, numbers: np.ndarray) -> Contents:
        """Contents that the last `members` found need no query."""
        return self.words.contents(self._contents(numbers))

    def _contents(self, numbers: np.ndarray) -> list[Content]:
        seen, wanted = self._seen, numbers.tolist()
        if missing := [number for number in wanted if number not in seen]:
            rows = self.read(CONTENTS, np.array(missing, np.int64))
            seen = seen | {row[0]: Content._make(row) for row in rows}
        return [seen[number] for number in wanted]

    def copies(self, numbers: np.ndarray, most: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Items with equal content."""
        lists = [np.append(number, integers([one.copies]))[:most] for number, one in zip(numbers, self._contents(numbers), strict=True)]
        return np.cumsum([0, *map(len, lists)]), np.concatenate([np.zeros(0, np.int64), *lists])

    def ids(self, numbers: np.ndarray) -> list[bytes]:
        seen, wanted = self._seen, numbers.tolist()
        found = {number: seen[number].id for number in wanted if number in seen}
        if missing := [number for number in wanted if number not in seen]:
            found.update(self.read("select number, id from SCHEMA.items where number = any(%s)", np.array(missing, np.int64)))
        return [found[number] for number in wanted]

    def find(self, ids: Sequence[bytes]) -> np.ndarray:
        wanted = [bytes(one) for one in ids]
        found = dict(self.read("select id, number from SCHEMA.items where id = any(%s)", Blobs(dict.fromkeys(wanted))))
        return np.array([found.get(one, -1) for one in wanted], np.int64)

    def scan(self, after: int = -1, most: int = 4096) -> Iterator[tuple[np.ndarray, Items]]:
        while rows := self.read(SCAN, after, most):
            number, ids, copy, size, keys, slots, words = zip(*rows, strict=True)
            numbers = np.array(number, np.int64)
            sizes = np.array(size, np.uint32)
            yield numbers, Items(ids, keys_of(keys), copies_of(copy), sizes, self.words.unpacked(words), slots_of(slots))
            after = number[-1]


def met_among(rows: Sequence[Any], keys: np.ndarray, copy: np.ndarray) -> Members:
    """The contents that queries meet, of those given as (number, copy, keys)."""
    rows = sorted(rows, key=lambda row: row[0])
    if not rows:
        return Members(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(len(keys), bool))
    return met(np.array([row[0] for row in rows], np.int64), keys_of([row[2] for row in rows]), copies_of([row[1] for row in rows]), keys, copy)


def keys_of(rows: Sequence[bytes]) -> np.ndarray:
    """The keys of some rows, uint64[n, bands]."""
    return unbanded(integers(rows)).reshape(len(rows), -1 if rows else 0)
