"""likewise serve"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from likewise.cli.screen import Screen, is_terminal
from likewise.cli.verbs import files, inputs, verb
from likewise.errors import UsageError

#: The paths that can be served, for messages; and the error of a path at which nothing is.
WANTED = "give an output of dedup, a .parquet file of quotes, pairs or neighbors, or an index (likewise index create makes one)"
NOTHING = f"no such file or folder; {WANTED}"


@verb(
    "serve",
    "PATH [INPUT...]",
    examples=("serve clean", "serve seen.lw --host 0.0.0.0 --token-file tokens"),
    flags="host port token_file durability config quiet verbose color",
    arguments=[click.Argument(["path"], metavar="PATH", shell_complete=files), inputs("INPUT...", required=False)],
    notes="PATH: an output folder of dedup; a .parquet file of quotes, pairs or neighbors;\n"
    "or an index: its folder, or its address (postgresql://..., valkey://...).\n"
    "INPUT: the inputs of the .parquet file, if they were moved.",
    quiet={"help": "Log warnings and errors only."},
    verbose={"help": "Log each request."},
)
def command(
    screen: Screen,
    path: str,
    inputs: tuple[str, ...] = (),
    host: str = "127.0.0.1",
    port: int = 8080,
    token_file: str | None = None,
    durability: Any = "commit",
) -> None:
    from likewise.compiled.notice import NOTICE
    from likewise.explorer import serving as explorer
    from likewise.service import start as service
    from likewise.service.logs import Log

    level = "warning" if screen.quiet else "debug" if screen.verbose else "info"
    log = Log(sys.stderr.buffer, level)
    tell = screen.say if is_terminal(sys.stderr) else None
    tokens = None if token_file is None else Path(token_file)
    with NOTICE.telling(lambda message: log.add("info", "compiling", message=message)):
        shared: Any = {"host": host, "port": port, "token_file": tokens, "log": log, "warn": screen.warn, "tell": tell}
        if inputs and ("://" in path or not Path(path).is_file()):
            raise UsageError(f"{path} {inputs[0]}: give one PATH; only a file of quotes, pairs or neighbors is followed by its inputs")
        if is_result(path):
            explorer.start(Path(path), inputs, **shared)
        else:
            service.start(path, durability=durability, pages=explorer.of_index, **shared)


def is_result(path: str) -> bool:
    """True for an output folder or a file, False for an index. Raises UsageError for what is certainly neither."""
    from likewise.index.embedded.folder import DATABASE, MANIFEST
    from likewise.io.manifest import is_output

    if "://" in path:
        return False
    place = Path(path)
    if not place.exists():
        raise UsageError(f"{path}: {NOTHING}")
    if place.is_file() or is_output(place):
        return True
    if (place / "removed.parquet").exists():
        raise UsageError(f"{path}: is not a complete output of dedup: it has no manifest.json; run dedup again, or copy the whole folder")
    if not any((place / name).exists() for name in (MANIFEST, DATABASE)):
        raise UsageError(f"{path}: this folder has no result and no index; {WANTED}")
    return False
