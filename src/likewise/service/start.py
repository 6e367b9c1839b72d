"""The start of the service: what it may do is decided from its options, then the index is opened and served."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path

from likewise.choices import Durability
from likewise.compiled.notice import NOTICE
from likewise.errors import UsageError, install, missing_part
from likewise.io.manifest import is_output
from likewise.messages import either, option, quoted
from likewise.service import tokens
from likewise.service.connections import missing
from likewise.service.logs import Log
from likewise.verbs.index import Index

#: The libraries without which there is no service, by the names of their modules.
NEEDED = {"starlette": "Starlette", "uvicorn": "uvicorn", "prometheus_client": "prometheus-client"}
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
) -> None:
    """Open the index at a path or an address, and serve it until a signal ends the process.

    tell: called with where it can be reached. Raises UsageError for options that do not go together, and for what is no index.
    """
    for module, name in NEEDED.items():
        if importlib.util.find_spec(module) is None:
            raise missing_part("an index is served with", name, EXTRA)
    for module in missing():
        warn(f"{module} is not installed, so requests take up to four times as long: {install(EXTRA)}")
    from likewise.service.run import bound, is_loopback, serve
    from likewise.service.serving import Serving

    here = is_loopback(host)
    if token_file is None and not here:
        needs = f"give {option('token_file', placeholder='FILE')} with a line `read TOKEN` or `write TOKEN` for each token"
        raise UsageError(f"{option('host', host)}: other machines can reach this address, so requests need tokens; {needs}")
    writes = token_file is not None and tokens.read(token_file).writing
    refuse_output(path)
    listening = bound(host, port)
    try:
        index = Index.open(path, read_only=not writes, durability=durability)
    except BaseException:
        listening.close()
        raise
    address = f"http://{f'[{host}]' if ':' in host else host}:{listening.getsockname()[1]}"
    serving = Serving(index, log, token_file=token_file, host=host.lower(), writes=writes, remote="://" in path)
    serving.warm()
    NOTICE.summary()

    def started() -> None:
        log.add("info", "started", url=address, items=len(index), writes=writes)
        if tell:
            tell(f"serving {index.store.where} at {address}, {'for reading and writing' if writes else 'for reading only'}; Ctrl-C stops it")

    serve(serving, listening, started)


def refuse_output(path: str) -> None:
    """Raises UsageError for an output folder."""
    if "://" not in path and is_output(Path(path)):
        make = either("lw.Index.from_output(...)", "likewise index build")
        raise UsageError(f"{quoted(path)}: this is an output folder, and only indexes can be served so far; {make} makes an index of its items")
