"""The database of an index: the log, the catalog of segments, and the removed items of these, each with a checksum.

    log(number, data)                      a row a commit since the last flush (`rows`); numbers have no gaps
    state(only, value, checksum)           one row: a `State` as JSON
    gone(segment, numbers, checksum)       int64: the removed items that a segment still holds

SQLite's own log (WAL) is written over from its start after each checkpoint, and gets its room ahead of time: syncing a file that does not grow is
several times cheaper. Only the connection that writes checkpoints: SQLite up to 3.51.2 can lose commits if one connection checkpoints while another
commits (`WAL_RESET_FIXED`).
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from likewise.errors import UsageError
from likewise.index.embedded.folder import DATABASE, damaged

SCHEMA = """
pragma journal_mode = wal;
create table log (number integer primary key, data blob not null) strict;
create table state (only integer primary key check (only = 0), value blob not null, checksum blob not null) strict;
create table gone (segment integer primary key, numbers blob not null, checksum blob not null) strict;
"""
#: The first version without the WAL-reset fault, and the older ones to which the mend was brought.
WAL_RESET_FIXED = (3, 51, 3)
WAL_RESET_BACKPORTS = ((3, 44, 6), (3, 50, 7))
PAGE = 4096
#: Bytes of a page in SQLite's log, and those that a commit takes beyond its data: the pages above it.
FRAME, ABOVE = PAGE + 24, 4
#: SQLite's log is checkpointed when it is as long as this, and gets room in pieces of this size.
LOG, ROOM = 32 << 20, 1 << 20
#: Milliseconds to wait for another program that has the database locked.
PATIENCE = 5000


@dataclass(frozen=True)
class Named:
    """A segment in the catalog."""

    name: int
    items: int
    checksum: str  # hexadecimal


@dataclass(frozen=True)
class State:
    """The contents of the database besides the log."""

    id: str  # of the index, as in its manifest
    loading: bool = False  # a bulk load began and has not ended
    next: int = 0  # the number of the next item, as of the last flush
    name: int = 1  # the name of the next segment
    folded: int = 0  # the last row of the log that segments hold
    segments: tuple[Named, ...] = field(default=())  # in order of their items


class Database:
    """A connection to the database of an index. One thread at a time may use it."""

    def __init__(self, folder: Path, *, write: bool = False, durability: str = "commit", immutable: bool = False):
        self.folder, self.path, self.full, self.immutable = folder, folder / DATABASE, durability == "commit", immutable
        uri = f"{self.path.absolute().as_uri()}?mode={'rw' if write else 'ro'}{'&immutable=1' * immutable}"
        pragmas = (
            "wal_autocheckpoint = 0",
            f"synchronous = {'full' if self.full else 'normal'}",
            *([] if write else ["query_only = 1"]),
            "data_version",
        )
        with self.faults():
            self.connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=PATIENCE / 1000)
            try:
                for pragma in pragmas:
                    self.connection.execute(f"pragma {pragma}")
            except BaseException:
                self.connection.close()
                raise
        self._version = self.connection.cursor()
        self.used, self.room = 0, 0  # bytes of SQLite's log that are used and that it has, as far as this connection knows

    @classmethod
    def reading(cls, folder: Path) -> Database:
        """A connection that only reads.

        SQLite reads its log through a file of shared memory. Where that can neither be opened nor made, as on media that only allow reading, the
        database can be read if its last writer closed it, which leaves no log.
        """
        try:
            return cls(folder)
        except OSError as error:
            if os.access(folder, os.W_OK):
                raise
            if has_log(folder):
                why = "its last writer did not close it, and here nothing can be written to recover its log"
                raise UsageError(f"{folder}: {why}; copy the folder to where you can write, and open it there") from error
            return cls(folder, immutable=True)

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def faults(self) -> Iterator[None]:
        """Inside, errors of SQLite about damaged pages become FormatError, and errors about the disk OSError."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            raise told(self.folder, error) from error
        except UnicodeDecodeError as error:  # in a message of SQLite about a damaged schema
            raise damaged(self.folder, f"{DATABASE}: {error}") from error

    # --- reading

    def version(self) -> int:
        """A number that changes when another connection commits."""
        try:  # each view asks: what `faults` takes is a part of its time
            found: int = self._version.execute("pragma data_version").fetchall()[0][0]
            return found
        except sqlite3.DatabaseError:
            with self.faults():
                raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Inside, all that is read is of one moment. To be short: it keeps SQLite's log from starting again."""
        with self.faults():
            self.connection.execute("begin")
            try:
                yield
            finally:
                with suppress(sqlite3.OperationalError):  # an error has ended it
                    self.connection.execute("rollback")

    def select(self, statement: str, *types: type, **named: Any) -> list[Any]:
        """The rows of a query, whose columns must have these types: damage may give them others."""
        with self.faults():
            found = self.connection.execute(statement, named).fetchall()
        if any(tuple(map(type, row)) != types for row in found):
            raise damaged(self.folder, f"values in {DATABASE}")
        return found

    def state(self) -> State:
        found = self.select("select value, checksum from state", bytes, bytes)
        if len(found) != 1 or checksum(found[0][0]) != found[0][1]:
            raise damaged(self.folder, f"the catalog in {DATABASE}")
        value = json.loads(found[0][0])
        return State(**{**value, "segments": tuple(Named(**one) for one in value["segments"])})

    def rows(self, after: int) -> list[tuple[int, bytes]]:
        """The rows of the log with numbers above ``after``, in order. Raises FormatError if one is missing between them."""
        found = self.select("select number, data from log where number > :after order by number", int, bytes, after=after)
        if found and (found[0][0] != after + 1 or found[-1][0] != after + len(found)):
            raise damaged(self.folder, f"rows of the log in {DATABASE} are missing")
        return found

    def gone(self) -> dict[int, np.ndarray]:
        """The removed items of segments, by segment."""
        found = self.select("select segment, numbers, checksum from gone", int, bytes, bytes)
        for segment, numbers, digest in found:
            if checksum(b"%d " % segment + numbers) != digest:
                raise damaged(self.folder, f"the removed items of segment {segment} in {DATABASE}")
        return {segment: np.frombuffer(numbers, np.int64) for segment, numbers, _ in found}

    def integrity(self) -> list[str]:
        """The faults that SQLite finds in its file."""
        try:
            found = [line for (line,) in self.connection.execute("pragma integrity_check")]
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            found = [str(error)]
        return [] if found == ["ok"] else found

    # --- writing

    def append(self, number: int, data: bytes) -> None:
        """Write a row of the log, as one commit. When this returns, it is on the disk, if the index is to survive power loss."""
        self.make_room((len(data) // PAGE + ABOVE) * FRAME)
        with self.faults():
            self.connection.execute("insert into log values (?, ?)", (number, data))

    def publish(self, state: State, gone: Mapping[int, np.ndarray]) -> None:
        """Write the catalog, with the removed items of some of its segments, and delete the rows that segments hold: one commit, on the disk when
        this returns."""
        value = json.dumps(asdict(state), separators=(",", ":")).encode()
        rows = [
            (segment, data := np.ascontiguousarray(numbers, np.int64).tobytes(), checksum(b"%d " % segment + data))
            for segment, numbers in gone.items()
        ]
        names = ",".join(str(segment.name) for segment in state.segments)
        run = self.connection.execute
        self.make_room(sum(len(row[1]) for row in rows) + 64 * FRAME)
        with self.faults():
            if not self.full:
                run("pragma synchronous = full")
            run("begin immediate")
            try:
                run("insert or replace into state values (0, ?, ?)", (value, checksum(value)))
                self.connection.executemany("insert or replace into gone values (?, ?, ?)", rows)
                run(f"delete from gone where segment not in ({names})")  # noqa: S608 (whole numbers)
                run("delete from log where number <= ?", [state.folded])
                run("commit")
            except BaseException:
                with suppress(sqlite3.OperationalError):
                    run("rollback")
                raise
            if not self.full:
                run("pragma synchronous = normal")

    def checkpoint(self) -> None:
        """Move SQLite's log into its file, so that it starts again."""
        with self.faults():
            busy, frames, moved = self.connection.execute("pragma wal_checkpoint(passive)").fetchone()
        if not busy and frames == moved:
            self.used = 0

    def shrink(self) -> None:
        """Free the space of deleted rows."""
        with self.faults():
            free, pages = (self.connection.execute(f"pragma {name}").fetchone()[0] for name in ("freelist_count", "page_count"))
            if 2 * free > pages:
                self.connection.execute("vacuum")
        self.checkpoint()

    @property
    def long(self) -> bool:
        """True if SQLite's log is to be checkpointed."""
        return self.used > LOG

    def make_room(self, size: int) -> None:
        """Give SQLite's log the room for a commit of this size: zeros behind its end, which SQLite takes for no commit. Nothing else may write."""
        self.used += size
        if self.used <= self.room:
            return
        with suppress(OSError):  # without room a commit takes longer; a full disk is found by SQLite
            file = os.open(f"{self.path}-wal", os.O_WRONLY)
            try:
                end = os.fstat(file).st_size
                if self.used > end:
                    end += os.pwrite(file, bytes(max(ROOM, self.used - end)), end)
                self.room = end
            finally:
                os.close(file)


def make(folder: Path, id_: str) -> None:
    """The database of a new index."""
    connection = sqlite3.connect(folder / DATABASE, isolation_level=None)
    try:
        connection.execute(f"pragma page_size = {PAGE}")
        connection.executescript(SCHEMA)
    finally:
        connection.close()
    database = Database(folder, write=True)
    try:
        database.publish(State(id_), {})
    finally:
        database.close()


def has_log(folder: Path) -> bool:
    """True if SQLite's log has something in it, or may get something."""
    log = folder / f"{DATABASE}-wal"
    return log.exists() and log.stat().st_size > 0


def checksum(data: bytes) -> bytes:
    return xxhash.xxh3_64_digest(data)


def told(folder: Path, error: sqlite3.DatabaseError) -> Exception:
    """An error of SQLite in the words of likewise: damage, or trouble with the disk."""
    import errno

    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR) or not isinstance(error, sqlite3.OperationalError):
        return damaged(folder, f"{DATABASE}: {error}")
    number = {
        sqlite3.SQLITE_FULL: errno.ENOSPC,
        sqlite3.SQLITE_BUSY: errno.EBUSY,
        sqlite3.SQLITE_LOCKED: errno.EBUSY,
        sqlite3.SQLITE_READONLY: errno.EROFS,
        sqlite3.SQLITE_PERM: errno.EACCES,
        sqlite3.SQLITE_CANTOPEN: errno.ENOENT,
    }.get(code, errno.EIO)
    return OSError(number, f"{DATABASE}: {error}", str(folder))


def has_reset_fault(version: tuple[int, ...]) -> bool:
    """True for versions of SQLite with the WAL-reset fault (sqlite.org/wal.html, section 11)."""
    return version < WAL_RESET_FIXED and not any(version[:2] == mended[:2] and version >= mended for mended in WAL_RESET_BACKPORTS)


def info() -> dict[str, Any]:
    return {"sqlite": sqlite3.sqlite_version, "sqlite_wal_reset_fault": has_reset_fault(sqlite3.sqlite_version_info)}
