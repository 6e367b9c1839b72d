"""An index in a PostgreSQL database, for several machines: one schema, whose name is that of the index.

Items are rows with their keys in an array, which a GIN index finds. Items with equal content share it: the first of them has it, the others point to
it. A change is one call of a function in the server, so it takes one round trip, and is durable as the server's transactions are. A view is a
transaction with the isolation level repeatable read, which ends with the view.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from likewise.errors import UsageError
from likewise.index.postgres_view import PostgresView
from likewise.index.postgres_wire import Blobs, Connections, copy_rows, integers
from likewise.index.servers import Place, Sent, Words, backup, banded, check_ready, copy_bytes, place_of
from likewise.index.store import Change, Items, Outcome
from likewise.messages import option

#: The format of the tables.
FORMAT = 1
#: The comment on the tables of an index, by which it is known as one.
MARK = "an index of likewise"
#: The indexes of the items. A bulk load makes them when the rows are there.
INDEXES = {
    "items_id": "using hash (id)",
    "items_copy": "using hash (copy) where copy is not null",
    "items_keys": "using gin (keys) with (fastupdate = off) where size > 0",
    "items_content": "(content) where content is not null",
    "items_number": "(number)",
}
#: The least memory with which the server builds an index.
ROOM = "select set_config('maintenance_work_mem', '256MB', true) where pg_size_bytes(current_setting('maintenance_work_mem')) < 256 << 20"
#: A transaction that wants the tables for itself does not wait longer than this for those that read them.
ALONE = "set local lock_timeout = '10s'"
CHANGE = "select * from SCHEMA.change(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)"
#: After a bulk load: the first of items with equal contents keeps it, the others point to it.
SHARE = """
update SCHEMA.items i set content = whose, copy = null, size = null, keys = null, slots = null, words = null
from (select number, min(number) over (partition by copy) as whose from SCHEMA.items) s where s.number = i.number and whose <> i.number"""
#: Each query counts the rows with a fault.
FAULTS = {
    "counts of items are not the number of rows": "select count(*) from SCHEMA.state where items <> (select count(*) from SCHEMA.items)",
    "items have a number that is still to be given": "select count(*) from SCHEMA.items, SCHEMA.state where number >= next",
    "numbers are those of several items": "select count(*) from (select from SCHEMA.items group by number having count(*) > 1) t",
    "ids are those of several items": "select count(*) from (select from SCHEMA.items group by id having count(*) > 1) t",
    "contents are stored several times": "select count(*) from (select from SCHEMA.items where copy is not null group by copy having count(*) > 1) t",
    "items point to a content that is not there": """
        select count(*) from SCHEMA.items i left join SCHEMA.items c on c.number = i.content and c.content is null and c.number < i.number
        where i.content is not null and c.number is null""",
    "contents are incomplete": """
        select count(*) from SCHEMA.items
        where content is null and (copy is null or size is null or keys is null or slots is null or words is null)""",
    "contents have other lengths than their size says": """
        select count(*) from SCHEMA.items where length(words) not in (0, size * WIDTH) or length(copy) <> 12 or length(slots) <> SLOTS
        or length(words) = 0 and size > 0 and SLOTS = 0""",
    "contents have keys of other bands": """
        select count(*) from SCHEMA.items where content is null and (cardinality(keys) <> BANDS
        or exists (select from unnest(keys) with ordinality as t(k, o) where k >> 48 <> o - 1))""",
    "contents are not found by their keys": """
        select count(*) from SCHEMA.items i where size > 0
        and not exists (select from SCHEMA.items c where c.size > 0 and c.keys && i.keys[1:1] and c.number = i.number)""",
    "contents cannot be read": "select count(*) from SCHEMA.items where content is null and md5(words) is null",
}


def create(where: str, settings: dict[str, Any], *, overwrite: bool = False, durability: str = "commit") -> Postgres:
    """A new index. where: the address of a database as PostgreSQL's clients take it, with ``index=NAME`` among its parameters (``likewise`` if it is
    left out): ``postgresql://user@host/database?index=seen&sslmode=verify-full``. The schema of that name is made unless it exists.

    Raises UsageError if there is an index, unless ``overwrite``; and if something else has the names of its tables, or nothing is durable there.
    """
    place = place_of(where)
    connections = Connections(place, session(durability))
    with connections.one() as connection, connection.transaction():
        run = connection.execute
        run(ALONE)
        run("select pg_advisory_xact_lock(hashtextextended(%s, 1818850917))", (place.name,))
        require_durable(connection, place, durability)
        if run("select to_regnamespace(%s)", (connections.schema,)).fetchone() == (None,):
            run(connections.named("create schema SCHEMA"))
        drop_old(connections, connection, overwrite)
        run(connections.named(files("likewise.index").joinpath("postgres.sql").read_text("utf-8")))
        run(connections.named(f"comment on table SCHEMA.about is '{MARK}'"))
        for statement in indexing():
            run(connections.named(statement))
        run(connections.named("insert into SCHEMA.about values (%s, %s, false)"), (FORMAT, msgspec.json.encode(settings).decode()))
        run(connections.named("insert into SCHEMA.state values (0, 0)"))
    return of_tables(connections, False, durability)


def open(where: str, *, read_only: bool = False, durability: str = "commit") -> Postgres:
    """The index at an address, as `create` takes it. Raises UsageError unless there is one, and FormatError if its bulk load was interrupted."""
    place = place_of(where)
    return of_tables(Connections(place, session(durability) + "; set default_transaction_read_only = on" * read_only), read_only, durability)


def of_tables(connections: Connections, read_only: bool, durability: str) -> Postgres:
    """The index whose tables are there."""
    place = connections.place
    with connections.one() as connection:
        require_durable(connection, place, durability)
        query = "select format, settings, loading, 'SCHEMA.items'::regclass::oid::bigint from SCHEMA.about"
        number, settings, loading, made = connection.execute(connections.named(query)).fetchone()
    check_ready(place.shown, number, FORMAT, loading=loading)
    return Postgres(connections, msgspec.json.decode(settings), made, read_only=read_only, durability=durability)


def session(durability: str) -> str:
    """The statements by which a connection gets its durability. A server that waits for more than its own disk still does."""
    if durability == "relaxed":
        return "; set synchronous_commit = off"
    return "; select set_config('synchronous_commit', 'on', false) where current_setting('synchronous_commit') = 'off'"


def require_durable(connection: Any, place: Place, durability: str) -> None:
    if durability == "commit" and connection.execute("show fsync").fetchone() == ("off",):
        instead = f"set fsync = on in the server, or take {option('durability', 'relaxed')}"
        raise UsageError(f"{place.shown}: the server does not sync files (fsync = off), so no change would survive power loss; {instead}")


def drop_old(connections: Connections, connection: Any, overwrite: bool) -> None:
    """Drop the index that is there. Raises UsageError if it must stay, or is none."""
    shown, run = connections.place.shown, connection.execute
    query = """
    select relname, obj_description(oid, 'pg_class') from pg_class
    where relnamespace = to_regnamespace(%s) and relname in ('about', 'state', 'items')"""
    found = dict(run(query, (connections.schema,)).fetchall())
    if not found:
        return
    if found.get("about") != MARK:
        raise UsageError(f"{shown}: the schema has a table {min(found)!r}, which is not part of an index; choose another name with index=NAME")
    if not overwrite:
        raise UsageError(f"{shown}: the index already exists; open it, choose another index=NAME, or replace it with {option('overwrite', True)}")
    run(connections.named("drop function SCHEMA.change"))
    run(connections.named("drop table SCHEMA.about, SCHEMA.state, SCHEMA.items"))


def indexing() -> list[str]:
    """The statements that make the indexes of the items."""
    return [f"create index {name} on SCHEMA.items {what}" for name, what in INDEXES.items()]


class Postgres:
    """The store of an index in PostgreSQL."""

    def __init__(self, connections: Connections, settings: dict[str, Any], made: int, *, read_only: bool, durability: str):
        self.connections, self.settings, self.made = connections, settings, made
        self.read_only, self.where = read_only, connections.place.shown
        self.words = Words(settings)

    def __repr__(self) -> str:
        return f"Postgres({self.where!r})"

    def view(self) -> PostgresView:
        """The items as they are now. It has a transaction of its own, which ends when nobody has the view: do not keep it for long."""
        named = self.connections.named
        begin = "begin isolation level repeatable read read only; select next, items, 'SCHEMA.items'::regclass::oid::bigint from SCHEMA.state"
        with self.connections.told():
            connection = self.connections.take()
            view = PostgresView(self.connections, connection, self.words)
            cursor = connection.execute(named(begin))
            cursor.nextset()
            following, view.items, made = cursor.fetchone()
        if made != self.made:
            raise UsageError(f"{self.where} was created again since it was opened; open it again")
        view.last = following - 1
        return view

    def write(self, change: Change) -> Outcome:
        """Apply a change in one call of the server."""
        if self.read_only:
            raise UsageError(f"{self.where} was opened to be read only; open it without {option('read_only', True)}")
        sent = Sent.of(change)
        items, ids = sent.items, Blobs(map(bytes, sent.items.ids))
        looked = banded(change.items.keys[change.items.size > 0] if change.after is not None else change.items.keys[:0]).reshape(-1)
        given, removed, refused, conflict = self._call(
            *(ids, Blobs(map(bytes, copy_bytes(items.copy))), items.size.astype(np.int64), banded(items.keys).reshape(-1)),
            *(Blobs(map(bytes, items.slots)), Blobs(self.words.packed(items)), sent.places, len(change.items), np.array(sent.twice, np.int64)),
            *(change.existing, change.after, looked, Blobs(map(bytes, change.remove)), self.made),
        )
        return Outcome(sent.numbers(integers([given])), removed, sorted({*integers([refused]).tolist()}), conflict)

    def _call(self, *arguments: Any) -> Any:
        with self.connections.one() as connection:
            return connection.execute(self.connections.named(CHANGE), arguments, binary=True).fetchone()

    def load(self, blocks: Iterator[Items]) -> int:
        """Add many items to an empty index: binary COPY, then the indexes, in one transaction."""
        named, next_number = self.connections.named, 0
        with self.connections.one() as connection:
            run = connection.execute
            claim = "update SCHEMA.about set loading = true where not loading and (select next from SCHEMA.state) = 0"
            if run(named(claim)).rowcount != 1:
                raise UsageError(f"{self.where}: only an empty index takes a bulk load; add the items, or create it again")
            with connection.transaction():
                run(ALONE)
                run(ROOM)
                run("set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on")
                for name in INDEXES:
                    run(named(f"drop index SCHEMA.{name}"))
                columns = "number, content, copy, size, keys, slots, id, words"
                with connection.cursor().copy(named(f"copy SCHEMA.items ({columns}) from stdin (format binary)")) as copy:
                    copy.write(b"PGCOPY\n\xff\r\n\0" + bytes(8))
                    for items in blocks:
                        copy.write(copy_rows(next_number, items, banded(items.keys), copy_bytes(items.copy), self.words.packed(items)))
                        next_number += len(items)
                    copy.write(b"\xff\xff")
                run(named(SHARE))
                run(named("analyze SCHEMA.items"))  # hash indexes are as large as the estimated number of rows asks for
                for statement in indexing():
                    run(named(statement))
                run(named("update SCHEMA.state set next = %s, items = %s"), (next_number, next_number))
                run(named("update SCHEMA.about set loading = false"))
            run(named("vacuum (analyze) SCHEMA.items"))
        return next_number

    def flush(self) -> None:
        """Does nothing: the server keeps no part of an item apart from its place."""

    def compact(self) -> None:
        """Free the space of removed items that no view can see: VACUUM."""
        with self.connections.one() as connection:
            connection.execute(self.connections.named("vacuum (analyze) SCHEMA.items, SCHEMA.state"))

    def check(self) -> list[str]:
        """Read all rows, and compare what they say of one another."""
        view = self.view()
        found: list[str] = []
        bands = "(select max(cardinality(keys)) from SCHEMA.items)"
        slots = "(select max(length(slots)) from SCHEMA.items)"
        for sentence, query in FAULTS.items():
            query = query.replace("WIDTH", str(self.words.bytes)).replace("BANDS", bands).replace("SLOTS", slots)
            try:
                ((count,),) = view.read(query)
            except OSError as error:
                return [*found, f"the server cannot read all rows: {error.strerror}"]
            if count:
                found.append(f"{count:,} {sentence}")
        return found

    def backup(self, path: Path) -> None:
        """Write the items as they are now as an embedded index in a new folder; they get new numbers."""
        backup(self, path)

    def info(self) -> dict[str, Any]:
        """Facts about the index and its server."""
        named, names = self.connections.named, ("synchronous_commit", "fsync", "full_page_writes", "data_checksums", "server_version")
        query = """
        select (select items from SCHEMA.state), coalesce(pg_stat_get_dead_tuples('SCHEMA.items'::regclass), 0),
            pg_total_relation_size('SCHEMA.items') + pg_total_relation_size('SCHEMA.state') + pg_total_relation_size('SCHEMA.about')"""
        with self.connections.one() as connection:
            items, removed, size = connection.execute(named(query)).fetchone()
            server = {name: connection.execute(f"show {name}").fetchone()[0] for name in names}
        found = {"store": "postgresql", "place": self.where, "items": items, "removed": removed, "bytes": size}
        return found | {"durability": durable(server), "server": server}

    def close(self) -> None:
        """Close the connections. Views that are still there end."""
        self.connections.close()


def durable(server: dict[str, str]) -> str:
    """The durability of acknowledged changes, in a sentence."""
    if server["fsync"] == "off":
        return "none: the server does not sync files (fsync = off); a crash of its machine can damage the index"
    if server["synchronous_commit"] == "off":
        return "a change survives the end of any client; a crash of the server can undo those of its last second (synchronous_commit = off)"
    torn = "; a torn page can damage the index unless the file system prevents it (full_page_writes = off)" * (server["full_page_writes"] == "off")
    return f"a change survives the end of any process and power loss{torn}"
