"""The state that all requests to one index share."""

from __future__ import annotations

import asyncio
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.messages import in_document
from likewise.service import tokens
from likewise.service.calls import Calls, Value
from likewise.service.limits import Limits
from likewise.service.logs import Log
from likewise.service.metrics import Metrics
from likewise.service.queries import Queries
from likewise.service.tokens import Tokens
from likewise.service.wire import EXAMPLES, Types
from likewise.service.writer import Writer
from likewise.verbs.index import Index


class Serving:
    """token_file: without one, the service answers this machine only, and only reads. writes: the index was opened for writing.

    host: the name that the service was bound to. remote: the index is kept by another server, so each call waits for it.
    """

    def __init__(
        self,
        index: Index,
        log: Log,
        *,
        token_file: Path | None = None,
        host: str = "",
        writes: bool = False,
        remote: bool = False,
        limits: Limits | None = None,
    ):
        self.index, self.log, self.host = index, log, host
        self.limits = limits or Limits()
        self.calls = Calls(index)
        job = index.settings.job()
        self.types = Types(job.kind, self.limits, per=index.settings.options.per, distances=job.distances)
        self.metrics = Metrics()
        self._token_file = token_file
        self.tokens: Tokens | None = tokens.read(token_file) if token_file else None
        self.queries = Queries(self.calls.query, self.limits, remote=remote, told=self.metrics.calls("query").observe)
        self.writer = Writer(self.calls, self.limits, told=self.metrics.calls("write").observe) if writes else None
        self.streams = 0  # that run
        self.leaving = False  # the service was told to stop
        self.metrics.gauge("likewise_waiting_requests", "Requests that wait for an answer from the index.", lambda: self.waiting)
        self.metrics.gauge("likewise_streams", "Streams that run.", lambda: self.streams)
        self.metrics.gauge("likewise_ready", "1 if the service accepts requests.", lambda: not self.trouble)
        self.metrics.gauge("likewise_index_items", "Items of the index.", lambda: len(index))

    @property
    def waiting(self) -> int:
        return self.queries.waiting + (self.writer.waiting if self.writer else 0)

    @property
    def trouble(self) -> str:
        """Why the service should get no requests; empty if it should."""
        if self.leaving:
            return "the service stops"
        return self.writer.trouble if self.writer else ""

    def unreadable(self) -> str:
        """Why the index cannot be read; empty if it can."""
        try:
            len(self.index)
        except Exception as error:
            self.log.fault("the index cannot be read", error)
            return "the index cannot be read"
        return ""

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start the thread that makes changes."""
        if self.writer:
            self.writer.start(loop)

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        self.metrics.answered(endpoint, status, seconds)

    def warm(self) -> None:
        """Answer a query, so that the kernels are loaded before the first one comes."""
        if (example := EXAMPLES.get(self.types.payload)) is not None:
            self.calls.query([Value(example, None, "")], {})

    def reload(self) -> None:
        """Read the file of tokens again. If it is not valid, the tokens stay as they are."""
        if self._token_file is None:
            return
        try:
            self.tokens = tokens.read(self._token_file)
        except LikewiseError as error:
            self.log.add("error", "the tokens were not reloaded", reason=in_document(error))
        else:
            self.log.add("info", "tokens reloaded", tokens=len(self.tokens.known))

    def close(self) -> None:
        """Make the changes that were taken, and close the index."""
        if self.writer:
            self.writer.close()
        self.queries.close()
        self.index.close()
