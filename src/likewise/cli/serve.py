"""likewise serve"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from likewise.cli.screen import Screen, is_terminal
from likewise.cli.verbs import folders, verb


@verb(
    "serve",
    "PATH",
    examples=("serve seen.lw", "serve seen.lw --host 0.0.0.0 --token-file tokens"),
    flags="host port token_file durability config quiet verbose color",
    arguments=[click.Argument(["path"], metavar="PATH", shell_complete=folders)],
    notes="PATH: the folder of an index, or its address (postgresql://..., valkey://...).",
    quiet={"help": "Log warnings and errors only."},
    verbose={"help": "Log each request."},
)
def command(screen: Screen, path: str, host: str = "127.0.0.1", port: int = 8080, token_file: str | None = None, durability: Any = "commit") -> None:
    from likewise.compiled.notice import NOTICE
    from likewise.service.logs import Log
    from likewise.service.start import start

    level = "warning" if screen.quiet else "debug" if screen.verbose else "info"
    log = Log(sys.stderr.buffer, level)
    tell = screen.say if is_terminal(sys.stderr) else None
    tokens = None if token_file is None else Path(token_file)
    with NOTICE.telling(lambda message: log.add("info", "compiling", message=message)):
        start(path, host=host, port=port, token_file=tokens, durability=durability, log=log, warn=screen.warn, tell=tell)
