"""Connections to PostgreSQL, and arrays in its binary format."""

from __future__ import annotations

import errno
import os
import selectors
import struct
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from likewise.errors import UsageError, missing_part
from likewise.index.servers import Place
from likewise.index.store import Items
from likewise.io.attempts import REMOTE
from likewise.messages import either

try:
    import psycopg
    from psycopg import adapt, pq
    from psycopg.conninfo import conninfo_to_dict
except ImportError as error:
    raise missing_part("an index in PostgreSQL is used with", "psycopg", "'psycopg[binary]'") from error

#: Connections that are kept while nobody uses them.
KEPT = 8
#: Seconds to wait for a connection, and for the end of a transaction.
PATIENCE = 10
#: A statement finds rows by indexes: estimates of a table that grows fast would lead to scans.
SESSION = """
set default_transaction_isolation = 'read committed'; set client_encoding = 'UTF8';
set enable_seqscan = off; set enable_hashjoin = off; set enable_mergejoin = off; set jit = off"""
BIGINT, BIGINTS, BYTEA, BYTEAS = 20, 1016, 17, 1001
#: An element of a bigint[] in the binary format, and what comes before the elements.
ELEMENT = np.dtype([("length", ">i4"), ("value", ">i8")])
HEAD = struct.Struct(">iiiii")  # dimensions, flags, type, length, first index


class Integers(adapt.Dumper):
    """int64[n] as bigint[]."""

    oid, format = BIGINTS, pq.Format.BINARY

    def dump(self, obj: np.ndarray) -> bytes:
        return bigints(obj[None])[0]


class Blobs(list[bytes]):
    """bytea[]"""


class BlobsDumper(adapt.Dumper):
    oid, format = BYTEAS, pq.Format.BINARY

    def dump(self, obj: Blobs) -> bytes:
        sized = [part for one in obj for part in (len(one).to_bytes(4, "big"), one)]
        return HEAD.pack(1, 0, BYTEA, len(obj), 1) + b"".join(sized)


class Raw(adapt.Loader):
    """A value in the binary format as it is, for `integers` and for arrays of numpy."""

    format = pq.Format.BINARY

    def load(self, data: Any) -> bytes:
        return bytes(data)


def bigints(rows: np.ndarray) -> list[bytes]:
    """Each row of int64[n, m] as a bigint[] in the binary format."""
    found = np.empty(len(rows), [("head", f"V{HEAD.size}"), ("of", ELEMENT, rows.shape[1:])])
    found["head"] = np.frombuffer(HEAD.pack(1, 0, BIGINT, rows.shape[1], 1), found["head"].dtype)
    found["of"]["length"], found["of"]["value"] = 8, rows
    return [row.tobytes() for row in found]


def integers(arrays: Sequence[bytes]) -> np.ndarray:
    """The elements of some bigint[] without nulls, one array after the other: int64[n]."""
    inner = b"".join(array[HEAD.size :] for array in arrays)  # an empty one has a shorter head
    return np.frombuffer(inner, ELEMENT)["value"].astype(np.int64)


def copy_rows(first: int, items: Items, keys: np.ndarray, copy: np.ndarray, words: Sequence[bytes]) -> bytes:
    """Rows of the items as binary COPY takes them, numbered from ``first``. keys: int64[n, bands]. copy: uint8[n, 12]."""
    n, bands = keys.shape
    slots = items.slots.shape[1]
    head = HEAD.size + ELEMENT.itemsize * bands
    row = np.empty(
        n,
        [
            *(("columns", ">i2"), ("number", ELEMENT), ("content", ">i4"), ("copy", [("length", ">i4"), ("value", "u1", copy.shape[1:])])),
            *(("size", [("length", ">i4"), ("value", ">i4")]), ("keys", [("length", ">i4"), ("value", f"V{head}")])),
            ("slots", [("length", ">i4"), ("value", "u1", (slots,))]),
        ],
    )
    row["columns"], row["content"] = 8, -1
    for name, length, values in (
        *(("number", 8, np.arange(first, first + n)), ("copy", copy.shape[1], copy), ("size", 4, items.size)),
        ("keys", head, np.frombuffer(b"".join(bigints(keys)), f"V{head}")),
        ("slots", slots, items.slots),
    ):
        row[name]["length"], row[name]["value"] = length, values
    fixed = [one.tobytes() for one in row]
    variable = zip(fixed, items.ids, words, strict=True)
    return b"".join(part for one, id, word in variable for part in (one, len(id).to_bytes(4, "big"), id, len(word).to_bytes(4, "big"), word))


class Connections:
    """Connections of one store. Each use has its own, so threads do not wait for one another; some are kept while idle."""

    def __init__(self, place: Place, session: str = ""):
        self.place, self.session = place, SESSION + session
        self.schema = f'"{place.name}"'  # letters, digits, - and _ (`servers.NAME`)
        self._idle: deque[Any] = deque()
        self._taken: set[Any] = set()
        self._open, self._process = True, os.getpid()
        weakref.finalize(self, close_all, self._idle, os.getpid())
        try:
            self._parameters: dict[str, Any] = {"application_name": "likewise", "connect_timeout": PATIENCE} | conninfo_to_dict(place.url)
        except psycopg.Error:  # its text may quote a password
            form = "postgresql://user@host:port/database?index=NAME"
            raise UsageError(f"PostgreSQL's client cannot read the address of {place.shown}; its form is {form}") from None

    def named(self, statement: str) -> bytes:
        """A statement about the tables of this index."""
        return statement.replace("SCHEMA", self.schema).encode()

    def take(self) -> Any:
        """A connection without a transaction, to `give` back."""
        if self._process != os.getpid():  # those of the parent process are its own
            self._idle, self._taken, self._process = deque(), set(), os.getpid()
            weakref.finalize(self, close_all, self._idle, self._process)
        while self._idle:
            try:
                connection = self._idle.popleft()  # the transaction of the one that came back last may still be ending
            except IndexError:
                break
            if settled(connection):
                self._taken.add(connection)
                return connection
            connection.close()
        connection = psycopg.connect(**self._parameters, autocommit=True)
        adapters = connection.adapters
        adapters.register_dumper(np.ndarray, Integers)
        adapters.register_dumper(Blobs, BlobsDumper)
        adapters.register_loader(BIGINTS, Raw)
        connection.execute(self.session.encode())
        self._taken.add(connection)
        return connection

    def give(self, connection: Any) -> None:
        """Take back a connection; a transaction that it is in ends soon. Called by finalizers too, so it never waits."""
        if self._process != os.getpid():
            return
        self._taken.discard(connection)
        status = connection.pgconn.transaction_status
        if self._open and len(self._idle) < KEPT and status in (pq.TransactionStatus.IDLE, pq.TransactionStatus.INTRANS):
            if status == pq.TransactionStatus.INTRANS:
                connection.pgconn.send_query(b"rollback")
            self._idle.append(connection)
        else:
            connection.close()

    @contextmanager
    def one(self) -> Iterator[Any]:
        """A connection; errors of the server name the index."""
        with self.told():
            connection = self.take()
            try:
                yield connection
            finally:
                self.give(connection)

    @contextmanager
    def told(self) -> Iterator[None]:
        """Inside, errors of the client and of the server are errors of likewise."""
        shown = self.place.shown
        try:
            yield
        except (psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName, psycopg.errors.UndefinedFunction) as error:
            raise UsageError(f"{shown}: there is no index; {either('lw.Index.create', 'likewise index create')} makes one") from error
        except psycopg.errors.LockNotAvailable as error:
            raise UsageError(f"{shown}: others read the index and do not end; close their views or their processes first") from error
        except psycopg.errors.InsufficientPrivilege as error:
            raise PermissionError(errno.EACCES, said(error), shown) from error
        except psycopg.Error as error:
            raise OSError(REMOTE, said(error), shown) from error

    def close(self) -> None:
        """Close all connections, also those of views, which end with them."""
        self._open = False
        if self._process == os.getpid():
            self._idle.extend(self._taken.copy())
            close_all(self._idle, self._process)

    def until_end_of(self, view: Any, connection: Any) -> None:
        """Take the connection back when nobody has the view any more."""
        weakref.finalize(view, self.give, connection).atexit = False


def close_all(connections: deque[Any], process: int) -> None:
    """Close connections, in the process that opened them."""
    while connections and process == os.getpid():
        connections.pop().close()


def settled(connection: Any) -> bool:
    """True if a connection that was idle can be used; False if the server has closed it meanwhile."""
    inner = connection.pgconn
    try:
        ending = inner.transaction_status == pq.TransactionStatus.ACTIVE
        with selectors.DefaultSelector() as selector:
            selector.register(inner.socket, selectors.EVENT_READ)
            if selector.select(PATIENCE if ending else 0):
                inner.consume_input()
        while ending and inner.get_result() is not None:
            pass
    except (psycopg.Error, OSError):
        return False
    return bool(inner.status == pq.ConnStatus.OK and inner.transaction_status == pq.TransactionStatus.IDLE)


def said(error: Exception) -> str:
    """The message of the server or its client, in one line."""
    return "; ".join(line.strip() for line in str(error).splitlines() if line.strip()) or type(error).__name__
