"""The start of an explorer, and of the pages of an index."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from likewise.errors import UsageError
from likewise.messages import option
from likewise.service.logs import Log
from likewise.service.start import check_parts, url_of

if TYPE_CHECKING:
    from starlette.routing import Route

    from likewise.service.serving import Serving


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
    from likewise.explorer.exploring import Exploring
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
