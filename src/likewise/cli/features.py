"""likewise features"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from likewise.choices import TAKES
from likewise.cli.pairs import apart, read_from, writable, write
from likewise.cli.screen import Screen, counted
from likewise.cli.verbs import verb
from likewise.records import Want


@verb(
    "features",
    "INPUT... -o FILE",
    examples=("features photos/ -o photos.parquet", "features texts.jsonl --vectors glove.txt -o texts.parquet"),
    flags=f"{TAKES['features']} out overwrite config json quiet verbose color progress",
    arguments=[click.Argument(["inputs"], nargs=-1, required=True, metavar="INPUT...")],
    by={"help": "Of texts, what a token is: words:1, whitespace:1, chars:1, ...", "shown": "words:1"},
    out={"help": "Parquet file to write; what could not be read is told of in FILE.rejected.jsonl.", "metavar": "FILE", "required": True},
    overwrite={"help": "Replace FILE once the new one is complete."},
    work={"help": "Where standard input is put meanwhile.", "shown": "a temporary folder"},
)
def command(
    screen: Screen, inputs: tuple[str, ...], out: str, overwrite: bool = False, vectors: str | None = None, work: str | None = None, **choices: Any
) -> None:
    target = Path(out)
    writable(target, overwrite, [".parquet"])
    import tempfile

    from likewise.cli.progress import told
    from likewise.extraction import extract

    progress = told(screen)
    with tempfile.TemporaryDirectory(prefix="likewise-", dir=work) as folder:
        made = extract(
            [Path(given) for given in inputs],
            vectors=None if vectors is None else Path(vectors),
            work=Path(folder),
            progress=progress,
            **choices,
        )
        if target.exists() and vectors is not None:  # no picture or video is a Parquet file
            apart(target, [*read_from(inputs, Want()), ("--vectors", Path(vectors))])
        write(made, target)
    aside = target.with_suffix(".rejected.jsonl")
    if made.rejected or (overwrite and aside.exists()):
        made.write_rejected(aside)
    if made.empty:
        progress.warn(f"{counted(made.empty, 'item has', 'items have')} no feature, and an empty list in the file")
    if screen.json:
        screen.document({"schema": "likewise/features/1", **made.report, "out": str(target.absolute())})
        return
    lost = f"; {counted(len(made.rejected), 'input')} could not be read, see {aside}" if made.rejected else ""
    known = f"; {made.unknown:,} tokens have no vector" if made.unknown else ""
    said = f"{counted(made.features, 'feature')} of {made.dimension} numbers, of {counted(made.items, 'item')}, in {out}"
    screen.say(f"{said}; {progress.time_in_all}{known}{lost}")
    progress.steps()
