"""The start of the service: what it may do is decided from its options, then the index is opened and served."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from likewise.choices import Durability
from likewise.compiled.notice import NOTICE
from likewise.errors import UsageError, install, missing_part
from likewise.messages import option
from likewise.service import tokens
from likewise.service.connections import missing
from likewise.service.logs import Log
from likewise.verbs.index import Index

if TYPE_CHECKING:
    from starlette.routing import Route

    from likewise.service.serving import Serving

#: The libraries without which there is no service, by the names of their modules.
NEEDED = {"starlette": "Starlette", "uvicorn": "uvicorn", "prometheus_client": "prometheus-client", "jinja2": "Jinja2"}
EXTRA = "'likewise[serve]'"


def start(
    path: str,
    *,
    host: str,
    port: int,
    token_file: Path | None,
    durability: Durability,
    log: Log,
    warn: Callable[[str], None],
    tell: Callable[[str], None] | None = None,
    pages: Callable[[Serving], Sequence[Route]] = lambda serving: (),
) -> None:
    """Open the index at a path or an address, and serve it until a signal ends the process.

    tell: called with where it can be reached. pages: further routes, of a service without tokens. Raises UsageError for options that do not go
    together, and for what is no index.
    """
    check_parts("an index is served with", warn)
    from likewise.service.app import application
    from likewise.service.run import bound, is_loopback, serve
    from likewise.service.serving import Serving

    here = is_loopback(host)
    if token_file is None and not here:
        needs = f"give {option('token_file', placeholder='FILE')} with a line `read TOKEN` or `write TOKEN` for each token"
        raise UsageError(f"{option('host', host)}: other machines can reach this address, so requests need tokens; {needs}")
    writes = token_file is not None and tokens.read(token_file).writing
    listening = bound(host, port)
    try:
        index = Index.open(path, read_only=not writes, durability=durability)
    except BaseException:
        listening.close()
        raise
    address = url_of(host, listening)
    serving = Serving(index, log, token_file=token_file, host=host.lower(), writes=writes, remote="://" in path)
    serving.warm()
    NOTICE.summary()

    def started() -> None:
        log.add("info", "started", url=address, items=len(index), writes=writes)
        if tell:
            tell(f"serving {index.store.where} at {address}, {'for reading and writing' if writes else 'for reading only'}; Ctrl-C stops it")

    serve(serving, application(serving, pages(serving) if token_file is None else ()), listening, started)


def check_parts(what: str, warn: Callable[[str], None]) -> None:
    """Raise MissingPartError for a library without which there is no service, and warn of those without which it is slow."""
    for module, name in NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise missing_part(what, name, EXTRA)
    for module in missing():
        warn(f"{module} is not installed, so requests take up to four times as long: {install(EXTRA)}")


def url_of(host: str, listening: socket.socket) -> str:
    """The address of a service for people."""
    return f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
