"""The process of the service: sockets, signals, and uvicorn."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import signal
import socket
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Protocol

import uvicorn
from starlette.types import ASGIApp

from likewise.errors import UsageError
from likewise.messages import option
from likewise.service import connections
from likewise.service.limits import Limits
from likewise.service.logs import Log

BACKLOG = 2048
#: The greatest port.
PORTS = 65_535


def is_loopback(host: str) -> bool:
    """True if all addresses of a host are those of this machine alone."""
    return all(ipaddress.ip_address(address[4][0].partition("%")[0]).is_loopback for address in addresses(host, 0))


def addresses(host: str, port: int) -> list[Any]:
    try:
        return socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise UsageError(f"{option('host', host)}: {error.strerror}; give an address of this machine, such as 127.0.0.1 or 0.0.0.0") from error


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens at this address. Raises UsageError if the system refuses it."""
    if not 0 <= port <= PORTS:
        raise UsageError(f"{option('port', port)}: give a number from 0 to {PORTS}; 0 chooses a free one")
    family, kind, protocol, _, address = addresses(host, port)[0]
    made = socket.socket(family, kind, protocol)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise UsageError(f"{option('host', host)} {option('port', port)}: {error.strerror}; choose another port, or 0 for any free one") from error
    made.setblocking(False)
    return made


class Served(Protocol):
    """State that all requests to a service share."""

    limits: Limits
    log: Log
    leaving: bool  # the service was told to stop

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Start what works beside the requests."""

    def answered(self, endpoint: str, status: int, seconds: float) -> None:
        """Count an answer."""

    def reload(self) -> None:
        """Read again what SIGHUP asks for."""

    def close(self) -> None:
        """Finish what was taken, and close what was opened."""


class Server(uvicorn.Server):
    """uvicorn that leaves signals to `serve`."""

    def __init__(self, serving: Served, app: ASGIApp):
        limits = serving.limits
        for name in ("uvicorn", "uvicorn.error", "uvicorn.access"):  # the service has a log of its own
            logging.getLogger(name).handlers = [logging.NullHandler()]
            logging.getLogger(name).propagate = False
        config = uvicorn.Config(
            app,
            http=connections.protocol(limits),
            ws="none",
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            timeout_keep_alive=limits.idle_seconds,
            timeout_graceful_shutdown=limits.ending_seconds,
            limit_concurrency=limits.connections,
            backlog=BACKLOG,
        )
        super().__init__(config)
        self.serving = serving

    def capture_signals(self) -> Any:
        return nullcontext()

    def leave(self, number: int) -> None:
        """Take no more requests after a while, and end when all have their answers; at the second signal at once."""
        if self.serving.leaving:
            self.should_exit = self.force_exit = True
            return
        self.serving.leaving = True
        self.serving.log.add("info", "stopping", signal=signal.Signals(number).name)
        asyncio.get_running_loop().call_later(self.serving.limits.leaving_seconds, setattr, self, "should_exit", True)

    async def run_until_signal(self, listening: socket.socket, started: Callable[[], None]) -> None:
        loop, serving = asyncio.get_running_loop(), self.serving
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.leave, number)
        loop.add_signal_handler(signal.SIGHUP, serving.reload)
        serving.begin(loop)
        loop.call_soon(started)
        sweeping = loop.create_task(sweep(self, serving.limits.send_seconds))
        await self.serve(sockets=[listening])
        sweeping.cancel()


def serve(serving: Served, app: ASGIApp, listening: socket.socket, started: Callable[[], None] = lambda: None) -> None:
    """Serve until SIGTERM or SIGINT. Then all requests that were taken are answered, and what is served is closed.

    started: called when requests are taken. SIGHUP reads the tokens again.
    """
    server = Server(serving, app)
    gc.collect()
    gc.freeze()  # what is loaded stays: to look through it again and again would hold up requests for tens of milliseconds
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
    began = time.monotonic()
    try:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(server.run_until_signal(listening, started))
    finally:
        serving.close()
        serving.log.add("info", "stopped", seconds=round(time.monotonic() - began, 3))
        serving.log.close()
        for number, handler in handlers.items():
            signal.signal(number, handler)


async def sweep(server: Server, seconds: float) -> None:
    """End connections that were closed some time ago, but whose clients do not take the last answer."""
    before: set[Any] = set()
    while True:
        await asyncio.sleep(seconds)
        closing = {one for one in server.server_state.connections if one.transport.is_closing()}
        for one in closing & before:
            one.transport.abort()
        before = closing


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory
