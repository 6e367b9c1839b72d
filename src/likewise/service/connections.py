"""Connections of uvicorn with bounds that it lacks: on the time and the bytes until the headers of a request are complete, and
until a client takes an answer."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

from likewise.service.limits import Limits

#: The libraries with which uvicorn is fast.
FAST = ("uvloop", "httptools")


def missing() -> list[str]:
    """The fast parts that are not installed."""
    return [name for name in FAST if importlib.util.find_spec(name) is None]


class Bounded(asyncio.Protocol):
    """A request whose headers take too long, or too much, ends its connection, and so does a client that does not take its answers."""

    limits: Limits  # those of a service (`protocol`)
    cycle: Any  # this and the next two are uvicorn's
    loop: Any
    transport: Any
    _timer: asyncio.TimerHandle | None = None  # until the headers are complete
    _writing: asyncio.TimerHandle | None = None  # until the client takes more
    _received = 0

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._begin()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end()
        self.resume_writing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        cycle = self.cycle
        between = cycle is None or cycle.response_complete
        if between and self._timer is None:
            self._begin()
        self._received += len(data)
        super().data_received(data)
        if self.cycle is not cycle:
            self._end()
        elif between and self._received > self.limits.headers and not self.transport.is_closing():
            self._refuse(b"431 Request Header Fields Too Large")

    def pause_writing(self) -> None:
        super().pause_writing()
        self._writing = self.loop.call_later(self.limits.send_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        if self._writing is not None:
            self._writing.cancel()
            self._writing = None
        super().resume_writing()

    def _begin(self) -> None:
        self._received = 0
        self._timer = self.loop.call_later(self.limits.headers_seconds, self._refuse, b"408 Request Timeout")

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: bytes) -> None:
        self._end()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + status + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()


def protocol(limits: Limits) -> type[asyncio.Protocol]:
    """The class of connections: httptools, or h11, which is slower, without it."""
    bases: tuple[type[asyncio.Protocol], ...]
    if importlib.util.find_spec("httptools"):
        from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

        bases = Bounded, HttpToolsProtocol
    else:
        from uvicorn.protocols.http.h11_impl import H11Protocol

        bases = Bounded, H11Protocol
    return type("Bounded", bases, {"limits": limits})
