"""Small pictures of the images that a report names, read again from their files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from likewise.drawing.markup import Html, picture
from likewise.errors import LikewiseError
from likewise.io import storage
from likewise.io.address import place
from likewise.kinds import kind_of
from likewise.report import wording

#: Pixels of the longer side of a picture in an example, and of one in a list.
LARGE, SMALL = 320, 96

#: Gives the picture of a source, at most so many pixels wide and high; None if it has none.
Pictures = Callable[[str, int], Html | None]


def none(source: str, most: int) -> None:
    """No picture of any source."""


def pictures_of(report: dict[str, Any], run: dict[str, Any] | None) -> Pictures:
    """Return the pictures of a run whose items are image files on this machine; `none` for other items.

    report, run: the content of report.json and run.json.
    """
    facts = wording.measured(str(report["method"]["by"]))
    if run is None or facts is None or not kind_of(facts.name).made_of:
        return none
    entries = {entry["source"]: entry for side in ("inputs", "against") for entry in run.get(side, ()) if "path" in entry}

    def shown(source: str, most: int) -> Html | None:
        entry = entries.get(source)
        return None if entry is None else of_file(entry, most)

    return shown


def of_file(entry: dict[str, Any], most: int) -> Html | None:
    """Return the picture of a file that run.json lists; None if it is no image, has changed, or is not on this machine."""
    path = place(entry["path"])
    try:
        still = isinstance(path, Path) and storage.is_still(storage.now(path), entry)
    except OSError:
        return None
    return reduced(path, entry["source"], most) if still else None


def reduced(path: Path, source: str, most: int) -> Html | None:
    """Return the picture of a file; None if it is no image."""
    from likewise.items.pictures import thumbnail

    try:
        return picture(thumbnail(path.read_bytes(), most), f"{source}, reduced")
    except (LikewiseError, OSError):
        return None
