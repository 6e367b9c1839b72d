"""The process of an explorer: what its requests share, its routes, and its start."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import UsageError
from likewise.messages import option
from likewise.service.limits import Limits
from likewise.service.logs import Log
from likewise.service.start import check_parts, url_of

if TYPE_CHECKING:
    from starlette.routing import Route

    from likewise.service.serving import Serving


class Exploring:
    """The state that all requests to an explorer share (`service.run.Served`)."""

    def __init__(self, log: Log, begin: Callable[[], None], limits: Limits | None = None):
        self.log, self.limits, self.leaving, self._begin = log, limits or Limits(), False, begin

    def begin(self, loop: asyncio.AbstractEventLoop) -> None:
        """Read beside the first requests what most pages need."""
        loop.run_in_executor(None, self._begun)

    def _begun(self) -> None:
        try:
            self._begin()
        except Exception as error:  # said again, and better, by the page that needs it
            self.log.fault("tables could not be read ahead", error)

    def answered(self, endpoint: str, status: int, seconds: float) -> None: ...

    def reload(self) -> None: ...

    def close(self) -> None: ...


def start(
    path: Path,
    inputs: Sequence[str] = (),
    *,
    host: str,
    port: int,
    token_file: Path | None,
    log: Log,
    warn: Callable[[str], None],
    tell: Callable[[str], None] | None = None,
) -> None:
    """Serve the pages of an output folder, or of a result file, to this machine, until a signal ends the process.

    inputs: where those of a result file are now. Raises UsageError for an address that other machines can reach, and for what cannot be explored.
    """
    check_parts("a result is explored with", warn)
    from likewise.explorer.listing import Listing
    from likewise.explorer.output import Output
    from likewise.explorer.routes import application, application_of_file
    from likewise.report.own_files import as_written
    from likewise.service.run import bound, is_loopback, serve

    if token_file is not None:
        raise UsageError(f"{option('token_file', token_file)}: the explorer of a result has no tokens, since it answers this machine only")
    if not is_loopback(host):
        raise UsageError(f"{option('host', host)}: other machines can reach this address, and the explorer shows texts to everyone; leave it out")
    made: Any
    if path.is_file():
        explored: Any = Listing(path, inputs)
        made = application_of_file
    else:
        with as_written(path):
            explored, made = Output(path), application
    listening = bound(host, port)
    exploring, address = Exploring(log, explored.prepare), url_of(host, listening)

    def started() -> None:
        log.add("info", "started", url=address, output=str(path))
        if tell:
            tell(f"exploring {path} at {address}; Ctrl-C stops it")

    serve(exploring, made(exploring, explored, host.lower()), listening, started)


def of_index(serving: Serving) -> Sequence[Route]:
    """The pages of an index that a service has beside its answers, if it has no tokens."""
    from likewise.explorer.indexed import routes

    return routes(serving)
