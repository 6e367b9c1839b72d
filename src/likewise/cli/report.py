"""likewise report"""

from __future__ import annotations

import os
from pathlib import Path

import click

from likewise.cli.screen import Screen
from likewise.cli.verbs import verb
from likewise.errors import DataError


@verb("report", "OUT", examples=("report clean", "report clean --json"), flags="json quiet color", arguments=[click.Argument(["out"], metavar="OUT")])
def command(screen: Screen, out: str) -> None:
    from likewise.report import html
    from likewise.report.originals import Originals, as_written, examples

    folder = Path(out)
    target, part = folder / "report.html", folder / f".report.{os.getpid()}.html"
    with as_written(folder):
        originals = Originals(folder)
        try:
            shown = list(examples(originals))
        except DataError as error:
            if target.exists():
                raise DataError(f"{target} stays as it is, with its examples, since the items cannot be read again: {error}") from error
            screen.warn(f"the page shows no examples, since the items cannot be read again: {error}")
            shown = []
        page = html.render(originals.report, originals.run, shown)
    try:
        part.write_text(page, encoding="utf-8")
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
    if screen.json:
        screen.document({"schema": "likewise/report-page/1", "path": str(target.absolute()), "examples": len(shown)})
    else:
        screen.say(f"wrote {target}")
