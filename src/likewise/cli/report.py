"""likewise report"""

from __future__ import annotations

from pathlib import Path

import click

from likewise.cli.screen import Screen
from likewise.cli.verbs import folders, verb
from likewise.errors import DataError
from likewise.io.address import place
from likewise.io.placing import check_file, new_file


@verb(
    "report",
    "OUT",
    examples=("report clean", "report clean --json"),
    flags="json quiet color",
    arguments=[click.Argument(["out"], metavar="OUT", shell_complete=folders)],
)
def command(screen: Screen, out: str) -> None:
    target = place(out) / "report.html"
    shown = written(screen, place(out))
    if screen.json:
        screen.document({"schema": "likewise/report-page/1", "path": str(target.absolute()), "examples": shown})
    else:
        screen.say(f"wrote {target}")


def written(screen: Screen, folder: Path) -> int:
    """Write the page of an output again, and return the number of its examples."""
    from likewise.report import html
    from likewise.report.measured import stored
    from likewise.report.originals import Originals, examples
    from likewise.report.own_files import as_written

    target = folder / "report.html"
    with as_written(folder):
        originals = Originals(folder)
        check_file(target, overwrite=True, flag="OUT")
        try:
            shown = list(examples(originals))
        except DataError as error:
            if target.exists():
                raise DataError(f"{target} is unchanged, because the items of its examples cannot be read again: {error.marked}") from error
            screen.warn(f"the page has no examples, because the items cannot be read again: {error.marked}")
            shown = []
        page = html.render(originals.report, originals.run, shown, stored(folder))
    with new_file(target, overwrite=True, flag="OUT") as file:
        file.write(page.encode(errors="backslashreplace"))
    return len(shown)
