"""A client of the service, with the methods of `Index`."""

from __future__ import annotations

import queue
import re
import select
import time
from collections.abc import Iterator, Sequence
from functools import cached_property
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import SplitResult, urlsplit

import msgspec
import numpy as np

from likewise.choices import Existing, ExistingNew, Missing, Number
from likewise.errors import LikewiseError, UsageError
from likewise.index.answers import Answers
from likewise.index.ids import is_id, json_ids
from likewise.items.arrow import chunked, is_arrow
from likewise.kinds.kind import Kind
from likewise.messages import option, quoted
from likewise.planning.threshold import written as exact
from likewise.runs.table import Table
from likewise.service import tables
from likewise.service.limits import Limits
from likewise.service.problems import ProblemDocument, exception_of
from likewise.service.wire import Changed, Contained, Count, Queried, Removal, decode
from likewise.verbs.index import Added

#: Seconds before a request is sent again: after a second of the service's own limit, or after these.
PAUSES = (0.1, 0.5, 2.0)
IDLE = 8  # connections that are kept between requests


class LostError(Exception):
    """A request may have been received, but there is no answer."""


class Reply(NamedTuple):
    status: int
    retry_after: float
    content: bytes


class Client:
    """An index behind `likewise serve`, with the methods and results of `Index`. Several threads may use it.

    url: the address of the service, ``http://HOST:PORT`` or ``https://HOST``. token: one of its tokens. timeout: seconds to wait for a connection,
    and for each answer. Requests that only read, and those that can be repeated (`update`, and `add` with ``existing="replace"``), are sent again if
    the connection breaks; all requests are sent again if the service cannot be reached or is too busy.

    Errors of the index are raised as by `Index`; OSError if the service cannot be reached. More than 256 items, or a million bytes, are sent in
    several requests, one after the other: after an error, the earlier ones have been executed.
    """

    def __init__(self, url: str, *, token: str | None = None, timeout: float = 30.0):
        self._parts = checked(url)
        self.url: str = url.rstrip("/")
        self._timeout = timeout
        self._headers = {"accept": "application/json"} | ({"authorization": f"Bearer {token}"} if token else {})
        self._idle: queue.LifoQueue[HTTPConnection] = queue.LifoQueue(IDLE)
        self._limits = Limits()

    def query(
        self,
        items: Any,
        *,
        ids: Any = None,
        per: Any = None,
        k: int | None = None,
        threshold: Number | None = None,
        within: Number | None = None,
        force: bool = False,
    ) -> Answers:
        """As `Index.query`."""
        options = {"k": k, "threshold": number(threshold), "within": number(within), "force": force}
        found = [(begin, self._ask("query", body, Queried, safe=True)) for begin, body in self._bodies(items, ids, per, options)]
        return tables.answers(self._shape, found, ids)

    def add(self, items: Any, ids: Any = None, *, per: Any = None, existing: Existing = "refuse") -> Added:
        """As `Index.add`."""
        return self._change("add", items, ids, per, {"existing": existing}, safe=ids is not None and existing == "replace")

    def update(self, items: Any, ids: Any, *, per: Any = None) -> Added:
        """As `Index.update`."""
        return self._change("update", items, ids, per, {}, safe=True)

    def add_new(self, items: Any, ids: Any = None, *, per: Any = None, k: int = 1, existing: ExistingNew = "refuse") -> Table:
        """As `Index.add_new`."""
        options = {"k": k, "existing": existing}
        found = [(begin, self._ask("add-new", body, Changed)) for begin, body in self._bodies(items, ids, per, options)]
        return tables.arrivals(self._shape, found)

    def remove(self, ids: Any, *, missing: Missing = "ignore") -> int:
        """As `Index.remove`."""
        bodies = self._id_bodies(ids, {"missing": missing})
        return sum(self._ask("remove", body, Removal).removed for body in bodies)

    def info(self) -> dict[str, Any]:
        """As `Index.info`."""
        found: dict[str, Any] = self._ask("info", None, dict, safe=True)
        return found

    def __len__(self) -> int:
        found: Count = self._ask("count", None, Count, safe=True)
        return found.items

    def __contains__(self, id: object) -> bool:
        if not is_id(id):
            return False
        (body,) = self._id_bodies([id], {})
        return self._ask("contains", body, Contained, safe=True).contained[0]

    def close(self) -> None:
        """Close the connections."""
        while True:
            try:
                self._idle.get_nowait().close()
            except queue.Empty:
                return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"

    @cached_property
    def _shape(self) -> tables.Shape:
        return tables.Shape.of(self.info())

    def _change(self, name: str, items: Any, ids: Any, per: Any, options: dict[str, Any], *, safe: bool) -> Added:
        parts = [self._ask(name, body, Changed, safe=safe) for _, body in self._bodies(items, ids, per, options)]
        results = [one for part in parts for one in part.results]
        new = [one.added for one in results]
        return Added(sum(new), len(new) - sum(new), [one.id for one in results], new)

    def _bodies(self, items: Any, ids: Any, per: Any, options: dict[str, Any]) -> Iterator[tuple[int, bytes]]:
        """The requests for a batch, each with the number of its first item."""
        shape = self._shape
        values = plain(items, shape.kind)
        columns = {shape.kind.field: values} | {
            name: column for name, column in (("id", written_ids(ids)), (shape.per or "per", listed(per))) if column is not None
        }
        for name, column in columns.items():
            if len(column) != len(values):
                raise UsageError(
                    f"{option('per' if name == shape.per else 'ids')}: {len(column):,} values for {len(values):,} items; give one for each"
                )
        if not values:
            raise UsageError("there are no items; give one at least")
        texts = [written(dict(zip(columns, row, strict=True)), place) for place, row in enumerate(zip(*columns.values(), strict=True))]
        return pieces("items", texts, options, self._limits)

    def _id_bodies(self, ids: Any, options: dict[str, Any]) -> list[bytes]:
        return [body for _, body in pieces("ids", json_ids(ids), options, self._limits)]

    def _ask(self, path: str, body: bytes | None, kind: Any, *, safe: bool = False) -> Any:
        """The answer to a request. safe: its repetition changes nothing. Raises what the index raised."""
        reply = self._repeated(f"{self._parts.path.rstrip('/')}/v1/{path}", body, safe=safe)
        try:
            if reply.status == 200:
                return decode(reply.content, kind)
            error = exception_of(msgspec.json.decode(reply.content, type=ProblemDocument))
        except msgspec.DecodeError:
            raise LikewiseError(f"{self.url}: status {reply.status} and no answer of likewise; is this the address of `likewise serve`?") from None
        raise error

    def _repeated(self, path: str, body: bytes | None, *, safe: bool) -> Reply:
        for pause in (*PAUSES, None):
            try:
                reply = self._sent(path, body)
            except OSError as error:  # before it was sent
                if pause is None or isinstance(error, TimeoutError):
                    raise type(error)(f"{self.url}: {error.strerror or error}; is the service running?") from error
            except LostError as error:
                if pause is None or not safe:
                    unknown = "" if safe else ", and it is unknown whether the change was made"
                    raise ConnectionError(f"{self.url}: no answer came{unknown}: {error}") from error.__cause__
            else:
                if pause is None or (reply.status != 503 and not (safe and reply.status in (502, 504))):
                    return reply
                pause = max(pause, min(reply.retry_after, self._timeout))
            time.sleep(pause)
        raise AssertionError

    def _sent(self, path: str, body: bytes | None) -> Reply:
        """Raises OSError if the request was not sent, and LostError if it may have been."""
        connection = self._connection()
        try:
            headers = self._headers | ({"content-type": "application/json"} if body is not None else {})
            connection.request("GET" if body is None else "POST", path, body, headers)
            response = connection.getresponse()
            reply = Reply(response.status, seconds(response), response.read())
        except (OSError, HTTPException) as error:
            connection.close()
            raise LostError(f"{type(error).__name__} {error}".strip()) from error
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            try:
                self._idle.put_nowait(connection)
            except queue.Full:
                connection.close()
        return reply

    def _connection(self) -> HTTPConnection:
        """A connection that is open: one that is idle, if the service has not closed it, or a new one."""
        while True:
            try:
                connection = self._idle.get_nowait()
            except queue.Empty:
                break
            if connection.sock is not None and not readable(connection.sock):
                return connection
            connection.close()
        made = HTTPSConnection if self._parts.scheme == "https" else HTTPConnection
        connection = made(self._parts.hostname or "", self._parts.port, timeout=self._timeout)
        connection.connect()
        return connection


def checked(url: Any) -> SplitResult:
    """The parts of an address. Raises UsageError."""
    try:
        parts = urlsplit(url)
        good = parts.scheme in ("http", "https") and parts.hostname and not parts.query and not parts.fragment and not parts.username
        _ = parts.port
    except (ValueError, AttributeError, TypeError):
        good = False
    if not good:
        hidden = re.sub("//.*@", "//...@", str(url), count=1)  # a login, which messages do not show
        raise UsageError(f"{quoted(hidden)}: give the address of a service, such as http://127.0.0.1:8080 or https://index.example.org")
    return parts


def readable(sock: Any) -> bool:
    """True if an idle connection has something to read: its end."""
    if not hasattr(select, "poll"):
        return bool(select.select([sock], [], [], 0)[0])
    poll = select.poll()
    poll.register(sock, select.POLLIN)
    return bool(poll.poll(0))


def seconds(response: HTTPResponse) -> float:
    """Retry-After, if it is a number."""
    given = response.getheader("retry-after") or ""
    return float(given) if given.isdigit() else 0.0


def number(value: Any) -> float | None:
    """A limit as JSON."""
    return None if value is None else float(exact(value))


def pieces(name: str, texts: Sequence[bytes], options: dict[str, Any], limits: Limits) -> Iterator[tuple[int, bytes]]:
    """JSON documents with a list of items, as many as a request may have, and the options."""
    rest = b"".join(b',"%s":%s' % (key.encode(), encode(value)) for key, value in options.items() if value is not None)
    around = len(rest) + len(name) + 8
    begin = 0
    while begin < len(texts):
        end, size = begin, around
        while end < len(texts) and end - begin < limits.items and (end == begin or size + len(texts[end]) < limits.body):
            size += len(texts[end]) + 1
            end += 1
        yield begin, b'{"%s":[%s]%s}' % (name.encode(), b",".join(texts[begin:end]), rest)
        begin = end


def written(value: Any, place: int) -> bytes:
    """A value as JSON. Raises UsageError with its place in the batch."""
    try:
        return encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        raise UsageError(f"row {place} has no JSON form: {error}") from None


def written_ids(ids: Any) -> list[Any] | None:
    """Ids as JSON. Raises UsageError for values that are no ids."""
    return None if ids is None else [msgspec.Raw(one) for one in json_ids(ids)]


def listed(given: Any) -> list[Any] | None:
    """Values as a list."""
    if given is None:
        return None
    if is_arrow(given):
        found: list[Any] = chunked(given).to_pylist()
        return found
    if isinstance(given, str | bytes) or not hasattr(given, "__iter__"):
        raise UsageError(f"{quoted(given)}: give a list")
    return given.tolist() if isinstance(given, np.ndarray) else list(given)


def plain(items: Any, kind: Kind) -> list[Any]:
    """A batch of items as values of JSON."""
    if kind.alone(items) is True:
        return [items]
    if isinstance(items, np.ndarray) and kind.payload == "code" and items.ndim == 2:
        return [row.tobytes().hex() for row in (np.packbits(items, axis=1, bitorder="little") if items.dtype == bool else items)]
    values = listed(items) or []
    return [value.hex() if isinstance(value, bytes) and kind.payload == "code" else value for value in values]


def encodable(value: Any) -> Any:
    """Values of numpy for JSON."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


encode = msgspec.json.Encoder(enc_hook=encodable).encode
